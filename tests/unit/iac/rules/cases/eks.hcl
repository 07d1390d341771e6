#### eks_no_public_endpoint: pass: false
resource "aws_eks_cluster" "e" {
  name     = "e"
  role_arn = "arn:aws:iam::111122223333:role/e"

  vpc_config {
    subnet_ids              = ["subnet-1", "subnet-2"]
    endpoint_public_access  = false
    endpoint_private_access = true
  }
}

#### eks_no_public_endpoint: pass: the string false
resource "aws_eks_cluster" "e" {
  name     = "e"
  role_arn = "arn:aws:iam::111122223333:role/e"

  vpc_config {
    subnet_ids              = ["subnet-1", "subnet-2"]
    endpoint_public_access  = "false"
    endpoint_private_access = "true"
  }
}

#### eks_no_public_endpoint: pass: a variable's default
variable "public" {
  default = false
}
resource "aws_eks_cluster" "e" {
  name     = "e"
  role_arn = "arn:aws:iam::111122223333:role/e"

  vpc_config {
    subnet_ids             = ["subnet-1", "subnet-2"]
    endpoint_public_access = var.public
  }
}

#### eks_no_public_endpoint: pass: a list that no longer matters
resource "aws_eks_cluster" "e" {
  name     = "e"
  role_arn = "arn:aws:iam::111122223333:role/e"

  vpc_config {
    subnet_ids             = ["subnet-1", "subnet-2"]
    endpoint_public_access = false
    public_access_cidrs    = ["0.0.0.0/0"]
  }
}

#### eks_no_public_endpoint: pass: a dynamic block
locals {
  networks = [{ subnets = ["subnet-1"], public = false }]
}
resource "aws_eks_cluster" "e" {
  name     = "e"
  role_arn = "arn:aws:iam::111122223333:role/e"
  dynamic "vpc_config" {
    for_each = local.networks
    content {
      subnet_ids             = vpc_config.value.subnets
      endpoint_public_access = vpc_config.value.public
    }
  }
}

#### eks_no_public_endpoint: fail: absent
resource "aws_eks_cluster" "e" {
  name     = "e"
  role_arn = "arn:aws:iam::111122223333:role/e"

  vpc_config {
    subnet_ids = ["subnet-1", "subnet-2"]

  }
}

#### eks_no_public_endpoint: fail: true
resource "aws_eks_cluster" "e" {
  name     = "e"
  role_arn = "arn:aws:iam::111122223333:role/e"

  vpc_config {
    subnet_ids             = ["subnet-1", "subnet-2"]
    endpoint_public_access = true
  }
}

#### eks_no_public_endpoint: fail: private as well
resource "aws_eks_cluster" "e" {
  name     = "e"
  role_arn = "arn:aws:iam::111122223333:role/e"

  vpc_config {
    subnet_ids              = ["subnet-1", "subnet-2"]
    endpoint_private_access = true
  }
}

#### eks_no_public_endpoint: fail: the string true
resource "aws_eks_cluster" "e" {
  name     = "e"
  role_arn = "arn:aws:iam::111122223333:role/e"

  vpc_config {
    subnet_ids             = ["subnet-1", "subnet-2"]
    endpoint_public_access = "true"
  }
}

#### eks_no_public_endpoint: fail: bounded to an office
resource "aws_eks_cluster" "e" {
  name     = "e"
  role_arn = "arn:aws:iam::111122223333:role/e"

  vpc_config {
    subnet_ids             = ["subnet-1", "subnet-2"]
    endpoint_public_access = true
    public_access_cidrs    = ["203.0.113.0/24"]
  }
}

#### eks_no_public_endpoint: fail: bounded, and absent
resource "aws_eks_cluster" "e" {
  name     = "e"
  role_arn = "arn:aws:iam::111122223333:role/e"

  vpc_config {
    subnet_ids          = ["subnet-1", "subnet-2"]
    public_access_cidrs = ["203.0.113.0/24"]
  }
}

#### eks_no_public_endpoint: fail: open to the world
resource "aws_eks_cluster" "e" {
  name     = "e"
  role_arn = "arn:aws:iam::111122223333:role/e"

  vpc_config {
    subnet_ids             = ["subnet-1", "subnet-2"]
    endpoint_public_access = true
    public_access_cidrs    = ["0.0.0.0/0"]
  }
}

#### eks_no_public_endpoint: fail: null
resource "aws_eks_cluster" "e" {
  name     = "e"
  role_arn = "arn:aws:iam::111122223333:role/e"

  vpc_config {
    subnet_ids             = ["subnet-1", "subnet-2"]
    endpoint_public_access = null
  }
}

#### eks_no_public_endpoint: fail: a variable's default, true
variable "public" {
  type    = bool
  default = true
}
resource "aws_eks_cluster" "e" {
  name     = "e"
  role_arn = "arn:aws:iam::111122223333:role/e"

  vpc_config {
    subnet_ids             = ["subnet-1", "subnet-2"]
    endpoint_public_access = var.public
  }
}

#### eks_no_public_endpoint: fail: false elsewhere
resource "aws_eks_cluster" "e" {
  name     = "e"
  role_arn = "arn:aws:iam::111122223333:role/e"
  tags     = { endpoint_public_access = false }
  vpc_config {
    subnet_ids = ["subnet-1", "subnet-2"]

  }
}

#### eks_no_public_endpoint: fail: of two, one
resource "aws_eks_cluster" "e" {
  for_each = { a = true, b = false }
  name     = each.key
  role_arn = "arn:aws:iam::111122223333:role/e"
  vpc_config {
    subnet_ids             = ["subnet-1", "subnet-2"]
    endpoint_public_access = each.value
  }
}

#### eks_no_public_endpoint: fail: no networking at all
resource "aws_eks_cluster" "e" {
  name     = "e"
  role_arn = "arn:aws:iam::111122223333:role/e"
}

#### eks_no_public_endpoint: unknown: handed in
variable "public" {}
resource "aws_eks_cluster" "e" {
  name     = "e"
  role_arn = "arn:aws:iam::111122223333:role/e"

  vpc_config {
    subnet_ids             = ["subnet-1", "subnet-2"]
    endpoint_public_access = var.public
  }
}

#### eks_no_public_endpoint: unknown: a block that may not be there
variable "networks" {}
resource "aws_eks_cluster" "e" {
  name     = "e"
  role_arn = "arn:aws:iam::111122223333:role/e"
  dynamic "vpc_config" {
    for_each = var.networks
    content {
      subnet_ids             = vpc_config.value
      endpoint_public_access = false
    }
  }
}

#### eks_no_public_endpoint: na: never created
resource "aws_eks_cluster" "e" {
  count    = 0
  name     = "e"
  role_arn = "arn:aws:iam::111122223333:role/e"
  vpc_config {
    subnet_ids             = ["subnet-1", "subnet-2"]
    endpoint_public_access = true
  }
}

#### eks_control_plane_logs: pass: all five
resource "aws_eks_cluster" "e" {
  name                      = "e"
  role_arn                  = "arn:aws:iam::111122223333:role/e"
  enabled_cluster_log_types = ["api", "audit", "authenticator", "controllerManager", "scheduler"]
  vpc_config {
    subnet_ids = ["subnet-1", "subnet-2"]

  }
}

#### eks_control_plane_logs: pass: a set in another order
resource "aws_eks_cluster" "e" {
  name                      = "e"
  role_arn                  = "arn:aws:iam::111122223333:role/e"
  enabled_cluster_log_types = toset(["scheduler", "controllerManager", "authenticator", "audit", "api"])
  vpc_config {
    subnet_ids = ["subnet-1", "subnet-2"]

  }
}

#### eks_control_plane_logs: pass: a variable's default
variable "types" {
  type    = list(string)
  default = ["api", "audit", "authenticator", "controllerManager", "scheduler"]
}
resource "aws_eks_cluster" "e" {
  name                      = "e"
  role_arn                  = "arn:aws:iam::111122223333:role/e"
  enabled_cluster_log_types = var.types
  vpc_config {
    subnet_ids = ["subnet-1", "subnet-2"]

  }
}

#### eks_control_plane_logs: pass: two locals
locals {
  some   = ["api", "audit", "authenticator"]
  others = ["controllerManager", "scheduler"]
}
resource "aws_eks_cluster" "e" {
  name                      = "e"
  role_arn                  = "arn:aws:iam::111122223333:role/e"
  enabled_cluster_log_types = concat(local.some, local.others)
  vpc_config {
    subnet_ids = ["subnet-1", "subnet-2"]

  }
}

#### eks_control_plane_logs: pass: decoded
resource "aws_eks_cluster" "e" {
  name                      = "e"
  role_arn                  = "arn:aws:iam::111122223333:role/e"
  enabled_cluster_log_types = jsondecode("[\"api\",\"audit\",\"authenticator\",\"controllerManager\",\"scheduler\"]")
  vpc_config {
    subnet_ids = ["subnet-1", "subnet-2"]

  }
}

#### eks_control_plane_logs: fail: absent
resource "aws_eks_cluster" "e" {
  name     = "e"
  role_arn = "arn:aws:iam::111122223333:role/e"
  vpc_config {
    subnet_ids = ["subnet-1", "subnet-2"]

  }
}

#### eks_control_plane_logs: fail: none
resource "aws_eks_cluster" "e" {
  name                      = "e"
  role_arn                  = "arn:aws:iam::111122223333:role/e"
  enabled_cluster_log_types = []
  vpc_config {
    subnet_ids = ["subnet-1", "subnet-2"]

  }
}

#### eks_control_plane_logs: fail: the audit log alone
resource "aws_eks_cluster" "e" {
  name                      = "e"
  role_arn                  = "arn:aws:iam::111122223333:role/e"
  enabled_cluster_log_types = ["audit"]
  vpc_config {
    subnet_ids = ["subnet-1", "subnet-2"]

  }
}

#### eks_control_plane_logs: fail: one is missing
resource "aws_eks_cluster" "e" {
  name                      = "e"
  role_arn                  = "arn:aws:iam::111122223333:role/e"
  enabled_cluster_log_types = ["api", "audit", "authenticator", "scheduler"]
  vpc_config {
    subnet_ids = ["subnet-1", "subnet-2"]

  }
}

#### eks_control_plane_logs: fail: one is misspelt
resource "aws_eks_cluster" "e" {
  name                      = "e"
  role_arn                  = "arn:aws:iam::111122223333:role/e"
  enabled_cluster_log_types = ["api", "audit", "authenticator", "controllermanager", "scheduler"]
  vpc_config {
    subnet_ids = ["subnet-1", "subnet-2"]

  }
}

#### eks_control_plane_logs: fail: one thing five times
resource "aws_eks_cluster" "e" {
  name                      = "e"
  role_arn                  = "arn:aws:iam::111122223333:role/e"
  enabled_cluster_log_types = ["api", "api", "api", "api", "api"]
  vpc_config {
    subnet_ids = ["subnet-1", "subnet-2"]

  }
}

#### eks_control_plane_logs: fail: null
resource "aws_eks_cluster" "e" {
  name                      = "e"
  role_arn                  = "arn:aws:iam::111122223333:role/e"
  enabled_cluster_log_types = null
  vpc_config {
    subnet_ids = ["subnet-1", "subnet-2"]

  }
}

#### eks_control_plane_logs: fail: all but what a filter drops
locals {
  types = ["api", "audit", "authenticator", "controllerManager", "scheduler"]
}
resource "aws_eks_cluster" "e" {
  name                      = "e"
  role_arn                  = "arn:aws:iam::111122223333:role/e"
  enabled_cluster_log_types = [for t in local.types : t if t != "audit"]
  vpc_config {
    subnet_ids = ["subnet-1", "subnet-2"]

  }
}

#### eks_control_plane_logs: fail: one unknown for two that are missing
variable "more" {}
resource "aws_eks_cluster" "e" {
  name                      = "e"
  role_arn                  = "arn:aws:iam::111122223333:role/e"
  enabled_cluster_log_types = ["api", "audit", "scheduler", var.more]
  vpc_config {
    subnet_ids = ["subnet-1", "subnet-2"]

  }
}

#### eks_control_plane_logs: fail: a log group in its place
resource "aws_eks_cluster" "e" {
  name     = "e"
  role_arn = "arn:aws:iam::111122223333:role/e"
  vpc_config {
    subnet_ids = ["subnet-1", "subnet-2"]

  }
}
resource "aws_cloudwatch_log_group" "g" {
  name = "/aws/eks/e/cluster"
}

#### eks_control_plane_logs: unknown: handed in
variable "types" {}
resource "aws_eks_cluster" "e" {
  name                      = "e"
  role_arn                  = "arn:aws:iam::111122223333:role/e"
  enabled_cluster_log_types = var.types
  vpc_config {
    subnet_ids = ["subnet-1", "subnet-2"]

  }
}

#### eks_control_plane_logs: unknown: one that may be the missing one
variable "more" {}
resource "aws_eks_cluster" "e" {
  name                      = "e"
  role_arn                  = "arn:aws:iam::111122223333:role/e"
  enabled_cluster_log_types = ["api", "audit", "authenticator", "scheduler", var.more]
  vpc_config {
    subnet_ids = ["subnet-1", "subnet-2"]

  }
}

#### eks_control_plane_logs: na: never created
resource "aws_eks_cluster" "e" {
  count    = 0
  name     = "e"
  role_arn = "arn:aws:iam::111122223333:role/e"
  vpc_config {
    subnet_ids = ["subnet-1", "subnet-2"]

  }
}

#### eks_no_public_endpoint: pass: JSON syntax
{
  "resource": {
    "aws_eks_cluster": {
      "r": {
        "name": "e",
        "role_arn": "arn:aws:iam::111122223333:role/e",
        "vpc_config": {
          "subnet_ids": [
            "subnet-1"
          ],
          "endpoint_public_access": false
        }
      }
    }
  }
}

#### eks_no_public_endpoint: fail: JSON syntax
{
  "resource": {
    "aws_eks_cluster": {
      "r": {
        "name": "e",
        "role_arn": "arn:aws:iam::111122223333:role/e",
        "vpc_config": [
          {
            "subnet_ids": [
              "subnet-1"
            ],
            "endpoint_public_access": true,
            "public_access_cidrs": [
              "203.0.113.0/24"
            ]
          }
        ]
      }
    }
  }
}

#### eks_control_plane_logs: pass: JSON syntax
{
  "resource": {
    "aws_eks_cluster": {
      "r": {
        "name": "e",
        "role_arn": "arn:aws:iam::111122223333:role/e",
        "vpc_config": {
          "subnet_ids": [
            "subnet-1"
          ]
        },
        "enabled_cluster_log_types": [
          "api",
          "audit",
          "authenticator",
          "controllerManager",
          "scheduler"
        ]
      }
    }
  }
}

#### eks_control_plane_logs: fail: JSON syntax
{
  "resource": {
    "aws_eks_cluster": {
      "r": {
        "name": "e",
        "role_arn": "arn:aws:iam::111122223333:role/e",
        "vpc_config": {
          "subnet_ids": [
            "subnet-1"
          ]
        },
        "enabled_cluster_log_types": [
          "api",
          "audit"
        ]
      }
    }
  }
}
