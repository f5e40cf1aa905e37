/* The driver of LiteX's UART, on a UART of the host: the case named on the command line; exit status 0 if it holds,
 * otherwise a line on stderr. */
#include <stdio.h>
#include <string.h>

#include <generated/csr.h>
#include <generated/soc.h>

#include "check.h"
#include "drivers/uart.h"
#include "mmio.h"

enum {
    TX = 1 << CSR_UART_EV_PENDING_TX_OFFSET,
    RX = 1 << CSR_UART_EV_PENDING_RX_OFFSET,
    FIFO_BYTES = 16,
    LONG_BYTES = 5 * UART_RING_BYTES
};

typedef struct {
    uint8_t bytes[FIFO_BYTES];
    uint32_t level;
} fifo_t;

static fifo_t receive, transmit;
/* The line moves a byte behind the next look that finds none received, or no room. */
static bool comes_late, leaves_late;
static uint32_t pending, enabled, tuning_word;
static uart_t uart;
static uint8_t bytes[LONG_BYTES];

/* --- the UART: an event is that a FIFO is no longer empty, or no longer full --------------------- */

static void put(fifo_t *fifo, uint8_t byte)
{
    CHECK(fifo->level < FIFO_BYTES);
    pending |= fifo == &receive && fifo->level == 0 ? RX : 0;
    fifo->bytes[fifo->level++] = byte;
}

static uint8_t take(fifo_t *fifo)
{
    uint8_t byte = fifo->bytes[0];

    CHECK(fifo->level > 0);
    pending |= fifo == &transmit && fifo->level == FIFO_BYTES ? TX : 0;
    memmove(fifo->bytes, fifo->bytes + 1, --fifo->level);
    return byte;
}

uint32_t mmio_read(uintptr_t address)
{
    bool is_empty = receive.level == 0, is_full = transmit.level == FIFO_BYTES;

    if (address == CSR_UART_RXTX_ADDR) {
        return receive.bytes[0];
    }
    if (address == CSR_UART_RXEMPTY_ADDR) {
        if (is_empty && comes_late) {
            comes_late = false;
            put(&receive, 'x');
        }
        return is_empty;
    }
    CHECK(address == CSR_UART_TXFULL_ADDR);
    if (is_full && leaves_late) {
        leaves_late = false;
        (void)take(&transmit);
    }
    return is_full;
}

void mmio_write(uintptr_t address, uint32_t value)
{
    if (address == CSR_UART_RXTX_ADDR) {
        put(&transmit, (uint8_t)value);
    } else if (address == CSR_UART_EV_PENDING_ADDR) {
        pending &= ~value;
        if ((value & RX) != 0 && receive.level != 0) {
            (void)take(&receive);
        }
    } else if (address == CSR_UART_EV_ENABLE_ADDR) {
        enabled = value;
    } else {
        CHECK(address == CSR_UART_PHY_TUNING_WORD_ADDR);
        tuning_word = value;
    }
}

/* --- cases --------------------------------------------------------------------------------------- */

static uint8_t byte_of(uint32_t number)
{
    return (uint8_t)(number * 5 + 1);
}

/* Whether the bytes are those from number `first` on. */
static bool are(uint32_t first, uint32_t count)
{
    for (uint32_t index = 0; index < count; index++) {
        if (bytes[index] != byte_of(first + index)) {
            return false;
        }
    }
    return true;
}

static void test_receive(void)
{
    uint32_t come = 0, read = 0;

    while (read < LONG_BYTES) {
        for (uint32_t count = come % FIFO_BYTES + 1; count-- != 0; come++) {
            put(&receive, byte_of(come));
        }
        CHECK((pending & enabled) == RX && uart_service(&uart) && pending == 0 && !uart_service(&uart));
        uint32_t wanted = come - read - (come & 1);
        CHECK(uart_read(&uart, bytes, wanted) == wanted && are(read, wanted));
        read += wanted;
    }
    CHECK(uart.overruns == 0);
}

static void test_overruns(void)
{
    for (uint32_t come = 0; come < UART_RING_BYTES + 3; come++) {
        put(&receive, byte_of(come));
        CHECK(uart_service(&uart) && pending == 0);
    }
    CHECK(uart.overruns == 3);
    CHECK(uart_read(&uart, bytes, LONG_BYTES) == UART_RING_BYTES && are(0, UART_RING_BYTES));
}

/* As much is queued as there is room for, and leaves as the line sends. */
static void test_transmit(void)
{
    uint32_t queued = 0;

    for (uint32_t sent = 0; sent < LONG_BYTES; sent++) {
        uint32_t room = UART_RING_BYTES - byte_ring_count(&uart.transmit);
        for (uint32_t index = 0; index < LONG_BYTES; index++) {
            bytes[index] = byte_of(queued + index);
        }
        CHECK(uart_write(&uart, bytes, LONG_BYTES) == room);
        queued += room;
        CHECK((sent == 0 || (pending & enabled) == TX) && uart_service(&uart) && pending == 0);
        CHECK(transmit.level == FIFO_BYTES && !uart_service(&uart));
        bytes[0] = take(&transmit);
        CHECK(are(sent, 1));
    }
    CHECK(uart_service(&uart) && uart_write(&uart, bytes, 1) == 1);
}

static void test_late(void)
{
    CHECK(uart_write(&uart, bytes, FIFO_BYTES + 2) == FIFO_BYTES + 2);
    comes_late = leaves_late = true;
    CHECK(uart_service(&uart) && (pending & enabled) == (RX | TX));
    CHECK(uart_service(&uart) && pending == 0);
    CHECK(uart_read(&uart, bytes, 2) == 1 && bytes[0] == 'x');
}

static void test_start(void)
{
    test_overruns();
    put(&receive, 'a');
    (void)uart_service(&uart);
    (void)uart_write(&uart, bytes, 1);
    pending = RX | TX;
    uart_init(&uart);
    CHECK(pending == 0 && enabled == (RX | TX) && uart.overruns == 0);
    CHECK(!uart_service(&uart) && uart_read(&uart, bytes, 1) == 0);
}

/* The nearest one below, by the definition of the accumulator. */
static void test_baud(void)
{
    static const uint32_t bauds[] = {300, 115200, 921600, 20000001};

    for (uint32_t index = 0; index < sizeof(bauds) / sizeof(bauds[0]); index++) {
        uint32_t achieved = uart_set_baud(&uart, bauds[index]);
        double exact = bauds[index] * 4294967296. / CONFIG_CLOCK_FREQUENCY;
        CHECK(tuning_word <= exact && exact < tuning_word + 1.);
        double speed = tuning_word / 4294967296. * CONFIG_CLOCK_FREQUENCY;
        CHECK(achieved <= speed && speed < achieved + 1.);
    }
}

int main(int count, char **arguments)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {{"receive", test_receive}, {"overruns", test_overruns}, {"transmit", test_transmit},
                 {"late", test_late},       {"start", test_start},       {"baud", test_baud}};

    pending = RX | TX;
    memset(&uart, 0x55, sizeof(uart));
    uart_init(&uart);
    for (uint32_t index = 0; index < sizeof(cases) / sizeof(cases[0]); index++) {
        if (count == 2 && strcmp(arguments[1], cases[index].name) == 0) {
            cases[index].run();
            return 0;
        }
    }
    fprintf(stderr, "uart_driver: no such case\n");
    return 2;
}
