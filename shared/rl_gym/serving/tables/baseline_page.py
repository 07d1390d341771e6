"""The baseline as one page of HTML that needs nothing else: no script, no network, light and dark."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from importlib.resources import files
from itertools import cycle

from rl_gym.gym.statistics import Interval
from rl_gym.serving.tables.baseline_score import Baseline, BaselineRow, Comparison
from rl_gym.serving.tables.break_even import HOURS_A_DAY, BreakEven, break_even
from rl_gym.serving.tables.figures import CLASSES, cost_lines, whiskers

__all__ = ["above", "baseline_page", "break_evens"]

_STYLE = "baseline.css"
_NAMED_MISSING = 20


def break_evens(
    baseline: Baseline, gpu_hour_usd: float, own_per_hour: float | None = None
) -> list[tuple[str, BreakEven]]:
    """The break-even of every row whose cost is known, by the row's name. Raises as `break_even` does."""
    return [(row.name, break_even(gpu_hour_usd, row.usd, own_per_hour)) for row in baseline.rows if row.usd is not None]


def above(even: BreakEven) -> str:
    """From when on a GPU is cheaper, in words."""
    if math.isinf(even.requests_a_day):
        return "never: a request costs too little" if even.usd_per_request else "never: a request costs nothing"
    if even.requests_a_day == 0:
        return "from the first request on: the GPU costs nothing"
    words = f"above {_count(even.requests_a_day)} requests a day"
    if even.within_reach is False and even.most_a_day is not None:
        return f"{words}, and one GPU answers at most {_count(even.most_a_day)}: never with this one"
    if even.most_a_day is not None:
        return f"{words}, of the {_count(even.most_a_day)} that one GPU can answer"
    return words


def baseline_page(baseline: Baseline, evens: Sequence[tuple[str, BreakEven]] = ()) -> str:
    """The page. `evens` are the break-evens to show, none where no price of a GPU is known."""
    title = "Outside models on " + baseline.anchor
    style = (files("rl_gym.serving.tables") / _STYLE).read_text(encoding="utf-8")
    body = "\n".join(_body(title, baseline, evens))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _body(title: str, baseline: Baseline, evens: Sequence[tuple[str, BreakEven]]) -> Iterator[str]:
    colours = dict(zip((row.name for row in baseline.rows), cycle(CLASSES)))
    yield f"<h1>{escape(title)}</h1>"
    yield (
        f'<p class="lead">Recorded completions, judged again offline: {baseline.episodes} episodes, '
        f"reward digest <code>{escape(baseline.digest)}</code>.</p>"
    )
    yield "<h2>What they reach</h2>"
    yield _figure(baseline.rows, colours)
    yield _table(baseline.rows)
    yield from _missing(baseline)
    yield (
        "<p>Below each figure its 95% interval: of the reward by bootstrap over episodes, of shares Wilson's. A full "
        "pass is an answer of reward 1. An episode without a recorded answer counts nowhere.</p>"
    )
    if baseline.comparisons:
        yield "<h2>What the rulebook adds</h2>"
        yield _comparisons(baseline.comparisons)
    yield "<h2>What a request costs</h2>"
    yield _costs(baseline.rows)
    yield from _break_even(evens, colours)


def _figure(rows: Sequence[BaselineRow], colours: Mapping[str, str]) -> str:
    parts = []
    for row in rows:
        parts.append(f'<div class="who">{escape(row.name)}</div>')
        for label, value in (("reward", row.reward), ("full passes", row.full)):
            parts.append(f'<div class="what">{label}</div>{whiskers(f"{row.name}, {label}", value, colours[row.name])}')
            parts.append(f'<div class="value">{value.estimate:.3f}</div>')
    scale = '<div></div><div class="axis"><span>0</span><span>0.5</span><span>1</span></div><div></div>'
    return f'<div class="figure">{"".join(parts)}{scale}</div>'


def _table(rows: Sequence[BaselineRow]) -> str:
    head = ("model", "prompt", "date", "n", "reward", "gate rate", "valid rate", "full passes")
    lines = []
    for row in rows:
        cells = [escape(row.model), row.prompt, escape(row.date), str(row.n)]
        cells += [_interval(value) for value in (row.reward, row.gate_rate, row.valid_rate, row.full)]
        lines.append(cells)
    return _tabled(head, lines)


def _missing(baseline: Baseline) -> Iterator[str]:
    for row in baseline.rows:
        if row.missing:
            named = ", ".join(f"ep{number}" for number in row.missing[:_NAMED_MISSING])
            more = f" and {len(row.missing) - _NAMED_MISSING} more" if len(row.missing) > _NAMED_MISSING else ""
            yield (
                f'<p class="note">{escape(row.name)}: {len(row.missing)} of {baseline.episodes} episodes '
                f"are not recorded ({named}{more}).</p>"
            )


def _comparisons(comparisons: Sequence[Comparison]) -> str:
    head = ("model", "common episodes", "reward", "full passes")
    lines = [
        [escape(one.model), str(one.reward.n), _interval(one.reward, "+"), _interval(one.full, "+")]
        for one in comparisons
    ]
    return _tabled(head, lines) + "<p>With the rulebook minus blind, paired over the episodes that both answered.</p>"


def _costs(rows: Sequence[BaselineRow]) -> str:
    head = ("model", "prompt", "prompt tokens", "completion tokens", "prices a million", "cost of a request")
    lines = [
        [
            escape(row.model),
            row.prompt,
            f"{row.prompt_tokens:,.0f}",
            f"{row.completion_tokens:,.0f}",
            f"${row.prices.prompt_million:,g}, ${row.prices.completion_million:,g}" if row.prices else "not known",
            "not known" if row.usd is None else f"${row.usd:.4g}",
        ]
        for row in rows
    ]
    return (
        _tabled(head, lines)
        + "<p>Tokens are means of a request; prices are of a million tokens of prompt and of completion.</p>"
    )


def _break_even(evens: Sequence[tuple[str, BreakEven]], colours: Mapping[str, str]) -> Iterator[str]:
    if not evens:
        return
    hour = evens[0][1].gpu_hour_usd
    yield "<h2>From when on a GPU of one's own is cheaper</h2>"
    yield cost_lines(evens, colours)
    items = "".join(
        f'<li class="{colours[name]}"><b>{escape(name)}</b><span>: {above(even)}</span></li>' for name, even in evens
    )
    yield f'<ul class="legend">{items}</ul>'
    yield (
        f'<p class="formula">requests a day = {HOURS_A_DAY} h &times; price of a GPU hour / cost of a request</p>'
        f"<p>A GPU that runs all day costs ${HOURS_A_DAY * hour:,.2f} at ${hour:,.2f} an hour, whatever it answers. "
        "This compares prices alone: how good the model on it is, another table says.</p>"
    )


def _tabled(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A table; each cell also names its column, for where there is room for one column only."""
    cells = "".join(f'<th scope="col">{one}</th>' for one in head)
    rows = []
    for first, *others in lines:
        named = zip(head[1:], others, strict=True)
        data = "".join(f'<td data-column="{name}"><span>{cell}</span></td>' for name, cell in named)
        rows.append(f'<tr><th scope="row">{first}</th>{data}</tr>')
    return f"<table><thead><tr>{cells}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _interval(value: Interval, sign: str = "") -> str:
    ends = "[not known]"
    if math.isfinite(value.low) and math.isfinite(value.high):
        ends = f"[{value.low:{sign}.2f}, {value.high:{sign}.2f}]"
    return f"{value.estimate:{sign}.3f}<br><small>{ends}</small>"


def _count(requests: float) -> str:
    return f"{math.ceil(requests):,}" if requests < 1e12 else f"{requests:.3g}"
