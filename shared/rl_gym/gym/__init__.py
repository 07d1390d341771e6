"""The Environment SDK, which knows no task.

`core` holds the vocabulary (Environment, Episode, Reward, RewardBreakdown), `registry` finds environments by name,
`splits` freezes their anchors, `evaluation` and `records` measure policies, `audit` and `gate` judge what was measured,
and `trl` hands an environment to a trainer.
"""
