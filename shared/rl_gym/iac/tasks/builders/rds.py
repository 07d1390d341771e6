"""Databases: single instances and Aurora clusters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from rl_gym.iac.tasks.demands import Demand, behind, both, equals, keyed, with_key
from rl_gym.iac.tasks.hcl_writer import Attr, Block, boolean, quote, tags
from rl_gym.iac.tasks.names import PURPOSES
from rl_gym.iac.tasks.parts import Builder, Part, Stack, Style

_ENGINES = ("postgres", "mysql", "mariadb")
_CLUSTERS = ("aurora-postgresql", "aurora-mysql")
_CLASSES = ("db.t3.micro", "db.t3.medium", "db.m5.large", "db.r5.large")
_USERS = ("app", "dba", "owner", "keeper", "svc")
_PASSWORDS = ("changeme123", "Passw0rd!", "SuperSecret1", "hunter2hunter2")


def _password(style: Style, attribute: str) -> Attr:
    return style.limit(
        "hardcoded_secret",
        Attr("manage_master_user_password", boolean(True)),
        *(Attr(attribute, quote(password)) for password in _PASSWORDS),
    )


def _storage(stack: Stack, style: Style) -> list[Attr | Block | None]:
    encrypted = style.protect(
        "rds_encrypted", Attr("storage_encrypted", boolean(True)), Attr("storage_encrypted", boolean(False))
    )
    key = stack.ref("key", "aws_kms_key", "arn")
    return [encrypted, Attr("kms_key_id", key) if key and encrypted else None]


def _backup(part: Part, style: Style) -> Attr | None:
    return style.protect(
        "rds_backup",
        Attr("backup_retention_period", str(part.params["days"])),
        Attr("backup_retention_period", "0"),
    )


def _guards(style: Style) -> list[Attr | None]:
    """Against a hasty delete, and against passwords as the only way in."""
    arguments = {
        "rds_deletion_protection": "deletion_protection",
        "rds_iam_auth": "iam_database_authentication_enabled",
    }
    return [style.protect(rule, *(Attr(name, boolean(on)) for on in (True, False))) for rule, name in arguments.items()]


def _links(stack: Stack) -> list[Demand]:
    encrypted = both(equals("storage_encrypted", True), keyed("kms_key_id"))
    return stack.links(key=with_key(encrypted, "rds_encrypted"), security_group=behind("vpc_security_group_ids"))


def _groups(stack: Stack) -> Attr | None:
    group = stack.ref("security_group", "aws_security_group", "id")
    return Attr("vpc_security_group_ids", f"[{group}]") if group else None


class Database(Builder):
    kind = "database"
    types = ("aws_db_instance",)

    def draw(self, project: str, rng: Random) -> Part:
        params = {
            "engine": rng.choice(_ENGINES),
            "class": rng.choice(_CLASSES),
            "size": rng.choice((20, 50, 100, 200)),
            "user": rng.choice(_USERS),
            "days": rng.choice((7, 14, 21, 30)),
        }
        return Part(self.kind, f"{project}-{rng.choice(PURPOSES[self.kind])}", params)

    def nouns(self, part: Part) -> Sequence[str]:
        engine = part.params["engine"]
        return (f"an RDS {engine} instance", f"a {engine} database", f"managed {engine}")

    def identity(self, part: Part) -> Sequence[Demand]:
        engine = part.params["engine"]
        return Demand(engine, equals("engine", engine)), Demand(part.name, equals("identifier", part.name))

    def demands(self, part: Part, stack: Stack) -> Sequence[Demand]:
        size, kind, user = part.params["size"], part.params["class"], part.params["user"]
        return (
            Demand(f"{size} GB", equals("allocated_storage", size)),
            Demand(f"class {kind}", equals("instance_class", kind)),
            Demand(f"user {user}", equals("username", user)),
            *_links(stack),
        )

    def build(self, part: Part, stack: Stack, style: Style) -> Iterator[Block]:
        yield Block(
            "resource",
            ("aws_db_instance", stack.project),
            [
                Attr("identifier", quote(part.name)),
                Attr("engine", quote(part.params["engine"])),
                Attr("instance_class", quote(part.params["class"])),
                Attr("allocated_storage", str(part.params["size"])),
                Attr("username", quote(part.params["user"])),
                _password(style, "password"),
                style.limit("rds_public", None, Attr("publicly_accessible", boolean(True))),
                *_storage(stack, style),
                _backup(part, style),
                *_guards(style),
                style.protect("rds_multi_az", Attr("multi_az", boolean(True)), Attr("multi_az", boolean(False))),
                _groups(stack),
                style.protect("tags", tags(Project=stack.project)),
            ],
        )


class Cluster(Builder):
    kind = "cluster"
    types = ("aws_rds_cluster",)

    def draw(self, project: str, rng: Random) -> Part:
        params = {"engine": rng.choice(_CLUSTERS), "user": rng.choice(_USERS), "days": rng.choice((7, 14, 21, 30))}
        return Part(self.kind, f"{project}-{rng.choice(PURPOSES[self.kind])}", params)

    def nouns(self, part: Part) -> Sequence[str]:
        engine = part.params["engine"]
        return (f"an RDS {engine} cluster", f"an {engine} cluster", f"a database cluster on {engine}")

    def identity(self, part: Part) -> Sequence[Demand]:
        engine = part.params["engine"]
        return Demand(engine, equals("engine", engine)), Demand(part.name, equals("cluster_identifier", part.name))

    def demands(self, part: Part, stack: Stack) -> Sequence[Demand]:
        user = part.params["user"]
        return (Demand(f"user {user}", equals("master_username", user)), *_links(stack))

    def build(self, part: Part, stack: Stack, style: Style) -> Iterator[Block]:
        yield Block(
            "resource",
            ("aws_rds_cluster", stack.project),
            [
                Attr("cluster_identifier", quote(part.name)),
                Attr("engine", quote(part.params["engine"])),
                Attr("master_username", quote(part.params["user"])),
                _password(style, "master_password"),
                *_storage(stack, style),
                _backup(part, style),
                *_guards(style),
                _groups(stack),
                style.protect("tags", tags(Project=stack.project)),
            ],
        )
