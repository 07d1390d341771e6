"""The verifier service, to be: scores completions and scans configurations over HTTP. Nothing runs here yet."""
