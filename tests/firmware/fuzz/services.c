/* What hosts may ask the services for: control datagrams of the terminal server, and command lines.
 *
 * Input: which of them, then what it reads.
 */
#include "apps/command.h"
#include "apps/irqtune/request.h"
#include "apps/terminal/control.h"
#include "bytes_in.h"

enum { PORTS = 3, LEAST_ROOM = TERMINAL_HEADER_BYTES + 4, MOST_STEPS = 1000 };

static uint32_t set_format(control_port_t *port, const control_format_t *format)
{
    (void)port;
    return format->baud > 1000 ? format->baud : 0;
}

static void set(control_port_t *port)
{
    MUST(port->rules.time_us <= CONTROL_MAX_US && port->rules.idle_us <= CONTROL_MAX_US);
    MUST(port->rules.length <= CONTROL_MAX_LENGTH && port->rules.delimiters <= 2);
}

static void purge(control_port_t *port, uint32_t which)
{
    (void)port;
    MUST(which != 0 && which <= (CONTROL_PURGE_RECEIVED | CONTROL_PURGE_TRANSMIT));
}

static uint8_t state(control_port_t *port)
{
    return port->line_state_mask;
}

static control_transmit_t transmit_state(control_port_t *port)
{
    return (control_transmit_t){.room = port->achieved_baud};
}

static uint32_t counter(control_port_t *port, terminal_counter_t which)
{
    return port->achieved_baud + which;
}

/* Some datagrams to the same ports: a half says how long each is, a byte how much room its answer has. */
static void control(bytes_in_t *in)
{
    static control_port_t port[PORTS];
    control_port_t *const ports[] = {&port[0], &port[1], NULL, &port[2]};

    for (uint32_t index = 0; index < PORTS; index++) {
        port[index] = (control_port_t){.set_format = set_format,
                                       .set_rules = set,
                                       .set_flow = set,
                                       .set_break = set,
                                       .set_peer = set,
                                       .set_suspended = set,
                                       .purge = purge,
                                       .line_state = state,
                                       .modem_state = state,
                                       .transmit_state = transmit_state,
                                       .counter = counter};
        control_init(&port[index], 115200);
    }
    while (in->left != 0) {
        control_peer_t sender = {.address = 0x0a000002, .port = (uint16_t)take_byte(in)};
        uint32_t room = LEAST_ROOM + take_byte(in);
        uint8_t *answer = malloc(room);
        uint32_t bytes;
        uint8_t *request = take_copy(in, take_half(in), &bytes);
        control_outcome_t outcome =
            control_answer(ports, sizeof(ports) / sizeof(ports[0]), request, bytes, sender, answer,
                           room);
        MUST(outcome.answer_bytes <= room);
        MUST(outcome.port < (int32_t)(sizeof(ports) / sizeof(ports[0])));
        free(request);
        free(answer);
    }
}

static void print(void *context, const char *text, uint32_t bytes)
{
    uint32_t *printed = context;

    MUST(bytes < COMMAND_LINE_BYTES);
    for (uint32_t at = 0; at < bytes; at++) {
        *printed += (uint8_t)text[at];
    }
}

static bool run_irqtune(command_call_t *call)
{
    irqtune_request_t request;

    if (!irqtune_parse(call->words + 1, call->count - 1, &request)) {
        MUST(memchr(request.error, '\0', sizeof(request.error)) != NULL);
        return command_error(call, "%s", request.error);
    }
    MUST(request.count <= IRQTUNE_ASSIGNMENTS);
    for (uint32_t index = 0; index < request.count; index++) {
        const char *line = request.assignments[index].line;
        MUST(memchr(line, '\0', sizeof(request.assignments[index].line)) != NULL);
    }
    return false;
}

static bool run_number(command_call_t *call)
{
    uint32_t value;

    if (call->count < 2 || !command_number(call, "a number", call->words[1], 3, 300, &value)) {
        return false;
    }
    MUST(value >= 3 && value <= 300);
    command_print(call, "%lu\n", (unsigned long)value);
    return false;
}

static void command(bytes_in_t *in)
{
    static const command_t commands[] = {{"irqtune", "", COMMAND_WORDS, "", run_irqtune},
                                         {"number", "", 1, "", run_number}};
    static command_table_t table = {commands, sizeof(commands) / sizeof(commands[0]), NULL};
    static bool added;
    uint32_t printed = 0;
    command_call_t call = {.sink = print, .context = &printed};
    uint32_t bytes;
    uint8_t *line = take_copy(in, in->left, &bytes);

    if (!added) {
        command_add(&table);
        added = true;
    }
    if (command_begin(&call, (const char *)line, bytes)) {
        for (uint32_t step = 0; step < MOST_STEPS && command_step(&call); step++) {
        }
        MUST(call.command == NULL);
    }
    free(line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bytes_in_t in = {data, size};

    (take_byte(&in) % 2 == 0 ? control : command)(&in);
    return 0;
}
