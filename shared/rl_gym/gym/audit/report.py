"""What an audit found: metrics with their interval, their threshold and how to read them; as JSON, Markdown, table."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rl_gym.gym.core import content_hash
from rl_gym.gym.files import read_document, replace_text
from rl_gym.gym.statistics import Interval
from rl_gym.infra.errors import UsageError

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["LEAST_UNITS", "AuditReport", "Metric", "measured", "not_measured", "read_report", "write_report"]

LEAST_UNITS = 10
COLUMNS = ("metric", "value", "95% interval", "n", "alarm when", "")


@dataclass(frozen=True, slots=True)
class Metric:
    """One line of an audit.

    `value` is None where it could not be measured, and `note` says why. `low` and `high` are None where n is too small
    for an interval. `n` counts independent units: episodes, outputs, or exploits. `detail` breaks the value down.
    """

    name: str
    value: float | None
    low: float | None
    high: float | None
    n: int
    threshold: str
    alarm: bool
    how_to_read: str
    note: str = ""
    detail: Mapping[str, float] = field(default_factory=dict)


def measured(
    name: str,
    interval: Interval,
    *,
    how_to_read: str,
    threshold: str = "none",
    alarm: bool = False,
    least: int = LEAST_UNITS,
    detail: Mapping[str, float] | None = None,
) -> Metric:
    """A metric from an interval; with fewer than `least` units behind it, it raises no alarm."""
    ends = interval.to_dict()
    return Metric(
        name=name,
        value=interval.estimate,
        low=ends["low"],
        high=ends["high"],
        n=interval.n,
        threshold=threshold,
        alarm=alarm and interval.n >= least,
        how_to_read=how_to_read,
        detail=detail or {},
    )


def not_measured(name: str, why: str, *, how_to_read: str) -> Metric:
    """A metric without a number, and the reason."""
    return Metric(name, None, None, None, 0, "none", False, how_to_read, note=why)


@dataclass(frozen=True, slots=True)
class AuditReport:
    """An audit of `policy` against `baseline`.

    `reward_digest` is what judged the completions, `records_digest` the content of all that was read, `policy_digest`
    that of the audited policy's sampled completions. `undecided` holds the reasons for which a clean report would say
    too much.
    """

    environment: str
    reward_digest: str
    splits: Sequence[str]
    policy: str
    baseline: str
    episodes: int
    completions: int
    records_digest: str
    policy_digest: str
    metrics: Sequence[Metric]
    undecided: Sequence[str] = ()

    @property
    def alarms(self) -> tuple[str, ...]:
        return tuple(f"{m.name}: {_number(m.value)}, threshold: {m.threshold}" for m in self.metrics if m.alarm)

    @property
    def unmeasured(self) -> tuple[Metric, ...]:
        return tuple(metric for metric in self.metrics if metric.value is None)

    @property
    def exit_code(self) -> int:
        """0 clean, 2 alarm, 3 could not decide."""
        return 2 if self.alarms else 3 if self.undecided else 0

    @property
    def digest(self) -> str:
        return content_hash(self._body())

    def to_dict(self) -> dict[str, Any]:
        return self._body() | {"alarms": list(self.alarms), "digest": self.digest}

    def _body(self) -> dict[str, Any]:
        body = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return body | {
            "splits": list(self.splits),
            "metrics": [asdict(metric) for metric in self.metrics],
            "undecided": list(self.undecided),
        }

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> AuditReport:
        """The inverse of `to_dict`; UsageError where it is no report, or was changed since."""
        try:
            fields = {name: row[name] for name in cls.__dataclass_fields__}
            report = cls(**{**fields, "metrics": [Metric(**metric) for metric in row["metrics"]]})
        except (KeyError, TypeError) as error:
            raise UsageError(f"this is no audit report: {error!r}") from None
        if report.digest != row.get("digest"):
            raise UsageError("this audit report was changed after it was written")
        return report

    def to_markdown(self) -> str:
        """The table, and below it how to read each line."""
        rows = [f"| {' | '.join(cells)} |" for cells in map(_cells, self.metrics)]
        reading: dict[str, list[str]] = {}
        for metric in self.metrics:
            reading.setdefault(metric.how_to_read, []).append(f"`{metric.name}`")
        return "\n".join(
            [
                f"# Audit of {self.policy} against {self.baseline}",
                "",
                self.summary,
                "",
                f"| {' | '.join(COLUMNS)} |",
                "|---|---|---|---|---|---|",
                *rows,
                "",
                *[f"- {line}" for line in self.verdict_lines],
                "",
                "## How to read it",
                "",
                *[f"- {', '.join(names)}: {how_to_read}" for how_to_read, names in reading.items()],
                "",
                *self._details(),
            ]
        )

    def to_table(self) -> Table:
        """The same for a terminal."""
        from rich.table import Table
        from rich.text import Text

        table = Table(
            title=f"Audit of {self.policy} against {self.baseline}",
            title_justify="left",
            caption=self.summary,
            caption_justify="left",
            box=None,
            pad_edge=False,
        )
        for column in COLUMNS:
            table.add_column(
                column, justify="right" if column in COLUMNS[1:4] else "left", no_wrap=column != COLUMNS[4]
            )
        for metric in self.metrics:
            style = "red" if metric.alarm else "dim" if metric.value is None else ""
            table.add_row(*(Text(cell) for cell in _cells(metric)), style=style)
        return table

    @property
    def summary(self) -> str:
        return (
            f"{self.environment}, {', '.join(self.splits)}: {self.episodes} episodes, {self.completions} completions, "
            f"judged by {self.reward_digest}"
        )

    @property
    def verdict_lines(self) -> list[str]:
        lines = [f"ALARM {alarm}" for alarm in self.alarms] + [f"UNDECIDED {reason}" for reason in self.undecided]
        return lines or ["clean: no metric beyond its threshold"]

    def _details(self) -> list[str]:
        lines: list[str] = []
        for metric in self.metrics:
            if metric.detail:
                lines += [f"## {metric.name}", "", "| part | value |", "|---|---|"]
                lines += [f"| {part} | {_number(value)} |" for part, value in metric.detail.items()]
                lines += [""]
        return lines


def write_report(folder: Path, report: AuditReport) -> None:
    """Write `report.json` and `report.md`; InfrastructureError where the disk refuses."""
    replace_text(folder / "report.json", json.dumps(report.to_dict(), indent=2) + "\n")
    replace_text(folder / "report.md", report.to_markdown())


def read_report(path: Path) -> AuditReport:
    """Read a `report.json`; NotFoundError where there is none, UsageError where it is none or was changed."""
    try:
        return AuditReport.from_dict(read_document(path))
    except UsageError as error:
        raise type(error)(f"{path}: {error}") from None


def _cells(metric: Metric) -> list[str]:
    if metric.value is None:
        return [metric.name, "-", "", "", f"not measured: {metric.note}", ""]
    interval = "" if metric.low is None or metric.high is None else f"{metric.low:.3f} .. {metric.high:.3f}"
    return [
        metric.name,
        _number(metric.value),
        interval,
        str(metric.n),
        metric.threshold,
        "ALARM" if metric.alarm else "ok" if metric.threshold != "none" else "",
    ]


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
