"""What operators share: the connection, deferral, and errors that a retry cannot help."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from airflow.sdk import BaseOperator
from airflow.sdk.exceptions import AirflowException, AirflowFailException

from airflow_provider_holdfast.api import HoldfastError, Json
from airflow_provider_holdfast.hook import DEFAULT_CONNECTION, HoldfastHook


@contextmanager
def failures() -> Iterator[None]:
    """Fails the task for good if the same request would fail again, such as with a wrong token.
    Otherwise Airflow may retry it."""
    try:
        yield
    except HoldfastError as error:
        raise failure_of(str(error), transient=error.transient) from None


def failure_of(message: str, *, transient: bool) -> AirflowException:
    return AirflowException(message) if transient else AirflowFailException(message)


def result_of(event: Json | None) -> Json:
    """The result in a trigger's event, or the failure that it reports."""
    event = event or {"error": "The trigger ended without an event.", "transient": True}
    if "error" in event:
        raise failure_of(event["error"], transient=event["transient"])
    result: Json = event["result"]
    return result


class HoldfastOperator(BaseOperator):
    """An operator with a connection to Holdfast.

    :param holdfast_conn_id: the Airflow connection.
    :param deferrable: wait in the triggerer (default), or in the worker if there is no triggerer.
    :param poll_interval: seconds between two looks at Holdfast.
    """

    def __init__(
        self,
        *,
        holdfast_conn_id: str = DEFAULT_CONNECTION,
        deferrable: bool = True,
        poll_interval: float = 5.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.holdfast_conn_id = holdfast_conn_id
        self.deferrable = deferrable
        self.poll_interval = poll_interval

    @property
    def hook(self) -> HoldfastHook:
        return HoldfastHook(self.holdfast_conn_id)
