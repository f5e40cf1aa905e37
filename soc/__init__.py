"""The SoC around the core, in LiteX."""
