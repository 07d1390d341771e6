"""Load balancers: application, network and classic ones, and their listeners.

Terraform names what is newer than the classic load balancer twice: `aws_lb` and `aws_alb`, and so on.
"""

from __future__ import annotations

from collections.abc import Iterator

from rl_gym.hcl import UNKNOWN, Block, Resource
from rl_gym.iac.context import Context
from rl_gym.iac.rules.registry import rule
from rl_gym.iac.verdicts import Answer, Body, Truth, answer, every, given, inside, number, some, text, truth, worst

_CLASSIC = "aws_elb"
_BALANCERS = ("aws_lb", "aws_alb")
_LISTENERS = ("aws_lb_listener", "aws_alb_listener")
_LISTENER_RULES = ("aws_lb_listener_rule", "aws_alb_listener_rule")

_ENCRYPTED = frozenset({"HTTPS", "TLS", "SSL"})
_PLAIN_STREAMS = frozenset({"TCP", "TCP_UDP"})
"""Protocols that pass bytes on as they are: on port 80 that is HTTP, elsewhere the target may speak TLS itself."""
_OTHERS = frozenset({"UDP", "GENEVE", "QUIC", "TCP_QUIC"})
_HTTP_PORT = 80


@rule(
    "elb_https_only",
    severity="high",
    types=(*_LISTENERS, _CLASSIC),
    title="Load balancers speak HTTPS alone",
    fix='set protocol = "HTTPS" and certificate_arn, or make the default_action of an HTTP listener a redirect block '
    'with protocol = "HTTPS" and status_code = "HTTP_301"',
    short="HTTPS listeners, HTTP redirects",
    references=("CKV_AWS_2", "CKV_AWS_376", "FSBP ELB.1", "FSBP ELB.3"),
    passing="""
        resource "aws_lb_listener" "web" {
          load_balancer_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:loadbalancer/app/web/1"
          port              = 443
          protocol          = "HTTPS"
          certificate_arn   = "arn:aws:acm:eu-west-1:111122223333:certificate/1"
          default_action {
            type             = "forward"
            target_group_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/web/1"
          }
        }
    """,
    failing="""
        resource "aws_lb_listener" "web" {
          load_balancer_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:loadbalancer/app/web/1"
          port              = 80
          protocol          = "HTTP"
          default_action {
            type             = "forward"
            target_group_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/web/1"
          }
        }
    """,
)
def elb_https_only(resource: Resource, context: Context) -> Answer | None:
    """Nothing is served in clear text. An HTTP listener may do one thing: send everyone on to HTTPS.

    That holds for its rules as for its default action; a fixed answer is served in clear text as well. A TCP listener
    on port 80 is HTTP; on other ports, and for UDP and gateways, the listener cannot tell what passes through, and it
    is not asked. One that hands over to an application load balancer is judged by the listeners of that one.
    """
    if resource.type == _CLASSIC:
        return worst(_classic_listeners(resource))
    protocol, port = _protocol(resource, context), resource.get("port")
    if protocol == "HTTP":
        return worst(_redirects(resource, context))
    if protocol in _PLAIN_STREAMS and _hands_over(resource, context):
        return None
    return _judged(protocol, port, resource, "protocol")


def _classic_listeners(balancer: Resource) -> Iterator[Answer]:
    for block in balancer.blocks("listener"):
        found = _judged(_upper(block.get("lb_protocol")), block.get("lb_port"), block, "lb_protocol")
        if found is not None:
            yield found


def _judged(protocol: object, port: object, at: Body, path: str) -> Answer | None:
    """What a protocol on a port says; None where it does not tell what passes through."""
    if protocol is UNKNOWN:
        return answer(None, "", "", path, at)
    if protocol == "HTTP":
        return Answer("fail", "it serves HTTP in clear text", path, at)
    if protocol in _PLAIN_STREAMS:
        if port is UNKNOWN:
            return Answer("unknown", "the port is not known before apply", path, at)
        return Answer("fail", "port 80 passes HTTP on in clear text", path, at) if number(port) == _HTTP_PORT else None
    if protocol in _ENCRYPTED:
        return answer(inside(at, True), "it speaks TLS", "", path, at)
    return None if protocol in _OTHERS else Answer("fail", "that is no protocol of a listener", path, at)


def _upper(protocol: object) -> object:
    return UNKNOWN if protocol is UNKNOWN else (text(protocol) or "").strip().upper()


def _protocol(listener: Resource, context: Context) -> object:
    """The protocol of a listener: HTTP where none is written, except for that of a gateway."""
    if listener.get("protocol") is not None:
        return _upper(listener.get("protocol"))
    balancer = context.referred(listener, "load_balancer_arn")
    kind = balancer.get("load_balancer_type") if balancer else None
    return UNKNOWN if kind is UNKNOWN else "GENEVE" if kind == "gateway" else "HTTP"


def _hands_over(listener: Resource, context: Context) -> bool:
    group = context.referred(listener, "default_action.target_group_arn")
    return group is not None and group.get("target_type") == "alb"


def _redirects(listener: Resource, context: Context) -> Iterator[Answer]:
    """Whether a listener that speaks HTTP sends everyone on: by its default action and by each of its rules."""
    good, bad = "everyone is sent on to HTTPS", "it serves HTTP in clear text"
    holds = _all_redirect(listener.blocks("default_action"))
    yield answer(holds, good, bad, "default_action" if holds is None else "protocol")
    for kind in _LISTENER_RULES:
        for one in context.companions(listener, kind, "listener_arn"):
            rule_holds = _all_redirect(one.resource.blocks("action"))
            if rule_holds is not True:
                holds = rule_holds if one.attached else None
                yield answer(holds, good, "a rule of it serves HTTP in clear text", "action", one.resource)


def _all_redirect(actions: list[Block]) -> Truth:
    return every(inside(action, _redirect(action)) for action in actions) if actions else False


def _redirect(action: Block) -> Truth:
    kind, protocol = action.get("type"), action.get("redirect.protocol")
    if kind is UNKNOWN:
        return None
    if kind != "redirect":
        return False
    return None if protocol is UNKNOWN else _upper(protocol) == "HTTPS"


@rule(
    "elb_access_logs",
    severity="medium",
    types=(*_BALANCERS, _CLASSIC),
    title="Load balancers log who asks for what",
    fix="add a block access_logs with bucket = the name of an S3 bucket and enabled = true",
    short="access_logs",
    references=("CKV_AWS_91", "CKV_AWS_92", "FSBP ELB.5"),
    passing="""
        resource "aws_lb" "web" {
          name    = "web"
          subnets = ["subnet-1", "subnet-2"]
          access_logs {
            bucket  = "access-logs"
            enabled = true
          }
        }
    """,
    failing="""
        resource "aws_lb" "web" {
          name    = "web"
          subnets = ["subnet-1", "subnet-2"]
          access_logs {
            bucket  = "access-logs"
            enabled = false
          }
        }
    """,
)
def elb_access_logs(resource: Resource, context: Context) -> Answer | None:
    """Every request is recorded in a bucket. The block alone turns it on for a classic load balancer only.

    A bucket that is handed in will do: AWS takes no load balancer that logs into none. Gateway load balancers have no
    access logs, and are not asked.
    """
    kind = resource.get("load_balancer_type")
    if kind == "gateway":
        return None
    holds = some(
        inside(
            block, every([truth(block.get("enabled"), resource.type == _CLASSIC), given(block, "bucket") is not False])
        )
        for block in resource.blocks("access_logs")
    )
    if holds is False and kind is UNKNOWN:
        return Answer("unknown", "whether it is a gateway is not known before apply", "load_balancer_type")
    return answer(holds, "access logs are written", "no access logs are written", "access_logs")
