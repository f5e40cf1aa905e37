/* Contexts, in the place of firmware/context.h: terminal_board.c runs the services and knows who has the lock. */
#ifndef TIERV_CONTEXT_H
#define TIERV_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "net/compiler.h"

uint32_t context_lock(void);
void context_unlock(uint32_t before);
uint32_t context_lock_all(void);
void context_unlock_all(uint32_t before);
void context_post_protocol(void);

#endif
