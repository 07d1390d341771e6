"""The tables of the trainer, as alembic makes and changes them."""
