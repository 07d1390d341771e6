#### sns_encrypted: pass: a key here
resource "aws_kms_key" "k" {
  enable_key_rotation = true
}
resource "aws_sns_topic" "r" {
  name              = "t"
  kms_master_key_id = aws_kms_key.k.arn
}

#### sns_encrypted: pass: a literal
resource "aws_sns_topic" "r" {
  name              = "t"
  kms_master_key_id = "alias/aws/sns"
}

#### sns_encrypted: pass: a looked-up key
data "aws_kms_alias" "k" {
  name = "alias/k"
}
resource "aws_sns_topic" "r" {
  name              = "t"
  kms_master_key_id = data.aws_kms_alias.k.target_key_arn
}

#### sns_encrypted: pass: a template with an unknown piece
variable "account" {}
resource "aws_sns_topic" "r" {
  name              = "t"
  kms_master_key_id = "arn:aws:kms:eu-west-1:${var.account}:key/k"
}

#### sns_encrypted: pass: a local
locals {
  key = "alias/aws/sns"
}
resource "aws_sns_topic" "r" {
  name              = "t"
  kms_master_key_id = local.key
}

#### sns_encrypted: fail: absent
resource "aws_sns_topic" "r" {
  name = "t"

}

#### sns_encrypted: fail: null
resource "aws_sns_topic" "r" {
  name              = "t"
  kms_master_key_id = null
}

#### sns_encrypted: fail: blank
resource "aws_sns_topic" "r" {
  name              = "t"
  kms_master_key_id = "  "
}

#### sns_encrypted: fail: a boolean
resource "aws_sns_topic" "r" {
  name              = "t"
  kms_master_key_id = true
}

#### sns_encrypted: fail: a boolean in quotes
resource "aws_sns_topic" "r" {
  name              = "t"
  kms_master_key_id = "false"
}

#### sns_encrypted: fail: empty
resource "aws_sns_topic" "r" {
  name              = "t"
  kms_master_key_id = ""
}

#### sns_encrypted: fail: a variable's empty default
variable "v" {
  default = ""
}
resource "aws_sns_topic" "r" {
  name              = "t"
  kms_master_key_id = var.v
}

#### sns_encrypted: fail: a key that nobody uses
resource "aws_kms_key" "k" {
  enable_key_rotation = true
}
resource "aws_sns_topic" "r" {
  name = "t"

}

#### sns_encrypted: fail: one instance of two
resource "aws_sns_topic" "r" {
  for_each          = { a = "alias/aws/sns", b = null }
  name              = "t"
  kms_master_key_id = each.value
}

#### sns_encrypted: unknown: handed in
variable "v" {}
resource "aws_sns_topic" "r" {
  name              = "t"
  kms_master_key_id = var.v
}

#### sns_encrypted: unknown: a key or none
resource "aws_kms_key" "k" {
  enable_key_rotation = true
}
variable "v" {}
resource "aws_sns_topic" "r" {
  name              = "t"
  kms_master_key_id = var.v ? aws_kms_key.k.arn : null
}

#### sns_encrypted: na: never created
resource "aws_sns_topic" "r" {
  count = 0
  name  = "t"

}

#### sns_encrypted: fail: in a policy alone
resource "aws_sns_topic" "t" {
  name = "t"
}
resource "aws_sns_topic_policy" "t" {
  arn    = aws_sns_topic.t.arn
  policy = jsonencode({ kms_master_key_id = "alias/aws/sns" })
}

#### sns_encrypted: pass: JSON syntax
{
  "resource": {
    "aws_sns_topic": {
      "r": {
        "name": "t",
        "kms_master_key_id": "alias/aws/sns"
      }
    }
  }
}

#### sns_encrypted: fail: JSON syntax
{
  "resource": {
    "aws_sns_topic": {
      "r": {
        "name": "t",
        "kms_master_key_id": ""
      }
    }
  }
}
