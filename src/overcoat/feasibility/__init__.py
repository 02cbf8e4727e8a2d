"""Whether a policy can be met at all, and what stands in the way."""
