/* Node configuration and identification over the frames 0x3c and 0x3d (LIN 2.2A, chapters 4.2 and 7):
 * requests in single frames, and their responses.
 *
 *   0xb0  assign NAD
 *   0xb2  read by identifier: 0 product identification, 1 serial number
 *   0xb3  conditional change of the NAD
 *   0xb7  assign frame identifier range
 */
#ifndef TIERV_APPS_LIN_DIAGNOSTIC_H
#define TIERV_APPS_LIN_DIAGNOSTIC_H

#include "apps/lin/node.h"

typedef struct {
    uint16_t supplier; /* 15 bits */
    uint16_t function;
    uint8_t variant;
    uint8_t initial_nad; /* 1 to 0x7d */
    uint8_t nad;
    uint32_t serial;
} lin_identity_t;

/* Takes a commander request of 8 bytes; true if `response`, 8 bytes, is to be sent at the next header
 * 0x3d. A request to others, or one that is not understood, has no response. */
bool lin_diagnose(lin_node_t *node, lin_identity_t *identity, const uint8_t *request,
                  uint8_t *response);

#endif
