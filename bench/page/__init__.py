"""The page `docs/benchmarks.md`: its words, comparisons, tables and plots."""
