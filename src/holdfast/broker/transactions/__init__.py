"""Transactions: who may write under a transactional id, and how each one ends."""
