"""The gateway, to be: the public face, with keys, limits and a traffic log. Nothing runs here yet."""
