/* A hash table with open addressing. See id_table.h. */
#include "job/network/id_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 64 };

/* The slot of the id, or the free one where it belongs. At least a quarter of the slots is free. */
static struct id_slot *slot_of_id(const struct id_table *table, uint64_t id)
{
	size_t at = (size_t)((id * UINT64_C(0x9E3779B97F4A7C15)) >> 20);

	for (;; at++) {
		struct id_slot *slot = &table->slots[at & (table->capacity - 1)];

		if (!slot->id || slot->id == id)
			return slot;
	}
}

static bool grow_table(struct id_table *table)
{
	struct id_table grown = {.capacity = table->capacity ? table->capacity * 2 : FIRST_CAPACITY};

	grown.slots = calloc(grown.capacity, sizeof *grown.slots);
	if (!grown.slots)
		return false;
	for (size_t i = 0; i < table->capacity; i++)
		if (table->slots[i].id)
			*slot_of_id(&grown, table->slots[i].id) = table->slots[i];
	grown.count = table->count;
	free(table->slots);
	*table = grown;
	return true;
}

bool id_table_find(const struct id_table *table, uint64_t id, uint32_t *ret_index)
{
	const struct id_slot *slot;

	if (!table->count || !id)
		return false;
	slot = slot_of_id(table, id);
	if (slot->id && ret_index)
		*ret_index = slot->index;
	return slot->id;
}

int id_table_put(struct id_table *table, uint64_t id, uint32_t index)
{
	struct id_slot *slot;

	if (table->count >= table->capacity / 4 * 3 && !grow_table(table))
		return -ENOMEM;
	slot = slot_of_id(table, id);
	table->count += !slot->id;
	*slot = (struct id_slot){id, index};
	return 0;
}

void id_table_clear(struct id_table *table)
{
	if (table->count)
		memset(table->slots, 0, table->capacity * sizeof *table->slots);
	table->count = 0;
}

void id_table_done(struct id_table *table)
{
	free(table->slots);
	*table = (struct id_table){0};
}
