#### sqs_encrypted: pass: a key here
resource "aws_kms_key" "k" {
  enable_key_rotation = true
}
resource "aws_sqs_queue" "r" {
  name              = "q"
  kms_master_key_id = aws_kms_key.k.arn
}

#### sqs_encrypted: pass: a literal
resource "aws_sqs_queue" "r" {
  name              = "q"
  kms_master_key_id = "alias/aws/sqs"
}

#### sqs_encrypted: pass: a looked-up key
data "aws_kms_alias" "k" {
  name = "alias/k"
}
resource "aws_sqs_queue" "r" {
  name              = "q"
  kms_master_key_id = data.aws_kms_alias.k.target_key_arn
}

#### sqs_encrypted: pass: a template with an unknown piece
variable "account" {}
resource "aws_sqs_queue" "r" {
  name              = "q"
  kms_master_key_id = "arn:aws:kms:eu-west-1:${var.account}:key/k"
}

#### sqs_encrypted: pass: a local
locals {
  key = "alias/aws/sqs"
}
resource "aws_sqs_queue" "r" {
  name              = "q"
  kms_master_key_id = local.key
}

#### sqs_encrypted: fail: absent
resource "aws_sqs_queue" "r" {
  name = "q"

}

#### sqs_encrypted: fail: null
resource "aws_sqs_queue" "r" {
  name              = "q"
  kms_master_key_id = null
}

#### sqs_encrypted: fail: blank
resource "aws_sqs_queue" "r" {
  name              = "q"
  kms_master_key_id = "  "
}

#### sqs_encrypted: fail: a boolean for a key
resource "aws_sqs_queue" "r" {
  name              = "q"
  kms_master_key_id = true
}

#### sqs_encrypted: fail: empty
resource "aws_sqs_queue" "r" {
  name              = "q"
  kms_master_key_id = ""
}

#### sqs_encrypted: fail: a variable's empty default
variable "v" {
  default = ""
}
resource "aws_sqs_queue" "r" {
  name              = "q"
  kms_master_key_id = var.v
}

#### sqs_encrypted: fail: a key that nobody uses
resource "aws_kms_key" "k" {
  enable_key_rotation = true
}
resource "aws_sqs_queue" "r" {
  name = "q"

}

#### sqs_encrypted: fail: one instance of two
resource "aws_sqs_queue" "r" {
  for_each          = { a = "alias/aws/sqs", b = null }
  name              = "q"
  kms_master_key_id = each.value
}

#### sqs_encrypted: unknown: handed in
variable "v" {}
resource "aws_sqs_queue" "r" {
  name              = "q"
  kms_master_key_id = var.v
}

#### sqs_encrypted: unknown: a key or none
resource "aws_kms_key" "k" {
  enable_key_rotation = true
}
variable "v" {}
resource "aws_sqs_queue" "r" {
  name              = "q"
  kms_master_key_id = var.v ? aws_kms_key.k.arn : null
}

#### sqs_encrypted: na: never created
resource "aws_sqs_queue" "r" {
  count = 0
  name  = "q"

}

#### sqs_encrypted: pass: keys of SQS
resource "aws_sqs_queue" "q" {
  name                    = "q"
  sqs_managed_sse_enabled = true
}

#### sqs_encrypted: pass: keys of SQS, a string
resource "aws_sqs_queue" "q" {
  name                    = "q"
  sqs_managed_sse_enabled = "true"
}

#### sqs_encrypted: pass: keys of SQS by a variable
variable "v" {
  default = true
}
resource "aws_sqs_queue" "q" {
  name                    = "q"
  sqs_managed_sse_enabled = var.v
}

#### sqs_encrypted: pass: a KMS key in their place
resource "aws_sqs_queue" "q" {
  name                    = "q"
  sqs_managed_sse_enabled = false
  kms_master_key_id       = "alias/k"
}

#### sqs_encrypted: pass: either way
variable "key" {
  default = ""
}
resource "aws_sqs_queue" "q" {
  name                    = "q"
  sqs_managed_sse_enabled = var.key == "" ? true : null
  kms_master_key_id       = var.key
}

#### sqs_encrypted: fail: switched off
resource "aws_sqs_queue" "q" {
  name                    = "q"
  sqs_managed_sse_enabled = false
}

#### sqs_encrypted: fail: switched off, and no key
resource "aws_sqs_queue" "q" {
  name                    = "q"
  sqs_managed_sse_enabled = false
  kms_master_key_id       = ""
}

#### sqs_encrypted: fail: how long a key is reused alone
resource "aws_sqs_queue" "q" {
  name                              = "q"
  kms_data_key_reuse_period_seconds = 300
}

#### sqs_encrypted: fail: of two, one
resource "aws_sqs_queue" "q" {
  name                    = "q"
  sqs_managed_sse_enabled = true
  redrive_policy          = jsonencode({ deadLetterTargetArn = aws_sqs_queue.d.arn, maxReceiveCount = 3 })
}
resource "aws_sqs_queue" "d" {
  name = "d"
}

#### sqs_encrypted: unknown: keys of SQS, handed in
variable "v" {}
resource "aws_sqs_queue" "q" {
  name                    = "q"
  sqs_managed_sse_enabled = var.v
}

#### sqs_encrypted: pass: JSON syntax
{
  "resource": {
    "aws_sqs_queue": {
      "r": {
        "name": "q",
        "sqs_managed_sse_enabled": true
      }
    }
  }
}

#### sqs_encrypted: fail: JSON syntax
{
  "resource": {
    "aws_sqs_queue": {
      "r": {
        "name": "q",
        "sqs_managed_sse_enabled": false
      }
    }
  }
}
