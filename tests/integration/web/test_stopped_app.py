"""An app that has stopped gives back what it had."""

import gc
import weakref

from tests.brokers import EmbeddedBroker
from tests.clients import wait_until
from tests.integration.web.instances import bearing, serving

from holdfast.access.roles import Role

PATHS = ("/login", "/healthz", "/readyz", "/metrics", "/", "/health", "/runs", "/api/v1/flows")


def test_stopped_app_is_collected_with_its_services_and_connection(
    guarded_broker: EmbeddedBroker, tokens: dict[Role, str]
) -> None:
    references = _stopped_app(guarded_broker, tokens[Role.VIEWER])

    def collected() -> bool:
        gc.collect()
        return all(reference() is None for reference in references)

    wait_until(collected, f"the end of {references}")


def _stopped_app(broker: EmbeddedBroker, token: str) -> list["weakref.ref[object]"]:
    """References to the parts of an app that has answered requests and has stopped."""
    with serving(broker) as client:
        for path in PATHS:
            assert client.get(path, headers=bearing(token)).is_success
        services = client.app.state.services
        parts = (client.app, services.connection, services.client, services.views)
        return [weakref.ref(part) for part in parts]
