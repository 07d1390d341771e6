#### s3_public_acl: pass: no ACL at all
resource "aws_s3_bucket" "b" {
  bucket = "data"
}

#### s3_public_acl: pass: a private ACL
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_acl" "c" {
  bucket = aws_s3_bucket.b.id
  acl    = "private"
}

#### s3_public_acl: pass: an ACL for log delivery
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_acl" "c" {
  bucket = aws_s3_bucket.b.id
  acl    = "log-delivery-write"
}

#### s3_public_acl: pass: a grant to log delivery
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_acl" "c" {
  bucket = aws_s3_bucket.b.id

  access_control_policy {
    owner {
      id = "abc"
    }
    grant {
      permission = "READ"
      grantee {
        type = "Group"
        uri  = "http://acs.amazonaws.com/groups/s3/LogDelivery"
      }
    }
  }

}

#### s3_public_acl: fail: public-read inline
resource "aws_s3_bucket" "b" {
  bucket = "data"
  acl    = "public-read"
}

#### s3_public_acl: fail: public-read-write
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_acl" "c" {
  bucket = aws_s3_bucket.b.id
  acl    = "public-read-write"
}

#### s3_public_acl: fail: everyone with an AWS account
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_acl" "c" {
  bucket = aws_s3_bucket.b.id
  acl    = "authenticated-read"
}

#### s3_public_acl: fail: in capitals and spaces
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_acl" "c" {
  bucket = aws_s3_bucket.b.id
  acl    = " PUBLIC-READ "
}

#### s3_public_acl: fail: a grant to AllUsers
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_acl" "c" {
  bucket = aws_s3_bucket.b.id

  access_control_policy {
    owner {
      id = "abc"
    }
    grant {
      permission = "READ"
      grantee {
        type = "Group"
        uri  = "http://acs.amazonaws.com/groups/global/AllUsers"
      }
    }
  }

}

#### s3_public_acl: fail: a grant to AuthenticatedUsers
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_acl" "c" {
  bucket = aws_s3_bucket.b.id

  access_control_policy {
    owner {
      id = "abc"
    }
    grant {
      permission = "READ"
      grantee {
        type = "Group"
        uri  = "http://acs.amazonaws.com/groups/global/AuthenticatedUsers"
      }
    }
  }

}

#### s3_public_acl: fail: an inline grant
resource "aws_s3_bucket" "b" {
  bucket = "data"

  grant {
    type        = "Group"
    permissions = ["READ_ACP"]
    uri         = "http://acs.amazonaws.com/groups/global/AllUsers"
  }

}

#### s3_public_acl: fail: for a bucket elsewhere
resource "aws_s3_bucket_acl" "c" {
  bucket = "elsewhere"
  acl    = "public-read"
}

#### s3_public_acl: fail: a ternary on a constant
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_acl" "c" {
  bucket = aws_s3_bucket.b.id
  acl    = 1 == 1 ? "public-read" : "private"
}

#### s3_public_acl: fail: a lookup
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_acl" "c" {
  bucket = aws_s3_bucket.b.id
  acl    = lookup({ web = "public-read" }, "web")
}

#### s3_public_acl: fail: only may be created
variable "n" {}
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_acl" "c" {
  bucket = aws_s3_bucket.b.id
  acl    = "public-read"
  count  = var.n
}

#### s3_public_acl: pass: never created
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_acl" "c" {
  bucket = aws_s3_bucket.b.id
  acl    = "public-read"
  count  = 0
}

#### s3_public_acl: unknown: a variable without default
variable "a" {}
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_acl" "c" {
  bucket = aws_s3_bucket.b.id
  acl    = var.a
}

#### s3_public_acl: fail: an object
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_object" "o" {
  bucket = aws_s3_bucket.b.id
  key    = "k"
  acl    = "public-read"
}

#### s3_block_public: pass: all four
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_public_access_block" "c" {
  bucket                  = aws_s3_bucket.b.id
  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

#### s3_block_public: pass: by the attribute bucket
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_public_access_block" "c" {
  bucket                  = aws_s3_bucket.b.bucket
  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

#### s3_block_public: pass: by literal name
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_public_access_block" "c" {
  bucket                  = "data"
  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

#### s3_block_public: pass: by a local
locals {
  id = aws_s3_bucket.b.id
}
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_public_access_block" "c" {
  bucket                  = local.id
  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

#### s3_block_public: pass: by a template
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_public_access_block" "c" {
  bucket                  = aws_s3_bucket.b.id
  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

#### s3_block_public: pass: through another companion
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_versioning" "v" {
  bucket = aws_s3_bucket.b.id

  versioning_configuration {
    status = "Enabled"
  }

}
resource "aws_s3_bucket_public_access_block" "c" {
  bucket                  = aws_s3_bucket_versioning.v.bucket
  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

#### s3_block_public: pass: strings for booleans
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_public_access_block" "c" {
  bucket                  = aws_s3_bucket.b.id
  block_public_acls       = "true"
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

#### s3_block_public: pass: account-wide
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_account_public_access_block" "a" {
  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

#### s3_block_public: pass: half here, half account-wide
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_public_access_block" "c" {
  bucket                  = aws_s3_bucket.b.id
  block_public_acls       = false
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}
resource "aws_s3_account_public_access_block" "a" {
  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

#### s3_block_public: pass: count = 1
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_public_access_block" "c" {
  bucket                  = aws_s3_bucket.b.id
  count                   = 1
  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

#### s3_block_public: pass: each bucket with its own
resource "aws_s3_bucket" "b" {
  for_each = toset(["x", "y"])
  bucket   = each.key
}
resource "aws_s3_bucket_public_access_block" "c" {
  bucket                  = aws_s3_bucket.b[each.key].id
  for_each                = toset(["x", "y"])
  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

#### s3_block_public: pass: chained by for_each
resource "aws_s3_bucket" "b" {
  for_each = toset(["x", "y"])
  bucket   = each.key
}
resource "aws_s3_bucket_public_access_block" "c" {
  bucket                  = each.value.id
  for_each                = aws_s3_bucket.b
  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

#### s3_block_public: fail: one of two instances
resource "aws_s3_bucket" "b" {
  for_each = toset(["x", "y"])
  bucket   = each.key
}
resource "aws_s3_bucket_public_access_block" "c" {
  bucket                  = aws_s3_bucket.b["x"].id
  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

#### s3_block_public: fail: none
resource "aws_s3_bucket" "b" {
  bucket = "data"
}

#### s3_block_public: fail: one setting off
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_public_access_block" "c" {
  bucket                  = aws_s3_bucket.b.id
  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = false
}

#### s3_block_public: fail: one setting absent
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_public_access_block" "c" {
  bucket              = aws_s3_bucket.b.id
  block_public_acls   = true
  block_public_policy = true
}

#### s3_block_public: fail: of another bucket
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket" "other" {
  bucket = "other"
}
resource "aws_s3_bucket_public_access_block" "c" {
  bucket                  = aws_s3_bucket.other.id
  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

#### s3_block_public: fail: by another's literal name
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_public_access_block" "c" {
  bucket                  = "other"
  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

#### s3_block_public: fail: in a comment
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
/*
resource "aws_s3_bucket_public_access_block" "c" {
  bucket = aws_s3_bucket.b.id
  block_public_acls = true
  block_public_policy = true
  ignore_public_acls = true
  restrict_public_buckets = true
}
*/

#### s3_block_public: fail: in a heredoc
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
locals {
  t = <<EOT
resource "aws_s3_bucket_public_access_block" "c" {
  bucket = aws_s3_bucket.b.id
  block_public_acls = true
  block_public_policy = true
  ignore_public_acls = true
  restrict_public_buckets = true
}
EOT
}

#### s3_block_public: fail: never created
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_public_access_block" "c" {
  bucket                  = aws_s3_bucket.b.id
  count                   = 0
  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

#### s3_block_public: fail: for_each of nothing
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_public_access_block" "c" {
  bucket                  = aws_s3_bucket.b.id
  for_each                = {}
  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

#### s3_block_public: fail: account-wide, never created
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_account_public_access_block" "a" {
  count                   = 0
  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

#### s3_block_public: fail: a data source in its place
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
data "aws_s3_bucket" "c" {
  bucket = "data"
}

#### s3_block_public: fail: two that disagree
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_public_access_block" "c" {
  bucket                  = aws_s3_bucket.b.id
  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}
resource "aws_s3_bucket_public_access_block" "d" {
  bucket                  = aws_s3_bucket.b.id
  block_public_acls       = false
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

#### s3_block_public: unknown: may be created
variable "n" {}
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_public_access_block" "c" {
  bucket                  = aws_s3_bucket.b.id
  count                   = var.n
  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

#### s3_block_public: unknown: may be its bucket
variable "n" {}
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_public_access_block" "c" {
  bucket                  = var.n
  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

#### s3_block_public: unknown: a setting unknown
variable "n" {}
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_public_access_block" "c" {
  bucket                  = aws_s3_bucket.b.id
  block_public_acls       = var.n
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

#### s3_encryption: pass: AES256
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_server_side_encryption_configuration" "c" {
  bucket = aws_s3_bucket.b.id

  rule {
    apply_server_side_encryption_by_default {
      sse_algorithm = "AES256"
    }
  }

}

#### s3_encryption: pass: KMS
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_server_side_encryption_configuration" "c" {
  bucket = aws_s3_bucket.b.id

  rule {
    apply_server_side_encryption_by_default {
      sse_algorithm = "aws:kms"
    }
  }

}

#### s3_encryption: pass: inline
resource "aws_s3_bucket" "b" {
  bucket = "data"
  server_side_encryption_configuration {
    rule {
      apply_server_side_encryption_by_default {
        sse_algorithm = "aws:kms"
      }
    }
  }
}

#### s3_encryption: pass: by a variable's default
variable "a" {
  default = "aws:kms"
}
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_server_side_encryption_configuration" "c" {
  bucket = aws_s3_bucket.b.id

  rule {
    apply_server_side_encryption_by_default {
      sse_algorithm = var.a
    }
  }

}

#### s3_encryption: pass: a dynamic rule
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_server_side_encryption_configuration" "c" {
  bucket = aws_s3_bucket.b.id

  dynamic "rule" {
    for_each = ["aws:kms"]
    content {
      apply_server_side_encryption_by_default {
        sse_algorithm = rule.value
      }
    }
  }

}

#### s3_encryption: fail: none
resource "aws_s3_bucket" "b" {
  bucket = "data"
}

#### s3_encryption: fail: an unheard-of algorithm
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_server_side_encryption_configuration" "c" {
  bucket = aws_s3_bucket.b.id

  rule {
    apply_server_side_encryption_by_default {
      sse_algorithm = "ROT13"
    }
  }

}

#### s3_encryption: fail: an empty rule
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_server_side_encryption_configuration" "c" {
  bucket = aws_s3_bucket.b.id
  rule {
    bucket_key_enabled = true
  }
}

#### s3_encryption: fail: on an object
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_object" "o" {
  bucket                 = aws_s3_bucket.b.id
  key                    = "k"
  server_side_encryption = "aws:kms"
}

#### s3_encryption: fail: of another bucket
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket" "other" {
  bucket = "other"
}
resource "aws_s3_bucket_server_side_encryption_configuration" "c" {
  bucket = aws_s3_bucket.other.id

  rule {
    apply_server_side_encryption_by_default {
      sse_algorithm = "aws:kms"
    }
  }

}

#### s3_encryption: fail: a dynamic rule over nothing
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_server_side_encryption_configuration" "c" {
  bucket = aws_s3_bucket.b.id

  dynamic "rule" {
    for_each = []
    content {
      apply_server_side_encryption_by_default {
        sse_algorithm = "aws:kms"
      }
    }
  }

}

#### s3_encryption: unknown: unknown
variable "a" {}
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_server_side_encryption_configuration" "c" {
  bucket = aws_s3_bucket.b.id

  rule {
    apply_server_side_encryption_by_default {
      sse_algorithm = var.a
    }
  }

}

#### s3_versioning: pass: enabled
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_versioning" "c" {
  bucket = aws_s3_bucket.b.id

  versioning_configuration {
    status = "Enabled"
  }

}

#### s3_versioning: pass: inline
resource "aws_s3_bucket" "b" {
  bucket = "data"
  versioning {
    enabled = true
  }
}

#### s3_versioning: pass: inline, a string
resource "aws_s3_bucket" "b" {
  bucket = "data"
  versioning {
    enabled = "true"
  }
}

#### s3_versioning: fail: none
resource "aws_s3_bucket" "b" {
  bucket = "data"
}

#### s3_versioning: fail: suspended
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_versioning" "c" {
  bucket = aws_s3_bucket.b.id

  versioning_configuration {
    status = "Suspended"
  }

}

#### s3_versioning: fail: disabled
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_versioning" "c" {
  bucket = aws_s3_bucket.b.id

  versioning_configuration {
    status = "Disabled"
  }

}

#### s3_versioning: fail: inline, false
resource "aws_s3_bucket" "b" {
  bucket = "data"
  versioning {
    enabled = false
  }
}

#### s3_versioning: fail: mfa_delete alone
resource "aws_s3_bucket" "b" {
  bucket = "data"
  versioning {
    mfa_delete = true
  }
}

#### s3_versioning: unknown: unknown
variable "s" {}
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_versioning" "c" {
  bucket = aws_s3_bucket.b.id

  versioning_configuration {
    status = var.s
  }

}

#### s3_versioning: unknown: a bucket that only may be
variable "n" {}
resource "aws_s3_bucket" "b" {
  bucket = "data"
  count  = var.n
  versioning {
    enabled = true
  }
}

#### s3_versioning: na: no bucket
resource "aws_sns_topic" "t" {
  name = "t"
}

#### s3_versioning: na: a bucket never created
resource "aws_s3_bucket" "b" {
  bucket = "data"
  count  = 0
}

#### s3_lifecycle: pass: expires
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_lifecycle_configuration" "c" {
  bucket = aws_s3_bucket.b.id

  rule {
    id     = "r"
    status = "Enabled"
    expiration {
      days = 30
    }
  }

}

#### s3_lifecycle: pass: inline
resource "aws_s3_bucket" "b" {
  bucket = "data"
  lifecycle_rule {
    enabled = true
    expiration {
      days = 1
    }
  }
}

#### s3_lifecycle: pass: inline, aborts uploads
resource "aws_s3_bucket" "b" {
  bucket = "data"
  lifecycle_rule {
    enabled                                = true
    abort_incomplete_multipart_upload_days = 7
  }
}

#### s3_lifecycle: fail: none
resource "aws_s3_bucket" "b" {
  bucket = "data"
}

#### s3_lifecycle: fail: disabled
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_lifecycle_configuration" "c" {
  bucket = aws_s3_bucket.b.id

  rule {
    id     = "r"
    status = "Disabled"
    expiration {
      days = 30
    }
  }

}

#### s3_lifecycle: fail: enabled and idle
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_lifecycle_configuration" "c" {
  bucket = aws_s3_bucket.b.id

  rule {
    id     = "r"
    status = "Enabled"

  }

}

#### s3_lifecycle: fail: terraform's own lifecycle block
resource "aws_s3_bucket" "b" {
  bucket = "data"
  lifecycle {
    prevent_destroy = true
  }
}

#### s3_lifecycle: unknown: whether the rule is enabled
variable "s" {}
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_lifecycle_configuration" "c" {
  bucket = aws_s3_bucket.b.id
  rule {
    id     = "r"
    status = var.s
    expiration {
      days = 30
    }
  }
}

#### s3_block_public: unknown: by a name that two buckets carry
resource "aws_s3_bucket" "a" {
  bucket = "data"
}
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_public_access_block" "c" {
  bucket                  = "data"
  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

#### s3_block_public: pass: a map of buckets
locals {
  buckets = { a = aws_s3_bucket.a.id, b = aws_s3_bucket.b.id }
}
resource "aws_s3_bucket" "a" {
}
resource "aws_s3_bucket" "b" {
}
resource "aws_s3_bucket_public_access_block" "c" {
  for_each                = local.buckets
  bucket                  = each.value
  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

#### s3_block_public: pass: by index
resource "aws_s3_bucket" "a" {
  count = 2
}
resource "aws_s3_bucket_public_access_block" "c" {
  count                   = 2
  bucket                  = aws_s3_bucket.a[count.index].id
  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

#### s3_block_public: pass: by index of a splat
resource "aws_s3_bucket" "a" {
  count = 2
}
resource "aws_s3_bucket_public_access_block" "c" {
  count                   = 2
  bucket                  = element(aws_s3_bucket.a[*].id, count.index)
  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

#### s3_block_public: fail: by the same index
resource "aws_s3_bucket" "a" {
  count = 2
}
resource "aws_s3_bucket_public_access_block" "c" {
  count                   = 2
  bucket                  = aws_s3_bucket.a[0].id
  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

#### s3_block_public: unknown: one of two buckets, who knows which
variable "first" {}
resource "aws_s3_bucket" "a" {
}
resource "aws_s3_bucket" "b" {
}
resource "aws_s3_bucket_public_access_block" "c" {
  bucket                  = var.first ? aws_s3_bucket.a.id : aws_s3_bucket.b.id
  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

#### s3_versioning: unknown: an inline block that may not be there
variable "v" {}
resource "aws_s3_bucket" "b" {
  dynamic "versioning" {
    for_each = var.v
    content {
      enabled = true
    }
  }
}

#### s3_policy_public: pass: a role
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = "arn:aws:iam::111122223333:role/app" }
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:::data/*"
    }]
  })
}

#### s3_policy_public: pass: a role of the configuration
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = aws_iam_role.r.arn }
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:::data/*"
    }]
  })
}
resource "aws_iam_role" "r" {
  assume_role_policy = jsonencode({ Version = "2012-10-17", Statement = [] })
}

#### s3_policy_public: pass: the account by its number
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = "111122223333" }
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:::data/*"
    }]
  })
}

#### s3_policy_public: pass: the account that is looked up
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = "arn:aws:iam::${data.aws_caller_identity.me.account_id}:root" }
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:::data/*"
    }]
  })
}
data "aws_caller_identity" "me" {}

#### s3_policy_public: pass: an account by a variable
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = "arn:aws:iam::${var.account}:root" }
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:::data/*"
    }]
  })
}
variable "account" {}

#### s3_policy_public: pass: a service
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { Service = "cloudfront.amazonaws.com" }
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:::data/*"
    }]
  })
}

#### s3_policy_public: pass: the canonical user of an origin access identity
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { CanonicalUser = aws_cloudfront_origin_access_identity.o.s3_canonical_user_id }
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:::data/*"
    }]
  })
}
resource "aws_cloudfront_origin_access_identity" "o" {}

#### s3_policy_public: pass: everyone through a VPC endpoint
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:::data/*"
      Condition = { StringEquals = { "aws:SourceVpce" = "vpce-1a2b3c4d" } }
    }]
  })
}

#### s3_policy_public: pass: everyone through a VPC endpoint of the configuration
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:::data/*"
      Condition = { StringEquals = { "aws:sourceVpce" = [aws_vpc_endpoint.e.id] } }
    }]
  })
}
resource "aws_vpc_endpoint" "e" {
  vpc_id       = "vpc-1"
  service_name = "com.amazonaws.eu-west-1.s3"
}

#### s3_policy_public: pass: everyone of an organisation
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:::data/*"
      Condition = { StringEquals = { "aws:PrincipalOrgID" = "o-a1b2c3d4e5" } }
    }]
  })
}

#### s3_policy_public: pass: everyone of a part of an organisation
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:::data/*"
      Condition = { "ForAnyValue:StringLike" = { "aws:PrincipalOrgPaths" = "o-a1b2c3d4e5/r-ab12/ou-ab12-*" } }
    }]
  })
}

#### s3_policy_public: pass: everyone from an office
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:::data/*"
      Condition = { IpAddress = { "aws:SourceIp" = ["203.0.113.0/24", "198.51.100.7"] } }
    }]
  })
}

#### s3_policy_public: pass: everyone who is a role of an account
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:::data/*"
      Condition = { ArnLike = { "aws:PrincipalArn" = "arn:aws:iam::111122223333:role/*" } }
    }]
  })
}

#### s3_policy_public: pass: everyone for a distribution of the configuration
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:::data/*"
      Condition = { StringEquals = { "AWS:SourceArn" = aws_cloudfront_distribution.d.arn } }
    }]
  })
}
resource "aws_cloudfront_distribution" "d" {
  enabled = true
}

#### s3_policy_public: pass: everyone through an access point of the account
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "*"
      Resource  = "arn:aws:s3:::data/*"
      Condition = { StringEquals = { "s3:DataAccessPointAccount" = "111122223333" } }
    }]
  })
}

#### s3_policy_public: pass: a bound among conditions that bind nobody
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:::data/*"
      Condition = { Bool = { "aws:SecureTransport" = "true" }, StringEquals = { "aws:SourceVpc" = "vpc-1a2b3c4d" } }
    }]
  })
}

#### s3_policy_public: pass: a denial to everyone
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Deny"
      Principal = "*"
      Action    = "s3:*"
      Resource  = "arn:aws:s3:::data/*"
    }]
  })
}

#### s3_policy_public: pass: a denial to all but one
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect       = "Deny"
      NotPrincipal = { AWS = "arn:aws:iam::111122223333:root" }
      Action       = "s3:GetObject"
      Resource     = "arn:aws:s3:::data/*"
    }]
  })
}

#### s3_policy_public: pass: everyone, and a denial but to a VPC endpoint
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:::data/*"
      }, {
      Effect    = "Deny"
      Principal = "*"
      Action    = "s3:*"
      Resource  = ["arn:aws:s3:::data", "arn:aws:s3:::data/*"]
      Condition = { StringNotEquals = { "aws:SourceVpce" = "vpce-1a2b3c4d" } }
    }]
  })
}

#### s3_policy_public: pass: no principals
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = [] }
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:::data/*"
    }]
  })
}

#### s3_policy_public: pass: a document that names a role
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
data "aws_iam_policy_document" "d" {
  statement {
    actions   = ["s3:GetObject"]
    resources = ["${aws_s3_bucket.b.arn}/*"]
    principals {
      type        = "AWS"
      identifiers = ["arn:aws:iam::111122223333:role/app"]
    }
  }
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = data.aws_iam_policy_document.d.json
}

#### s3_policy_public: pass: a public statement that another with its Sid replaces
data "aws_iam_policy_document" "open" {
  statement {
    sid       = "Read"
    actions   = ["s3:GetObject"]
    resources = ["arn:aws:s3:::data/*"]
    principals {
      type        = "*"
      identifiers = ["*"]
    }
  }
}
data "aws_iam_policy_document" "d" {
  source_policy_documents = [data.aws_iam_policy_document.open.json]
  statement {
    sid       = "Read"
    actions   = ["s3:GetObject"]
    resources = ["arn:aws:s3:::data/*"]
    principals {
      type        = "AWS"
      identifiers = ["111122223333"]
    }
  }
}
resource "aws_s3_bucket_policy" "p" {
  bucket = "data"
  policy = data.aws_iam_policy_document.d.json
}

#### s3_policy_public: pass: inline
resource "aws_s3_bucket" "b" {
  bucket = "data"
  policy = <<-EOF
    {
      "Version": "2012-10-17",
      "Statement": {
        "Effect": "Allow",
        "Principal": { "AWS": "arn:aws:iam::111122223333:user/reader" },
        "Action": "s3:GetObject",
        "Resource": "arn:aws:s3:::data/*"
      }
    }
  EOF
}

#### s3_policy_public: na: no policy
resource "aws_s3_bucket" "b" {
  bucket = "data"
}

#### s3_policy_public: na: a public policy never attached
resource "aws_s3_bucket_policy" "p" {
  count  = 0
  bucket = "data"
  policy = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Effect = "Allow", Principal = "*", Action = "s3:*", Resource = "*" }]
  })
}

#### s3_policy_public: na: a public document that no bucket uses
data "aws_iam_policy_document" "d" {
  statement {
    actions   = ["s3:GetObject"]
    resources = ["arn:aws:s3:::data/*"]
    principals {
      type        = "*"
      identifiers = ["*"]
    }
  }
}

#### s3_policy_public: fail: everyone
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:::data/*"
    }]
  })
}

#### s3_policy_public: fail: everyone, as AWS
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = "*" }
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:::data/*"
    }]
  })
}

#### s3_policy_public: fail: everyone among others
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = ["arn:aws:iam::111122223333:root", "*"] }
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:::data/*"
    }]
  })
}

#### s3_policy_public: fail: everyone under a second kind
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { Service = "s3.amazonaws.com", AWS = ["*"] }
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:::data/*"
    }]
  })
}

#### s3_policy_public: fail: the root of every account
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = "arn:aws:iam::*:root" }
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:::data/*"
    }]
  })
}

#### s3_policy_public: fail: all but some
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect       = "Allow"
      NotPrincipal = { AWS = "arn:aws:iam::111122223333:user/mallory" }
      Action       = "s3:GetObject"
      Resource     = "arn:aws:s3:::data/*"
    }]
  })
}

#### s3_policy_public: fail: an escaped star
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "\u002a"
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:::data/*"
    }]
  })
}

#### s3_policy_public: fail: everyone by a local
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = local.who
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:::data/*"
    }]
  })
}
locals {
  who = { AWS = ["*"] }
}

#### s3_policy_public: fail: everyone by the default of a variable
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = var.who
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:::data/*"
    }]
  })
}
variable "who" {
  default = "*"
}

#### s3_policy_public: fail: everyone over TLS
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:::data/*"
      Condition = { Bool = { "aws:SecureTransport" = "true" } }
    }]
  })
}

#### s3_policy_public: fail: everyone but a VPC endpoint
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:::data/*"
      Condition = { StringNotEquals = { "aws:SourceVpce" = "vpce-1a2b3c4d" } }
    }]
  })
}

#### s3_policy_public: fail: everyone but an address
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:::data/*"
      Condition = { NotIpAddress = { "aws:SourceIp" = "203.0.113.0/24" } }
    }]
  })
}

#### s3_policy_public: fail: everyone of an organisation if there is one
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:::data/*"
      Condition = { StringEqualsIfExists = { "aws:PrincipalOrgID" = "o-a1b2c3d4e5" } }
    }]
  })
}

#### s3_policy_public: fail: everyone of any organisation
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:::data/*"
      Condition = { StringLike = { "aws:PrincipalOrgID" = "o-*" } }
    }]
  })
}

#### s3_policy_public: fail: everyone who has an organisation
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:::data/*"
      Condition = { Null = { "aws:PrincipalOrgID" = "false" } }
    }]
  })
}

#### s3_policy_public: fail: everyone from the world
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:::data/*"
      Condition = { IpAddress = { "aws:SourceIp" = "0.0.0.0/0" } }
    }]
  })
}

#### s3_policy_public: fail: everyone from two halves of the world
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:::data/*"
      Condition = { IpAddress = { "aws:SourceIp" = ["0.0.0.0/1", "128.0.0.0/1"] } }
    }]
  })
}

#### s3_policy_public: fail: everyone from an office or the IPv6 world
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:::data/*"
      Condition = { IpAddress = { "aws:SourceIp" = ["203.0.113.0/24", "::/0"] } }
    }]
  })
}

#### s3_policy_public: fail: everyone with a referer
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:::data/*"
      Condition = { StringLike = { "aws:Referer" = "https://example.com/*" } }
    }]
  })
}

#### s3_policy_public: fail: everyone with a user agent
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:::data/*"
      Condition = { StringEquals = { "aws:UserAgent" = "secret-agent" } }
    }]
  })
}

#### s3_policy_public: fail: everyone below a prefix
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:::data/*"
      Condition = { StringLike = { "s3:prefix" = "public/*" } }
    }]
  })
}

#### s3_policy_public: fail: everyone who is a role of some account
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:::data/*"
      Condition = { ArnLike = { "aws:PrincipalArn" = "arn:aws:iam::*:role/reader" } }
    }]
  })
}

#### s3_policy_public: fail: everyone through one endpoint or any
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:::data/*"
      Condition = { StringLike = { "aws:SourceVpce" = ["vpce-1a2b3c4d", "vpce-*"] } }
    }]
  })
}

#### s3_policy_public: fail: everyone where all of nothing matches
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:::data/*"
      Condition = { "ForAllValues:StringEquals" = { "aws:PrincipalOrgID" = "o-a1b2c3d4e5" } }
    }]
  })
}

#### s3_policy_public: fail: everyone with a tag of their own
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:::data/*"
      Condition = { StringEquals = { "aws:PrincipalTag/team" = "data" } }
    }]
  })
}

#### s3_policy_public: fail: everyone, an empty condition
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:::data/*"
      Condition = {}
    }]
  })
}

#### s3_policy_public: fail: everyone, no values
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:::data/*"
      Condition = { StringEquals = { "aws:SourceVpce" = [] } }
    }]
  })
}

#### s3_policy_public: fail: a bounded statement and an open one
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:::data/*"
      Condition = { StringEquals = { "aws:SourceVpce" = "vpce-1a2b3c4d" } }
      }, {
      Effect    = "Allow"
      Principal = "*"
      Action    = "s3:ListBucket"
      Resource  = "arn:aws:s3:::data"
    }]
  })
}

#### s3_policy_public: fail: everyone, and a denial of plain HTTP
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:::data/*"
      }, {
      Effect    = "Deny"
      Principal = "*"
      Action    = "s3:*"
      Resource  = "*"
      Condition = { Bool = { "aws:SecureTransport" = "false" } }
    }]
  })
}

#### s3_policy_public: fail: everyone, and a denial of less
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:::data/*"
      }, {
      Effect    = "Deny"
      Principal = "*"
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:::data/private/*"
      Condition = { StringNotEquals = { "aws:SourceVpce" = "vpce-1a2b3c4d" } }
    }]
  })
}

#### s3_policy_public: fail: everyone, and a denial of another action
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:::data/*"
      }, {
      Effect    = "Deny"
      Principal = "*"
      Action    = "s3:PutObject"
      Resource  = "arn:aws:s3:::data/*"
      Condition = { StringNotEquals = { "aws:SourceVpce" = "vpce-1a2b3c4d" } }
    }]
  })
}

#### s3_policy_public: pass: everyone, and a denial but to an endpoint and an office
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:::data/*"
      }, {
      Effect    = "Deny"
      Principal = "*"
      Action    = "s3:*"
      Resource  = "arn:aws:s3:::data/*"
      Condition = { StringNotEquals = { "aws:SourceVpce" = "vpce-1a2b3c4d" }, NotIpAddress = { "aws:SourceIp" = "203.0.113.0/24" } }
    }]
  })
}

#### s3_policy_public: fail: everyone, and the bucket blocks public access
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:::data/*"
    }]
  })
}
resource "aws_s3_bucket_public_access_block" "a" {
  bucket                  = aws_s3_bucket.b.id
  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

#### s3_policy_public: pass: everyone of the organisation of the bucket
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:::data/*"
      Condition = { StringEquals = { "aws:PrincipalOrgID" = "$${aws:ResourceOrgID}" } }
    }]
  })
}

#### s3_policy_public: fail: everyone whose organisation is their own
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:::data/*"
      Condition = { StringEquals = { "aws:PrincipalOrgID" = "$${aws:PrincipalOrgID}" } }
    }]
  })
}

#### s3_policy_public: fail: every account's role of a name
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = "arn:aws:iam::*:role/${var.name}" }
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:::data/*"
    }]
  })
}
variable "name" {}

#### s3_policy_public: fail: everyone, and a denial but over TLS or to an endpoint
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:::data/*"
      }, {
      Effect    = "Deny"
      Principal = "*"
      Action    = "s3:*"
      Resource  = "arn:aws:s3:::data/*"
      Condition = { Bool = { "aws:SecureTransport" = "false" }, StringNotEquals = { "aws:SourceVpce" = "vpce-1a2b3c4d" } }
    }]
  })
}

#### s3_policy_public: fail: everyone, and a denial to a service
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:::data/*"
      }, {
      Effect    = "Deny"
      Principal = { Service = "*" }
      Action    = "s3:*"
      Resource  = "arn:aws:s3:::data/*"
      Condition = { StringNotEquals = { "aws:SourceVpce" = "vpce-1a2b3c4d" } }
    }]
  })
}

#### s3_policy_public: unknown: everyone, and a denial by a condition that is not known
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:::data/*"
      }, {
      Effect    = "Deny"
      Principal = "*"
      Action    = "s3:*"
      Resource  = "arn:aws:s3:::data/*"
      Condition = var.condition
    }]
  })
}
variable "condition" {}

#### s3_policy_public: fail: inline, a heredoc
resource "aws_s3_bucket" "b" {
  bucket = "data"
  policy = <<EOF
{"Statement": {"Effect": "Allow", "Principal": {"AWS": "*"}, "Action": "s3:GetObject", "Resource": "arn:aws:s3:::data/*"}}
EOF
}

#### s3_policy_public: fail: an access point
resource "aws_s3_access_point" "a" {
  bucket = "data"
  name   = "a"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:eu-west-1:111122223333:accesspoint/a/object/*"
    }]
  })
}

#### s3_policy_public: fail: the policy of an access point
resource "aws_s3control_access_point_policy" "a" {
  access_point_arn = "arn:aws:s3:eu-west-1:111122223333:accesspoint/a"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = "*" }
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:eu-west-1:111122223333:accesspoint/a/object/*"
    }]
  })
}

#### s3_policy_public: fail: the policy of an access point in many regions
resource "aws_s3control_multi_region_access_point_policy" "a" {
  details {
    name = "a"
    policy = jsonencode({
      Version = "2012-10-17"
      Statement = [{
        Effect    = "Allow"
        Principal = { AWS = "*" }
        Action    = "s3:GetObject"
        Resource  = "arn:aws:s3::111122223333:accesspoint/abc.mrap/object/*"
      }]
    })
  }
}

#### s3_policy_public: fail: a document for everyone
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
data "aws_iam_policy_document" "d" {
  statement {
    actions   = ["s3:GetObject"]
    resources = ["${aws_s3_bucket.b.arn}/*"]
    principals {
      type        = "*"
      identifiers = ["*"]
    }
  }
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = data.aws_iam_policy_document.d.json
}

#### s3_policy_public: fail: a document with dynamic principals
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
data "aws_iam_policy_document" "d" {
  statement {
    actions   = ["s3:GetObject"]
    resources = ["${aws_s3_bucket.b.arn}/*"]
    dynamic "principals" {
      for_each = ["*"]
      content {
        type        = "AWS"
        identifiers = [principals.value]
      }
    }
  }
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = data.aws_iam_policy_document.d.json
}

#### s3_policy_public: fail: a document for all but some
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
data "aws_iam_policy_document" "d" {
  statement {
    actions   = ["s3:GetObject"]
    resources = ["${aws_s3_bucket.b.arn}/*"]
    not_principals {
      type        = "AWS"
      identifiers = ["arn:aws:iam::111122223333:user/mallory"]
    }
  }
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = data.aws_iam_policy_document.d.json
}

#### s3_policy_public: fail: a document that is overridden with an open one
data "aws_iam_policy_document" "open" {
  statement {
    sid       = "Read"
    actions   = ["s3:GetObject"]
    resources = ["arn:aws:s3:::data/*"]
    principals {
      type        = "*"
      identifiers = ["*"]
    }
  }
}
data "aws_iam_policy_document" "d" {
  override_policy_documents = [data.aws_iam_policy_document.open.json]
  statement {
    sid       = "Read"
    actions   = ["s3:GetObject"]
    resources = ["arn:aws:s3:::data/*"]
    principals {
      type        = "AWS"
      identifiers = ["111122223333"]
    }
  }
}
resource "aws_s3_bucket_policy" "p" {
  bucket = "data"
  policy = data.aws_iam_policy_document.d.json
}

#### s3_policy_public: fail: one of several buckets
locals {
  readers = { inner = "arn:aws:iam::111122223333:root", outer = "*" }
}
resource "aws_s3_bucket_policy" "p" {
  for_each = local.readers
  bucket   = each.key
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = each.value }
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:::${each.key}/*"
    }]
  })
}

#### s3_policy_public: fail: one that only may be attached
variable "public" {}
resource "aws_s3_bucket_policy" "p" {
  count  = var.public ? 1 : 0
  bucket = "data"
  policy = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Effect = "Allow", Principal = "*", Action = "s3:GetObject", Resource = "arn:aws:s3:::data/*" }]
  })
}

#### s3_policy_public: fail: JSON syntax
{
  "resource": {
    "aws_s3_bucket_policy": {
      "p": {
        "bucket": "data",
        "policy": "${jsonencode({ Statement = [{ Effect = \"Allow\", Principal = \"*\", Action = \"s3:GetObject\", Resource = \"arn:aws:s3:::data/*\" }] })}"
      }
    }
  }
}

#### s3_policy_public: unknown: a principal by a variable
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = var.who }
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:::data/*"
    }]
  })
}
variable "who" {}

#### s3_policy_public: unknown: a condition by a variable that may be a star
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:::data/*"
      Condition = { StringLike = { "aws:SourceVpce" = var.endpoint } }
    }]
  })
}
variable "endpoint" {}

#### s3_policy_public: unknown: addresses by a variable
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:::data/*"
      Condition = { IpAddress = { "aws:SourceIp" = var.offices } }
    }]
  })
}
variable "offices" {}

#### s3_policy_public: unknown: a policy by a variable
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
variable "policy" {}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = var.policy
}

#### s3_enforce_tls: pass: both ARNs
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Deny"
      Principal = "*"
      Action    = "s3:*"
      Resource  = [aws_s3_bucket.b.arn, "${aws_s3_bucket.b.arn}/*"]
      Condition = { Bool = { "aws:SecureTransport" = "false" } }
    }]
  })
}

#### s3_enforce_tls: pass: as AWS, among others
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Deny"
      Principal = { AWS = ["*"] }
      Action    = "s3:*"
      Resource  = [aws_s3_bucket.b.arn, "${aws_s3_bucket.b.arn}/*"]
      Condition = { Bool = { "aws:SecureTransport" = "false" } }
    }]
  })
}

#### s3_enforce_tls: pass: a boolean, if it exists
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Deny"
      Principal = "*"
      Action    = "s3:*"
      Resource  = [aws_s3_bucket.b.arn, "${aws_s3_bucket.b.arn}/*"]
      Condition = { BoolIfExists = { "aws:SecureTransport" = false } }
    }]
  })
}

#### s3_enforce_tls: pass: names in ARNs
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Deny"
      Principal = "*"
      Action    = "s3:*"
      Resource  = ["arn:aws:s3:::data", "arn:aws:s3:::data/*"]
      Condition = { Bool = { "aws:SecureTransport" = "false" } }
    }]
  })
}

#### s3_enforce_tls: pass: names by reference in ARNs of a partition
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Deny"
      Principal = "*"
      Action    = "s3:*"
      Resource  = ["arn:${data.aws_partition.p.partition}:s3:::${aws_s3_bucket.b.id}", "arn:${data.aws_partition.p.partition}:s3:::${aws_s3_bucket.b.id}/*"]
      Condition = { Bool = { "aws:SecureTransport" = "false" } }
    }]
  })
}
data "aws_partition" "p" {}

#### s3_enforce_tls: pass: one pattern for both
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Deny"
      Principal = "*"
      Action    = "s3:*"
      Resource  = "${aws_s3_bucket.b.arn}*"
      Condition = { Bool = { "aws:SecureTransport" = "false" } }
    }]
  })
}

#### s3_enforce_tls: pass: every resource and action
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Deny"
      Principal = "*"
      Action    = "*"
      Resource  = "*"
      Condition = { Bool = { "aws:SecureTransport" = "false" } }
    }]
  })
}

#### s3_enforce_tls: pass: two statements, one for each
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Deny"
      Principal = "*"
      Action    = "s3:*"
      Resource  = aws_s3_bucket.b.arn
      Condition = { Bool = { "aws:SecureTransport" = "false" } }
      }, {
      Effect    = "Deny"
      Principal = "*"
      Action    = "s3:*"
      Resource  = "${aws_s3_bucket.b.arn}/*"
      Condition = { Bool = { "aws:SecureTransport" = "false" } }
    }]
  })
}

#### s3_enforce_tls: pass: beside other statements
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { AWS = "arn:aws:iam::111122223333:role/app" }
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:::data/*"
      }, {
      Effect    = "Deny"
      Principal = "*"
      Action    = "s3:*"
      Resource  = [aws_s3_bucket.b.arn, "${aws_s3_bucket.b.arn}/*"]
      Condition = { Bool = { "aws:SecureTransport" = "false" } }
    }]
  })
}

#### s3_enforce_tls: pass: inline, a heredoc
resource "aws_s3_bucket" "b" {
  bucket = "data"
  policy = <<EOF
{
  "Statement": {
    "Sid": "TLS",
    "Effect": "Deny",
    "Principal": "*",
    "Action": "s3:*",
    "Resource": ["arn:aws:s3:::data", "arn:aws:s3:::data/*"],
    "Condition": { "Bool": { "aws:SecureTransport": "false" } }
  }
}
EOF
}

#### s3_enforce_tls: pass: a document
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
data "aws_iam_policy_document" "d" {
  statement {
    effect    = "Deny"
    actions   = ["s3:*"]
    resources = [aws_s3_bucket.b.arn, "${aws_s3_bucket.b.arn}/*"]
    principals {
      type        = "*"
      identifiers = ["*"]
    }
    condition {
      test     = "Bool"
      variable = "aws:SecureTransport"
      values   = ["false"]
    }
  }
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = data.aws_iam_policy_document.d.json
}

#### s3_enforce_tls: pass: a document for each of several buckets
locals {
  buckets = toset(["a", "b"])
}
resource "aws_s3_bucket" "b" {
  for_each = local.buckets
  bucket   = each.key
}
data "aws_iam_policy_document" "d" {
  for_each = local.buckets
  statement {
    effect    = "Deny"
    actions   = ["s3:*"]
    resources = [aws_s3_bucket.b[each.key].arn, "${aws_s3_bucket.b[each.key].arn}/*"]
    principals {
      type        = "*"
      identifiers = ["*"]
    }
    condition {
      test     = "Bool"
      variable = "aws:SecureTransport"
      values   = ["false"]
    }
  }
}
resource "aws_s3_bucket_policy" "p" {
  for_each = local.buckets
  bucket   = aws_s3_bucket.b[each.key].id
  policy   = data.aws_iam_policy_document.d[each.key].json
}

#### s3_enforce_tls: pass: JSON syntax
{
  "resource": {
    "aws_s3_bucket": {
      "b": {
        "bucket": "data"
      }
    },
    "aws_s3_bucket_policy": {
      "p": {
        "bucket": "${aws_s3_bucket.b.id}",
        "policy": "${jsonencode({ Statement = [{ Effect = \"Deny\", Principal = \"*\", Action = \"s3:*\", Resource = [aws_s3_bucket.b.arn, \"${aws_s3_bucket.b.arn}/*\"], Condition = { Bool = { \"aws:SecureTransport\" = \"false\" } } }] })}"
      }
    }
  }
}

#### s3_enforce_tls: pass: a bucket whose name is not known
variable "name" {}
resource "aws_s3_bucket" "b" {
  bucket = var.name
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Deny"
      Principal = "*"
      Action    = "s3:*"
      Resource  = [aws_s3_bucket.b.arn, "${aws_s3_bucket.b.arn}/*"]
      Condition = { Bool = { "aws:SecureTransport" = "false" } }
    }]
  })
}

#### s3_enforce_tls: fail: no policy
resource "aws_s3_bucket" "b" {
  bucket = "data"
}

#### s3_enforce_tls: fail: objects alone
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Deny"
      Principal = "*"
      Action    = "s3:*"
      Resource  = "${aws_s3_bucket.b.arn}/*"
      Condition = { Bool = { "aws:SecureTransport" = "false" } }
    }]
  })
}

#### s3_enforce_tls: fail: the bucket alone
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Deny"
      Principal = "*"
      Action    = "s3:*"
      Resource  = aws_s3_bucket.b.arn
      Condition = { Bool = { "aws:SecureTransport" = "false" } }
    }]
  })
}

#### s3_enforce_tls: fail: some objects
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Deny"
      Principal = "*"
      Action    = "s3:*"
      Resource  = [aws_s3_bucket.b.arn, "${aws_s3_bucket.b.arn}/private/*"]
      Condition = { Bool = { "aws:SecureTransport" = "false" } }
    }]
  })
}

#### s3_enforce_tls: fail: the ARNs of another bucket
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Deny"
      Principal = "*"
      Action    = "s3:*"
      Resource  = ["arn:aws:s3:::other", "arn:aws:s3:::other/*"]
      Condition = { Bool = { "aws:SecureTransport" = "false" } }
    }]
  })
}

#### s3_enforce_tls: fail: some actions
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Deny"
      Principal = "*"
      Action    = ["s3:GetObject", "s3:PutObject"]
      Resource  = [aws_s3_bucket.b.arn, "${aws_s3_bucket.b.arn}/*"]
      Condition = { Bool = { "aws:SecureTransport" = "false" } }
    }]
  })
}

#### s3_enforce_tls: fail: reading alone
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Deny"
      Principal = "*"
      Action    = "s3:Get*"
      Resource  = [aws_s3_bucket.b.arn, "${aws_s3_bucket.b.arn}/*"]
      Condition = { Bool = { "aws:SecureTransport" = "false" } }
    }]
  })
}

#### s3_enforce_tls: fail: one principal
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Deny"
      Principal = { AWS = "arn:aws:iam::111122223333:root" }
      Action    = "s3:*"
      Resource  = [aws_s3_bucket.b.arn, "${aws_s3_bucket.b.arn}/*"]
      Condition = { Bool = { "aws:SecureTransport" = "false" } }
    }]
  })
}

#### s3_enforce_tls: fail: all but one principal
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect       = "Deny"
      NotPrincipal = { AWS = "arn:aws:iam::111122223333:root" }
      Action       = "s3:*"
      Resource     = [aws_s3_bucket.b.arn, "${aws_s3_bucket.b.arn}/*"]
      Condition    = { Bool = { "aws:SecureTransport" = "false" } }
    }]
  })
}

#### s3_enforce_tls: fail: denies TLS
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Deny"
      Principal = "*"
      Action    = "s3:*"
      Resource  = [aws_s3_bucket.b.arn, "${aws_s3_bucket.b.arn}/*"]
      Condition = { Bool = { "aws:SecureTransport" = "true" } }
    }]
  })
}

#### s3_enforce_tls: fail: a second condition
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Deny"
      Principal = "*"
      Action    = "s3:*"
      Resource  = [aws_s3_bucket.b.arn, "${aws_s3_bucket.b.arn}/*"]
      Condition = { Bool = { "aws:SecureTransport" = "false" }, StringNotEquals = { "aws:SourceVpce" = "vpce-1" } }
    }]
  })
}

#### s3_enforce_tls: fail: a second key in the condition
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Deny"
      Principal = "*"
      Action    = "s3:*"
      Resource  = [aws_s3_bucket.b.arn, "${aws_s3_bucket.b.arn}/*"]
      Condition = { Bool = { "aws:SecureTransport" = "false", "aws:MultiFactorAuthPresent" = "false" } }
    }]
  })
}

#### s3_enforce_tls: fail: an old version of TLS alone
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Deny"
      Principal = "*"
      Action    = "s3:*"
      Resource  = [aws_s3_bucket.b.arn, "${aws_s3_bucket.b.arn}/*"]
      Condition = { NumericLessThan = { "s3:TlsVersion" = 1.2 } }
    }]
  })
}

#### s3_enforce_tls: fail: allowed over TLS
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "s3:*"
      Resource  = [aws_s3_bucket.b.arn, "${aws_s3_bucket.b.arn}/*"]
      Condition = { Bool = { "aws:SecureTransport" = "true" } }
    }]
  })
}

#### s3_enforce_tls: fail: allows plain HTTP
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "s3:*"
      Resource  = [aws_s3_bucket.b.arn, "${aws_s3_bucket.b.arn}/*"]
      Condition = { Bool = { "aws:SecureTransport" = "false" } }
    }]
  })
}

#### s3_enforce_tls: fail: no condition, on another bucket alone
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Deny"
      Principal = "*"
      Action    = "s3:*"
      Resource  = [aws_s3_bucket.b.arn, "${aws_s3_bucket.b.arn}/*"]
      Condition = { StringEquals = { "aws:PrincipalOrgID" = "o-1" } }
    }]
  })
}

#### s3_enforce_tls: fail: a document with a second condition
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
data "aws_iam_policy_document" "d" {
  statement {
    effect    = "Deny"
    actions   = ["s3:*"]
    resources = [aws_s3_bucket.b.arn, "${aws_s3_bucket.b.arn}/*"]
    principals {
      type        = "*"
      identifiers = ["*"]
    }
    condition {
      test     = "Bool"
      variable = "aws:SecureTransport"
      values   = ["false"]
    }
    condition {
      test     = "IpAddress"
      variable = "aws:SourceIp"
      values   = ["203.0.113.0/24"]
    }
  }
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = data.aws_iam_policy_document.d.json
}

#### s3_enforce_tls: fail: a policy of another bucket
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket" "other" {
  bucket = "other"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.other.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Deny"
      Principal = "*"
      Action    = "s3:*"
      Resource  = "*"
      Condition = { Bool = { "aws:SecureTransport" = "false" } }
    }]
  })
}

#### s3_enforce_tls: fail: a policy never attached
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  count  = 0
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Deny"
      Principal = "*"
      Action    = "s3:*"
      Resource  = [aws_s3_bucket.b.arn, "${aws_s3_bucket.b.arn}/*"]
      Condition = { Bool = { "aws:SecureTransport" = "false" } }
    }]
  })
}

#### s3_enforce_tls: fail: a document that nobody attaches
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
data "aws_iam_policy_document" "d" {
  statement {
    effect    = "Deny"
    actions   = ["s3:*"]
    resources = [aws_s3_bucket.b.arn, "${aws_s3_bucket.b.arn}/*"]
    principals {
      type        = "*"
      identifiers = ["*"]
    }
    condition {
      test     = "Bool"
      variable = "aws:SecureTransport"
      values   = ["false"]
    }
  }
}

#### s3_enforce_tls: unknown: an effect by a variable
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = var.effect
      Principal = "*"
      Action    = "s3:*"
      Resource  = [aws_s3_bucket.b.arn, "${aws_s3_bucket.b.arn}/*"]
      Condition = { Bool = { "aws:SecureTransport" = "false" } }
    }]
  })
}
variable "effect" {}

#### s3_enforce_tls: unknown: a condition by a variable
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Deny"
      Principal = "*"
      Action    = "s3:*"
      Resource  = [aws_s3_bucket.b.arn, "${aws_s3_bucket.b.arn}/*"]
      Condition = { Bool = { "aws:SecureTransport" = var.off } }
    }]
  })
}
variable "off" {}

#### s3_enforce_tls: unknown: a policy by a variable
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
variable "policy" {}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = var.policy
}

#### s3_enforce_tls: unknown: a policy that only may be attached
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
variable "tls" {}
resource "aws_s3_bucket_policy" "p" {
  count  = var.tls ? 1 : 0
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Deny"
      Principal = "*"
      Action    = "s3:*"
      Resource  = [aws_s3_bucket.b.arn, "${aws_s3_bucket.b.arn}/*"]
      Condition = { Bool = { "aws:SecureTransport" = "false" } }
    }]
  })
}

#### s3_enforce_tls: na: no bucket
resource "aws_sns_topic" "t" {
  name = "t"
}

#### s3_access_logging: pass: to a bucket of the configuration, which needs none
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket" "logs" {
  bucket = "logs"
}
resource "aws_s3_bucket_logging" "l" {
  bucket        = aws_s3_bucket.b.id
  target_bucket = aws_s3_bucket.logs.id
  target_prefix = "data/"
}

#### s3_access_logging: pass: to a bucket elsewhere
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_logging" "l" {
  bucket        = aws_s3_bucket.b.bucket
  target_bucket = "logs"
  target_prefix = "data/"
}

#### s3_access_logging: pass: both by name
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket" "logs" {
  bucket = "logs"
}
resource "aws_s3_bucket_logging" "l" {
  bucket        = "data"
  target_bucket = "logs"
  target_prefix = "data/"
}

#### s3_access_logging: pass: inline
resource "aws_s3_bucket" "b" {
  bucket = "data"
  logging {
    target_bucket = aws_s3_bucket.logs.id
  }
}
resource "aws_s3_bucket" "logs" {
  bucket = "logs"
}

#### s3_access_logging: pass: inline, dynamic
resource "aws_s3_bucket" "b" {
  bucket = "data"
  dynamic "logging" {
    for_each = ["logs"]
    content {
      target_bucket = logging.value
    }
  }
}

#### s3_access_logging: pass: each of several
resource "aws_s3_bucket" "b" {
  for_each = toset(["a", "b"])
  bucket   = each.key
}
resource "aws_s3_bucket_logging" "l" {
  for_each      = aws_s3_bucket.b
  bucket        = each.value.id
  target_bucket = "logs"
  target_prefix = "${each.key}/"
}

#### s3_access_logging: pass: JSON syntax
{
  "resource": {
    "aws_s3_bucket": {
      "b": {
        "bucket": "data"
      }
    },
    "aws_s3_bucket_logging": {
      "l": {
        "bucket": "${aws_s3_bucket.b.id}",
        "target_bucket": "logs",
        "target_prefix": ""
      }
    }
  }
}

#### s3_access_logging: na: the bucket for the logs of a load balancer
resource "aws_s3_bucket" "logs" {
  bucket = "logs"
}
resource "aws_lb" "l" {
  subnets = ["subnet-1", "subnet-2"]
  access_logs {
    bucket  = aws_s3_bucket.logs.id
    enabled = true
  }
}

#### s3_access_logging: na: the bucket for the logs of a distribution
resource "aws_s3_bucket" "logs" {
  bucket = "logs"
}
resource "aws_cloudfront_distribution" "d" {
  enabled = true
  logging_config {
    bucket = aws_s3_bucket.logs.bucket_domain_name
  }
}

#### s3_access_logging: na: no bucket
resource "aws_sns_topic" "t" {
  name = "t"
}

#### s3_access_logging: fail: none
resource "aws_s3_bucket" "b" {
  bucket = "data"
}

#### s3_access_logging: fail: of another bucket
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket" "other" {
  bucket = "other"
}
resource "aws_s3_bucket_logging" "l" {
  bucket        = aws_s3_bucket.other.id
  target_bucket = "logs"
  target_prefix = "data/"
}

#### s3_access_logging: fail: never created
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_logging" "l" {
  count         = 0
  bucket        = aws_s3_bucket.b.id
  target_bucket = "logs"
  target_prefix = "data/"
}

#### s3_access_logging: fail: an empty target
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_logging" "l" {
  bucket        = aws_s3_bucket.b.id
  target_bucket = ""
  target_prefix = "data/"
}

#### s3_access_logging: fail: the bucket for the logs of a trail
resource "aws_s3_bucket" "logs" {
  bucket = "logs"
}
resource "aws_cloudtrail" "t" {
  name           = "t"
  s3_bucket_name = aws_s3_bucket.logs.id
}

#### s3_access_logging: fail: inline, over nothing
resource "aws_s3_bucket" "b" {
  bucket = "data"
  dynamic "logging" {
    for_each = []
    content {
      target_bucket = logging.value
    }
  }
}

#### s3_access_logging: fail: logs are received by another bucket
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket" "logs" {
  bucket = "logs"
}
resource "aws_s3_bucket_logging" "l" {
  bucket        = "elsewhere"
  target_bucket = aws_s3_bucket.logs.id
  target_prefix = "data/"
}

#### s3_access_logging: fail: a load balancer that is never created
resource "aws_s3_bucket" "logs" {
  bucket = "logs"
}
resource "aws_lb" "l" {
  count   = 0
  subnets = ["subnet-1", "subnet-2"]
  access_logs {
    bucket = aws_s3_bucket.logs.id
  }
}

#### s3_access_logging: fail: in a comment
resource "aws_s3_bucket" "b" {
  bucket = "data"
  # logging {
  #   target_bucket = "logs"
  # }
}

#### s3_access_logging: unknown: only may be
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
variable "log" {}
resource "aws_s3_bucket_logging" "l" {
  count         = var.log ? 1 : 0
  bucket        = aws_s3_bucket.b.id
  target_bucket = "logs"
  target_prefix = "data/"
}

#### s3_access_logging: unknown: a target by a variable
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
variable "target" {}
resource "aws_s3_bucket_logging" "l" {
  bucket        = aws_s3_bucket.b.id
  target_bucket = var.target
  target_prefix = "data/"
}

#### s3_access_logging: fail: logs are received of a bucket that is not here
resource "aws_s3_bucket" "logs" {
  bucket = "logs"
}
resource "aws_s3_bucket_logging" "l" {
  bucket        = "data"
  target_bucket = aws_s3_bucket.logs.id
  target_prefix = "data/"
}

#### s3_access_logging: unknown: logs that may be received
resource "aws_s3_bucket" "logs" {
  bucket = "logs"
}
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
variable "log" {}
resource "aws_s3_bucket_logging" "l" {
  count         = var.log ? 1 : 0
  bucket        = "data"
  target_bucket = aws_s3_bucket.logs.id
  target_prefix = "data/"
}

#### s3_versioning: pass: each of several
resource "aws_s3_bucket" "b" {
  count  = 2
  bucket = "data-${count.index}"
}
resource "aws_s3_bucket_versioning" "v" {
  count  = 2
  bucket = aws_s3_bucket.b[count.index].id
  versioning_configuration {
    status = "Enabled"
  }
}

#### s3_versioning: pass: JSON syntax
{
  "resource": {
    "aws_s3_bucket": {
      "b": {
        "bucket": "data",
        "versioning": {
          "enabled": true
        }
      }
    }
  }
}

#### s3_lifecycle: pass: a dynamic rule over days
locals {
  days = { logs = 30 }
}
resource "aws_s3_bucket" "b" {
  bucket = "data"
}
resource "aws_s3_bucket_lifecycle_configuration" "c" {
  bucket = aws_s3_bucket.b.id
  dynamic "rule" {
    for_each = local.days
    content {
      id     = rule.key
      status = "Enabled"
      expiration {
        days = rule.value
      }
    }
  }
}

#### s3_enforce_tls: pass: a name with the number of the account
data "aws_caller_identity" "me" {}
resource "aws_s3_bucket" "b" {
  bucket = "data-${data.aws_caller_identity.me.account_id}"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Deny"
      Principal = "*"
      Action    = "s3:*"
      Resource  = ["arn:aws:s3:::${aws_s3_bucket.b.bucket}", "arn:aws:s3:::data-${data.aws_caller_identity.me.account_id}/*"]
      Condition = { Bool = { "aws:SecureTransport" = "false" } }
    }]
  })
}

#### s3_enforce_tls: fail: objects of a name with the number of the account
data "aws_caller_identity" "me" {}
resource "aws_s3_bucket" "b" {
  bucket = "data-${data.aws_caller_identity.me.account_id}"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Deny"
      Principal = "*"
      Action    = "s3:*"
      Resource  = "arn:aws:s3:::${aws_s3_bucket.b.bucket}/*"
      Condition = { Bool = { "aws:SecureTransport" = "false" } }
    }]
  })
}

#### s3_enforce_tls: fail: the ARN of another bucket of the configuration
data "aws_caller_identity" "me" {}
resource "aws_s3_bucket" "b" {
  bucket = "data-${data.aws_caller_identity.me.account_id}"
}
resource "aws_s3_bucket" "other" {
  bucket_prefix = "other"
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Deny"
      Principal = "*"
      Action    = "s3:*"
      Resource  = [aws_s3_bucket.other.arn, "arn:aws:s3:::${aws_s3_bucket.other.id}/*"]
      Condition = { Bool = { "aws:SecureTransport" = "false" } }
    }]
  })
}

#### s3_enforce_tls: unknown: a name by a variable
variable "name" {}
resource "aws_s3_bucket" "b" {
  bucket = var.name
}
resource "aws_s3_bucket_policy" "p" {
  bucket = aws_s3_bucket.b.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Deny"
      Principal = "*"
      Action    = "s3:*"
      Resource  = ["arn:aws:s3:::${var.name}", "arn:aws:s3:::${var.name}/*"]
      Condition = { Bool = { "aws:SecureTransport" = "false" } }
    }]
  })
}

#### s3_policy_public: pass: from the addresses of gateways
resource "aws_eip" "nat" {
  count = 2
}
resource "aws_s3_bucket_policy" "p" {
  bucket = "data"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:::data/*"
      Condition = { IpAddress = { "aws:SourceIp" = formatlist("%s/32", aws_eip.nat[*].public_ip) } }
    }]
  })
}

#### s3_policy_public: fail: from an address with a mask of nothing
resource "aws_eip" "nat" {
}
resource "aws_s3_bucket_policy" "p" {
  bucket = "data"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:::data/*"
      Condition = { IpAddress = { "aws:SourceIp" = "${aws_eip.nat.public_ip}/0" } }
    }]
  })
}

#### s3_policy_public: unknown: from an address that may have any mask
variable "office" {}
resource "aws_s3_bucket_policy" "p" {
  bucket = "data"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = "*"
      Action    = "s3:GetObject"
      Resource  = "arn:aws:s3:::data/*"
      Condition = { IpAddress = { "aws:SourceIp" = "203.0.113.0/${var.office}" } }
    }]
  })
}
