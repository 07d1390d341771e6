"""Where the reward of a training comes from: this process, or the verifier service that the job names."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from rl_gym.gym.core import Environment, Episode
from rl_gym.gym.trl import RewardFunction, reward_function
from rl_gym.infra.errors import NotFoundError, UsageError
from rl_gym.infra.extras import extra
from rl_gym.training.config import EnvironmentSection

__all__ = ["rewards", "verifier_job"]


def verifier_job(address: str, signing_key: str = "") -> dict[str, str]:
    """What a job carries as `verifier`: an address, and the file of the key that signs who calls, "" for none.

    Raises UsageError without an address, NotFoundError where the key is no file: a job is written into the run folder,
    so it names a key and never holds one.
    """
    if not address:
        raise UsageError("the verifier of a job needs an address, http://HOST:PORT")
    if signing_key and not Path(signing_key).is_file():
        raise NotFoundError("the signing key for the verifier is no file: write the key to one, and name that")
    return {"address": address, "signing_key": str(Path(signing_key).resolve()) if signing_key else ""}


@contextmanager
def rewards(
    env: Environment,
    section: EnvironmentSection,
    rows: Sequence[Mapping[str, Any]],
    verifier: Mapping[str, str] | None,
    tell: Callable[[str], None],
) -> Iterator[RewardFunction]:
    """The reward of `env` as TRL takes it, by the service that `verifier` names, as `verifier_job` made it, where it
    names one.

    The service is asked about the first of `rows` before anything is trained. Raises UsageError where it judges by
    other rules than `env` or refuses to judge, InfrastructureError where it does not come up. `tell` is given warnings.
    """
    if not verifier:
        yield reward_function(env)
        return
    with extra("services"):
        from rl_gym.infra.principals import Issuer
        from rl_gym.infra.signing import SigningKey
        from rl_gym.training.verifier_rewards import VerifierRewards, standard_of

    key = verifier.get("signing_key", "")
    caller = Issuer(SigningKey.load(key), "trainer", "verifier", ["score"]) if key else None
    asked = VerifierRewards(env, standard_of(section), verifier["address"], caller=caller, tell=tell)
    with closing(asked):
        for row in rows[:1]:
            asked.check(Episode.from_dict(json.loads(row["episode"])))
        yield reward_function(env, score=asked)
