/* The application's share of the processor, whatever the network brings (APPLICATION_SHARE_PERCENT).
 *
 * The protocol service is timed, with all that interrupts it, and with one context the interrupt service.
 * When in an interval they have had all but the application's share, received frames wait until the interval
 * is over; what the application, serial ports and LIN nodes send goes on. Frames for which there is no packet
 * then are dropped by the MAC.
 */
#ifndef TIERV_APPS_SHARE_H
#define TIERV_APPS_SHARE_H

/* Before the services start. */
void share_init(void);

/* Interrupt service, where it runs in a trap handler: before, and after, all that it does. Interrupts of the
 * protocol service are timed with that. */
void share_begin_interrupt(void);
void share_end_interrupt(void);

/* Protocol service: before, and after, all that it does. */
void share_begin(void);
void share_end(void);

#endif
