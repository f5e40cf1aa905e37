/* A Dhrystone-style program: statements, operators and operands in the proportions that R. Weicker
 * published ("Dhrystone: a synthetic systems programming benchmark", CACM 27(10), 1984), in a text of
 * its own. A pass has one copy and one comparison of strings of 30 characters, one copy of a record of
 * 48 bytes, twelve calls of other procedures and a division. It is not Dhrystone 2.1, and its figures
 * are near but not equal to those. To be compiled with -fno-inline, each file by itself. */
#ifndef TIERV_DHRYSTONE_H
#define TIERV_DHRYSTONE_H

#include <stdbool.h>
#include <stdint.h>

enum { LABEL_BYTES = 31, ROW_LENGTH = 50 };

typedef enum { BOLT, NUT, WASHER, SPRING, GEAR } part_t;

typedef struct item {
    struct item *next;
    part_t sort;
    part_t part;
    int count;
    char label[LABEL_BYTES];
} item_t;

/* What the storekeeper knows. */
extern item_t *store_front;
extern int store_stock;
extern bool store_open;
extern char store_aisle, store_shelf;
extern int store_row[ROW_LENGTH];
extern int store_table[ROW_LENGTH][ROW_LENGTH];

/* dhrystone_parts.c */
part_t compare_aisles(char first, char second);
bool is_behind(const char *first, const char *second);
bool is_washer(part_t part);
void replace_part(part_t part, part_t *replacement);
void add_margin(int first, int second, int *sum);
void fill_table(int row[], int table[][ROW_LENGTH], int start, int value);
void count_down(int *count);

#endif
