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
