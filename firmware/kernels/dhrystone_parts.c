/* The procedures of the Dhrystone-style program that its main file calls. */
#include "dhrystone.h"

#include <string.h>

part_t compare_aisles(char first, char second)
{
    char mine = first;
    char same = mine;

    if (same != second) {
        return BOLT;
    }
    store_aisle = mine;
    return NUT;
}

bool is_behind(const char *first, const char *second)
{
    int place = 2;
    char seen = ' ';

    while (place <= 2) {
        if (compare_aisles(first[place], second[place + 1]) == BOLT) {
            seen = 'A';
            place++;
        }
    }
    if (seen >= 'W' && seen < 'Z') {
        place = 7;
    }
    if (seen == 'R') {
        return true;
    }
    if (strcmp(first, second) > 0) {
        place += 7;
        store_stock = place;
        return true;
    }
    return false;
}

bool is_washer(part_t part)
{
    part_t wanted = part;

    return wanted == WASHER;
}

void replace_part(part_t part, part_t *replacement)
{
    *replacement = part;
    if (!is_washer(part)) {
        *replacement = SPRING;
    }
    switch (part) {
    case BOLT:
        *replacement = BOLT;
        break;
    case NUT:
        *replacement = store_stock > 100 ? BOLT : SPRING;
        break;
    case WASHER:
        *replacement = NUT;
        break;
    case SPRING:
        break;
    case GEAR:
        *replacement = WASHER;
        break;
    }
}

void add_margin(int first, int second, int *sum)
{
    int margin = first + 2;

    *sum = second + margin;
}

void fill_table(int row[], int table[][ROW_LENGTH], int start, int value)
{
    int place = start + 5;

    row[place] = value;
    row[place + 1] = row[place];
    row[place + 30] = place;
    for (int column = place; column <= place + 1; column++) {
        table[place][column] = place;
    }
    table[place][place - 1] += 1;
    table[place + 20][place] = row[place];
    store_stock = 5;
}

void count_down(int *count)
{
    int left = *count + 10;
    part_t part = GEAR;

    do {
        if (store_aisle == 'A') {
            left--;
            *count = left - store_stock;
            part = BOLT;
        }
    } while (part != BOLT);
}
