// Pins without a SoC behind them, in place of Verilator's model.
#pragma once

#include <cstdint>

class VerilatedContext {};
class VerilatedVar;

struct Vsim {
    uint8_t sys_rst = 0, lines = 0, uarts_rx = 0, uarts_tx = 0;
    uint8_t eth_rx_dv = 0, eth_rx_data = 0, eth_rx_er = 0;
    uint8_t eth_tx_en = 0, eth_tx_data = 0;
};
