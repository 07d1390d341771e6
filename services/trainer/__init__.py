"""The trainer service, to be: runs as jobs, and a small API over runs and models. Nothing runs here yet."""
