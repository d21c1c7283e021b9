"""The page `docs/benchmarks.md`: what is said of the results, and how it is laid out."""
