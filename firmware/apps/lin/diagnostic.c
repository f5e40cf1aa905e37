#include "apps/lin/diagnostic.h"

#include <string.h>

enum {
    NAD_BROADCAST = 0x7f,
    NAD_LAST = 0x7d,
    SUPPLIER_ANY = 0x7fff,
    FUNCTION_ANY = 0xffff,
    SID_ASSIGN_NAD = 0xb0,
    SID_READ_BY_IDENTIFIER = 0xb2,
    SID_CONDITIONAL_CHANGE_NAD = 0xb3,
    SID_ASSIGN_FRAME_RANGE = 0xb7,
    /* Added to a service in its positive response; what a negative one begins with, and its reason. */
    RESPONSE_BIT = 0x40,
    SID_NEGATIVE = 0x7f,
    SUB_FUNCTION_NOT_SUPPORTED = 0x12,
    UNUSED_BYTE = 0xff,
    /* PCI of a single frame: the number of bytes behind it. */
    REQUEST_PCI = 6,
    /* Where the bytes D1 to D5 are. */
    AT_NAD = 0,
    AT_PCI = 1,
    AT_SID = 2,
    AT_D1 = 3,
    D_BYTES = 5,
    PID_UNASSIGN = 0x00,
    PID_LEAVE = 0xff,
    RANGE = 4
};

static uint32_t get_u16(const uint8_t *at)
{
    return at[0] | (uint32_t)at[1] << 8;
}

static void put_u16(uint8_t *at, uint32_t value)
{
    at[0] = (uint8_t)value;
    at[1] = (uint8_t)(value >> 8);
}

/* D1 to D5 of what can be read; the number of bytes, 0 if there is nothing by this identifier. */
static uint32_t information(const lin_identity_t *identity, uint32_t identifier, uint8_t *data)
{
    switch (identifier) {
    case 0:
        put_u16(data, identity->supplier);
        put_u16(data + 2, identity->function);
        data[4] = identity->variant;
        return 5;
    case 1:
        put_u16(data, identity->serial & 0xffff);
        put_u16(data + 2, identity->serial >> 16);
        return 4;
    default:
        return 0;
    }
}

static bool is_us(const lin_identity_t *identity, const uint8_t *ids)
{
    uint32_t supplier = get_u16(ids);
    uint32_t function = get_u16(ids + 2);

    return (supplier == SUPPLIER_ANY || supplier == identity->supplier)
           && (function == FUNCTION_ANY || function == identity->function);
}

/* A response of `bytes` bytes behind the service identifier. */
static bool respond(uint8_t *response, uint32_t nad, uint32_t service, const uint8_t *data,
                    uint32_t bytes)
{
    memset(response, UNUSED_BYTE, LIN_DATA_BYTES);
    response[AT_NAD] = (uint8_t)nad;
    response[AT_PCI] = (uint8_t)(1 + bytes);
    response[AT_SID] = (uint8_t)service;
    memcpy(response + AT_D1, data, bytes);
    return true;
}

static bool confirm(uint8_t *response, uint32_t nad, uint32_t service)
{
    return respond(response, nad, service | RESPONSE_BIT, response, 0);
}

static bool deny(uint8_t *response, uint32_t nad, uint32_t service)
{
    const uint8_t reason[] = {(uint8_t)service, SUB_FUNCTION_NOT_SUPPORTED};

    return respond(response, nad, SID_NEGATIVE, reason, sizeof(reason));
}

/* D1, D2 supplier; D3, D4 function; D5 the new NAD. Addressed by the initial NAD, which answers. */
static bool assign_nad(lin_identity_t *identity, const uint8_t *d, uint8_t *response)
{
    if (!is_us(identity, d) || d[4] == 0 || d[4] > NAD_LAST) {
        return false;
    }
    identity->nad = d[4];
    return confirm(response, identity->initial_nad, SID_ASSIGN_NAD);
}

/* D1 identifier; D2, D3 supplier; D4, D5 function. */
static bool read_by_identifier(const lin_identity_t *identity, const uint8_t *d, uint8_t *response)
{
    uint8_t data[D_BYTES];

    if (!is_us(identity, d + 1)) {
        return false;
    }
    uint32_t bytes = information(identity, d[0], data);
    if (bytes == 0) {
        return deny(response, identity->nad, SID_READ_BY_IDENTIFIER);
    }
    return respond(response, identity->nad, SID_READ_BY_IDENTIFIER | RESPONSE_BIT, data, bytes);
}

/* D1 identifier, D2 byte of it from 1 on, D3 mask, D4 invert, D5 the new NAD, which answers: if
 * ((byte ^ invert) & mask) is 0. */
static bool change_nad(lin_identity_t *identity, const uint8_t *d, uint8_t *response)
{
    uint8_t data[D_BYTES];
    uint32_t bytes = information(identity, d[0], data);

    if (d[1] == 0 || d[1] > bytes || ((data[d[1] - 1] ^ d[3]) & d[2]) != 0 || d[4] == 0
        || d[4] > NAD_LAST) {
        return false;
    }
    identity->nad = d[4];
    return confirm(response, identity->nad, SID_CONDITIONAL_CHANGE_NAD);
}

/* True if frame `index` of the range that begins with frame `first` can have its protected identifier of the
 * request: nobody has it, or a frame that gets another one. */
static bool may_assign(const lin_node_t *node, uint32_t first, const uint8_t *pids, uint32_t index)
{
    uint32_t number = first + index;
    uint8_t pid = pids[index];

    if (pid == PID_LEAVE) {
        return true;
    }
    if (number >= LIN_FRAMES || node->frames[number].direction == LIN_UNUSED) {
        return false;
    }
    uint32_t identifier = pid & (LIN_IDENTIFIERS - 1u);
    uint32_t user = node->by_identifier[identifier];
    uint32_t place = user - 1 - first;
    return pid == PID_UNASSIGN
           || (pid == lin_protect(identifier) && identifier < LIN_SIGNAL_IDENTIFIERS
               && (user == 0 || (place < RANGE && pids[place] != PID_LEAVE)));
}

/* True if a protected identifier stands before place `index` too. */
static bool is_twice(const uint8_t *pids, uint32_t index)
{
    for (uint32_t before = 0; before < index; before++) {
        if (pids[before] == pids[index] && pids[index] != PID_LEAVE
            && pids[index] != PID_UNASSIGN) {
            return true;
        }
    }
    return false;
}

/* D1 the first frame, in the order in which frames were added; D2 to D5 their protected identifiers. All of
 * it or nothing. */
static bool assign_range(lin_node_t *node, const lin_identity_t *identity, const uint8_t *d,
                         uint8_t *response)
{
    uint32_t first = LIN_FRAME_FIRST + (uint32_t)d[0];

    const uint8_t *pids = d + 1;

    for (uint32_t index = 0; index < RANGE; index++) {
        if (!may_assign(node, first, pids, index) || is_twice(pids, index)) {
            return deny(response, identity->nad, SID_ASSIGN_FRAME_RANGE);
        }
    }
    /* Frames give up what others of them get. */
    for (uint32_t index = 0; index < RANGE; index++) {
        uint32_t number = first + index;
        bool stays = pids[index] == PID_LEAVE
                     || (pids[index] != PID_UNASSIGN
                         && node->by_identifier[pids[index] & (LIN_IDENTIFIERS - 1u)] == number + 1);
        if (!stays) {
            (void)lin_assign(node, number, LIN_NO_IDENTIFIER);
        }
    }
    for (uint32_t index = 0; index < RANGE; index++) {
        if (pids[index] != PID_LEAVE && pids[index] != PID_UNASSIGN) {
            (void)lin_assign(node, first + index, pids[index] & (LIN_IDENTIFIERS - 1u));
        }
    }
    return confirm(response, identity->nad, SID_ASSIGN_FRAME_RANGE);
}

bool lin_diagnose(lin_node_t *node, lin_identity_t *identity, const uint8_t *request,
                  uint8_t *response)
{
    uint8_t nad = request[AT_NAD];
    const uint8_t *d = request + AT_D1;

    if (request[AT_PCI] != REQUEST_PCI) {
        return false;
    }
    if (request[AT_SID] == SID_ASSIGN_NAD) {
        bool ours = nad == identity->initial_nad || nad == NAD_BROADCAST;
        return ours && assign_nad(identity, d, response);
    }
    if (nad != identity->nad && nad != NAD_BROADCAST) {
        return false;
    }
    switch (request[AT_SID]) {
    case SID_READ_BY_IDENTIFIER:
        return read_by_identifier(identity, d, response);
    case SID_CONDITIONAL_CHANGE_NAD:
        return change_nad(identity, d, response);
    case SID_ASSIGN_FRAME_RANGE:
        return assign_range(node, identity, d, response);
    default:
        return false;
    }
}
