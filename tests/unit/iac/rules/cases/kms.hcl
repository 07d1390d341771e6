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
