/* Sizes of the firmware's buffers and tables: the one home of these numbers.
 *
 * A build may override each with -D; the checks at the end name what is impossible.
 */
#ifndef TIERV_CONFIG_H
#define TIERV_CONFIG_H

/* On a computer there is no SoC. */
#if __has_include(<generated/soc.h>)
#include <generated/soc.h>
#endif

/* Many serial ports, and the stacks of more tiers, take local memory that is the frames' elsewhere; so do
 * the descriptors of a MAC with DMA, but less. */
#define CONFIG_OTHERS_IN_LOCAL_MEMORY ((UARTS > 8) + (CONFIG_CPU_TIERS > 3) + (CONFIG_CPU_TIERS > 6))

/* Bytes of a frame buffer: the longest Ethernet frame without FCS is 1514; rounded up to a multiple
 * of a 64-byte burst. */
#ifndef NET_BUFFER_BYTES
#define NET_BUFFER_BYTES 1536
#endif

/* Buffers for received frames: what the ISR tier can fill before the protocol tier has run, plus
 * what the application holds. */
#ifndef NET_RECEIVE_PACKETS
#if CONFIG_OTHERS_IN_LOCAL_MEMORY == 0 && !defined(ETHDMA_OWNED_BIT)
#define NET_RECEIVE_PACKETS 24
#elif CONFIG_OTHERS_IN_LOCAL_MEMORY == 0
#define NET_RECEIVE_PACKETS 22
#elif CONFIG_OTHERS_IN_LOCAL_MEMORY == 1
#define NET_RECEIVE_PACKETS 20
#else
#define NET_RECEIVE_PACKETS 16
#endif
#endif

/* Of these, at the most so many wait for the application or are held by it; the rest stays with the
 * two urgent tiers, so a slow application can't stop ARP, ping or callback sockets. */
#ifndef NET_APPLICATION_HOLD
#if CONFIG_OTHERS_IN_LOCAL_MEMORY == 0 && !defined(ETHDMA_OWNED_BIT)
#define NET_APPLICATION_HOLD 18
#elif CONFIG_OTHERS_IN_LOCAL_MEMORY == 0
#define NET_APPLICATION_HOLD 16
#elif CONFIG_OTHERS_IN_LOCAL_MEMORY == 1
#define NET_APPLICATION_HOLD 14
#else
#define NET_APPLICATION_HOLD 10
#endif
#endif

/* Buffers for what the protocol tier sends of itself: ARP requests, datagrams of callbacks. */
#ifndef NET_PROTOCOL_PACKETS
#define NET_PROTOCOL_PACKETS 4
#endif

/* Buffers for datagrams that the application writes. */
#ifndef NET_APPLICATION_PACKETS
#define NET_APPLICATION_PACKETS 4
#endif

/* Packets that have been sent before the protocol tier is woken to take them back; it does so whenever
 * it runs for something else. */
#ifndef NET_SENT_BATCH
#define NET_SENT_BATCH 4
#endif

/* In so many microseconds, so many datagrams are dropped for which the application has no room, and those for which
 * the packets are that it leaves; more the MAC drops, whoever they are for. */
#ifndef NET_EXCESS_DROPS
#define NET_EXCESS_DROPS 8
#endif
#ifndef NETWORK_REFILL_US
#define NETWORK_REFILL_US 1000
#endif

/* Per cent of the processor that stay with the application however many frames come. What is left of an
 * interval of so many microseconds the services may use at once; then received frames wait for as long as
 * one. They look at the clock every so many frames. 0 per cent: the network goes first always. What is left of an
 * interval must be more than what looking takes (apps/share.c). */
#ifndef APPLICATION_SHARE_PERCENT
#define APPLICATION_SHARE_PERCENT 0
#endif
#ifndef APPLICATION_SHARE_INTERVAL_US
#define APPLICATION_SHARE_INTERVAL_US 250
#endif
#ifndef APPLICATION_SHARE_FRAMES
#define APPLICATION_SHARE_FRAMES 8
#endif

/* With one context: cycles that an interrupt takes from the application outside what it times itself (90 by the
 * simulation's log of instructions, 140 if it gives up a division), and that a protocol service takes in addition
 * (79 to 89). With tiers the core's counters have them all. */
#ifndef APPLICATION_SHARE_TRAP_CYCLES
#define APPLICATION_SHARE_TRAP_CYCLES 100
#endif
#ifndef APPLICATION_SHARE_PROTOCOL_CYCLES
#define APPLICATION_SHARE_PROTOCOL_CYCLES 80
#endif

/* Slots of each ring between tiers: a power of two with room for every packet there is, so that a
 * packet always finds its way home. */
#ifndef NET_RING_SLOTS
#define NET_RING_SLOTS 32
#endif

/* Datagrams that wait in one socket for the application: a power of two. More are dropped and
 * counted. */
#ifndef UDP_SOCKET_SLOTS
#define UDP_SOCKET_SLOTS 16
#endif

/* Buckets of the table from UDP port to socket: a power of two. Sockets are the caller's and any
 * number of them may be bound; with 32 buckets 32 consecutive ports are found at the first look. */
#ifndef UDP_BUCKETS
#define UDP_BUCKETS 32
#endif

/* Neighbours whose Ethernet address is known or being asked for. */
#ifndef ARP_ENTRIES
#define ARP_ENTRIES 8
#endif

/* Requests, one a second, before an address counts as unreachable. */
#ifndef ARP_TRIES
#define ARP_TRIES 3
#endif

/* Seconds after which an address is asked for again if it was used, and forgotten if not. */
#ifndef ARP_LIFETIME_S
#define ARP_LIFETIME_S 60
#endif

/* Errors of ICMP that are sent from one tick of a second to the next; more are counted. */
#ifndef ICMP_ERRORS_PER_S
#define ICMP_ERRORS_PER_S 10
#endif

/* Multicast groups that can be joined at the same time. */
#ifndef IGMP_GROUPS
#define IGMP_GROUPS 4
#endif

/* Cycles of a second of the network's clock: for ARP, IGMP and DHCP. Shorter ones are for simulations. */
#ifndef NETWORK_SECOND_CYCLES
#define NETWORK_SECOND_CYCLES CONFIG_CLOCK_FREQUENCY
#endif

/* 1: the services ask a DHCP server for their address from the beginning; 0: when told so. */
#ifndef NETWORK_DHCP
#define NETWORK_DHCP 0
#endif

/* A DHCP client that begins waits up to so many seconds, so that not all boards ask at once (RFC 2131
 * section 4.4.1 recommends 10). */
#ifndef DHCP_SPREAD_S
#define DHCP_SPREAD_S 10
#endif

/* Unanswered DISCOVER messages before the static address is taken, and unanswered REQUEST messages
 * before another server is looked for. */
#ifndef DHCP_TRIES
#define DHCP_TRIES 4
#endif

/* Descriptors of a MAC with rings in local memory: powers of two. Those of the receive ring have packets of
 * NET_RECEIVE_PACKETS, so that so many frames come before the protocol service has run. */
#ifndef ETHMAC_DMA_RECEIVE
#define ETHMAC_DMA_RECEIVE 16
#endif
#ifndef ETHMAC_DMA_TRANSMIT
#define ETHMAC_DMA_TRANSMIT 16
#endif

/* Frames, and microseconds, for which those wait that come while datagrams wait for the application. */
#ifndef ETHMAC_DMA_BATCH
#define ETHMAC_DMA_BATCH 8
#endif
#ifndef ETHMAC_DMA_BATCH_US
#define ETHMAC_DMA_BATCH_US 40
#endif

/* 1: the driver completes the checksum of UDP in packets with PACKET_UDP_UNSUMMED. */
#ifndef NET_DRIVER_SUMS
#define NET_DRIVER_SUMS 0
#endif

/* Time to live of what we send (RFC 1700 recommends 64). */
#ifndef IPV4_TTL
#define IPV4_TTL 64
#endif

/* The same of datagrams to multicast groups: 1 keeps them in the subnet (RFC 1112 section 6.1). */
#ifndef IPV4_MULTICAST_TTL
#define IPV4_MULTICAST_TTL 1
#endif

/* Bytes that wait in each direction of the console: a power of two. */
#ifndef UART_RING_BYTES
#define UART_RING_BYTES 256
#endif

/* Received characters that wait in the ring of a serial port (drivers/serial_ring.h): a power of two. */
#ifndef SERIAL_RING_CHARACTERS
#define SERIAL_RING_CHARACTERS 256
#endif

/* Serial ports that can be LIN nodes at the same time, 0 for no LIN; frames that each knows, two for
 * diagnostics among them; slots of a schedule; reports of each that wait for the protocol tier, a power of
 * two; hosts that watch. */
#ifndef LIN_NODES
#define LIN_NODES 4
#endif
#ifndef LIN_FRAMES
#define LIN_FRAMES 16
#endif
#ifndef LIN_SLOTS
#define LIN_SLOTS 16
#endif
#ifndef LIN_REPORTS
#define LIN_REPORTS 8
#endif
#ifndef LIN_WATCHERS
#define LIN_WATCHERS 4
#endif

/* Buffers that serial ports fill: one that is being filled and one more for each of 16. They are outside
 * local memory. */
#ifndef NET_SERIAL_PACKETS
#define NET_SERIAL_PACKETS 32
#endif

/* Slots of the rings to and from the driver's sending side: a power of two with room for them too. */
#ifndef NET_TRANSMIT_SLOTS
#define NET_TRANSMIT_SLOTS 64
#endif

/* Packets that a serial port can have from the terminal server before the protocol tier has run: a power
 * of two. */
#ifndef TERMINAL_PORT_PACKETS
#define TERMINAL_PORT_PACKETS 2
#endif

/* Words of a port's queue to the serial line, three bytes of a datagram each: a power of two. */
#ifndef TERMINAL_TRANSMIT_WORDS
#define TERMINAL_TRANSMIT_WORDS 1024
#endif

/* Characters that may wait before a delimiter among them is looked for, if no gap follows. */
#ifndef TERMINAL_DELIMITER_WATERMARK
#define TERMINAL_DELIMITER_WATERMARK 16
#endif

#define NET_PACKETS (NET_RECEIVE_PACKETS + NET_PROTOCOL_PACKETS + NET_APPLICATION_PACKETS)

/* One more for a MAC with rings in local memory, which can't reach those that serial ports fill: it goes out in
 * place of one of them when no received frame's is free. */
#ifdef ETHDMA_OWNED_BIT
#define NET_COPY_PACKETS 1
#else
#define NET_COPY_PACKETS 0
#endif

#define CONFIG_IS_POWER_OF_TWO(n) ((n) > 0 && ((n) & ((n) - 1)) == 0)

_Static_assert(NET_BUFFER_BYTES >= 1514 && NET_BUFFER_BYTES % 4 == 0,
              "NET_BUFFER_BYTES must be a multiple of 4 that holds a frame of 1514 bytes");
_Static_assert(NET_APPLICATION_HOLD < NET_RECEIVE_PACKETS,
              "NET_APPLICATION_HOLD must leave a receive packet to the urgent tiers");
_Static_assert(NET_APPLICATION_HOLD > 0, "NET_APPLICATION_HOLD must not be 0");
_Static_assert(NET_EXCESS_DROPS > 0, "NET_EXCESS_DROPS must not be 0");
_Static_assert(NETWORK_REFILL_US > 0 && NETWORK_REFILL_US <= 1000000,
              "NETWORK_REFILL_US must be from 1 to 1000000");
_Static_assert(NET_PROTOCOL_PACKETS > 0, "ARP requests need a packet of NET_PROTOCOL_PACKETS");
_Static_assert(NET_SENT_BATCH > 0 && NET_SENT_BATCH <= NET_PROTOCOL_PACKETS
                  && NET_SENT_BATCH <= NET_APPLICATION_PACKETS,
              "NET_SENT_BATCH must not exceed the packets of a sender, or it could wait for ever");
_Static_assert(APPLICATION_SHARE_PERCENT >= 0 && APPLICATION_SHARE_PERCENT < 100,
              "APPLICATION_SHARE_PERCENT must be from 0 to 99");
_Static_assert(APPLICATION_SHARE_INTERVAL_US >= 100 && APPLICATION_SHARE_INTERVAL_US <= 1000000,
              "APPLICATION_SHARE_INTERVAL_US must be from 100 to 1000000");
_Static_assert(APPLICATION_SHARE_FRAMES > 0, "APPLICATION_SHARE_FRAMES must not be 0");
_Static_assert(APPLICATION_SHARE_TRAP_CYCLES >= 0 && APPLICATION_SHARE_TRAP_CYCLES <= 10000,
              "APPLICATION_SHARE_TRAP_CYCLES must be from 0 to 10000");
_Static_assert(APPLICATION_SHARE_PROTOCOL_CYCLES >= 0 && APPLICATION_SHARE_PROTOCOL_CYCLES <= 10000,
              "APPLICATION_SHARE_PROTOCOL_CYCLES must be from 0 to 10000");
_Static_assert(CONFIG_IS_POWER_OF_TWO(NET_RING_SLOTS), "NET_RING_SLOTS must be a power of two");
_Static_assert(NET_RING_SLOTS >= NET_PACKETS, "NET_RING_SLOTS must hold all packets");
_Static_assert(CONFIG_IS_POWER_OF_TWO(NET_TRANSMIT_SLOTS), "NET_TRANSMIT_SLOTS must be a power of two");
_Static_assert(NET_TRANSMIT_SLOTS >= NET_PACKETS + NET_SERIAL_PACKETS + NET_COPY_PACKETS,
              "NET_TRANSMIT_SLOTS must hold all packets and those of serial ports");
_Static_assert(CONFIG_IS_POWER_OF_TWO(ETHMAC_DMA_RECEIVE) && ETHMAC_DMA_RECEIVE <= 256,
              "ETHMAC_DMA_RECEIVE must be a power of two up to 256");
/* With one, the last is the first: nobody would be told that it is free again. */
_Static_assert(CONFIG_IS_POWER_OF_TWO(ETHMAC_DMA_TRANSMIT) && ETHMAC_DMA_TRANSMIT >= 2
                  && ETHMAC_DMA_TRANSMIT <= 256,
              "ETHMAC_DMA_TRANSMIT must be a power of two from 2 to 256");
_Static_assert(ETHMAC_DMA_BATCH > 0 && ETHMAC_DMA_BATCH < ETHMAC_DMA_RECEIVE,
              "ETHMAC_DMA_BATCH must leave descriptors to those that come meanwhile");
_Static_assert(ETHMAC_DMA_BATCH_US > 0 && ETHMAC_DMA_BATCH_US <= 1000,
              "ETHMAC_DMA_BATCH_US must be from 1 to 1000");
_Static_assert(NET_DRIVER_SUMS == 0 || NET_DRIVER_SUMS == 1, "NET_DRIVER_SUMS must be 0 or 1");
_Static_assert(CONFIG_IS_POWER_OF_TWO(UDP_SOCKET_SLOTS), "UDP_SOCKET_SLOTS must be a power of two");
_Static_assert(CONFIG_IS_POWER_OF_TWO(UDP_BUCKETS) && UDP_BUCKETS <= 256,
              "UDP_BUCKETS must be a power of two up to 256");
_Static_assert(ARP_ENTRIES > 0 && ARP_ENTRIES <= 255, "ARP_ENTRIES must be from 1 to 255");
_Static_assert(ARP_TRIES > 0 && ARP_TRIES <= 255, "ARP_TRIES must be from 1 to 255");
_Static_assert(ARP_LIFETIME_S > 0 && ARP_LIFETIME_S <= 65535,
              "ARP_LIFETIME_S must be from 1 to 65535");
_Static_assert(CONFIG_IS_POWER_OF_TWO(UART_RING_BYTES), "UART_RING_BYTES must be a power of two");
_Static_assert(CONFIG_IS_POWER_OF_TWO(SERIAL_RING_CHARACTERS) && SERIAL_RING_CHARACTERS >= 4,
              "SERIAL_RING_CHARACTERS must be a power of two that holds three at once, 4 or more");
_Static_assert(LIN_NODES >= 0 && LIN_NODES <= 16, "LIN_NODES must be from 0 to 16");
_Static_assert(LIN_FRAMES > 2 && LIN_FRAMES <= 62, "LIN_FRAMES must be from 3 to 62");
_Static_assert(LIN_SLOTS > 0 && LIN_SLOTS <= 255, "LIN_SLOTS must be from 1 to 255");
_Static_assert(CONFIG_IS_POWER_OF_TWO(LIN_REPORTS), "LIN_REPORTS must be a power of two");
_Static_assert(LIN_WATCHERS > 0, "LIN_WATCHERS must not be 0");
_Static_assert(TERMINAL_PORT_PACKETS > 1 && CONFIG_IS_POWER_OF_TWO(TERMINAL_PORT_PACKETS),
              "TERMINAL_PORT_PACKETS must be a power of two, 2 or more");
_Static_assert(CONFIG_IS_POWER_OF_TWO(TERMINAL_TRANSMIT_WORDS) && TERMINAL_TRANSMIT_WORDS >= 512,
              "TERMINAL_TRANSMIT_WORDS must be a power of two that holds a datagram of 1472 bytes");
_Static_assert(TERMINAL_DELIMITER_WATERMARK > 0, "TERMINAL_DELIMITER_WATERMARK must not be 0");
_Static_assert(ICMP_ERRORS_PER_S >= 0, "ICMP_ERRORS_PER_S must not be negative");
_Static_assert(IGMP_GROUPS > 0, "IGMP_GROUPS must not be 0");
_Static_assert(NETWORK_DHCP == 0 || NETWORK_DHCP == 1, "NETWORK_DHCP must be 0 or 1");
_Static_assert(DHCP_SPREAD_S > 0 && DHCP_SPREAD_S <= 65535, "DHCP_SPREAD_S must be from 1 to 65535");
_Static_assert(DHCP_TRIES > 0 && DHCP_TRIES <= 255, "DHCP_TRIES must be from 1 to 255");
_Static_assert(IPV4_TTL > 0 && IPV4_TTL <= 255, "IPV4_TTL must be from 1 to 255");
_Static_assert(IPV4_MULTICAST_TTL >= 0 && IPV4_MULTICAST_TTL <= 255,
              "IPV4_MULTICAST_TTL must be from 0 to 255");

#endif
