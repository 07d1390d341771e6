#### ddb_encryption: pass: enabled
resource "aws_dynamodb_table" "t" {
  name         = "t"
  hash_key     = "id"
  billing_mode = "PAY_PER_REQUEST"
  attribute {
    name = "id"
    type = "S"
  }
  server_side_encryption {
    enabled = true
  }

}

#### ddb_encryption: pass: a string
resource "aws_dynamodb_table" "t" {
  name         = "t"
  hash_key     = "id"
  billing_mode = "PAY_PER_REQUEST"
  attribute {
    name = "id"
    type = "S"
  }
  server_side_encryption {
    enabled = "true"
  }

}

#### ddb_encryption: pass: with a key
resource "aws_kms_key" "k" {
  enable_key_rotation = true
}
resource "aws_dynamodb_table" "t" {
  name         = "t"
  hash_key     = "id"
  billing_mode = "PAY_PER_REQUEST"
  attribute {
    name = "id"
    type = "S"
  }
  server_side_encryption {
    enabled     = true
    kms_key_arn = aws_kms_key.k.arn
  }

}

#### ddb_encryption: fail: absent
resource "aws_dynamodb_table" "t" {
  name         = "t"
  hash_key     = "id"
  billing_mode = "PAY_PER_REQUEST"
  attribute {
    name = "id"
    type = "S"
  }

}

#### ddb_encryption: fail: disabled
resource "aws_dynamodb_table" "t" {
  name         = "t"
  hash_key     = "id"
  billing_mode = "PAY_PER_REQUEST"
  attribute {
    name = "id"
    type = "S"
  }
  server_side_encryption {
    enabled = false
  }

}

#### ddb_encryption: fail: recovery in its place
resource "aws_dynamodb_table" "t" {
  name         = "t"
  hash_key     = "id"
  billing_mode = "PAY_PER_REQUEST"
  attribute {
    name = "id"
    type = "S"
  }
  point_in_time_recovery {
    enabled = true
  }

}

#### ddb_encryption: fail: a dynamic block over nothing
resource "aws_dynamodb_table" "t" {
  name         = "t"
  hash_key     = "id"
  billing_mode = "PAY_PER_REQUEST"
  attribute {
    name = "id"
    type = "S"
  }
  dynamic "server_side_encryption" {
    for_each = []
    content {
      enabled = true
    }
  }

}

#### ddb_encryption: unknown: unknown
variable "v" {}
resource "aws_dynamodb_table" "t" {
  name         = "t"
  hash_key     = "id"
  billing_mode = "PAY_PER_REQUEST"
  attribute {
    name = "id"
    type = "S"
  }
  server_side_encryption {
    enabled = var.v
  }

}

#### dynamodb_pitr: pass: enabled
resource "aws_dynamodb_table" "t" {
  name         = "t"
  hash_key     = "id"
  billing_mode = "PAY_PER_REQUEST"
  attribute {
    name = "id"
    type = "S"
  }
  point_in_time_recovery {
    enabled = true
  }
}

#### dynamodb_pitr: pass: a string
resource "aws_dynamodb_table" "t" {
  name         = "t"
  hash_key     = "id"
  billing_mode = "PAY_PER_REQUEST"
  attribute {
    name = "id"
    type = "S"
  }
  point_in_time_recovery {
    enabled = "true"
  }
}

#### dynamodb_pitr: pass: a variable's default
variable "v" {
  default = true
}
resource "aws_dynamodb_table" "t" {
  name         = "t"
  hash_key     = "id"
  billing_mode = "PAY_PER_REQUEST"
  attribute {
    name = "id"
    type = "S"
  }
  point_in_time_recovery {
    enabled = var.v
  }
}

#### dynamodb_pitr: pass: a dynamic block
resource "aws_dynamodb_table" "t" {
  name         = "t"
  hash_key     = "id"
  billing_mode = "PAY_PER_REQUEST"
  attribute {
    name = "id"
    type = "S"
  }
  dynamic "point_in_time_recovery" {
    for_each = [true]
    content {
      enabled = point_in_time_recovery.value
    }
  }
}

#### dynamodb_pitr: pass: every replica
resource "aws_dynamodb_table" "t" {
  name         = "t"
  hash_key     = "id"
  billing_mode = "PAY_PER_REQUEST"
  attribute {
    name = "id"
    type = "S"
  }
  point_in_time_recovery {
    enabled = true
  }
  replica {
    region_name            = "eu-west-2"
    point_in_time_recovery = true
  }
}

#### dynamodb_pitr: pass: a replica of its own
resource "aws_dynamodb_table" "t" {
  name         = "t"
  hash_key     = "id"
  billing_mode = "PAY_PER_REQUEST"
  attribute {
    name = "id"
    type = "S"
  }
  point_in_time_recovery {
    enabled = true
  }
}
resource "aws_dynamodb_table_replica" "r" {
  global_table_arn       = aws_dynamodb_table.t.arn
  point_in_time_recovery = true
}

#### dynamodb_pitr: fail: absent
resource "aws_dynamodb_table" "t" {
  name         = "t"
  hash_key     = "id"
  billing_mode = "PAY_PER_REQUEST"
  attribute {
    name = "id"
    type = "S"
  }

}

#### dynamodb_pitr: fail: disabled
resource "aws_dynamodb_table" "t" {
  name         = "t"
  hash_key     = "id"
  billing_mode = "PAY_PER_REQUEST"
  attribute {
    name = "id"
    type = "S"
  }
  point_in_time_recovery {
    enabled = false
  }
}

#### dynamodb_pitr: fail: a dynamic block over nothing
resource "aws_dynamodb_table" "t" {
  name         = "t"
  hash_key     = "id"
  billing_mode = "PAY_PER_REQUEST"
  attribute {
    name = "id"
    type = "S"
  }
  dynamic "point_in_time_recovery" {
    for_each = []
    content {
      enabled = true
    }
  }
}

#### dynamodb_pitr: fail: encryption in its place
resource "aws_dynamodb_table" "t" {
  name         = "t"
  hash_key     = "id"
  billing_mode = "PAY_PER_REQUEST"
  attribute {
    name = "id"
    type = "S"
  }
  server_side_encryption {
    enabled = true
  }
}

#### dynamodb_pitr: fail: a restored table
resource "aws_dynamodb_table" "t" {
  name         = "t"
  hash_key     = "id"
  billing_mode = "PAY_PER_REQUEST"
  attribute {
    name = "id"
    type = "S"
  }
  restore_source_name    = "old"
  restore_to_latest_time = true
}

#### dynamodb_pitr: fail: a replica is left out
resource "aws_dynamodb_table" "t" {
  name         = "t"
  hash_key     = "id"
  billing_mode = "PAY_PER_REQUEST"
  attribute {
    name = "id"
    type = "S"
  }
  point_in_time_recovery {
    enabled = true
  }
  replica {
    region_name            = "eu-west-2"
    point_in_time_recovery = true
  }
  replica {
    region_name = "eu-west-3"
  }
}

#### dynamodb_pitr: fail: replicas alone
resource "aws_dynamodb_table" "t" {
  name         = "t"
  hash_key     = "id"
  billing_mode = "PAY_PER_REQUEST"
  attribute {
    name = "id"
    type = "S"
  }
  replica {
    region_name            = "eu-west-2"
    point_in_time_recovery = true
  }
}

#### dynamodb_pitr: fail: a replica of its own, absent
resource "aws_dynamodb_table" "t" {
  name         = "t"
  hash_key     = "id"
  billing_mode = "PAY_PER_REQUEST"
  attribute {
    name = "id"
    type = "S"
  }
  point_in_time_recovery {
    enabled = true
  }
}
resource "aws_dynamodb_table_replica" "r" {
  global_table_arn = aws_dynamodb_table.t.arn
}

#### dynamodb_pitr: fail: one instance of two
resource "aws_dynamodb_table" "t" {
  for_each     = { a = true, b = false }
  name         = each.key
  hash_key     = "id"
  billing_mode = "PAY_PER_REQUEST"
  attribute {
    name = "id"
    type = "S"
  }
  point_in_time_recovery {
    enabled = each.value
  }
}

#### dynamodb_pitr: unknown: handed in
variable "v" {}
resource "aws_dynamodb_table" "t" {
  name         = "t"
  hash_key     = "id"
  billing_mode = "PAY_PER_REQUEST"
  attribute {
    name = "id"
    type = "S"
  }
  point_in_time_recovery {
    enabled = var.v
  }
}

#### dynamodb_pitr: unknown: a block that may not be there
variable "v" {}
resource "aws_dynamodb_table" "t" {
  name         = "t"
  hash_key     = "id"
  billing_mode = "PAY_PER_REQUEST"
  attribute {
    name = "id"
    type = "S"
  }
  dynamic "point_in_time_recovery" {
    for_each = var.v
    content {
      enabled = true
    }
  }
}

#### dynamodb_pitr: na: never created
resource "aws_dynamodb_table" "t" {
  count        = 0
  name         = "t"
  hash_key     = "id"
  billing_mode = "PAY_PER_REQUEST"
  attribute {
    name = "id"
    type = "S"
  }

}

#### ddb_encryption: pass: a dynamic block
variable "encrypted" {
  default = true
}
resource "aws_dynamodb_table" "t" {
  name         = "t"
  hash_key     = "id"
  billing_mode = "PAY_PER_REQUEST"
  attribute {
    name = "id"
    type = "S"
  }
  dynamic "server_side_encryption" {
    for_each = [var.encrypted]
    content {
      enabled = server_side_encryption.value
    }
  }
}

#### dynamodb_pitr: pass: JSON syntax
{
  "resource": {
    "aws_dynamodb_table": {
      "r": {
        "name": "t",
        "hash_key": "id",
        "billing_mode": "PAY_PER_REQUEST",
        "attribute": {
          "name": "id",
          "type": "S"
        },
        "point_in_time_recovery": {
          "enabled": true
        }
      }
    }
  }
}

#### dynamodb_pitr: fail: JSON syntax
{
  "resource": {
    "aws_dynamodb_table": {
      "r": {
        "name": "t",
        "hash_key": "id",
        "billing_mode": "PAY_PER_REQUEST",
        "attribute": {
          "name": "id",
          "type": "S"
        },
        "point_in_time_recovery": {
          "enabled": true
        },
        "replica": [
          {
            "region_name": "eu-west-2"
          }
        ]
      }
    }
  }
}

#### ddb_encryption: pass: JSON syntax
{
  "resource": {
    "aws_dynamodb_table": {
      "r": {
        "name": "t",
        "hash_key": "id",
        "billing_mode": "PAY_PER_REQUEST",
        "attribute": {
          "name": "id",
          "type": "S"
        },
        "server_side_encryption": {
          "enabled": true
        }
      }
    }
  }
}

#### ddb_encryption: fail: JSON syntax
{
  "resource": {
    "aws_dynamodb_table": {
      "r": {
        "name": "t",
        "hash_key": "id",
        "billing_mode": "PAY_PER_REQUEST",
        "attribute": {
          "name": "id",
          "type": "S"
        },
        "server_side_encryption": [
          {
            "enabled": false
          }
        ]
      }
    }
  }
}
