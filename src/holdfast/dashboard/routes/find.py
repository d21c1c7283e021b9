"""Find a key in any flow: held keys that match, and any key by its exact name."""

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from holdfast.dashboard.key_name import KeyName
from holdfast.dashboard.page_request import ViewerRequest
from holdfast.dashboard.pages.find import find_keys
from holdfast.dashboard.routes.page_route import page_router
from holdfast.flows.keys import key_bytes

router = page_router()


@router.get("/find")
def page(request: ViewerRequest, q: Annotated[str, Query(max_length=500)] = "") -> Response:
    keys = find_keys(request, q) if q else ()
    exact = KeyName(key_bytes(q)) if q else None
    return request.page("find.html", here="", q=q, found=keys, exact=exact)
