"""Runs as lines."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from holdfast.control.runs import masks_of, visible_run
from holdfast.dashboard.page_request import PageRequest
from holdfast.dashboard.state_styles import StateStyle, run_style
from holdfast.flows.runs import Run

_SHOWN = 100


@dataclass(frozen=True, slots=True)
class RunLine:
    """A run as the pages show it."""

    fields: Mapping[str, Any]
    style: StateStyle
    percent: float | None
    cancelling: bool

    @property
    def open(self) -> bool:
        """It may still change."""
        return self.fields["ended_at"] is None

    @property
    def request(self) -> str:
        options = self.fields["options"].items()
        return ", ".join(f"{name}: {_plain(value)}" for name, value in options) or "everything"

    @property
    def outcome(self) -> list[tuple[str, str]]:
        """The result without its lists, which have their own tables."""
        result = self.fields["result"].items()
        return [(n.replace("_", " "), _plain(v)) for n, v in result if not isinstance(v, list)]


def run_lines(request: PageRequest, flow: str) -> list[RunLine]:
    runs = request.services.runs.list(flow or None)[:_SHOWN]
    return [run_line(request, run, brief=True) for run in runs]


def run_line(request: PageRequest, run: Run, *, brief: bool = False) -> RunLine:
    masks = masks_of(request.services, run.request.flow)
    fraction = run.fraction
    return RunLine(
        visible_run(run, masks, request.actor, brief=brief),
        run_style(run),
        None if fraction is None else round(100 * fraction, 1),
        run.cancelling,
    )


def _plain(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_plain(each)}" for name, each in value.items())
    if isinstance(value, list):
        return ", ".join(map(_plain, value))
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
