"""Judged modules in the formats that other programs read. What a configuration says is data in each of them."""
