"""The parametric tasks: randomised resources, composed into stacks and asked for in words."""
