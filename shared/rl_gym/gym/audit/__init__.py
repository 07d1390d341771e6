"""The audit: how a reward went up, read from recorded completions alone."""

from rl_gym.gym.audit.report import AuditReport, Metric, read_report, write_report
from rl_gym.gym.audit.run import audit
from rl_gym.gym.audit.training import training_alarms

__all__ = ["AuditReport", "Metric", "audit", "read_report", "training_alarms", "write_report"]
