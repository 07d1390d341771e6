"""The policy service, to be: generates Terraform over a model engine and repairs it. Nothing runs here yet."""
