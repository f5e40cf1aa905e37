"""The simulated SoC: its harness, and what runs programs and experiments on it."""
