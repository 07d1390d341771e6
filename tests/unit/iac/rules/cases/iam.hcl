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
