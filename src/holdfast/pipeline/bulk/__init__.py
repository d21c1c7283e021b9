"""Events in bulk: record batches to Arrow columns and back, and the connections they travel on.

A client that makes an object of every record takes microseconds for each, twice. Here a record is
a row of columns from the socket it is read from to the socket it is written to.
"""
