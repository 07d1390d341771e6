"""The rulegen service, to be: drafts, gates, reviews and publishes rules. Nothing runs here yet."""
