#include "dhrystone.h"

#include <string.h>

#include "kernels.h"

item_t *store_front;
int store_stock;
bool store_open;
char store_aisle, store_shelf;
int store_row[ROW_LENGTH];
int store_table[ROW_LENGTH][ROW_LENGTH];

static void close_store(void)
{
    store_aisle = 'A';
    store_open = false;
}

static void look_around(void)
{
    bool here = store_aisle == 'A';

    store_open = here | store_open;
    store_shelf = 'B';
}

static void take_next(item_t **item)
{
    if (store_front != NULL) {
        *item = store_front->next;
    }
    add_margin(10, store_stock, &store_front->count);
}

static void move_item(item_t *item)
{
    item_t *next = item->next;

    *item->next = *store_front;
    item->count = 5;
    next->count = item->count;
    next->next = item->next;
    take_next(&next->next);
    if (next->sort == BOLT) {
        next->count = 6;
        replace_part(item->part, &next->part);
        next->next = store_front->next;
        add_margin(next->count, 10, &next->count);
    } else {
        *item = *item->next;
    }
}

uint32_t kernel_dhrystone(void)
{
    static item_t front, back;
    char first_label[LABEL_BYTES], second_label[LABEL_BYTES];
    int low = 0, high = 0, middle = 0;
    uint32_t hash = HASH_START;

    store_front = &front;
    front = (item_t){ &back, BOLT, WASHER, 40, "STOREKEEPER'S BOOK, THE ENTRY" };
    back = (item_t){ 0 };
    store_stock = 0;
    store_table[8][7] = 10;
    strcpy(first_label, "STOREKEEPER'S BOOK, 1ST PAGE.");

    for (int pass = 1; pass <= DHRYSTONE_PASSES; pass++) {
        close_store();
        look_around();
        low = 2;
        high = 3;
        strcpy(second_label, "STOREKEEPER'S BOOK, 2ND PAGE.");
        part_t part = NUT;
        store_open = !is_behind(first_label, second_label);
        while (low < high) {
            middle = 5 * low - high;
            add_margin(low, high, &middle);
            low++;
        }
        fill_table(store_row, store_table, low, middle);
        move_item(store_front);
        for (char aisle = 'A'; aisle <= store_shelf; aisle++) {
            if (part == compare_aisles(aisle, 'C')) {
                replace_part(BOLT, &part);
                strcpy(second_label, "STOREKEEPER'S BOOK, 3RD PAGE.");
                high = pass;
                store_stock = pass;
            }
        }
        high = high * low;
        low = high / middle;
        high = 7 * (high - middle) - low;
        count_down(&low);
    }
    const int found[] = { low,           high,           middle,          store_stock,
                          front.count,   back.count,     (int)front.part, (int)back.part,
                          store_aisle,   store_shelf,    store_open,      store_row[8],
                          store_row[38], store_table[8][7], store_table[28][8] };
    for (unsigned index = 0; index < sizeof found / sizeof found[0]; index++) {
        hash = hash_add(hash, (uint32_t)found[index]);
    }
    for (int index = 0; index < LABEL_BYTES - 1; index++) {
        hash = hash_add(hash, (uint32_t)(second_label[index] ^ back.label[index]));
    }
    return hash;
}
