#include "apps/blocked_ports.h"

#include <stddef.h>

#include <generated/soc.h>

#include "apps/blockers.h"

#if UARTS > 0

enum { TIMEOUT_BITS = 40 };

serial_result_t blocked_port_start(serial_t *serial, uint32_t port, uint32_t baud,
                                   uint32_t watermark, uint32_t *achieved_baud)
{
    const serial_format_t format = {
        .baud = baud, .data_bits = 8, .parity = SERIAL_PARITY_NONE, .stop_bits = 1};
    const serial_levels_t levels = {.receive_watermark = (uint16_t)watermark,
                                    .timeout_bits = TIMEOUT_BITS,
                                    .stop_level = (uint16_t)watermark,
                                    .resume_level = 1};

    serial_result_t result = serial_init(serial, port);
    if (result == SERIAL_OK) {
        result = serial_set_format(serial, &format, achieved_baud);
    }
    return result == SERIAL_OK ? serial_set_levels(serial, &levels) : result;
}

irq_result_t blocked_ports_set_order(uint32_t ports, blocked_order_t order)
{
    irq_result_t result = IRQ_OK;

    for (uint32_t port = 0; order == ORDER_TUNED && port < ports; port++) {
        irq_result_t one = irq_assign(serial_line(port), TIER_INTERRUPT, IRQ_PRIORITIES - 1);
        result = result == IRQ_OK ? one : result;
    }
    for (uint32_t index = 0; order == ORDER_OWN_TIER && index < BLOCKERS; index++) {
        irq_result_t one =
            irq_assign(LINE0_INTERRUPT + index, TIER_PROTOCOL, BLOCKED_USUAL_PRIORITY);
        result = result == IRQ_OK ? one : result;
    }
    return result;
}

#endif
