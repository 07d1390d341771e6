"""What an object store in S3 is made of: its address, requests, writes, reads, and the probe of its promises."""
