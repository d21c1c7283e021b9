"""`holdfast verify`: account for every event of a flow."""

from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from holdfast.cli.options import Cluster, FlowName
from holdfast.cli.output import Format, Output, chosen, print_json, show
from holdfast.cli.program import application
from holdfast.cli.run_options import SpecOptions
from holdfast.cli.runs import follow_run, verdict_code
from holdfast.cli.spark_jobs import AsRun, SparkOptions, no_verdict, progress_bar, spark_job
from holdfast.clock import from_ms
from holdfast.flows.run_specs import Verify

if TYPE_CHECKING:
    from holdfast.client.positions import Where
    from holdfast.flows.registry import FlowDefinition
    from holdfast.pipeline.audit.verification import Verification

app = application()


class Scope(SpecOptions[Verify]):
    kind = Verify


@app.command()
def verify(
    flow: FlowName,
    scope: Scope,
    first: Annotated[
        str | None, typer.Option("--from", metavar="OFFSET", help="Only from this source offset.")
    ] = None,
    end: Annotated[
        str | None, typer.Option("--to", metavar="OFFSET", help="Only below this source offset.")
    ] = None,
    examples: Annotated[int, typer.Option(min=1, help="Maximum of coordinates per fault.")] = 20,
    as_run: AsRun = False,
    output: Format = None,
    *,
    spark: SparkOptions,
    cluster: Cluster,
) -> None:
    """Account for every event of a flow, from Kafka and the raw zone alone.

    Every source coordinate must be in exactly one place and unchanged, each key in order, holds
    honoured, every dead letter with a cause, the raw zone complete, and every command answered. The
    report lists what was not checked. The flow may run meanwhile. Continues from the last
    verified event, unless limits or --full are given.

    A guard is verified as a whole and without Spark: each event is not taken yet, handled, held or
    dead-lettered, and no event of a key was handled while an earlier one waited.

    \b
    Exit codes: 0 clean; 1 something is wrong, also if a log lacks records or cannot be read. It
    could not be verified: 2 usage, 3 no such flow or table, 4 no broker, 5 any other reason, also
    if there were no events, or if the raw zone was empty where events exist.

    \b
    Examples:
      holdfast verify orders
      holdfast verify orders --since 2h -o json
      holdfast verify orders --full
      holdfast verify orders --run
      holdfast verify billing
    """
    if as_run:
        if first is not None or end is not None:
            raise typer.BadParameter("a run takes no offsets: use --since and --until")
        with cluster.client() as client:
            follow_run(client, client.runs.ask(flow, scope.spec), output)
    if (guard := _guard(flow, cluster)) is not None:
        limits = (first, end, scope.spec.since, scope.spec.until)
        if any(limit is not None for limit in limits):
            raise typer.BadParameter(f"{flow} is a guard, which is verified as a whole: no limits")
        _verify_guard(guard, examples, output, cluster)
    from holdfast.pipeline.audit.verify import VerifyOptions
    from holdfast.pipeline.audit.verify import verify as audit

    with spark_job(flow, spark, cluster) as job:
        options = VerifyOptions(
            lake=job.lake,
            raw_zone=not scope.spec.without_raw_zone,
            full=scope.spec.full,
            start=_limit(first, "--from", scope.spec.since, "--since"),
            end=_limit(end, "--to", scope.spec.until, "--until"),
            examples=examples,
        )
        verification = audit(job.session, job.connection, job.flow, options, job.progress)
    _show(verification, output)
    raise typer.Exit(verdict_code(verification.verdict))


def _guard(flow: str, cluster: Cluster) -> "FlowDefinition | None":
    """The guard of that name, if it is one."""
    with no_verdict(), cluster.client() as client:
        definition = client.flow(flow).describe()
    return definition if definition.is_guard else None


def _verify_guard(
    flow: "FlowDefinition", examples: int, output: Output | None, cluster: Cluster
) -> NoReturn:
    from holdfast.pipeline.audit.guard.verify import verify_guard

    with no_verdict(), progress_bar() as progress, cluster.client() as client:
        found = verify_guard(client.connection, flow, examples=examples, progress=progress)
    _show(found, output)
    raise typer.Exit(verdict_code(found.verdict))


def _limit(
    offset: str | None, offset_option: str, time: int | None, time_option: str
) -> "Where | None":
    if offset is not None and time is not None:
        raise typer.BadParameter(f"give {offset_option} or {time_option}, not both")
    if offset is not None:
        if not offset.isdigit():
            raise typer.BadParameter(f"{offset!r} is not an offset", param_hint=offset_option)
        return int(offset)
    return None if time is None else from_ms(time)


def _show(found: "Verification", output: Output | None) -> None:
    if chosen(output) is Output.JSON:
        print_json(found.document())
        return
    rows = [
        {
            "check": check.name,
            "examined": check.examined,
            "violations": check.violations,
            "verdict": check.verdict,
        }
        for check in found.checks
    ]
    show(rows, output)
    for line in _explained(found):
        print(line)


def _explained(found: "Verification") -> list[str]:
    """The faults with their coordinates, the parts that were not checked, and the verdict."""
    from holdfast.pipeline.audit.verification import MEANING

    lines = []
    for check in found.checks:
        for each in check.found:
            lines.append(f"{each.fault}: {each.count:,} x {MEANING[each.fault]}")
            lines += [f"  {example}" for example in each.examples]
            if each.count > len(each.examples):
                lines.append(f"  and {each.count - len(each.examples):,} more (see --examples)")
    lines += [f"not checked: {what}" for what in found.not_checked]
    lines += [f"missing: {what}" for what in found.missing]
    done = "handled" if found.guard else "processed"
    counts = f"{found.processed:,} {done}, {found.held:,} held, {found.dead:,} dead letters"
    if found.guard:
        counts += f" ({found.given_up:,} skipped); {found.not_taken:,} not taken yet"
    verdict = found.verdict.upper()
    lines += [
        f"skipped by command: events[{p}], offsets {first:,} to {end - 1:,}, which cannot be read"
        for p, first, end in found.skipped
    ]
    given_up = sum(end - first for _, first, end in found.skipped)
    skipped = f", {given_up:,} offsets skipped by command" if given_up else ""
    lines.append(
        f"{verdict}: {found.flow}, {found.events:,} events: {counts}{skipped}; "
        f"{found.commands:,} commands ({found.seconds:.1f} s)"
    )
    if found.sealed:
        lines.append(f"Sealed as number {found.sealed:,}, digest {found.seal}")
    return lines
