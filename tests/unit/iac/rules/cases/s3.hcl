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
