"""What can be done about a policy that cannot be met, and how to state one that can."""
