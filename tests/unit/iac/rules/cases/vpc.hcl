#### sg_world_admin: fail: SSH
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"
  ingress {
    from_port   = 22
    to_port     = 22
    protocol    = "tcp"
    cidr_blocks = ["0.0.0.0/0"]
  }

}

#### sg_world_admin: fail: RDP
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"
  ingress {
    from_port   = 3389
    to_port     = 3389
    protocol    = "tcp"
    cidr_blocks = ["0.0.0.0/0"]
  }

}

#### sg_world_admin: fail: ports as strings
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"
  ingress {
    from_port   = "22"
    to_port     = "22"
    protocol    = "tcp"
    cidr_blocks = ["0.0.0.0/0"]
  }

}

#### sg_world_admin: fail: a range around it
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"
  ingress {
    from_port   = 20
    to_port     = 25
    protocol    = "tcp"
    cidr_blocks = ["0.0.0.0/0"]
  }

}

#### sg_world_admin: fail: a range the wrong way round
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"
  ingress {
    from_port   = 25
    to_port     = 20
    protocol    = "tcp"
    cidr_blocks = ["0.0.0.0/0"]
  }

}

#### sg_world_admin: fail: from a local
locals {
  port = 20 + 2
}
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"
  ingress {
    from_port   = local.port
    to_port     = local.port
    protocol    = "tcp"
    cidr_blocks = ["0.0.0.0/0"]
  }

}

#### sg_world_admin: fail: protocol -1
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"
  ingress {
    from_port   = 0
    to_port     = 0
    protocol    = "-1"
    cidr_blocks = ["0.0.0.0/0"]
  }

}

#### sg_world_admin: fail: protocol -1 as a number
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"
  ingress {
    from_port   = 0
    to_port     = 0
    protocol    = -1
    cidr_blocks = ["0.0.0.0/0"]
  }

}

#### sg_world_admin: fail: protocol all
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"
  ingress {
    from_port   = 0
    to_port     = 0
    protocol    = "all"
    cidr_blocks = ["0.0.0.0/0"]
  }

}

#### sg_world_admin: fail: protocol in capitals
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"
  ingress {
    from_port   = 22
    to_port     = 22
    protocol    = "TCP"
    cidr_blocks = ["0.0.0.0/0"]
  }

}

#### sg_world_admin: fail: protocol by number
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"
  ingress {
    from_port   = 22
    to_port     = 22
    protocol    = "6"
    cidr_blocks = ["0.0.0.0/0"]
  }

}

#### sg_world_admin: fail: protocol as a number
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"
  ingress {
    from_port   = 22
    to_port     = 22
    protocol    = 6
    cidr_blocks = ["0.0.0.0/0"]
  }

}

#### sg_world_admin: fail: IPv6
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"
  ingress {
    from_port        = 22
    to_port          = 22
    protocol         = "tcp"
    ipv6_cidr_blocks = ["::/0"]
  }

}

#### sg_world_admin: fail: IPv6 written out
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"
  ingress {
    from_port        = 22
    to_port          = 22
    protocol         = "tcp"
    ipv6_cidr_blocks = ["0:0:0:0:0:0:0:0/0"]
  }

}

#### sg_world_admin: fail: IPv6 in eight zeros
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"
  ingress {
    from_port        = 22
    to_port          = 22
    protocol         = "tcp"
    ipv6_cidr_blocks = ["0000:0000:0000:0000:0000:0000:0000:0000/0"]
  }

}

#### sg_world_admin: fail: all of global IPv6
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"
  ingress {
    from_port        = 22
    to_port          = 22
    protocol         = "tcp"
    ipv6_cidr_blocks = ["2000::/3"]
  }

}

#### sg_world_admin: fail: host bits before the mask
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"
  ingress {
    from_port   = 22
    to_port     = 22
    protocol    = "tcp"
    cidr_blocks = ["203.0.113.7/0"]
  }

}

#### sg_world_admin: fail: leading zeros
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"
  ingress {
    from_port   = 22
    to_port     = 22
    protocol    = "tcp"
    cidr_blocks = ["000.000.000.000/0"]
  }

}

#### sg_world_admin: fail: half the world
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"
  ingress {
    from_port   = 22
    to_port     = 22
    protocol    = "tcp"
    cidr_blocks = ["128.0.0.0/1"]
  }

}

#### sg_world_admin: fail: a quarter of it
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"
  ingress {
    from_port   = 22
    to_port     = 22
    protocol    = "tcp"
    cidr_blocks = ["64.0.0.0/2"]
  }

}

#### sg_world_admin: fail: by a function
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"
  ingress {
    from_port   = 22
    to_port     = 22
    protocol    = "tcp"
    cidr_blocks = [cidrsubnet("0.0.0.0/0", 1, 0), cidrsubnet("0.0.0.0/0", 1, 1)]
  }

}

#### sg_world_admin: fail: two rules, half each
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"
  ingress {
    from_port   = 22
    to_port     = 22
    protocol    = "tcp"
    cidr_blocks = ["0.0.0.0/1"]
  }
  ingress {
    from_port   = 22
    to_port     = 22
    protocol    = "tcp"
    cidr_blocks = ["128.0.0.0/1"]
  }

}

#### sg_world_admin: fail: in sixteen parts
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"
  ingress {
    from_port   = 22
    to_port     = 22
    protocol    = "tcp"
    cidr_blocks = [for i in range(16) : cidrsubnet("0.0.0.0/0", 4, i)]
  }

}

#### sg_world_admin: fail: a second block of many
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"
  ingress {
    from_port   = 22
    to_port     = 22
    protocol    = "tcp"
    cidr_blocks = ["10.0.0.0/8"]
  }
  ingress {
    from_port   = 22
    to_port     = 22
    protocol    = "tcp"
    cidr_blocks = ["0.0.0.0/0"]
  }

}

#### sg_world_admin: fail: beside a group
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"
  ingress {
    from_port       = 22
    to_port         = 22
    protocol        = "tcp"
    security_groups = ["sg-1"]
    cidr_blocks     = ["0.0.0.0/0"]
  }

}

#### sg_world_admin: fail: a dynamic block
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"
  dynamic "ingress" {
    for_each = { ssh = 22 }
    content {
      from_port   = ingress.value
      to_port     = ingress.value
      protocol    = "tcp"
      cidr_blocks = ["0.0.0.0/0"]
    }
  }

}

#### sg_world_admin: fail: a dynamic block over who knows what
variable "v" {}
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"
  dynamic "ingress" {
    for_each = var.v
    content {
      from_port   = 22
      to_port     = 22
      protocol    = "tcp"
      cidr_blocks = ["0.0.0.0/0"]
    }
  }

}

#### sg_world_admin: fail: an attribute list
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"
  ingress = [{
    from_port   = 22, to_port = 22, protocol = "tcp", cidr_blocks = ["0.0.0.0/0"],
    description = "", ipv6_cidr_blocks = [], prefix_list_ids = [], security_groups = [], self = false
  }]
}

#### sg_world_admin: fail: standalone
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"

}
resource "aws_vpc_security_group_ingress_rule" "r" {
  security_group_id = aws_security_group.s.id
  from_port         = 22
  to_port           = 22
  ip_protocol       = "tcp"
  cidr_ipv4         = "0.0.0.0/0"
}

#### sg_world_admin: fail: standalone, IPv6
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"

}
resource "aws_vpc_security_group_ingress_rule" "r" {
  security_group_id = aws_security_group.s.id
  from_port         = 22
  to_port           = 22
  ip_protocol       = "tcp"
  cidr_ipv6         = "::/0"
}

#### sg_world_admin: fail: standalone, all protocols
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"

}
resource "aws_vpc_security_group_ingress_rule" "r" {
  security_group_id = aws_security_group.s.id
  ip_protocol       = "-1"
  cidr_ipv4         = "0.0.0.0/0"
}

#### sg_world_admin: fail: standalone, old
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"

}
resource "aws_security_group_rule" "r" {
  security_group_id = aws_security_group.s.id
  type              = "ingress"
  from_port         = 22
  to_port           = 22
  protocol          = "tcp"
  cidr_blocks       = ["0.0.0.0/0"]
}

#### sg_world_admin: fail: standalone, half each
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"

}
resource "aws_vpc_security_group_ingress_rule" "r" {
  security_group_id = aws_security_group.s.id
  from_port         = 22
  to_port           = 22
  ip_protocol       = "tcp"
  cidr_ipv4         = "0.0.0.0/1"
}
resource "aws_vpc_security_group_ingress_rule" "q" {
  security_group_id = aws_security_group.s.id
  from_port         = 22
  to_port           = 22
  ip_protocol       = "tcp"
  cidr_ipv4         = "128.0.0.0/1"
}

#### sg_world_admin: fail: one half inline, one standalone
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"
  ingress {
    from_port   = 22
    to_port     = 22
    protocol    = "tcp"
    cidr_blocks = ["0.0.0.0/1"]
  }

}
resource "aws_vpc_security_group_ingress_rule" "r" {
  security_group_id = aws_security_group.s.id
  from_port         = 22
  to_port           = 22
  ip_protocol       = "tcp"
  cidr_ipv4         = "128.0.0.0/1"
}

#### sg_world_admin: fail: standalone by for_each
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"

}
resource "aws_vpc_security_group_ingress_rule" "r" {
  for_each          = toset(["0.0.0.0/1", "128.0.0.0/1"])
  security_group_id = aws_security_group.s.id
  from_port         = 22
  to_port           = 22
  ip_protocol       = "tcp"
  cidr_ipv4         = each.key
}

#### sg_world_admin: fail: of a group elsewhere
resource "aws_vpc_security_group_ingress_rule" "r" {
  security_group_id = "sg-1"
  from_port         = 22
  to_port           = 22
  ip_protocol       = "tcp"
  cidr_ipv4         = "0.0.0.0/0"
}

#### sg_world_admin: fail: of a group elsewhere, half each
resource "aws_vpc_security_group_ingress_rule" "r" {
  security_group_id = "sg-1"
  from_port         = 22
  to_port           = 22
  ip_protocol       = "tcp"
  cidr_ipv4         = "0.0.0.0/1"
}
resource "aws_vpc_security_group_ingress_rule" "q" {
  security_group_id = "sg-1"
  from_port         = 22
  to_port           = 22
  ip_protocol       = "tcp"
  cidr_ipv4         = "128.0.0.0/1"
}

#### sg_world_admin: fail: only may be created
variable "n" {}
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"

}
resource "aws_vpc_security_group_ingress_rule" "r" {
  count             = var.n
  security_group_id = aws_security_group.s.id
  from_port         = 22
  to_port           = 22
  ip_protocol       = "tcp"
  cidr_ipv4         = "0.0.0.0/0"
}

#### sg_world_admin: fail: the default group
resource "aws_default_security_group" "d" {
  vpc_id = "vpc-1"
  ingress {
    from_port   = 22
    to_port     = 22
    protocol    = "tcp"
    cidr_blocks = ["0.0.0.0/0"]
  }
}

#### sg_world_admin: fail: a prefix list
resource "aws_ec2_managed_prefix_list" "p" {
  name           = "p"
  address_family = "IPv4"
  max_entries    = 2
  entry {
    cidr = "0.0.0.0/0"
  }
}
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"
  ingress {
    from_port       = 22
    to_port         = 22
    protocol        = "tcp"
    prefix_list_ids = [aws_ec2_managed_prefix_list.p.id]
  }

}

#### sg_world_admin: fail: a prefix list, half each
resource "aws_ec2_managed_prefix_list" "p" {
  name           = "p"
  address_family = "IPv4"
  max_entries    = 2
  entry {
    cidr = "0.0.0.0/1"
  }
  entry {
    cidr = "128.0.0.0/1"
  }
}
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"

}
resource "aws_vpc_security_group_ingress_rule" "r" {
  security_group_id = aws_security_group.s.id
  from_port         = 22
  to_port           = 22
  ip_protocol       = "tcp"
  prefix_list_id    = aws_ec2_managed_prefix_list.p.id
}

#### sg_world_admin: fail: a prefix list's standalone entry
resource "aws_ec2_managed_prefix_list" "p" {
  name           = "p"
  address_family = "IPv4"
  max_entries    = 2

}
resource "aws_ec2_managed_prefix_list_entry" "e" {
  cidr           = "0.0.0.0/0"
  prefix_list_id = aws_ec2_managed_prefix_list.p.id
}
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"

}
resource "aws_vpc_security_group_ingress_rule" "r" {
  security_group_id = aws_security_group.s.id
  from_port         = 22
  to_port           = 22
  ip_protocol       = "tcp"
  prefix_list_id    = aws_ec2_managed_prefix_list.p.id
}

#### sg_world_admin: pass: no rule
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"

}

#### sg_world_admin: pass: HTTPS for everyone
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"
  ingress {
    from_port   = 443
    to_port     = 443
    protocol    = "tcp"
    cidr_blocks = ["0.0.0.0/0"]
  }

}

#### sg_world_admin: pass: ports as strings
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"
  ingress {
    from_port   = "443"
    to_port     = "443"
    protocol    = "tcp"
    cidr_blocks = ["0.0.0.0/0"]
  }

}

#### sg_world_admin: pass: SSH from the office
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"
  ingress {
    from_port   = 22
    to_port     = 22
    protocol    = "tcp"
    cidr_blocks = ["203.0.113.0/24"]
  }

}

#### sg_world_admin: pass: SSH from private networks
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"
  ingress {
    from_port   = 22
    to_port     = 22
    protocol    = "tcp"
    cidr_blocks = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"]
  }

}

#### sg_world_admin: pass: SSH from an organisation's /8
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"
  ingress {
    from_port   = 22
    to_port     = 22
    protocol    = "tcp"
    cidr_blocks = ["17.0.0.0/8"]
  }

}

#### sg_world_admin: pass: SSH from local IPv6
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"
  ingress {
    from_port        = 22
    to_port          = 22
    protocol         = "tcp"
    ipv6_cidr_blocks = ["fd00::/8"]
  }

}

#### sg_world_admin: pass: SSH from a group
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"
  ingress {
    from_port       = 22
    to_port         = 22
    protocol        = "tcp"
    security_groups = ["sg-1"]
  }

}

#### sg_world_admin: pass: SSH from itself
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"
  ingress {
    from_port = 22
    to_port   = 22
    protocol  = "tcp"
    self      = true
  }

}

#### sg_world_admin: pass: SSH from nobody
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"
  ingress {
    from_port   = 22
    to_port     = 22
    protocol    = "tcp"
    cidr_blocks = []
  }

}

#### sg_world_admin: pass: UDP 22
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"
  ingress {
    from_port   = 22
    to_port     = 22
    protocol    = "udp"
    cidr_blocks = ["0.0.0.0/0"]
  }

}

#### sg_world_admin: pass: ICMP
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"
  ingress {
    from_port   = -1
    to_port     = -1
    protocol    = "icmp"
    cidr_blocks = ["0.0.0.0/0"]
  }

}

#### sg_world_admin: pass: TCP port 0
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"
  ingress {
    from_port   = 0
    to_port     = 0
    protocol    = "tcp"
    cidr_blocks = ["0.0.0.0/0"]
  }

}

#### sg_world_admin: pass: ports around, not across
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"
  ingress {
    from_port   = 23
    to_port     = 3388
    protocol    = "tcp"
    cidr_blocks = ["0.0.0.0/0"]
  }

}

#### sg_world_admin: pass: out to the world
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"
  egress {
    from_port   = 22
    to_port     = 22
    protocol    = "tcp"
    cidr_blocks = ["0.0.0.0/0"]
  }

}

#### sg_world_admin: pass: an egress rule, old
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"

}
resource "aws_security_group_rule" "r" {
  security_group_id = aws_security_group.s.id
  type              = "egress"
  from_port         = 22
  to_port           = 22
  protocol          = "tcp"
  cidr_blocks       = ["0.0.0.0/0"]
}

#### sg_world_admin: pass: standalone from the office
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"

}
resource "aws_vpc_security_group_ingress_rule" "r" {
  security_group_id = aws_security_group.s.id
  from_port         = 22
  to_port           = 22
  ip_protocol       = "tcp"
  cidr_ipv4         = "203.0.113.0/24"
}

#### sg_world_admin: pass: standalone from a group
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"

}
resource "aws_vpc_security_group_ingress_rule" "r" {
  security_group_id            = aws_security_group.s.id
  from_port                    = 22
  to_port                      = 22
  ip_protocol                  = "tcp"
  referenced_security_group_id = aws_security_group.s.id
}

#### sg_world_admin: pass: halves on different ports
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"
  ingress {
    from_port   = 80
    to_port     = 80
    protocol    = "tcp"
    cidr_blocks = ["0.0.0.0/1"]
  }
  ingress {
    from_port   = 443
    to_port     = 443
    protocol    = "tcp"
    cidr_blocks = ["128.0.0.0/1"]
  }

}

#### sg_world_admin: pass: from the VPC
variable "c" {}
resource "aws_vpc" "v" {
  cidr_block = var.c
}
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"
  ingress {
    from_port   = 22
    to_port     = 22
    protocol    = "tcp"
    cidr_blocks = [aws_vpc.v.cidr_block]
  }

}

#### sg_world_admin: pass: from a looked-up VPC
data "aws_vpc" "v" {
  id = "vpc-1"
}
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"
  ingress {
    from_port   = 22
    to_port     = 22
    protocol    = "tcp"
    cidr_blocks = [data.aws_vpc.v.cidr_block]
  }

}

#### sg_world_admin: pass: never created
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"

}
resource "aws_vpc_security_group_ingress_rule" "r" {
  count             = 0
  security_group_id = aws_security_group.s.id
  from_port         = 22
  to_port           = 22
  ip_protocol       = "tcp"
  cidr_ipv4         = "0.0.0.0/0"
}

#### sg_world_admin: pass: a prefix list of the office
resource "aws_ec2_managed_prefix_list" "p" {
  name           = "p"
  address_family = "IPv4"
  max_entries    = 2
  entry {
    cidr = "203.0.113.0/24"
  }
}
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"
  ingress {
    from_port       = 22
    to_port         = 22
    protocol        = "tcp"
    prefix_list_ids = [aws_ec2_managed_prefix_list.p.id]
  }

}

#### sg_world_admin: pass: in a comment
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"
  /*
  ingress {
    from_port = 22
    to_port = 22
    protocol = "tcp"
    cidr_blocks = ["0.0.0.0/0"]
  }
*/
}

#### sg_world_admin: unknown: who
variable "c" {}
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"
  ingress {
    from_port   = 22
    to_port     = 22
    protocol    = "tcp"
    cidr_blocks = var.c
  }

}

#### sg_world_admin: unknown: who, in a list
variable "c" {}
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"
  ingress {
    from_port   = 22
    to_port     = 22
    protocol    = "tcp"
    cidr_blocks = ["10.0.0.0/8", var.c]
  }

}

#### sg_world_admin: unknown: which port
variable "p" {}
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"
  ingress {
    from_port   = var.p
    to_port     = var.p
    protocol    = "tcp"
    cidr_blocks = ["0.0.0.0/0"]
  }

}

#### sg_world_admin: unknown: which protocol
variable "p" {}
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"
  ingress {
    from_port   = 22
    to_port     = 22
    protocol    = var.p
    cidr_blocks = ["0.0.0.0/0"]
  }

}

#### sg_world_admin: unknown: which prefix list
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"
  ingress {
    from_port       = 22
    to_port         = 22
    protocol        = "tcp"
    prefix_list_ids = ["pl-1"]
  }

}

#### vpc_flow_logs: pass: to a bucket
resource "aws_vpc" "v" {
  cidr_block = "10.0.0.0/16"
}
resource "aws_flow_log" "f" {
  vpc_id               = aws_vpc.v.id
  traffic_type         = "ALL"
  log_destination      = "arn:aws:s3:::logs"
  log_destination_type = "s3"
}

#### vpc_flow_logs: pass: to a log group
resource "aws_vpc" "v" {
  cidr_block = "10.0.0.0/16"
}
resource "aws_flow_log" "f" {
  vpc_id         = aws_vpc.v.id
  traffic_type   = "ALL"
  log_group_name = "flows"
  iam_role_arn   = "arn:aws:iam::111122223333:role/r"
}

#### vpc_flow_logs: pass: to a log group here
resource "aws_cloudwatch_log_group" "g" {
  name = "g"
}
resource "aws_vpc" "v" {
  cidr_block = "10.0.0.0/16"
}
resource "aws_flow_log" "f" {
  vpc_id          = aws_vpc.v.id
  traffic_type    = "ALL"
  log_destination = aws_cloudwatch_log_group.g.arn
}

#### vpc_flow_logs: pass: a default VPC
resource "aws_default_vpc" "v" {}
resource "aws_flow_log" "f" {
  vpc_id               = aws_default_vpc.v.id
  traffic_type         = "ALL"
  log_destination      = "arn:aws:s3:::logs"
  log_destination_type = "s3"
}

#### vpc_flow_logs: fail: none
resource "aws_vpc" "v" {
  cidr_block = "10.0.0.0/16"
}

#### vpc_flow_logs: fail: of another VPC
resource "aws_vpc" "v" {
  cidr_block = "10.0.0.0/16"
}
resource "aws_vpc" "w" {
  cidr_block = "10.0.0.0/16"
}
resource "aws_flow_log" "f" {
  vpc_id               = aws_vpc.w.id
  traffic_type         = "ALL"
  log_destination      = "arn:aws:s3:::logs"
  log_destination_type = "s3"
}

#### vpc_flow_logs: fail: of a literal id, which a VPC made here cannot have
resource "aws_vpc" "v" {
  cidr_block = "10.0.0.0/16"
}
resource "aws_flow_log" "f" {
  vpc_id               = "vpc-1"
  traffic_type         = "ALL"
  log_destination      = "arn:aws:s3:::logs"
  log_destination_type = "s3"
}

#### vpc_flow_logs: fail: to nowhere
resource "aws_vpc" "v" {
  cidr_block = "10.0.0.0/16"
}
resource "aws_flow_log" "f" {
  vpc_id       = aws_vpc.v.id
  traffic_type = "ALL"

}

#### vpc_flow_logs: fail: never created
resource "aws_vpc" "v" {
  cidr_block = "10.0.0.0/16"
}
resource "aws_flow_log" "f" {
  vpc_id               = aws_vpc.v.id
  traffic_type         = "ALL"
  count                = 0
  log_destination      = "arn:aws:s3:::logs"
  log_destination_type = "s3"
}

#### vpc_flow_logs: fail: of a subnet
resource "aws_vpc" "v" {
  cidr_block = "10.0.0.0/16"
}
resource "aws_subnet" "s" {
  vpc_id     = aws_vpc.v.id
  cidr_block = "10.0.0.0/24"
}
resource "aws_flow_log" "f" {
  subnet_id            = aws_subnet.s.id
  traffic_type         = "ALL"
  log_destination      = "arn:aws:s3:::logs"
  log_destination_type = "s3"
}

#### vpc_flow_logs: unknown: may be created
variable "n" {}
resource "aws_vpc" "v" {
  cidr_block = "10.0.0.0/16"
}
resource "aws_flow_log" "f" {
  vpc_id               = aws_vpc.v.id
  traffic_type         = "ALL"
  count                = var.n
  log_destination      = "arn:aws:s3:::logs"
  log_destination_type = "s3"
}

#### vpc_flow_logs: na: no VPC
resource "aws_flow_log" "f" {
  vpc_id               = "vpc-1"
  traffic_type         = "ALL"
  log_destination      = "arn:aws:s3:::logs"
  log_destination_type = "s3"
}

#### sg_description: pass: group without rules
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"

}

#### sg_description: pass: group and rule
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"
  ingress {
    from_port   = 22
    to_port     = 22
    protocol    = "tcp"
    description = "ssh"
    cidr_blocks = ["0.0.0.0/0"]
  }

}

#### sg_description: fail: a bare rule
resource "aws_security_group" "s" {
  name        = "s"
  description = "s"
  ingress {
    from_port   = 22
    to_port     = 22
    protocol    = "tcp"
    cidr_blocks = ["0.0.0.0/0"]
  }

}

#### sg_description: fail: a bare group
resource "aws_security_group" "s" {
  name = "s"
}

#### sg_description: fail: the provider's own words
resource "aws_security_group" "s" {
  name        = "s"
  description = "Managed by Terraform"

}

#### sg_description: fail: an empty one
resource "aws_security_group" "s" {
  name        = "s"
  description = ""

}

#### sg_description: fail: a bare standalone rule
resource "aws_vpc_security_group_ingress_rule" "r" {
  security_group_id = aws_security_group.s.id
  from_port         = 22
  to_port           = 22
  ip_protocol       = "tcp"
  cidr_ipv4         = "10.0.0.0/8"
}

#### sg_description: unknown: unknown
variable "d" {}
resource "aws_security_group" "s" {
  name        = "s"
  description = var.d

}

#### sg_description: pass: every rule, inline and standalone
resource "aws_security_group" "s" {
  name        = "s"
  description = "web"
  ingress {
    description = "from the balancer"
    from_port   = 443
    to_port     = 443
    protocol    = "tcp"
    cidr_blocks = ["10.0.0.0/8"]
  }
}
resource "aws_vpc_security_group_egress_rule" "r" {
  security_group_id = aws_security_group.s.id
  description       = "to anywhere"
  ip_protocol       = "-1"
  cidr_ipv4         = "0.0.0.0/0"
}

#### sg_open_database_ports: pass: a private network
resource "aws_security_group" "s" {
  ingress {
    from_port   = 5432
    to_port     = 5432
    protocol    = "tcp"
    cidr_blocks = ["10.0.0.0/8"]
  }
}

#### sg_open_database_ports: pass: an office
resource "aws_security_group" "s" {
  ingress {
    from_port   = 3306
    to_port     = 3306
    protocol    = "tcp"
    cidr_blocks = ["203.0.113.0/24"]
  }
}

#### sg_open_database_ports: pass: the clients' group
resource "aws_security_group" "s" {
  ingress {
    from_port       = 6379
    to_port         = 6379
    protocol        = "tcp"
    security_groups = [aws_security_group.c.id]
  }
}
resource "aws_security_group" "c" {
  name = "c"
}

#### sg_open_database_ports: pass: itself
resource "aws_security_group" "s" {
  ingress {
    from_port = 0
    to_port   = 0
    protocol  = "-1"
    self      = true
  }
}

#### sg_open_database_ports: pass: HTTPS for the world
resource "aws_security_group" "s" {
  ingress {
    from_port   = 443
    to_port     = 443
    protocol    = "tcp"
    cidr_blocks = ["0.0.0.0/0"]
  }
}

#### sg_open_database_ports: pass: SSH for the world, which another rule asks about
resource "aws_security_group" "s" {
  ingress {
    from_port   = 22
    to_port     = 22
    protocol    = "tcp"
    cidr_blocks = ["0.0.0.0/0"]
  }
}

#### sg_open_database_ports: pass: a range between databases
resource "aws_security_group" "s" {
  ingress {
    from_port   = 8000
    to_port     = 8080
    protocol    = "tcp"
    cidr_blocks = ["0.0.0.0/0"]
  }
}

#### sg_open_database_ports: pass: UDP on a TCP port
resource "aws_security_group" "s" {
  ingress {
    from_port   = 5432
    to_port     = 5432
    protocol    = "udp"
    cidr_blocks = ["0.0.0.0/0"]
  }
}

#### sg_open_database_ports: pass: pings
resource "aws_security_group" "s" {
  ingress {
    from_port   = -1
    to_port     = -1
    protocol    = "icmp"
    cidr_blocks = ["0.0.0.0/0"]
  }
}

#### sg_open_database_ports: pass: the VPC of the configuration
resource "aws_security_group" "s" {
  ingress {
    from_port   = 5432
    to_port     = 5432
    protocol    = "tcp"
    cidr_blocks = [aws_vpc.v.cidr_block]
  }
}
resource "aws_vpc" "v" {
  ipv4_ipam_pool_id = "ipam-pool-1"
}

#### sg_open_database_ports: pass: egress to the world
resource "aws_security_group" "s" {
  ingress {
    from_port   = 5432
    to_port     = 5432
    protocol    = "tcp"
    cidr_blocks = ["10.0.0.0/8"]
  }
  egress {
    from_port   = 0
    to_port     = 0
    protocol    = "-1"
    cidr_blocks = ["0.0.0.0/0"]
  }
}

#### sg_open_database_ports: pass: a standalone rule for a private network
resource "aws_security_group" "s" {
  name = "s"
}
resource "aws_vpc_security_group_ingress_rule" "r" {
  security_group_id = aws_security_group.s.id
  ip_protocol       = "tcp"
  from_port         = 5432
  to_port           = 5432
  cidr_ipv4         = "10.0.0.0/8"
}

#### sg_open_database_ports: pass: an old standalone rule that goes out
resource "aws_security_group" "s" {
  name = "s"
}
resource "aws_security_group_rule" "r" {
  type              = "egress"
  security_group_id = aws_security_group.s.id
  protocol          = "tcp"
  from_port         = 3306
  to_port           = 3306
  cidr_blocks       = ["0.0.0.0/0"]
}

#### sg_open_database_ports: pass: JSON syntax
{
  "resource": {
    "aws_security_group": {
      "s": {
        "ingress": [
          {
            "from_port": 5432,
            "to_port": 5432,
            "protocol": "tcp",
            "cidr_blocks": [
              "10.0.0.0/16"
            ]
          }
        ]
      }
    }
  }
}

#### sg_open_database_ports: na: an open group never created
resource "aws_security_group" "s" {
  count = 0
  ingress {
    from_port   = 5432
    to_port     = 5432
    protocol    = "tcp"
    cidr_blocks = ["0.0.0.0/0"]
  }
}

#### sg_open_database_ports: fail: SQL Server
resource "aws_security_group" "s" {
  ingress {
    from_port   = 1433
    to_port     = 1433
    protocol    = "tcp"
    cidr_blocks = ["0.0.0.0/0"]
  }
}

#### sg_open_database_ports: fail: Oracle
resource "aws_security_group" "s" {
  ingress {
    from_port   = 1521
    to_port     = 1521
    protocol    = "tcp"
    cidr_blocks = ["0.0.0.0/0"]
  }
}

#### sg_open_database_ports: fail: MySQL
resource "aws_security_group" "s" {
  ingress {
    from_port   = 3306
    to_port     = 3306
    protocol    = "tcp"
    cidr_blocks = ["0.0.0.0/0"]
  }
}

#### sg_open_database_ports: fail: PostgreSQL
resource "aws_security_group" "s" {
  ingress {
    from_port   = 5432
    to_port     = 5432
    protocol    = "tcp"
    cidr_blocks = ["0.0.0.0/0"]
  }
}

#### sg_open_database_ports: fail: Redshift
resource "aws_security_group" "s" {
  ingress {
    from_port   = 5439
    to_port     = 5439
    protocol    = "tcp"
    cidr_blocks = ["0.0.0.0/0"]
  }
}

#### sg_open_database_ports: fail: Redis
resource "aws_security_group" "s" {
  ingress {
    from_port   = 6379
    to_port     = 6379
    protocol    = "tcp"
    cidr_blocks = ["0.0.0.0/0"]
  }
}

#### sg_open_database_ports: fail: Neptune
resource "aws_security_group" "s" {
  ingress {
    from_port   = 8182
    to_port     = 8182
    protocol    = "tcp"
    cidr_blocks = ["0.0.0.0/0"]
  }
}

#### sg_open_database_ports: fail: Cassandra
resource "aws_security_group" "s" {
  ingress {
    from_port   = 9042
    to_port     = 9042
    protocol    = "tcp"
    cidr_blocks = ["0.0.0.0/0"]
  }
}

#### sg_open_database_ports: fail: Elasticsearch
resource "aws_security_group" "s" {
  ingress {
    from_port   = 9200
    to_port     = 9200
    protocol    = "tcp"
    cidr_blocks = ["0.0.0.0/0"]
  }
}

#### sg_open_database_ports: fail: the nodes of Elasticsearch
resource "aws_security_group" "s" {
  ingress {
    from_port   = 9300
    to_port     = 9300
    protocol    = "tcp"
    cidr_blocks = ["0.0.0.0/0"]
  }
}

#### sg_open_database_ports: fail: Memcached
resource "aws_security_group" "s" {
  ingress {
    from_port   = 11211
    to_port     = 11211
    protocol    = "tcp"
    cidr_blocks = ["0.0.0.0/0"]
  }
}

#### sg_open_database_ports: fail: MongoDB
resource "aws_security_group" "s" {
  ingress {
    from_port   = 27017
    to_port     = 27017
    protocol    = "tcp"
    cidr_blocks = ["0.0.0.0/0"]
  }
}

#### sg_open_database_ports: fail: Db2
resource "aws_security_group" "s" {
  ingress {
    from_port   = 50000
    to_port     = 50000
    protocol    = "tcp"
    cidr_blocks = ["0.0.0.0/0"]
  }
}

#### sg_open_database_ports: fail: Memcached over UDP
resource "aws_security_group" "s" {
  ingress {
    from_port   = 11211
    to_port     = 11211
    protocol    = "udp"
    cidr_blocks = ["0.0.0.0/0"]
  }
}

#### sg_open_database_ports: fail: a protocol by its number
resource "aws_security_group" "s" {
  ingress {
    from_port   = 3306
    to_port     = 3306
    protocol    = "6"
    cidr_blocks = ["0.0.0.0/0"]
  }
}

#### sg_open_database_ports: fail: a range that holds one
resource "aws_security_group" "s" {
  ingress {
    from_port   = 3300
    to_port     = 3310
    protocol    = "tcp"
    cidr_blocks = ["0.0.0.0/0"]
  }
}

#### sg_open_database_ports: fail: every port
resource "aws_security_group" "s" {
  ingress {
    from_port   = 0
    to_port     = 65535
    protocol    = "tcp"
    cidr_blocks = ["0.0.0.0/0"]
  }
}

#### sg_open_database_ports: fail: every protocol
resource "aws_security_group" "s" {
  ingress {
    from_port   = 0
    to_port     = 0
    protocol    = "-1"
    cidr_blocks = ["0.0.0.0/0"]
  }
}

#### sg_open_database_ports: fail: text for ports
resource "aws_security_group" "s" {
  ingress {
    from_port   = "5432"
    to_port     = "5432"
    protocol    = "tcp"
    cidr_blocks = ["0.0.0.0/0"]
  }
}

#### sg_open_database_ports: fail: two halves of the world
resource "aws_security_group" "s" {
  ingress {
    from_port   = 5432
    to_port     = 5432
    protocol    = "tcp"
    cidr_blocks = ["0.0.0.0/1", "128.0.0.0/1"]
  }
}

#### sg_open_database_ports: fail: two halves in two blocks
resource "aws_security_group" "s" {
  ingress {
    from_port   = 5432
    to_port     = 5432
    protocol    = "tcp"
    cidr_blocks = ["0.0.0.0/1"]
  }
  ingress {
    from_port   = 5000
    to_port     = 6000
    protocol    = "tcp"
    cidr_blocks = ["128.0.0.0/1"]
  }
}

#### sg_open_database_ports: fail: IPv6
resource "aws_security_group" "s" {
  ingress {
    from_port        = 5432
    to_port          = 5432
    protocol         = "tcp"
    ipv6_cidr_blocks = ["::/0"]
  }
}

#### sg_open_database_ports: fail: IPv6 in long
resource "aws_security_group" "s" {
  ingress {
    from_port        = 5432
    to_port          = 5432
    protocol         = "tcp"
    ipv6_cidr_blocks = ["0:0:0:0:0:0:0:0/0"]
  }
}

#### sg_open_database_ports: fail: the world beside the clients
resource "aws_security_group" "s" {
  ingress {
    from_port       = 5432
    to_port         = 5432
    protocol        = "tcp"
    security_groups = ["sg-1"]
    cidr_blocks     = ["10.0.0.0/8", "0.0.0.0/0"]
  }
}

#### sg_open_database_ports: fail: a prefix list of the world
resource "aws_security_group" "s" {
  ingress {
    from_port       = 5432
    to_port         = 5432
    protocol        = "tcp"
    prefix_list_ids = [aws_ec2_managed_prefix_list.w.id]
  }
}
resource "aws_ec2_managed_prefix_list" "w" {
  name           = "w"
  address_family = "IPv4"
  max_entries    = 1
  entry {
    cidr = "0.0.0.0/0"
  }
}

#### sg_open_database_ports: fail: the default group
resource "aws_default_security_group" "s" {
  ingress {
    from_port   = 27017
    to_port     = 27017
    protocol    = "tcp"
    cidr_blocks = ["0.0.0.0/0"]
  }
}

#### sg_open_database_ports: fail: one of several blocks
resource "aws_security_group" "s" {
  ingress {
    from_port   = 443
    to_port     = 443
    protocol    = "tcp"
    cidr_blocks = ["0.0.0.0/0"]
  }
  ingress {
    from_port   = 9200
    to_port     = 9200
    protocol    = "tcp"
    cidr_blocks = ["0.0.0.0/0"]
  }
}

#### sg_open_database_ports: fail: an attribute list
resource "aws_security_group" "s" {
  ingress = [{
    from_port        = 6379
    to_port          = 6379
    protocol         = "tcp"
    cidr_blocks      = ["0.0.0.0/0"]
    description      = ""
    ipv6_cidr_blocks = []
    prefix_list_ids  = []
    security_groups  = []
    self             = false
  }]
}

#### sg_open_database_ports: fail: a dynamic block
locals {
  ports = { web = 443, db = 5432 }
}
resource "aws_security_group" "s" {
  dynamic "ingress" {
    for_each = local.ports
    content {
      from_port   = ingress.value
      to_port     = ingress.value
      protocol    = "tcp"
      cidr_blocks = ["0.0.0.0/0"]
    }
  }
}

#### sg_open_database_ports: fail: a standalone rule
resource "aws_security_group" "s" {
  name = "s"
}
resource "aws_vpc_security_group_ingress_rule" "r" {
  security_group_id = aws_security_group.s.id
  ip_protocol       = "tcp"
  from_port         = 5432
  to_port           = 5432
  cidr_ipv4         = "0.0.0.0/0"
}

#### sg_open_database_ports: fail: a standalone rule of a group elsewhere
resource "aws_vpc_security_group_ingress_rule" "r" {
  security_group_id = "sg-1"
  ip_protocol       = "tcp"
  from_port         = 3306
  to_port           = 3306
  cidr_ipv6         = "::/0"
}

#### sg_open_database_ports: fail: an old standalone rule
resource "aws_security_group" "s" {
  name = "s"
}
resource "aws_security_group_rule" "r" {
  type              = "ingress"
  security_group_id = aws_security_group.s.id
  protocol          = "tcp"
  from_port         = 0
  to_port           = 65535
  cidr_blocks       = ["0.0.0.0/0"]
}

#### sg_open_database_ports: fail: a port by the default of a variable
variable "port" {
  default = 5439
}
resource "aws_security_group" "s" {
  name = "s"
}
resource "aws_security_group_rule" "r" {
  type              = "ingress"
  security_group_id = aws_security_group.s.id
  protocol          = "tcp"
  from_port         = var.port
  to_port           = var.port
  cidr_blocks       = ["0.0.0.0/0"]
}

#### sg_open_database_ports: fail: halves, inline and standalone
resource "aws_security_group" "s" {
  ingress {
    from_port   = 3306
    to_port     = 3306
    protocol    = "tcp"
    cidr_blocks = ["0.0.0.0/1"]
  }
}
resource "aws_security_group_rule" "r" {
  type              = "ingress"
  security_group_id = aws_security_group.s.id
  protocol          = "tcp"
  from_port         = 3306
  to_port           = 3306
  cidr_blocks       = ["128.0.0.0/1"]
}

#### sg_open_database_ports: fail: each of several standalone rules
resource "aws_security_group" "s" {
  name = "s"
}
resource "aws_vpc_security_group_ingress_rule" "r" {
  for_each          = toset(["80", "6379"])
  security_group_id = aws_security_group.s.id
  ip_protocol       = "tcp"
  from_port         = each.key
  to_port           = each.key
  cidr_ipv4         = "0.0.0.0/0"
}

#### sg_open_database_ports: fail: JSON syntax
{
  "resource": {
    "aws_security_group": {
      "s": {
        "ingress": {
          "from_port": 5432,
          "to_port": 5432,
          "protocol": "tcp",
          "cidr_blocks": [
            "0.0.0.0/0"
          ]
        }
      }
    }
  }
}

#### sg_open_database_ports: unknown: addresses by a variable
resource "aws_security_group" "s" {
  ingress {
    from_port   = 5432
    to_port     = 5432
    protocol    = "tcp"
    cidr_blocks = var.clients
  }
}
variable "clients" {}

#### sg_open_database_ports: unknown: a port by a variable
resource "aws_security_group" "s" {
  ingress {
    from_port   = var.port
    to_port     = var.port
    protocol    = "tcp"
    cidr_blocks = ["0.0.0.0/0"]
  }
}
variable "port" {}

#### sg_open_database_ports: unknown: a prefix list elsewhere
resource "aws_security_group" "s" {
  ingress {
    from_port       = 5432
    to_port         = 5432
    protocol        = "tcp"
    prefix_list_ids = ["pl-1"]
  }
}

#### sg_open_database_ports: unknown: a block that may be
variable "open" {}
resource "aws_security_group" "s" {
  dynamic "ingress" {
    for_each = var.open
    content {
      from_port   = 5432
      to_port     = 5432
      protocol    = "tcp"
      cidr_blocks = ingress.value
    }
  }
}

#### sg_description: pass: each of several
resource "aws_security_group" "s" {
  for_each    = { web = "what the load balancer lets in", db = "what the database lets in" }
  name        = each.key
  description = each.value
}

#### vpc_flow_logs: pass: JSON syntax
{
  "resource": {
    "aws_vpc": {
      "v": {
        "cidr_block": "10.0.0.0/16"
      }
    },
    "aws_flow_log": {
      "f": {
        "vpc_id": "${aws_vpc.v.id}",
        "traffic_type": "ALL",
        "log_destination": "arn:aws:s3:::logs",
        "log_destination_type": "s3"
      }
    }
  }
}

#### sg_description: fail: blanks
resource "aws_security_group" "s" {
  description = "   "
}

#### sg_description: pass: words around what is known after apply
resource "aws_vpc" "v" {
  cidr_block = "10.0.0.0/16"
}
resource "aws_security_group" "s" {
  description = "what the endpoints of ${aws_vpc.v.id} let in"
}

#### sg_open_database_ports: fail: the nodes of a cluster
resource "aws_security_group" "s" {
  description = "cassandra"
  ingress {
    description = "nodes"
    from_port   = 7000
    to_port     = 7001
    protocol    = "tcp"
    cidr_blocks = ["0.0.0.0/0"]
  }
}

#### sg_world_admin: fail: one of two rules of a group from elsewhere
resource "aws_security_group_rule" "web" {
  type              = "ingress"
  from_port         = 80
  to_port           = 80
  protocol          = "tcp"
  cidr_blocks       = ["0.0.0.0/0"]
  security_group_id = "sg-0a1b2c3d"
}

resource "aws_security_group_rule" "desktop" {
  type              = "ingress"
  from_port         = 3389
  to_port           = 3389
  protocol          = "tcp"
  cidr_blocks       = ["0.0.0.0/0"]
  security_group_id = "sg-0a1b2c3d"
}
