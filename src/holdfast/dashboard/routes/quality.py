"""Quality: what came of the checks that flows declare."""

from starlette.responses import Response

from holdfast.dashboard.page_request import ViewerRequest
from holdfast.dashboard.pages.quality import quality_cards
from holdfast.dashboard.routes.page_route import page_router

router = page_router()


@router.get("/quality")
async def page(request: ViewerRequest) -> Response:
    return request.page("quality.html", here="/quality", cards=quality_cards(request))
