#### cloudtrail_encrypted: pass: a key here
resource "aws_kms_key" "k" {
  enable_key_rotation = true
}
resource "aws_cloudtrail" "r" {
  name           = "t"
  s3_bucket_name = "trail"
  kms_key_id     = aws_kms_key.k.arn
}

#### cloudtrail_encrypted: pass: a literal
resource "aws_cloudtrail" "r" {
  name           = "t"
  s3_bucket_name = "trail"
  kms_key_id     = "arn:aws:kms:eu-west-1:111122223333:key/k"
}

#### cloudtrail_encrypted: pass: a looked-up key
data "aws_kms_alias" "k" {
  name = "alias/k"
}
resource "aws_cloudtrail" "r" {
  name           = "t"
  s3_bucket_name = "trail"
  kms_key_id     = data.aws_kms_alias.k.target_key_arn
}

#### cloudtrail_encrypted: pass: a template with an unknown piece
variable "account" {}
resource "aws_cloudtrail" "r" {
  name           = "t"
  s3_bucket_name = "trail"
  kms_key_id     = "arn:aws:kms:eu-west-1:${var.account}:key/k"
}

#### cloudtrail_encrypted: pass: a local
locals {
  key = "arn:aws:kms:eu-west-1:111122223333:key/k"
}
resource "aws_cloudtrail" "r" {
  name           = "t"
  s3_bucket_name = "trail"
  kms_key_id     = local.key
}

#### cloudtrail_encrypted: fail: absent
resource "aws_cloudtrail" "r" {
  name           = "t"
  s3_bucket_name = "trail"

}

#### cloudtrail_encrypted: fail: null
resource "aws_cloudtrail" "r" {
  name           = "t"
  s3_bucket_name = "trail"
  kms_key_id     = null
}

#### cloudtrail_encrypted: fail: blank
resource "aws_cloudtrail" "r" {
  name           = "t"
  s3_bucket_name = "trail"
  kms_key_id     = "  "
}

#### cloudtrail_encrypted: fail: a boolean for a key
resource "aws_cloudtrail" "r" {
  name           = "t"
  s3_bucket_name = "b"
  kms_key_id     = "true"
}

#### cloudtrail_encrypted: fail: empty
resource "aws_cloudtrail" "r" {
  name           = "t"
  s3_bucket_name = "trail"
  kms_key_id     = ""
}

#### cloudtrail_encrypted: fail: a variable's empty default
variable "v" {
  default = ""
}
resource "aws_cloudtrail" "r" {
  name           = "t"
  s3_bucket_name = "trail"
  kms_key_id     = var.v
}

#### cloudtrail_encrypted: fail: a key that nobody uses
resource "aws_kms_key" "k" {
  enable_key_rotation = true
}
resource "aws_cloudtrail" "r" {
  name           = "t"
  s3_bucket_name = "trail"

}

#### cloudtrail_encrypted: fail: one instance of two
resource "aws_cloudtrail" "r" {
  for_each       = { a = "arn:aws:kms:eu-west-1:111122223333:key/k", b = null }
  name           = "t"
  s3_bucket_name = "trail"
  kms_key_id     = each.value
}

#### cloudtrail_encrypted: unknown: handed in
variable "v" {}
resource "aws_cloudtrail" "r" {
  name           = "t"
  s3_bucket_name = "trail"
  kms_key_id     = var.v
}

#### cloudtrail_encrypted: unknown: a key or none
resource "aws_kms_key" "k" {
  enable_key_rotation = true
}
variable "v" {}
resource "aws_cloudtrail" "r" {
  name           = "t"
  s3_bucket_name = "trail"
  kms_key_id     = var.v ? aws_kms_key.k.arn : null
}

#### cloudtrail_encrypted: na: never created
resource "aws_cloudtrail" "r" {
  count          = 0
  name           = "t"
  s3_bucket_name = "trail"

}

#### cloudtrail_encrypted: fail: the key is that of the bucket
resource "aws_s3_bucket" "b" {
  bucket = "trail"
}
resource "aws_s3_bucket_server_side_encryption_configuration" "b" {
  bucket = aws_s3_bucket.b.id
  rule {
    apply_server_side_encryption_by_default {
      sse_algorithm     = "aws:kms"
      kms_master_key_id = "alias/k"
    }
  }
}
resource "aws_cloudtrail" "t" {
  name           = "t"
  s3_bucket_name = aws_s3_bucket.b.id
}

#### cloudtrail_multi_region: pass: true
resource "aws_cloudtrail" "r" {
  name                  = "t"
  s3_bucket_name        = "trail"
  is_multi_region_trail = true
}

#### cloudtrail_multi_region: pass: the string true
resource "aws_cloudtrail" "r" {
  name                  = "t"
  s3_bucket_name        = "trail"
  is_multi_region_trail = "true"
}

#### cloudtrail_multi_region: pass: a variable's default
variable "v" {
  default = true
}
resource "aws_cloudtrail" "r" {
  name                  = "t"
  s3_bucket_name        = "trail"
  is_multi_region_trail = var.v
}

#### cloudtrail_multi_region: pass: a negated local
locals {
  v = false
}
resource "aws_cloudtrail" "r" {
  name                  = "t"
  s3_bucket_name        = "trail"
  is_multi_region_trail = !local.v
}

#### cloudtrail_multi_region: fail: false
resource "aws_cloudtrail" "r" {
  name                  = "t"
  s3_bucket_name        = "trail"
  is_multi_region_trail = false
}

#### cloudtrail_multi_region: fail: the string 0
resource "aws_cloudtrail" "r" {
  name                  = "t"
  s3_bucket_name        = "trail"
  is_multi_region_trail = "0"
}

#### cloudtrail_multi_region: fail: one instance of two
resource "aws_cloudtrail" "r" {
  for_each              = { a = true, b = false }
  name                  = "t"
  s3_bucket_name        = "trail"
  is_multi_region_trail = each.value
}

#### cloudtrail_multi_region: fail: only may be created
variable "n" {}
resource "aws_cloudtrail" "r" {
  count                 = var.n
  name                  = "t"
  s3_bucket_name        = "trail"
  is_multi_region_trail = false
}

#### cloudtrail_multi_region: fail: in a comment
resource "aws_cloudtrail" "r" {
  name           = "t"
  s3_bucket_name = "trail"
  # is_multi_region_trail = true
}

#### cloudtrail_multi_region: fail: null
resource "aws_cloudtrail" "r" {
  name                  = "t"
  s3_bucket_name        = "trail"
  is_multi_region_trail = null
}

#### cloudtrail_multi_region: fail: among the tags
resource "aws_cloudtrail" "r" {
  name           = "t"
  s3_bucket_name = "trail"
  tags           = { is_multi_region_trail = true }
}

#### cloudtrail_multi_region: fail: absent
resource "aws_cloudtrail" "r" {
  name           = "t"
  s3_bucket_name = "trail"

}

#### cloudtrail_multi_region: unknown: handed in
variable "v" {}
resource "aws_cloudtrail" "r" {
  name                  = "t"
  s3_bucket_name        = "trail"
  is_multi_region_trail = var.v
}

#### cloudtrail_multi_region: unknown: good, and only may be created
variable "n" {}
resource "aws_cloudtrail" "r" {
  count                 = var.n
  name                  = "t"
  s3_bucket_name        = "trail"
  is_multi_region_trail = true
}

#### cloudtrail_multi_region: na: never created
resource "aws_cloudtrail" "r" {
  count                 = 0
  name                  = "t"
  s3_bucket_name        = "trail"
  is_multi_region_trail = false
}

#### cloudtrail_multi_region: fail: switched off
resource "aws_cloudtrail" "t" {
  name                  = "t"
  s3_bucket_name        = "trail"
  is_multi_region_trail = true
  enable_logging        = false
}

#### cloudtrail_multi_region: fail: global services alone
resource "aws_cloudtrail" "t" {
  name                          = "t"
  s3_bucket_name                = "trail"
  include_global_service_events = true
}

#### cloudtrail_multi_region: pass: of an organisation
resource "aws_cloudtrail" "t" {
  name                  = "t"
  s3_bucket_name        = "trail"
  is_organization_trail = true
  is_multi_region_trail = true
  enable_logging        = true
}

#### cloudtrail_log_validation: pass: true
resource "aws_cloudtrail" "r" {
  name                       = "t"
  s3_bucket_name             = "trail"
  enable_log_file_validation = true
}

#### cloudtrail_log_validation: pass: the string true
resource "aws_cloudtrail" "r" {
  name                       = "t"
  s3_bucket_name             = "trail"
  enable_log_file_validation = "true"
}

#### cloudtrail_log_validation: pass: a variable's default
variable "v" {
  default = true
}
resource "aws_cloudtrail" "r" {
  name                       = "t"
  s3_bucket_name             = "trail"
  enable_log_file_validation = var.v
}

#### cloudtrail_log_validation: pass: a negated local
locals {
  v = false
}
resource "aws_cloudtrail" "r" {
  name                       = "t"
  s3_bucket_name             = "trail"
  enable_log_file_validation = !local.v
}

#### cloudtrail_log_validation: fail: false
resource "aws_cloudtrail" "r" {
  name                       = "t"
  s3_bucket_name             = "trail"
  enable_log_file_validation = false
}

#### cloudtrail_log_validation: fail: the string 0
resource "aws_cloudtrail" "r" {
  name                       = "t"
  s3_bucket_name             = "trail"
  enable_log_file_validation = "0"
}

#### cloudtrail_log_validation: fail: one instance of two
resource "aws_cloudtrail" "r" {
  for_each                   = { a = true, b = false }
  name                       = "t"
  s3_bucket_name             = "trail"
  enable_log_file_validation = each.value
}

#### cloudtrail_log_validation: fail: only may be created
variable "n" {}
resource "aws_cloudtrail" "r" {
  count                      = var.n
  name                       = "t"
  s3_bucket_name             = "trail"
  enable_log_file_validation = false
}

#### cloudtrail_log_validation: fail: in a comment
resource "aws_cloudtrail" "r" {
  name           = "t"
  s3_bucket_name = "trail"
  # enable_log_file_validation = true
}

#### cloudtrail_log_validation: fail: null
resource "aws_cloudtrail" "r" {
  name                       = "t"
  s3_bucket_name             = "trail"
  enable_log_file_validation = null
}

#### cloudtrail_log_validation: fail: among the tags
resource "aws_cloudtrail" "r" {
  name           = "t"
  s3_bucket_name = "trail"
  tags           = { enable_log_file_validation = true }
}

#### cloudtrail_log_validation: fail: absent
resource "aws_cloudtrail" "r" {
  name           = "t"
  s3_bucket_name = "trail"

}

#### cloudtrail_log_validation: unknown: handed in
variable "v" {}
resource "aws_cloudtrail" "r" {
  name                       = "t"
  s3_bucket_name             = "trail"
  enable_log_file_validation = var.v
}

#### cloudtrail_log_validation: unknown: good, and only may be created
variable "n" {}
resource "aws_cloudtrail" "r" {
  count                      = var.n
  name                       = "t"
  s3_bucket_name             = "trail"
  enable_log_file_validation = true
}

#### cloudtrail_log_validation: na: never created
resource "aws_cloudtrail" "r" {
  count                      = 0
  name                       = "t"
  s3_bucket_name             = "trail"
  enable_log_file_validation = false
}

#### cloudtrail_encrypted: pass: JSON syntax
{
  "resource": {
    "aws_cloudtrail": {
      "r": {
        "name": "t",
        "s3_bucket_name": "trail",
        "kms_key_id": "${aws_kms_key.k.arn}"
      }
    }
  }
}

#### cloudtrail_encrypted: fail: JSON syntax
{
  "resource": {
    "aws_cloudtrail": {
      "r": {
        "name": "t",
        "s3_bucket_name": "trail",
        "kms_key_id": null
      }
    }
  }
}

#### cloudtrail_multi_region: pass: JSON syntax
{
  "resource": {
    "aws_cloudtrail": {
      "r": {
        "name": "t",
        "s3_bucket_name": "trail",
        "is_multi_region_trail": true
      }
    }
  }
}

#### cloudtrail_multi_region: fail: JSON syntax
{
  "resource": {
    "aws_cloudtrail": {
      "r": {
        "name": "t",
        "s3_bucket_name": "trail",
        "is_multi_region_trail": "${false}"
      }
    }
  }
}

#### cloudtrail_log_validation: pass: JSON syntax
{
  "resource": {
    "aws_cloudtrail": {
      "r": {
        "name": "t",
        "s3_bucket_name": "trail",
        "enable_log_file_validation": true
      }
    }
  }
}

#### cloudtrail_log_validation: fail: JSON syntax
{
  "resource": {
    "aws_cloudtrail": {
      "r": {
        "name": "t",
        "s3_bucket_name": "trail"
      }
    }
  }
}
