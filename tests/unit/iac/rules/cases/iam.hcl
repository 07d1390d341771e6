#### iam_wildcard: fail: *
resource "aws_iam_policy" "p" {

  policy = <<EOT
{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}
EOT
}

#### iam_wildcard: fail: * on one bucket
resource "aws_iam_policy" "p" {

  policy = <<EOT
{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "arn:aws:s3:::data/*"}]}
EOT
}

#### iam_wildcard: fail: *:* in a list
resource "aws_iam_policy" "p" {

  policy = <<EOT
{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": ["s3:GetObject", "*:*"], "Resource": "*"}]}
EOT
}

#### iam_wildcard: fail: jsonencode
resource "aws_iam_policy" "p" {
  policy = jsonencode({ "Version" : "2012-10-17", "Statement" : [{ "Effect" : "Allow", "Action" : "*", "Resource" : "*" }] })
}

#### iam_wildcard: fail: a data source
data "aws_iam_policy_document" "d" {
  statement {
    actions   = ["*"]
    resources = ["*"]
  }
}
resource "aws_iam_policy" "p" {
  policy = data.aws_iam_policy_document.d.json
}

#### iam_wildcard: fail: a data source that nobody uses
data "aws_iam_policy_document" "d" {
  statement {
    actions   = ["*"]
    resources = ["*"]
  }
}

#### iam_wildcard: fail: through a source document
data "aws_iam_policy_document" "d" {
  source_policy_documents = [data.aws_iam_policy_document.base.json]
}
resource "aws_iam_policy" "p" {
  policy = data.aws_iam_policy_document.d.json
}
data "aws_iam_policy_document" "base" {
  statement {
    actions   = ["*"]
    resources = ["*"]
  }
}

#### iam_wildcard: fail: a wildcard over services
resource "aws_iam_policy" "p" {

  policy = <<EOT
{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*:Get*", "Resource": "*"}]}
EOT
}

#### iam_wildcard: fail: a wildcard in the service
resource "aws_iam_policy" "p" {

  policy = <<EOT
{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "ec*:*", "Resource": "*"}]}
EOT
}

#### iam_wildcard: fail: two stars
resource "aws_iam_policy" "p" {

  policy = <<EOT
{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "**", "Resource": "*"}]}
EOT
}

#### iam_wildcard: fail: escaped in JSON
resource "aws_iam_policy" "p" {

  policy = <<EOT
{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "\u002a", "Resource": "*"}]}
EOT
}

#### iam_wildcard: fail: Allow and NotAction
resource "aws_iam_policy" "p" {

  policy = <<EOT
{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "NotAction": "iam:*", "Resource": "*"}]}
EOT
}

#### iam_wildcard: fail: Allow and NotResource
resource "aws_iam_policy" "p" {

  policy = <<EOT
{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:GetObject", "NotResource": "arn:aws:s3:::data/*"}]}
EOT
}

#### iam_wildcard: fail: a condition
resource "aws_iam_policy" "p" {

  policy = <<EOT
{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*", "Condition": {"Bool": {"aws:MultiFactorAuthPresent": "true"}}}]}
EOT
}

#### iam_wildcard: fail: one statement, not a list
resource "aws_iam_policy" "p" {
  policy = jsonencode({ Statement = { Effect = "Allow", Action = "*", Resource = "*" } })
}

#### iam_wildcard: fail: after a harmless one
resource "aws_iam_policy" "p" {

  policy = <<EOT
{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": ["s3:GetObject"], "Resource": ["arn:aws:s3:::data/*"]}, {"Effect": "Allow", "Action": "*", "Resource": "*"}]}
EOT
}

#### iam_wildcard: fail: iam:* on everything
resource "aws_iam_policy" "p" {

  policy = <<EOT
{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "iam:*", "Resource": "*"}]}
EOT
}

#### iam_wildcard: fail: three services in three statements
resource "aws_iam_policy" "p" {

  policy = <<EOT
{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}, {"Effect": "Allow", "Action": "ec2:*", "Resource": "*"}, {"Effect": "Allow", "Action": "rds:*", "Resource": "*"}]}
EOT
}

#### iam_wildcard: fail: three services on any ARN
resource "aws_iam_policy" "p" {

  policy = <<EOT
{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": ["s3:*", "ec2:*", "rds:*"], "Resource": "arn:aws:*:*:*:*"}]}
EOT
}

#### iam_wildcard: fail: a role's policy
resource "aws_iam_role_policy" "p" {
  role   = "r"
  policy = <<EOT
{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}
EOT
}

#### iam_wildcard: fail: a user's policy
resource "aws_iam_user_policy" "p" {
  user   = "u"
  policy = <<EOT
{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}
EOT
}

#### iam_wildcard: fail: a group's policy
resource "aws_iam_group_policy" "p" {
  group  = "g"
  policy = <<EOT
{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}
EOT
}

#### iam_wildcard: fail: a permission set
resource "aws_ssoadmin_permission_set_inline_policy" "p" {

  inline_policy = <<EOT
{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}
EOT
}

#### iam_wildcard: fail: inline in a role
resource "aws_iam_role" "r" {

  assume_role_policy = jsonencode({
    Statement = [{ Effect = "Allow", Action = "sts:AssumeRole", Principal = { Service = "lambda.amazonaws.com" } }]
  })
  inline_policy {
    name   = "p"
    policy = jsonencode({ Statement = [{ Effect = "Allow", Action = "*", Resource = "*" }] })
  }
}

#### iam_wildcard: fail: a local
locals {
  any = "*"
}
resource "aws_iam_policy" "p" {
  policy = jsonencode({ Statement = [{ Effect = "Allow", Action = local.any, Resource = "*" }] })
}

#### iam_wildcard: fail: joined
resource "aws_iam_policy" "p" {
  policy = jsonencode({ Statement = [{ Effect = "Allow", Action = join(":", ["*", "*"]), Resource = "*" }] })
}

#### iam_wildcard: fail: lower-case keys
resource "aws_iam_policy" "p" {

  policy = <<EOT
{"Version": "2012-10-17", "Statement": [{"effect": "Allow", "action": "*", "resource": "*"}]}
EOT
}

#### iam_wildcard: fail: AdministratorAccess attached
resource "aws_iam_role_policy_attachment" "a" {
  role       = "r"
  policy_arn = "arn:aws:iam::aws:policy/AdministratorAccess"
}

#### iam_wildcard: fail: AdministratorAccess looked up
data "aws_iam_policy" "d" {
  name = "AdministratorAccess"
}
resource "aws_iam_role_policy_attachment" "a" {
  role       = "r"
  policy_arn = data.aws_iam_policy.d.arn
}

#### iam_wildcard: fail: AdministratorAccess in the role
resource "aws_iam_role" "r" {

  assume_role_policy = jsonencode({
    Statement = [{ Effect = "Allow", Action = "sts:AssumeRole", Principal = { Service = "lambda.amazonaws.com" } }]
  })
  managed_policy_arns = ["arn:aws:iam::aws:policy/AdministratorAccess"]
}

#### iam_wildcard: fail: may be created
variable "n" {}
resource "aws_iam_policy" "p" {
  count  = var.n
  policy = <<EOT
{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}
EOT
}

#### iam_wildcard: fail: a bucket policy
resource "aws_s3_bucket_policy" "p" {
  bucket = "data"
  policy = <<EOT
{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "arn:aws:s3:::data/*", "Principal": "*"}]}
EOT
}

#### iam_wildcard: fail: beside an unknown part
variable "a" {}
resource "aws_iam_policy" "p" {
  policy = jsonencode({ Statement = [{ Effect = "Allow", Action = "*", Resource = var.a }] })
}

#### iam_wildcard: pass: one action on one bucket
resource "aws_iam_policy" "p" {

  policy = <<EOT
{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": ["s3:GetObject"], "Resource": ["arn:aws:s3:::data/*"]}]}
EOT
}

#### iam_wildcard: pass: a data source
data "aws_iam_policy_document" "d" {
  statement {
    actions   = ["s3:GetObject"]
    resources = ["arn:aws:s3:::data/*"]
  }
}
resource "aws_iam_policy" "p" {
  policy = data.aws_iam_policy_document.d.json
}

#### iam_wildcard: pass: Deny *
resource "aws_iam_policy" "p" {

  policy = <<EOT
{"Version": "2012-10-17", "Statement": [{"Effect": "Deny", "Action": "*", "Resource": "*"}, {"Effect": "Allow", "Action": ["s3:GetObject"], "Resource": ["arn:aws:s3:::data/*"]}]}
EOT
}

#### iam_wildcard: pass: Deny in small letters
resource "aws_iam_policy" "p" {

  policy = <<EOT
{"Version": "2012-10-17", "Statement": [{"Effect": "deny", "Action": "*", "Resource": "*"}]}
EOT
}

#### iam_wildcard: pass: Deny and NotAction
resource "aws_iam_policy" "p" {

  policy = <<EOT
{"Version": "2012-10-17", "Statement": [{"Effect": "Deny", "NotAction": "iam:*", "Resource": "*"}]}
EOT
}

#### iam_wildcard: pass: one service
resource "aws_iam_policy" "p" {

  policy = <<EOT
{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": ["arn:aws:s3:::data/*"]}]}
EOT
}

#### iam_wildcard: pass: no resource-level permission
resource "aws_iam_policy" "p" {

  policy = <<EOT
{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": ["ec2:DescribeInstances", "s3:ListAllMyBuckets"], "Resource": "*"}]}
EOT
}

#### iam_wildcard: pass: a bucket here
resource "aws_s3_bucket" "b" {
  bucket = "b"
}
resource "aws_iam_policy" "p" {
  policy = jsonencode({ Statement = [{ Effect = "Allow", Action = ["s3:GetObject"], Resource = ["${aws_s3_bucket.b.arn}/*"] }] })
}

#### iam_wildcard: pass: the root in a key policy
resource "aws_kms_key" "p" {

  policy = <<EOT
{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "kms:*", "Resource": "*", "Principal": {"AWS": "arn:aws:iam::111122223333:root"}}]}
EOT
}

#### iam_wildcard: pass: the root by account number
resource "aws_kms_key" "p" {

  policy = <<EOT
{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "kms:*", "Resource": "*", "Principal": {"AWS": "111122223333"}}]}
EOT
}

#### iam_wildcard: pass: a managed policy
resource "aws_iam_role_policy_attachment" "a" {
  role       = "r"
  policy_arn = "arn:aws:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole"
}

#### iam_wildcard: pass: in a description
resource "aws_iam_policy" "p" {
  description = "Action = *"
  policy      = <<EOT
{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": ["s3:GetObject"], "Resource": ["arn:aws:s3:::data/*"]}]}
EOT
}

#### iam_wildcard: pass: in the Sid
resource "aws_iam_policy" "p" {

  policy = <<EOT
{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": ["s3:GetObject"], "Resource": ["arn:aws:s3:::data/*"], "Sid": "*"}]}
EOT
}

#### iam_wildcard: pass: override replaces by Sid
data "aws_iam_policy_document" "d" {
  statement {
    sid       = "A"
    actions   = ["*"]
    resources = ["*"]
  }
  override_policy_documents = [data.aws_iam_policy_document.o.json]
}
data "aws_iam_policy_document" "o" {
  statement {
    sid       = "A"
    actions   = ["s3:GetObject"]
    resources = ["arn:aws:s3:::data/*"]
  }
}
resource "aws_iam_policy" "p" {
  policy = data.aws_iam_policy_document.d.json
}

#### iam_wildcard: unknown: the policy
variable "p" {}
resource "aws_iam_policy" "p" {
  policy = var.p
}

#### iam_wildcard: unknown: the action
variable "a" {}
resource "aws_iam_policy" "p" {
  policy = jsonencode({ Statement = [{ Effect = "Allow", Action = [var.a], Resource = "*" }] })
}

#### iam_wildcard: unknown: the effect
variable "e" {}
resource "aws_iam_policy" "p" {
  policy = jsonencode({ Statement = [{ Effect = var.e, Action = "*", Resource = "*" }] })
}

#### iam_wildcard: unknown: what is attached
variable "a" {}
resource "aws_iam_role_policy_attachment" "a" {
  role       = "r"
  policy_arn = var.a
}

#### iam_wildcard: unknown: whether it is created
variable "n" {}
resource "aws_iam_policy" "p" {
  count  = var.n
  policy = <<EOT
{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": ["s3:GetObject"], "Resource": ["arn:aws:s3:::data/*"]}]}
EOT
}

#### iam_wildcard: na: a role with trust alone
resource "aws_iam_role" "r" {

  assume_role_policy = jsonencode({
    Statement = [{ Effect = "Allow", Action = "sts:AssumeRole", Principal = { Service = "lambda.amazonaws.com" } }]
  })
}

#### iam_wildcard: na: a guard rail
resource "aws_organizations_policy" "p" {
  name    = "n"
  content = <<EOT
{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}
EOT
}

#### iam_wildcard: na: a policy never created
resource "aws_iam_policy" "p" {
  count  = 0
  policy = <<EOT
{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}
EOT
}

#### iam_svc_wildcard: fail: s3:*
resource "aws_iam_policy" "p" {

  policy = <<EOT
{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": ["arn:aws:s3:::data/*"]}]}
EOT
}

#### iam_svc_wildcard: fail: in capitals
resource "aws_iam_policy" "p" {

  policy = <<EOT
{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "S3:*", "Resource": ["arn:aws:s3:::data/*"]}]}
EOT
}

#### iam_svc_wildcard: fail: two stars
resource "aws_iam_policy" "p" {

  policy = <<EOT
{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:**", "Resource": ["arn:aws:s3:::data/*"]}]}
EOT
}

#### iam_svc_wildcard: fail: a question mark and a star
resource "aws_iam_policy" "p" {

  policy = <<EOT
{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:?*", "Resource": ["arn:aws:s3:::data/*"]}]}
EOT
}

#### iam_svc_wildcard: fail: all but nothing
resource "aws_iam_policy" "p" {

  policy = <<EOT
{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*e*", "Resource": ["arn:aws:s3:::data/*"]}]}
EOT
}

#### iam_svc_wildcard: fail: in parts
resource "aws_iam_policy" "p" {

  policy = <<EOT
{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": ["s3:Put*", "s3:Delete*", "s3:Create*"], "Resource": ["arn:aws:s3:::data/*"]}]}
EOT
}

#### iam_svc_wildcard: fail: in parts, in statements
resource "aws_iam_policy" "p" {

  policy = <<EOT
{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:Put*", "Resource": "arn:aws:s3:::data/*"}, {"Effect": "Allow", "Action": ["s3:Delete*", "s3:Create*"], "Resource": "arn:aws:s3:::data/*"}]}
EOT
}

#### iam_svc_wildcard: fail: *
resource "aws_iam_policy" "p" {

  policy = <<EOT
{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}
EOT
}

#### iam_svc_wildcard: fail: reading every bucket
resource "aws_iam_policy" "p" {

  policy = <<EOT
{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:GetObject", "Resource": "*"}]}
EOT
}

#### iam_svc_wildcard: fail: reading every bucket by ARN
resource "aws_iam_policy" "p" {

  policy = <<EOT
{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::*"}]}
EOT
}

#### iam_svc_wildcard: fail: reading every bucket by a longer ARN
resource "aws_iam_policy" "p" {

  policy = <<EOT
{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::*/*"}]}
EOT
}

#### iam_svc_wildcard: fail: reading every secret
resource "aws_iam_policy" "p" {

  policy = <<EOT
{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "secretsmanager:GetSecretValue", "Resource": "*"}]}
EOT
}

#### iam_svc_wildcard: fail: beside a named resource
resource "aws_iam_policy" "p" {

  policy = <<EOT
{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "dynamodb:PutItem", "Resource": ["arn:aws:dynamodb:eu-west-1:111122223333:table/t", "*"]}]}
EOT
}

#### iam_svc_wildcard: fail: a pattern that matches such
resource "aws_iam_policy" "p" {

  policy = <<EOT
{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:GetObj*", "Resource": "*"}]}
EOT
}

#### iam_svc_wildcard: fail: AmazonS3FullAccess
resource "aws_iam_role_policy_attachment" "a" {
  role       = "r"
  policy_arn = "arn:aws:iam::aws:policy/AmazonS3FullAccess"
}

#### iam_svc_wildcard: fail: a queue policy
resource "aws_sqs_queue_policy" "p" {
  queue_url = "q"
  policy    = <<EOT
{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "sqs:*", "Resource": "*", "Principal": "*"}]}
EOT
}

#### iam_svc_wildcard: pass: named actions on a named resource
resource "aws_iam_policy" "p" {

  policy = <<EOT
{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": ["s3:GetObject"], "Resource": ["arn:aws:s3:::data/*"]}]}
EOT
}

#### iam_svc_wildcard: pass: some patterns
resource "aws_iam_policy" "p" {

  policy = <<EOT
{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": ["s3:Get*", "s3:List*"], "Resource": ["arn:aws:s3:::data", "arn:aws:s3:::data/*"]}]}
EOT
}

#### iam_svc_wildcard: pass: describing
resource "aws_iam_policy" "p" {

  policy = <<EOT
{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": ["ec2:Describe*", "cloudwatch:PutMetricData", "ecr:GetAuthorizationToken"], "Resource": "*"}]}
EOT
}

#### iam_svc_wildcard: pass: starting a job
resource "aws_iam_policy" "p" {

  policy = <<EOT
{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "comprehend:StartPiiEntitiesDetectionJob", "Resource": "*"}]}
EOT
}

#### iam_svc_wildcard: pass: writing logs
resource "aws_iam_policy" "p" {

  policy = <<EOT
{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": ["logs:CreateLogGroup", "logs:CreateLogStream", "logs:PutLogEvents"], "Resource": "arn:aws:logs:*:*:*"}]}
EOT
}

#### iam_svc_wildcard: pass: all tables
resource "aws_iam_policy" "p" {

  policy = <<EOT
{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "dynamodb:GetItem", "Resource": "arn:aws:dynamodb:*:*:table/*"}]}
EOT
}

#### iam_svc_wildcard: pass: the root in a key policy
resource "aws_kms_key" "p" {

  policy = <<EOT
{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "kms:*", "Resource": "*", "Principal": {"AWS": "arn:aws:iam::111122223333:root"}}]}
EOT
}

#### iam_svc_wildcard: pass: a user of a key
resource "aws_kms_key" "p" {

  policy = <<EOT
{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": ["kms:Encrypt", "kms:Decrypt"], "Resource": "*", "Principal": {"AWS": "arn:aws:iam::111122223333:role/app"}}]}
EOT
}

#### iam_svc_wildcard: pass: a key policy as a document
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

#### iam_svc_wildcard: pass: the root of the current account
data "aws_caller_identity" "me" {}
data "aws_iam_policy_document" "d" {
  statement {
    actions   = ["kms:*"]
    resources = ["*"]
    principals {
      type        = "AWS"
      identifiers = ["arn:aws:iam::${data.aws_caller_identity.me.account_id}:root"]
    }
  }
}
resource "aws_kms_key" "k" {
  policy = data.aws_iam_policy_document.d.json
}

#### iam_svc_wildcard: unknown: on unknown resources
variable "r" {}
resource "aws_iam_policy" "p" {
  policy = jsonencode({
    Statement = [{
      Effect   = "Allow"
      Action   = ["s3:GetObject"]
      Resource = var.r
    }]
  })
}

#### iam_wildcard: fail: a trailing comma before a star
resource "aws_iam_policy" "p" {
  policy = <<EOT
{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": ["*",], "Resource": "*"}]}
EOT
}

#### iam_wildcard: unknown: a trailing comma in a narrow policy
resource "aws_iam_policy" "p" {
  policy = <<EOT
{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": ["s3:GetObject",], "Resource": "arn:aws:s3:::a/*"}]}
EOT
}

#### iam_wildcard: unknown: no JSON at all
resource "aws_iam_policy" "p" {
  policy = "allow everything"
}

#### iam_wildcard: fail: AdministratorAccess of a partition that is looked up
data "aws_partition" "here" {}
resource "aws_iam_role_policy_attachment" "a" {
  role       = "r"
  policy_arn = "arn:${data.aws_partition.here.partition}:iam::aws:policy/AdministratorAccess"
}

#### iam_svc_wildcard: pass: a repository by variables
variable "account" {}
variable "name" {}
resource "aws_iam_policy" "p" {
  policy = jsonencode({
    Statement = [{
      Effect   = "Allow"
      Action   = ["ecr:PutImage"]
      Resource = "arn:aws:ecr:eu-west-1:${var.account}:repository/${var.name}"
    }]
  })
}

#### iam_svc_wildcard: unknown: a bucket by a variable that may be a star
variable "bucket" {}
resource "aws_iam_policy" "p" {
  policy = jsonencode({
    Statement = [{
      Effect   = "Allow"
      Action   = ["s3:GetObject"]
      Resource = "arn:aws:s3:::${var.bucket}/*"
    }]
  })
}

#### iam_svc_wildcard: pass: the objects of a bucket here
resource "aws_s3_bucket" "b" {
}
resource "aws_iam_policy" "p" {
  policy = jsonencode({
    Statement = [{
      Effect   = "Allow"
      Action   = ["s3:GetObject"]
      Resource = ["${aws_s3_bucket.b.arn}/*", "arn:aws:s3:::${aws_s3_bucket.b.bucket}/*"]
    }]
  })
}

#### iam_wildcard: fail: a principal where none may be
resource "aws_iam_policy" "p" {
  policy = jsonencode({
    Statement = [{
      Effect    = "Allow"
      Action    = "*"
      Resource  = "*"
      Principal = { AWS = "arn:aws:iam::111122223333:root" }
    }]
  })
}

#### iam_privilege_escalation: pass: reading objects
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "s3:GetObject"
      Resource = "arn:aws:s3:::data/*"
    }]
  })
}

#### iam_privilege_escalation: pass: reading IAM
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = ["iam:Get*", "iam:List*"]
      Resource = "*"
    }]
  })
}

#### iam_privilege_escalation: pass: one's own access keys
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "iam:CreateAccessKey"
      Resource = "arn:aws:iam::*:user/$${aws:username}"
    }]
  })
}

#### iam_privilege_escalation: pass: a policy on one role
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "iam:PutRolePolicy"
      Resource = "arn:aws:iam::111122223333:role/app"
    }]
  })
}

#### iam_privilege_escalation: pass: a policy on a role of the configuration
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "iam:AttachRolePolicy"
      Resource = aws_iam_role.r.arn
    }]
  })
}
resource "aws_iam_role" "r" {
  assume_role_policy = jsonencode({ Version = "2012-10-17", Statement = [] })
}

#### iam_privilege_escalation: pass: roles below a path
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "iam:PutRolePolicy"
      Resource = "arn:aws:iam::111122223333:role/app/*"
    }]
  })
}

#### iam_privilege_escalation: pass: an action on resources of another kind
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "iam:PutUserPolicy"
      Resource = "arn:aws:iam::111122223333:role/*"
    }]
  })
}

#### iam_privilege_escalation: pass: passing one role to a function
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "iam:PassRole"
      Resource = "arn:aws:iam::111122223333:role/app"
      }, {
      Effect   = "Allow"
      Action   = ["lambda:CreateFunction", "lambda:InvokeFunction"]
      Resource = "*"
    }]
  })
}

#### iam_privilege_escalation: pass: functions without a role to pass
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = ["lambda:CreateFunction", "lambda:InvokeFunction"]
      Resource = "*"
    }]
  })
}

#### iam_privilege_escalation: pass: passing any role, and nothing to pass it to
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "iam:PassRole"
      Resource = "*"
    }]
  })
}

#### iam_privilege_escalation: pass: assuming one role in any account
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "sts:AssumeRole"
      Resource = "arn:aws:iam::*:role/deploy"
    }]
  })
}

#### iam_privilege_escalation: pass: denied
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Deny"
      Action   = "iam:*"
      Resource = "*"
    }]
  })
}

#### iam_privilege_escalation: pass: everything of IAM but what is denied of it
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "iam:*"
      Resource = "*"
      }, {
      Effect   = "Deny"
      Action   = "iam:*"
      Resource = "*"
    }]
  })
}

#### iam_privilege_escalation: pass: code of one function
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "lambda:UpdateFunctionCode"
      Resource = "arn:aws:lambda:eu-west-1:111122223333:function:app"
    }]
  })
}

#### iam_privilege_escalation: pass: inline policy of a group
resource "aws_iam_group_policy" "p" {
  group = "g"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "ec2:RunInstances"
      Resource = "*"
    }]
  })
}

#### iam_privilege_escalation: pass: a document that is not attached, in JSON syntax
{
  "data": {
    "aws_iam_policy_document": {
      "d": {
        "statement": [
          {
            "actions": [
              "iam:PassRole"
            ],
            "resources": [
              "arn:aws:iam::111122223333:role/app"
            ]
          }
        ]
      }
    }
  }
}

#### iam_privilege_escalation: pass: a managed policy that reads
resource "aws_iam_role_policy_attachment" "a" {
  role       = "r"
  policy_arn = "arn:aws:iam::aws:policy/ReadOnlyAccess"
}

#### iam_privilege_escalation: fail: iam:CreatePolicyVersion
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "iam:CreatePolicyVersion"
      Resource = "*"
    }]
  })
}

#### iam_privilege_escalation: fail: iam:SetDefaultPolicyVersion
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "iam:SetDefaultPolicyVersion"
      Resource = "*"
    }]
  })
}

#### iam_privilege_escalation: fail: iam:AttachUserPolicy
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "iam:AttachUserPolicy"
      Resource = "*"
    }]
  })
}

#### iam_privilege_escalation: fail: iam:AttachGroupPolicy
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "iam:AttachGroupPolicy"
      Resource = "*"
    }]
  })
}

#### iam_privilege_escalation: fail: iam:AttachRolePolicy
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "iam:AttachRolePolicy"
      Resource = "*"
    }]
  })
}

#### iam_privilege_escalation: fail: iam:PutUserPolicy
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "iam:PutUserPolicy"
      Resource = "*"
    }]
  })
}

#### iam_privilege_escalation: fail: iam:PutGroupPolicy
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "iam:PutGroupPolicy"
      Resource = "*"
    }]
  })
}

#### iam_privilege_escalation: fail: iam:PutRolePolicy
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "iam:PutRolePolicy"
      Resource = "*"
    }]
  })
}

#### iam_privilege_escalation: fail: iam:CreateAccessKey
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "iam:CreateAccessKey"
      Resource = "*"
    }]
  })
}

#### iam_privilege_escalation: fail: iam:CreateLoginProfile
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "iam:CreateLoginProfile"
      Resource = "*"
    }]
  })
}

#### iam_privilege_escalation: fail: iam:UpdateLoginProfile
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "iam:UpdateLoginProfile"
      Resource = "*"
    }]
  })
}

#### iam_privilege_escalation: fail: iam:AddUserToGroup
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "iam:AddUserToGroup"
      Resource = "*"
    }]
  })
}

#### iam_privilege_escalation: fail: iam:UpdateAssumeRolePolicy
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "iam:UpdateAssumeRolePolicy"
      Resource = "*"
    }]
  })
}

#### iam_privilege_escalation: fail: sts:AssumeRole
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "sts:AssumeRole"
      Resource = "*"
    }]
  })
}

#### iam_privilege_escalation: fail: lambda:UpdateFunctionCode
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "lambda:UpdateFunctionCode"
      Resource = "*"
    }]
  })
}

#### iam_privilege_escalation: fail: in other letters
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "IAM:attachrolepolicy"
      Resource = "*"
    }]
  })
}

#### iam_privilege_escalation: fail: a pattern
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "iam:Attach*"
      Resource = "*"
    }]
  })
}

#### iam_privilege_escalation: fail: a pattern with question marks
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "iam:Put????Policy"
      Resource = "*"
    }]
  })
}

#### iam_privilege_escalation: fail: the whole of IAM
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "iam:*"
      Resource = "*"
    }]
  })
}

#### iam_privilege_escalation: fail: everything
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "*"
      Resource = "*"
    }]
  })
}

#### iam_privilege_escalation: fail: all but a service
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      NotAction = ["s3:*"]
      Resource  = "*"
    }]
  })
}

#### iam_privilege_escalation: fail: on all but a resource
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect      = "Allow"
      Action      = "iam:PutUserPolicy"
      NotResource = ["arn:aws:iam::111122223333:user/owner"]
    }]
  })
}

#### iam_privilege_escalation: fail: every policy of an account
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "iam:CreatePolicyVersion"
      Resource = "arn:aws:iam::111122223333:policy/*"
    }]
  })
}

#### iam_privilege_escalation: fail: every role of the account that is looked up
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "iam:UpdateAssumeRolePolicy"
      Resource = "arn:aws:iam::${data.aws_caller_identity.me.account_id}:role/*"
    }]
  })
}
data "aws_caller_identity" "me" {}

#### iam_privilege_escalation: fail: every role of an account by a variable
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "sts:AssumeRole"
      Resource = "arn:aws:iam::${var.account}:role/*"
    }]
  })
}
variable "account" {}

#### iam_privilege_escalation: fail: one user among many
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "iam:CreateAccessKey"
      Resource = ["arn:aws:iam::111122223333:user/me", "arn:aws:iam::*:user/*"]
    }]
  })
}

#### iam_privilege_escalation: fail: with a second factor
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Action    = "iam:CreateAccessKey"
      Resource  = "*"
      Condition = { Bool = { "aws:MultiFactorAuthPresent" = "true" } }
    }]
  })
}

#### iam_privilege_escalation: fail: below a boundary
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Action    = "iam:AttachRolePolicy"
      Resource  = "*"
      Condition = { StringEquals = { "iam:PermissionsBoundary" = "arn:aws:iam::111122223333:policy/b" } }
    }]
  })
}

#### iam_privilege_escalation: fail: denied on some roles
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "iam:PutRolePolicy"
      Resource = "*"
      }, {
      Effect   = "Deny"
      Action   = "iam:PutRolePolicy"
      Resource = "arn:aws:iam::111122223333:role/admin"
    }]
  })
}

#### iam_privilege_escalation: fail: denied without a second factor
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "iam:PutRolePolicy"
      Resource = "*"
      }, {
      Effect    = "Deny"
      Action    = "iam:*"
      Resource  = "*"
      Condition = { Bool = { "aws:MultiFactorAuthPresent" = "false" } }
    }]
  })
}

#### iam_privilege_escalation: fail: any role for a function
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = ["iam:PassRole", "lambda:CreateFunction", "lambda:InvokeFunction"]
      Resource = "*"
    }]
  })
}

#### iam_privilege_escalation: fail: any role for one function, over two statements
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "iam:PassRole"
      Resource = "arn:aws:iam::*:role/*"
      }, {
      Effect   = "Allow"
      Action   = ["lambda:CreateFunction", "lambda:InvokeFunction"]
      Resource = "arn:aws:lambda:*:*:function:app"
    }]
  })
}

#### iam_privilege_escalation: fail: any role for an instance
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = ["iam:Pass*", "ec2:Run*"]
      Resource = "*"
    }]
  })
}

#### iam_privilege_escalation: fail: any role for a stack
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = ["iam:PassRole", "cloudformation:CreateStack"]
      Resource = "*"
    }]
  })
}

#### iam_privilege_escalation: fail: any role for a job
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = ["iam:PassRole", "glue:*"]
      Resource = "*"
    }]
  })
}

#### iam_privilege_escalation: fail: any role for a task
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = ["iam:PassRole", "ecs:RegisterTaskDefinition", "ecs:RunTask"]
      Resource = "*"
    }]
  })
}

#### iam_privilege_escalation: fail: any role, named as the service that gets it
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Action    = "iam:PassRole"
      Resource  = "*"
      Condition = { StringEquals = { "iam:PassedToService" = "ec2.amazonaws.com" } }
      }, {
      Effect   = "Allow"
      Action   = "ec2:RunInstances"
      Resource = "*"
    }]
  })
}

#### iam_privilege_escalation: fail: inline policy of a user
resource "aws_iam_user_policy" "p" {
  user = "u"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "iam:AddUserToGroup"
      Resource = "*"
    }]
  })
}

#### iam_privilege_escalation: fail: by a local
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = local.actions
      Resource = "*"
    }]
  })
}
locals {
  actions = ["s3:GetObject", "iam:PutUserPolicy"]
}

#### iam_privilege_escalation: fail: by the default of a variable
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = var.actions
      Resource = "*"
    }]
  })
}
variable "actions" {
  default = ["iam:PutUserPolicy"]
}

#### iam_privilege_escalation: fail: an escape
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Effect = "Allow", Action = "iam:\u002a", Resource = "\u002a" }]
  })
}

#### iam_privilege_escalation: fail: a heredoc
resource "aws_iam_role_policy" "p" {
  role   = "r"
  policy = <<EOF
{"Statement": {"Effect": "Allow", "Action": ["iam:CreateLoginProfile"], "Resource": ["*"]}}
EOF
}

#### iam_privilege_escalation: fail: an inline policy of a role
resource "aws_iam_role" "r" {
  assume_role_policy = jsonencode({ Version = "2012-10-17", Statement = [] })
  inline_policy {
    name   = "p"
    policy = jsonencode({ Statement = [{ Effect = "Allow", Action = "iam:PutRolePolicy", Resource = "*" }] })
  }
}

#### iam_privilege_escalation: fail: a document with a dynamic statement
data "aws_iam_policy_document" "d" {
  dynamic "statement" {
    for_each = ["iam:AttachUserPolicy"]
    content {
      actions   = [statement.value]
      resources = ["*"]
    }
  }
}
resource "aws_iam_policy" "p" {
  policy = data.aws_iam_policy_document.d.json
}

#### iam_privilege_escalation: fail: a document of documents
data "aws_iam_policy_document" "s" {
  statement {
    actions   = ["iam:PutGroupPolicy"]
    resources = ["*"]
  }
}
data "aws_iam_policy_document" "d" {
  source_policy_documents = [data.aws_iam_policy_document.s.json]
}
resource "aws_iam_policy" "p" {
  policy = data.aws_iam_policy_document.d.json
}

#### iam_privilege_escalation: fail: one of several
resource "aws_iam_policy" "p" {
  for_each = { read = "s3:GetObject", write = "iam:CreatePolicyVersion" }
  name     = each.key
  policy = jsonencode({
    Statement = [{ Effect = "Allow", Action = each.value, Resource = "*" }]
  })
}

#### iam_privilege_escalation: fail: a managed policy over IAM
resource "aws_iam_user_policy_attachment" "a" {
  user       = "u"
  policy_arn = "arn:aws:iam::aws:policy/IAMFullAccess"
}

#### iam_privilege_escalation: fail: JSON syntax
{
  "resource": {
    "aws_iam_policy": {
      "p": {
        "policy": "{\"Statement\": [{\"Effect\": \"Allow\", \"Action\": \"iam:PutUserPolicy\", \"Resource\": \"*\"}]}"
      }
    }
  }
}

#### iam_privilege_escalation: unknown: actions by a variable
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = var.actions
      Resource = "*"
    }]
  })
}
variable "actions" {}

#### iam_privilege_escalation: unknown: resources by a variable
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "iam:PutUserPolicy"
      Resource = var.user
    }]
  })
}
variable "user" {}

#### iam_privilege_escalation: unknown: an effect by a variable
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = var.effect
      Action   = "iam:PutUserPolicy"
      Resource = "*"
    }]
  })
}
variable "effect" {}

#### iam_privilege_escalation: unknown: a policy by a variable
variable "policy" {}
resource "aws_iam_policy" "p" {
  policy = var.policy
}

#### iam_privilege_escalation: na: a policy never created
resource "aws_iam_policy" "p" {
  count  = 0
  policy = jsonencode({ Statement = [{ Effect = "Allow", Action = "iam:*", Resource = "*" }] })
}

#### iam_passrole_wildcard: pass: one role
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "iam:PassRole"
      Resource = "arn:aws:iam::111122223333:role/app"
    }]
  })
}

#### iam_passrole_wildcard: pass: roles of the configuration
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = ["iam:PassRole"]
      Resource = [aws_iam_role.r.arn]
    }]
  })
}
resource "aws_iam_role" "r" {
  assume_role_policy = jsonencode({ Version = "2012-10-17", Statement = [] })
}

#### iam_passrole_wildcard: pass: roles below a path
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "iam:PassRole"
      Resource = "arn:aws:iam::111122223333:role/service-role/*"
    }]
  })
}

#### iam_passrole_wildcard: pass: roles with a prefix
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "iam:PassRole"
      Resource = "arn:aws:iam::*:role/app-*"
    }]
  })
}

#### iam_passrole_wildcard: pass: a pattern on one role
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "iam:*"
      Resource = "arn:aws:iam::111122223333:role/app"
    }]
  })
}

#### iam_passrole_wildcard: pass: one role by a variable with a default
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "iam:PassRole"
      Resource = var.role
    }]
  })
}
variable "role" {
  default = "arn:aws:iam::111122223333:role/app"
}

#### iam_passrole_wildcard: pass: a document
data "aws_iam_policy_document" "d" {
  statement {
    actions   = ["iam:PassRole"]
    resources = ["arn:aws:iam::111122223333:role/app"]
  }
}
resource "aws_iam_policy" "p" {
  policy = data.aws_iam_policy_document.d.json
}

#### iam_passrole_wildcard: pass: a heredoc
resource "aws_iam_user_policy" "p" {
  user   = "u"
  policy = <<EOF
{"Statement": [{"Effect": "Allow", "Action": "iam:PassRole", "Resource": "arn:aws:iam::111122223333:role/app"}]}
EOF
}

#### iam_passrole_wildcard: na: no role is passed
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = ["iam:GetRole", "s3:*"]
      Resource = "*"
    }]
  })
}

#### iam_passrole_wildcard: na: denied
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Deny"
      Action   = "iam:PassRole"
      Resource = "*"
    }]
  })
}

#### iam_passrole_wildcard: na: granted and denied
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "iam:*"
      Resource = "*"
      }, {
      Effect   = "Deny"
      Action   = "iam:PassRole"
      Resource = "*"
    }]
  })
}

#### iam_passrole_wildcard: fail: every role
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "iam:PassRole"
      Resource = "*"
    }]
  })
}

#### iam_passrole_wildcard: fail: in other letters
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "iam:passrole"
      Resource = "*"
    }]
  })
}

#### iam_passrole_wildcard: fail: a pattern
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "iam:Pass*"
      Resource = "*"
    }]
  })
}

#### iam_passrole_wildcard: fail: a pattern with question marks
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "iam:PassRol?"
      Resource = "*"
    }]
  })
}

#### iam_passrole_wildcard: fail: the whole of IAM
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = ["s3:GetObject", "iam:*"]
      Resource = "*"
    }]
  })
}

#### iam_passrole_wildcard: fail: everything
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "*"
      Resource = "*"
    }]
  })
}

#### iam_passrole_wildcard: fail: all but a service
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      NotAction = ["s3:*"]
      Resource  = "*"
    }]
  })
}

#### iam_passrole_wildcard: fail: all but one role
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect      = "Allow"
      Action      = "iam:PassRole"
      NotResource = "arn:aws:iam::111122223333:role/admin"
    }]
  })
}

#### iam_passrole_wildcard: fail: every role of any account
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "iam:PassRole"
      Resource = "arn:aws:iam::*:role/*"
    }]
  })
}

#### iam_passrole_wildcard: fail: every role of one account
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "iam:PassRole"
      Resource = "arn:aws:iam::111122223333:role/*"
    }]
  })
}

#### iam_passrole_wildcard: fail: everything of IAM in one account
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "iam:PassRole"
      Resource = ["arn:aws:iam::${data.aws_caller_identity.me.account_id}:*"]
    }]
  })
}
data "aws_caller_identity" "me" {}

#### iam_passrole_wildcard: fail: one role and every role
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "iam:PassRole"
      Resource = ["arn:aws:iam::111122223333:role/app", "*"]
    }]
  })
}

#### iam_passrole_wildcard: fail: to one service
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Action    = "iam:PassRole"
      Resource  = "*"
      Condition = { StringEquals = { "iam:PassedToService" = "lambda.amazonaws.com" } }
    }]
  })
}

#### iam_passrole_wildcard: fail: in a second statement
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "s3:GetObject"
      Resource = "arn:aws:s3:::data/*"
      }, {
      Effect   = "Allow"
      Action   = ["ec2:Describe*", "iam:PassRole"]
      Resource = "*"
    }]
  })
}

#### iam_passrole_wildcard: fail: with a local
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "iam:PassRole"
      Resource = local.any
    }]
  })
}
locals {
  any = join("", ["*"])
}

#### iam_passrole_wildcard: fail: a heredoc
resource "aws_iam_role_policy" "p" {
  role   = "r"
  policy = <<-EOF
    {
      "Statement": {
        "Effect": "Allow",
        "Action": "iam:PassRole",
        "Resource": "\u002a"
      }
    }
  EOF
}

#### iam_passrole_wildcard: fail: a document with dynamic statements
data "aws_iam_policy_document" "d" {
  dynamic "statement" {
    for_each = { app = "arn:aws:iam::111122223333:role/app", any = "*" }
    content {
      sid       = statement.key
      actions   = ["iam:PassRole"]
      resources = [statement.value]
    }
  }
}
resource "aws_iam_policy" "p" {
  policy = data.aws_iam_policy_document.d.json
}

#### iam_passrole_wildcard: fail: a document that is not attached
data "aws_iam_policy_document" "d" {
  statement {
    actions   = ["iam:PassRole"]
    resources = ["*"]
  }
}

#### iam_passrole_wildcard: fail: an inline policy of a role
resource "aws_iam_role" "r" {
  assume_role_policy = jsonencode({ Version = "2012-10-17", Statement = [] })
  inline_policy {
    name   = "p"
    policy = jsonencode({ Statement = [{ Effect = "Allow", Action = "iam:PassRole", Resource = "*" }] })
  }
}

#### iam_passrole_wildcard: fail: a permission set, in JSON syntax
{
  "resource": {
    "aws_ssoadmin_permission_set_inline_policy": {
      "p": {
        "instance_arn": "arn:aws:sso:::instance/ssoins-1",
        "permission_set_arn": "arn:aws:sso:::permissionSet/ssoins-1/ps-1",
        "inline_policy": "${jsonencode({ Statement = [{ Effect = \"Allow\", Action = \"iam:PassRole\", Resource = \"*\" }] })}"
      }
    }
  }
}

#### iam_passrole_wildcard: unknown: a role by a variable
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "iam:PassRole"
      Resource = var.role
    }]
  })
}
variable "role" {}

#### iam_passrole_wildcard: unknown: a part of an ARN by a variable
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "iam:PassRole"
      Resource = "arn:aws:iam::111122223333:role/${var.role}"
    }]
  })
}
variable "role" {}

#### iam_passrole_wildcard: unknown: actions by a variable
resource "aws_iam_policy" "p" {
  name = "p"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = var.actions
      Resource = "*"
    }]
  })
}
variable "actions" {}

#### iam_passrole_wildcard: na: a policy never created
resource "aws_iam_policy" "p" {
  for_each = {}
  policy   = jsonencode({ Statement = [{ Effect = "Allow", Action = "iam:PassRole", Resource = "*" }] })
}

#### iam_wildcard_principal: pass: trusts a service
resource "aws_iam_role" "r" {
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { Service = "lambda.amazonaws.com" }
      Action    = "sts:AssumeRole"
    }]
  })
}

#### iam_wildcard_principal: pass: trusts an account
resource "aws_iam_role" "r" {
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = "arn:aws:iam::111122223333:root" }
      Action    = "sts:AssumeRole"
    }]
  })
}

#### iam_wildcard_principal: pass: trusts a provider of identities
resource "aws_iam_role" "r" {
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { Federated = aws_iam_openid_connect_provider.p.arn }
      Action    = "sts:AssumeRoleWithWebIdentity"
    }]
  })
}
resource "aws_iam_openid_connect_provider" "p" {
  url            = "https://token.actions.githubusercontent.com"
  client_id_list = ["sts.amazonaws.com"]
}

#### iam_wildcard_principal: pass: trusts the workflows of a repository
resource "aws_iam_role" "r" {
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { Federated = "arn:aws:iam::111122223333:oidc-provider/token.actions.githubusercontent.com" }
      Action    = "sts:AssumeRoleWithWebIdentity"
      Condition = { StringEquals = { "token.actions.githubusercontent.com:aud" = "sts.amazonaws.com", "token.actions.githubusercontent.com:sub" = "repo:acme/app:ref:refs/heads/main" } }
    }]
  })
}

#### iam_wildcard_principal: pass: trusts the workflows of an owner
resource "aws_iam_role" "r" {
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { Federated = "arn:aws:iam::111122223333:oidc-provider/token.actions.githubusercontent.com" }
      Action    = "sts:AssumeRoleWithWebIdentity"
      Condition = { StringLike = { "token.actions.githubusercontent.com:sub" = ["repo:acme/*"] } }
    }]
  })
}

#### iam_wildcard_principal: pass: trusts the users of an identity pool
resource "aws_iam_role" "r" {
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { Federated = "cognito-identity.amazonaws.com" }
      Action    = "sts:AssumeRoleWithWebIdentity"
      Condition = { StringEquals = { "cognito-identity.amazonaws.com:aud" = "eu-west-1:1234" }, "ForAnyValue:StringLike" = { "cognito-identity.amazonaws.com:amr" = "authenticated" } }
    }]
  })
}

#### iam_wildcard_principal: pass: trusts the users of an identity pool of the configuration
resource "aws_iam_role" "r" {
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { Federated = "cognito-identity.amazonaws.com" }
      Action    = "sts:AssumeRoleWithWebIdentity"
      Condition = { StringEquals = { "cognito-identity.amazonaws.com:aud" = aws_cognito_identity_pool.p.id } }
    }]
  })
}
resource "aws_cognito_identity_pool" "p" {
  identity_pool_name = "p"
}

#### iam_wildcard_principal: pass: trusts a directory
resource "aws_iam_role" "r" {
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { Federated = "arn:aws:iam::111122223333:saml-provider/corp" }
      Action    = "sts:AssumeRoleWithSAML"
      Condition = { StringEquals = { "SAML:aud" = "https://signin.aws.amazon.com/saml" } }
    }]
  })
}

#### iam_wildcard_principal: fail: trusts every workflow there is
resource "aws_iam_role" "r" {
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { Federated = "arn:aws:iam::111122223333:oidc-provider/token.actions.githubusercontent.com" }
      Action    = "sts:AssumeRoleWithWebIdentity"
    }]
  })
}

#### iam_wildcard_principal: fail: trusts every workflow for an audience
resource "aws_iam_role" "r" {
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { Federated = "arn:aws:iam::111122223333:oidc-provider/token.actions.githubusercontent.com" }
      Action    = "sts:AssumeRoleWithWebIdentity"
      Condition = { StringEquals = { "token.actions.githubusercontent.com:aud" = "sts.amazonaws.com" } }
    }]
  })
}

#### iam_wildcard_principal: fail: trusts every workflow by a pattern
resource "aws_iam_role" "r" {
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { Federated = "arn:aws:iam::111122223333:oidc-provider/token.actions.githubusercontent.com" }
      Action    = "sts:AssumeRoleWithWebIdentity"
      Condition = { StringLike = { "token.actions.githubusercontent.com:sub" = "repo:*" } }
    }]
  })
}

#### iam_wildcard_principal: fail: trusts every owner whose name begins alike
resource "aws_iam_role" "r" {
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { Federated = "arn:aws:iam::111122223333:oidc-provider/token.actions.githubusercontent.com" }
      Action    = "sts:AssumeRoleWithWebIdentity"
      Condition = { StringLike = { "token.actions.githubusercontent.com:sub" = "repo:acme*" } }
    }]
  })
}

#### iam_wildcard_principal: fail: trusts every workflow, of a provider of the configuration
resource "aws_iam_role" "r" {
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { Federated = aws_iam_openid_connect_provider.p.arn }
      Action    = "sts:AssumeRoleWithWebIdentity"
      Condition = { StringEquals = { "token.actions.githubusercontent.com:aud" = "sts.amazonaws.com" } }
    }]
  })
}
resource "aws_iam_openid_connect_provider" "p" {
  url            = "https://token.actions.githubusercontent.com"
  client_id_list = ["sts.amazonaws.com"]
}

#### iam_wildcard_principal: unknown: trusts the workflows of a variable
resource "aws_iam_role" "r" {
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { Federated = "arn:aws:iam::111122223333:oidc-provider/token.actions.githubusercontent.com" }
      Action    = "sts:AssumeRoleWithWebIdentity"
      Condition = { StringLike = { "token.actions.githubusercontent.com:sub" = var.subject } }
    }]
  })
}
variable "subject" {}

#### iam_wildcard_principal: pass: trusts an organisation
resource "aws_iam_role" "r" {
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "sts:AssumeRole"
      Condition = { StringEquals = { "aws:PrincipalOrgID" = "o-a1b2c3d4e5" } }
    }]
  })
}

#### iam_wildcard_principal: pass: trusts the roles of an account
resource "aws_iam_role" "r" {
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = "*" }
      Action    = "sts:AssumeRole"
      Condition = { ArnLike = { "aws:PrincipalArn" = "arn:aws:iam::111122223333:role/ci-*" } }
    }]
  })
}

#### iam_wildcard_principal: pass: trusts a service of a region by a variable
resource "aws_iam_role" "r" {
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { Service = "logs.${var.region}.amazonaws.com" }
      Action    = "sts:AssumeRole"
    }]
  })
}
variable "region" {}

#### iam_wildcard_principal: pass: trusts a provider by a variable, with a subject
resource "aws_iam_role" "r" {
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { Federated = "arn:aws:iam::111122223333:oidc-provider/${var.issuer}" }
      Action    = "sts:AssumeRoleWithWebIdentity"
      Condition = { StringEquals = { "${var.issuer}:sub" = "system:serviceaccount:app:app" } }
    }]
  })
}
variable "issuer" {}

#### iam_wildcard_principal: pass: trusts a service by a variable
resource "aws_iam_role" "r" {
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { Service = var.service }
      Action    = "sts:AssumeRole"
    }]
  })
}
variable "service" {}

#### iam_wildcard_principal: fail: trusts everyone
resource "aws_iam_role" "r" {
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "sts:AssumeRole"
    }]
  })
}

#### iam_wildcard_principal: fail: trusts everyone, as AWS
resource "aws_iam_role" "r" {
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = "*" }
      Action    = "sts:AssumeRole"
    }]
  })
}

#### iam_wildcard_principal: fail: trusts every account
resource "aws_iam_role" "r" {
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = "arn:aws:iam::*:root" }
      Action    = "sts:AssumeRole"
    }]
  })
}

#### iam_wildcard_principal: fail: trusts everyone beside a service
resource "aws_iam_role" "r" {
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { Service = "ec2.amazonaws.com", AWS = ["*"] }
      Action    = "sts:AssumeRole"
    }]
  })
}

#### iam_wildcard_principal: fail: trusts everyone with an external id
resource "aws_iam_role" "r" {
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = "*" }
      Action    = "sts:AssumeRole"
      Condition = { StringEquals = { "sts:ExternalId" = "acme" } }
    }]
  })
}

#### iam_wildcard_principal: fail: trusts everyone with a second factor
resource "aws_iam_role" "r" {
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = "*" }
      Action    = "sts:AssumeRole"
      Condition = { Bool = { "aws:MultiFactorAuthPresent" = "true" } }
    }]
  })
}

#### iam_wildcard_principal: fail: trusts all but one
resource "aws_iam_role" "r" {
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect       = "Allow"
      NotPrincipal = { AWS = "arn:aws:iam::111122223333:user/mallory" }
      Action       = "sts:AssumeRole"
    }]
  })
}

#### iam_wildcard_principal: fail: trusts everyone by a local
resource "aws_iam_role" "r" {
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = local.trusted
      Action    = "sts:AssumeRole"
    }]
  })
}
locals {
  trusted = { AWS = ["*"] }
}

#### iam_wildcard_principal: unknown: trusts a variable
resource "aws_iam_role" "r" {
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = var.who }
      Action    = "sts:AssumeRole"
    }]
  })
}
variable "who" {}

#### iam_wildcard_principal: pass: a topic for a service
resource "aws_sns_topic_policy" "p" {
  arn = "arn:aws:sns:eu-west-1:111122223333:t"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { Service = "s3.amazonaws.com" }
      Action    = "sns:Publish"
      Resource  = "*"
    }]
  })
}

#### iam_wildcard_principal: pass: a topic for its account, the form of the default policy
resource "aws_sns_topic_policy" "p" {
  arn = "arn:aws:sns:eu-west-1:111122223333:t"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = "*" }
      Action    = "sns:Publish"
      Resource  = "*"
      Condition = { StringEquals = { "AWS:SourceOwner" = data.aws_caller_identity.me.account_id } }
    }]
  })
}
data "aws_caller_identity" "me" {}

#### iam_wildcard_principal: pass: a queue for a topic of the configuration
resource "aws_sqs_queue_policy" "p" {
  queue_url = "https://sqs.eu-west-1.amazonaws.com/111122223333/q"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "sqs:SendMessage"
      Resource  = "*"
      Condition = { ArnEquals = { "aws:SourceArn" = aws_sns_topic.t.arn } }
    }]
  })
}
resource "aws_sns_topic" "t" {
  name = "t"
}

#### iam_wildcard_principal: pass: a queue for the rules of an account
resource "aws_sqs_queue_policy" "p" {
  queue_url = "https://sqs.eu-west-1.amazonaws.com/111122223333/q"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "sqs:SendMessage"
      Resource  = "*"
      Condition = { ArnLike = { "aws:SourceArn" = "arn:aws:events:*:111122223333:rule/*" } }
    }]
  })
}

#### iam_wildcard_principal: pass: a file system through its mount targets
resource "aws_efs_file_system_policy" "p" {
  file_system_id = "fs-1"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = "*" }
      Action    = "elasticfilesystem:ClientMount"
      Resource  = "*"
      Condition = { Bool = { "elasticfilesystem:AccessedViaMountTarget" = "true" } }
    }]
  })
}

#### iam_wildcard_principal: pass: a key for a service and callers of the account
resource "aws_kms_key" "p" {
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = "*" }
      Action    = "kms:Decrypt"
      Resource  = "*"
      Condition = { StringEquals = { "kms:CallerAccount" = "111122223333", "kms:ViaService" = "s3.eu-west-1.amazonaws.com" } }
    }]
  })
}

#### iam_wildcard_principal: na: the policy of a VPC endpoint
resource "aws_vpc_endpoint" "p" {
  vpc_id       = "vpc-1"
  service_name = "com.amazonaws.eu-west-1.s3"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "*"
      Resource  = "*"
    }]
  })
}

#### iam_wildcard_principal: na: a bucket policy
resource "aws_s3_bucket_policy" "p" {
  bucket = "data"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "s3:GetObject"
      Resource  = "*"
    }]
  })
}

#### iam_wildcard_principal: na: a principal where none may be
resource "aws_iam_policy" "p" {
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "sns:Publish"
      Resource  = "*"
    }]
  })
}

#### iam_wildcard_principal: fail: a topic for everyone
resource "aws_sns_topic_policy" "p" {
  arn = "arn:aws:sns:eu-west-1:111122223333:t"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "sns:Publish"
      Resource  = "*"
    }]
  })
}

#### iam_wildcard_principal: fail: a topic for every topic
resource "aws_sns_topic_policy" "p" {
  arn = "arn:aws:sns:eu-west-1:111122223333:t"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = "*" }
      Action    = "sns:Publish"
      Resource  = "*"
      Condition = { ArnLike = { "aws:SourceArn" = "arn:aws:s3:*:*:*" } }
    }]
  })
}

#### iam_wildcard_principal: fail: a topic, inline
resource "aws_sns_topic" "p" {
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = ["*"] }
      Action    = "sns:Publish"
      Resource  = "*"
    }]
  })
}

#### iam_wildcard_principal: fail: a queue for everyone over TLS
resource "aws_sqs_queue_policy" "p" {
  queue_url = "https://sqs.eu-west-1.amazonaws.com/111122223333/q"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "sqs:*"
      Resource  = "*"
      Condition = { Bool = { "aws:SecureTransport" = "true" } }
    }]
  })
}

#### iam_wildcard_principal: fail: a queue, inline
resource "aws_sqs_queue" "p" {
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "sqs:SendMessage"
      Resource  = "*"
    }]
  })
}

#### iam_wildcard_principal: fail: a repository
resource "aws_ecr_repository_policy" "p" {
  repository = "r"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "ecr:BatchGetImage"
      Resource  = "*"
    }]
  })
}

#### iam_wildcard_principal: fail: a secret
resource "aws_secretsmanager_secret_policy" "p" {
  secret_arn = "arn:aws:secretsmanager:eu-west-1:111122223333:secret:s"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = "*" }
      Action    = "secretsmanager:GetSecretValue"
      Resource  = "*"
    }]
  })
}

#### iam_wildcard_principal: fail: a key
resource "aws_kms_key" "p" {
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = "*" }
      Action    = "kms:*"
      Resource  = "*"
    }]
  })
}

#### iam_wildcard_principal: fail: a vault
resource "aws_backup_vault_policy" "p" {
  backup_vault_name = "v"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = "*" }
      Action    = "backup:CopyIntoBackupVault"
      Resource  = "*"
    }]
  })
}

#### iam_wildcard_principal: fail: a stream
resource "aws_kinesis_resource_policy" "p" {
  resource_arn = "arn:aws:kinesis:eu-west-1:111122223333:stream/s"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "kinesis:GetRecords"
      Resource  = "*"
    }]
  })
}

#### iam_wildcard_principal: fail: an API but for addresses
resource "aws_api_gateway_rest_api_policy" "p" {
  rest_api_id = "a"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "execute-api:Invoke"
      Resource  = "*"
      Condition = { NotIpAddress = { "aws:SourceIp" = "203.0.113.0/24" } }
    }]
  })
}

#### iam_wildcard_principal: pass: an API, denied but from an office
resource "aws_api_gateway_rest_api" "a" {
  name = "a"
  policy = jsonencode({
    Statement = [
      { Effect = "Allow", Principal = "*", Action = "execute-api:Invoke", Resource = "execute-api:/*" },
      {
        Effect    = "Deny"
        Principal = "*"
        Action    = "execute-api:Invoke"
        Resource  = "execute-api:/*"
        Condition = { NotIpAddress = { "aws:SourceIp" = ["203.0.113.0/24"] } }
      },
    ]
  })
}

#### iam_wildcard_principal: pass: a function for a service
resource "aws_lambda_permission" "p" {
  action        = "lambda:InvokeFunction"
  function_name = "f"
  principal     = "events.amazonaws.com"
}

#### iam_wildcard_principal: pass: a function for everyone of an organisation
resource "aws_lambda_permission" "p" {
  action           = "lambda:InvokeFunction"
  function_name    = "f"
  principal        = "*"
  principal_org_id = "o-a1b2c3d4e5"
}

#### iam_wildcard_principal: pass: a function for an API of the configuration
resource "aws_lambda_permission" "p" {
  action        = "lambda:InvokeFunction"
  function_name = "f"
  principal     = "*"
  source_arn    = "${aws_api_gateway_rest_api.a.execution_arn}/*/*"
}
resource "aws_api_gateway_rest_api" "a" {
  name = "a"
}

#### iam_wildcard_principal: fail: a function for everyone
resource "aws_lambda_permission" "p" {
  action        = "lambda:InvokeFunction"
  function_name = "f"
  principal     = "*"
}

#### iam_wildcard_principal: fail: a function for everyone by any API
resource "aws_lambda_permission" "p" {
  action        = "lambda:InvokeFunction"
  function_name = "f"
  principal     = "*"
  source_arn    = "arn:aws:execute-api:*:*:*"
}

#### iam_wildcard_principal: fail: a function by its URL
resource "aws_lambda_permission" "p" {
  action                 = "lambda:InvokeFunctionUrl"
  function_name          = "f"
  principal              = "*"
  function_url_auth_type = "NONE"
}

#### iam_wildcard_principal: fail: a function for everyone, in JSON syntax
{
  "resource": {
    "aws_lambda_permission": {
      "p": {
        "action": "lambda:InvokeFunction",
        "function_name": "f",
        "principal": "*"
      }
    }
  }
}

#### iam_wildcard_principal: unknown: a function for a variable
resource "aws_lambda_permission" "p" {
  action        = "lambda:InvokeFunction"
  function_name = "f"
  principal     = var.who
}
variable "who" {}

#### iam_wildcard_principal: unknown: a function for everyone by a variable
resource "aws_lambda_permission" "p" {
  action        = "lambda:InvokeFunction"
  function_name = "f"
  principal     = "*"
  source_arn    = var.caller
}
variable "caller" {}

#### iam_wildcard_principal: fail: a layer
resource "aws_lambda_layer_version_permission" "p" {
  layer_name     = "l"
  version_number = 1
  statement_id   = "s"
  action         = "lambda:GetLayerVersion"
  principal      = "*"
}

#### iam_wildcard_principal: pass: a bus for everyone of an organisation
resource "aws_cloudwatch_event_permission" "p" {
  principal    = "*"
  statement_id = "s"
  condition {
    key   = "aws:PrincipalOrgID"
    type  = "StringEquals"
    value = aws_organizations_organization.o.id
  }
}
resource "aws_organizations_organization" "o" {}

#### iam_wildcard_principal: fail: a bus for everyone
resource "aws_cloudwatch_event_permission" "p" {
  principal    = "*"
  statement_id = "s"
}

#### iam_wildcard_principal: fail: a document that is not attached
data "aws_iam_policy_document" "d" {
  statement {
    actions   = ["sns:Publish"]
    resources = ["*"]
    principals {
      type        = "AWS"
      identifiers = ["*"]
    }
  }
}

#### iam_wildcard_principal: fail: a document on each of several topics
data "aws_iam_policy_document" "d" {
  statement {
    actions   = ["sns:Publish"]
    resources = ["*"]
    principals {
      type        = "AWS"
      identifiers = ["*"]
    }
  }
}
resource "aws_sns_topic_policy" "p" {
  count  = 2
  arn    = "arn:aws:sns:eu-west-1:111122223333:t${count.index}"
  policy = data.aws_iam_policy_document.d.json
}

#### iam_wildcard_principal: pass: a document with a condition from a dynamic block
data "aws_iam_policy_document" "d" {
  statement {
    actions   = ["sns:Publish"]
    resources = ["*"]
    principals {
      type        = "AWS"
      identifiers = ["*"]
    }
    dynamic "condition" {
      for_each = ["111122223333"]
      content {
        test     = "StringEquals"
        variable = "aws:SourceAccount"
        values   = [condition.value]
      }
    }
  }
}

#### iam_wildcard_principal: fail: a document with a condition over nothing
data "aws_iam_policy_document" "d" {
  statement {
    actions   = ["sns:Publish"]
    resources = ["*"]
    principals {
      type        = "AWS"
      identifiers = ["*"]
    }
    dynamic "condition" {
      for_each = []
      content {
        test     = "StringEquals"
        variable = "aws:SourceAccount"
        values   = [condition.value]
      }
    }
  }
}

#### iam_wildcard_principal: unknown: a document with a condition that may be
variable "accounts" {}
data "aws_iam_policy_document" "d" {
  statement {
    actions   = ["sns:Publish"]
    resources = ["*"]
    principals {
      type        = "AWS"
      identifiers = ["*"]
    }
    dynamic "condition" {
      for_each = var.accounts
      content {
        test     = "StringEquals"
        variable = "aws:SourceAccount"
        values   = [condition.value]
      }
    }
  }
}

#### iam_wildcard_principal: na: a topic policy never created
resource "aws_sns_topic_policy" "p" {
  count = 0
  arn   = "arn:aws:sns:eu-west-1:111122223333:t"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "sns:Publish"
      Resource  = "*"
    }]
  })
}

#### iam_wildcard_principal: pass: events of a bucket, in whatever account
resource "aws_sqs_queue_policy" "p" {
  queue_url = "https://sqs.eu-west-1.amazonaws.com/111122223333/q"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "sqs:SendMessage"
      Resource  = "*"
      Condition = { ArnLike = { "aws:SourceArn" = "arn:aws:s3:*:*:data" } }
    }]
  })
}

#### iam_wildcard_principal: fail: events of a topic, in whatever account
resource "aws_sqs_queue_policy" "p" {
  queue_url = "https://sqs.eu-west-1.amazonaws.com/111122223333/q"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "sqs:SendMessage"
      Resource  = "*"
      Condition = { ArnLike = { "aws:SourceArn" = "arn:aws:sns:*:*:data" } }
    }]
  })
}

#### iam_wildcard_principal: pass: a permission for the account that is looked up
data "aws_caller_identity" "me" {}
resource "aws_cloudwatch_event_permission" "p" {
  principal    = data.aws_caller_identity.me.account_id
  statement_id = "own"
}

#### iam_privilege_escalation: fail: a role for a state machine
resource "aws_iam_policy" "p" {
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = ["iam:PassRole", "states:CreateStateMachine", "states:StartExecution"]
      Resource = "*"
    }]
  })
}

#### iam_privilege_escalation: fail: policies of one's own user
data "aws_caller_identity" "me" {}
resource "aws_iam_policy" "p" {
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = "iam:*"
      Resource = "arn:aws:iam::${data.aws_caller_identity.me.account_id}:user/$${aws:username}"
    }]
  })
}

#### iam_privilege_escalation: fail: policies of one's own user, in a document
data "aws_iam_policy_document" "d" {
  statement {
    actions   = ["iam:PutUserPolicy"]
    resources = ["arn:aws:iam::*:user/&{aws:username}"]
  }
}

#### iam_privilege_escalation: pass: keys and passwords of one's own user
resource "aws_iam_policy" "p" {
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = ["iam:ChangePassword", "iam:CreateAccessKey", "iam:UpdateLoginProfile"]
      Resource = "arn:aws:iam::*:user/$${aws:username}"
    }]
  })
}
