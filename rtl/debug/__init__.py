"""External debug (RISC-V External Debug Support 0.13.2): in the core, and beside it."""
