/* The commands of apps/command.h over UDP: REMOTE_PORT.
 *
 * Request: a number of up to nine digits, a blank and a command line. Answer: datagrams that begin with a line
 *
 *     NUMBER PART STATUS
 *
 * where PART counts from 0, and STATUS is `more` if another part follows, else `ok` or `error`; behind it
 * what the command printed. A request without a number is answered by "- 0 error", and counts as an
 * error of the commands too.
 */
#ifndef TIERV_APPS_REMOTE_H
#define TIERV_APPS_REMOTE_H

#include <stdbool.h>

enum { REMOTE_PORT = 7100, REMOTE_NUMBER_DIGITS = 9 };

/* Binds the port. */
void remote_init(void);

/* Application: answers what has come, as far as there are packets. True if something was queued for the
 * protocol service. */
bool remote_service(void);

#endif
