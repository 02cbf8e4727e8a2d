"""Reports: they render what a result carries, and compute nothing."""
