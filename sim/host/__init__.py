"""Programs of the host that talk to a board, real or simulated, over its network."""
