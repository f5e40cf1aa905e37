"""From the next fetch address to the instruction that issues: stages P, F and I."""
