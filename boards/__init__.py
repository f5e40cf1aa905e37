"""FPGA boards, one file each: pins, clocks, PHY and memory."""
