"""Control and status: tiers, lines, counters and the CSRs that show them."""
