"""The verifier service, to be: stateless HTTP that scores completions and scans configurations. Nothing runs here yet."""
