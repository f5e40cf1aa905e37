/* The words behind `latency start`; no device is used here. */
#ifndef TIERV_APPS_ECHO_REQUEST_H
#define TIERV_APPS_ECHO_REQUEST_H

#include "apps/command.h"
#include "apps/echo/latency.h"

#ifdef ECHO_INTERRUPT

/* What may stand there, for help. */
#define LATENCY_START_WORDS "take|test [steady] [interval|spread|seed|bin|samples N].."

/* Reads call->words[first] and those behind it into `settings`, which keep what is not named. False, with
 * command_error(), if a word is wrong. */
bool latency_read_request(command_call_t *call, uint32_t first, latency_settings_t *settings);

#endif

#endif
