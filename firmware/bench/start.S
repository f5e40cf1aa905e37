# Reset of every core of the bench: stack, global pointer, main(). The loader has cleared .bss.

.section .reset, "ax", @progbits
    j       _start

.section .start, "ax", @progbits
.global _start
.type _start, @function
_start:
.option push
.option norelax
    la      gp, __global_pointer$
.option pop
    la      sp, _stack_end
    call    main
    # main() is to end the run by itself.
1:  j       1b
.size _start, . - _start
