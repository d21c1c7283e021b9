"""Health: the broker, the pipeline of every flow, this process."""

from starlette.responses import Response

from holdfast.dashboard.page_request import ViewerRequest
from holdfast.dashboard.pages.health import health_page
from holdfast.dashboard.routes.page_route import page_router

router = page_router()


@router.get("/health")
def page(request: ViewerRequest) -> Response:
    return request.page(
        "health.html", here="/health", page=health_page(request), stream=request.live()
    )


@router.get("/health/fragments/health")
def part(request: ViewerRequest) -> Response:
    return request.fragment("health_body.html", page=health_page(request))
