/* Prints what each kernel finds, twice: the second run starts from what the first has left. */
#include <stdio.h>

#include "../../firmware/kernels/kernels.h"

int main(void)
{
    for (int pass = 0; pass < 2; pass++) {
        printf("list %u\n", kernel_list());
        printf("matrix %u\n", kernel_matrix());
        printf("state %u\n", kernel_state());
        printf("crc %u\n", kernel_crc());
        printf("copy %u\n", kernel_copy());
        printf("checksum %u\n", kernel_checksum());
        printf("dhrystone %u\n", kernel_dhrystone());
    }
    return 0;
}
