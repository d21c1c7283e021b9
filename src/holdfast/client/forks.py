"""A client belongs to the process that connected it.

librdkafka's threads do not survive a fork: a call in the new process would hang or lose records. So
after a fork each client's handles are replaced by one that raises. Nothing is checked per call.
"""

import ctypes
import os
from typing import Any, NoReturn, Self
from weakref import WeakKeyDictionary

from holdfast.errors import ConflictError

_process = os.getpid()
_handles: "WeakKeyDictionary[Any, tuple[str, ...]]" = WeakKeyDictionary()


class ForkedHandle:
    """Stands in for a handle of librdkafka's: any call of it raises ConflictError."""

    def __init__(self, connected_by: int) -> None:
        self._connected_by = connected_by

    def __getattr__(self, name: str) -> Self:
        return self

    def __call__(self, *arguments: object, **named: object) -> NoReturn:
        raise ConflictError(
            f"This client was connected by process {self._connected_by} and cannot be used in "
            f"process {os.getpid()}, a fork of it: the threads that send and fetch do not survive "
            "a fork. Call holdfast.connect() in the new process."
        )


def guard(owner: Any, *attributes: str) -> None:
    """After a fork, make calls of these attributes of `owner` raise ConflictError."""
    _handles[owner] = attributes


def forked(handle: object) -> bool:
    """Returns True if this process has inherited the handle by a fork."""
    return isinstance(handle, ForkedHandle)


def _replace_all() -> None:
    global _process
    handle, _process = ForkedHandle(_process), os.getpid()
    for owner, attributes in list(_handles.items()):
        for name in attributes:
            kept = owner.__dict__.get(name)
            if forked(kept):
                continue
            # It must never be destroyed here: that would wait for threads that do not exist.
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(kept))
            setattr(owner, name, handle)


os.register_at_fork(after_in_child=_replace_all)
