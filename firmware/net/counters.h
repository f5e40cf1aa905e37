/* What happened to every frame and datagram: one list, from which enum and names are made.
 *
 * The kinds:
 *   FRAME     each frame given to net_input() ends in exactly one of these, so that their sum is
 *             the number of frames
 *   DATAGRAM  each datagram given to udp_output() ends in exactly one of these
 *   WAITING   each datagram of UDP_SENT_LATER ends in exactly one of these, or still waits
 *   EVENT     the rest
 */
#ifndef TIERV_NET_COUNTERS_H
#define TIERV_NET_COUNTERS_H

#include <stdint.h>

#define NET_COUNTERS(X)                                                                            \
    /* Ethernet */                                                                                 \
    X(ETHERNET_DROP_SHORT, FRAME)       /* shorter than its header */                              \
    X(ETHERNET_DROP_LONG, FRAME)        /* longer than 1514 bytes without FCS */                   \
    X(ETHERNET_DROP_DESTINATION, FRAME) /* neither to us, to all nor to a group of ours */         \
    X(ETHERNET_DROP_SOURCE, FRAME)      /* from a group address */                                 \
    X(ETHERNET_DROP_TYPE, FRAME)        /* neither ARP nor IPv4 */                                 \
    /* ARP */                                                                                      \
    X(ARP_DROP_SHORT, FRAME)            /* shorter than an ARP packet for IPv4 */                  \
    X(ARP_DROP_FORMAT, FRAME)           /* wrong hardware or protocol type, or their sizes */      \
    X(ARP_DROP_OPERATION, FRAME)        /* neither request nor reply */                            \
    X(ARP_DROP_SENDER, FRAME)           /* the sender's addresses can't be a host's */             \
    X(ARP_DROP_REFLECTED, FRAME)        /* has our own MAC address as its sender's */              \
    X(ARP_DROP_CONFLICT, FRAME)         /* another uses or tries our IPv4 address */               \
    X(ARP_DROP_TARGET, FRAME)           /* asks for, or answers, someone else */                   \
    X(ARP_DROP_UNSOLICITED, FRAME)      /* answers what we have not asked */                       \
    X(ARP_ANSWERED, FRAME)              /* request for our address, replied to */                  \
    X(ARP_UPDATED, FRAME)               /* someone else's request that renewed an entry */         \
    X(ARP_RESOLVED, FRAME)              /* the reply that we asked for */                          \
    X(ARP_NOT_LEARNED, EVENT)           /* answered, but no entry was free for the sender */       \
    X(ARP_REQUESTED, EVENT)             /* requests that we sent */                                \
    X(ARP_NO_PACKET, EVENT)             /* request put off: no packet was free */                  \
    X(ARP_EVICTED, EVENT)               /* known entry given up for another */                     \
    X(ARP_EXPIRED, EVENT)               /* known entry given up for its age */                     \
    X(ARP_PROBED, EVENT)                /* asked whether anybody uses the address we want */       \
    X(ARP_ANNOUNCED, EVENT)             /* told all that the address is ours */                    \
    X(ARP_DEFENDED, EVENT)              /* of these, answers to a conflict */                      \
    X(ARP_YIELDED, EVENT)               /* address given up to another who uses it */              \
    /* IPv4 */                                                                                     \
    X(IPV4_DROP_SHORT, FRAME)           /* shorter than a header */                                \
    X(IPV4_DROP_VERSION, FRAME)         /* not version 4 */                                        \
    X(IPV4_DROP_HEADER_LENGTH, FRAME)   /* IHL below 5 or beyond the packet */                     \
    X(IPV4_DROP_TOTAL_LENGTH, FRAME)    /* total length below the header or beyond the frame */    \
    X(IPV4_DROP_CHECKSUM, FRAME)        /* header checksum wrong */                                \
    X(IPV4_DROP_OPTIONS, FRAME)         /* valid, but with options, and not IGMP */                \
    X(IPV4_DROP_FRAGMENT, FRAME)        /* part of a datagram */                                   \
    X(IPV4_DROP_SOURCE, FRAME)          /* from what can't be a host, or from our own address */   \
    X(IPV4_DROP_DESTINATION, FRAME)     /* neither to us, to all nor to a group of ours */         \
    X(IPV4_DROP_LINK_BROADCAST, FRAME)  /* to us by IP, to many by Ethernet (RFC 1122 3.3.6) */    \
    X(IPV4_DROP_PROTOCOL, FRAME)        /* neither ICMP, IGMP nor UDP */                           \
    /* ICMP */                                                                                     \
    X(ICMP_DROP_SHORT, FRAME)           /* shorter than its header */                              \
    X(ICMP_DROP_CHECKSUM, FRAME)        /* checksum wrong */                                       \
    X(ICMP_DROP_TYPE, FRAME)            /* not an echo request */                                  \
    X(ICMP_DROP_BROADCAST, FRAME)       /* echo request to all or to a group */                    \
    X(ICMP_ECHOED, FRAME)               /* echo request, replied to */                             \
    X(ICMP_UNREACHABLE_SENT, EVENT)     /* said that a port or protocol is unreachable */          \
    X(ICMP_UNREACHABLE_LIMITED, EVENT)  /* not said: enough of that, or no packet was free */      \
    /* IGMP */                                                                                     \
    X(IGMP_DROP_SHORT, FRAME)           /* shorter than a message */                               \
    X(IGMP_DROP_CHECKSUM, FRAME)        /* checksum wrong */                                       \
    X(IGMP_DROP_TYPE, FRAME)            /* neither query nor report */                             \
    X(IGMP_DROP_GROUP, FRAME)           /* sent to another group than it is about */               \
    X(IGMP_IGNORED, FRAME)              /* report on a group that we have not joined */            \
    X(IGMP_QUERIED, FRAME)              /* query */                                                \
    X(IGMP_HEARD, FRAME)                /* another's report on a group of ours */                  \
    X(IGMP_REPORTED, EVENT)             /* reports that we sent */                                 \
    X(IGMP_LEFT, EVENT)                 /* groups that we told the routers we leave */             \
    X(IGMP_NO_PACKET, EVENT)            /* report put off, or leaving untold: no packet was free */ \
    /* UDP, received */                                                                            \
    X(UDP_DROP_SHORT, FRAME)            /* shorter than its header */                              \
    X(UDP_DROP_LENGTH, FRAME)           /* length below the header or beyond the IPv4 payload */   \
    X(UDP_DROP_CHECKSUM, FRAME)         /* checksum present and wrong */                           \
    X(UDP_DROP_PORT, FRAME)             /* no socket has that port */                              \
    X(UDP_DROP_PEER, FRAME)             /* the socket is connected to another peer */              \
    X(UDP_DROP_SOCKET_FULL, FRAME)      /* the socket's queue is full */                           \
    X(UDP_DROP_HOLD, FRAME)             /* the application holds all it may */                     \
    X(UDP_DROP_REPLY, FRAME)            /* a reply has no one to go to, or only a service like it */ \
    X(UDP_QUEUED, FRAME)                /* given to the application */                             \
    X(UDP_TAKEN, FRAME)                 /* given to a callback that does not reply */              \
    X(UDP_ECHOED, FRAME)                /* sent back by a callback as it is */                     \
    X(UDP_REPLIED, FRAME)               /* sent back by a callback with a new payload */           \
    /* UDP, sent */                                                                                \
    X(UDP_SENT, DATAGRAM)               /* given to the driver */                                  \
    X(UDP_SENT_LATER, DATAGRAM)         /* waits for the neighbour's Ethernet address */           \
    X(UDP_SEND_DROP_LONG, DATAGRAM)     /* payload over 1472 bytes */                              \
    X(UDP_SEND_DROP_DESTINATION, DATAGRAM) /* address or port that can't be sent to */             \
    X(UDP_SEND_DROP_ROUTE, DATAGRAM)    /* no gateway, or no address of our own */                 \
    X(UDP_SEND_DROP_ARP_FULL, DATAGRAM) /* all ARP entries are open questions */                   \
    X(ARP_WAITING_SENT, WAITING)        /* the address came */                                     \
    X(ARP_WAITING_DROP_REPLACED, WAITING)   /* a newer datagram to the same neighbour came */      \
    X(ARP_WAITING_DROP_UNREACHABLE, WAITING) /* nobody answered */                                 \
    X(ARP_WAITING_DROP_ASKED, WAITING)  /* its packet was wanted for the next request */           \
    X(ARP_WAITING_DROP_FLUSHED, WAITING)    /* our own address was changed */                      \
    /* DHCP: what came, each datagram in one of these, and what we did */                          \
    X(DHCP_DROP_SHORT, EVENT)           /* shorter than its fixed part */                          \
    X(DHCP_DROP_FORMAT, EVENT)          /* no reply for Ethernet with DHCP's cookie */             \
    X(DHCP_DROP_OPTIONS, EVENT)         /* options without end, or of a wrong length */            \
    X(DHCP_DROP_OTHERS, EVENT)          /* another client's, or another question's */              \
    X(DHCP_DROP_UNASKED, EVENT)         /* of a type that we do not wait for */                    \
    X(DHCP_DROP_SERVER, EVENT)          /* not from the server that we asked */                    \
    X(DHCP_DROP_LEASE, EVENT)           /* an address, mask or time that can't be */               \
    X(DHCP_OFFERED, EVENT)              /* offer taken */                                          \
    X(DHCP_ACKNOWLEDGED, EVENT)         /* lease begun or prolonged */                             \
    X(DHCP_REFUSED, EVENT)              /* NAK for what we asked */                                \
    X(DHCP_SENT, EVENT)                 /* messages given to UDP */                                \
    X(DHCP_NO_PACKET, EVENT)            /* message left out: no packet was free */                 \
    X(DHCP_DECLINED, EVENT)             /* leased address found in use by another */               \
    X(DHCP_EXPIRED, EVENT)              /* lease ended without a server's answer */                \
    X(DHCP_FELL_BACK, EVENT)            /* no server: static address taken */                      \
    /* Rings */                                                                                    \
    X(FAULT_RING_FULL, EVENT)           /* a packet was handed over twice: a fault of the caller */

#define NET_COUNTER_ENUM(name, kind) COUNT_##name,

/* Why a frame was dropped or how it ended; also the index of its counter. */
typedef enum { NET_COUNTERS(NET_COUNTER_ENUM) NET_COUNTER_COUNT } net_counter_t;

/* What a parser returns for a good packet: no counter. */
#define WIRE_OK NET_COUNTER_COUNT

typedef enum {
    NET_COUNTER_FRAME,
    NET_COUNTER_DATAGRAM,
    NET_COUNTER_WAITING,
    NET_COUNTER_EVENT
} net_counter_kind_t;

typedef struct {
    uint32_t counts[NET_COUNTER_COUNT];
} net_counters_t;

/* "IPV4_DROP_CHECKSUM"; `counter` is below NET_COUNTER_COUNT. */
const char *net_counter_name(net_counter_t counter);

net_counter_kind_t net_counter_kind(net_counter_t counter);

/* The sum of all counters of one kind, modulo 2^32. */
uint32_t net_counter_sum(const net_counters_t *counters, net_counter_kind_t kind);

#endif
