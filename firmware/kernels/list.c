/* A linked list: searched, reversed, sorted by key and back by number. */
#include <stddef.h>

#include "kernels.h"

enum { NODES = 100, SEARCHES = 60, KEYS = 1024 };

typedef struct node {
    struct node *next;
    uint16_t key;
    uint16_t number;
} node_t;

typedef int (*compare_t)(const node_t *, const node_t *);

static int by_key(const node_t *first, const node_t *second)
{
    return (int)first->key - (int)second->key;
}

static int by_number(const node_t *first, const node_t *second)
{
    return (int)first->number - (int)second->number;
}

static node_t *find(node_t *list, uint32_t key)
{
    while (list != NULL && list->key != key) {
        list = list->next;
    }
    return list;
}

static node_t *reverse(node_t *list)
{
    node_t *reversed = NULL;

    while (list != NULL) {
        node_t *rest = list->next;
        list->next = reversed;
        reversed = list;
        list = rest;
    }
    return reversed;
}

/* Of equal nodes those of `first` come first. */
static node_t *merge(node_t *first, node_t *second, compare_t compare)
{
    node_t *merged = NULL;
    node_t **end = &merged;

    while (first != NULL && second != NULL) {
        node_t **smaller = compare(first, second) <= 0 ? &first : &second;
        *end = *smaller;
        end = &(*smaller)->next;
        *smaller = *end;
    }
    *end = first != NULL ? first : second;
    return merged;
}

/* Stable: runs[n] is a sorted run of 2^n nodes that came before those of shorter runs. */
static node_t *sort(node_t *list, compare_t compare)
{
    node_t *runs[8] = { NULL };
    node_t *sorted = NULL;

    while (list != NULL) {
        node_t *run = list;
        list = list->next;
        run->next = NULL;
        size_t size = 0;
        for (; runs[size] != NULL; size++) {
            run = merge(runs[size], run, compare);
            runs[size] = NULL;
        }
        runs[size] = run;
    }
    for (size_t size = 0; size < sizeof runs / sizeof runs[0]; size++) {
        sorted = merge(runs[size], sorted, compare);
    }
    return sorted;
}

static uint32_t hash_list(uint32_t hash, const node_t *list)
{
    for (; list != NULL; list = list->next) {
        hash = hash_add(hash, (uint32_t)list->key << 16 | list->number);
    }
    return hash;
}

uint32_t kernel_list(void)
{
    static node_t nodes[NODES];
    uint32_t state = 1;
    uint32_t hash = HASH_START;
    node_t *list = NULL;

    for (uint16_t number = 0; number < NODES; number++) {
        nodes[number] = (node_t){ list, (uint16_t)(random_next(&state) % KEYS), number };
        list = &nodes[number];
    }
    for (int search = 0; search < SEARCHES; search++) {
        const node_t *found = find(list, random_next(&state) % KEYS);
        hash = hash_add(hash, found != NULL ? found->number : NODES);
    }
    list = reverse(list);
    list = sort(list, by_key);
    hash = hash_list(hash, list);
    return hash_list(hash, sort(list, by_number));
}
