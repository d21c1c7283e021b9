"""The transport over standard input and output: one message a line."""

from typing import BinaryIO

from holdfast.mcp.messages import Dispatcher
from holdfast.remote.server import Server


def serve(dispatcher: Dispatcher, server: Server, source: BinaryIO, target: BinaryIO) -> None:
    """Answers messages until the input ends."""
    for line in source:
        if not line.strip():
            continue
        answer = dispatcher.answer_text(line, server)
        if answer is not None:
            target.write(answer.encode() + b"\n")
            target.flush()
