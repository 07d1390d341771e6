"""Episodes from the Terraform modules of cloned repositories, each with its licence and where it came from."""
