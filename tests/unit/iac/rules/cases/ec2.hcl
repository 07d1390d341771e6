#### ebs_encrypted: pass: a volume
resource "aws_ebs_volume" "v" {
  availability_zone = "eu-west-1a"
  size              = 10
  encrypted         = true
}

#### ebs_encrypted: pass: a root device
resource "aws_instance" "i" {
  ami           = "ami-1"
  instance_type = "t3.micro"
  root_block_device {
    encrypted = true
  }

}

#### ebs_encrypted: pass: root and extra
resource "aws_instance" "i" {
  ami           = "ami-1"
  instance_type = "t3.micro"
  root_block_device {
    encrypted = true
  }
  ebs_block_device {
    device_name = "/dev/sdb"
    encrypted   = true
  }

}

#### ebs_encrypted: pass: a template
resource "aws_launch_template" "t" {
  image_id      = "ami-1"
  instance_type = "t3.micro"
  block_device_mappings {
    device_name = "/dev/xvda"
    ebs {
      volume_size = 10
      encrypted   = true
    }
  }

}

#### ebs_encrypted: pass: a template's string
resource "aws_launch_template" "t" {
  image_id      = "ami-1"
  instance_type = "t3.micro"
  block_device_mappings {
    device_name = "/dev/xvda"
    ebs {
      volume_size = 10
      encrypted   = "true"
    }
  }

}

#### ebs_encrypted: pass: an instance from a template
resource "aws_launch_template" "t" {
  image_id      = "ami-1"
  instance_type = "t3.micro"
  block_device_mappings {
    device_name = "/dev/xvda"
    ebs {
      volume_size = 10
      encrypted   = true
    }
  }

}
resource "aws_instance" "i" {
  launch_template {
    id = aws_launch_template.t.id
  }
}

#### ebs_encrypted: pass: the account's default
resource "aws_ebs_volume" "v" {
  availability_zone = "eu-west-1a"
  size              = 10

}
resource "aws_instance" "i" {
  ami           = "ami-1"
  instance_type = "t3.micro"

}
resource "aws_ebs_encryption_by_default" "e" {

}

#### ebs_encrypted: pass: an ephemeral device
resource "aws_instance" "i" {
  ami           = "ami-1"
  instance_type = "t3.micro"
  root_block_device {
    encrypted = true
  }
  ebs_block_device {
    device_name = "b"
    no_device   = true
  }

}

#### ebs_encrypted: fail: a plain volume
resource "aws_ebs_volume" "v" {
  availability_zone = "eu-west-1a"
  size              = 10

}

#### ebs_encrypted: fail: a volume with a key alone
resource "aws_ebs_volume" "v" {
  availability_zone = "eu-west-1a"
  size              = 10
  kms_key_id        = "arn:aws:kms:eu-west-1:111122223333:key/k"
}

#### ebs_encrypted: fail: no root device
resource "aws_instance" "i" {
  ami           = "ami-1"
  instance_type = "t3.micro"

}

#### ebs_encrypted: fail: an empty root device
resource "aws_instance" "i" {
  ami           = "ami-1"
  instance_type = "t3.micro"
  root_block_device {
  }

}

#### ebs_encrypted: fail: extra alone
resource "aws_instance" "i" {
  ami           = "ami-1"
  instance_type = "t3.micro"
  ebs_block_device {
    device_name = "/dev/sdb"
    encrypted   = true
  }

}

#### ebs_encrypted: fail: root but not extra
resource "aws_instance" "i" {
  ami           = "ami-1"
  instance_type = "t3.micro"
  root_block_device {
    encrypted = true
  }
  ebs_block_device {
    device_name = "/dev/sdb"
    encrypted   = false
  }

}

#### ebs_encrypted: fail: one dynamic of two
resource "aws_instance" "i" {
  ami           = "ami-1"
  instance_type = "t3.micro"
  root_block_device {
    encrypted = true
  }
  dynamic "ebs_block_device" {
    for_each = [true, false]
    content {
      device_name = "b"
      encrypted   = ebs_block_device.value
    }
  }

}

#### ebs_encrypted: fail: a plain template
resource "aws_launch_template" "t" {
  image_id      = "ami-1"
  instance_type = "t3.micro"

}

#### ebs_encrypted: fail: an instance from a plain template
resource "aws_launch_template" "t" {
  image_id      = "ami-1"
  instance_type = "t3.micro"

}
resource "aws_instance" "i" {
  launch_template {
    id = aws_launch_template.t.id
  }
}

#### ebs_encrypted: fail: the account's default, off
resource "aws_ebs_volume" "v" {
  availability_zone = "eu-west-1a"
  size              = 10

}
resource "aws_ebs_encryption_by_default" "e" {
  enabled = false
}

#### ebs_encrypted: fail: the account's default, never created
resource "aws_ebs_volume" "v" {
  availability_zone = "eu-west-1a"
  size              = 10

}
resource "aws_ebs_encryption_by_default" "e" {
  count = 0
}

#### ebs_encrypted: fail: plain in spite of the account's default
resource "aws_ebs_volume" "v" {
  availability_zone = "eu-west-1a"
  size              = 10
  encrypted         = false
}
resource "aws_ebs_encryption_by_default" "e" {

}

#### ebs_encrypted: fail: a launch configuration
resource "aws_launch_configuration" "l" {
  image_id      = "ami-1"
  instance_type = "t3.micro"
}

#### ebs_encrypted: unknown: unknown
variable "v" {}
resource "aws_ebs_volume" "v" {
  availability_zone = "eu-west-1a"
  size              = 10
  encrypted         = var.v
}

#### ebs_encrypted: unknown: as its snapshot
resource "aws_ebs_volume" "v" {
  availability_zone = "eu-west-1a"
  size              = 10
  snapshot_id       = "snap-1"
}

#### ec2_imdsv2: pass: required
resource "aws_instance" "i" {
  ami           = "ami-1"
  instance_type = "t3.micro"
  metadata_options {
    http_tokens = "required"
  }

}

#### ec2_imdsv2: pass: no metadata at all
resource "aws_instance" "i" {
  ami           = "ami-1"
  instance_type = "t3.micro"
  metadata_options {
    http_endpoint = "disabled"
  }

}

#### ec2_imdsv2: pass: a template
resource "aws_launch_template" "t" {
  image_id      = "ami-1"
  instance_type = "t3.micro"
  metadata_options {
    http_tokens = "required"
  }

}

#### ec2_imdsv2: pass: an instance from a template
resource "aws_launch_template" "t" {
  image_id      = "ami-1"
  instance_type = "t3.micro"
  metadata_options {
    http_tokens = "required"
  }

}
resource "aws_instance" "i" {
  launch_template {
    id = aws_launch_template.t.id
  }
}

#### ec2_imdsv2: pass: the account's default
resource "aws_instance" "i" {
  ami           = "ami-1"
  instance_type = "t3.micro"

}
resource "aws_ec2_instance_metadata_defaults" "d" {
  http_tokens = "required"

}

#### ec2_imdsv2: fail: absent
resource "aws_instance" "i" {
  ami           = "ami-1"
  instance_type = "t3.micro"

}

#### ec2_imdsv2: fail: optional
resource "aws_instance" "i" {
  ami           = "ami-1"
  instance_type = "t3.micro"
  metadata_options {
    http_tokens = "optional"
  }

}

#### ec2_imdsv2: fail: a hop limit alone
resource "aws_instance" "i" {
  ami           = "ami-1"
  instance_type = "t3.micro"
  metadata_options {
    http_put_response_hop_limit = 1
  }

}

#### ec2_imdsv2: fail: optional in spite of its template
resource "aws_launch_template" "t" {
  image_id      = "ami-1"
  instance_type = "t3.micro"
  metadata_options {
    http_tokens = "required"
  }

}
resource "aws_instance" "i" {
  launch_template {
    id = aws_launch_template.t.id
  }
  metadata_options {
    http_tokens = "optional"
  }
}

#### ec2_imdsv2: fail: another's template
resource "aws_launch_template" "t" {
  image_id      = "ami-1"
  instance_type = "t3.micro"
  metadata_options {
    http_tokens = "required"
  }

}
resource "aws_instance" "i" {
  ami           = "ami-1"
  instance_type = "t3.micro"

}

#### ec2_imdsv2: fail: an EKS tag
resource "aws_instance" "i" {
  ami           = "ami-1"
  instance_type = "t3.micro"
  tags          = { http_tokens = "required" }
}

#### ec2_imdsv2: unknown: unknown
variable "v" {}
resource "aws_instance" "i" {
  ami           = "ami-1"
  instance_type = "t3.micro"
  metadata_options {
    http_tokens = var.v
  }

}

#### ec2_ebs_optimized: pass: true
resource "aws_instance" "i" {
  ami           = "ami-1"
  instance_type = "t3.micro"
  ebs_optimized = true
}

#### ec2_ebs_optimized: pass: a string
resource "aws_instance" "i" {
  ami           = "ami-1"
  instance_type = "t3.micro"
  ebs_optimized = "true"
}

#### ec2_ebs_optimized: pass: a default
variable "o" {
  default = true
}
resource "aws_instance" "i" {
  ami           = "ami-1"
  instance_type = "t3.micro"
  ebs_optimized = var.o
}

#### ec2_ebs_optimized: fail: absent
resource "aws_instance" "i" {
  ami           = "ami-1"
  instance_type = "t3.micro"

}

#### ec2_ebs_optimized: fail: false
resource "aws_instance" "i" {
  ami           = "ami-1"
  instance_type = "t3.micro"
  ebs_optimized = false
}

#### ec2_ebs_optimized: fail: in a comment
resource "aws_instance" "i" {
  ami           = "ami-1"
  instance_type = "t3.micro"
  # ebs_optimized = true
}

#### ec2_ebs_optimized: unknown: unknown
variable "v" {}
resource "aws_instance" "i" {
  ami           = "ami-1"
  instance_type = "t3.micro"
  ebs_optimized = var.v
}

#### ebs_encrypted: unknown: a root device that may not be there
variable "v" {}
resource "aws_instance" "i" {
  ami           = "ami-1"
  instance_type = "t3.micro"
  dynamic "root_block_device" {
    for_each = var.v
    content {
      encrypted = true
    }
  }
}

#### ec2_ebs_optimized: pass: every instance
resource "aws_instance" "i" {
  for_each          = toset(["a", "b"])
  ami               = "ami-1"
  instance_type     = "t3.micro"
  availability_zone = "eu-west-1${each.key}"
  ebs_optimized     = true
}

#### ec2_ebs_optimized: fail: one instance of two
resource "aws_instance" "i" {
  for_each      = { a = true, b = false }
  ami           = "ami-1"
  instance_type = "t3.micro"
  ebs_optimized = each.value
}

#### ebs_encrypted: pass: JSON syntax
{
  "resource": {
    "aws_instance": {
      "r": {
        "ami": "ami-1",
        "instance_type": "t3.micro",
        "root_block_device": {
          "encrypted": true
        }
      }
    }
  }
}

#### ebs_encrypted: fail: JSON syntax
{
  "resource": {
    "aws_instance": {
      "r": {
        "ami": "ami-1",
        "instance_type": "t3.micro",
        "root_block_device": {
          "encrypted": true
        },
        "ebs_block_device": [
          {
            "device_name": "/dev/sdb"
          }
        ]
      }
    }
  }
}

#### ec2_imdsv2: pass: JSON syntax
{
  "resource": {
    "aws_instance": {
      "r": {
        "ami": "ami-1",
        "instance_type": "t3.micro",
        "metadata_options": {
          "http_tokens": "required"
        }
      }
    }
  }
}

#### ec2_imdsv2: fail: JSON syntax
{
  "resource": {
    "aws_instance": {
      "r": {
        "ami": "ami-1",
        "instance_type": "t3.micro",
        "metadata_options": [
          {
            "http_tokens": "optional"
          }
        ]
      }
    }
  }
}

#### ec2_ebs_optimized: pass: JSON syntax
{
  "resource": {
    "aws_instance": {
      "r": {
        "ami": "ami-1",
        "instance_type": "t3.micro",
        "ebs_optimized": true
      }
    }
  }
}

#### ec2_ebs_optimized: fail: JSON syntax
{
  "resource": {
    "aws_instance": {
      "r": {
        "ami": "ami-1",
        "instance_type": "t3.micro",
        "ebs_optimized": false
      }
    }
  }
}

#### ebs_encrypted: fail: encryption by default in another region
provider "aws" {
  alias  = "west"
  region = "us-west-2"
}

resource "aws_ebs_encryption_by_default" "west" {
  provider = aws.west
}

resource "aws_ebs_volume" "v" {
  availability_zone = "eu-west-1a"
  size              = 10
}

#### ebs_encrypted: pass: encryption by default by the same provider
provider "aws" {
  alias  = "west"
  region = "us-west-2"
}

resource "aws_ebs_encryption_by_default" "west" {
  provider = aws.west
}

resource "aws_ebs_volume" "v" {
  provider          = aws.west
  availability_zone = "us-west-2a"
  size              = 10
}

#### ec2_imdsv2: fail: the default of another region
provider "aws" {
  alias  = "west"
  region = "us-west-2"
}

resource "aws_ec2_instance_metadata_defaults" "west" {
  provider    = aws.west
  http_tokens = "required"
}

resource "aws_instance" "i" {
  ami           = "ami-0abcdef1234567890"
  instance_type = "t3.micro"
}
