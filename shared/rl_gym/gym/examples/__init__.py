"""Environments small enough to read in one sitting, complete enough to train on."""
