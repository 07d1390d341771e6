#### lambda_plaintext_secrets: pass: no environment
resource "aws_lambda_function" "f" {
  function_name = "f"
  role          = "arn:aws:iam::111122223333:role/f"
  filename      = "f.zip"
  handler       = "main.handler"
  runtime       = "python3.13"

}

#### lambda_plaintext_secrets: pass: nothing that is secret
resource "aws_lambda_function" "f" {
  function_name = "f"
  role          = "arn:aws:iam::111122223333:role/f"
  filename      = "f.zip"
  handler       = "main.handler"
  runtime       = "python3.13"
  environment {
    variables = { STAGE = "prod", LOG_LEVEL = "info", MAX_TOKENS = "100" }
  }
}

#### lambda_plaintext_secrets: pass: the ARN of a secret
resource "aws_lambda_function" "f" {
  function_name = "f"
  role          = "arn:aws:iam::111122223333:role/f"
  filename      = "f.zip"
  handler       = "main.handler"
  runtime       = "python3.13"
  environment {
    variables = { DB_PASSWORD = "arn:aws:secretsmanager:eu-west-1:111122223333:secret:db-a1b2c3" }
  }
}

#### lambda_plaintext_secrets: pass: the ARN of a secret here
resource "aws_secretsmanager_secret" "s" {
  name = "db"
}
resource "aws_lambda_function" "f" {
  function_name = "f"
  role          = "arn:aws:iam::111122223333:role/f"
  filename      = "f.zip"
  handler       = "main.handler"
  runtime       = "python3.13"
  environment {
    variables = { DB_SECRET = aws_secretsmanager_secret.s.arn }
  }
}

#### lambda_plaintext_secrets: pass: the name of a parameter
resource "aws_ssm_parameter" "p" {
  name             = "/db/password"
  type             = "SecureString"
  value_wo         = ephemeral.random_password.p.result
  value_wo_version = 1
}
resource "aws_lambda_function" "f" {
  function_name = "f"
  role          = "arn:aws:iam::111122223333:role/f"
  filename      = "f.zip"
  handler       = "main.handler"
  runtime       = "python3.13"
  environment {
    variables = { DB_PASSWORD = aws_ssm_parameter.p.name }
  }
}

#### lambda_plaintext_secrets: pass: the secret that RDS keeps
resource "aws_db_instance" "d" {
  engine                      = "postgres"
  instance_class              = "db.t4g.small"
  allocated_storage           = 20
  username                    = "app"
  manage_master_user_password = true
}
resource "aws_lambda_function" "f" {
  function_name = "f"
  role          = "arn:aws:iam::111122223333:role/f"
  filename      = "f.zip"
  handler       = "main.handler"
  runtime       = "python3.13"
  environment {
    variables = { DB_PASSWORD = aws_db_instance.d.master_user_secret[0].secret_arn }
  }
}

#### lambda_plaintext_secrets: pass: where a secret is
variable "arn" {}
resource "aws_lambda_function" "f" {
  function_name = "f"
  role          = "arn:aws:iam::111122223333:role/f"
  filename      = "f.zip"
  handler       = "main.handler"
  runtime       = "python3.13"
  environment {
    variables = { DB_PASSWORD_ARN = var.arn, SECRET_NAME = "prod/db", PASSWORD_LENGTH = "20" }
  }
}

#### lambda_plaintext_secrets: pass: a switch and nothing
resource "aws_lambda_function" "f" {
  function_name = "f"
  role          = "arn:aws:iam::111122223333:role/f"
  filename      = "f.zip"
  handler       = "main.handler"
  runtime       = "python3.13"
  environment {
    variables = { USE_SECRET = "true", API_TOKEN = "" }
  }
}

#### lambda_plaintext_secrets: pass: a dynamic block
resource "aws_lambda_function" "f" {
  function_name = "f"
  role          = "arn:aws:iam::111122223333:role/f"
  filename      = "f.zip"
  handler       = "main.handler"
  runtime       = "python3.13"
  dynamic "environment" {
    for_each = ["prod"]
    content {
      variables = { STAGE = environment.value }
    }
  }
}

#### lambda_plaintext_secrets: fail: a literal
resource "aws_lambda_function" "f" {
  function_name = "f"
  role          = "arn:aws:iam::111122223333:role/f"
  filename      = "f.zip"
  handler       = "main.handler"
  runtime       = "python3.13"
  environment {
    variables = { DB_PASSWORD = "hunter2" }
  }
}

#### lambda_plaintext_secrets: fail: a placeholder
resource "aws_lambda_function" "f" {
  function_name = "f"
  role          = "arn:aws:iam::111122223333:role/f"
  filename      = "f.zip"
  handler       = "main.handler"
  runtime       = "python3.13"
  environment {
    variables = { API_KEY = "changeme" }
  }
}

#### lambda_plaintext_secrets: fail: a variable's default
variable "p" {
  default   = "hunter2"
  sensitive = true
}
resource "aws_lambda_function" "f" {
  function_name = "f"
  role          = "arn:aws:iam::111122223333:role/f"
  filename      = "f.zip"
  handler       = "main.handler"
  runtime       = "python3.13"
  environment {
    variables = { DB_PASSWORD = var.p }
  }
}

#### lambda_plaintext_secrets: fail: a local
locals {
  environment = { DB_PASSWORD = "hunter2" }
}
resource "aws_lambda_function" "f" {
  function_name = "f"
  role          = "arn:aws:iam::111122223333:role/f"
  filename      = "f.zip"
  handler       = "main.handler"
  runtime       = "python3.13"
  environment {
    variables = local.environment
  }
}

#### lambda_plaintext_secrets: fail: a merge
locals {
  common = { STAGE = "prod" }
}
resource "aws_lambda_function" "f" {
  function_name = "f"
  role          = "arn:aws:iam::111122223333:role/f"
  filename      = "f.zip"
  handler       = "main.handler"
  runtime       = "python3.13"
  environment {
    variables = merge(local.common, { JWT_SECRET = "hunter2" })
  }
}

#### lambda_plaintext_secrets: fail: a merge with what is handed in
variable "common" {}
resource "aws_lambda_function" "f" {
  function_name = "f"
  role          = "arn:aws:iam::111122223333:role/f"
  filename      = "f.zip"
  handler       = "main.handler"
  runtime       = "python3.13"
  environment {
    variables = merge(var.common, { JWT_SECRET = "hunter2" })
  }
}

#### lambda_plaintext_secrets: fail: a fallback
variable "p" {}
resource "aws_lambda_function" "f" {
  function_name = "f"
  role          = "arn:aws:iam::111122223333:role/f"
  filename      = "f.zip"
  handler       = "main.handler"
  runtime       = "python3.13"
  environment {
    variables = { DB_PASSWORD = coalesce(var.p, "hunter2") }
  }
}

#### lambda_plaintext_secrets: fail: a template
locals {
  a = "hun"
  b = "ter2"
}
resource "aws_lambda_function" "f" {
  function_name = "f"
  role          = "arn:aws:iam::111122223333:role/f"
  filename      = "f.zip"
  handler       = "main.handler"
  runtime       = "python3.13"
  environment {
    variables = { DB_PASSWORD = "${local.a}${local.b}" }
  }
}

#### lambda_plaintext_secrets: fail: decoded
resource "aws_lambda_function" "f" {
  function_name = "f"
  role          = "arn:aws:iam::111122223333:role/f"
  filename      = "f.zip"
  handler       = "main.handler"
  runtime       = "python3.13"
  environment {
    variables = { DB_PASSWORD = base64decode("aHVudGVyMg==") }
  }
}

#### lambda_plaintext_secrets: fail: in a document
resource "aws_lambda_function" "f" {
  function_name = "f"
  role          = "arn:aws:iam::111122223333:role/f"
  filename      = "f.zip"
  handler       = "main.handler"
  runtime       = "python3.13"
  environment {
    variables = { CONFIG = jsonencode({ host = "db", password = "hunter2" }) }
  }
}

#### lambda_plaintext_secrets: fail: in a half-known document
resource "aws_db_instance" "d" {
  engine            = "postgres"
  instance_class    = "db.t4g.small"
  allocated_storage = 20
}
resource "aws_lambda_function" "f" {
  function_name = "f"
  role          = "arn:aws:iam::111122223333:role/f"
  filename      = "f.zip"
  handler       = "main.handler"
  runtime       = "python3.13"
  environment {
    variables = { CONFIG = jsonencode({ host = aws_db_instance.d.address, password = "hunter2" }) }
  }
}

#### lambda_plaintext_secrets: fail: in a heredoc
resource "aws_lambda_function" "f" {
  function_name = "f"
  role          = "arn:aws:iam::111122223333:role/f"
  filename      = "f.zip"
  handler       = "main.handler"
  runtime       = "python3.13"
  environment {
    variables = {
      CONFIG = <<-EOT
{"db": {"password": "hunter2"}}
EOT
    }
  }
}

#### lambda_plaintext_secrets: fail: an access key under any name
resource "aws_lambda_function" "f" {
  function_name = "f"
  role          = "arn:aws:iam::111122223333:role/f"
  filename      = "f.zip"
  handler       = "main.handler"
  runtime       = "python3.13"
  environment {
    variables = { X = "AKIAIOSFODNN7EXAMPLE" }
  }
}

#### lambda_plaintext_secrets: fail: a URL with a password
resource "aws_lambda_function" "f" {
  function_name = "f"
  role          = "arn:aws:iam::111122223333:role/f"
  filename      = "f.zip"
  handler       = "main.handler"
  runtime       = "python3.13"
  environment {
    variables = { DATABASE_URL = "postgres://app:hunter2@db.example.com/app" }
  }
}

#### lambda_plaintext_secrets: fail: a half-known URL with a password
resource "aws_db_instance" "d" {
  engine            = "postgres"
  instance_class    = "db.t4g.small"
  allocated_storage = 20
}
resource "aws_lambda_function" "f" {
  function_name = "f"
  role          = "arn:aws:iam::111122223333:role/f"
  filename      = "f.zip"
  handler       = "main.handler"
  runtime       = "python3.13"
  environment {
    variables = { DATABASE_URL = "postgres://app:hunter2@${aws_db_instance.d.address}/app" }
  }
}

#### lambda_plaintext_secrets: fail: a name of PostgreSQL
resource "aws_lambda_function" "f" {
  function_name = "f"
  role          = "arn:aws:iam::111122223333:role/f"
  filename      = "f.zip"
  handler       = "main.handler"
  runtime       = "python3.13"
  environment {
    variables = { PGPASSWORD = "hunter2" }
  }
}

#### lambda_plaintext_secrets: fail: a camel
resource "aws_lambda_function" "f" {
  function_name = "f"
  role          = "arn:aws:iam::111122223333:role/f"
  filename      = "f.zip"
  handler       = "main.handler"
  runtime       = "python3.13"
  environment {
    variables = { dbPassword = "hunter2" }
  }
}

#### lambda_plaintext_secrets: fail: a key to sign with
resource "aws_lambda_function" "f" {
  function_name = "f"
  role          = "arn:aws:iam::111122223333:role/f"
  filename      = "f.zip"
  handler       = "main.handler"
  runtime       = "python3.13"
  environment {
    variables = { JWT_SIGNING_KEY = "hunter2" }
  }
}

#### lambda_plaintext_secrets: fail: one of several
resource "aws_lambda_function" "f" {
  function_name = "f"
  role          = "arn:aws:iam::111122223333:role/f"
  filename      = "f.zip"
  handler       = "main.handler"
  runtime       = "python3.13"
  environment {
    variables = { DB_PASSWORD_2 = "hunter2" }
  }
}

#### lambda_plaintext_secrets: fail: one of a stage
resource "aws_lambda_function" "f" {
  function_name = "f"
  role          = "arn:aws:iam::111122223333:role/f"
  filename      = "f.zip"
  handler       = "main.handler"
  runtime       = "python3.13"
  environment {
    variables = { DB_PASSWORD_PROD = "hunter2" }
  }
}

#### lambda_plaintext_secrets: fail: in the address of a database
resource "aws_lambda_function" "f" {
  function_name = "f"
  role          = "arn:aws:iam::111122223333:role/f"
  filename      = "f.zip"
  handler       = "main.handler"
  runtime       = "python3.13"
  environment {
    variables = { DSN = "host=db.example.com user=app password=hunter2" }
  }
}

#### lambda_plaintext_secrets: fail: in a half-known address
resource "aws_db_instance" "d" {
  engine            = "postgres"
  instance_class    = "db.t4g.small"
  allocated_storage = 20
}
resource "aws_lambda_function" "f" {
  function_name = "f"
  role          = "arn:aws:iam::111122223333:role/f"
  filename      = "f.zip"
  handler       = "main.handler"
  runtime       = "python3.13"
  environment {
    variables = { JDBC = "jdbc:postgresql://${aws_db_instance.d.endpoint}/app?user=app&password=hunter2" }
  }
}

#### lambda_plaintext_secrets: fail: under a computed name
locals {
  names = ["DB_PASSWORD"]
}
resource "aws_lambda_function" "f" {
  function_name = "f"
  role          = "arn:aws:iam::111122223333:role/f"
  filename      = "f.zip"
  handler       = "main.handler"
  runtime       = "python3.13"
  environment {
    variables = zipmap(local.names, ["hunter2"])
  }
}

#### lambda_plaintext_secrets: fail: marked as sensitive
resource "aws_lambda_function" "f" {
  function_name = "f"
  role          = "arn:aws:iam::111122223333:role/f"
  filename      = "f.zip"
  handler       = "main.handler"
  runtime       = "python3.13"
  environment {
    variables = { DB_PASSWORD = sensitive("hunter2") }
  }
}

#### lambda_plaintext_secrets: fail: encoded
resource "aws_lambda_function" "f" {
  function_name = "f"
  role          = "arn:aws:iam::111122223333:role/f"
  filename      = "f.zip"
  handler       = "main.handler"
  runtime       = "python3.13"
  environment {
    variables = { DB_PASSWORD = base64encode("hunter2") }
  }
}

#### lambda_plaintext_secrets: fail: a fallback in a lone interpolation
variable "p" {}
resource "aws_lambda_function" "f" {
  function_name = "f"
  role          = "arn:aws:iam::111122223333:role/f"
  filename      = "f.zip"
  handler       = "main.handler"
  runtime       = "python3.13"
  environment {
    variables = { DB_PASSWORD = "${coalesce(var.p, "hunter2")}" }
  }
}

#### lambda_plaintext_secrets: fail: a choice with a literal
variable "p" {}
resource "aws_lambda_function" "f" {
  function_name = "f"
  role          = "arn:aws:iam::111122223333:role/f"
  filename      = "f.zip"
  handler       = "main.handler"
  runtime       = "python3.13"
  environment {
    variables = { DB_PASSWORD = var.p != "" ? var.p : "hunter2" }
  }
}

#### lambda_plaintext_secrets: pass: a template around the ARN of a secret
resource "aws_secretsmanager_secret" "s" {
  name = "db"
}
resource "aws_lambda_function" "f" {
  function_name = "f"
  role          = "arn:aws:iam::111122223333:role/f"
  filename      = "f.zip"
  handler       = "main.handler"
  runtime       = "python3.13"
  environment {
    variables = { CONFIG = "secret=${aws_secretsmanager_secret.s.arn}" }
  }
}

#### lambda_plaintext_secrets: pass: an ARN in parts
data "aws_region" "r" {}
resource "aws_lambda_function" "f" {
  function_name = "f"
  role          = "arn:aws:iam::111122223333:role/f"
  filename      = "f.zip"
  handler       = "main.handler"
  runtime       = "python3.13"
  environment {
    variables = { DB_SECRET_ARN = "arn:aws:secretsmanager:${data.aws_region.r.name}:111122223333:secret:db" }
  }
}

#### lambda_plaintext_secrets: pass: the length of a token
resource "aws_lambda_function" "f" {
  function_name = "f"
  role          = "arn:aws:iam::111122223333:role/f"
  filename      = "f.zip"
  handler       = "main.handler"
  runtime       = "python3.13"
  environment {
    variables = { TOKEN_TTL = "3600", PARTITION_KEY = "id", BYPASS = "no" }
  }
}

#### lambda_plaintext_secrets: fail: in YAML
resource "aws_lambda_function" "f" {
  function_name = "f"
  role          = "arn:aws:iam::111122223333:role/f"
  filename      = "f.zip"
  handler       = "main.handler"
  runtime       = "python3.13"
  environment {
    variables = {
      CONFIG = <<-EOT
db:
  user: app
  password: hunter2
EOT
    }
  }
}

#### lambda_plaintext_secrets: fail: in a half-known heredoc
variable "host" {}
resource "aws_lambda_function" "f" {
  function_name = "f"
  role          = "arn:aws:iam::111122223333:role/f"
  filename      = "f.zip"
  handler       = "main.handler"
  runtime       = "python3.13"
  environment {
    variables = {
      CONFIG = <<-EOT
{"host": "${var.host}", "password": "hunter2"}
EOT
    }
  }
}

#### lambda_plaintext_secrets: fail: a number
resource "aws_lambda_function" "f" {
  function_name = "f"
  role          = "arn:aws:iam::111122223333:role/f"
  filename      = "f.zip"
  handler       = "main.handler"
  runtime       = "python3.13"
  environment {
    variables = { DB_PASSWORD = 12345678 }
  }
}

#### lambda_plaintext_secrets: fail: encrypted at rest
resource "aws_lambda_function" "f" {
  function_name = "f"
  role          = "arn:aws:iam::111122223333:role/f"
  filename      = "f.zip"
  handler       = "main.handler"
  runtime       = "python3.13"
  environment {
    variables = { DB_PASSWORD = "hunter2" }
  }
  kms_key_arn = "arn:aws:kms:eu-west-1:111122223333:key/k"
  tracing_config {
    mode = "Active"
  }
}

#### lambda_plaintext_secrets: fail: a reference that only CloudFormation would resolve
resource "aws_lambda_function" "f" {
  function_name = "f"
  role          = "arn:aws:iam::111122223333:role/f"
  filename      = "f.zip"
  handler       = "main.handler"
  runtime       = "python3.13"
  environment {
    variables = { DB_PASSWORD = "{{resolve:secretsmanager:prod/db}}" }
  }
}

#### lambda_plaintext_secrets: fail: a dynamic block with a secret
resource "aws_lambda_function" "f" {
  function_name = "f"
  role          = "arn:aws:iam::111122223333:role/f"
  filename      = "f.zip"
  handler       = "main.handler"
  runtime       = "python3.13"
  dynamic "environment" {
    for_each = ["hunter2"]
    content {
      variables = { DB_PASSWORD = environment.value }
    }
  }
}

#### lambda_plaintext_secrets: fail: an address that lets anybody post
resource "aws_lambda_function" "f" {
  function_name = "f"
  role          = "arn:aws:iam::111122223333:role/f"
  filename      = "f.zip"
  handler       = "main.handler"
  runtime       = "python3.13"
  environment {
    variables = { NOTIFY = "https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX" }
  }
}

#### lambda_plaintext_secrets: fail: a block that may not be there
variable "v" {}
resource "aws_lambda_function" "f" {
  function_name = "f"
  role          = "arn:aws:iam::111122223333:role/f"
  filename      = "f.zip"
  handler       = "main.handler"
  runtime       = "python3.13"
  dynamic "environment" {
    for_each = var.v
    content {
      variables = { DB_PASSWORD = "hunter2" }
    }
  }
}

#### lambda_plaintext_secrets: fail: one instance of two
resource "aws_lambda_function" "f" {
  for_each      = { a = {}, b = { DB_PASSWORD = "hunter2" } }
  function_name = "f"
  role          = "arn:aws:iam::111122223333:role/f"
  filename      = "f.zip"
  handler       = "main.handler"
  runtime       = "python3.13"
  environment {
    variables = each.value
  }
}

#### lambda_plaintext_secrets: unknown: handed in
variable "p" {
  sensitive = true
}
resource "aws_lambda_function" "f" {
  function_name = "f"
  role          = "arn:aws:iam::111122223333:role/f"
  filename      = "f.zip"
  handler       = "main.handler"
  runtime       = "python3.13"
  environment {
    variables = { DB_PASSWORD = var.p }
  }
}

#### lambda_plaintext_secrets: unknown: all of it handed in
variable "environment" {}
resource "aws_lambda_function" "f" {
  function_name = "f"
  role          = "arn:aws:iam::111122223333:role/f"
  filename      = "f.zip"
  handler       = "main.handler"
  runtime       = "python3.13"
  environment {
    variables = var.environment
  }
}

#### lambda_plaintext_secrets: unknown: the value of a secret
data "aws_secretsmanager_secret_version" "s" {
  secret_id = "s"
}
resource "aws_lambda_function" "f" {
  function_name = "f"
  role          = "arn:aws:iam::111122223333:role/f"
  filename      = "f.zip"
  handler       = "main.handler"
  runtime       = "python3.13"
  environment {
    variables = { DB_PASSWORD = data.aws_secretsmanager_secret_version.s.secret_string }
  }
}

#### lambda_plaintext_secrets: unknown: a random one
resource "random_password" "p" {
  length = 20
}
resource "aws_lambda_function" "f" {
  function_name = "f"
  role          = "arn:aws:iam::111122223333:role/f"
  filename      = "f.zip"
  handler       = "main.handler"
  runtime       = "python3.13"
  environment {
    variables = { DB_PASSWORD = random_password.p.result }
  }
}

#### lambda_plaintext_secrets: na: never created
resource "aws_lambda_function" "f" {
  count         = 0
  function_name = "f"
  role          = "arn:aws:iam::111122223333:role/f"
  filename      = "f.zip"
  handler       = "main.handler"
  runtime       = "python3.13"
  environment {
    variables = { DB_PASSWORD = "hunter2" }
  }
}

#### lambda_plaintext_secrets: pass: JSON syntax
{
  "resource": {
    "aws_lambda_function": {
      "r": {
        "function_name": "f",
        "role": "arn:aws:iam::111122223333:role/f",
        "filename": "f.zip",
        "handler": "main.handler",
        "runtime": "python3.13",
        "environment": {
          "variables": {
            "DB_PASSWORD": "${aws_secretsmanager_secret.s.arn}"
          }
        }
      }
    }
  }
}

#### lambda_plaintext_secrets: fail: JSON syntax
{
  "resource": {
    "aws_lambda_function": {
      "r": {
        "function_name": "f",
        "role": "arn:aws:iam::111122223333:role/f",
        "filename": "f.zip",
        "handler": "main.handler",
        "runtime": "python3.13",
        "environment": [
          {
            "variables": {
              "DB_PASSWORD": "${coalesce(var.p, \"hunter2\")}"
            }
          }
        ]
      }
    }
  },
  "variable": {
    "p": {}
  }
}
