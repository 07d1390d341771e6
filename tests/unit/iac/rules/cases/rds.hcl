#### rds_public: pass: absent
resource "aws_db_instance" "d" {
  engine            = "postgres"
  instance_class    = "db.t3.micro"
  allocated_storage = 20

}

#### rds_public: pass: false
resource "aws_db_instance" "d" {
  engine              = "postgres"
  instance_class      = "db.t3.micro"
  allocated_storage   = 20
  publicly_accessible = false
}

#### rds_public: pass: the string false
resource "aws_db_instance" "d" {
  engine              = "postgres"
  instance_class      = "db.t3.micro"
  allocated_storage   = 20
  publicly_accessible = "false"
}

#### rds_public: pass: null
resource "aws_db_instance" "d" {
  engine              = "postgres"
  instance_class      = "db.t3.micro"
  allocated_storage   = 20
  publicly_accessible = null
}

#### rds_public: pass: a member of a cluster
resource "aws_rds_cluster_instance" "i" {
  cluster_identifier = "c"
  instance_class     = "db.r6g.large"

}

#### rds_public: fail: true
resource "aws_db_instance" "d" {
  engine              = "postgres"
  instance_class      = "db.t3.micro"
  allocated_storage   = 20
  publicly_accessible = true
}

#### rds_public: fail: the string 1
resource "aws_db_instance" "d" {
  engine              = "postgres"
  instance_class      = "db.t3.micro"
  allocated_storage   = 20
  publicly_accessible = "1"
}

#### rds_public: fail: a negation
locals {
  private = false
}
resource "aws_db_instance" "d" {
  engine              = "postgres"
  instance_class      = "db.t3.micro"
  allocated_storage   = 20
  publicly_accessible = !local.private
}

#### rds_public: fail: a member of a cluster, true
resource "aws_rds_cluster_instance" "i" {
  cluster_identifier  = "c"
  instance_class      = "db.r6g.large"
  publicly_accessible = true
}

#### rds_public: fail: a template
resource "aws_db_instance" "d" {
  engine              = "postgres"
  instance_class      = "db.t3.micro"
  allocated_storage   = 20
  publicly_accessible = true
}

#### rds_public: fail: of two, one
resource "aws_db_instance" "d" {
  engine            = "postgres"
  instance_class    = "db.t3.micro"
  allocated_storage = 20

}
resource "aws_db_instance" "e" {
  engine              = "postgres"
  instance_class      = "db.t3.micro"
  allocated_storage   = 20
  publicly_accessible = true
}

#### rds_public: fail: by for_each
resource "aws_db_instance" "d" {
  engine              = "postgres"
  instance_class      = "db.t3.micro"
  allocated_storage   = 20
  for_each            = { a = false, b = true }
  publicly_accessible = each.value
}

#### rds_public: fail: may be created
variable "v" {}
resource "aws_db_instance" "d" {
  engine              = "postgres"
  instance_class      = "db.t3.micro"
  allocated_storage   = 20
  count               = var.v
  publicly_accessible = true
}

#### rds_public: unknown: unknown
variable "v" {}
resource "aws_db_instance" "d" {
  engine              = "postgres"
  instance_class      = "db.t3.micro"
  allocated_storage   = 20
  publicly_accessible = var.v
}

#### rds_public: na: never created
resource "aws_db_instance" "d" {
  engine              = "postgres"
  instance_class      = "db.t3.micro"
  allocated_storage   = 20
  count               = 0
  publicly_accessible = true
}

#### rds_encrypted: pass: true
resource "aws_db_instance" "d" {
  engine            = "postgres"
  instance_class    = "db.t3.micro"
  allocated_storage = 20
  storage_encrypted = true
}

#### rds_encrypted: pass: the string true
resource "aws_db_instance" "d" {
  engine            = "postgres"
  instance_class    = "db.t3.micro"
  allocated_storage = 20
  storage_encrypted = "true"
}

#### rds_encrypted: pass: a cluster
resource "aws_rds_cluster" "c" {
  engine            = "aurora-postgresql"
  storage_encrypted = true
}

#### rds_encrypted: pass: a serverless cluster
resource "aws_rds_cluster" "c" {
  engine      = "aurora-postgresql"
  engine_mode = "serverless"
}

#### rds_encrypted: pass: a replica of an encrypted one
resource "aws_db_instance" "d" {
  engine            = "postgres"
  instance_class    = "db.t3.micro"
  allocated_storage = 20
  storage_encrypted = true
}
resource "aws_db_instance" "r" {
  engine              = "postgres"
  instance_class      = "db.t3.micro"
  allocated_storage   = 20
  replicate_source_db = aws_db_instance.d.identifier
}

#### rds_encrypted: fail: absent
resource "aws_db_instance" "d" {
  engine            = "postgres"
  instance_class    = "db.t3.micro"
  allocated_storage = 20

}

#### rds_encrypted: fail: false
resource "aws_db_instance" "d" {
  engine            = "postgres"
  instance_class    = "db.t3.micro"
  allocated_storage = 20
  storage_encrypted = false
}

#### rds_encrypted: fail: a key alone
resource "aws_db_instance" "d" {
  engine            = "postgres"
  instance_class    = "db.t3.micro"
  allocated_storage = 20
  kms_key_id        = "arn:aws:kms:eu-west-1:111122223333:key/k"
}

#### rds_encrypted: fail: null
resource "aws_db_instance" "d" {
  engine            = "postgres"
  instance_class    = "db.t3.micro"
  allocated_storage = 20
  storage_encrypted = null
}

#### rds_encrypted: fail: a cluster, absent
resource "aws_rds_cluster" "c" {
  engine = "aurora-postgresql"

}

#### rds_encrypted: fail: a replica of a plain one
resource "aws_db_instance" "d" {
  engine            = "postgres"
  instance_class    = "db.t3.micro"
  allocated_storage = 20

}
resource "aws_db_instance" "r" {
  engine              = "postgres"
  instance_class      = "db.t3.micro"
  allocated_storage   = 20
  replicate_source_db = aws_db_instance.d.identifier
}

#### rds_encrypted: fail: under tags
resource "aws_db_instance" "d" {
  engine            = "postgres"
  instance_class    = "db.t3.micro"
  allocated_storage = 20
  tags              = { storage_encrypted = true }
}

#### rds_encrypted: unknown: unknown
variable "v" {}
resource "aws_db_instance" "d" {
  engine            = "postgres"
  instance_class    = "db.t3.micro"
  allocated_storage = 20
  storage_encrypted = var.v
}

#### rds_encrypted: unknown: from a snapshot
resource "aws_db_instance" "d" {
  engine              = "postgres"
  instance_class      = "db.t3.micro"
  allocated_storage   = 20
  snapshot_identifier = "s"
}

#### rds_backup: pass: seven days
resource "aws_db_instance" "d" {
  engine                  = "postgres"
  instance_class          = "db.t3.micro"
  allocated_storage       = 20
  backup_retention_period = 7
}

#### rds_backup: pass: a string
resource "aws_db_instance" "d" {
  engine                  = "postgres"
  instance_class          = "db.t3.micro"
  allocated_storage       = 20
  backup_retention_period = "7"
}

#### rds_backup: pass: one day
resource "aws_db_instance" "d" {
  engine                  = "postgres"
  instance_class          = "db.t3.micro"
  allocated_storage       = 20
  backup_retention_period = 1
}

#### rds_backup: pass: a cluster's default of one day
resource "aws_rds_cluster" "c" {
  engine = "aurora-postgresql"

}

#### rds_backup: fail: absent
resource "aws_db_instance" "d" {
  engine            = "postgres"
  instance_class    = "db.t3.micro"
  allocated_storage = 20

}

#### rds_backup: fail: zero
resource "aws_db_instance" "d" {
  engine                  = "postgres"
  instance_class          = "db.t3.micro"
  allocated_storage       = 20
  backup_retention_period = 0
}

#### rds_backup: fail: zero by arithmetic
resource "aws_db_instance" "d" {
  engine                  = "postgres"
  instance_class          = "db.t3.micro"
  allocated_storage       = 20
  backup_retention_period = 7 - 7
}

#### rds_backup: fail: a window alone
resource "aws_db_instance" "d" {
  engine            = "postgres"
  instance_class    = "db.t3.micro"
  allocated_storage = 20
  backup_window     = "01:00-02:00"
}

#### rds_backup: fail: a cluster, zero
resource "aws_rds_cluster" "c" {
  engine                  = "aurora-postgresql"
  backup_retention_period = 0
}

#### rds_backup: unknown: unknown
variable "v" {}
resource "aws_db_instance" "d" {
  engine                  = "postgres"
  instance_class          = "db.t3.micro"
  allocated_storage       = 20
  backup_retention_period = var.v
}

#### rds_backup: na: a replica
resource "aws_db_instance" "r" {
  engine              = "postgres"
  instance_class      = "db.t3.micro"
  allocated_storage   = 20
  replicate_source_db = aws_db_instance.d.identifier
}

#### rds_multi_az: pass: true
resource "aws_db_instance" "d" {
  engine            = "postgres"
  instance_class    = "db.t3.micro"
  allocated_storage = 20
  multi_az          = true
}

#### rds_multi_az: pass: a string
resource "aws_db_instance" "d" {
  engine            = "postgres"
  instance_class    = "db.t3.micro"
  allocated_storage = 20
  multi_az          = "true"
}

#### rds_multi_az: pass: a default
variable "m" {
  default = true
}
resource "aws_db_instance" "d" {
  engine            = "postgres"
  instance_class    = "db.t3.micro"
  allocated_storage = 20
  multi_az          = var.m
}

#### rds_multi_az: fail: absent
resource "aws_db_instance" "d" {
  engine            = "postgres"
  instance_class    = "db.t3.micro"
  allocated_storage = 20

}

#### rds_multi_az: fail: false
resource "aws_db_instance" "d" {
  engine            = "postgres"
  instance_class    = "db.t3.micro"
  allocated_storage = 20
  multi_az          = false
}

#### rds_multi_az: fail: a zone
resource "aws_db_instance" "d" {
  engine            = "postgres"
  instance_class    = "db.t3.micro"
  allocated_storage = 20
  availability_zone = "eu-west-1a"
}

#### rds_multi_az: unknown: unknown
variable "v" {}
resource "aws_db_instance" "d" {
  engine            = "postgres"
  instance_class    = "db.t3.micro"
  allocated_storage = 20
  multi_az          = var.v
}

#### rds_backup: na: a replica that keeps none
resource "aws_db_instance" "r" {
  replicate_source_db     = "source"
  backup_retention_period = 0
}

#### rds_deletion_protection: pass: true
resource "aws_db_instance" "r" {
  engine              = "postgres"
  instance_class      = "db.t4g.small"
  allocated_storage   = 20
  deletion_protection = true
}

#### rds_deletion_protection: pass: the string true
resource "aws_db_instance" "r" {
  engine              = "postgres"
  instance_class      = "db.t4g.small"
  allocated_storage   = 20
  deletion_protection = "true"
}

#### rds_deletion_protection: pass: a variable's default
variable "v" {
  default = true
}
resource "aws_db_instance" "r" {
  engine              = "postgres"
  instance_class      = "db.t4g.small"
  allocated_storage   = 20
  deletion_protection = var.v
}

#### rds_deletion_protection: pass: a negated local
locals {
  v = false
}
resource "aws_db_instance" "r" {
  engine              = "postgres"
  instance_class      = "db.t4g.small"
  allocated_storage   = 20
  deletion_protection = !local.v
}

#### rds_deletion_protection: fail: false
resource "aws_db_instance" "r" {
  engine              = "postgres"
  instance_class      = "db.t4g.small"
  allocated_storage   = 20
  deletion_protection = false
}

#### rds_deletion_protection: fail: the string 0
resource "aws_db_instance" "r" {
  engine              = "postgres"
  instance_class      = "db.t4g.small"
  allocated_storage   = 20
  deletion_protection = "0"
}

#### rds_deletion_protection: fail: one instance of two
resource "aws_db_instance" "r" {
  for_each            = { a = true, b = false }
  engine              = "postgres"
  instance_class      = "db.t4g.small"
  allocated_storage   = 20
  deletion_protection = each.value
}

#### rds_deletion_protection: fail: only may be created
variable "n" {}
resource "aws_db_instance" "r" {
  count               = var.n
  engine              = "postgres"
  instance_class      = "db.t4g.small"
  allocated_storage   = 20
  deletion_protection = false
}

#### rds_deletion_protection: fail: in a comment
resource "aws_db_instance" "r" {
  engine            = "postgres"
  instance_class    = "db.t4g.small"
  allocated_storage = 20
  # deletion_protection = true
}

#### rds_deletion_protection: fail: null
resource "aws_db_instance" "r" {
  engine              = "postgres"
  instance_class      = "db.t4g.small"
  allocated_storage   = 20
  deletion_protection = null
}

#### rds_deletion_protection: fail: among the tags
resource "aws_db_instance" "r" {
  engine            = "postgres"
  instance_class    = "db.t4g.small"
  allocated_storage = 20
  tags              = { deletion_protection = true }
}

#### rds_deletion_protection: fail: absent
resource "aws_db_instance" "r" {
  engine            = "postgres"
  instance_class    = "db.t4g.small"
  allocated_storage = 20

}

#### rds_deletion_protection: unknown: handed in
variable "v" {}
resource "aws_db_instance" "r" {
  engine              = "postgres"
  instance_class      = "db.t4g.small"
  allocated_storage   = 20
  deletion_protection = var.v
}

#### rds_deletion_protection: unknown: good, and only may be created
variable "n" {}
resource "aws_db_instance" "r" {
  count               = var.n
  engine              = "postgres"
  instance_class      = "db.t4g.small"
  allocated_storage   = 20
  deletion_protection = true
}

#### rds_deletion_protection: na: never created
resource "aws_db_instance" "r" {
  count               = 0
  engine              = "postgres"
  instance_class      = "db.t4g.small"
  allocated_storage   = 20
  deletion_protection = false
}

#### rds_deletion_protection: pass: a cluster
resource "aws_rds_cluster" "c" {
  engine              = "aurora-postgresql"
  cluster_identifier  = "c"
  deletion_protection = true
}

#### rds_deletion_protection: pass: a cluster and its members
resource "aws_rds_cluster" "c" {
  engine              = "aurora-postgresql"
  cluster_identifier  = "c"
  deletion_protection = true
}
resource "aws_rds_cluster_instance" "i" {
  cluster_identifier = aws_rds_cluster.c.id
  engine             = aws_rds_cluster.c.engine
  instance_class     = "db.r6g.large"
}

#### rds_deletion_protection: pass: a replica of a protected one
resource "aws_db_instance" "d" {
  engine              = "postgres"
  instance_class      = "db.t4g.small"
  allocated_storage   = 20
  identifier          = "d"
  deletion_protection = true
}
resource "aws_db_instance" "r" {
  replicate_source_db = aws_db_instance.d.identifier
  instance_class      = "db.t4g.small"
}

#### rds_deletion_protection: fail: a cluster, absent
resource "aws_rds_cluster" "c" {
  engine             = "aurora-postgresql"
  cluster_identifier = "c"
}

#### rds_deletion_protection: fail: a final snapshot alone
resource "aws_db_instance" "d" {
  engine                    = "postgres"
  instance_class            = "db.t4g.small"
  allocated_storage         = 20
  skip_final_snapshot       = false
  final_snapshot_identifier = "last"
}

#### rds_deletion_protection: fail: prevent_destroy alone
resource "aws_db_instance" "d" {
  engine            = "postgres"
  instance_class    = "db.t4g.small"
  allocated_storage = 20
  lifecycle {
    prevent_destroy = true
  }
}

#### rds_deletion_protection: fail: a replica of nothing
resource "aws_db_instance" "d" {
  engine              = "postgres"
  instance_class      = "db.t4g.small"
  allocated_storage   = 20
  replicate_source_db = ""
}

#### rds_deletion_protection: unknown: may be a replica
variable "origin" {}
resource "aws_db_instance" "d" {
  engine              = "postgres"
  instance_class      = "db.t4g.small"
  allocated_storage   = 20
  replicate_source_db = var.origin
}

#### rds_deletion_protection: na: a replica
resource "aws_db_instance" "r" {
  replicate_source_db = "d"
  instance_class      = "db.t4g.small"
}

#### rds_deletion_protection: na: the second cluster of a global one
resource "aws_rds_cluster" "c" {
  engine                        = "aurora-postgresql"
  cluster_identifier            = "c"
  replication_source_identifier = "arn:aws:rds:eu-west-1:111122223333:cluster:c"
}

#### rds_deletion_protection: na: a member of a cluster
resource "aws_rds_cluster_instance" "i" {
  cluster_identifier = "c"
  engine             = "aurora-postgresql"
  instance_class     = "db.r6g.large"
}

#### rds_iam_auth: pass: true
resource "aws_db_instance" "r" {
  engine                              = "postgres"
  instance_class                      = "db.t4g.small"
  allocated_storage                   = 20
  iam_database_authentication_enabled = true
}

#### rds_iam_auth: pass: the string true
resource "aws_db_instance" "r" {
  engine                              = "postgres"
  instance_class                      = "db.t4g.small"
  allocated_storage                   = 20
  iam_database_authentication_enabled = "true"
}

#### rds_iam_auth: pass: a variable's default
variable "v" {
  default = true
}
resource "aws_db_instance" "r" {
  engine                              = "postgres"
  instance_class                      = "db.t4g.small"
  allocated_storage                   = 20
  iam_database_authentication_enabled = var.v
}

#### rds_iam_auth: pass: a negated local
locals {
  v = false
}
resource "aws_db_instance" "r" {
  engine                              = "postgres"
  instance_class                      = "db.t4g.small"
  allocated_storage                   = 20
  iam_database_authentication_enabled = !local.v
}

#### rds_iam_auth: fail: false
resource "aws_db_instance" "r" {
  engine                              = "postgres"
  instance_class                      = "db.t4g.small"
  allocated_storage                   = 20
  iam_database_authentication_enabled = false
}

#### rds_iam_auth: fail: the string 0
resource "aws_db_instance" "r" {
  engine                              = "postgres"
  instance_class                      = "db.t4g.small"
  allocated_storage                   = 20
  iam_database_authentication_enabled = "0"
}

#### rds_iam_auth: fail: one instance of two
resource "aws_db_instance" "r" {
  for_each                            = { a = true, b = false }
  engine                              = "postgres"
  instance_class                      = "db.t4g.small"
  allocated_storage                   = 20
  iam_database_authentication_enabled = each.value
}

#### rds_iam_auth: fail: only may be created
variable "n" {}
resource "aws_db_instance" "r" {
  count                               = var.n
  engine                              = "postgres"
  instance_class                      = "db.t4g.small"
  allocated_storage                   = 20
  iam_database_authentication_enabled = false
}

#### rds_iam_auth: fail: in a comment
resource "aws_db_instance" "r" {
  engine            = "postgres"
  instance_class    = "db.t4g.small"
  allocated_storage = 20
  # iam_database_authentication_enabled = true
}

#### rds_iam_auth: fail: null
resource "aws_db_instance" "r" {
  engine                              = "postgres"
  instance_class                      = "db.t4g.small"
  allocated_storage                   = 20
  iam_database_authentication_enabled = null
}

#### rds_iam_auth: fail: among the tags
resource "aws_db_instance" "r" {
  engine            = "postgres"
  instance_class    = "db.t4g.small"
  allocated_storage = 20
  tags              = { iam_database_authentication_enabled = true }
}

#### rds_iam_auth: fail: absent
resource "aws_db_instance" "r" {
  engine            = "postgres"
  instance_class    = "db.t4g.small"
  allocated_storage = 20

}

#### rds_iam_auth: unknown: handed in
variable "v" {}
resource "aws_db_instance" "r" {
  engine                              = "postgres"
  instance_class                      = "db.t4g.small"
  allocated_storage                   = 20
  iam_database_authentication_enabled = var.v
}

#### rds_iam_auth: unknown: good, and only may be created
variable "n" {}
resource "aws_db_instance" "r" {
  count                               = var.n
  engine                              = "postgres"
  instance_class                      = "db.t4g.small"
  allocated_storage                   = 20
  iam_database_authentication_enabled = true
}

#### rds_iam_auth: na: never created
resource "aws_db_instance" "r" {
  count                               = 0
  engine                              = "postgres"
  instance_class                      = "db.t4g.small"
  allocated_storage                   = 20
  iam_database_authentication_enabled = false
}

#### rds_iam_auth: pass: an Aurora cluster
resource "aws_rds_cluster" "c" {
  engine                              = "aurora-postgresql"
  cluster_identifier                  = "c"
  iam_database_authentication_enabled = true
}

#### rds_iam_auth: pass: an engine that is handed in
variable "engine" {}
resource "aws_db_instance" "d" {
  engine                              = var.engine
  instance_class                      = "db.t4g.small"
  allocated_storage                   = 20
  iam_database_authentication_enabled = true
}

#### rds_iam_auth: pass: a cluster whose engine is handed in
variable "engine" {}
resource "aws_rds_cluster" "c" {
  engine                              = var.engine
  cluster_identifier                  = "c"
  iam_database_authentication_enabled = true
}

#### rds_iam_auth: fail: a cluster whose engine is handed in
variable "engine" {}
resource "aws_rds_cluster" "c" {
  engine             = var.engine
  cluster_identifier = "c"
}

#### rds_iam_auth: fail: a cluster of several zones
resource "aws_rds_cluster" "c" {
  engine                    = "mysql"
  cluster_identifier        = "c"
  allocated_storage         = 100
  db_cluster_instance_class = "db.r6gd.large"
}

#### rds_iam_auth: fail: an Aurora cluster, absent
resource "aws_rds_cluster" "c" {
  engine             = "aurora-mysql"
  cluster_identifier = "c"
}

#### rds_iam_auth: fail: MariaDB
resource "aws_db_instance" "d" {
  engine            = "mariadb"
  instance_class    = "db.t4g.small"
  allocated_storage = 20
}

#### rds_iam_auth: fail: an engine by a variable
variable "engine" {
  default = "mysql"
}
resource "aws_db_instance" "d" {
  engine            = var.engine
  instance_class    = "db.t4g.small"
  allocated_storage = 20
}

#### rds_iam_auth: fail: a managed password alone
resource "aws_db_instance" "d" {
  engine                      = "postgres"
  instance_class              = "db.t4g.small"
  allocated_storage           = 20
  username                    = "app"
  manage_master_user_password = true
}

#### rds_iam_auth: fail: a replica of PostgreSQL
resource "aws_db_instance" "d" {
  engine                              = "postgres"
  instance_class                      = "db.t4g.small"
  allocated_storage                   = 20
  identifier                          = "d"
  iam_database_authentication_enabled = true
}
resource "aws_db_instance" "r" {
  replicate_source_db = aws_db_instance.d.identifier
  instance_class      = "db.t4g.small"
}

#### rds_iam_auth: fail: an engine that is made up
resource "aws_db_instance" "d" {
  engine            = "postgresql"
  instance_class    = "db.t4g.small"
  allocated_storage = 20
}

#### rds_iam_auth: unknown: an engine that is handed in, off
variable "engine" {}
resource "aws_db_instance" "d" {
  engine            = var.engine
  instance_class    = "db.t4g.small"
  allocated_storage = 20
}

#### rds_iam_auth: unknown: restored
resource "aws_db_instance" "d" {
  snapshot_identifier = "s"
  instance_class      = "db.t4g.small"
}

#### rds_iam_auth: na: Oracle
resource "aws_db_instance" "d" {
  engine            = "oracle-ee"
  instance_class    = "db.t4g.small"
  allocated_storage = 20
}

#### rds_iam_auth: na: SQL Server
resource "aws_db_instance" "d" {
  engine            = "sqlserver-se"
  instance_class    = "db.t4g.small"
  allocated_storage = 20
}

#### rds_iam_auth: na: SQL Server on a host of one's own
resource "aws_db_instance" "d" {
  engine            = "custom-sqlserver-ee"
  instance_class    = "db.m5.xlarge"
  allocated_storage = 20
}

#### rds_iam_auth: na: the first serverless Aurora
resource "aws_rds_cluster" "c" {
  engine             = "aurora-postgresql"
  cluster_identifier = "c"
  engine_mode        = "serverless"
}

#### rds_multi_az: pass: a local
locals {
  production = true
}
resource "aws_db_instance" "d" {
  engine            = "postgres"
  instance_class    = "db.t4g.small"
  allocated_storage = 20
  multi_az          = local.production
}

#### rds_multi_az: fail: a condition
variable "stage" {
  default = "test"
}
resource "aws_db_instance" "d" {
  engine            = "postgres"
  instance_class    = "db.t4g.small"
  allocated_storage = 20
  multi_az          = var.stage == "prod"
}

#### rds_deletion_protection: pass: JSON syntax
{
  "resource": {
    "aws_db_instance": {
      "r": {
        "engine": "postgres",
        "instance_class": "db.t4g.small",
        "allocated_storage": 20,
        "deletion_protection": true
      }
    }
  }
}

#### rds_deletion_protection: fail: JSON syntax
{
  "resource": {
    "aws_db_instance": {
      "r": {
        "engine": "postgres",
        "instance_class": "db.t4g.small",
        "allocated_storage": 20,
        "deletion_protection": false
      }
    }
  }
}

#### rds_iam_auth: pass: JSON syntax
{
  "resource": {
    "aws_db_instance": {
      "r": {
        "engine": "postgres",
        "instance_class": "db.t4g.small",
        "allocated_storage": 20,
        "iam_database_authentication_enabled": true
      }
    }
  }
}

#### rds_iam_auth: fail: JSON syntax
{
  "resource": {
    "aws_db_instance": {
      "r": {
        "engine": "postgres",
        "instance_class": "db.t4g.small",
        "allocated_storage": 20,
        "iam_database_authentication_enabled": false
      }
    }
  }
}

#### rds_public: pass: JSON syntax
{
  "resource": {
    "aws_db_instance": {
      "r": {
        "engine": "postgres",
        "instance_class": "db.t4g.small",
        "allocated_storage": 20,
        "publicly_accessible": false
      }
    }
  }
}

#### rds_public: fail: JSON syntax
{
  "resource": {
    "aws_db_instance": {
      "r": {
        "engine": "postgres",
        "instance_class": "db.t4g.small",
        "allocated_storage": 20,
        "publicly_accessible": true
      }
    }
  }
}

#### rds_encrypted: pass: JSON syntax
{
  "resource": {
    "aws_db_instance": {
      "r": {
        "engine": "postgres",
        "instance_class": "db.t4g.small",
        "allocated_storage": 20,
        "storage_encrypted": true
      }
    }
  }
}

#### rds_encrypted: fail: JSON syntax
{
  "resource": {
    "aws_db_instance": {
      "r": {
        "engine": "postgres",
        "instance_class": "db.t4g.small",
        "allocated_storage": 20,
        "storage_encrypted": false
      }
    }
  }
}

#### rds_backup: pass: JSON syntax
{
  "resource": {
    "aws_db_instance": {
      "r": {
        "engine": "postgres",
        "instance_class": "db.t4g.small",
        "allocated_storage": 20,
        "backup_retention_period": 7
      }
    }
  }
}

#### rds_backup: fail: JSON syntax
{
  "resource": {
    "aws_db_instance": {
      "r": {
        "engine": "postgres",
        "instance_class": "db.t4g.small",
        "allocated_storage": 20,
        "backup_retention_period": 0
      }
    }
  }
}

#### rds_multi_az: pass: JSON syntax
{
  "resource": {
    "aws_db_instance": {
      "r": {
        "engine": "postgres",
        "instance_class": "db.t4g.small",
        "allocated_storage": 20,
        "multi_az": true
      }
    }
  }
}

#### rds_multi_az: fail: JSON syntax
{
  "resource": {
    "aws_db_instance": {
      "r": {
        "engine": "postgres",
        "instance_class": "db.t4g.small",
        "allocated_storage": 20,
        "multi_az": false
      }
    }
  }
}
