"""What a project makes of a scan: known findings, waivers, severities of its own. No reward ever looks here."""

from rl_gym.iac.triage.issues import PROBLEM_RULES, Issue, JudgedModule, Suppression, judged

__all__ = ["PROBLEM_RULES", "Issue", "JudgedModule", "Suppression", "judged"]
