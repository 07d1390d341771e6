#### kms_rotation: pass: true
resource "aws_kms_key" "k" {
  description         = "k"
  enable_key_rotation = true
}

#### kms_rotation: pass: a string
resource "aws_kms_key" "k" {
  description         = "k"
  enable_key_rotation = "true"
}

#### kms_rotation: pass: a comparison
resource "aws_kms_key" "k" {
  description         = "k"
  enable_key_rotation = 1 < 2
}

#### kms_rotation: fail: absent
resource "aws_kms_key" "k" {
  description = "k"

}

#### kms_rotation: fail: false
resource "aws_kms_key" "k" {
  description         = "k"
  enable_key_rotation = false
}

#### kms_rotation: fail: of two, one
resource "aws_kms_key" "k" {
  enable_key_rotation = true
}
resource "aws_kms_key" "l" {
  description = "k"

}

#### kms_rotation: fail: symmetric, said so
resource "aws_kms_key" "k" {
  description              = "k"
  customer_master_key_spec = "SYMMETRIC_DEFAULT"
}

#### kms_rotation: unknown: unknown
variable "v" {}
resource "aws_kms_key" "k" {
  description         = "k"
  enable_key_rotation = var.v
}

#### kms_rotation: unknown: a key of unknown kind
variable "v" {}
resource "aws_kms_key" "k" {
  description              = "k"
  customer_master_key_spec = var.v
}

#### kms_rotation: na: an RSA key
resource "aws_kms_key" "k" {
  description              = "k"
  customer_master_key_spec = "RSA_4096"
}

#### kms_rotation: na: an HMAC key
resource "aws_kms_key" "k" {
  description              = "k"
  key_usage                = "GENERATE_VERIFY_MAC"
  customer_master_key_spec = "HMAC_256"
}

#### kms_key_policy: pass: the default policy
resource "aws_kms_key" "k" {
  description = "k"
}

#### kms_key_policy: pass: the account by its number
resource "aws_kms_key" "k" {
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = "111122223333" }
      Action    = "kms:*"
      Resource  = "*"
    }]
  })
}

#### kms_key_policy: pass: the account that is looked up
resource "aws_kms_key" "k" {
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = "arn:aws:iam::${data.aws_caller_identity.me.account_id}:root" }
      Action    = "kms:*"
      Resource  = "*"
    }]
  })
}
data "aws_caller_identity" "me" {}

#### kms_key_policy: pass: the account and the caller that are looked up
resource "aws_kms_key" "k" {
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = [data.aws_caller_identity.me.arn, "arn:${data.aws_partition.p.partition}:iam::${data.aws_caller_identity.me.account_id}:root"] }
      Action    = "kms:*"
      Resource  = "*"
    }]
  })
}
data "aws_caller_identity" "me" {}
data "aws_partition" "p" {}

#### kms_key_policy: pass: the account in a format
resource "aws_kms_key" "k" {
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = format("arn:aws:iam::%s:root", data.aws_caller_identity.me.account_id) }
      Action    = "kms:*"
      Resource  = "*"
    }]
  })
}
data "aws_caller_identity" "me" {}

#### kms_key_policy: pass: the account by a variable
resource "aws_kms_key" "k" {
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = "arn:aws:iam::${var.account}:root" }
      Action    = "kms:*"
      Resource  = "*"
    }]
  })
}
variable "account" {}

#### kms_key_policy: pass: and a role of another account
resource "aws_kms_key" "k" {
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = "arn:aws:iam::111122223333:root" }
      Action    = "kms:*"
      Resource  = "*"
      }, {
      Effect    = "Allow"
      Principal = { AWS = "arn:aws:iam::444455556666:role/app" }
      Action    = "kms:Decrypt"
      Resource  = "*"
    }]
  })
}

#### kms_key_policy: pass: and a service
resource "aws_kms_key" "k" {
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = "arn:aws:iam::111122223333:root" }
      Action    = "kms:*"
      Resource  = "*"
      }, {
      Effect    = "Allow"
      Principal = { Service = "logs.eu-west-1.amazonaws.com" }
      Action    = ["kms:Encrypt*", "kms:Decrypt*"]
      Resource  = "*"
    }]
  })
}

#### kms_key_policy: pass: and everyone of the account through a service
resource "aws_kms_key" "k" {
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = "arn:aws:iam::111122223333:root" }
      Action    = "kms:*"
      Resource  = "*"
      }, {
      Effect    = "Allow"
      Principal = { AWS = "*" }
      Action    = "kms:Decrypt"
      Resource  = "*"
      Condition = { StringEquals = { "kms:CallerAccount" = "111122223333", "kms:ViaService" = "s3.eu-west-1.amazonaws.com" } }
    }]
  })
}

#### kms_key_policy: pass: and everyone of the organisation
resource "aws_kms_key" "k" {
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = "arn:aws:iam::111122223333:root" }
      Action    = "kms:*"
      Resource  = "*"
      }, {
      Effect    = "Allow"
      Principal = "*"
      Action    = "kms:Decrypt"
      Resource  = "*"
      Condition = { StringEquals = { "aws:PrincipalOrgID" = "o-a1b2c3d4e5" } }
    }]
  })
}

#### kms_key_policy: pass: and another account, narrowed to a role
resource "aws_kms_key" "k" {
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = "arn:aws:iam::111122223333:root" }
      Action    = "kms:*"
      Resource  = "*"
      }, {
      Effect    = "Allow"
      Principal = { AWS = "arn:aws:iam::444455556666:root" }
      Action    = "kms:Decrypt"
      Resource  = "*"
      Condition = { ArnEquals = { "aws:PrincipalArn" = "arn:aws:iam::444455556666:role/app" } }
    }]
  })
}

#### kms_key_policy: pass: and another account, through a service
resource "aws_kms_key" "k" {
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = "arn:aws:iam::111122223333:root" }
      Action    = "kms:*"
      Resource  = "*"
      }, {
      Effect    = "Allow"
      Principal = { AWS = "arn:aws:iam::444455556666:root" }
      Action    = "kms:Decrypt"
      Resource  = "*"
      Condition = { StringEquals = { "kms:ViaService" = "s3.eu-west-1.amazonaws.com" } }
    }]
  })
}

#### kms_key_policy: pass: and another account, to look at it
resource "aws_kms_key" "k" {
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = "arn:aws:iam::111122223333:root" }
      Action    = "kms:*"
      Resource  = "*"
      }, {
      Effect    = "Allow"
      Principal = { AWS = "arn:aws:iam::444455556666:root" }
      Action    = "kms:DescribeKey"
      Resource  = "*"
    }]
  })
}

#### kms_key_policy: pass: and a denial to everyone
resource "aws_kms_key" "k" {
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = "arn:aws:iam::111122223333:root" }
      Action    = "kms:*"
      Resource  = "*"
      }, {
      Effect    = "Deny"
      Principal = "*"
      Action    = "kms:ScheduleKeyDeletion"
      Resource  = "*"
    }]
  })
}

#### kms_key_policy: pass: a replica
resource "aws_kms_replica_key" "k" {
  primary_key_arn = "arn:aws:kms:eu-west-1:111122223333:key/mrk-1"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = "arn:aws:iam::111122223333:root" }
      Action    = "kms:*"
      Resource  = "*"
    }]
  })
}

#### kms_key_policy: pass: in a policy of its own
resource "aws_kms_key" "k" {
  description = "k"
}
resource "aws_kms_key_policy" "p" {
  key_id = aws_kms_key.k.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = "arn:aws:iam::111122223333:root" }
      Action    = "kms:*"
      Resource  = "*"
    }]
  })
}

#### kms_key_policy: pass: in a policy of its own, of a key elsewhere
resource "aws_kms_key_policy" "p" {
  key_id = "1234abcd"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = "arn:aws:iam::111122223333:root" }
      Action    = "kms:*"
      Resource  = "*"
    }]
  })
}

#### kms_key_policy: pass: a document
data "aws_iam_policy_document" "d" {
  statement {
    actions   = ["kms:*"]
    resources = ["*"]
    principals {
      type        = "AWS"
      identifiers = ["arn:aws:iam::111122223333:root"]
    }
  }
}
resource "aws_kms_key" "k" {
  policy = data.aws_iam_policy_document.d.json
}

#### kms_key_policy: pass: JSON syntax
{
  "resource": {
    "aws_kms_key": {
      "k": {
        "policy": "${jsonencode({ Statement = [{ Effect = \"Allow\", Principal = { AWS = \"arn:aws:iam::111122223333:root\" }, Action = \"kms:*\", Resource = \"*\" }] })}"
      }
    }
  }
}

#### kms_key_policy: fail: everyone
resource "aws_kms_key" "k" {
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "kms:*"
      Resource  = "*"
    }]
  })
}

#### kms_key_policy: fail: everyone, as AWS
resource "aws_kms_key" "k" {
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = "arn:aws:iam::111122223333:root" }
      Action    = "kms:*"
      Resource  = "*"
      }, {
      Effect    = "Allow"
      Principal = { AWS = ["*"] }
      Action    = "kms:*"
      Resource  = "*"
    }]
  })
}

#### kms_key_policy: fail: and everyone, to encrypt and verify
resource "aws_kms_key" "k" {
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = "arn:aws:iam::111122223333:root" }
      Action    = "kms:*"
      Resource  = "*"
      }, {
      Effect    = "Allow"
      Principal = "*"
      Action    = ["kms:Encrypt", "kms:Verify", "kms:GetPublicKey"]
      Resource  = "*"
    }]
  })
}

#### kms_key_policy: fail: everyone may decrypt
resource "aws_kms_key" "k" {
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = "arn:aws:iam::111122223333:root" }
      Action    = "kms:*"
      Resource  = "*"
      }, {
      Effect    = "Allow"
      Principal = "*"
      Action    = ["kms:Encrypt", "kms:Decrypt"]
      Resource  = "*"
    }]
  })
}

#### kms_key_policy: fail: everyone, by a pattern
resource "aws_kms_key" "k" {
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = "arn:aws:iam::111122223333:root" }
      Action    = "kms:*"
      Resource  = "*"
      }, {
      Effect    = "Allow"
      Principal = "*"
      Action    = "kms:D*"
      Resource  = "*"
    }]
  })
}

#### kms_key_policy: fail: everyone may grant
resource "aws_kms_key" "k" {
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = "arn:aws:iam::111122223333:root" }
      Action    = "kms:*"
      Resource  = "*"
      }, {
      Effect    = "Allow"
      Principal = "*"
      Action    = "kms:CreateGrant"
      Resource  = "*"
    }]
  })
}

#### kms_key_policy: fail: everyone may change the policy
resource "aws_kms_key" "k" {
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = "arn:aws:iam::111122223333:root" }
      Action    = "kms:*"
      Resource  = "*"
      }, {
      Effect    = "Allow"
      Principal = "*"
      Action    = "kms:Put*"
      Resource  = "*"
    }]
  })
}

#### kms_key_policy: fail: everyone may do all but something
resource "aws_kms_key" "k" {
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = "arn:aws:iam::111122223333:root" }
      Action    = "kms:*"
      Resource  = "*"
      }, {
      Effect    = "Allow"
      Principal = "*"
      NotAction = "kms:ScheduleKeyDeletion"
      Resource  = "*"
    }]
  })
}

#### kms_key_policy: fail: all but one
resource "aws_kms_key" "k" {
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = "arn:aws:iam::111122223333:root" }
      Action    = "kms:*"
      Resource  = "*"
      }, {
      Effect       = "Allow"
      NotPrincipal = { AWS = "arn:aws:iam::111122223333:user/mallory" }
      Action       = "kms:*"
      Resource     = "*"
    }]
  })
}

#### kms_key_policy: fail: every account
resource "aws_kms_key" "k" {
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = "arn:aws:iam::*:root" }
      Action    = "kms:*"
      Resource  = "*"
    }]
  })
}

#### kms_key_policy: fail: everyone through a service
resource "aws_kms_key" "k" {
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = "arn:aws:iam::111122223333:root" }
      Action    = "kms:*"
      Resource  = "*"
      }, {
      Effect    = "Allow"
      Principal = "*"
      Action    = "kms:Decrypt"
      Resource  = "*"
      Condition = { StringEquals = { "kms:ViaService" = "s3.eu-west-1.amazonaws.com" } }
    }]
  })
}

#### kms_key_policy: fail: everyone who is not of an account
resource "aws_kms_key" "k" {
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = "arn:aws:iam::111122223333:root" }
      Action    = "kms:*"
      Resource  = "*"
      }, {
      Effect    = "Allow"
      Principal = "*"
      Action    = "kms:Decrypt"
      Resource  = "*"
      Condition = { StringNotEquals = { "kms:CallerAccount" = "111122223333" } }
    }]
  })
}

#### kms_key_policy: fail: everyone if the organisation is known
resource "aws_kms_key" "k" {
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = "arn:aws:iam::111122223333:root" }
      Action    = "kms:*"
      Resource  = "*"
      }, {
      Effect    = "Allow"
      Principal = "*"
      Action    = "kms:Decrypt"
      Resource  = "*"
      Condition = { StringEqualsIfExists = { "aws:PrincipalOrgID" = "o-a1b2c3d4e5" } }
    }]
  })
}

#### kms_key_policy: fail: all of another account
resource "aws_kms_key" "k" {
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = "arn:aws:iam::111122223333:root" }
      Action    = "kms:*"
      Resource  = "*"
      }, {
      Effect    = "Allow"
      Principal = { AWS = "arn:aws:iam::444455556666:root" }
      Action    = "kms:Decrypt"
      Resource  = "*"
    }]
  })
}

#### kms_key_policy: fail: another account by its number
resource "aws_kms_key" "k" {
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = "arn:aws:iam::111122223333:root" }
      Action    = "kms:*"
      Resource  = "*"
      }, {
      Effect    = "Allow"
      Principal = { AWS = ["444455556666"] }
      Action    = ["kms:GenerateDataKey*", "kms:Decrypt"]
      Resource  = "*"
    }]
  })
}

#### kms_key_policy: fail: the account that is looked up, and another
resource "aws_kms_key" "k" {
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = ["arn:aws:iam::444455556666:root", "arn:aws:iam::${data.aws_caller_identity.me.account_id}:root"] }
      Action    = "kms:*"
      Resource  = "*"
    }]
  })
}
data "aws_caller_identity" "me" {}

#### kms_key_policy: fail: another account, all of it as the condition says
resource "aws_kms_key" "k" {
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = "arn:aws:iam::111122223333:root" }
      Action    = "kms:*"
      Resource  = "*"
      }, {
      Effect    = "Allow"
      Principal = { AWS = "arn:aws:iam::444455556666:root" }
      Action    = "kms:*"
      Resource  = "*"
      Condition = { StringEquals = { "kms:CallerAccount" = "444455556666" } }
    }]
  })
}

#### kms_key_policy: fail: another account, through any service
resource "aws_kms_key" "k" {
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = "arn:aws:iam::111122223333:root" }
      Action    = "kms:*"
      Resource  = "*"
      }, {
      Effect    = "Allow"
      Principal = { AWS = "arn:aws:iam::444455556666:root" }
      Action    = "kms:Decrypt"
      Resource  = "*"
      Condition = { StringLike = { "kms:ViaService" = "*" } }
    }]
  })
}

#### kms_key_policy: fail: a policy of its own beside a good one
resource "aws_kms_key" "k" {
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = "arn:aws:iam::111122223333:root" }
      Action    = "kms:*"
      Resource  = "*"
    }]
  })
}
resource "aws_kms_key_policy" "p" {
  key_id = aws_kms_key.k.key_id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "kms:*"
      Resource  = "*"
    }]
  })
}

#### kms_key_policy: fail: a policy of its own, of a key elsewhere
resource "aws_kms_key_policy" "p" {
  key_id = "1234abcd"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "kms:*"
      Resource  = "*"
    }]
  })
}

#### kms_key_policy: fail: a document, a star by a local
locals {
  who = "*"
}
data "aws_iam_policy_document" "d" {
  statement {
    actions   = ["kms:*"]
    resources = ["*"]
    principals {
      type        = "AWS"
      identifiers = [local.who]
    }
  }
}
resource "aws_kms_key" "k" {
  policy = data.aws_iam_policy_document.d.json
}

#### kms_key_policy: fail: a heredoc
resource "aws_kms_key" "k" {
  policy = <<EOF
{"Statement": {"Effect": "Allow", "Principal": {"AWS": "\u002a"}, "Action": "kms:*", "Resource": "*"}}
EOF
}

#### kms_key_policy: fail: one of several
resource "aws_kms_key" "k" {
  for_each = { inner = "arn:aws:iam::111122223333:root", outer = "*" }
  policy = jsonencode({
    Statement = [{ Effect = "Allow", Principal = { AWS = each.value }, Action = "kms:*", Resource = "*" }]
  })
}

#### kms_key_policy: unknown: a principal by a variable
variable "who" {}
data "aws_iam_policy_document" "d" {
  statement {
    actions   = ["kms:*"]
    resources = ["*"]
    principals {
      type        = "AWS"
      identifiers = [var.who]
    }
  }
}
resource "aws_kms_key" "k" {
  policy = data.aws_iam_policy_document.d.json
}

#### kms_key_policy: unknown: a policy by a variable
variable "policy" {}
resource "aws_kms_key" "k" {
  policy = var.policy
}

#### kms_key_policy: unknown: an action of another account by a variable
resource "aws_kms_key" "k" {
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = "arn:aws:iam::111122223333:root" }
      Action    = "kms:*"
      Resource  = "*"
      }, {
      Effect    = "Allow"
      Principal = { AWS = "arn:aws:iam::444455556666:root" }
      Action    = var.action
      Resource  = "*"
    }]
  })
}
variable "action" {}

#### kms_key_policy: na: no key
resource "aws_kms_alias" "a" {
  name          = "alias/a"
  target_key_id = "1234abcd"
}

#### kms_key_policy: na: a key never created
resource "aws_kms_key" "k" {
  count = 0
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "kms:*"
      Resource  = "*"
    }]
  })
}

#### kms_rotation: pass: each of several, by a variable
variable "rotate" {
  type    = bool
  default = true
}
resource "aws_kms_key" "k" {
  for_each            = toset(["a", "b"])
  enable_key_rotation = var.rotate
}

#### kms_rotation: fail: JSON syntax
{
  "resource": {
    "aws_kms_key": {
      "k": {
        "enable_key_rotation": false
      }
    }
  }
}
