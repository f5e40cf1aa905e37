/* What the words of an irqtune command ask for; no device is used here. */
#ifndef TIERV_APPS_IRQTUNE_REQUEST_H
#define TIERV_APPS_IRQTUNE_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

typedef enum {
    IRQTUNE_LIST,    /* irqtune */
    IRQTUNE_ROTATE,  /* irqtune [-n] MASTER [SLAVE] */
    IRQTUNE_ASSIGN,  /* irqtune LINE=[tierN][:P] ... */
    IRQTUNE_RESTORE, /* irqtune -o */
    IRQTUNE_SUGGEST, /* irqtune --suggest [--apply] */
    IRQTUNE_CLEAR    /* irqtune -c */
} irqtune_action_t;

enum { IRQTUNE_ASSIGNMENTS = 10, IRQTUNE_ERROR_BYTES = 80, IRQTUNE_LINE_NAME_BYTES = 16 };

/* For a tier or priority that is to stay what it is. */
#define IRQTUNE_KEEP UINT32_MAX

typedef struct {
    char line[IRQTUNE_LINE_NAME_BYTES];
    uint32_t tier;
    uint32_t priority;
} irqtune_assignment_t;

typedef struct {
    irqtune_action_t action;
    bool apply; /* do it, rather than show it */
    uint32_t master;
    uint32_t slave;
    uint32_t count;
    irqtune_assignment_t assignments[IRQTUNE_ASSIGNMENTS];
    char error[IRQTUNE_ERROR_BYTES]; /* what is wrong, with the word that is */
} irqtune_request_t;

/* Reads the words behind the command's name. False, with `error`, if they are none of the above; numbers are
 * checked against what irqtune and the priorities allow, names and tiers are not. */
bool irqtune_parse(const char *const *words, uint32_t count, irqtune_request_t *request);

#endif
