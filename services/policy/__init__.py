"""The policy service: writes Terraform over a model engine, has it judged, and repairs it."""
