"""`rl-gym schema`: read the schema of a newer provider, show what a type takes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from rl_gym.gym.files import replacing
from rl_gym.iac.schema.bundled import SETTING, Version, versions
from rl_gym.iac.schema.packing import KINDS, Body
from rl_gym.infra.errors import NotFoundError, UsageError
from rl_gym.infra.text_files import decoded, parsed_json

app = typer.Typer(add_completion=False, no_args_is_help=True, help="The schemas of the AWS provider that decide.")

_LARGEST = 256 * 1024 * 1024
_DEFAULT = Path("aws_schema.gz")


@app.command("import")
def import_schema(
    document: Annotated[str, typer.Argument(help="what `terraform providers schema -json` wrote, or - for stdin")],
    to: Annotated[Path, typer.Option("--to", help="the file to write")] = _DEFAULT,
    version: Annotated[str, typer.Option(help="the provider's version, which the document does not tell")] = "imported",
) -> int:
    """Read a provider's schema into a small file, which RL_GYM_SCHEMA then names.

    A configuration is well formed where a bundled version of the provider or the imported one takes it. Rewards under
    another schema have another digest.
    """
    from rl_gym.iac.schema.build import pack
    from rl_gym.iac.schema.provider import read_provider

    types = read_provider(_parsed(document), "aws")
    packed = pack({version: types})
    with replacing(to, parents=False) as file:
        file.write(packed)
    print(f"wrote {to}: {len(types)} types, {len(packed)} bytes")
    print(f"next: export {SETTING}={to.resolve()}")
    return 0


@app.command()
def show(
    name: Annotated[
        str, typer.Argument(metavar="TYPE", help="aws_s3_bucket, data.aws_ami, aws_instance.ebs_block_device")
    ],
    version: Annotated[str, typer.Option(help="a version of the provider (default: the first that has the type)")] = "",
) -> int:
    """Show the arguments and blocks of a resource type, a data source, or a block inside one."""
    kind, steps = _split(name)
    known = [one for one in versions() if version in ("", one.number)]
    if not known:
        numbers = ", ".join(one.number for one in versions())
        raise NotFoundError(f"there is no schema of version {version!r}: there are {numbers}")
    for one in known:
        body = one.find(kind, steps[0])
        if body is not None:
            lines = _lines(_inside(body, steps))
            print("\n".join([f"{name} (AWS provider {one.number})", *lines]))
            return 0
    raise NotFoundError(_unknown(kind, steps[0], known))


def _parsed(document: str) -> Any:
    try:
        stream = sys.stdin.buffer if document == "-" else open(document, "rb")  # noqa: SIM115 - closed just below
        with stream:
            data = stream.read(_LARGEST + 1)
    except OSError as error:
        raise UsageError(f"{document}: {error.strerror}") from None
    if len(data) > _LARGEST:
        raise UsageError(f"{document}: larger than {_LARGEST // 2**20} MiB")
    return parsed_json(decoded(data, document), document)


def _split(name: str) -> tuple[str, list[str]]:
    """The kind that a name is of, and its type with the blocks inside it."""
    first, dot, rest = name.partition(".")
    return (first, rest.split(".")) if dot and first in KINDS else ("resource", name.split("."))


def _inside(body: Body, steps: list[str]) -> Body:
    where = steps[0]
    for step in steps[1:]:
        if step not in body.blocks:
            held = ", ".join(body.blocks) or "none"
            raise NotFoundError(f"{where} has no block {step!r}; it has: {held}")
        body, where = body.blocks[step].body, f"{where}.{step}"
    return body


def _unknown(kind: str, name: str, known: list[Version]) -> str:
    from rl_gym.iac.schema.nearest import nearest

    near = nearest(name, [one for version in known for one in version.names(kind)])
    hint = f": did you mean {near!r}?" if near else ""
    return f"the AWS provider has no {kind} {name!r}{hint}"


def _lines(body: Body) -> list[str]:
    """A line for each argument and block: what must be there, what may be, and what the provider computes."""
    from rl_gym.hcl.conversion import type_name

    width = max(map(len, [*body.attributes, *body.blocks]), default=0)
    groups: dict[str, list[str]] = {"required": [], "optional": [], "computed": [], "blocks": []}
    for name, attribute in sorted(body.attributes.items()):
        group = "required" if attribute.required else "optional" if attribute.settable else "computed"
        groups[group].append(f"    {name:{width}}  {type_name(attribute.type)}")
    for name, nested in sorted(body.blocks.items()):
        bounds = f"at least {nested.least}" if nested.least else ""
        most = f"at most {nested.most}" if nested.most is not None else ""
        groups["blocks"].append(f"    {name:{width}}  {', '.join(filter(None, (bounds, most))) or 'any number'}")
    return [line for group, lines in groups.items() if lines for line in (f"  {group}", *lines)]
