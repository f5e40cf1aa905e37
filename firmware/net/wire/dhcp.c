#include "dhcp.h"

enum { BOOT_REQUEST = 1, BOOT_REPLY = 2, HARDWARE_ETHERNET = 1 };
enum { AT_FLAGS = 10, AT_CLIENT = 12, AT_YOUR = 16, AT_MAC = 28, AT_NAME = 44, AT_FILE = 108 };
enum { AT_COOKIE = 236, NAME_BYTES = 64, FILE_BYTES = 128 };
enum { FLAG_BROADCAST = 0x8000 };

#define COOKIE IPV4_ADDRESS(99, 130, 83, 99)

/* RFC 2132, and the section in it. */
enum {
    OPTION_PAD = 0,
    OPTION_NETMASK = 1,     /* 3.3 */
    OPTION_ROUTERS = 3,     /* 3.5 */
    OPTION_REQUESTED = 50,  /* 9.1 */
    OPTION_LEASE = 51,      /* 9.2 */
    OPTION_OVERLOAD = 52,   /* 9.3 */
    OPTION_TYPE = 53,       /* 9.6 */
    OPTION_SERVER = 54,     /* 9.7 */
    OPTION_PARAMETERS = 55, /* 9.8 */
    OPTION_RENEWAL = 58,    /* 9.11 */
    OPTION_REBINDING = 59,  /* 9.12 */
    OPTION_END = 255
};

enum { OVERLOAD_FILE = 1, OVERLOAD_NAME = 2 };

/* At any address. */
static be32_t get_address(const uint8_t *at)
{
    return IPV4_ADDRESS(at[0], at[1], at[2], at[3]);
}

static uint32_t get_seconds(const uint8_t *at)
{
    return be32_to_host(get_address(at));
}

/* Takes over an option. False if its length is not what the option must have. */
static bool take_option(dhcp_message_t *message, uint32_t *overload, uint32_t code,
                        const uint8_t *value, uint32_t bytes)
{
    if (code == OPTION_TYPE || code == OPTION_OVERLOAD) {
        if (bytes != 1) {
            return false;
        }
        if (code == OPTION_TYPE) {
            message->type = *value;
        } else {
            *overload = *value;
        }
        return true;
    }
    if (code == OPTION_ROUTERS) {
        if (bytes == 0 || bytes % 4 != 0) {
            return false;
        }
        message->router = get_address(value);
        return true;
    }
    if (code != OPTION_NETMASK && code != OPTION_SERVER && code != OPTION_LEASE
        && code != OPTION_RENEWAL && code != OPTION_REBINDING) {
        return true;
    }
    if (bytes != 4) {
        return false;
    }
    switch (code) {
    case OPTION_NETMASK:
        message->netmask = get_address(value);
        break;
    case OPTION_SERVER:
        message->server = get_address(value);
        break;
    case OPTION_LEASE:
        message->lease_s = get_seconds(value);
        break;
    case OPTION_RENEWAL:
        message->renewal_s = get_seconds(value);
        break;
    default:
        message->rebinding_s = get_seconds(value);
        break;
    }
    return true;
}

/* Takes over the options in `bytes` bytes. False if one reaches beyond them or has a wrong length, or
 * if they have no end. */
static bool take_options(dhcp_message_t *message, uint32_t *overload, const uint8_t *at,
                         uint32_t bytes)
{
    uint32_t next = 0;

    while (next < bytes) {
        uint32_t code = at[next++];
        if (code == OPTION_END) {
            return true;
        }
        if (code == OPTION_PAD) {
            continue;
        }
        if (next == bytes || at[next] > bytes - next - 1) {
            return false;
        }
        uint32_t size = at[next++];
        if (!take_option(message, overload, code, at + next, size)) {
            return false;
        }
        next += size;
    }
    return false;
}

net_counter_t dhcp_parse(const uint8_t *at, uint32_t bytes, dhcp_message_t *message)
{
    uint32_t overload = 0;
    uint32_t ignored;

    if (bytes < DHCP_HEADER_BYTES) {
        return COUNT_DHCP_DROP_SHORT;
    }
    if (get_be16(at) != BE16(BOOT_REPLY << 8 | HARDWARE_ETHERNET)
        || at[2] != ETHERNET_ADDRESS_BYTES || get_be32(at + AT_COOKIE) != COOKIE) {
        return COUNT_DHCP_DROP_FORMAT;
    }
    *message = (dhcp_message_t){.xid = get_be32(at + 4),
                                .client = ethernet_get_address(at + AT_MAC),
                                .address = get_be32(at + AT_YOUR)};
    bool good = take_options(message, &overload, at + DHCP_HEADER_BYTES, bytes - DHCP_HEADER_BYTES);
    if (good && (overload & OVERLOAD_FILE) != 0) {
        good = take_options(message, &ignored, at + AT_FILE, FILE_BYTES);
    }
    if (good && (overload & OVERLOAD_NAME) != 0) {
        good = take_options(message, &ignored, at + AT_NAME, NAME_BYTES);
    }
    return good ? WIRE_OK : COUNT_DHCP_DROP_OPTIONS;
}

static uint8_t *put_option_address(uint8_t *at, uint32_t code, be32_t address)
{
    if (address == 0) {
        return at;
    }
    at[0] = (uint8_t)code;
    at[1] = 4;
    for (uint32_t byte = 0; byte < 4; byte++) {
        at[2 + byte] = (uint8_t)(address >> 8 * byte);
    }
    return at + 6;
}

void dhcp_emit(uint8_t *at, const dhcp_request_t *request)
{
    static const uint8_t parameters[] = {OPTION_PARAMETERS, 5, OPTION_NETMASK, OPTION_ROUTERS,
                                         OPTION_LEASE, OPTION_RENEWAL, OPTION_REBINDING};
    uint8_t *option = at + DHCP_HEADER_BYTES;
    bool asks = dhcp_asks(request->type);

    __builtin_memset(at, 0, DHCP_MESSAGE_BYTES);
    put_be16(at, BE16(BOOT_REQUEST << 8 | HARDWARE_ETHERNET));
    put_be16(at + 2, BE16(ETHERNET_ADDRESS_BYTES << 8));
    put_be32(at + 4, request->xid);
    put_u16(at + 8, request->seconds < 0xffff ? request->seconds : 0xffff);
    put_u16(at + AT_FLAGS, asks && request->client_address == 0 ? FLAG_BROADCAST : 0);
    put_be32(at + AT_CLIENT, request->client_address);
    ethernet_put_address(at + AT_MAC, &request->client);
    put_be32(at + AT_COOKIE, COOKIE);
    *option++ = OPTION_TYPE;
    *option++ = 1;
    *option++ = (uint8_t)request->type;
    option = put_option_address(option, OPTION_REQUESTED, request->requested);
    option = put_option_address(option, OPTION_SERVER, request->server);
    if (asks) {
        for (uint32_t byte = 0; byte < sizeof(parameters); byte++) {
            *option++ = parameters[byte];
        }
    }
    *option = OPTION_END;
}
