// Leaves a signature of six words, the first two by stores.
#include "env.h"

    CODE_BEGIN
    la      s0, begin_signature
    li      a0, 0x12345678
    sw      a0, 0(s0)
    li      a0, 0xab
    sb      a0, 7(s0)
    PASS
    HOST_DATA

    .data
    .balign 16
    .globl  begin_signature, end_signature
begin_signature:
    .word   0, 0x00cdef01, 0xdeadbeef, 0xdeadbeef, 1, 0xffffffff
end_signature:
