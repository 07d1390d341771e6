#### elb_https_only: pass: HTTPS
resource "aws_lb_listener" "l" {
  load_balancer_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:loadbalancer/app/web/1"
  port              = 443
  protocol          = "HTTPS"
  certificate_arn   = "arn:aws:acm:eu-west-1:111122223333:certificate/1"
  default_action {
    type             = "forward"
    target_group_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/web/1"
  }
}

#### elb_https_only: pass: HTTPS in lower case
resource "aws_lb_listener" "l" {
  load_balancer_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:loadbalancer/app/web/1"
  port              = 443
  protocol          = "https"
  certificate_arn   = "arn:aws:acm:eu-west-1:111122223333:certificate/1"
  default_action {
    type             = "forward"
    target_group_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/web/1"
  }
}

#### elb_https_only: pass: HTTPS on another port, by a variable
variable "protocol" {
  default = "HTTPS"
}
resource "aws_lb_listener" "l" {
  load_balancer_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:loadbalancer/app/web/1"
  port              = 8443
  protocol          = var.protocol
  certificate_arn   = "arn:aws:acm:eu-west-1:111122223333:certificate/1"
  default_action {
    type             = "forward"
    target_group_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/web/1"
  }
}

#### elb_https_only: pass: TLS of a network load balancer
resource "aws_lb_listener" "l" {
  load_balancer_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:loadbalancer/app/web/1"
  port              = 443
  protocol          = "TLS"
  certificate_arn   = "arn:aws:acm:eu-west-1:111122223333:certificate/1"
  default_action {
    type             = "forward"
    target_group_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/web/1"
  }
}

#### elb_https_only: pass: a redirect
resource "aws_lb_listener" "l" {
  load_balancer_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:loadbalancer/app/web/1"
  port              = 80
  protocol          = "HTTP"
  default_action {
    type = "redirect"
    redirect {
      port        = "443"
      protocol    = "HTTPS"
      status_code = "HTTP_301"
    }
  }
}

#### elb_https_only: pass: a redirect by the other name
resource "aws_alb_listener" "l" {
  load_balancer_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:loadbalancer/app/web/1"
  port              = "80"
  protocol          = "HTTP"
  default_action {
    type = "redirect"
    redirect {
      port        = "443"
      protocol    = "HTTPS"
      status_code = "HTTP_301"
    }
  }
}

#### elb_https_only: pass: a redirect of a listener whose protocol is the default
resource "aws_lb_listener" "l" {
  load_balancer_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:loadbalancer/app/web/1"
  port              = 80
  default_action {
    type = "redirect"
    redirect {
      port        = "443"
      protocol    = "HTTPS"
      status_code = "HTTP_301"
    }
  }
}

#### elb_https_only: pass: a dynamic redirect
locals {
  actions = ["HTTPS"]
}
resource "aws_lb_listener" "l" {
  load_balancer_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:loadbalancer/app/web/1"
  port              = 80
  protocol          = "HTTP"
  dynamic "default_action" {
    for_each = local.actions
    content {
      type = "redirect"
      redirect {
        port        = "443"
        protocol    = default_action.value
        status_code = "HTTP_302"
      }
    }
  }
}

#### elb_https_only: pass: a redirect by a variable
variable "to" {
  default = "HTTPS"
}
resource "aws_lb_listener" "l" {
  load_balancer_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:loadbalancer/app/web/1"
  port              = 80
  protocol          = "HTTP"
  default_action {
    type = "redirect"
    redirect {
      port        = "443"
      protocol    = var.to
      status_code = "HTTP_301"
    }
  }
}

#### elb_https_only: pass: rules that redirect as well
resource "aws_lb_listener" "l" {
  load_balancer_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:loadbalancer/app/web/1"
  port              = 80
  protocol          = "HTTP"
  default_action {
    type = "redirect"
    redirect {
      port        = "443"
      protocol    = "HTTPS"
      status_code = "HTTP_301"
    }
  }
}
resource "aws_lb_listener_rule" "r" {
  listener_arn = aws_lb_listener.l.arn
  action {
    type = "redirect"
    redirect {
      port        = "443"
      protocol    = "HTTPS"
      status_code = "HTTP_301"
    }
  }
  condition {
    path_pattern {
      values = ["/*"]
    }
  }
}

#### elb_https_only: pass: a rule of another listener
resource "aws_lb_listener" "l" {
  load_balancer_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:loadbalancer/app/web/1"
  port              = 80
  protocol          = "HTTP"
  default_action {
    type = "redirect"
    redirect {
      port        = "443"
      protocol    = "HTTPS"
      status_code = "HTTP_301"
    }
  }
}
resource "aws_lb_listener" "s" {
  load_balancer_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:loadbalancer/app/web/1"
  port              = 443
  protocol          = "HTTPS"
  certificate_arn   = "arn:aws:acm:eu-west-1:111122223333:certificate/1"
  default_action {
    type             = "forward"
    target_group_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/web/1"
  }
}
resource "aws_lb_listener_rule" "r" {
  listener_arn = aws_lb_listener.s.arn
  action {
    type             = "forward"
    target_group_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/web/1"
  }
  condition {
    path_pattern {
      values = ["/*"]
    }
  }
}

#### elb_https_only: pass: a classic one
resource "aws_elb" "e" {
  availability_zones = ["eu-west-1a"]
  listener {
    instance_port      = 80
    instance_protocol  = "http"
    lb_port            = 443
    lb_protocol        = "https"
    ssl_certificate_id = "arn:aws:acm:eu-west-1:111122223333:certificate/1"
  }
}

#### elb_https_only: fail: HTTP
resource "aws_lb_listener" "l" {
  load_balancer_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:loadbalancer/app/web/1"
  port              = 80
  protocol          = "HTTP"
  default_action {
    type             = "forward"
    target_group_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/web/1"
  }
}

#### elb_https_only: fail: HTTP on another port
resource "aws_lb_listener" "l" {
  load_balancer_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:loadbalancer/app/web/1"
  port              = 8080
  protocol          = "HTTP"
  default_action {
    type             = "forward"
    target_group_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/web/1"
  }
}

#### elb_https_only: fail: HTTP on the port of HTTPS
resource "aws_lb_listener" "l" {
  load_balancer_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:loadbalancer/app/web/1"
  port              = 443
  protocol          = "HTTP"
  default_action {
    type             = "forward"
    target_group_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/web/1"
  }
}

#### elb_https_only: fail: HTTP by the other name
resource "aws_alb_listener" "l" {
  load_balancer_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:loadbalancer/app/web/1"
  port              = 80
  protocol          = "HTTP"
  default_action {
    type             = "forward"
    target_group_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/web/1"
  }
}

#### elb_https_only: fail: HTTP in lower case
resource "aws_lb_listener" "l" {
  load_balancer_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:loadbalancer/app/web/1"
  port              = 80
  protocol          = "http"
  default_action {
    type             = "forward"
    target_group_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/web/1"
  }
}

#### elb_https_only: fail: the protocol is the default
resource "aws_lb_listener" "l" {
  load_balancer_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:loadbalancer/app/web/1"
  port              = 443
  certificate_arn   = "arn:aws:acm:eu-west-1:111122223333:certificate/1"
  default_action {
    type             = "forward"
    target_group_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/web/1"
  }
}

#### elb_https_only: fail: a redirect to HTTP
resource "aws_lb_listener" "l" {
  load_balancer_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:loadbalancer/app/web/1"
  port              = 80
  protocol          = "HTTP"
  default_action {
    type = "redirect"
    redirect {
      port        = "443"
      protocol    = "HTTP"
      status_code = "HTTP_301"
    }
  }
}

#### elb_https_only: fail: a redirect that keeps the protocol
resource "aws_lb_listener" "l" {
  load_balancer_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:loadbalancer/app/web/1"
  port              = 80
  protocol          = "HTTP"
  default_action {
    type = "redirect"
    redirect {
      port        = "443"
      status_code = "HTTP_301"
    }
  }
}

#### elb_https_only: fail: a redirect that keeps the protocol, spelt out
resource "aws_lb_listener" "l" {
  load_balancer_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:loadbalancer/app/web/1"
  port              = 80
  protocol          = "HTTP"
  default_action {
    type = "redirect"
    redirect {
      port        = "443"
      protocol    = "#{protocol}"
      status_code = "HTTP_301"
    }
  }
}

#### elb_https_only: fail: a redirect that is not the action
resource "aws_lb_listener" "l" {
  load_balancer_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:loadbalancer/app/web/1"
  port              = 80
  protocol          = "HTTP"
  default_action {
    type             = "forward"
    target_group_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/web/1"
    redirect {
      port        = "443"
      protocol    = "HTTPS"
      status_code = "HTTP_301"
    }
  }
}

#### elb_https_only: fail: a fixed answer
resource "aws_lb_listener" "l" {
  load_balancer_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:loadbalancer/app/web/1"
  port              = 80
  protocol          = "HTTP"
  default_action {
    type = "fixed-response"
    fixed_response {
      content_type = "text/plain"
      status_code  = "200"
    }
  }
}

#### elb_https_only: fail: a dynamic action over nothing
resource "aws_lb_listener" "l" {
  load_balancer_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:loadbalancer/app/web/1"
  port              = 80
  protocol          = "HTTP"
  dynamic "default_action" {
    for_each = []
    content {
      type = "redirect"
      redirect {
        protocol    = "HTTPS"
        status_code = "HTTP_301"
      }
    }
  }
}

#### elb_https_only: fail: a rule that forwards
resource "aws_lb_listener" "l" {
  load_balancer_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:loadbalancer/app/web/1"
  port              = 80
  protocol          = "HTTP"
  default_action {
    type = "redirect"
    redirect {
      port        = "443"
      protocol    = "HTTPS"
      status_code = "HTTP_301"
    }
  }
}
resource "aws_lb_listener_rule" "r" {
  listener_arn = aws_lb_listener.l.arn
  action {
    type             = "forward"
    target_group_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/web/1"
  }
  condition {
    path_pattern {
      values = ["/*"]
    }
  }
}

#### elb_https_only: fail: a rule that forwards, by the other name
resource "aws_alb_listener" "l" {
  load_balancer_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:loadbalancer/app/web/1"
  port              = 80
  protocol          = "HTTP"
  default_action {
    type = "redirect"
    redirect {
      port        = "443"
      protocol    = "HTTPS"
      status_code = "HTTP_301"
    }
  }
}
resource "aws_alb_listener_rule" "r" {
  listener_arn = aws_alb_listener.l.arn
  action {
    type             = "forward"
    target_group_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/web/1"
  }
  condition {
    path_pattern {
      values = ["/*"]
    }
  }
}

#### elb_https_only: fail: an HTTPS listener beside it
resource "aws_lb_listener" "l" {
  load_balancer_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:loadbalancer/app/web/1"
  port              = 443
  protocol          = "HTTPS"
  certificate_arn   = "arn:aws:acm:eu-west-1:111122223333:certificate/1"
  default_action {
    type             = "forward"
    target_group_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/web/1"
  }
}
resource "aws_lb_listener" "h" {
  load_balancer_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:loadbalancer/app/web/1"
  port              = 80
  protocol          = "HTTP"
  default_action {
    type             = "forward"
    target_group_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/web/1"
  }
}

#### elb_https_only: fail: one of each by for_each
resource "aws_lb_listener" "l" {
  for_each          = { 80 = "HTTP", 443 = "HTTPS" }
  load_balancer_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:loadbalancer/app/web/1"
  port              = each.key
  protocol          = each.value
  default_action {
    type             = "forward"
    target_group_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/web/1"
  }
}

#### elb_https_only: fail: a network load balancer on port 80
resource "aws_lb_listener" "l" {
  load_balancer_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:loadbalancer/app/web/1"
  port              = 80
  protocol          = "TCP"
  default_action {
    type             = "forward"
    target_group_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/web/1"
  }
}

#### elb_https_only: fail: a network load balancer on port 80, a string
resource "aws_lb_listener" "l" {
  load_balancer_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:loadbalancer/app/web/1"
  port              = "80"
  protocol          = "TCP_UDP"
  default_action {
    type             = "forward"
    target_group_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/web/1"
  }
}

#### elb_https_only: fail: an internal load balancer
resource "aws_lb" "w" {
  name     = "w"
  internal = true
  subnets  = ["subnet-1", "subnet-2"]
}
resource "aws_lb_listener" "l" {
  load_balancer_arn = aws_lb.w.arn
  port              = 80
  protocol          = "HTTP"
  default_action {
    type             = "forward"
    target_group_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/web/1"
  }
}

#### elb_https_only: fail: a classic one, HTTP
resource "aws_elb" "e" {
  availability_zones = ["eu-west-1a"]
  listener {
    instance_port     = 80
    instance_protocol = "http"
    lb_port           = 80
    lb_protocol       = "http"
  }
}

#### elb_https_only: fail: a classic one, one of two
resource "aws_elb" "e" {
  availability_zones = ["eu-west-1a"]
  dynamic "listener" {
    for_each = { 443 = "HTTPS", 80 = "HTTP" }
    content {
      instance_port     = 80
      instance_protocol = "http"
      lb_port           = listener.key
      lb_protocol       = listener.value
    }
  }
}

#### elb_https_only: fail: a classic one, TCP on port 80
resource "aws_elb" "e" {
  availability_zones = ["eu-west-1a"]
  listener {
    instance_port     = 8080
    instance_protocol = "tcp"
    lb_port           = 80
    lb_protocol       = "tcp"
  }
}

#### elb_https_only: fail: a protocol that only looks like HTTPS
resource "aws_lb_listener" "l" {
  load_balancer_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:loadbalancer/app/web/1"
  port              = 443
  protocol          = "HTTPЅ"
  certificate_arn   = "arn:aws:acm:eu-west-1:111122223333:certificate/1"
  default_action {
    type             = "forward"
    target_group_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/web/1"
  }
}

#### elb_https_only: fail: a classic one, no protocol
resource "aws_elb" "e" {
  availability_zones = ["eu-west-1a"]
  listener {
    instance_port     = 80
    instance_protocol = ""
    lb_port           = 80
    lb_protocol       = ""
  }
}

#### elb_https_only: unknown: handed in
variable "protocol" {}
resource "aws_lb_listener" "l" {
  load_balancer_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:loadbalancer/app/web/1"
  port              = 443
  protocol          = var.protocol
  certificate_arn   = "arn:aws:acm:eu-west-1:111122223333:certificate/1"
  default_action {
    type             = "forward"
    target_group_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/web/1"
  }
}

#### elb_https_only: unknown: a redirect to what is handed in
variable "to" {}
resource "aws_lb_listener" "l" {
  load_balancer_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:loadbalancer/app/web/1"
  port              = 80
  protocol          = "HTTP"
  default_action {
    type = "redirect"
    redirect {
      port        = "443"
      protocol    = var.to
      status_code = "HTTP_301"
    }
  }
}

#### elb_https_only: unknown: an action that is handed in
variable "kind" {}
resource "aws_lb_listener" "l" {
  load_balancer_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:loadbalancer/app/web/1"
  port              = 80
  protocol          = "HTTP"
  default_action {
    type = var.kind
    redirect {
      port        = "443"
      protocol    = "HTTPS"
      status_code = "HTTP_301"
    }
  }
}

#### elb_https_only: unknown: a redirect that may not be there
variable "actions" {}
resource "aws_lb_listener" "l" {
  load_balancer_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:loadbalancer/app/web/1"
  port              = 80
  protocol          = "HTTP"
  dynamic "default_action" {
    for_each = var.actions
    content {
      type = "redirect"
      redirect {
        protocol    = "HTTPS"
        status_code = "HTTP_301"
      }
    }
  }
}

#### elb_https_only: unknown: TCP on a port that is handed in
variable "port" {}
resource "aws_lb_listener" "l" {
  load_balancer_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:loadbalancer/app/web/1"
  port              = var.port
  protocol          = "TCP"
  default_action {
    type             = "forward"
    target_group_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/web/1"
  }
}

#### elb_https_only: na: TLS that the target ends
resource "aws_lb_listener" "l" {
  load_balancer_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:loadbalancer/app/web/1"
  port              = 443
  protocol          = "TCP"
  default_action {
    type             = "forward"
    target_group_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/web/1"
  }
}

#### elb_https_only: na: a database behind a network load balancer
resource "aws_lb_listener" "l" {
  load_balancer_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:loadbalancer/app/web/1"
  port              = 5432
  protocol          = "TCP"
  default_action {
    type             = "forward"
    target_group_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/web/1"
  }
}

#### elb_https_only: na: UDP
resource "aws_lb_listener" "l" {
  load_balancer_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:loadbalancer/app/web/1"
  port              = 53
  protocol          = "UDP"
  default_action {
    type             = "forward"
    target_group_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/web/1"
  }
}

#### elb_https_only: na: a gateway
resource "aws_lb" "g" {
  load_balancer_type = "gateway"
  name               = "g"
  subnets            = ["subnet-1"]
}
resource "aws_lb_listener" "l" {
  load_balancer_arn = aws_lb.g.arn
  default_action {
    type             = "forward"
    target_group_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/web/1"
  }
}

#### elb_https_only: na: in front of an application load balancer
resource "aws_lb_target_group" "t" {
  name        = "t"
  target_type = "alb"
  port        = 80
  protocol    = "TCP"
  vpc_id      = "vpc-1"
}
resource "aws_lb_listener" "l" {
  load_balancer_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:loadbalancer/app/web/1"
  port              = 80
  protocol          = "TCP"
  default_action {
    type             = "forward"
    target_group_arn = aws_lb_target_group.t.arn
  }
}

#### elb_https_only: na: never created
resource "aws_lb_listener" "l" {
  count             = 0
  load_balancer_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:loadbalancer/app/web/1"
  port              = 80
  protocol          = "HTTP"
  default_action {
    type             = "forward"
    target_group_arn = "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/web/1"
  }
}

#### elb_access_logs: pass: written
resource "aws_lb" "w" {
  name    = "w"
  subnets = ["subnet-1", "subnet-2"]
  access_logs {
    bucket  = "logs"
    enabled = true
  }
}

#### elb_access_logs: pass: by the other name
resource "aws_alb" "w" {
  name    = "w"
  subnets = ["subnet-1", "subnet-2"]
  access_logs {
    bucket  = "logs"
    enabled = "true"
  }
}

#### elb_access_logs: pass: a bucket here
resource "aws_s3_bucket" "logs" {
  bucket = "logs"
}
resource "aws_lb" "w" {
  name    = "w"
  subnets = ["subnet-1", "subnet-2"]
  access_logs {
    bucket  = aws_s3_bucket.logs.id
    prefix  = "w"
    enabled = true
  }
}

#### elb_access_logs: pass: a dynamic block
variable "logs" {
  default = ["logs"]
}
resource "aws_lb" "w" {
  name    = "w"
  subnets = ["subnet-1", "subnet-2"]
  dynamic "access_logs" {
    for_each = var.logs
    content {
      bucket  = access_logs.value
      enabled = true
    }
  }
}

#### elb_access_logs: pass: a classic one
resource "aws_elb" "e" {
  availability_zones = ["eu-west-1a"]
  listener {
    instance_port     = 80
    instance_protocol = "http"
    lb_port           = 80
    lb_protocol       = "http"
  }
  access_logs {
    bucket = "logs"
  }
}

#### elb_access_logs: pass: a network load balancer
resource "aws_lb" "w" {
  name               = "w"
  subnets            = ["subnet-1", "subnet-2"]
  load_balancer_type = "network"
  access_logs {
    bucket  = "logs"
    enabled = true
  }
}

#### elb_access_logs: fail: absent
resource "aws_lb" "w" {
  name    = "w"
  subnets = ["subnet-1", "subnet-2"]

}

#### elb_access_logs: fail: absent, by the other name
resource "aws_alb" "w" {
  name    = "w"
  subnets = ["subnet-1", "subnet-2"]

}

#### elb_access_logs: fail: switched off
resource "aws_lb" "w" {
  name    = "w"
  subnets = ["subnet-1", "subnet-2"]
  access_logs {
    bucket  = "logs"
    enabled = false
  }
}

#### elb_access_logs: fail: a bucket alone
resource "aws_lb" "w" {
  name    = "w"
  subnets = ["subnet-1", "subnet-2"]
  access_logs {
    bucket = "logs"
  }
}

#### elb_access_logs: fail: no bucket
resource "aws_lb" "w" {
  name    = "w"
  subnets = ["subnet-1", "subnet-2"]
  access_logs {
    bucket  = ""
    enabled = true
  }
}

#### elb_access_logs: fail: logs of connections in their place
resource "aws_lb" "w" {
  name    = "w"
  subnets = ["subnet-1", "subnet-2"]
  connection_logs {
    bucket  = "logs"
    enabled = true
  }
}

#### elb_access_logs: fail: a dynamic block over nothing
variable "logs" {
  default = []
}
resource "aws_lb" "w" {
  name    = "w"
  subnets = ["subnet-1", "subnet-2"]
  dynamic "access_logs" {
    for_each = var.logs
    content {
      bucket  = access_logs.value
      enabled = true
    }
  }
}

#### elb_access_logs: fail: a classic one, switched off
resource "aws_elb" "e" {
  availability_zones = ["eu-west-1a"]
  listener {
    instance_port     = 80
    instance_protocol = "http"
    lb_port           = 80
    lb_protocol       = "http"
  }
  access_logs {
    bucket  = "logs"
    enabled = false
  }
}

#### elb_access_logs: fail: one instance of two
resource "aws_lb" "w" {
  for_each = { a = true, b = false }
  name     = each.key
  subnets  = ["subnet-1", "subnet-2"]
  access_logs {
    bucket  = "logs"
    enabled = each.value
  }
}

#### elb_access_logs: unknown: handed in
variable "v" {}
resource "aws_lb" "w" {
  name    = "w"
  subnets = ["subnet-1", "subnet-2"]
  access_logs {
    bucket  = "logs"
    enabled = var.v
  }
}

#### elb_access_logs: pass: a bucket that is handed in
variable "v" {}
resource "aws_lb" "w" {
  name    = "w"
  subnets = ["subnet-1", "subnet-2"]
  access_logs {
    bucket  = var.v
    enabled = true
  }
}

#### elb_access_logs: unknown: a block that may not be there
variable "logs" {}
resource "aws_lb" "w" {
  name    = "w"
  subnets = ["subnet-1", "subnet-2"]
  dynamic "access_logs" {
    for_each = var.logs
    content {
      bucket  = "logs"
      enabled = true
    }
  }
}

#### elb_access_logs: unknown: may be a gateway
variable "kind" {}
resource "aws_lb" "w" {
  name               = "w"
  subnets            = ["subnet-1", "subnet-2"]
  load_balancer_type = var.kind
}

#### elb_access_logs: na: a gateway
resource "aws_lb" "g" {
  load_balancer_type = "gateway"
  name               = "g"
  subnets            = ["subnet-1"]
}

#### elb_access_logs: na: never created
resource "aws_lb" "w" {
  count   = 0
  name    = "w"
  subnets = ["subnet-1", "subnet-2"]

}

#### elb_https_only: pass: JSON syntax
{
  "resource": {
    "aws_lb_listener": {
      "r": {
        "load_balancer_arn": "arn:aws:elasticloadbalancing:eu-west-1:111122223333:loadbalancer/app/web/1",
        "port": 80,
        "protocol": "HTTP",
        "default_action": {
          "type": "redirect",
          "redirect": {
            "port": "443",
            "protocol": "HTTPS",
            "status_code": "HTTP_301"
          }
        }
      }
    }
  }
}

#### elb_https_only: fail: JSON syntax
{
  "resource": {
    "aws_lb_listener": {
      "r": {
        "load_balancer_arn": "arn:aws:elasticloadbalancing:eu-west-1:111122223333:loadbalancer/app/web/1",
        "port": 80,
        "protocol": "HTTP",
        "default_action": [
          {
            "type": "forward",
            "target_group_arn": "arn:aws:elasticloadbalancing:eu-west-1:111122223333:targetgroup/web/1"
          }
        ]
      }
    }
  }
}

#### elb_access_logs: pass: JSON syntax
{
  "resource": {
    "aws_lb": {
      "r": {
        "name": "w",
        "subnets": [
          "subnet-1",
          "subnet-2"
        ],
        "access_logs": {
          "bucket": "logs",
          "enabled": true
        }
      }
    }
  }
}

#### elb_access_logs: fail: JSON syntax
{
  "resource": {
    "aws_lb": {
      "r": {
        "name": "w",
        "subnets": [
          "subnet-1",
          "subnet-2"
        ],
        "access_logs": [
          {
            "bucket": "logs",
            "enabled": false
          }
        ]
      }
    }
  }
}
