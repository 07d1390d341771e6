#### hardcoded_secret: fail: a literal
resource "aws_db_instance" "d" {
  engine   = "postgres"
  username = "app"
  password = "hunter2"
}

#### hardcoded_secret: fail: a placeholder
resource "aws_db_instance" "d" {
  engine   = "postgres"
  username = "app"
  password = "changeme"
}

#### hardcoded_secret: fail: an empty string
resource "aws_db_instance" "d" {
  engine   = "postgres"
  username = "app"
  password = ""
}

#### hardcoded_secret: fail: a number
resource "aws_db_instance" "d" {
  engine   = "postgres"
  username = "app"
  password = 12345678
}

#### hardcoded_secret: fail: a local
locals {
  p = "hunter2"
}
resource "aws_db_instance" "d" {
  engine   = "postgres"
  username = "app"
  password = local.p
}

#### hardcoded_secret: fail: a template of locals
locals {
  p = "hunter2"
}
resource "aws_db_instance" "d" {
  engine   = "postgres"
  username = "app"
  password = "${local.p}-${local.p}"
}

#### hardcoded_secret: fail: a function of literals
resource "aws_db_instance" "d" {
  engine   = "postgres"
  username = "app"
  password = join("", ["hun", "ter2"])
}

#### hardcoded_secret: fail: decoded
resource "aws_db_instance" "d" {
  engine   = "postgres"
  username = "app"
  password = base64decode("aHVudGVyMg==")
}

#### hardcoded_secret: fail: a variable's default
variable "p" {
  default   = "hunter2"
  sensitive = true
}
resource "aws_db_instance" "d" {
  engine   = "postgres"
  username = "app"
  password = var.p
}

#### hardcoded_secret: fail: only may be created
variable "n" {}
resource "aws_db_instance" "d" {
  engine   = "postgres"
  username = "app"
  count    = var.n
  password = "hunter2"
}

#### hardcoded_secret: fail: one instance of two
resource "aws_db_instance" "d" {
  engine   = "postgres"
  username = "app"
  for_each = { a = null, b = "hunter2" }
  password = each.value
}

#### hardcoded_secret: fail: a cluster
resource "aws_rds_cluster" "c" {
  engine          = "aurora-mysql"
  master_password = "hunter2"
}

#### hardcoded_secret: fail: a cache's token
resource "aws_elasticache_replication_group" "r" {
  auth_token = "hunter2hunter2hunter2"
}

#### hardcoded_secret: fail: a list of passwords
resource "aws_elasticache_user" "u" {
  passwords = ["hunter2hunter2hunter2"]
}

#### hardcoded_secret: fail: a broker's user
resource "aws_mq_broker" "b" {
  user {
    username = "u"
    password = "hunter2hunter2"
  }
}

#### hardcoded_secret: fail: a secret's version
resource "aws_secretsmanager_secret_version" "s" {
  secret_id     = "s"
  secret_string = "hunter2"
}

#### hardcoded_secret: fail: a secret's version in JSON
resource "aws_secretsmanager_secret_version" "s" {
  secret_id     = "s"
  secret_string = jsonencode({ username = "app", password = "hunter2" })
}

#### hardcoded_secret: fail: a half-known secret
resource "random_pet" "u" {
}
resource "aws_secretsmanager_secret_version" "s" {
  secret_id     = "s"
  secret_string = jsonencode({ username = random_pet.u.id, password = "hunter2" })
}

#### hardcoded_secret: fail: a parameter
resource "aws_ssm_parameter" "p" {
  name  = "p"
  type  = "SecureString"
  value = "hunter2"
}

#### hardcoded_secret: fail: an access key in a description
resource "aws_sns_topic" "t" {
  display_name = "AKIAIOSFODNN7EXAMPLE"
}

#### hardcoded_secret: fail: a private key
resource "aws_iam_server_certificate" "c" {
  private_key = "-----BEGIN RSA PRIVATE KEY-----"
}

#### hardcoded_secret: fail: a private key elsewhere
resource "aws_ssm_parameter" "c" {
  name  = "n"
  type  = "String"
  value = "-----BEGIN PRIVATE KEY-----"
}

#### hardcoded_secret: fail: a start-up script
resource "aws_instance" "i" {
  ami       = "a"
  user_data = "#!/bin/bash\nexport DB_PASSWORD=hunter2hunter2\n"
}

#### hardcoded_secret: fail: an encoded script
resource "aws_instance" "i" {
  ami              = "a"
  user_data_base64 = "IyEvYmluL2Jhc2gKZXhwb3J0IERCX1BBU1NXT1JEPWh1bnRlcjJodW50ZXIyCg=="
}

#### hardcoded_secret: fail: a container's environment
resource "aws_ecs_task_definition" "t" {
  family                = "f"
  container_definitions = jsonencode([{ name = "c", environment = [{ name = "DB_PASSWORD", value = "hunter2" }] }])
}

#### hardcoded_secret: fail: a build's environment
resource "aws_codebuild_project" "b" {
  environment {
    environment_variable {
      name  = "API_TOKEN"
      value = "hunter2"
    }
  }
}

#### hardcoded_secret: fail: a URL with a password
resource "aws_ssm_parameter" "u" {
  name  = "n"
  type  = "String"
  value = "https://app:hunter2@db.example.com/"
}

#### hardcoded_secret: fail: an access key in a function's environment
resource "aws_lambda_function" "f" {
  environment {
    variables = { KEY = "AKIAIOSFODNN7EXAMPLE" }
  }
}

#### hardcoded_secret: fail: the provider's own keys
provider "aws" {
  access_key = "AKIAIOSFODNN7EXAMPLE"
  secret_key = "x"
}
resource "aws_db_instance" "d" {
  engine   = "postgres"
  username = "app"

}

#### hardcoded_secret: pass: AWS keeps it
resource "aws_db_instance" "d" {
  engine                      = "postgres"
  username                    = "app"
  manage_master_user_password = true
}

#### hardcoded_secret: pass: a random one
resource "random_password" "p" {
  length = 20
}
resource "aws_db_instance" "d" {
  engine   = "postgres"
  username = "app"
  password = random_password.p.result
}

#### hardcoded_secret: pass: a variable without default
variable "p" {
  sensitive = true
}
resource "aws_db_instance" "d" {
  engine   = "postgres"
  username = "app"
  password = var.p
}

#### hardcoded_secret: pass: a secret that exists
data "aws_secretsmanager_secret_version" "s" {
  secret_id = "s"
}
resource "aws_db_instance" "d" {
  engine   = "postgres"
  username = "app"
  password = data.aws_secretsmanager_secret_version.s.secret_string
}

#### hardcoded_secret: pass: decoded from a secret that exists
data "aws_secretsmanager_secret_version" "s" {
  secret_id = "s"
}
resource "aws_db_instance" "d" {
  engine   = "postgres"
  username = "app"
  password = jsondecode(data.aws_secretsmanager_secret_version.s.secret_string)["password"]
}

#### hardcoded_secret: pass: null
resource "aws_db_instance" "d" {
  engine   = "postgres"
  username = "app"
  password = null
}

#### hardcoded_secret: pass: a random secret
resource "random_password" "p" {
  length = 20
}
resource "aws_secretsmanager_secret_version" "s" {
  secret_id     = "s"
  secret_string = random_password.p.result
}

#### hardcoded_secret: pass: a random secret in JSON
resource "random_password" "p" {
  length = 20
}
resource "aws_secretsmanager_secret_version" "s" {
  secret_id     = "s"
  secret_string = jsonencode({ username = "app", password = random_password.p.result })
}

#### hardcoded_secret: fail: a reference that only CloudFormation would resolve
resource "aws_db_instance" "d" {
  engine   = "postgres"
  username = "app"
  password = "{{resolve:secretsmanager:prod/db:SecretString:password}}"
}

#### hardcoded_secret: na: the length of a password
resource "random_password" "p" {
  length = 20
}

#### hardcoded_secret: na: a token that a script fetches
resource "aws_instance" "i" {
  ami       = "a"
  user_data = <<EOT
TOKEN=$(curl -X PUT http://169.254.169.254/latest/api/token -H "X-aws-ec2-metadata-token-ttl-seconds: 21600")
EOT
}

#### hardcoded_secret: na: metadata tokens
resource "aws_instance" "i" {
  ami = "a"
  metadata_options {
    http_tokens = "required"
  }
}

#### hardcoded_secret: na: the name of a secret
resource "aws_ecs_task_definition" "t" {
  family                = "f"
  container_definitions = jsonencode([{ name = "c", secrets = [{ name = "DB_PASSWORD", valueFrom = "arn:aws:secretsmanager:eu-west-1:111122223333:secret:s" }] }])
}

#### hardcoded_secret: na: a policy about passwords
resource "aws_iam_account_password_policy" "p" {
  minimum_password_length = 14
  require_symbols         = true
}

#### hardcoded_secret: fail: a module's argument
module "db" {
  source   = "terraform-aws-modules/rds/aws"
  password = "hunter2"
}
resource "aws_db_instance" "d" {
  engine   = "postgres"
  username = "app"

}

#### hardcoded_secret: fail: a fallback
variable "p" {
  sensitive = true
}
resource "aws_db_instance" "d" {
  engine   = "postgres"
  username = "app"
  password = var.p != "" ? var.p : "hunter2"
}

#### hardcoded_secret: fail: a fallback by coalesce
variable "p" {
  sensitive = true
}
resource "aws_db_instance" "d" {
  engine   = "postgres"
  username = "app"
  password = coalesce(var.p, "hunter2")
}

#### hardcoded_secret: fail: a fallback in a local
variable "p" {}
locals {
  password = coalesce(var.p, "hunter2")
}
resource "aws_db_instance" "d" {
  password = local.password
}

#### hardcoded_secret: fail: a key in a template
resource "aws_instance" "i" {
  ami       = "a"
  user_data = <<EOT
export AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE
export BUCKET=${aws_s3_bucket.b.id}
EOT
}
resource "aws_s3_bucket" "b" {
}

#### hardcoded_secret: pass: a choice of good ways
variable "p" {}
resource "random_password" "p" {
  length = 20
}
resource "aws_db_instance" "d" {
  password = var.p != "" ? var.p : random_password.p.result
}

#### hardcoded_secret: pass: a password only where there is no snapshot
variable "snapshot" {}
variable "p" {}
resource "aws_db_instance" "d" {
  snapshot_identifier = var.snapshot
  password            = var.snapshot == null ? var.p : ""
}

#### hardcoded_secret: na: a module that is given its password
variable "p" {}
module "db" {
  source   = "terraform-aws-modules/rds/aws"
  password = var.p
}

#### hardcoded_secret: fail: a module that is given a local
locals {
  p = "hunter2"
}
module "db" {
  source   = "terraform-aws-modules/rds/aws"
  password = local.p
}

#### hardcoded_secret: na: a creation token
resource "aws_efs_file_system" "f" {
  creation_token = "shared-files"
}

#### hardcoded_secret: fail: a literal that begins like an ARN
resource "aws_db_instance" "d" {
  password = "arn:hunter2"
}

#### hardcoded_secret: na: the name of a secret in a build
resource "aws_codebuild_project" "b" {
  environment {
    environment_variable {
      name  = "API_TOKEN"
      type  = "SECRETS_MANAGER"
      value = "prod/api-token"
    }
  }
}

#### hardcoded_secret: na: a plain parameter
resource "aws_ssm_parameter" "p" {
  name  = "port"
  type  = "String"
  value = "8080"
}

#### hardcoded_secret: pass: a parameter with a random value
resource "random_password" "p" {
  length = 20
}
resource "aws_ssm_parameter" "p" {
  name  = "p"
  type  = "SecureString"
  value = random_password.p.result
}

#### hardcoded_secret: pass: JSON syntax
{
  "resource": {
    "aws_db_instance": {
      "r": {
        "engine": "postgres",
        "instance_class": "db.t4g.small",
        "allocated_storage": 20,
        "username": "app",
        "manage_master_user_password": true
      }
    }
  }
}

#### hardcoded_secret: fail: JSON syntax
{
  "resource": {
    "aws_db_instance": {
      "r": {
        "engine": "postgres",
        "instance_class": "db.t4g.small",
        "allocated_storage": 20,
        "username": "app",
        "password": "hunter2"
      }
    }
  }
}

#### hardcoded_secret: fail: a fallback inside a lone interpolation
variable "password" {}

resource "aws_db_instance" "d" {
  engine            = "postgres"
  instance_class    = "db.t3.micro"
  allocated_storage = 20
  username          = "app"
  password          = "${coalesce(var.password, "hunter2")}"
}

#### hardcoded_secret: fail: a fallback in JSON syntax
{
  "variable": {"password": {}},
  "resource": {
    "aws_db_instance": {
      "d": {
        "engine": "postgres",
        "instance_class": "db.t3.micro",
        "allocated_storage": 20,
        "username": "app",
        "password": "${coalesce(var.password, \"hunter2\")}"
      }
    }
  }
}

#### hardcoded_secret: na: units that bear the name of a token
resource "aws_cognito_user_pool_client" "c" {
  name         = "app"
  user_pool_id = "eu-west-1_a1b2c3"

  token_validity_units {
    access_token  = "hours"
    id_token      = "hours"
    refresh_token = "days"
  }
}

#### hardcoded_secret: fail: a parameter that is named for a secret, of type String
resource "aws_ssm_parameter" "p" {
  name  = "/orders/db_password"
  type  = "String"
  value = "hunter2hunter2"
}

#### hardcoded_secret: pass: a parameter that is named for a secret and gets it from elsewhere
resource "random_password" "p" {
  length = 24
}

resource "aws_ssm_parameter" "p" {
  name  = "/orders/db_password"
  type  = "SecureString"
  value = random_password.p.result
}

#### hardcoded_secret: fail: the value of an API key
resource "aws_api_gateway_api_key" "k" {
  name  = "partner"
  value = "0123456789abcdef0123456789abcdef"
}
