#### ec2_no_public_ip: pass: false
resource "aws_instance" "i" {
  ami                         = "ami-1"
  instance_type               = "t3.micro"
  associate_public_ip_address = false
}

#### ec2_no_public_ip: pass: the string false
resource "aws_instance" "i" {
  ami                         = "ami-1"
  instance_type               = "t3.micro"
  associate_public_ip_address = "false"
}

#### ec2_no_public_ip: pass: a private subnet
resource "aws_subnet" "s" {
  vpc_id     = "vpc-1"
  cidr_block = "10.0.1.0/24"

}
resource "aws_instance" "i" {
  ami           = "ami-1"
  instance_type = "t3.micro"
  subnet_id     = aws_subnet.s.id
}

#### ec2_no_public_ip: pass: a private subnet by its place
resource "aws_subnet" "s" {
  count      = 2
  vpc_id     = "vpc-1"
  cidr_block = cidrsubnet("10.0.0.0/16", 8, count.index)
}
resource "aws_instance" "i" {
  ami           = "ami-1"
  instance_type = "t3.micro"
  subnet_id     = aws_subnet.s[0].id
}

#### ec2_no_public_ip: pass: a private subnet among several
resource "aws_subnet" "s" {
  for_each          = toset(["a", "b"])
  vpc_id            = "vpc-1"
  cidr_block        = "10.0.1.0/24"
  availability_zone = each.key
}
resource "aws_instance" "i" {
  for_each      = toset(["a", "b"])
  ami           = "ami-1"
  instance_type = "t3.micro"
  subnet_id     = aws_subnet.s[each.key].id
}

#### ec2_no_public_ip: pass: false in spite of its subnet
resource "aws_subnet" "s" {
  vpc_id                  = "vpc-1"
  cidr_block              = "10.0.1.0/24"
  map_public_ip_on_launch = true
}
resource "aws_instance" "i" {
  ami                         = "ami-1"
  instance_type               = "t3.micro"
  subnet_id                   = aws_subnet.s.id
  associate_public_ip_address = false
}

#### ec2_no_public_ip: pass: a template
resource "aws_launch_template" "t" {
  image_id      = "ami-1"
  instance_type = "t3.micro"
  network_interfaces {
    associate_public_ip_address = false
  }
}

#### ec2_no_public_ip: pass: an instance from a template
resource "aws_launch_template" "t" {
  image_id      = "ami-1"
  instance_type = "t3.micro"
  network_interfaces {
    associate_public_ip_address = false
  }
}
resource "aws_instance" "i" {
  launch_template {
    id = aws_launch_template.t.id
  }
}

#### ec2_no_public_ip: pass: a template for private subnets
resource "aws_subnet" "s" {
  vpc_id     = "vpc-1"
  cidr_block = "10.0.1.0/24"

}
resource "aws_launch_template" "t" {
  image_id      = "ami-1"
  instance_type = "t3.micro"

}
resource "aws_autoscaling_group" "g" {
  max_size            = 1
  min_size            = 1
  vpc_zone_identifier = [aws_subnet.s.id]
  launch_template {
    id = aws_launch_template.t.id
  }
}

#### ec2_no_public_ip: pass: a launch configuration
resource "aws_launch_configuration" "l" {
  image_id                    = "ami-1"
  instance_type               = "t3.micro"
  associate_public_ip_address = false
}

#### ec2_no_public_ip: pass: an interface that exists
resource "aws_subnet" "s" {
  vpc_id     = "vpc-1"
  cidr_block = "10.0.1.0/24"

}
resource "aws_network_interface" "n" {
  subnet_id = aws_subnet.s.id
}
resource "aws_instance" "i" {
  ami           = "ami-1"
  instance_type = "t3.micro"
  network_interface {
    network_interface_id = aws_network_interface.n.id
    device_index         = 0
  }
}

#### ec2_no_public_ip: pass: an elastic address of another one
resource "aws_instance" "i" {
  ami                         = "ami-1"
  instance_type               = "t3.micro"
  associate_public_ip_address = false
}
resource "aws_eip" "e" {
  domain = "vpc"
}

#### ec2_no_public_ip: fail: true
resource "aws_instance" "i" {
  ami                         = "ami-1"
  instance_type               = "t3.micro"
  associate_public_ip_address = true
}

#### ec2_no_public_ip: fail: the string true
resource "aws_instance" "i" {
  ami                         = "ami-1"
  instance_type               = "t3.micro"
  associate_public_ip_address = "true"
}

#### ec2_no_public_ip: fail: a variable's default
variable "public" {
  default = true
}
resource "aws_instance" "i" {
  ami                         = "ami-1"
  instance_type               = "t3.micro"
  associate_public_ip_address = var.public
}

#### ec2_no_public_ip: fail: the default VPC
resource "aws_instance" "i" {
  ami           = "ami-1"
  instance_type = "t3.micro"

}

#### ec2_no_public_ip: fail: null in the default VPC
resource "aws_instance" "i" {
  ami                         = "ami-1"
  instance_type               = "t3.micro"
  associate_public_ip_address = null
}

#### ec2_no_public_ip: fail: a public subnet
resource "aws_subnet" "s" {
  vpc_id                  = "vpc-1"
  cidr_block              = "10.0.1.0/24"
  map_public_ip_on_launch = true
}
resource "aws_instance" "i" {
  ami           = "ami-1"
  instance_type = "t3.micro"
  subnet_id     = aws_subnet.s.id
}

#### ec2_no_public_ip: fail: a public subnet by way of a local
resource "aws_subnet" "s" {
  vpc_id                  = "vpc-1"
  cidr_block              = "10.0.1.0/24"
  map_public_ip_on_launch = true
}
locals {
  subnet = aws_subnet.s.id
}
resource "aws_instance" "i" {
  ami           = "ami-1"
  instance_type = "t3.micro"
  subnet_id     = local.subnet
}

#### ec2_no_public_ip: fail: a default subnet
resource "aws_default_subnet" "s" {
  availability_zone = "eu-west-1a"
}
resource "aws_instance" "i" {
  ami           = "ami-1"
  instance_type = "t3.micro"
  subnet_id     = aws_default_subnet.s.id
}

#### ec2_no_public_ip: fail: true in a private subnet
resource "aws_subnet" "s" {
  vpc_id     = "vpc-1"
  cidr_block = "10.0.1.0/24"

}
resource "aws_instance" "i" {
  ami                         = "ami-1"
  instance_type               = "t3.micro"
  subnet_id                   = aws_subnet.s.id
  associate_public_ip_address = true
}

#### ec2_no_public_ip: fail: a spot instance
resource "aws_spot_instance_request" "s" {
  ami                         = "ami-1"
  instance_type               = "t3.micro"
  associate_public_ip_address = true
}

#### ec2_no_public_ip: fail: an elastic address
resource "aws_subnet" "s" {
  vpc_id     = "vpc-1"
  cidr_block = "10.0.1.0/24"

}
resource "aws_instance" "i" {
  ami           = "ami-1"
  instance_type = "t3.micro"
  subnet_id     = aws_subnet.s.id
}
resource "aws_eip" "e" {
  instance = aws_instance.i.id
}

#### ec2_no_public_ip: fail: an elastic address, associated
resource "aws_instance" "i" {
  ami                         = "ami-1"
  instance_type               = "t3.micro"
  associate_public_ip_address = false
}
resource "aws_eip" "e" {
  domain = "vpc"
}
resource "aws_eip_association" "a" {
  instance_id   = aws_instance.i.id
  allocation_id = aws_eip.e.id
}

#### ec2_no_public_ip: fail: an elastic address of its interface
resource "aws_instance" "i" {
  ami                         = "ami-1"
  instance_type               = "t3.micro"
  associate_public_ip_address = false
}
resource "aws_eip" "e" {
  network_interface = aws_instance.i.primary_network_interface_id
}

#### ec2_no_public_ip: fail: an elastic address of an interface that exists
resource "aws_network_interface" "n" {
  subnet_id = "subnet-1"
}
resource "aws_eip" "e" {
  network_interface = aws_network_interface.n.id
}
resource "aws_instance" "i" {
  ami           = "ami-1"
  instance_type = "t3.micro"
  network_interface {
    network_interface_id = aws_network_interface.n.id
    device_index         = 0
  }
}

#### ec2_no_public_ip: fail: a template, true
resource "aws_launch_template" "t" {
  image_id      = "ami-1"
  instance_type = "t3.micro"
  network_interfaces {
    associate_public_ip_address = true
  }
}

#### ec2_no_public_ip: fail: a template, one interface of two
resource "aws_launch_template" "t" {
  image_id      = "ami-1"
  instance_type = "t3.micro"
  dynamic "network_interfaces" {
    for_each = [false, true]
    content {
      associate_public_ip_address = network_interfaces.value
    }
  }
}

#### ec2_no_public_ip: fail: an instance from a public template
resource "aws_launch_template" "t" {
  image_id      = "ami-1"
  instance_type = "t3.micro"
  network_interfaces {
    associate_public_ip_address = true
  }
}
resource "aws_instance" "i" {
  launch_template {
    id = aws_launch_template.t.id
  }
}

#### ec2_no_public_ip: fail: a template for public subnets
resource "aws_subnet" "s" {
  vpc_id                  = "vpc-1"
  cidr_block              = "10.0.1.0/24"
  map_public_ip_on_launch = true
}
resource "aws_launch_template" "t" {
  image_id      = "ami-1"
  instance_type = "t3.micro"

}
resource "aws_autoscaling_group" "g" {
  max_size            = 1
  min_size            = 1
  vpc_zone_identifier = [aws_subnet.s.id]
  launch_template {
    id = aws_launch_template.t.id
  }
}

#### ec2_no_public_ip: fail: a launch configuration, true
resource "aws_launch_configuration" "l" {
  image_id                    = "ami-1"
  instance_type               = "t3.micro"
  associate_public_ip_address = true
}

#### ec2_no_public_ip: fail: one instance of two
resource "aws_instance" "i" {
  for_each                    = { a = true, b = false }
  ami                         = "ami-1"
  instance_type               = "t3.micro"
  associate_public_ip_address = each.value
}

#### ec2_no_public_ip: pass: a private subnet by a splat
resource "aws_subnet" "s" {
  count      = 2
  vpc_id     = "vpc-1"
  cidr_block = cidrsubnet("10.0.0.0/16", 8, count.index)
}
resource "aws_instance" "i" {
  count         = 2
  ami           = "ami-1"
  instance_type = "t3.micro"
  subnet_id     = element(aws_subnet.s[*].id, count.index)
}

#### ec2_no_public_ip: fail: an elastic address of one instance of two
resource "aws_instance" "i" {
  count                       = 2
  ami                         = "ami-1"
  instance_type               = "t3.micro"
  associate_public_ip_address = false
}
resource "aws_eip" "e" {
  instance = aws_instance.i[1].id
}

#### ec2_no_public_ip: unknown: an elastic address that goes to one of two
variable "n" {}
resource "aws_instance" "i" {
  count                       = 2
  ami                         = "ami-1"
  instance_type               = "t3.micro"
  associate_public_ip_address = false
}
resource "aws_eip" "e" {
  instance = aws_instance.i[var.n].id
}

#### ec2_no_public_ip: fail: a template for the default VPC
resource "aws_launch_template" "t" {
  image_id      = "ami-1"
  instance_type = "t3.micro"

}
resource "aws_autoscaling_group" "g" {
  max_size           = 1
  min_size           = 1
  availability_zones = ["eu-west-1a"]
  launch_template {
    id = aws_launch_template.t.id
  }
}

#### ec2_no_public_ip: fail: a launch configuration for public subnets
resource "aws_subnet" "s" {
  vpc_id                  = "vpc-1"
  cidr_block              = "10.0.1.0/24"
  map_public_ip_on_launch = true
}
resource "aws_launch_configuration" "l" {
  image_id      = "ami-1"
  instance_type = "t3.micro"
}
resource "aws_autoscaling_group" "g" {
  max_size             = 1
  min_size             = 1
  vpc_zone_identifier  = [aws_subnet.s.id]
  launch_configuration = aws_launch_configuration.l.name
}

#### ec2_no_public_ip: pass: a template of a mixed group for private subnets
resource "aws_subnet" "s" {
  vpc_id     = "vpc-1"
  cidr_block = "10.0.1.0/24"

}
resource "aws_launch_template" "t" {
  image_id      = "ami-1"
  instance_type = "t3.micro"

}
resource "aws_autoscaling_group" "g" {
  max_size            = 1
  min_size            = 1
  vpc_zone_identifier = [aws_subnet.s.id]
  mixed_instances_policy {
    launch_template {
      launch_template_specification {
        launch_template_id = aws_launch_template.t.id
      }
    }
  }
}

#### ec2_no_public_ip: unknown: a template for subnets from elsewhere
variable "subnets" {}
resource "aws_launch_template" "t" {
  image_id      = "ami-1"
  instance_type = "t3.micro"

}
resource "aws_autoscaling_group" "g" {
  max_size            = 1
  min_size            = 1
  vpc_zone_identifier = var.subnets
  launch_template {
    id = aws_launch_template.t.id
  }
}

#### ec2_no_public_ip: fail: public in a private VPC alone
resource "aws_vpc" "v" {
  cidr_block = "10.0.0.0/16"
}
resource "aws_instance" "i" {
  ami                         = "ami-1"
  instance_type               = "t3.micro"
  associate_public_ip_address = true
}

#### ec2_no_public_ip: unknown: handed in
variable "v" {}
resource "aws_instance" "i" {
  ami                         = "ami-1"
  instance_type               = "t3.micro"
  associate_public_ip_address = var.v
}

#### ec2_no_public_ip: unknown: a subnet from elsewhere
variable "subnet" {}
resource "aws_instance" "i" {
  ami           = "ami-1"
  instance_type = "t3.micro"
  subnet_id     = var.subnet
}

#### ec2_no_public_ip: unknown: a subnet by its id
resource "aws_instance" "i" {
  ami           = "ami-1"
  instance_type = "t3.micro"
  subnet_id     = "subnet-1"
}

#### ec2_no_public_ip: unknown: a looked-up subnet
data "aws_subnet" "s" {
  id = "subnet-1"
}
resource "aws_instance" "i" {
  ami           = "ami-1"
  instance_type = "t3.micro"
  subnet_id     = data.aws_subnet.s.id
}

#### ec2_no_public_ip: unknown: a subnet that is handed its setting
variable "v" {}
resource "aws_subnet" "s" {
  vpc_id                  = "vpc-1"
  cidr_block              = "10.0.1.0/24"
  map_public_ip_on_launch = var.v
}
resource "aws_instance" "i" {
  ami           = "ami-1"
  instance_type = "t3.micro"
  subnet_id     = aws_subnet.s.id
}

#### ec2_no_public_ip: unknown: a template from elsewhere
resource "aws_instance" "i" {
  launch_template {
    id = "lt-1"
  }
}

#### ec2_no_public_ip: unknown: one of two subnets that differ
variable "v" {}
resource "aws_subnet" "s" {
  vpc_id     = "vpc-1"
  cidr_block = "10.0.1.0/24"

}
resource "aws_subnet" "p" {
  vpc_id                  = "vpc-1"
  cidr_block              = "10.0.1.0/24"
  map_public_ip_on_launch = true
}
resource "aws_instance" "i" {
  ami           = "ami-1"
  instance_type = "t3.micro"
  subnet_id     = var.v ? aws_subnet.s.id : aws_subnet.p.id
}

#### ec2_no_public_ip: na: a template that leaves it to others
resource "aws_launch_template" "t" {
  image_id      = "ami-1"
  instance_type = "t3.micro"

}

#### ec2_no_public_ip: na: never created
resource "aws_instance" "i" {
  count                       = 0
  ami                         = "ami-1"
  instance_type               = "t3.micro"
  associate_public_ip_address = true
}

#### ec2_no_public_ip: pass: JSON syntax
{
  "resource": {
    "aws_instance": {
      "r": {
        "ami": "ami-1",
        "instance_type": "t3.micro",
        "associate_public_ip_address": false
      }
    }
  }
}

#### ec2_no_public_ip: fail: JSON syntax
{
  "resource": {
    "aws_instance": {
      "r": {
        "ami": "ami-1",
        "instance_type": "t3.micro",
        "associate_public_ip_address": "true"
      }
    }
  }
}
