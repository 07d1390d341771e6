#### cw_retention: pass: a year
resource "aws_cloudwatch_log_group" "g" {
  name              = "g"
  retention_in_days = 365
}

#### cw_retention: pass: a string
resource "aws_cloudwatch_log_group" "g" {
  name              = "g"
  retention_in_days = "30"
}

#### cw_retention: pass: arithmetic
resource "aws_cloudwatch_log_group" "g" {
  name              = "g"
  retention_in_days = 2 * 7
}

#### cw_retention: fail: absent
resource "aws_cloudwatch_log_group" "g" {
  name = "g"

}

#### cw_retention: fail: zero in a string
resource "aws_cloudwatch_log_group" "g" {
  name              = "g"
  retention_in_days = "0"
}

#### cw_retention: fail: no such period
resource "aws_cloudwatch_log_group" "g" {
  name              = "g"
  retention_in_days = 42
}

#### cw_retention: fail: negative
resource "aws_cloudwatch_log_group" "g" {
  name              = "g"
  retention_in_days = -1
}

#### cw_retention: unknown: unknown
variable "v" {}
resource "aws_cloudwatch_log_group" "g" {
  name              = "g"
  retention_in_days = var.v
}

#### cw_log_kms: pass: a key here
resource "aws_kms_key" "k" {
  enable_key_rotation = true
}
resource "aws_cloudwatch_log_group" "g" {
  name       = "g"
  kms_key_id = aws_kms_key.k.arn
}

#### cw_log_kms: pass: an ARN
resource "aws_cloudwatch_log_group" "g" {
  name       = "g"
  kms_key_id = "arn:aws:kms:eu-west-1:111122223333:key/k"
}

#### cw_log_kms: pass: a looked-up key
data "aws_kms_key" "k" {
  key_id = "alias/a"
}
resource "aws_cloudwatch_log_group" "g" {
  name       = "g"
  kms_key_id = data.aws_kms_key.k.arn
}

#### cw_log_kms: fail: absent
resource "aws_cloudwatch_log_group" "g" {
  name = "g"

}

#### cw_log_kms: fail: null
resource "aws_cloudwatch_log_group" "g" {
  name       = "g"
  kms_key_id = null
}

#### cw_log_kms: fail: empty
resource "aws_cloudwatch_log_group" "g" {
  name       = "g"
  kms_key_id = ""
}

#### cw_log_kms: unknown: unknown
variable "v" {}
resource "aws_cloudwatch_log_group" "g" {
  name       = "g"
  kms_key_id = var.v
}

#### cw_retention: pass: the shortest of two
locals {
  days = [90, 30]
}
resource "aws_cloudwatch_log_group" "g" {
  name              = "g"
  retention_in_days = min(local.days...)
}

#### cw_retention: pass: of many by for_each
resource "aws_cloudwatch_log_group" "g" {
  for_each          = { api = 90, web = 30 }
  name              = each.key
  retention_in_days = each.value
}

#### cw_log_kms: pass: an ARN with an unknown key
variable "key" {
  default = "arn:aws:kms:eu-west-1:111122223333:key/k"
}
resource "aws_cloudwatch_log_group" "g" {
  name       = "g"
  kms_key_id = var.key
}

#### cw_log_kms: fail: one group of two
resource "aws_cloudwatch_log_group" "g" {
  for_each   = { a = "arn:aws:kms:eu-west-1:111122223333:key/k", b = null }
  name       = each.key
  kms_key_id = each.value
}

#### cw_retention: pass: JSON syntax
{
  "resource": {
    "aws_cloudwatch_log_group": {
      "r": {
        "name": "g",
        "retention_in_days": 365
      }
    }
  }
}

#### cw_retention: fail: JSON syntax
{
  "resource": {
    "aws_cloudwatch_log_group": {
      "r": {
        "name": "g",
        "retention_in_days": 0
      }
    }
  }
}

#### cw_log_kms: pass: JSON syntax
{
  "resource": {
    "aws_cloudwatch_log_group": {
      "r": {
        "name": "g",
        "kms_key_id": "arn:aws:kms:eu-west-1:111122223333:key/k"
      }
    }
  }
}

#### cw_log_kms: fail: JSON syntax
{
  "resource": {
    "aws_cloudwatch_log_group": {
      "r": {
        "name": "g"
      }
    }
  }
}
