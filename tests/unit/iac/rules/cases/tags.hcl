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
