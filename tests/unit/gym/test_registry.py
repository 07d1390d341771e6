from __future__ import annotations

import importlib.metadata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rl_gym.gym import registry
from rl_gym.gym.examples.countdown import Countdown, make
from rl_gym.infra.errors import NotFoundError, UsageError


@pytest.fixture
def registered() -> Iterator[str]:
    registry.register("made-up", make)
    yield "made-up"
    registry.unregister("made-up")


def offer(monkeypatch: pytest.MonkeyPatch, *points: tuple[str, str]) -> None:
    """Pretend that installed packages offer exactly these entry points."""
    found = [importlib.metadata.EntryPoint(name, value, registry.GROUP) for name, value in points]
    monkeypatch.setattr(registry.metadata, "entry_points", lambda group: found)


def test_both_environments_of_this_package_are_offered_by_entry_point() -> None:
    assert {"countdown", "iac"} <= set(registry.available())
    assert isinstance(registry.get_env("countdown"), Countdown)
    assert registry.source("countdown") == "rl_gym.gym.examples.countdown:make"


def test_a_registered_factory_is_found_and_named(registered: str) -> None:
    assert registered in registry.available()
    assert registry.get_env(registered).name == "countdown"
    assert registry.source(registered) == "rl_gym.gym.examples.countdown:make"


def test_a_name_belongs_to_one_factory(registered: str) -> None:
    registry.register(registered, make)
    with pytest.raises(UsageError, match="registered already"):
        registry.register(registered, lambda: make())


@pytest.mark.parametrize("name", ["", "Up", "1a", "a b", "../x", "a" * 65])
def test_a_malformed_name_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="environment name"):
        registry.register(name, make)


def test_an_unknown_name_tells_the_nearest_and_all() -> None:
    with pytest.raises(NotFoundError, match=r"'contdown'; did you mean 'countdown'\? \(available: .*iac"):
        registry.get_env("contdown")


def test_options_reach_the_factory(registered: str) -> None:
    made: dict[str, Any] = {}

    def factory(*, level: str = "low") -> Countdown:
        made["level"] = level
        return make()

    registry.register("with-options", factory)
    try:
        registry.get_env("with-options", level="high")
        assert made == {"level": "high"}
        with pytest.raises(UsageError, match=r"'depth'.*its options: level"):
            registry.get_env("with-options", depth=1)
        for make_env in (registry.get_env, registry.resolve):
            with pytest.raises(UsageError, match=r"unexpected keyword argument 'name' \(its options: level\)"):
                make_env("with-options", name="x")
        with pytest.raises(UsageError, match=r"unexpected keyword argument 'spec'"):
            registry.resolve("with-options", spec="x")
    finally:
        registry.unregister("with-options")


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("no.such.module:make", "ModuleNotFoundError"),
        ("rl_gym.gym.examples.countdown:absent", "AttributeError"),
        ("rl_gym.gym.examples.countdown:SEED", "is no factory"),
    ],
)
def test_a_broken_entry_point_is_one_clear_line(monkeypatch: pytest.MonkeyPatch, value: str, why: str) -> None:
    offer(monkeypatch, ("broken", value))
    with pytest.raises(UsageError, match=f"'broken'.*{value}.*{why}|'broken'.*{why}"):
        registry.get_env("broken")


def test_two_packages_with_one_name_are_not_chosen_between(monkeypatch: pytest.MonkeyPatch) -> None:
    offer(monkeypatch, ("twice", "a:make"), ("twice", "b:make"))
    with pytest.raises(UsageError, match="more than once: a:make, b:make"):
        registry.get_env("twice")


def test_the_same_entry_point_listed_twice_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    offer(monkeypatch, *[("twice", "rl_gym.gym.examples.countdown:make")] * 2)
    assert registry.get_env("twice").name == "countdown"


def test_what_is_no_environment_is_refused_with_what_it_lacks(tmp_path: Path) -> None:
    path = tmp_path / "half.py"
    path.write_text("class make:\n    name = 'half'\n    def prompt(self, episode): ...\n")
    with pytest.raises(UsageError, match="lacks reward, episodes, parse, oracle, random"):
        registry.resolve(str(path))


def test_a_file_is_an_environment_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(
        "from dataclasses import dataclass\n"
        "from rl_gym.gym.examples.countdown import Countdown\n"
        "@dataclass(slots=True)\nclass Mine(Countdown):\n    depth: str = '1'\n"
        "def make(depth='1'):\n    return Mine(depth)\n"
    )
    assert registry.resolve(str(path), depth="7").depth == "7"  # type: ignore[attr-defined]
    assert registry.resolve(f"{path}:Mine").name == "countdown"
    with pytest.raises(UsageError, match="has no factory other"):
        registry.resolve(f"{path}:other")


def test_a_file_that_is_absent_or_fails_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no such file"):
        registry.resolve(str(tmp_path / "absent.py"))
    path = tmp_path / "bad.py"
    path.write_text("def make(:\n")
    with pytest.raises(UsageError, match=r"bad\.py does not load: SyntaxError"):
        registry.resolve(str(path))


def test_options_that_a_factory_lacks_are_left_at_their_default(registered: str) -> None:
    assert registry.applicable("iac", {"ruleset": "base", "level": 1}, {"level": 1}) == {"ruleset": "base"}
    assert registry.applicable(registered, {"level": 1}, {"level": 1}) == {}
    with pytest.raises(UsageError, match="'made-up' has no levels: leave 'level' out"):
        registry.applicable(registered, {"level": 2}, {"level": 1})
    with pytest.raises(UsageError, match="has no levels"):
        registry.applicable(registered, {"level": 2}, {})
