"""Benchmarks: one command each, against the peer in the same run; the last line is JSON."""
