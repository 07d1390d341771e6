#### subnet_no_public_ip: pass: false
resource "aws_subnet" "r" {
  vpc_id                  = "vpc-1"
  cidr_block              = "10.0.1.0/24"
  map_public_ip_on_launch = false
}

#### subnet_no_public_ip: pass: the string false
resource "aws_subnet" "r" {
  vpc_id                  = "vpc-1"
  cidr_block              = "10.0.1.0/24"
  map_public_ip_on_launch = "false"
}

#### subnet_no_public_ip: pass: a variable's default
variable "v" {
  default = false
}
resource "aws_subnet" "r" {
  vpc_id                  = "vpc-1"
  cidr_block              = "10.0.1.0/24"
  map_public_ip_on_launch = var.v
}

#### subnet_no_public_ip: pass: a negated local
locals {
  v = true
}
resource "aws_subnet" "r" {
  vpc_id                  = "vpc-1"
  cidr_block              = "10.0.1.0/24"
  map_public_ip_on_launch = !local.v
}

#### subnet_no_public_ip: fail: true
resource "aws_subnet" "r" {
  vpc_id                  = "vpc-1"
  cidr_block              = "10.0.1.0/24"
  map_public_ip_on_launch = true
}

#### subnet_no_public_ip: fail: the string 1
resource "aws_subnet" "r" {
  vpc_id                  = "vpc-1"
  cidr_block              = "10.0.1.0/24"
  map_public_ip_on_launch = "1"
}

#### subnet_no_public_ip: fail: one instance of two
resource "aws_subnet" "r" {
  for_each                = { a = true, b = false }
  vpc_id                  = "vpc-1"
  cidr_block              = "10.0.1.0/24"
  map_public_ip_on_launch = each.value
}

#### subnet_no_public_ip: fail: only may be created
variable "n" {}
resource "aws_subnet" "r" {
  count                   = var.n
  vpc_id                  = "vpc-1"
  cidr_block              = "10.0.1.0/24"
  map_public_ip_on_launch = true
}

#### subnet_no_public_ip: fail: a map's entry
locals {
  v = { x = true }
}
resource "aws_subnet" "r" {
  vpc_id                  = "vpc-1"
  cidr_block              = "10.0.1.0/24"
  map_public_ip_on_launch = local.v.x
}

#### subnet_no_public_ip: pass: absent
resource "aws_subnet" "r" {
  vpc_id     = "vpc-1"
  cidr_block = "10.0.1.0/24"

}

#### subnet_no_public_ip: unknown: handed in
variable "v" {}
resource "aws_subnet" "r" {
  vpc_id                  = "vpc-1"
  cidr_block              = "10.0.1.0/24"
  map_public_ip_on_launch = var.v
}

#### subnet_no_public_ip: unknown: good, and only may be created
variable "n" {}
resource "aws_subnet" "r" {
  count                   = var.n
  vpc_id                  = "vpc-1"
  cidr_block              = "10.0.1.0/24"
  map_public_ip_on_launch = false
}

#### subnet_no_public_ip: na: never created
resource "aws_subnet" "r" {
  count                   = 0
  vpc_id                  = "vpc-1"
  cidr_block              = "10.0.1.0/24"
  map_public_ip_on_launch = true
}

#### subnet_no_public_ip: pass: null
resource "aws_subnet" "s" {
  vpc_id                  = "vpc-1"
  cidr_block              = "10.0.1.0/24"
  map_public_ip_on_launch = null
}

#### subnet_no_public_ip: pass: a default subnet, false
resource "aws_default_subnet" "s" {
  availability_zone       = "eu-west-1a"
  map_public_ip_on_launch = false
}

#### subnet_no_public_ip: fail: a default subnet, absent
resource "aws_default_subnet" "s" {
  availability_zone = "eu-west-1a"
}

#### subnet_no_public_ip: fail: by its place
variable "zones" {
  default = ["a", "b"]
}
resource "aws_subnet" "s" {
  count                   = length(var.zones)
  vpc_id                  = "vpc-1"
  cidr_block              = cidrsubnet("10.0.0.0/16", 8, count.index)
  map_public_ip_on_launch = count.index == 0
}

#### subnet_no_public_ip: pass: JSON syntax
{
  "resource": {
    "aws_subnet": {
      "r": {
        "vpc_id": "vpc-1",
        "cidr_block": "10.0.1.0/24",
        "map_public_ip_on_launch": false
      }
    }
  }
}

#### subnet_no_public_ip: fail: JSON syntax
{
  "resource": {
    "aws_subnet": {
      "r": {
        "vpc_id": "vpc-1",
        "cidr_block": "10.0.1.0/24",
        "map_public_ip_on_launch": true
      }
    }
  }
}
