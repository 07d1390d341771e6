"""The `rl-gym` command: `main` finds the verb; every verb is a module of its own, imported only when asked for."""
