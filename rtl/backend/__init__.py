"""From the instruction that issues to its result: stages D, X, M and A."""
