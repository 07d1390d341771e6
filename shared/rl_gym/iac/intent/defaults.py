"""What the AWS provider fills in where a configuration says nothing: constants that its plans show.

The provider's schema does not tell them. They are read out of plans that Terraform made of known configurations
(`python -m rl_gym.iac.intent.defaults FOLDER_OF_THE_CORPORA` writes the file again), so that only types and blocks that
stand in these are known.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from rl_gym.iac import scan
from rl_gym.iac.corpora import iac_eval_rows
from rl_gym.iac.intent.planned import DEFAULTS, planned
from rl_gym.infra.errors import NotFoundError, RlGymError

__all__ = ["learn"]

_OF_THE_PROVIDER = frozenset({"region", "aws_region"})
"""What is taken from the configuration of the provider, and is no constant."""


def learn(data: Path) -> dict[str, dict[str, Any]]:
    """The defaults by type and dotted block path, out of the plans of IaC-Eval's references.

    A default is a scalar that is known and the same wherever the argument is not set. Raises NotFoundError where the
    references or their plans are not there.
    """
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for number, row in enumerate(iac_eval_rows(data)):
        path = data / "plans" / f"iac_eval-{number}.json.gz"
        if path.is_file():
            plan = json.loads(gzip.decompress(path.read_bytes()))
            for place, name, value in _filled(plan, row["Reference output"]):
                found[place, name].add(json.dumps(value))
    if not found:
        raise NotFoundError(f"{data / 'plans'} holds no plan of these references (iac_eval-0.json.gz, ...)")
    out: dict[str, dict[str, Any]] = {}
    for (place, name), values in sorted(found.items()):
        only = json.loads(values.pop()) if len(values) == 1 else None
        if only is not None:
            out.setdefault(place, {})[name] = only
    return out


def _filled(plan: Mapping[str, Any], text: str) -> Iterator[tuple[str, str, Any]]:
    configured = {one.address: one for one in scan.read(text).configuration.resources()}
    for change in plan["resource_changes"]:
        resource = configured.get(change["address"])
        if resource is not None and change["mode"] == "managed":
            values = planned(resource, filled=False)
            yield from _difference(change["type"], {**values.unknown, **values.known}, change["change"]["after"])


def _difference(place: str, ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """What a plan says where a configuration says nothing; of blocks, where there is one."""
    for name, value in theirs.items():
        mine = ours.get(name)
        if isinstance(value, list) and isinstance(mine, list) and len(value) == len(mine) == 1:
            if isinstance(value[0], dict) and isinstance(mine[0], dict):
                yield from _difference(f"{place}.{name}", mine[0], value[0])
        elif name not in ours and not isinstance(value, list | dict) and name not in _OF_THE_PROVIDER:
            yield place, name, value


def main(data: Path) -> None:
    target = Path(str(resources.files("rl_gym.iac"))) / "data" / DEFAULTS
    target.write_text(json.dumps(learn(data), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m rl_gym.iac.intent.defaults FOLDER_OF_THE_CORPORA")
    try:
        main(Path(sys.argv[1]))
    except RlGymError as error:
        sys.exit(f"error: {error}")
