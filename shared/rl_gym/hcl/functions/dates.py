"""Functions on timestamps. The time of a run is not part of a configuration, so `timestamp()` is unknown."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from fractions import Fraction

from rl_gym.hcl.budget import NoValueError
from rl_gym.hcl.conversion import STRING
from rl_gym.hcl.functions.registry import function, unpredictable

_TIMESTAMP = re.compile(
    r"(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:[.,](\d{1,9}))?(?:(Z)|([+-])(\d{2}):(\d{2}))", re.ASCII
)
_DURATION = re.compile(r"(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)", re.ASCII)
_UNITS = {"ns": 1, "us": 10**3, "µs": 10**3, "μs": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}
_MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
           "November", "December")  # fmt: skip
_LONGEST_DURATION = 100
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_FIELD = re.compile(r"'(?:[^']|'')*'|([A-Za-z])\1*|[^A-Za-z']+")


class _Instant:
    """A moment with nanoseconds; `moment` has whole seconds."""

    __slots__ = ("moment", "nanoseconds")

    def __init__(self, moment: datetime, nanoseconds: int) -> None:
        self.moment = moment
        self.nanoseconds = nanoseconds

    @property
    def order(self) -> tuple[datetime, int]:
        return self.moment.astimezone(UTC), self.nanoseconds


def _parsed(text: str) -> _Instant:
    match = _TIMESTAMP.fullmatch(text)
    if match is None:
        raise NoValueError(f'"{text[:60]}" is not an RFC 3339 timestamp')
    year, month, day, hour, minute, second, fraction, _, sign, off_hours, off_minutes = match.groups()
    offset = timedelta()
    if sign:
        offset = timedelta(hours=int(off_hours), minutes=int(off_minutes))
        offset = -offset if sign == "-" else offset
    try:
        moment = datetime(int(year), int(month), int(day), int(hour), int(minute), int(second), tzinfo=timezone(offset))
        moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise NoValueError(f'"{text[:60]}" is not a date that exists') from None
    return _Instant(moment, int((fraction or "0").ljust(9, "0")))


def _duration(text: str) -> int:
    """Nanoseconds in a duration such as `-1h30m`."""
    if len(text) > _LONGEST_DURATION:
        raise NoValueError("this is too long for a duration")
    rest = text.lstrip("+-") if text[:1] in ("+", "-") and text[1:2] not in ("+", "-") else text
    sign = -1 if text[:1] == "-" else 1
    if rest == "0":
        return 0
    total = Fraction(0)
    at = 0
    while at < len(rest):
        match = _DURATION.match(rest, at)
        if match is None or len(match[1]) > 30:
            raise NoValueError(f'"{text[:60]}" is not a duration')
        total += Fraction(match[1].rstrip(".") or "0") * _UNITS[match[2]]
        at = match.end()
    if not rest or total >= 2**63:
        raise NoValueError(f'"{text[:60]}" is not a duration')
    return sign * int(total)


@function("timeadd", STRING, STRING)
def timeadd(timestamp: str, duration: str) -> str:
    start = _parsed(timestamp)
    seconds = (start.nanoseconds + _duration(duration)) // 10**9
    try:
        moment = start.moment + timedelta(seconds=seconds)
    except OverflowError:
        raise NoValueError("the date is out of range") from None
    return _rfc3339(moment)


def _rfc3339(moment: datetime) -> str:
    offset = moment.strftime("%z")
    zone = "Z" if offset == "+0000" else f"{offset[:3]}:{offset[3:5]}"
    return f"{moment.year:04d}-{moment:%m-%dT%H:%M:%S}{zone}"


@function("timecmp", STRING, STRING)
def timecmp(first: str, second: str) -> int:
    left, right = _parsed(first).order, _parsed(second).order
    return (left > right) - (left < right)


@function("formatdate", STRING, STRING)
def formatdate(pattern: str, timestamp: str) -> str:
    moment = _parsed(timestamp).moment
    out: list[str] = []
    at = 0
    while at < len(pattern):
        match = _FIELD.match(pattern, at)
        if match is None:
            raise NoValueError("a quoted part of the date format has no end")
        at = match.end()
        part = match[0]
        if part.startswith("'"):
            out.append(part[1:-1].replace("''", "'"))
        elif match[1]:
            out.append(_field(part, moment))
        else:
            out.append(part)
    return "".join(out)


def _field(part: str, moment: datetime) -> str:
    hour12 = (moment.hour - 1) % 12 + 1
    offset = moment.strftime("%z")
    utc = offset == "+0000"
    fields = {
        "YYYY": f"{moment.year:04d}",
        "YY": f"{moment.year % 100:02d}",
        "MMMM": _MONTHS[moment.month - 1],
        "MMM": _MONTHS[moment.month - 1][:3],
        "MM": f"{moment.month:02d}",
        "M": str(moment.month),
        "DD": f"{moment.day:02d}",
        "D": str(moment.day),
        "EEEE": _DAYS[moment.weekday()],
        "EEE": _DAYS[moment.weekday()][:3],
        "hh": f"{moment.hour:02d}",
        "h": str(moment.hour),
        "HH": f"{hour12:02d}",
        "H": str(hour12),
        "AA": "AM" if moment.hour < 12 else "PM",
        "aa": "am" if moment.hour < 12 else "pm",
        "mm": f"{moment.minute:02d}",
        "m": str(moment.minute),
        "ss": f"{moment.second:02d}",
        "s": str(moment.second),
        "ZZZZZ": f"{offset[:3]}:{offset[3:5]}",
        "ZZZZ": offset[:5],
        "ZZZ": "UTC" if utc else offset[:5],
        "Z": "Z" if utc else f"{offset[:3]}:{offset[3:5]}",
    }
    found = fields.get(part)
    if found is None:
        raise NoValueError(f'"{part}" is not a date format verb')
    return found


unpredictable("timestamp", "plantimestamp")
