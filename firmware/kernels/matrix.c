/* Square matrices of 16-bit numbers: product, product with a vector, scaling, and bits of the result. */
#include "kernels.h"

enum { SIZE = 16 };

static void multiply(int32_t product[SIZE][SIZE], int16_t left[SIZE][SIZE], int16_t right[SIZE][SIZE])
{
    for (int row = 0; row < SIZE; row++) {
        for (int column = 0; column < SIZE; column++) {
            uint32_t sum = 0;
            for (int index = 0; index < SIZE; index++) {
                sum += (uint32_t)(left[row][index] * right[index][column]);
            }
            product[row][column] = (int32_t)sum;
        }
    }
}

static void multiply_vector(int32_t product[SIZE], int32_t matrix[SIZE][SIZE], const int16_t vector[SIZE])
{
    for (int row = 0; row < SIZE; row++) {
        uint32_t sum = 0;
        for (int index = 0; index < SIZE; index++) {
            sum += (uint32_t)matrix[row][index] * (uint32_t)(int32_t)vector[index];
        }
        product[row] = (int32_t)sum;
    }
}

static void scale(int16_t matrix[SIZE][SIZE], int16_t factor)
{
    for (int row = 0; row < SIZE; row++) {
        for (int column = 0; column < SIZE; column++) {
            matrix[row][column] = (int16_t)(matrix[row][column] * factor);
        }
    }
}

/* Sum of the products of two bit fields of each number. */
static uint32_t fields(int32_t matrix[SIZE][SIZE])
{
    uint32_t sum = 0;

    for (int row = 0; row < SIZE; row++) {
        for (int column = 0; column < SIZE; column++) {
            uint32_t bits = (uint32_t)matrix[row][column];
            sum += (bits >> 2 & 0xf) * (bits >> 5 & 0x7f);
        }
    }
    return sum;
}

uint32_t kernel_matrix(void)
{
    static int16_t left[SIZE][SIZE], right[SIZE][SIZE];
    static int32_t product[SIZE][SIZE], image[SIZE];
    uint32_t state = 2;
    uint32_t hash = HASH_START;

    for (int row = 0; row < SIZE; row++) {
        for (int column = 0; column < SIZE; column++) {
            left[row][column] = (int16_t)random_next(&state);
            right[row][column] = (int16_t)random_next(&state);
        }
    }
    for (int pass = 0; pass < 2; pass++) {
        multiply(product, left, right);
        multiply_vector(image, product, right[pass]);
        hash = hash_add(hash, fields(product));
        for (int row = 0; row < SIZE; row++) {
            hash = hash_add(hash, (uint32_t)image[row]);
        }
        scale(left, 7);
    }
    return hash;
}
