"""What may stand in the blocks of the language itself, in the form in which a provider says it of its own."""

from __future__ import annotations

from rl_gym.hcl.conversion import ANY
from rl_gym.iac.schema.packing import Attribute, Body, Nested


def _body(required: str = "", optional: str = "", **blocks: Nested) -> Body:
    attributes = {name: Attribute(ANY, required=True) for name in required.split()}
    attributes.update((name, Attribute(ANY)) for name in optional.split())
    return Body(attributes, blocks)


def _any_number(body: Body) -> Nested:
    return Nested(body, 0, None)


def _at_most_one(body: Body) -> Nested:
    return Nested(body, 0, 1)


_CONDITION = _body("condition error_message")
ANYTHING = Body({}, {})
"""What is not looked into: Terraform itself reads a connection only together with a provisioner."""
_CONDITIONS = {"precondition": _any_number(_CONDITION), "postcondition": _any_number(_CONDITION)}

PROVISIONERS = {
    "file": _body("destination", "source content when on_failure", connection=_at_most_one(ANYTHING)),
    "local-exec": _body(
        "command",
        "interpreter working_dir environment quiet when on_failure",
        connection=_at_most_one(ANYTHING),
    ),
    "remote-exec": _body("", "inline script scripts when on_failure", connection=_at_most_one(ANYTHING)),
}
"""What each kind of provisioner takes."""

PROVISIONER = "provisioner"

DYNAMIC_BLOCK = _body("for_each", "iterator labels", content=Nested(ANYTHING, 1, 1))
"""What a dynamic block takes; its content is that of the blocks that it makes."""

RESOURCE = _body(
    "",
    "count for_each provider depends_on",
    lifecycle=_at_most_one(
        Body(
            _body("", "create_before_destroy prevent_destroy ignore_changes replace_triggered_by").attributes,
            _CONDITIONS,
        )
    ),
    connection=_at_most_one(ANYTHING),
    provisioner=_any_number(ANYTHING),
)
"""What every resource takes beside its own arguments; a provisioner is looked up by its kind."""

DATA = _body("", "count for_each provider depends_on", lifecycle=_at_most_one(Body({}, _CONDITIONS)))
"""What every data source takes beside its own arguments."""

PROVIDER = _body("", "alias version")
"""What every provider takes beside its own arguments."""

MODULE = _body("source", "version count for_each providers depends_on")
"""What every call of a module takes beside the variables of the module."""

TOP_LEVEL = {
    "variable": _body(
        "", "type default description sensitive nullable ephemeral deprecated", validation=_any_number(_CONDITION)
    ),
    "output": _body(
        "value", "description sensitive ephemeral depends_on deprecated", precondition=_any_number(_CONDITION)
    ),
    "moved": _body("from to"),
}
"""The blocks of a module that take the same arguments wherever they stand."""
