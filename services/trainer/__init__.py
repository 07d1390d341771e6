"""The trainer service: runs as jobs that survive the machines they run on, from a database and a queue."""
