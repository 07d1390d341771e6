"""Security rules, a module per AWS service, each rule a short function over evaluated resources."""

from rl_gym.iac.rules.registry import RULESETS, Rule, Ruleset, RulesetSource, all_rules, get_ruleset, rule

__all__ = ["RULESETS", "Rule", "Ruleset", "RulesetSource", "all_rules", "get_ruleset", "rule"]
