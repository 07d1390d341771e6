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
