"""Many tabs that are open at the same flow while its keys change."""

import asyncio
import re
import time

import psutil

from bench.load.held_keys import FLOW, HeldKeys
from holdfast.views.changes import RING

_EVENTS = re.compile(rb'"events":(\d+)')
_FIRST = 1_000_000
"""Counts of events that no key had before."""
_WARM_S = 25
_PATIENCE_S = 20


def live_tabs(
    address: str, keys: HeldKeys, web: psutil.Process, *, tabs: int, seconds: int, rate: int
) -> tuple[int, float]:
    """Returns the missed changes of all tabs, and the growth of the process in megabytes."""
    return asyncio.run(_run(address, keys, web, tabs, seconds, rate))


async def _run(
    address: str, keys: HeldKeys, web: psutil.Process, tabs: int, seconds: int, rate: int
) -> tuple[int, float]:
    # Fill the ring of changes first: what grows afterwards grows for ever.
    await asyncio.to_thread(keys.rewrite, RING)
    seen: list[set[int]] = [set() for _ in range(tabs)]
    ready = asyncio.Semaphore(0)
    readers = [asyncio.create_task(_read(address, found, ready)) for found in seen]
    for _ in readers:
        await ready.acquire()
    await _change(keys, _FIRST, _WARM_S * rate, rate)
    before = web.memory_info().rss
    used = sum(web.cpu_times()[:2])
    changes = seconds * rate
    await _change(keys, _FIRST + _WARM_S * rate, changes, rate)
    expected = set(range(_FIRST, _FIRST + _WARM_S * rate + changes))
    for _ in range(_PATIENCE_S):
        if all(found >= expected for found in seen):
            break
        await asyncio.sleep(1.0)
    growth = (web.memory_info().rss - before) / 1024**2
    used = sum(web.cpu_times()[:2]) - used
    for reader in readers:
        reader.cancel()
    await asyncio.gather(*readers, return_exceptions=True)
    print(f"{tabs} tabs, {changes} changes: {used / seconds:.0%} of a core, {growth:+.1f} MB")
    return sum(len(expected - found) for found in seen), growth


async def _change(keys: HeldKeys, first: int, count: int, rate: int) -> None:
    """From a thread: this loop reads."""

    def write() -> None:
        begun = time.monotonic()
        for number in range(count):
            keys.write((first + number) % keys.count, events=first + number)
            late = begun + number / rate - time.monotonic()
            if late > 0:
                keys.flush()
                time.sleep(late)
        keys.flush()

    await asyncio.to_thread(write)


async def _read(address: str, found: set[int], ready: asyncio.Semaphore) -> None:
    host, _, port = address.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port), limit=2**22)
    request = f"GET /api/v1/flows/{FLOW}/changes?kind=key HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n"
    writer.write(request.encode())
    try:
        while line := await reader.readline():
            if line.startswith(b"event: ready"):
                ready.release()
            elif line.startswith(b"data: "):
                match = _EVENTS.search(line)
                if match and int(match[1]) >= _FIRST:
                    found.add(int(match[1]))
    finally:
        writer.close()
