/* A hash table from a number that is not 0 to an index. Zero it before the first use. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct id_slot {
	uint64_t id; /* 0: free */
	uint32_t index;
};

struct id_table {
	struct id_slot *slots;
	size_t count;
	size_t capacity; /* a power of two */
};

/* Returns false if the id is absent. */
bool id_table_find(const struct id_table *table, uint64_t id, uint32_t *ret_index);
/* Adds an id or replaces its index. Returns 0 or -ENOMEM. */
int id_table_put(struct id_table *table, uint64_t id, uint32_t index);
/* Empties the table and keeps its memory. */
void id_table_clear(struct id_table *table);
void id_table_done(struct id_table *table);
