#include "apps/lin/node.h"

#include <string.h>

#include "net/compiler.h"

/* A dominant level this long wakes a node (LIN 2.2A, section 2.6.2). */
enum { WAKE_LEAST_US = 150 };

void lin_node_init(lin_node_t *node, lin_role_t role, uint32_t bit_cycles, uint32_t us_cycles)
{
    uint32_t wake_cycles = WAKE_LEAST_US * us_cycles;

    memset(node, 0, sizeof(*node));
    node->state = LIN_STATE_IDLE;
    node->header_sent = LIN_NO_IDENTIFIER;
    node->header_wanted = LIN_NO_IDENTIFIER;
    node->role = (uint8_t)role;
    node->bit_cycles = bit_cycles;
    node->wake_bits = (wake_cycles + bit_cycles - 1) / bit_cycles;
    for (uint32_t number = 0; number < LIN_FRAMES; number++) {
        node->frames[number].identifier = LIN_NO_IDENTIFIER;
    }
    for (uint32_t number = LIN_FRAME_REQUEST; number <= LIN_FRAME_RESPONSE; number++) {
        bool publishes = (number == LIN_FRAME_REQUEST) == (role == LIN_COMMANDER);
        node->frames[number] = (lin_frame_t){
            .identifier = LIN_NO_IDENTIFIER,
            .direction = publishes ? LIN_PUBLISH : LIN_SUBSCRIBE,
            .bytes = LIN_DATA_BYTES,
            .flags = publishes ? LIN_CLASSIC | LIN_ONCE : LIN_CLASSIC,
            .error_bit = LIN_NO_BIT,
        };
    }
    (void)lin_assign(node, LIN_FRAME_REQUEST, LIN_COMMANDER_REQUEST);
    (void)lin_assign(node, LIN_FRAME_RESPONSE, LIN_RESPONDER_RESPONSE);
}

/* The frame with an identifier, or NULL. */
static lin_frame_t *find(const lin_node_t *node, uint32_t identifier)
{
    uint32_t number = identifier < LIN_IDENTIFIERS ? node->by_identifier[identifier] : 0;

    return number == 0 ? NULL : (lin_frame_t *)&node->frames[number - 1];
}

/* Fills the image that is not in use, and takes it into use. */
static void show(lin_frame_t *frame, const uint8_t *data)
{
    lin_image_t *image = &frame->images[(frame->written + 1) & 1];
    bool classic = (frame->flags & LIN_CLASSIC) != 0;
    uint8_t protected_identifier = lin_protect(frame->identifier);

    memcpy(image->data, data, frame->bytes);
    if (frame->error_bit != LIN_NO_BIT) {
        uint8_t *byte = &image->data[frame->error_bit / 8];
        uint8_t bit = (uint8_t)(1u << frame->error_bit % 8);
        *byte |= bit;
        image->error_checksum =
            lin_checksum(classic, protected_identifier, image->data, frame->bytes);
        *byte = (uint8_t)(*byte & ~bit);
    }
    image->checksum = lin_checksum(classic, protected_identifier, image->data, frame->bytes);
    COMPILER_BARRIER();
    frame->written++;
    COMPILER_BARRIER();
}

lin_result_t lin_assign(lin_node_t *node, uint32_t number, uint32_t identifier)
{
    if (identifier != LIN_NO_IDENTIFIER && identifier > LIN_RESPONDER_RESPONSE) {
        return LIN_BAD_IDENTIFIER;
    }
    if (number >= LIN_FRAMES || node->frames[number].direction == LIN_UNUSED) {
        return LIN_NO_SUCH_FRAME;
    }
    lin_frame_t *frame = &node->frames[number];
    lin_frame_t *other = find(node, identifier);
    if (other == frame) {
        return LIN_OK;
    }
    if (other != NULL) {
        return LIN_IN_USE;
    }
    if (frame->identifier != LIN_NO_IDENTIFIER) {
        node->by_identifier[frame->identifier] = 0;
        COMPILER_BARRIER();
    }
    frame->identifier = (uint8_t)identifier;
    if (identifier != LIN_NO_IDENTIFIER) {
        /* The enhanced checksum covers the identifier. */
        if (frame->direction == LIN_PUBLISH && frame->written != 0) {
            bool was_sent = frame->sent == frame->written;
            show(frame, frame->images[frame->written & 1].data);
            if (was_sent) {
                frame->sent = frame->written;
            }
        }
        COMPILER_BARRIER();
        node->by_identifier[identifier] = (uint8_t)(number + 1);
    }
    return LIN_OK;
}

lin_result_t lin_add(lin_node_t *node, uint32_t identifier, lin_direction_t direction,
                     uint32_t bytes, uint32_t flags, uint32_t error_bit)
{
    if (identifier >= LIN_SIGNAL_IDENTIFIERS) {
        return LIN_BAD_IDENTIFIER;
    }
    if (find(node, identifier) != NULL) {
        return LIN_IN_USE;
    }
    if (bytes == 0 || bytes > LIN_DATA_BYTES) {
        return LIN_BAD_LENGTH;
    }
    if (error_bit != LIN_NO_BIT && (error_bit >= 8 * bytes || direction != LIN_PUBLISH)) {
        return LIN_BAD_BIT;
    }
    for (uint32_t number = LIN_FRAME_FIRST; number < LIN_FRAMES; number++) {
        if (node->frames[number].direction == LIN_UNUSED) {
            node->frames[number] = (lin_frame_t){
                .identifier = LIN_NO_IDENTIFIER,
                .direction = (uint8_t)direction,
                .bytes = (uint8_t)bytes,
                .flags = (uint8_t)flags,
                .error_bit = (uint8_t)error_bit,
            };
            return lin_assign(node, number, identifier);
        }
    }
    return LIN_FULL;
}

lin_result_t lin_remove(lin_node_t *node, uint32_t identifier)
{
    lin_frame_t *frame = find(node, identifier);

    if (identifier >= LIN_SIGNAL_IDENTIFIERS) {
        return LIN_BAD_IDENTIFIER;
    }
    if (frame == NULL) {
        return LIN_NO_SUCH_FRAME;
    }
    node->by_identifier[identifier] = 0;
    COMPILER_BARRIER();
    frame->identifier = LIN_NO_IDENTIFIER;
    frame->direction = LIN_UNUSED;
    return LIN_OK;
}

lin_result_t lin_write(lin_node_t *node, uint32_t identifier, const uint8_t *data, uint32_t bytes)
{
    lin_frame_t *frame = find(node, identifier);

    if (frame == NULL || frame->direction != LIN_PUBLISH) {
        return LIN_NO_SUCH_FRAME;
    }
    if (bytes != frame->bytes) {
        return LIN_BAD_LENGTH;
    }
    show(frame, data);
    return LIN_OK;
}

void lin_cancel(lin_node_t *node, uint32_t identifier)
{
    lin_frame_t *frame = find(node, identifier);

    if (frame != NULL) {
        frame->sent = frame->written;
    }
}

lin_result_t lin_read(const lin_node_t *node, uint32_t identifier, uint8_t *data, uint32_t *bytes,
                      uint32_t *written)
{
    const lin_frame_t *frame = find(node, identifier);

    if (frame == NULL) {
        return LIN_NO_SUCH_FRAME;
    }
    *bytes = frame->bytes;
    do {
        /* Again if the interrupt service has written meanwhile, which it can't twice: a response
         * takes longer than this. */
        *written = frame->written;
        COMPILER_BARRIER();
        memcpy(data, frame->images[*written & 1].data, LIN_DATA_BYTES);
        COMPILER_BARRIER();
    } while (frame->written != *written);
    return LIN_OK;
}
