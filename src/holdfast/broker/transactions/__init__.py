"""Transactions: the current producer of each transactional id, and how its transaction ends.

| module | content |
|---|---|
| `coordinator` | the transaction coordinator |
| `markers` | the control records that end a transaction |
| `record` | the records of `__transaction_state`, as in Kafka |
| `transaction` | the state of one transactional id, and all its steps |
"""
