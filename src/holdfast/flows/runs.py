"""Runs: replays, backfills, redrives, verify and quality runs, from request to result.

Records of the compacted topic `holdfast.runs`. There are three kinds, each with one writer: the
request (`r:` before the run's id), the cancellation (`c:`) and the progress (`p:`). So compaction
keeps one of each. The pipeline removes the oldest runs of a flow, so that the topic does not grow
for ever.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from holdfast.errors import InvalidArgumentError, InvalidRecordError
from holdfast.flows.commands import MAX_ACTOR
from holdfast.flows.documents import Document, encode, read_fields, write_fields
from holdfast.flows.names import check_flow_name
from holdfast.flows.run_specs import KINDS, RunSpec

RUNS_TOPIC = "holdfast.runs"

REQUEST, CANCEL, PROGRESS = b"r:", b"c:", b"p:"

MOST_ENDED = 1_000
"""The number of runs of a flow that are kept after their end."""

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
    """The request for a run. Requests with the same id are one run."""

    id: str
    flow: str
    actor: str
    at: int
    spec: RunSpec

    def __post_init__(self) -> None:
        check_run_id(self.id)
        check_flow_name(self.flow)
        if not 0 < len(self.actor) <= MAX_ACTOR:
            raise InvalidArgumentError(f"'actor' has 1 to {MAX_ACTOR} characters.")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCancel:
    """The request to cancel a run."""

    id: str
    actor: str
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunProgress:
    """The progress of a run. Its pipeline writes it about once a second."""

    id: str
    state: RunState
    started_at: int
    updated_at: int
    ended_at: int | None = None
    done: int = 0
    total: int | None = None
    """None: unknown yet."""
    rate: float = 0.0
    """Events a second, recently."""
    note: str = ""
    """The reason why it waits or has failed."""
    plan: Mapping[str, Any] = field(default_factory=dict)
    """Values fixed at the start, so that the run continues with them after a crash."""
    result: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Run:
    """One run: its request, cancellation and progress."""

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
        """True if a completed verify or quality run found no fault; None for other runs."""
        if self.progress is None or self.state is not RunState.DONE:
            return None
        return self.progress.result.get("passed")

    @property
    def verdict(self) -> str | None:
        """The verdict of a completed audit, in words."""
        if self.progress is None or self.state is not RunState.DONE:
            return None
        return self.progress.result.get("verdict")

    @property
    def cancelling(self) -> bool:
        """True if it was cancelled and has not ended yet."""
        return self.cancel is not None and not self.state.ended

    @property
    def fraction(self) -> float | None:
        """The part of it that is done, from 0 to 1; None if unknown."""
        if self.state is RunState.DONE:
            return 1.0
        if self.progress is None or self.progress.total is None:
            return None
        return min(1.0, self.progress.done / max(1, self.progress.total))

    @property
    def seconds_left(self) -> float | None:
        """The remaining time at the present rate; None if unknown."""
        progress = self.progress
        if self.state is not RunState.RUNNING or progress is None or progress.total is None:
            return None
        if progress.rate <= 0:
            return None
        return max(0.0, (progress.total - progress.done) / progress.rate)


class RunBook:
    """All runs, built from the records of the topic."""

    def __init__(self) -> None:
        self._requests: dict[str, RunRequest] = {}
        self._cancels: dict[str, RunCancel] = {}
        self._progress: dict[str, RunProgress] = {}

    def take(self, key: bytes | None, value: bytes | None) -> None:
        """Apply one record, or raise InvalidRecordError. A tombstone removes the run."""
        if key is not None and value is None:
            self._remove(key[len(REQUEST) :].decode(errors="replace"))
            return
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

    def surplus(self, flow: str) -> list[str]:
        """Ids of the oldest ended runs of a flow, beyond `MOST_ENDED`."""
        ended = [run.id for run in self if run.request.flow == flow and run.state.ended]
        return ended[: max(0, len(ended) - MOST_ENDED)]

    def _remove(self, run_id: str) -> None:
        for records in (self._requests, self._cancels, self._progress):
            records.pop(run_id, None)

    def __iter__(self) -> Iterator[Run]:
        """Runs in the order of their requests."""
        for run_id in list(self._requests):
            run = self.get(run_id)
            assert run is not None
            yield run


def tombstones(run_id: str) -> list[bytes]:
    """The keys of all records of a run."""
    return [prefix + run_id.encode() for prefix in (REQUEST, CANCEL, PROGRESS)]


def described(run: Run) -> dict[str, Any]:
    """A run as a JSON object, for people and scripts; times in milliseconds."""
    request, cancel, progress = run.request, run.cancel, run.progress
    options = {name: value for name, value in request.spec.fields().items() if value is not None}
    return {
        "run": run.id,
        "kind": request.spec.name,
        "flow": request.flow,
        "state": run.state.value,
        "actor": request.actor,
        "options": options,
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
    """Returns the id if it is valid: transactional ids and groups are built from it."""
    if not _ID.fullmatch(run_id):
        raise InvalidArgumentError(
            f"{run_id!r} cannot name a run: take 1 to 64 letters, digits or _ . -"
        )
    return run_id


def encode_request(request: RunRequest) -> tuple[bytes, bytes]:
    """Key and value of the record of a request."""
    fields = {"run": request.spec.name, **write_fields(request), **request.spec.fields()}
    return REQUEST + request.id.encode(), encode(fields)


def encode_cancel(cancel: RunCancel) -> tuple[bytes, bytes]:
    """Key and value of the record of a cancellation."""
    return CANCEL + cancel.id.encode(), encode(write_fields(cancel))


def encode_progress(progress: RunProgress) -> tuple[bytes, bytes]:
    """Key and value of the record of a progress."""
    return PROGRESS + progress.id.encode(), encode(write_fields(progress))


def decode_run_record(
    key: bytes | None, value: bytes | None
) -> RunRequest | RunCancel | RunProgress:
    """The content of a record of the topic, or InvalidRecordError."""
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
        raise InvalidArgumentError(f"there is no kind of run {name!r}.")
    return RunRequest(**read_fields(RunRequest, document), spec=KINDS[name].read(document))


def _cancel(document: Document) -> RunCancel:
    return RunCancel(**read_fields(RunCancel, document))


def _progress(document: Document) -> RunProgress:
    return RunProgress(**read_fields(RunProgress, document))
