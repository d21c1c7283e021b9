"""Numbers, sizes and times as people read them: short, in UTC, with a steady width."""

from holdfast.clock import from_ms

_SIZES = ("B", "KiB", "MiB", "GiB", "TiB")
_SHORT = ((1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k"))


def number(value: float) -> str:
    """A count with thousands set apart.

    >>> number(9318)
    '9,318'
    """
    return f"{value:,.0f}"


def short(value: float) -> str:
    """A count in few characters.

    >>> short(48_310), short(9_114), short(812)
    ('48k', '9.1k', '812')
    """
    for size, unit in _SHORT:
        if value >= size:
            scaled = value / size
            return f"{scaled:.1f}{unit}" if scaled < 10 else f"{scaled:.0f}{unit}"
    return f"{value:.0f}"


def rate(value: float) -> str:
    """Events a second.

    >>> rate(124.2), rate(0.4), rate(0)
    ('124', '0.4', '0')
    """
    return f"{value:.1f}" if 0 < value < 9.95 else f"{value:,.0f}"


def size(value: float) -> str:
    """Bytes in the unit that fits.

    >>> size(412), size(18_842), size(1_153_434)
    ('412 B', '18.4 KiB', '1.1 MiB')
    """
    scaled = float(value)
    for unit in _SIZES[:-1]:
        if scaled < 1024:
            return (
                f"{scaled:.0f} {unit}" if unit == "B" or scaled >= 100 else f"{scaled:.1f} {unit}"
            )
        scaled /= 1024
    return f"{scaled:,.1f} {_SIZES[-1]}"


def clock(at: int, now: int) -> str:
    """A moment: the time of day, with the date unless it is today.

    >>> clock(1_767_225_600_000, 1_767_229_200_000), clock(1_767_139_200_000, 1_767_229_200_000)
    ('00:00:00', '31 Dec 00:00')
    """
    moment, today = from_ms(at), from_ms(now)
    if moment.date() == today.date():
        return f"{moment:%H:%M:%S}"
    year = "" if abs((today - moment).days) < 300 else f" {moment.year}"
    return f"{moment.day} {moment:%b}{year} {moment:%H:%M}"


def precise(at: int) -> str:
    """The second and its thousandths.

    >>> precise(1_767_225_611_204)
    '11.204'
    """
    return f"{at // 1000 % 60:02}.{at % 1000:03}"


def stamp(at: int) -> str:
    """A moment in full, for machines and tooltips.

    >>> stamp(1_767_225_611_204)
    '2026-01-01T00:00:11.204Z'
    """
    return f"{from_ms(at):%Y-%m-%dT%H:%M:%S}.{at % 1000:03}Z"


def percent(part: float, whole: float) -> str:
    """A share; a small one is not shown as zero.

    >>> percent(3, 1000), percent(0, 5), percent(19, 100)
    ('< 1', '0', '19')
    """
    share = 100 * part / whole if whole else 0.0
    if 0 < share < 1:
        return "< 1"
    return f"{min(share, 100):.0f}"
