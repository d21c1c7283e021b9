"""Links from a task to its page on Holdfast's dashboard."""

from typing import Any

import attrs
from airflow.sdk import BaseOperatorLink


@attrs.define()
class _PageLink(BaseOperatorLink):
    """The operator knows the address: it sets `page` when the request is acknowledged."""

    def get_link(self, operator: Any, *, ti_key: Any) -> str:
        return getattr(operator, "page", "")

    def push(self, operator: Any, context: Any, page: str) -> None:
        """Shows the link at once. Airflow itself stores links only when a task ends."""
        operator.page = page
        context["ti"].xcom_push(key=self.xcom_key, value=page)


@attrs.define()
class RunLink(_PageLink):
    """Leads to the page of the run."""

    name = "Run in Holdfast"


@attrs.define()
class KeyLink(_PageLink):
    """Leads to the page of the key."""

    name = "Key in Holdfast"
