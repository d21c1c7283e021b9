"""Operators that start a run of Holdfast and wait for its end.

The run's id follows from DAG, run and task (`identity.py`), so every try of a task means the same
run. A try attaches to the run under way, and takes the result of one that succeeded. Only if the
run has failed, was cancelled, or was an audit that found faults, the task's next try starts another
one, with the next number at the end of its id.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any, ClassVar

from airflow.sdk import BaseOperatorLink
from airflow.sdk.exceptions import AirflowException, AirflowFailException

from airflow_provider_holdfast.api import Api, HoldfastError, Json, segment
from airflow_provider_holdfast.identity import numbered, task_id
from airflow_provider_holdfast.links import RunLink
from airflow_provider_holdfast.triggers import RunTrigger
from airflow_provider_holdfast.waiting import HoldfastOperator, failures, result_of

_ENDED = {"done", "failed", "cancelled"}
_LINK = RunLink()
_KILL_PATIENCE_SECONDS = 5.0
"""Airflow kills a task soon after it has asked it to end."""

Time = datetime | str | None


class RunOperator(HoldfastOperator):
    """Starts a run of a flow and waits for it. The result of the task is the run, as in
    `GET /runs/{run}`, with the address of its `page`. Killing the task cancels the run."""

    kind: ClassVar[str]
    route: ClassVar[str]
    options: ClassVar[tuple[str, ...]]
    """Attributes that are fields of the request."""

    operator_extra_links: Sequence[BaseOperatorLink] = (_LINK,)
    ui_color = "#e8eaf6"

    def __init__(self, *, flow: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.flow = flow
        self.page = ""
        self._run: str | None = None

    def execute(self, context: Any) -> Json:
        with failures(), self.hook.api() as api:
            run = self._started(api, task_id(context, self.kind))
            self._run = run["run"]
            _LINK.push(self, context, self.hook.endpoint().page(f"runs/{run['run']}"))
            if self.deferrable and run["state"] not in _ENDED:
                self.defer(
                    trigger=RunTrigger(self.holdfast_conn_id, run["run"], self.poll_interval),
                    method_name="execute_complete",
                    timeout=self.execution_timeout,
                )
            while run["state"] not in _ENDED:
                time.sleep(self.poll_interval)
                run = api.get(f"/runs/{segment(run['run'])}")
            self._run = None
            return self._result(api, run)

    def execute_complete(self, context: Any, event: Json | None = None) -> Json:
        name = result_of(event)["run"]
        with failures(), self.hook.api() as api:
            self.page = self.hook.endpoint().page(f"runs/{name}")
            return self._result(api, api.get(f"/runs/{segment(name)}"))

    def on_kill(self) -> None:
        """Cancels the run. While the task is deferred, the trigger does it."""
        if self._run is not None:
            with self.hook.api(patience=_KILL_PATIENCE_SECONDS) as api:
                api.post(f"/runs/{segment(self._run)}/cancel")

    def body(self) -> Json:
        """The fields of the request; those without a value are left out."""
        given = {name: getattr(self, name) for name in self.options}
        return {name: _field(value) for name, value in given.items() if value not in (None, "")}

    def found_faults(self, run: Json) -> bool:
        """Returns True for a completed audit that found faults: the task fails."""
        return False

    def failure(self, api: Api, run: Json) -> str:
        """What the audit found, for people."""
        raise NotImplementedError

    def _started(self, api: Api, base: str) -> Json:
        number = 1
        while True:
            run = self._request(api, numbered(base, number))
            if run is not None and self._usable(run):
                self.log.info("The run %s is %s.", run["run"], run["state"])
                return run
            number += 1

    def _request(self, api: Api, name: str) -> Json | None:
        """The run of that id; None if it has ended and had other options."""
        try:
            path = f"/flows/{segment(self.flow)}/{self.route}"
            return api.post(path, {**self.body(), "id": name})
        except HoldfastError as error:
            if error.code != "conflict":
                raise
            if api.get(f"/runs/{segment(name)}")["state"] in _ENDED:
                return None
            raise

    def _usable(self, run: Json) -> bool:
        if run["state"] not in _ENDED:
            return run["cancelled_by"] is None
        return run["state"] == "done" and not self.found_faults(run)

    def _result(self, api: Api, run: Json) -> Json:
        if run["state"] == "cancelled":
            raise AirflowFailException(
                f"{run['cancelled_by'] or 'Holdfast'} cancelled the run {run['run']}. Clear the "
                "task to start another one."
            )
        if run["state"] == "failed":
            raise AirflowException(f"The run {run['run']} failed: {run['note']} See {self.page}.")
        if self.found_faults(run):
            raise AirflowFailException(self.failure(api, run))
        return {**run, "page": self.page}


def _field(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value


class ReplayOperator(RunOperator):
    """Sends events of the raw zone through the flow again: those that match all filters.

    Use times that stay the same in all tries of a task, such as `{{ data_interval_start | ts }}`.
    """

    kind, route = "replay", "replays"
    options = (
        "keys", "since", "until", "offsets", "where", "json_filters", "rate", "with_replayed",
        "dry_run",
    )  # fmt: skip
    template_fields = ("flow", *options)

    def __init__(
        self,
        *,
        keys: Sequence[str] | str = (),
        since: Time = None,
        until: Time = None,
        offsets: Sequence[str] | str = (),
        where: str = "",
        json_filters: Sequence[str] | str = (),
        rate: float | str | None = None,
        with_replayed: bool | str = False,
        dry_run: bool | str = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.keys = keys
        self.since = since
        self.until = until
        self.offsets = offsets
        self.where = where
        self.json_filters = json_filters
        self.rate = rate
        self.with_replayed = with_replayed
        self.dry_run = dry_run


class BackfillOperator(RunOperator):
    """Lands events that are missing in the raw zone: from the topic, or from files (role admin)."""

    kind, route = "backfill", "backfills"
    options = ("since", "until", "offsets", "files", "key_from", "time_from")
    template_fields = ("flow", *options)

    def __init__(
        self,
        *,
        since: Time = None,
        until: Time = None,
        offsets: Sequence[str] | str = (),
        files: Sequence[str] | str = (),
        key_from: str = "",
        time_from: str = "",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.since = since
        self.until = until
        self.offsets = offsets
        self.files = files
        self.key_from = key_from
        self.time_from = time_from


class RedriveOperator(RunOperator):
    """Sends dead letters through the flow again: those with the given `letters`
    (`partition:offset` in the topic dlq), `reason`, `message` and `keys`, or `everything`."""

    kind, route = "redrive", "redrives"
    options = ("letters", "reason", "message", "keys", "everything", "again")
    template_fields = ("flow", *options)

    def __init__(
        self,
        *,
        letters: Sequence[str] | str = (),
        reason: str = "",
        message: str = "",
        keys: Sequence[str] | str = (),
        everything: bool | str = False,
        again: bool | str = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.letters = letters
        self.reason = reason
        self.message = message
        self.keys = keys
        self.everything = everything
        self.again = again


class VerifyOperator(RunOperator):
    """Accounts for every event of the flow. The task fails unless the verdict is `clean` or
    `nothing to check`."""

    kind, route = "verify", "verifications"
    options = ("since", "until", "full", "without_raw_zone")
    template_fields = ("flow", *options)

    def __init__(
        self,
        *,
        since: Time = None,
        until: Time = None,
        full: bool | str = False,
        without_raw_zone: bool | str = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.since = since
        self.until = until
        self.full = full
        self.without_raw_zone = without_raw_zone

    def found_faults(self, run: Json) -> bool:
        return run["result"]["verdict"] not in ("clean", "nothing to check")

    def failure(self, api: Api, run: Json) -> str:
        return f"The flow {self.flow} is {run['result']['verdict']}. {self.page} lists the faults."


class QualityOperator(RunOperator):
    """Runs the quality checks of the flow. If one fails, the task fails with the events that break
    it, as far as the token's role may see them; they are in the XCom `rows` as well."""

    kind, route = "quality", "quality"
    options = ("days",)
    template_fields = ("flow", *options)

    def __init__(self, *, days: int | str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.days = days
        self._rows: list[Json] = []

    def execute(self, context: Any) -> Json:
        with self._rows_in_xcom(context):
            return super().execute(context)

    def execute_complete(self, context: Any, event: Json | None = None) -> Json:
        with self._rows_in_xcom(context):
            return super().execute_complete(context, event)

    @contextmanager
    def _rows_in_xcom(self, context: Any) -> Iterator[None]:
        try:
            yield
        finally:
            if self._rows:
                context["ti"].xcom_push(key="rows", value=self._rows)

    def found_faults(self, run: Json) -> bool:
        return run["result"]["passed"] is False

    def failure(self, api: Api, run: Json) -> str:
        broken = [check for check in run["result"]["results"] if not check["passed"]]
        self._rows = [
            self._row(api, check["check"], place) for check in broken for place in check["examples"]
        ]
        lines = [f"{check['check']}: {check['says']}" for check in broken]
        lines += [
            f"  {row['event']} key={row['key']} breaks {row['check']!r}: {row['value']}"
            for row in self._rows
        ]
        return f"{len(broken)} checks of the flow {self.flow} failed:\n" + "\n".join(lines)

    def _row(self, api: Api, check: str, place: str) -> Json:
        """An event that breaks a check. Retention may have removed it from the topic since."""
        partition, _, offset = place.partition(":")
        path = f"/flows/{segment(self.flow)}/topics/events/records/{partition}/{offset}"
        row = {"check": check, "event": place, "key": None, "value": None}
        try:
            record = api.get(path)
        except HoldfastError as error:
            if error.status != 404:
                raise
            return row
        return {**row, "key": record["key"], "value": record["value"]["text"]}


class RefreshOperator(RunOperator):
    """Moves newly landed events into the flow's silver table, and from there into gold."""

    kind, route = "refresh", "refreshes"
    options = ("rebuild",)
    template_fields = ("flow", *options)

    def __init__(self, *, rebuild: bool | str = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.rebuild = rebuild
