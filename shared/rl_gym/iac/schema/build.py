"""Makes data/aws_schema.gz: version 5 of the AWS provider as Terraform tells it, version 6 from its CDK bindings.

    terraform providers schema -json > aws5.json        (in a folder that requires hashicorp/aws 5.100.0)
    pip download --no-deps cdktf-cdktf-provider-aws==21.22.1
    python -m rl_gym.iac.schema.build aws5.json cdktf_cdktf_provider_aws-21.22.1-py3-none-any.whl

The same two files give the same bytes. It prints the digest that `rl_gym.iac.schema.bundled` names.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from rl_gym.gym.files import read_document
from rl_gym.iac.schema.bindings import read_bindings
from rl_gym.iac.schema.bundled import DATA, digest_of
from rl_gym.iac.schema.packing import Body, Pool
from rl_gym.iac.schema.provider import read_provider
from rl_gym.infra.errors import UsageError

FIVE = "5.100.0"


def pack(versions: Mapping[str, Mapping[tuple[str, str], Body]]) -> bytes:
    """One file of what each version has, by (kind, type)."""
    pool = Pool("hashicorp/aws", list(versions))
    # The versions of a type side by side: they are nearly equal, and so compress well.
    for kind, name in sorted({key for types in versions.values() for key in types}):
        for version, types in versions.items():
            if (kind, name) in types:
                body = types[(kind, name)]
                pool.add(version, kind, name, _without_id(body) if kind == "resource" else body)
    return pool.packed()


def _without_id(body: Body) -> Body:
    """A resource whose `id` nobody sets: the provider's library declares it optional, and refuses it all the same."""
    known = body.attributes.get("id")
    if known is None or known.required:
        return body
    return Body({**body.attributes, "id": known._replace(settable=False)}, body.blocks)


def main(document: Path, wheel: Path) -> None:
    version, six = read_bindings(wheel)
    try:
        five = read_provider(read_document(document), "aws")
    except UsageError as error:
        raise UsageError(f"{document}: {error}") from None
    packed = pack({FIVE: five, version: six})
    path = Path(__file__).parent.parent / "data" / DATA
    path.write_bytes(packed)
    print(f"{path}: {len(packed)} bytes, digest {digest_of(packed)}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python -m rl_gym.iac.schema.build SCHEMA_JSON WHEEL")
    try:
        main(*map(Path, sys.argv[1:]))
    except UsageError as error:
        sys.exit(f"error: {error}")
