"""`HoldfastHook`: Holdfast's REST API with the address, token and TLS settings of a connection."""

from collections.abc import Iterator
from typing import Any

from airflow.sdk import BaseHook

from airflow_provider_holdfast.api import (
    PATIENCE_SECONDS,
    Api,
    AsyncApi,
    Endpoint,
    HoldfastError,
    Json,
    address_of,
    segment,
)

DEFAULT_CONNECTION = "holdfast_default"
_TEST_PATIENCE_SECONDS = 5.0
"""A person waits for the answer of the Test button."""
_PAGE = 500


class HoldfastHook(BaseHook):
    """Gives tasks the API: `with hook.api() as api` blocks, `async with await hook.async_api()`
    does not. Both wait as long as Holdfast's rate limit demands."""

    conn_name_attr = "holdfast_conn_id"
    default_conn_name = DEFAULT_CONNECTION
    conn_type = "holdfast"
    hook_name = "Holdfast"

    def __init__(self, holdfast_conn_id: str = DEFAULT_CONNECTION) -> None:
        super().__init__()
        self.holdfast_conn_id = holdfast_conn_id

    def endpoint(self) -> Endpoint:
        return _endpoint(self.get_connection(self.holdfast_conn_id))

    def api(self, *, patience: float = PATIENCE_SECONDS) -> Api:
        """The API for blocking code. `patience`: seconds for which a request is repeated."""
        return Api(self.endpoint(), patience=patience)

    async def async_api(self, *, patience: float = PATIENCE_SECONDS) -> AsyncApi:
        """The API for asyncio."""
        connection = await self.aget_connection(self.holdfast_conn_id)
        return AsyncApi(_endpoint(connection), patience=patience)

    def test_connection(self) -> tuple[bool, str]:
        """The Test button of the connection's form: who the token is, and what it may do."""
        try:
            with self.api(patience=_TEST_PATIENCE_SECONDS) as api:
                me = api.get("/me")
        except HoldfastError as error:
            return False, str(error)
        message = f"Connected as {me['name']} with the role {me['role']}."
        if me["role"] == "viewer":
            message += " Sensors work with it; operators need the role operator."
        return True, message

    def dead_letters(self, flow: str, *, most: int = 10_000, **filters: Any) -> Iterator[Json]:
        """The newest dead letters of a flow, at most `most`. `filters` are the query parameters of
        `GET /flows/{flow}/dead-letters`, such as `reason` or `since`."""
        cursor: str | None = None
        with self.api() as api:
            while most > 0:
                params = {**filters, "limit": min(most, _PAGE)}
                if cursor:
                    params["cursor"] = cursor
                page = api.get(f"/flows/{segment(flow)}/dead-letters", params)
                yield from page["records"]
                most -= len(page["records"])
                cursor = page["cursor"]
                if cursor is None:
                    return


def _endpoint(connection: Any) -> Endpoint:
    extra = connection.extra_dejson
    return Endpoint(
        address=address_of(connection.host, connection.port),
        token=connection.password or "",
        verify=extra.get("verify") is not False,
        ca_file=extra.get("ca_file") or "",
    )
