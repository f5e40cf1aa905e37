"""Size and clock of the core and of its peers on FPGAs, by open tools."""
