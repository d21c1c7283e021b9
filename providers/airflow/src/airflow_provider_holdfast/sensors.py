"""Sensors: key not held, run ended, flow clean, lag below. By default the triggerer waits."""

from datetime import datetime, timedelta
from typing import Any

from airflow.sdk import BaseSensorOperator, PokeReturnValue

from airflow_provider_holdfast.api import Json
from airflow_provider_holdfast.conditions import CONDITIONS
from airflow_provider_holdfast.hook import DEFAULT_CONNECTION, HoldfastHook
from airflow_provider_holdfast.triggers import ConditionTrigger
from airflow_provider_holdfast.waiting import failures, result_of


class HoldfastSensor(BaseSensorOperator):
    """Waits for a condition. The result of the task is what fulfilled it.

    :param holdfast_conn_id: the Airflow connection; the role viewer is enough.
    :param deferrable: wait in the triggerer (default), or in the worker if there is no triggerer.
    """

    condition: str

    def __init__(
        self,
        *,
        holdfast_conn_id: str = DEFAULT_CONNECTION,
        deferrable: bool = True,
        poke_interval: float = 5.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(poke_interval=poke_interval, **kwargs)
        self.holdfast_conn_id = holdfast_conn_id
        self.deferrable = deferrable

    def arguments(self) -> dict[str, Any]:
        """The arguments of the condition."""
        return {name: getattr(self, name) for name in self.template_fields}

    def poke(self, context: Any) -> PokeReturnValue:
        condition = CONDITIONS[self.condition](**self.arguments())
        with failures(), HoldfastHook(self.holdfast_conn_id).api() as api:
            result = condition.met(api.get(condition.path, condition.params))
        return PokeReturnValue(result is not None, result)

    def execute(self, context: Any) -> Any:
        if not self.deferrable:
            return super().execute(context)
        if (reply := self.poke(context)).is_done:
            return reply.xcom_value
        self.defer(
            trigger=ConditionTrigger(
                self.holdfast_conn_id, self.condition, self.arguments(), self._poke_seconds()
            ),
            method_name="execute_complete",
            timeout=timedelta(seconds=self.timeout),
        )
        return None

    def execute_complete(self, context: Any, event: Json | None = None) -> Json:
        return result_of(event)

    def _poke_seconds(self) -> float:
        interval = self.poke_interval
        return interval.total_seconds() if isinstance(interval, timedelta) else float(interval)


class KeyNotHeldSensor(HoldfastSensor):
    """Waits until a key is not held and all its held events have left."""

    condition = "key_not_held"
    template_fields = ("flow", "key")

    def __init__(self, *, flow: str, key: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.flow = flow
        self.key = key


class RunEndedSensor(HoldfastSensor):
    """Waits until a run is done, failed or cancelled, whoever has started it."""

    condition = "run_ended"
    template_fields = ("run",)

    def __init__(self, *, run: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.run = run


class FlowCleanSensor(HoldfastSensor):
    """Waits until the last completed verification of a flow is clean.

    :param since: do not count verifications that ended before this time, given with its zone.
    """

    condition = "flow_clean"
    template_fields = ("flow", "since")

    def __init__(self, *, flow: str, since: datetime | str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.flow = flow
        self.since = since.isoformat() if isinstance(since, datetime) else since


class LagBelowSensor(HoldfastSensor):
    """Waits until the gate of a flow runs and has fewer than `events` events yet to take."""

    condition = "lag_below"
    template_fields = ("flow", "events")

    def __init__(self, *, flow: str, events: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.flow = flow
        self.events = events
