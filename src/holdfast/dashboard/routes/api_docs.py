"""The reference of the REST API."""

from starlette.responses import Response

from holdfast.dashboard.page_request import ViewerRequest
from holdfast.dashboard.routes.page_route import page_router

router = page_router()


@router.get("/api-docs")
async def page(request: ViewerRequest) -> Response:
    return request.page("api_docs.html", here="/api-docs")
