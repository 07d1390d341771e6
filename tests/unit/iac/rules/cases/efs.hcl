#### efs_encrypted: pass: true
resource "aws_efs_file_system" "r" {
  creation_token = "f"
  encrypted      = true
}

#### efs_encrypted: pass: the string true
resource "aws_efs_file_system" "r" {
  creation_token = "f"
  encrypted      = "true"
}

#### efs_encrypted: pass: a variable's default
variable "v" {
  default = true
}
resource "aws_efs_file_system" "r" {
  creation_token = "f"
  encrypted      = var.v
}

#### efs_encrypted: pass: a negated local
locals {
  v = false
}
resource "aws_efs_file_system" "r" {
  creation_token = "f"
  encrypted      = !local.v
}

#### efs_encrypted: fail: false
resource "aws_efs_file_system" "r" {
  creation_token = "f"
  encrypted      = false
}

#### efs_encrypted: fail: the string 0
resource "aws_efs_file_system" "r" {
  creation_token = "f"
  encrypted      = "0"
}

#### efs_encrypted: fail: one instance of two
resource "aws_efs_file_system" "r" {
  for_each       = { a = true, b = false }
  creation_token = "f"
  encrypted      = each.value
}

#### efs_encrypted: fail: only may be created
variable "n" {}
resource "aws_efs_file_system" "r" {
  count          = var.n
  creation_token = "f"
  encrypted      = false
}

#### efs_encrypted: fail: in a comment
resource "aws_efs_file_system" "r" {
  creation_token = "f"
  # encrypted = true
}

#### efs_encrypted: fail: null
resource "aws_efs_file_system" "r" {
  creation_token = "f"
  encrypted      = null
}

#### efs_encrypted: fail: among the tags
resource "aws_efs_file_system" "r" {
  creation_token = "f"
  tags           = { encrypted = true }
}

#### efs_encrypted: fail: absent
resource "aws_efs_file_system" "r" {
  creation_token = "f"

}

#### efs_encrypted: unknown: handed in
variable "v" {}
resource "aws_efs_file_system" "r" {
  creation_token = "f"
  encrypted      = var.v
}

#### efs_encrypted: unknown: good, and only may be created
variable "n" {}
resource "aws_efs_file_system" "r" {
  count          = var.n
  creation_token = "f"
  encrypted      = true
}

#### efs_encrypted: na: never created
resource "aws_efs_file_system" "r" {
  count          = 0
  creation_token = "f"
  encrypted      = false
}

#### efs_encrypted: pass: with a key
resource "aws_kms_key" "k" {
  enable_key_rotation = true
}
resource "aws_efs_file_system" "f" {
  encrypted  = true
  kms_key_id = aws_kms_key.k.arn
}

#### efs_encrypted: fail: a key alone
resource "aws_kms_key" "k" {
  enable_key_rotation = true
}
resource "aws_efs_file_system" "f" {
  kms_key_id = aws_kms_key.k.arn
}

#### efs_encrypted: fail: another one is encrypted
resource "aws_efs_file_system" "f" {
  encrypted = true
}
resource "aws_efs_file_system" "g" {
  creation_token = "g"
}

#### efs_encrypted: fail: encrypted on the way alone
resource "aws_efs_file_system" "f" {
  creation_token = "f"
}
resource "aws_ecs_task_definition" "t" {
  family                = "t"
  container_definitions = "[]"
  volume {
    name = "v"
    efs_volume_configuration {
      file_system_id     = aws_efs_file_system.f.id
      transit_encryption = "ENABLED"
    }
  }
}

#### efs_encrypted: pass: JSON syntax
{
  "resource": {
    "aws_efs_file_system": {
      "r": {
        "creation_token": "f",
        "encrypted": true
      }
    }
  }
}

#### efs_encrypted: fail: JSON syntax
{
  "resource": {
    "aws_efs_file_system": {
      "r": {
        "creation_token": "f",
        "encrypted": "false"
      }
    }
  }
}
