"""The keys of the modes that read what lies outside of a run: traffic, repositories to mine, models to compare."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from rl_gym.training.recipe import Count, Section

__all__ = ["BakeoffSection", "FlywheelSection", "MineSection"]


class FlywheelSection(Section):
    """What was asked of the model that serves, and how much of it an update draws."""

    traffic: Annotated[
        str | None,
        Field(description="the aggregated mix: a file, or traffic/... in the object store; of mode flywheel"),
    ] = None


class MineSection(Section):
    """What `rl-gym data mine` is told, for a run of mode mine."""

    folders: Annotated[tuple[str, ...], Field(description="cloned repositories, or folders of them; of mode mine")] = ()
    licences: Annotated[tuple[str, ...], Field(description="SPDX names allowed besides the permissive ones")] = ()
    holdout_share: Annotated[float, Field(ge=0, le=0.9, description="share of repositories that never train")] = 0.1
    longest: Annotated[
        Count | None, Field(description="most characters of a reference; else what `rl-gym data mine` takes")
    ] = None


class BakeoffSection(Section):
    """Which models are compared; `evaluate` says on what, and how they are sampled."""

    models: Annotated[
        tuple[str, ...] | None,
        Field(min_length=1, description="names that the policy service answers to; else all it has"),
    ] = None
