#### cloudfront_logging: pass: a bucket
resource "aws_cloudfront_distribution" "d" {
  enabled = true
  origin {
    domain_name = "origin.example.com"
    origin_id   = "o"
  }
  default_cache_behavior {
    allowed_methods        = ["GET", "HEAD"]
    cached_methods         = ["GET", "HEAD"]
    target_origin_id       = "o"
    viewer_protocol_policy = "https-only"

  }
  restrictions {
    geo_restriction {
      restriction_type = "none"
    }
  }
  viewer_certificate {
    cloudfront_default_certificate = true
  }
  logging_config {
    bucket = "logs.s3.amazonaws.com"
  }
}

#### cloudfront_logging: pass: a bucket here
resource "aws_s3_bucket" "logs" {
  bucket = "logs"
}
resource "aws_cloudfront_distribution" "d" {
  enabled = true
  origin {
    domain_name = "origin.example.com"
    origin_id   = "o"
  }
  default_cache_behavior {
    allowed_methods        = ["GET", "HEAD"]
    cached_methods         = ["GET", "HEAD"]
    target_origin_id       = "o"
    viewer_protocol_policy = "https-only"

  }
  restrictions {
    geo_restriction {
      restriction_type = "none"
    }
  }
  viewer_certificate {
    cloudfront_default_certificate = true
  }
  logging_config {
    bucket          = aws_s3_bucket.logs.bucket_domain_name
    include_cookies = false
  }
}

#### cloudfront_logging: pass: a template
variable "name" {}
resource "aws_cloudfront_distribution" "d" {
  enabled = true
  origin {
    domain_name = "origin.example.com"
    origin_id   = "o"
  }
  default_cache_behavior {
    allowed_methods        = ["GET", "HEAD"]
    cached_methods         = ["GET", "HEAD"]
    target_origin_id       = "o"
    viewer_protocol_policy = "https-only"

  }
  restrictions {
    geo_restriction {
      restriction_type = "none"
    }
  }
  viewer_certificate {
    cloudfront_default_certificate = true
  }
  logging_config {
    bucket = "${var.name}.s3.amazonaws.com"
  }
}

#### cloudfront_logging: pass: a dynamic block
locals {
  logs = ["logs.s3.amazonaws.com"]
}
resource "aws_cloudfront_distribution" "d" {
  enabled = true
  origin {
    domain_name = "origin.example.com"
    origin_id   = "o"
  }
  default_cache_behavior {
    allowed_methods        = ["GET", "HEAD"]
    cached_methods         = ["GET", "HEAD"]
    target_origin_id       = "o"
    viewer_protocol_policy = "https-only"

  }
  restrictions {
    geo_restriction {
      restriction_type = "none"
    }
  }
  viewer_certificate {
    cloudfront_default_certificate = true
  }
  dynamic "logging_config" {
    for_each = local.logs
    content {
      bucket = logging_config.value
    }
  }
}

#### cloudfront_logging: pass: by way of CloudWatch
resource "aws_cloudfront_distribution" "d" {
  enabled = true
  origin {
    domain_name = "origin.example.com"
    origin_id   = "o"
  }
  default_cache_behavior {
    allowed_methods        = ["GET", "HEAD"]
    cached_methods         = ["GET", "HEAD"]
    target_origin_id       = "o"
    viewer_protocol_policy = "https-only"

  }
  restrictions {
    geo_restriction {
      restriction_type = "none"
    }
  }
  viewer_certificate {
    cloudfront_default_certificate = true
  }

}
resource "aws_cloudwatch_log_delivery_source" "s" {
  name         = "s"
  log_type     = "ACCESS_LOGS"
  resource_arn = aws_cloudfront_distribution.d.arn
}
resource "aws_cloudwatch_log_delivery" "v" {
  delivery_source_name     = aws_cloudwatch_log_delivery_source.s.name
  delivery_destination_arn = "arn:aws:logs:us-east-1:111122223333:delivery-destination:d"
}

#### cloudfront_logging: pass: by way of CloudWatch, and a name
resource "aws_cloudfront_distribution" "d" {
  enabled = true
  origin {
    domain_name = "origin.example.com"
    origin_id   = "o"
  }
  default_cache_behavior {
    allowed_methods        = ["GET", "HEAD"]
    cached_methods         = ["GET", "HEAD"]
    target_origin_id       = "o"
    viewer_protocol_policy = "https-only"

  }
  restrictions {
    geo_restriction {
      restriction_type = "none"
    }
  }
  viewer_certificate {
    cloudfront_default_certificate = true
  }

}
resource "aws_cloudwatch_log_delivery_source" "s" {
  name         = "s"
  log_type     = "ACCESS_LOGS"
  resource_arn = aws_cloudfront_distribution.d.arn
}
resource "aws_cloudwatch_log_delivery" "v" {
  delivery_source_name     = "s"
  delivery_destination_arn = "arn:aws:logs:us-east-1:111122223333:delivery-destination:d"
}

#### cloudfront_logging: fail: absent
resource "aws_cloudfront_distribution" "d" {
  enabled = true
  origin {
    domain_name = "origin.example.com"
    origin_id   = "o"
  }
  default_cache_behavior {
    allowed_methods        = ["GET", "HEAD"]
    cached_methods         = ["GET", "HEAD"]
    target_origin_id       = "o"
    viewer_protocol_policy = "https-only"

  }
  restrictions {
    geo_restriction {
      restriction_type = "none"
    }
  }
  viewer_certificate {
    cloudfront_default_certificate = true
  }

}

#### cloudfront_logging: fail: no bucket
resource "aws_cloudfront_distribution" "d" {
  enabled = true
  origin {
    domain_name = "origin.example.com"
    origin_id   = "o"
  }
  default_cache_behavior {
    allowed_methods        = ["GET", "HEAD"]
    cached_methods         = ["GET", "HEAD"]
    target_origin_id       = "o"
    viewer_protocol_policy = "https-only"

  }
  restrictions {
    geo_restriction {
      restriction_type = "none"
    }
  }
  viewer_certificate {
    cloudfront_default_certificate = true
  }
  logging_config {
    bucket = ""
  }
}

#### cloudfront_logging: fail: null
resource "aws_cloudfront_distribution" "d" {
  enabled = true
  origin {
    domain_name = "origin.example.com"
    origin_id   = "o"
  }
  default_cache_behavior {
    allowed_methods        = ["GET", "HEAD"]
    cached_methods         = ["GET", "HEAD"]
    target_origin_id       = "o"
    viewer_protocol_policy = "https-only"

  }
  restrictions {
    geo_restriction {
      restriction_type = "none"
    }
  }
  viewer_certificate {
    cloudfront_default_certificate = true
  }
  logging_config {
    bucket = null
  }
}

#### cloudfront_logging: fail: a dynamic block over nothing
resource "aws_cloudfront_distribution" "d" {
  enabled = true
  origin {
    domain_name = "origin.example.com"
    origin_id   = "o"
  }
  default_cache_behavior {
    allowed_methods        = ["GET", "HEAD"]
    cached_methods         = ["GET", "HEAD"]
    target_origin_id       = "o"
    viewer_protocol_policy = "https-only"

  }
  restrictions {
    geo_restriction {
      restriction_type = "none"
    }
  }
  viewer_certificate {
    cloudfront_default_certificate = true
  }
  dynamic "logging_config" {
    for_each = []
    content {
      bucket = logging_config.value
    }
  }
}

#### cloudfront_logging: fail: a source that is not delivered
resource "aws_cloudfront_distribution" "d" {
  enabled = true
  origin {
    domain_name = "origin.example.com"
    origin_id   = "o"
  }
  default_cache_behavior {
    allowed_methods        = ["GET", "HEAD"]
    cached_methods         = ["GET", "HEAD"]
    target_origin_id       = "o"
    viewer_protocol_policy = "https-only"

  }
  restrictions {
    geo_restriction {
      restriction_type = "none"
    }
  }
  viewer_certificate {
    cloudfront_default_certificate = true
  }

}
resource "aws_cloudwatch_log_delivery_source" "s" {
  name         = "s"
  log_type     = "ACCESS_LOGS"
  resource_arn = aws_cloudfront_distribution.d.arn
}

#### cloudfront_logging: fail: a delivery that is never created
resource "aws_cloudfront_distribution" "d" {
  enabled = true
  origin {
    domain_name = "origin.example.com"
    origin_id   = "o"
  }
  default_cache_behavior {
    allowed_methods        = ["GET", "HEAD"]
    cached_methods         = ["GET", "HEAD"]
    target_origin_id       = "o"
    viewer_protocol_policy = "https-only"

  }
  restrictions {
    geo_restriction {
      restriction_type = "none"
    }
  }
  viewer_certificate {
    cloudfront_default_certificate = true
  }

}
resource "aws_cloudwatch_log_delivery_source" "s" {
  name         = "s"
  log_type     = "ACCESS_LOGS"
  resource_arn = aws_cloudfront_distribution.d.arn
}
resource "aws_cloudwatch_log_delivery" "v" {
  count                    = 0
  delivery_source_name     = aws_cloudwatch_log_delivery_source.s.name
  delivery_destination_arn = "arn:aws:logs:us-east-1:111122223333:delivery-destination:d"
}

#### cloudfront_logging: fail: a source for another one
resource "aws_cloudfront_distribution" "d" {
  enabled = true
  origin {
    domain_name = "origin.example.com"
    origin_id   = "o"
  }
  default_cache_behavior {
    allowed_methods        = ["GET", "HEAD"]
    cached_methods         = ["GET", "HEAD"]
    target_origin_id       = "o"
    viewer_protocol_policy = "https-only"

  }
  restrictions {
    geo_restriction {
      restriction_type = "none"
    }
  }
  viewer_certificate {
    cloudfront_default_certificate = true
  }

}
resource "aws_cloudfront_distribution" "e" {
  enabled = true
  origin {
    domain_name = "origin.example.com"
    origin_id   = "o"
  }
  default_cache_behavior {
    allowed_methods        = ["GET", "HEAD"]
    cached_methods         = ["GET", "HEAD"]
    target_origin_id       = "o"
    viewer_protocol_policy = "https-only"

  }
  restrictions {
    geo_restriction {
      restriction_type = "none"
    }
  }
  viewer_certificate {
    cloudfront_default_certificate = true
  }
  logging_config {
    bucket = "logs.s3.amazonaws.com"
  }
}
resource "aws_cloudwatch_log_delivery_source" "s" {
  name         = "s"
  log_type     = "ACCESS_LOGS"
  resource_arn = aws_cloudfront_distribution.e.arn
}
resource "aws_cloudwatch_log_delivery" "v" {
  delivery_source_name     = aws_cloudwatch_log_delivery_source.s.name
  delivery_destination_arn = "arn:aws:logs:us-east-1:111122223333:delivery-destination:d"
}

#### cloudfront_logging: fail: a source of other logs
resource "aws_cloudfront_distribution" "d" {
  enabled = true
  origin {
    domain_name = "origin.example.com"
    origin_id   = "o"
  }
  default_cache_behavior {
    allowed_methods        = ["GET", "HEAD"]
    cached_methods         = ["GET", "HEAD"]
    target_origin_id       = "o"
    viewer_protocol_policy = "https-only"

  }
  restrictions {
    geo_restriction {
      restriction_type = "none"
    }
  }
  viewer_certificate {
    cloudfront_default_certificate = true
  }

}
resource "aws_cloudwatch_log_delivery_source" "s" {
  name         = "s"
  log_type     = "APPLICATION_LOGS"
  resource_arn = aws_cloudfront_distribution.d.arn
}
resource "aws_cloudwatch_log_delivery" "v" {
  delivery_source_name     = aws_cloudwatch_log_delivery_source.s.name
  delivery_destination_arn = "arn:aws:logs:us-east-1:111122223333:delivery-destination:d"
}

#### cloudfront_logging: fail: real-time logs alone
resource "aws_cloudfront_distribution" "d" {
  enabled = true
  origin {
    domain_name = "origin.example.com"
    origin_id   = "o"
  }
  default_cache_behavior {
    allowed_methods         = ["GET", "HEAD"]
    cached_methods          = ["GET", "HEAD"]
    target_origin_id        = "o"
    viewer_protocol_policy  = "https-only"
    realtime_log_config_arn = "arn:aws:cloudfront::111122223333:realtime-log-config/r"
  }
  restrictions {
    geo_restriction {
      restriction_type = "none"
    }
  }
  viewer_certificate {
    cloudfront_default_certificate = true
  }

}

#### cloudfront_logging: fail: a bucket for logs that nobody names
resource "aws_s3_bucket" "logs" {
  bucket = "cloudfront-logs"
}
resource "aws_cloudfront_distribution" "d" {
  enabled = true
  origin {
    domain_name = "origin.example.com"
    origin_id   = "o"
  }
  default_cache_behavior {
    allowed_methods        = ["GET", "HEAD"]
    cached_methods         = ["GET", "HEAD"]
    target_origin_id       = "o"
    viewer_protocol_policy = "https-only"

  }
  restrictions {
    geo_restriction {
      restriction_type = "none"
    }
  }
  viewer_certificate {
    cloudfront_default_certificate = true
  }

}

#### cloudfront_logging: unknown: handed in
variable "v" {}
resource "aws_cloudfront_distribution" "d" {
  enabled = true
  origin {
    domain_name = "origin.example.com"
    origin_id   = "o"
  }
  default_cache_behavior {
    allowed_methods        = ["GET", "HEAD"]
    cached_methods         = ["GET", "HEAD"]
    target_origin_id       = "o"
    viewer_protocol_policy = "https-only"

  }
  restrictions {
    geo_restriction {
      restriction_type = "none"
    }
  }
  viewer_certificate {
    cloudfront_default_certificate = true
  }
  logging_config {
    bucket = var.v
  }
}

#### cloudfront_logging: unknown: a block that may not be there
variable "v" {}
resource "aws_cloudfront_distribution" "d" {
  enabled = true
  origin {
    domain_name = "origin.example.com"
    origin_id   = "o"
  }
  default_cache_behavior {
    allowed_methods        = ["GET", "HEAD"]
    cached_methods         = ["GET", "HEAD"]
    target_origin_id       = "o"
    viewer_protocol_policy = "https-only"

  }
  restrictions {
    geo_restriction {
      restriction_type = "none"
    }
  }
  viewer_certificate {
    cloudfront_default_certificate = true
  }
  dynamic "logging_config" {
    for_each = var.v
    content {
      bucket = "logs.s3.amazonaws.com"
    }
  }
}

#### cloudfront_logging: unknown: a delivery that only may be created
variable "n" {}
resource "aws_cloudfront_distribution" "d" {
  enabled = true
  origin {
    domain_name = "origin.example.com"
    origin_id   = "o"
  }
  default_cache_behavior {
    allowed_methods        = ["GET", "HEAD"]
    cached_methods         = ["GET", "HEAD"]
    target_origin_id       = "o"
    viewer_protocol_policy = "https-only"

  }
  restrictions {
    geo_restriction {
      restriction_type = "none"
    }
  }
  viewer_certificate {
    cloudfront_default_certificate = true
  }

}
resource "aws_cloudwatch_log_delivery_source" "s" {
  name         = "s"
  log_type     = "ACCESS_LOGS"
  resource_arn = aws_cloudfront_distribution.d.arn
}
resource "aws_cloudwatch_log_delivery" "v" {
  count                    = var.n
  delivery_source_name     = aws_cloudwatch_log_delivery_source.s.name
  delivery_destination_arn = "arn:aws:logs:us-east-1:111122223333:delivery-destination:d"
}

#### cloudfront_logging: na: never created
resource "aws_cloudfront_distribution" "d" {
  count   = 0
  enabled = true
  origin {
    domain_name = "origin.example.com"
    origin_id   = "o"
  }
  default_cache_behavior {
    allowed_methods        = ["GET", "HEAD"]
    cached_methods         = ["GET", "HEAD"]
    target_origin_id       = "o"
    viewer_protocol_policy = "https-only"

  }
  restrictions {
    geo_restriction {
      restriction_type = "none"
    }
  }
  viewer_certificate {
    cloudfront_default_certificate = true
  }

}

#### cloudfront_logging: pass: JSON syntax
{
  "resource": {
    "aws_cloudfront_distribution": {
      "r": {
        "enabled": true,
        "origin": {
          "domain_name": "origin.example.com",
          "origin_id": "o"
        },
        "default_cache_behavior": {
          "allowed_methods": [
            "GET",
            "HEAD"
          ],
          "cached_methods": [
            "GET",
            "HEAD"
          ],
          "target_origin_id": "o",
          "viewer_protocol_policy": "https-only"
        },
        "restrictions": {
          "geo_restriction": {
            "restriction_type": "none"
          }
        },
        "viewer_certificate": {
          "cloudfront_default_certificate": true
        },
        "logging_config": {
          "bucket": "logs.s3.amazonaws.com"
        }
      }
    }
  }
}

#### cloudfront_logging: fail: JSON syntax
{
  "resource": {
    "aws_cloudfront_distribution": {
      "r": {
        "enabled": true,
        "origin": {
          "domain_name": "origin.example.com",
          "origin_id": "o"
        },
        "default_cache_behavior": {
          "allowed_methods": [
            "GET",
            "HEAD"
          ],
          "cached_methods": [
            "GET",
            "HEAD"
          ],
          "target_origin_id": "o",
          "viewer_protocol_policy": "https-only"
        },
        "restrictions": {
          "geo_restriction": {
            "restriction_type": "none"
          }
        },
        "viewer_certificate": {
          "cloudfront_default_certificate": true
        },
        "logging_config": []
      }
    }
  }
}
