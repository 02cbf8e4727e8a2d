"""The paper's experiments, one module a series; ``python -m experiments.run`` runs them."""
