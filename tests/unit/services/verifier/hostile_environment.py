"""An environment whose judge does what the completion says: sleeps, allocates, dies, fails, or gives a reward."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rl_gym.gym.core import Component, Episode, Reward

NAME = "tests.unit.services.verifier.hostile_environment:make"


@dataclass(frozen=True)
class Command:
    text: str
    valid: bool = True


def obey(action: Command, _episode: Episode) -> float:
    word, _, argument = action.text.partition(" ")
    match word:
        case "sleep":
            time.sleep(float(argument))
        case "swell":
            held = []
            while True:
                held.append(bytearray(16 << 20))
        case "die":
            os.kill(os.getpid(), signal.SIGKILL)
        case "interrupt":
            os.kill(os.getpid(), signal.SIGINT)
        case "print":
            print(argument, flush=True)
        case "raise":
            raise RuntimeError(argument)
        case "die-once" if _first_time(argument):
            os.kill(os.getpid(), signal.SIGKILL)
        case "raise-once" if _first_time(argument):
            raise RuntimeError(argument)
        case "environment":
            return float(argument in os.environ)
        case "reward":
            return float(argument)
    return 1.0


def _first_time(mark: str) -> bool:
    try:
        os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


class Hostile:
    name = "hostile"
    reward = Reward((Component("obedience", obey),), version="hostile@1")

    def episodes(self, split: str) -> Sequence[Episode]:
        return [Episode("e", "obey")]

    def prompt(self, episode: Episode) -> str:
        return episode.request

    def parse(self, completion: str, episode: Episode) -> Command | None:
        return Command(completion)

    def oracle(self, episode: Episode) -> str:
        return "reward 1"

    def random(self, episode: Episode) -> str:
        return "reward 0"

    def checks(self, action: Command, episode: Episode) -> Mapping[str, str]:
        return {"obeyed": "pass"}

    def fix(self, action: Command, episode: Episode) -> str | None:
        """Do what stands behind the word `fix`."""
        obey(Command(action.text.removeprefix("fix ")), episode)
        return None


def make() -> Hostile:
    return Hostile()
