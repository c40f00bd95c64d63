/* Families of forks that a test makes, with readings of its own, for tests of src/job/memory/memory_family.c. */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "job/memory/memory_family.h"
#include "job/tree/process_tree.h"
#include "unit.h"

enum { MIB_PAGES = 256, MIB_KIB = 1024, MEMBERS = 40, SLOTS = 128, FIRST_PID = 100, PAGES_LEVEL = 4 };
#define NOW_NS INT64_C(50000000000)
#define BEFORE_NS (NOW_NS - INT64_C(1000000000))

static struct root root = {.page_bytes = 4096};
static struct member members[MEMBERS];
static struct memory_reading readings[MEMBERS];
static uint32_t slots[SLOTS];
static struct process_tree tree;
static struct memory_families families;

static inline int begin(void **unused)
{
	(void)unused;
	memset(members, 0, sizeof members);
	memset(readings, 0, sizeof readings);
	memset(slots, 0, sizeof slots);
	tree = (struct process_tree){
		.root = &root, .members = members, .slots = slots, .slot_count = SLOTS, .passes = 5};
	return 0;
}

static inline int end(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < MEMBERS; i++) {
		page_places_done(&readings[i].common);
		page_places_done(&readings[i].files);
	}
	memory_families_done(&families);
	return 0;
}

/* Adds a process that called exec, with `mib` of anonymous memory. */
static inline struct member *add(pid_t parent_pid, int64_t mib)
{
	struct member *member = &members[tree.count];
	size_t slot;

	*member = (struct member){.pid = FIRST_PID + (pid_t)tree.count,
				  .parent_pid = parent_pid,
				  .memory.resident_pages = mib * MIB_PAGES,
				  .memory.faults = mib * MIB_PAGES,
				  .memory.anon_at_faults = mib * MIB_PAGES,
				  .memory.family = tree.count + 1};
	slot = (size_t)((uint32_t)member->pid * UINT32_C(2654435769)) & (SLOTS - 1);
	while (slots[slot])
		slot = (slot + 1) & (SLOTS - 1);
	slots[slot] = (uint32_t)++tree.count;
	return member;
}

/* Adds a fork of `parent` that has written `own_mib` of its memory. */
static inline struct member *add_fork(const struct member *parent, int64_t mib, int64_t own_mib)
{
	struct member *member = add(parent->pid, mib);

	member->memory.is_forked = true;
	member->memory.family = parent->memory.family;
	member->memory.inherited_pages = parent->memory.resident_pages;
	member->memory.parent_faults = parent->memory.faults;
	member->memory.faults = own_mib * MIB_PAGES;
	return member;
}

static inline struct memory_reading *read_as(struct member *member, enum memory_reading_kind kind,
					     int64_t exclusive_mib, int64_t family_size, int64_t taken_ns)
{
	struct memory_reading *reading = &readings[member - members];
	int64_t anon_kib = member_anon_kib(&tree, member);

	/* It may be read again. */
	page_places_done(&reading->common);
	*reading = (struct memory_reading){.kind = kind,
					   .has_anon = true,
					   .is_settled = true,
					   .taken_ns = taken_ns,
					   .statm_anon_kib = anon_kib,
					   .family_size = (size_t)family_size,
					   .anon_kib = anon_kib,
					   .exclusive_kib = exclusive_mib * MIB_KIB,
					   .private_kib = exclusive_mib * MIB_KIB};
	reading->common_kib = anon_kib - reading->exclusive_kib;
	reading->common_share_kib = reading->common_kib / family_size;
	member->memory.reading = reading;
	return reading;
}

/* Its shared pages are those of `mib` from an address on. */
static inline void sample(struct member *member, int64_t exclusive_mib, int64_t from_mib, int64_t mib,
			  int64_t taken_ns)
{
	struct memory_reading *reading = read_as(member, READING_SAMPLED, exclusive_mib, 1, taken_ns);

	reading->common.level = PAGES_LEVEL;
	for (int64_t page = from_mib * MIB_PAGES; page < (from_mib + mib) * MIB_PAGES;
	     page += 1 << PAGES_LEVEL)
		assert_true(page_places_add(&reading->common, 0,
					    page_sample_at(PAGES_LEVEL, (uint64_t)page >> PAGES_LEVEL)));
}

static inline struct memory_family *family_of(const struct member *member)
{
	for (size_t i = 0; i < families.count; i++)
		if (families.at[i].id == member->memory.family)
			return &families.at[i];
	fail();
	return NULL;
}

static inline struct family_memory measure_way(const struct member *member, bool sampled)
{
	assert_int_equal(memory_families_build(&families, &tree), 0);
	family_of(member)->sampled = sampled;
	return memory_family_measure(&families, family_of(member), &tree, NOW_NS);
}

static inline int64_t told_mib(const struct member *member, bool sampled)
{
	int64_t kib = measure_way(member, sampled).anon_kib;

	/* Not a KiB more or less. */
	assert_int_equal(kib % MIB_KIB, 0);
	return kib / MIB_KIB;
}

/* A process that calls exec takes memory of its own before that, and forks. */
static inline struct member *orphan_of(const struct member *first, pid_t forked_by, int64_t mib)
{
	struct member *orphan = add_fork(first, mib, 0);

	orphan->memory.forked_by = orphan->parent_pid = forked_by;
	orphan->memory.inherited_pages = mib * MIB_PAGES;
	return orphan;
}
