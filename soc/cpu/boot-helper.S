# boot_helper(r1, r2, r3, address): jump to a program that has been loaded.

.section .text, "ax", @progbits
.global boot_helper
.type boot_helper, @function
boot_helper:
    fence.i
    jr      a3
.size boot_helper, . - boot_helper
