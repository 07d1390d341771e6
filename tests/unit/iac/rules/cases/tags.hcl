#### tags: pass: one
resource "aws_sns_topic" "t" {
  name = "t"
  tags = { Name = "t" }
}

#### tags: pass: merged
locals {
  all = { Team = "x" }
}
resource "aws_sns_topic" "t" {
  name = "t"
  tags = merge(local.all, { Name = "t" })
}

#### tags: pass: a value to come
variable "v" {}
resource "aws_sns_topic" "t" {
  name = "t"
  tags = { Name = var.v }
}

#### tags: pass: by the provider
provider "aws" {
  default_tags {
    tags = { Team = "x" }
  }
}
resource "aws_sns_topic" "t" {
  name = "t"

}

#### tags: pass: of an autoscaling group
resource "aws_autoscaling_group" "a" {
  max_size = 1
  min_size = 1
  tag {
    key                 = "k"
    value               = "v"
    propagate_at_launch = true
  }
}

#### tags: fail: absent
resource "aws_sns_topic" "t" {
  name = "t"

}

#### tags: fail: empty
resource "aws_sns_topic" "t" {
  name = "t"
  tags = {}
}

#### tags: fail: null
resource "aws_sns_topic" "t" {
  name = "t"
  tags = null
}

#### tags: fail: all values null
resource "aws_sns_topic" "t" {
  name = "t"
  tags = { Name = null }
}

#### tags: fail: an empty default of the provider
provider "aws" {
  default_tags {
    tags = {}
  }
}
resource "aws_sns_topic" "t" {
  name = "t"

}

#### tags: unknown: unknown
variable "v" {}
resource "aws_sns_topic" "t" {
  name = "t"
  tags = var.v
}

#### tags: na: a type that is not asked
resource "aws_sns_topic_policy" "t" {
  arn    = "a"
  policy = "{}"
}

#### tags: pass: JSON syntax
{
  "resource": {
    "aws_vpc": {
      "r": {
        "cidr_block": "10.0.0.0/16",
        "tags": {
          "Name": "v"
        }
      }
    }
  }
}

#### tags: fail: JSON syntax
{
  "resource": {
    "aws_vpc": {
      "r": {
        "cidr_block": "10.0.0.0/16",
        "tags": {}
      }
    }
  }
}

#### tags: pass: default tags of the provider that makes it
provider "aws" {
  alias  = "west"
  region = "us-west-2"

  default_tags {
    tags = { Team = "data" }
  }
}

resource "aws_vpc" "v" {
  provider   = aws.west
  cidr_block = "10.0.0.0/16"
}

#### tags: fail: default tags of another provider
provider "aws" {
  default_tags {
    tags = { Team = "data" }
  }
}

provider "aws" {
  alias  = "west"
  region = "us-west-2"
}

resource "aws_vpc" "v" {
  provider   = aws.west
  cidr_block = "10.0.0.0/16"
}
