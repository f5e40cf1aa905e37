/* CSRs that LiteX's software needs; the numbers are the core's own header's. */
#ifndef CSR_DEFS_H
#define CSR_DEFS_H

#include <generated/tierv.h>

#define CSR_MSTATUS_MIE (1 << MSTATUS_MIE_BIT)

#endif
