"""Figures of the baseline's page as SVG inside HTML: their lengths are shares, so that text keeps its size."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

from rl_gym.gym.statistics import Interval
from rl_gym.serving.tables.break_even import HOURS_A_DAY, BreakEven

__all__ = ["CLASSES", "cost_lines", "whiskers"]

CLASSES = ("a", "b", "c", "d", "e", "f")
"""The classes of colours that rows and lines have by turns."""

_LINES_HEIGHT = 220


def whiskers(label: str, value: Interval, colour: str) -> str:
    """A mean as a dot on a scale from 0 to 1, with its interval as a line; without one where it is not known."""
    low, high = (_percent(end) for end in (value.low, value.high))
    line = ""
    if math.isfinite(value.low) and math.isfinite(value.high):
        line = f'<line x1="{low}" x2="{high}" y1="12" y2="12"/>'
    ticks = "".join(f'<line class="tick" x1="{at}%" x2="{at}%" y1="2" y2="22"/>' for at in (0, 25, 50, 75, 100))
    title = f"<title>{escape(label)}: {value.estimate:.3f}</title>"
    dot = f'<circle cx="{_percent(value.estimate)}" cy="12" r="5"/>'
    return f'<svg class="track {colour}" role="img" height="24">{title}{ticks}{line}{dot}</svg>'


def cost_lines(costs: Sequence[tuple[str, BreakEven]], colours: Mapping[str, str]) -> str:
    """Dollars a day over requests a day: level for the GPU, rising for each outside model; "" where none ever meet."""
    meeting = [even.requests_a_day for _, even in costs if 0 < even.requests_a_day < math.inf]
    if not meeting:
        return ""
    day = HOURS_A_DAY * costs[0][1].gpu_hour_usd
    highest = 2 * day
    if not (math.isfinite(2 * max(meeting)) and math.isfinite(highest)):
        return ""
    widest = _round_above(1.5 * max(meeting))
    parts = ['<line class="gpu" x1="0%" x2="100%" y1="50%" y2="50%"/>']
    parts.append(f'<text x="100%" y="50%" dx="-4" dy="20" text-anchor="end">GPU, ${_amount(day)} a day</text>')
    for name, even in costs:
        colour = colours[name]
        rise = even.usd_per_request * widest / highest
        across = 1.0 if rise <= 1 else 1 / rise
        title = f"<title>{escape(name)}</title>"
        ends = f'x2="{_percent(across)}" y2="{_percent(1 - min(rise, 1.0))}"'
        parts.append(f'<line class="{colour}" x1="0%" y1="100%" {ends}>{title}</line>')
        if 0 < even.requests_a_day < math.inf:
            at = _percent(even.requests_a_day / widest)
            parts.append(f'<circle class="{colour}" cx="{at}" cy="50%" r="5">{title}</circle>')
            parts.append(f'<line class="drop {colour}" x1="{at}" x2="{at}" y1="50%" y2="100%"/>')
    axis = "".join(f"<span>{_amount(share * widest)}</span>" for share in (0.0, 0.5, 1.0))
    return (
        f'<p class="axis"><span>${_amount(highest)} a day</span></p>'
        f'<svg class="lines" role="img" height="{_LINES_HEIGHT}">{"".join(parts)}</svg>'
        f'<p class="axis">{axis}</p><p class="axis unit"><span>requests a day</span></p>'
    )


def _round_above(value: float) -> float:
    """The next number of one figure, or of 1.5 and 2.5, times a power of ten."""
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10) if step * power >= value)


def _amount(value: float) -> str:
    return f"{value:,.0f}" if 100 <= value < 1e9 else f"{value:.4g}"


def _percent(share: float) -> str:
    return f"{100 * min(1.0, max(0.0, share)):.2f}%"
