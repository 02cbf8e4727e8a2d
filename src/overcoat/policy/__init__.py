"""The owner's policy: privacy, utility, hierarchies, weights, and their files."""
