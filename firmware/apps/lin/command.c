#include "apps/lin/command.h"

#include <string.h>

#include "apps/lin/host.h"
#include "apps/serial_ports.h"
#include "context.h"

/* Words of a call: lin PORT VERB ARGUMENTS. */
enum { AT_PORT = 1, AT_VERB = 2, AT_ARGUMENTS = 3 };

/* Word `index` is the one that matters, but for what the port can't do. */
static bool finish(command_call_t *call, lin_result_t result, uint32_t index)
{
    const char *what = call->words[result == LIN_NOT_COMMANDER ? AT_PORT : index];

    return result == LIN_OK ? false : command_error(call, "%s: %s", what, lin_result_text(result));
}

/* Word `index`, or "" behind the last. */
static const char *word(const command_call_t *call, uint32_t index)
{
    return index < call->count ? call->words[index] : "";
}

static bool read_identifier(command_call_t *call, uint32_t index, uint32_t *identifier)
{
    return command_number(call, "an identifier", call->words[index], 0, LIN_IDENTIFIERS - 1,
                          identifier);
}

/* Pairs of hexadecimal digits. */
static bool read_data(command_call_t *call, const char *text, uint8_t *data, uint32_t *bytes)
{
    uint32_t count = 0;
    uint32_t value = 0;

    for (; text[count] != '\0' && count < 2 * LIN_DATA_BYTES; count++) {
        char lower = (char)(text[count] | 0x20);
        uint32_t figure = text[count] >= '0' && text[count] <= '9' ? (uint32_t)(text[count] - '0')
                          : lower >= 'a' && lower <= 'f' ? (uint32_t)(lower - 'a') + 10
                                                         : 16;
        if (figure == 16) {
            break;
        }
        value = value << 4 | figure;
        data[count / 2] = (uint8_t)value;
    }
    if (text[count] != '\0' || count == 0 || count % 2 != 0) {
        return command_error(call, "data must be 2 to 16 hexadecimal digits, not '%s'", text);
    }
    *bytes = count / 2;
    return true;
}

/* --- verbs ------------------------------------------------------------------------------------- */

static bool run_on(command_call_t *call, uint32_t port)
{
    const char *role = word(call, AT_ARGUMENTS + 1);
    uint32_t baud;

    if (!command_number(call, "a speed", call->words[AT_ARGUMENTS], LIN_BAUD_MIN, LIN_BAUD_MAX,
                        &baud)) {
        return false;
    }
    if (role[0] != '\0' && strcmp(role, "commander") != 0) {
        return command_error(call, "a role must be commander, or nothing, not '%s'", role);
    }
    if (role[0] != '\0' && SERIAL_TRANSMIT_DEPTH < LIN_HEADER_CHARACTERS) {
        return command_error(call, "a commander must have a FIFO of %u characters, not %u",
                             (unsigned)LIN_HEADER_CHARACTERS, (unsigned)SERIAL_TRANSMIT_DEPTH);
    }
    if (lin_of_port(port) != NULL) {
        return command_error(call, "port %lu is a LIN node", (unsigned long)port);
    }
    if (serial_ports_user(port) != serial_ports_usual_user()) {
        return command_error(call, "port %lu is in use: %s", (unsigned long)port,
                             serial_ports_user(port)->name);
    }
    if (!lin_open(port, baud, role[0] != '\0' ? LIN_COMMANDER : LIN_RESPONDER)) {
        return command_error(call, "all %u nodes are in use", (unsigned)LIN_NODES);
    }
    return false;
}

/* [classic] [once] [error=BIT] behind identifier and length. */
static bool run_add(command_call_t *call, lin_node_t *node, lin_direction_t direction)
{
    static const char error_prefix[] = "error=";
    uint32_t identifier;
    uint32_t bytes;
    uint32_t flags = 0;
    uint32_t bit = LIN_NO_BIT;
    uint32_t at_bit = AT_ARGUMENTS;

    if (!read_identifier(call, AT_ARGUMENTS, &identifier)
        || !command_number(call, "a length", call->words[AT_ARGUMENTS + 1], 1, LIN_DATA_BYTES,
                           &bytes)) {
        return false;
    }
    for (uint32_t index = AT_ARGUMENTS + 2; index < call->count; index++) {
        const char *option = call->words[index];
        if (strcmp(option, "classic") == 0) {
            flags |= LIN_CLASSIC;
        } else if (strcmp(option, "once") == 0 && direction == LIN_PUBLISH) {
            flags |= LIN_ONCE;
        } else if (strncmp(option, error_prefix, sizeof(error_prefix) - 1) == 0) {
            at_bit = index;
            if (!command_number(call, "a bit", option + sizeof(error_prefix) - 1, 0, 63, &bit)) {
                return false;
            }
        } else {
            return command_error(call, "no option '%s'", option);
        }
    }
    uint32_t before = context_lock();
    lin_result_t result = lin_add(node, identifier, direction, bytes, flags, bit);
    context_unlock(before);
    return finish(call, result, result == LIN_BAD_BIT ? at_bit : AT_ARGUMENTS);
}

static bool run_publish(command_call_t *call, lin_port_t *lin)
{
    return run_add(call, &lin->node, LIN_PUBLISH);
}

static bool run_subscribe(command_call_t *call, lin_port_t *lin)
{
    return run_add(call, &lin->node, LIN_SUBSCRIBE);
}

static bool run_remove(command_call_t *call, lin_port_t *lin)
{
    uint32_t identifier;

    if (!read_identifier(call, AT_ARGUMENTS, &identifier)) {
        return false;
    }
    uint32_t before = context_lock();
    lin_result_t result = lin_remove(&lin->node, identifier);
    context_unlock(before);
    return finish(call, result, AT_ARGUMENTS);
}

static bool run_set(command_call_t *call, lin_port_t *lin)
{
    uint8_t data[LIN_DATA_BYTES];
    uint32_t identifier;
    uint32_t bytes = 0;

    if (!read_identifier(call, AT_ARGUMENTS, &identifier)
        || !read_data(call, call->words[AT_ARGUMENTS + 1], data, &bytes)) {
        return false;
    }
    uint32_t before = context_lock();
    lin_result_t result = lin_write(&lin->node, identifier, data, bytes);
    context_unlock(before);
    return finish(call, result, result == LIN_BAD_LENGTH ? AT_ARGUMENTS + 1 : AT_ARGUMENTS);
}

static bool run_get(command_call_t *call, lin_port_t *lin)
{
    uint8_t data[LIN_DATA_BYTES];
    uint32_t identifier;
    uint32_t bytes;
    uint32_t written;

    if (!read_identifier(call, AT_ARGUMENTS, &identifier)) {
        return false;
    }
    lin_result_t result = lin_read(&lin->node, identifier, data, &bytes, &written);
    if (result != LIN_OK) {
        return finish(call, result, AT_ARGUMENTS);
    }
    for (uint32_t index = 0; written != 0 && index < bytes; index++) {
        command_print(call, "%02x", data[index]);
    }
    command_print(call, "%swritten %lu\n", written != 0 ? " " : "", (unsigned long)written);
    return false;
}

static bool run_identity(command_call_t *call, lin_port_t *lin)
{
    uint32_t nad;
    uint32_t supplier;
    uint32_t function;
    uint32_t variant;
    uint32_t serial;

    if (!command_number(call, "a NAD", call->words[AT_ARGUMENTS], 1, 0x7d, &nad)
        || !command_number(call, "a supplier", call->words[AT_ARGUMENTS + 1], 0, 0x7ffe, &supplier)
        || !command_number(call, "a function", call->words[AT_ARGUMENTS + 2], 0, 0xfffe, &function)
        || !command_number(call, "a variant", call->words[AT_ARGUMENTS + 3], 0, 0xff, &variant)
        || !command_number(call, "a serial number", call->words[AT_ARGUMENTS + 4], 0, UINT32_MAX,
                           &serial)) {
        return false;
    }
    uint32_t before = context_lock();
    lin->identity = (lin_identity_t){.supplier = (uint16_t)supplier,
                                     .function = (uint16_t)function,
                                     .variant = (uint8_t)variant,
                                     .initial_nad = (uint8_t)nad,
                                     .nad = (uint8_t)nad,
                                     .serial = serial};
    context_unlock(before);
    return false;
}

/* ID:MS takes the call's text apart. */
static bool read_slot(command_call_t *call, uint32_t index, lin_slot_t *slot)
{
    char *text = call->text + (call->words[index] - call->text);
    char *colon = strchr(text, ':');
    uint32_t identifier;
    uint32_t ms;

    if (colon == NULL) {
        return command_error(call, "a slot must be IDENTIFIER:MS, not '%s'", text);
    }
    *colon = '\0';
    if (!read_identifier(call, index, &identifier)) {
        return false;
    }
    if (identifier > LIN_RESPONDER_RESPONSE) {
        return finish(call, LIN_BAD_IDENTIFIER, index);
    }
    if (!command_number(call, "a slot's time in ms", colon + 1, 1, UINT16_MAX, &ms)) {
        return false;
    }
    *slot = (lin_slot_t){.identifier = (uint8_t)identifier, .slot_ms = (uint16_t)ms};
    return true;
}

static bool run_schedule(command_call_t *call, lin_port_t *lin)
{
    lin_slot_t slots[COMMAND_WORDS];
    uint32_t count = 0;

    for (uint32_t index = AT_ARGUMENTS; index < call->count; index++) {
        if (!read_slot(call, index, &slots[count++])) {
            return false;
        }
    }
    uint32_t before = context_lock();
    lin_result_t result = lin_schedule(&lin->node, slots, count);
    context_unlock(before);
    return finish(call, result, AT_VERB);
}

static bool run_header(command_call_t *call, lin_port_t *lin)
{
    uint32_t identifier;

    if (!read_identifier(call, AT_ARGUMENTS, &identifier)) {
        return false;
    }
    uint32_t before = context_lock();
    lin_result_t result = lin_request_header(&lin->node, identifier);
    context_unlock(before);
    return finish(call, result, AT_ARGUMENTS);
}

static bool run_sleep(command_call_t *call, lin_port_t *lin)
{
    uint32_t before = context_lock();
    lin_result_t result = lin_go_to_sleep(&lin->node);

    context_unlock(before);
    return finish(call, result, AT_VERB);
}

static bool run_wake(command_call_t *call, lin_port_t *lin)
{
    (void)call;
    lin_wake(&lin->node);
    return false;
}

static bool run_off(command_call_t *call, lin_port_t *lin)
{
    (void)call;
    lin_close(lin);
    return false;
}

/* --- the command ------------------------------------------------------------------------------- */

typedef struct {
    const char *name;
    const char *arguments;
    uint32_t least; /* words that these are */
    uint32_t most;
    bool (*run)(command_call_t *call, lin_port_t *lin); /* NULL: run_on() */
} verb_t;

static const verb_t verbs[] = {
    {"on", "BAUD [commander]", 1, 2, NULL},
    {"off", "", 0, 0, run_off},
    {"publish", "ID BYTES [classic] [once] [error=BIT]", 2, 5, run_publish},
    {"subscribe", "ID BYTES [classic]", 2, 3, run_subscribe},
    {"remove", "ID", 1, 1, run_remove},
    {"set", "ID HEX", 2, 2, run_set},
    {"get", "ID", 1, 1, run_get},
    {"identity", "NAD SUPPLIER FUNCTION VARIANT SERIAL", 5, 5, run_identity},
    {"schedule", "[ID:MS]...", 0, COMMAND_WORDS, run_schedule},
    {"header", "ID", 1, 1, run_header},
    {"sleep", "", 0, 0, run_sleep},
    {"wake", "", 0, 0, run_wake},
};

enum { VERBS = sizeof(verbs) / sizeof(verbs[0]) };

static bool run_usage(command_call_t *call)
{
    const verb_t *verb = &verbs[call->step];

    command_print(call, "lin PORT %s %s\n", verb->name, verb->arguments);
    return call->step + 1 < VERBS;
}

static const verb_t *find_verb(const char *name)
{
    for (uint32_t index = 0; index < VERBS; index++) {
        if (strcmp(verbs[index].name, name) == 0) {
            return &verbs[index];
        }
    }
    return NULL;
}

static bool run_verb(command_call_t *call, uint32_t port)
{
    lin_port_t *lin = lin_of_port(port);
    const char *name = word(call, AT_VERB);
    const verb_t *verb = find_verb(name);

    if (name[0] == '\0') {
        return lin != NULL ? lin_run_show(call, lin)
                           : command_error(call, "port %lu is no LIN node", (unsigned long)port);
    }
    if (verb == NULL) {
        return command_error(call, "no verb '%s'; try lin help", name);
    }
    if (call->count < AT_ARGUMENTS + verb->least) {
        return command_error(call, "%s needs %s", name, verb->arguments);
    }
    if (!command_ends(call, AT_ARGUMENTS + verb->most)) {
        return false;
    }
    if (verb->run == NULL) {
        return run_on(call, port);
    }
    return lin != NULL ? verb->run(call, lin)
                       : command_error(call, "port %lu is no LIN node; lin %lu on BAUD",
                                       (unsigned long)port, (unsigned long)port);
}

static bool run(command_call_t *call)
{
    uint32_t port;

    if (call->count == 1) {
        return lin_run_list(call);
    }
    if (strcmp(call->words[AT_PORT], "help") == 0) {
        return command_ends(call, AT_VERB) && run_usage(call);
    }
    if (UARTS == 0) {
        return command_error(call, "there are no serial ports");
    }
    return command_number(call, "a serial port", call->words[AT_PORT], 0, (uint32_t)UARTS - 1, &port)
           && run_verb(call, port);
}

static const command_t commands[] = {
    {"lin", "[PORT [VERB ARGUMENTS]]", COMMAND_WORDS, "LIN nodes; lin help for what there is",
     run},
};

static command_table_t table = {commands, sizeof(commands) / sizeof(commands[0]), NULL};

void lin_add_command(void)
{
    command_add(&table);
}
