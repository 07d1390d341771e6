"""The verifier service: scores and fixes completions, and scans configurations, over HTTP."""
