#### redshift_public: pass: false
resource "aws_redshift_cluster" "r" {
  cluster_identifier  = "c"
  node_type           = "ra3.large"
  publicly_accessible = false
}

#### redshift_public: pass: the string false
resource "aws_redshift_cluster" "r" {
  cluster_identifier  = "c"
  node_type           = "ra3.large"
  publicly_accessible = "false"
}

#### redshift_public: pass: a variable's default
variable "v" {
  default = false
}
resource "aws_redshift_cluster" "r" {
  cluster_identifier  = "c"
  node_type           = "ra3.large"
  publicly_accessible = var.v
}

#### redshift_public: pass: a negated local
locals {
  v = true
}
resource "aws_redshift_cluster" "r" {
  cluster_identifier  = "c"
  node_type           = "ra3.large"
  publicly_accessible = !local.v
}

#### redshift_public: fail: true
resource "aws_redshift_cluster" "r" {
  cluster_identifier  = "c"
  node_type           = "ra3.large"
  publicly_accessible = true
}

#### redshift_public: fail: the string 1
resource "aws_redshift_cluster" "r" {
  cluster_identifier  = "c"
  node_type           = "ra3.large"
  publicly_accessible = "1"
}

#### redshift_public: fail: one instance of two
resource "aws_redshift_cluster" "r" {
  for_each            = { a = true, b = false }
  cluster_identifier  = "c"
  node_type           = "ra3.large"
  publicly_accessible = each.value
}

#### redshift_public: fail: only may be created
variable "n" {}
resource "aws_redshift_cluster" "r" {
  count               = var.n
  cluster_identifier  = "c"
  node_type           = "ra3.large"
  publicly_accessible = true
}

#### redshift_public: fail: in a comment
resource "aws_redshift_cluster" "r" {
  cluster_identifier = "c"
  node_type          = "ra3.large"
  # publicly_accessible = false
}

#### redshift_public: fail: null
resource "aws_redshift_cluster" "r" {
  cluster_identifier  = "c"
  node_type           = "ra3.large"
  publicly_accessible = null
}

#### redshift_public: fail: among the tags
resource "aws_redshift_cluster" "r" {
  cluster_identifier = "c"
  node_type          = "ra3.large"
  tags               = { publicly_accessible = false }
}

#### redshift_public: fail: absent
resource "aws_redshift_cluster" "r" {
  cluster_identifier = "c"
  node_type          = "ra3.large"

}

#### redshift_public: unknown: handed in
variable "v" {}
resource "aws_redshift_cluster" "r" {
  cluster_identifier  = "c"
  node_type           = "ra3.large"
  publicly_accessible = var.v
}

#### redshift_public: unknown: good, and only may be created
variable "n" {}
resource "aws_redshift_cluster" "r" {
  count               = var.n
  cluster_identifier  = "c"
  node_type           = "ra3.large"
  publicly_accessible = false
}

#### redshift_public: na: never created
resource "aws_redshift_cluster" "r" {
  count               = 0
  cluster_identifier  = "c"
  node_type           = "ra3.large"
  publicly_accessible = true
}

#### redshift_public: pass: a workgroup, absent
resource "aws_redshiftserverless_workgroup" "w" {
  namespace_name = "n"
  workgroup_name = "w"
}

#### redshift_public: pass: a workgroup, false
resource "aws_redshiftserverless_workgroup" "w" {
  namespace_name      = "n"
  workgroup_name      = "w"
  publicly_accessible = false
}

#### redshift_public: fail: a workgroup, true
resource "aws_redshiftserverless_workgroup" "w" {
  namespace_name      = "n"
  workgroup_name      = "w"
  publicly_accessible = true
}

#### redshift_public: fail: a private workgroup beside a public cluster
resource "aws_redshiftserverless_workgroup" "w" {
  namespace_name = "n"
  workgroup_name = "w"
}
resource "aws_redshift_cluster" "c" {
  cluster_identifier  = "c"
  node_type           = "ra3.large"
  publicly_accessible = true
}

#### redshift_public: fail: in a subnet group of its own
resource "aws_redshift_cluster" "c" {
  cluster_identifier        = "c"
  node_type                 = "ra3.large"
  cluster_subnet_group_name = "private"
}

#### redshift_encrypted: pass: true
resource "aws_redshift_cluster" "r" {
  cluster_identifier = "c"
  node_type          = "ra3.large"
  encrypted          = true
}

#### redshift_encrypted: pass: the string true
resource "aws_redshift_cluster" "r" {
  cluster_identifier = "c"
  node_type          = "ra3.large"
  encrypted          = "true"
}

#### redshift_encrypted: pass: a variable's default
variable "v" {
  default = true
}
resource "aws_redshift_cluster" "r" {
  cluster_identifier = "c"
  node_type          = "ra3.large"
  encrypted          = var.v
}

#### redshift_encrypted: pass: a negated local
locals {
  v = false
}
resource "aws_redshift_cluster" "r" {
  cluster_identifier = "c"
  node_type          = "ra3.large"
  encrypted          = !local.v
}

#### redshift_encrypted: fail: false
resource "aws_redshift_cluster" "r" {
  cluster_identifier = "c"
  node_type          = "ra3.large"
  encrypted          = false
}

#### redshift_encrypted: fail: the string 0
resource "aws_redshift_cluster" "r" {
  cluster_identifier = "c"
  node_type          = "ra3.large"
  encrypted          = "0"
}

#### redshift_encrypted: fail: one instance of two
resource "aws_redshift_cluster" "r" {
  for_each           = { a = true, b = false }
  cluster_identifier = "c"
  node_type          = "ra3.large"
  encrypted          = each.value
}

#### redshift_encrypted: fail: only may be created
variable "n" {}
resource "aws_redshift_cluster" "r" {
  count              = var.n
  cluster_identifier = "c"
  node_type          = "ra3.large"
  encrypted          = false
}

#### redshift_encrypted: fail: in a comment
resource "aws_redshift_cluster" "r" {
  cluster_identifier = "c"
  node_type          = "ra3.large"
  # encrypted = true
}

#### redshift_encrypted: fail: null
resource "aws_redshift_cluster" "r" {
  cluster_identifier = "c"
  node_type          = "ra3.large"
  encrypted          = null
}

#### redshift_encrypted: fail: among the tags
resource "aws_redshift_cluster" "r" {
  cluster_identifier = "c"
  node_type          = "ra3.large"
  tags               = { encrypted = true }
}

#### redshift_encrypted: fail: absent
resource "aws_redshift_cluster" "r" {
  cluster_identifier = "c"
  node_type          = "ra3.large"

}

#### redshift_encrypted: unknown: handed in
variable "v" {}
resource "aws_redshift_cluster" "r" {
  cluster_identifier = "c"
  node_type          = "ra3.large"
  encrypted          = var.v
}

#### redshift_encrypted: unknown: good, and only may be created
variable "n" {}
resource "aws_redshift_cluster" "r" {
  count              = var.n
  cluster_identifier = "c"
  node_type          = "ra3.large"
  encrypted          = true
}

#### redshift_encrypted: na: never created
resource "aws_redshift_cluster" "r" {
  count              = 0
  cluster_identifier = "c"
  node_type          = "ra3.large"
  encrypted          = false
}

#### redshift_encrypted: fail: a key alone
resource "aws_redshift_cluster" "c" {
  cluster_identifier = "c"
  node_type          = "ra3.large"
  kms_key_id         = "arn:aws:kms:eu-west-1:111122223333:key/k"
}

#### redshift_encrypted: fail: plain in spite of its snapshot
resource "aws_redshift_cluster" "c" {
  cluster_identifier  = "c"
  node_type           = "ra3.large"
  snapshot_identifier = "s"
  encrypted           = false
}

#### redshift_encrypted: unknown: as its snapshot
resource "aws_redshift_cluster" "c" {
  cluster_identifier  = "c"
  node_type           = "ra3.large"
  snapshot_identifier = "s"
}

#### redshift_encrypted: na: a serverless namespace
resource "aws_redshiftserverless_namespace" "n" {
  namespace_name = "n"
}

#### redshift_public: pass: JSON syntax
{
  "resource": {
    "aws_redshift_cluster": {
      "r": {
        "cluster_identifier": "c",
        "node_type": "ra3.large",
        "publicly_accessible": false
      }
    }
  }
}

#### redshift_public: fail: JSON syntax
{
  "resource": {
    "aws_redshift_cluster": {
      "r": {
        "cluster_identifier": "c",
        "node_type": "ra3.large",
        "publicly_accessible": true
      }
    }
  }
}

#### redshift_encrypted: pass: JSON syntax
{
  "resource": {
    "aws_redshift_cluster": {
      "r": {
        "cluster_identifier": "c",
        "node_type": "ra3.large",
        "encrypted": true
      }
    }
  }
}

#### redshift_encrypted: fail: JSON syntax
{
  "resource": {
    "aws_redshift_cluster": {
      "r": {
        "cluster_identifier": "c",
        "node_type": "ra3.large",
        "encrypted": false
      }
    }
  }
}
