/* The terminal server's loops as firmware, for the interpreter of rv32.py: it calls the functions below. Registers are
 * memory that nobody changes, so a FIFO never runs dry. */
#include <stdbool.h>
#include <stdint.h>

#include "net/neighbours.h"
#include "net/stack.h"

/* In the place of its header. */
#define TIERV_APPS_NETWORK_H
#ifndef NETWORK_MAC_IN_PROTOCOL
#define NETWORK_MAC_IN_PROTOCOL 0
#endif

static net_t network;

#include "apps/terminal/receive.c"
#include "apps/terminal/send.c"
#include "apps/terminal/terminal.c"
#include "apps/terminal/transmit.c"
#include "terminal_rest.h"

/* Where the linker puts them. */
uint32_t target_devices[4096] __attribute__((section(".devices")));

/* Three characters without flags. */
#define BURST_OF_THREE (UINT32_C(3) << CSR_SERIAL_PORT0_RECEIVE_BURST_COUNT_OFFSET | 0x434241)

/* --- what is around, which is not counted --------------------------------------------------------- */

serial_result_t serial_init(serial_t *serial, uint32_t port)
{
    serial->base = CSR_SERIAL_PORT0_RECEIVE_ADDR + port * SERIAL_STRIDE_BYTES;
    return SERIAL_OK;
}

serial_result_t serial_set_levels(serial_t *serial, const serial_levels_t *levels)
{
    (void)serial;
    (void)levels;
    return SERIAL_OK;
}

uint32_t serial_line(uint32_t port)
{
    return port;
}

void irq_kick(uint32_t line)
{
    (void)line;
}

void alarm_set(alarm_t *alarm, uint32_t cycles)
{
    (void)alarm;
    (void)cycles;
}

void alarm_cancel(alarm_t *alarm)
{
    (void)alarm;
}

void terminal_init_settings(terminal_port_t *port)
{
    port->packer.rules = (packer_rules_t){.length = PACKET_PAYLOAD_BYTES};
    port->office->control.peer = (control_peer_t){.address = 1, .port = 9};
}

/* --- what is counted ----------------------------------------------------------------------------- */

void target_init(void)
{
    static packet_t others[NET_PROTOCOL_PACKETS];
    static _Alignas(4) uint8_t their_buffers[NET_PROTOCOL_PACKETS][NET_BUFFER_BYTES];
    static const ethernet_address_t mac = {{2, 0, 1}};

    net_init(&network, &mac);
    net_configure(&network, IPV4_ADDRESS(10, 0, 0, 1), IPV4_ADDRESS(255, 255, 255, 0), 0);
    (void)net_add_packets(&network, PACKET_HOME_PROTOCOL, others, their_buffers[0], NET_PROTOCOL_PACKETS);
    terminal_init(0);
    for (uint32_t number = 0; number < UARTS; number++) {
        begin(number);
        mmio_write(serial_ports[number].base + SERIAL_REGISTER(RECEIVE), 1u << CSR_SERIAL_PORT0_RECEIVE_VALID_OFFSET);
        mmio_write(serial_ports[number].base + SERIAL_REGISTER(RECEIVE_BURST), BURST_OF_THREE);
    }
    terminal_protocol();
}

/* A port's client, who answers no ARP. */
void target_set_peer(uint32_t number, uint32_t address)
{
    terminal_ports[number].office->control.peer = (control_peer_t){.address = address, .port = 9};
}

/* A port's service finds so many characters in its FIFO. */
void target_receive(uint32_t number, uint32_t level)
{
    terminal_receive(&terminal_ports[number], 0, level);
}

/* It has been told to send what there is. */
void target_close(uint32_t number)
{
    terminal_close(&terminal_ports[number], PACKER_OPEN);
}

/* A datagram comes for its line. */
void target_send(uint32_t number, uint32_t bytes)
{
    static _Alignas(4) uint8_t frame[NET_BUFFER_BYTES];
    packet_t packet = {.frame = frame, .payload_bytes = (uint16_t)bytes};

    (void)take_data(&terminal_ports[number].office->socket, &packet);
}
