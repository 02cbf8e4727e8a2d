"""Benchmarks: what a run costs, by stage, beside a floor measured in the same run."""
