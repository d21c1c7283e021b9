"""The verdict: the history of those who took part against what is there in the end.

In the manner of Jepsen's Kafka tests, and pure: it asks nobody. Everything was healed and released
before the logs were read, so an event is either in processed or among the dead letters.
"""

from collections import defaultdict
from collections.abc import Sequence

from tests.chaos.system.checks_of_holds import Holds
from tests.chaos.system.checks_of_readers import check_reader, check_worker
from tests.chaos.system.findings import Breach, Findings
from tests.chaos.system.history import History, Send, State
from tests.chaos.system.outcome import Coordinate, Outcome, Record

_DUPLICATE = "duplicate"


def check(history: History, outcomes: Sequence[Outcome], downstream: str) -> Findings:
    """Everything that was not as promised. `downstream`: the flow that the worker reads."""
    findings = Findings()
    for breach in history.breaches:
        findings.add(Breach.MISBEHAVED, breach)
    sends = {send.id: send for send in history.sends}
    for outcome in outcomes:
        name = outcome.flow.name
        holds = Holds((c for c in history.commands if c.flow == name), history.clock)
        _check_events(findings, outcome, sends)
        _check_places(findings, outcome, sends, holds)
        _check_order(findings, outcome, sends, holds)
        _check_commands(findings, outcome, history)
        polls = history.polls.get(name, [])
        check_reader(findings, name, polls, outcome.processed)
        for poll in polls:
            holds.check_poll(findings, poll, sends.get(poll.id))
        if name == downstream:
            check_worker(findings, history.worker, outcome.processed)
    return findings


def _check_events(findings: Findings, outcome: Outcome, sends: dict[int, Send]) -> None:
    """Acknowledged events are in the topic once, at their offsets, and no others are."""
    name = outcome.flow.name
    there: dict[int, list[Record]] = defaultdict(list)
    order = _Order()
    for event in outcome.events:
        send = sends.get(event.id)
        if send is None or send.flow != name or send.key != event.key:
            findings.add(Breach.PHANTOM, f"{name} {event}: nobody has sent it")
            continue
        if send.state is State.ABORTED:
            findings.add(Breach.PHANTOM, f"{name} {event}: it was taken back")
        repeated = sent_again(event, there[event.id])
        if there[event.id] and not repeated:
            findings.add(Breach.DOUBLED, f"{name} events: {there[event.id]} and {event}")
        there[event.id].append(event)
        before = order.before(send, event, repeated)
        if before > event.id:
            findings.add(Breach.REORDERED, f"{name} events: {event} after {before}")
    for send in sends.values():
        if send.flow == name and send.state is State.OK:
            found = there.get(send.id, [])
            # Those who send in transactions do not learn where it went.
            if not any(send.offset in (-1, event.offset) for event in found):
                findings.add(Breach.LOST_WRITE, f"{send}: found {found}")


def sent_again(event: Record, earlier: Sequence[Record]) -> bool:
    """True if its producer has sent the event again, under another epoch each time."""
    series = [record.writer.series for record in (*earlier, event) if record.writer is not None]
    return bool(earlier) and len(set(series)) == len(earlier) + 1


def count_sent_again(outcome: Outcome) -> int:
    there: dict[int, list[Record]] = defaultdict(list)
    count = 0
    for event in outcome.events:
        count += sent_again(event, there[event.id])
        there[event.id].append(event)
    return count


class _Order:
    """The last event of each producer and key. What a producer has sent again is in the order of
    its new epoch alone."""

    def __init__(self) -> None:
        self._last: dict[tuple[object, ...], int] = {}

    def before(self, send: Send, event: Record, repeated: bool) -> int:
        """The id of the last event before this one, which is the last from now on."""
        if event.key is None:
            return -1
        of: tuple[object, ...] = send.producer, event.key, event.partition
        places = [(*of, event.writer.series)] if event.writer is not None else []
        if not repeated:
            places.append(of)
        before = max((self._last.get(place, -1) for place in places), default=-1)
        for place in places:
            self._last[place] = max(event.id, self._last.get(place, -1))
        return before


def _check_places(
    findings: Findings, outcome: Outcome, sends: dict[int, Send], holds: Holds
) -> None:
    """Each event is in exactly one place, unchanged, and in the right one."""
    name = outcome.flow.name
    events = {event.place: event for event in outcome.events}
    seen: dict[Coordinate, str] = {}
    for topic, records in (("processed", outcome.processed), ("dlq", outcome.dead)):
        for record in records:
            event = events.get(record.source) if record.source else None
            if event is None or not _is_made_of(record, event, sends):
                findings.add(Breach.PHANTOM, f"{name} {topic} {record}: made of {event}")
                continue
            if event.place in seen:
                findings.add(Breach.DOUBLED, f"{name} {event}: in {seen[event.place]} and {topic}")
            seen[event.place] = topic
            send = sends.get(event.id)
            if send is not None:
                _check_place(findings, outcome, send, topic, holds)
    for event in outcome.events:
        if event.place not in seen:
            findings.add(Breach.LOST_EVENT, f"{name} {event}")


def _is_made_of(record: Record, event: Record, sends: dict[int, Send]) -> bool:
    """The value of an oversized event, and so its id, is left out of its dead letter."""
    send = sends.get(event.id)
    left_out = send is not None and send.oversized and record.id < 0
    return record.key == event.key and (left_out or record.id == event.id)


def _check_place(
    findings: Findings, outcome: Outcome, send: Send, topic: str, holds: Holds
) -> None:
    if topic == "processed" and not send.valid:
        findings.add(Breach.INVALID_PASSED, str(send))
    if topic == "processed" and send.oversized:
        findings.add(Breach.OVERSIZED_PASSED, str(send))
    if topic == "dlq" and send.valid and not send.oversized:
        overflow = outcome.flow.key_limit is not None
        if not overflow and not (send.key and holds.was_dead_lettered(send.key)):
            findings.add(Breach.WRONGLY_DEAD, str(send))


def _check_order(
    findings: Findings, outcome: Outcome, sends: dict[int, Send], holds: Holds
) -> None:
    """Per key, processed follows the order of events; held ones come before newer ones."""
    last: dict[tuple[int, bytes], Record] = {}
    for record in outcome.processed:
        if record.key is None or record.source is None:
            continue
        of = record.source[0], record.key
        before = last.get(of)
        if before is not None and before.source is not None and before.source > record.source:
            send = sends.get(record.id)
            held = send is not None and holds.in_force(send) is not None
            breach = Breach.OVERTAKEN if held else Breach.REORDERED
            findings.add(breach, f"{outcome.flow.name}: {record} after {before}")
            continue
        last[of] = record


def _check_commands(findings: Findings, outcome: Outcome, history: History) -> None:
    """Acknowledged commands are on the control log, and each has one outcome."""
    name = outcome.flow.name
    for asked in history.commands:
        if asked.flow != name or asked.state is not State.OK:
            continue
        if outcome.control.get(asked.offset) != asked.id:
            findings.add(Breach.LOST_COMMAND, str(asked))
    answered: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for answer in outcome.answers:
        answered[answer.command_offset].append((answer.partition, answer.outcome))
    acted: dict[str, int] = {}
    for offset, identity in outcome.control.items():
        answers = answered[offset]
        if not answers:
            findings.add(Breach.UNANSWERED, f"{name} control {offset} ({identity})")
        if len({p for p, _ in answers}) != len(answers):
            findings.add(Breach.ANSWERED_TWICE, f"{name} control {offset}: {answers}")
        if any(outcome != _DUPLICATE for _, outcome in answers):
            if identity in acted:
                findings.add(
                    Breach.ANSWERED_TWICE,
                    f"{name} {identity} acts at {acted[identity]} and at {offset}",
                )
            acted[identity] = offset
