"""Looking offsets up while the leader is silent."""

import os
import signal
from pathlib import Path

import pytest
from tests.brokers import EmbeddedBroker

import holdfast
from holdfast.client.connection import Connection
from holdfast.client.positions import Offsets, Partition
from holdfast.client.settings import ClientSettings
from holdfast.errors import TransientError


def test_a_leader_that_does_not_answer_is_an_error_and_never_an_offset(tmp_path: Path) -> None:
    """librdkafka gives -1001 without an error. As the end of a control log it would hide holds."""
    with EmbeddedBroker(tmp_path) as broker:
        with holdfast.connect(broker.bootstrap) as client:
            client.topics.create("t")
        place = Partition("t", 0)
        offsets = Offsets(Connection(ClientSettings(bootstrap=broker.bootstrap, request_timeout=2)))
        assert offsets.ends([place]) == {place: 0}
        os.kill(broker.pid, signal.SIGSTOP)
        with pytest.raises(TransientError):
            offsets.ends([place])
        os.kill(broker.pid, signal.SIGCONT)
        assert offsets.ends([place]) == {place: 0}
