"""Runs: replays, backfills, redrives and audits, as they are asked for and as they go.

Records of the compacted topic `holdfast.runs`. A byte and a colon before the run's id tell three
kinds apart, each with one writer: what was asked for (`r:`), that it shall end (`c:`), and how far
it is (`p:`). So none of them takes another's place when the topic is compacted.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from holdfast.errors import InvalidArgumentError, InvalidRecordError
from holdfast.flows.commands import MAX_ACTOR
from holdfast.flows.documents import Document, encode
from holdfast.flows.names import check_flow_name
from holdfast.flows.work import KINDS, Work

RUNS_TOPIC = "holdfast.runs"

REQUEST, CANCEL, PROGRESS = b"r:", b"c:", b"p:"

_ID = re.compile(r"[A-Za-z0-9_.-]{1,64}")


class RunState(StrEnum):
    """requested → running → done, failed or cancelled."""

    REQUESTED = "requested"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def ended(self) -> bool:
        return self in (RunState.DONE, RunState.FAILED, RunState.CANCELLED)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """What is to be done, and who asked for it. The same id twice is one run."""

    id: str
    flow: str
    actor: str
    at: int
    work: Work

    def __post_init__(self) -> None:
        check_run_id(self.id)
        check_flow_name(self.flow)
        if not 0 < len(self.actor) <= MAX_ACTOR:
            raise InvalidArgumentError(f"'actor' has 1 to {MAX_ACTOR} characters.")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCancel:
    """The run shall end where it is."""

    id: str
    actor: str
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunProgress:
    """How far a run is. Written by the pipeline that carries it out, about once a second."""

    id: str
    state: RunState
    started_at: int
    updated_at: int
    ended_at: int | None = None
    done: int = 0
    total: int | None = None
    """None: not known yet."""
    rate: float = 0.0
    """Events a second, lately."""
    note: str = ""
    """What it waits for; of a failure, why."""
    plan: Mapping[str, Any] = field(default_factory=dict)
    """What was fixed when it began, so that it goes on with the same after a crash."""
    result: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Run:
    """One run: what was asked, whether it shall end, how far it is."""

    request: RunRequest
    cancel: RunCancel | None = None
    progress: RunProgress | None = None

    @property
    def id(self) -> str:
        return self.request.id

    @property
    def state(self) -> RunState:
        return RunState.REQUESTED if self.progress is None else self.progress.state

    @property
    def passed(self) -> bool | None:
        """Of one that looks at events and has done so: whether all was as it must be."""
        if self.progress is None or self.state is not RunState.DONE:
            return None
        return self.progress.result.get("passed")

    @property
    def cancelling(self) -> bool:
        """It was told to end, and has not ended yet."""
        return self.cancel is not None and not self.state.ended

    @property
    def fraction(self) -> float | None:
        """How much of it is done, from 0 to 1; None if that is not known."""
        if self.state is RunState.DONE:
            return 1.0
        if self.progress is None or self.progress.total is None:
            return None
        return min(1.0, self.progress.done / max(1, self.progress.total))

    @property
    def seconds_left(self) -> float | None:
        """At the present rate; None if that cannot be said."""
        progress = self.progress
        if self.state is not RunState.RUNNING or progress is None or progress.total is None:
            return None
        if progress.rate <= 0:
            return None
        return max(0.0, (progress.total - progress.done) / progress.rate)


class RunBook:
    """All runs, folded from the records of the topic."""

    def __init__(self) -> None:
        self._requests: dict[str, RunRequest] = {}
        self._cancels: dict[str, RunCancel] = {}
        self._progress: dict[str, RunProgress] = {}

    def take(self, key: bytes | None, value: bytes | None) -> None:
        """Take one record in, or raise InvalidRecordError."""
        match decode_run_record(key, value):
            case RunRequest() as request:
                self._requests.setdefault(request.id, request)
            case RunCancel() as cancel:
                self._cancels.setdefault(cancel.id, cancel)
            case RunProgress() as progress:
                self._progress[progress.id] = progress

    def get(self, run_id: str) -> Run | None:
        request = self._requests.get(run_id)
        if request is None:
            return None
        return Run(request, self._cancels.get(run_id), self._progress.get(run_id))

    def __iter__(self) -> Iterator[Run]:
        """In the order in which they were asked for."""
        for run_id in list(self._requests):
            run = self.get(run_id)
            assert run is not None
            yield run


def described(run: Run) -> dict[str, Any]:
    """All that is known of a run, as people and scripts are shown it; times in milliseconds."""
    request, cancel, progress = run.request, run.cancel, run.progress
    given = {name: value for name, value in request.work.fields().items() if value is not None}
    return {
        "run": run.id,
        "work": request.work.name,
        "flow": request.flow,
        "state": run.state.value,
        "actor": request.actor,
        "asked": given,
        "requested_at": request.at,
        "cancelled_by": cancel and cancel.actor,
        "started_at": progress and progress.started_at,
        "updated_at": progress and progress.updated_at,
        "ended_at": progress and progress.ended_at,
        "done": progress.done if progress else 0,
        "total": progress and progress.total,
        "unit": progress.plan.get("unit", "events") if progress else "events",
        "rate": progress.rate if progress else 0.0,
        "seconds_left": run.seconds_left,
        "note": progress.note if progress else "",
        "result": dict(progress.result) if progress else {},
    }


def check_run_id(run_id: str) -> str:
    """The id itself, if it can name a run: transactional ids and groups are built from it."""
    if not _ID.fullmatch(run_id):
        raise InvalidArgumentError(
            f"{run_id!r} cannot name a run: take 1 to 64 letters, digits or _ . -"
        )
    return run_id


def encode_request(request: RunRequest) -> tuple[bytes, bytes]:
    """Key and value of the record that asks for a run."""
    return REQUEST + request.id.encode(), encode(
        {
            "run": request.work.name,
            "id": request.id,
            "flow": request.flow,
            "actor": request.actor,
            "at": request.at,
            **request.work.fields(),
        }
    )


def encode_cancel(cancel: RunCancel) -> tuple[bytes, bytes]:
    """Key and value of the record that ends a run."""
    fields = {"id": cancel.id, "actor": cancel.actor, "at": cancel.at}
    return CANCEL + cancel.id.encode(), encode(fields)


def encode_progress(progress: RunProgress) -> tuple[bytes, bytes]:
    """Key and value of the record that says how far a run is."""
    return PROGRESS + progress.id.encode(), encode(
        {
            "id": progress.id,
            "state": progress.state.value,
            "started_at": progress.started_at,
            "updated_at": progress.updated_at,
            "ended_at": progress.ended_at,
            "done": progress.done,
            "total": progress.total,
            "rate": progress.rate,
            "note": progress.note or None,
            "plan": dict(progress.plan) or None,
            "result": dict(progress.result) or None,
        }
    )


def decode_run_record(
    key: bytes | None, value: bytes | None
) -> RunRequest | RunCancel | RunProgress:
    """What a record of the topic says, or InvalidRecordError."""
    readers: dict[bytes, Callable[[Document], RunRequest | RunCancel | RunProgress]]
    readers = {REQUEST: _request, CANCEL: _cancel, PROGRESS: _progress}
    reader = readers.get((key or b"")[:2])
    if key is None or reader is None:
        raise InvalidRecordError(f"This record of a run has a key of no known kind: {key!r}.")
    document = Document(value, "record of a run")
    try:
        record = reader(document)
    except InvalidArgumentError as error:
        raise InvalidRecordError(f"This record of a run cannot be read: {error}") from None
    document.end()
    if key[2:] != record.id.encode():
        raise InvalidRecordError("This record of a run names another run than its key.")
    return record


def _request(document: Document) -> RunRequest:
    name = document.text("run")
    if name not in KINDS:
        raise InvalidArgumentError(f"there is no work {name!r}.")
    return RunRequest(
        id=document.text("id"),
        flow=document.text("flow"),
        actor=document.text("actor"),
        at=document.integer("at"),
        work=KINDS[name].read(document),
    )


def _cancel(document: Document) -> RunCancel:
    return RunCancel(
        id=document.text("id"), actor=document.text("actor"), at=document.integer("at")
    )


def _progress(document: Document) -> RunProgress:
    state = document.text("state")
    if state not in list(RunState):
        raise InvalidArgumentError(f"there is no state {state!r}.")
    return RunProgress(
        id=document.text("id"),
        state=RunState(state),
        started_at=document.integer("started_at"),
        updated_at=document.integer("updated_at"),
        ended_at=document.optional_integer("ended_at"),
        done=document.integer("done"),
        total=document.optional_integer("total"),
        rate=document.optional_number("rate") or 0.0,
        note=document.optional_text("note") or "",
        plan=document.optional_object("plan") or {},
        result=document.optional_object("result") or {},
    )
