/* The memory of a tree. See process_memory.h. */
#include "job/memory/process_memory.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/debug.h"
#include "base/min_max.h"
#include "base/runs_once.h"
#include "job/memory/memory_between.h"
#include "job/memory/memory_correct.h"
#include "job/memory/memory_schedule.h"
#include "job/memory/memory_tuning.h"
#include "kernel/cgroup_v2.h"
#include "kernel/key_values.h"
#include "metric/absent.h"

void process_memory_open(struct process_memory *memory, struct root *root)
{
	*memory = (struct process_memory){.meminfo_file = KEPT_FILE("proc/meminfo")};
	memory->reader.root = root;
}

void process_memory_close(struct process_memory *memory)
{
	memory_reader_done(&memory->reader);
	memory_objects_done(&memory->objects);
	memory_families_done(&memory->families);
	page_places_done(&memory->files);
	free(memory->candidates);
	kept_file_close(&memory->meminfo_file);
	*memory = (struct process_memory){.meminfo_file = KEPT_FILE("proc/meminfo")};
}

/* ---- the machine ------------------------------------------------------------------------------------------------ */

/* A damaged machine may tell more than any has, and the product of that would overflow. */
static int64_t pages_kib(int64_t pages, int64_t page_kib)
{
	int64_t kib;

	return __builtin_mul_overflow(pages, page_kib, &kib) || kib > KIB_MOST ? KIB_MOST : kib;
}

static bool has_other_sizes(const struct proc_meminfo *machine)
{
	return machine->hugetlb_kib > pages_kib(machine->huge_pages_total, machine->huge_page_kib);
}

static int64_t huge_used_kib(const struct proc_meminfo *machine)
{
	int64_t used_kib =
		pages_kib(max_i64(0, machine->huge_pages_total) - max_i64(0, machine->huge_pages_free),
			  max_i64(0, machine->huge_page_kib));

	/* For other sizes than the default one only the total is known. */
	return has_other_sizes(machine) ? machine->hugetlb_kib : max_i64(0, used_kib);
}

/* Returns NULL if it is unknown. */
static const struct proc_meminfo *read_machine(struct process_memory *memory, struct root *root)
{
	struct proc_meminfo *machine = &memory->machine;
	int error = read_proc_meminfo(root, &memory->meminfo_file, machine);

	if (error < 0)
		*machine = (struct proc_meminfo){.anon_pages_kib = -1, .shmem_kib = -1, .swap_total_kib = -1};
	memory->huge_kib = has_other_sizes(machine) ? -1 : huge_used_kib(machine);
	/* lxcfs may tell an absurd total, or more free than in total: processes may have swapped memory then, too. */
	memory->reader.swap_in_use =
		machine->swap_total_kib < 0 || machine->swap_total_kib != machine->swap_free_kib;
	return error < 0 ? NULL : machine;
}

/* The most memory that any tree can have, -1 if unknown. */
static int64_t machine_limit_kib(const struct proc_meminfo *machine)
{
	if (machine->anon_pages_kib < 0 || machine->mapped_kib < 0 || machine->shmem_kib < 0)
		return -1;
	return machine->anon_pages_kib + machine->mapped_kib + machine->shmem_kib + huge_used_kib(machine);
}

static bool may_have_huge_pages(const struct process_tree *tree)
{
	for (size_t i = 0; i < tree->count; i++)
		if (memory_is_counted(tree, &tree->members[i]) &&
		    member_may_have_huge_pages(&tree->members[i]))
			return true;
	return false;
}

/* ---- shared memory that has a name ------------------------------------------------------------------------------- */

static bool scan_is_due(const struct process_memory *memory, int64_t now_ns)
{
	int64_t changed_kib = memory->machine.shmem_kib - memory->scanned_shmem_kib;

	return !memory->scanned_ns || memory->objects.lost_one || changed_kib >= SHMEM_STEP_KIB ||
	       changed_kib <= -SHMEM_STEP_KIB || now_ns - memory->scanned_ns >= SCAN_AGE_NS;
}

/* Whether it may map shared memory that is in no page table, because others wrote it, or because it has copies of its own. */
static bool may_map_unseen(const struct process_tree *tree, const struct member *member)
{
	return member->memory.reading && member->memory.reading->kind == READING_ROLLUP &&
	       !member->memory.reading->objects.count &&
	       memory_pages_to_kib(tree, member->memory.virtual_pages - member->memory.shared_pages) >=
		       MAPPED_STEP_KIB;
}

static void scan_member(struct process_memory *memory, struct process_tree *tree, struct member *member)
{
	if (member->is_zombie)
		return;
	memory_objects_scan_fds(&memory->objects, tree->root, member->pid);
	if (memory->scans_mappings && may_map_unseen(tree, member))
		memory_reading_find_objects(&memory->reader, member->pid, member->memory.reading);
}

/* Files that were not found yet are missing in the sum, and large files that a process held to its end are too much. */
static bool cannot_be_put_off(const struct process_memory *memory)
{
	return memory->machine.shmem_kib - memory->scanned_shmem_kib >= MAPPED_STEP_KIB ||
	       memory->objects.lost_kib >= MAPPED_STEP_KIB;
}

static void begin_scan(struct process_memory *memory)
{
	int64_t changed_kib = memory->machine.shmem_kib - memory->mapped_shmem_kib;

	memory->scanning = true;
	memory->scan_next = 0;
	memory->scanned_shmem_kib = memory->machine.shmem_kib;
	/* A member may still map a file that it has closed. A large fall, of other jobs, may hide a rise. */
	memory->scans_mappings = changed_kib >= MAPPED_STEP_KIB || changed_kib <= -MAPPED_STEP_KIB ||
				 memory->objects.lost_kib >= MAPPED_STEP_KIB;
	if (memory->scans_mappings || changed_kib < 0)
		memory->mapped_shmem_kib = memory->machine.shmem_kib;
	memory_objects_begin_search(&memory->objects);
}

/*
 * Searches what the members have open, and map, if the machine has shared memory at all. Returns whether it searched. After a search that
 * was in progress when large files were lost, another one has to confirm that.
 */
static bool search_objects(struct process_memory *memory, struct process_tree *tree)
{
	int64_t begun_ns = root_thread_cpu_ns(tree->root), took_ns = 0, most_ns;

	if (!tree->root->live || memory->machine.shmem_kib < SHMEM_STEP_KIB)
		return false;
	if (!memory->scanning && !scan_is_due(memory, root_monotonic_ns(tree->root)))
		return false;
	memory->scan_is_urgent = cannot_be_put_off(memory) || (memory->scanning && memory->scan_is_urgent);
	memory_objects_read_mounts(&memory->objects, tree->root, tree->root_pid);
	allowance_earn(&memory->for_scans, root_monotonic_ns(tree->root), EARNED_BY_SCANS, SCANS_MOST_NS);
	most_ns = memory->scan_is_urgent ? memory->for_scans.left_ns
					 : min_i64(memory->for_scans.left_ns, SCAN_TICK_NS);
	do {
		if (!memory->scanning)
			begin_scan(memory);
		for (; memory->scan_next < tree->count && took_ns < most_ns; memory->scan_next++) {
			scan_member(memory, tree, &tree->members[memory->scan_next]);
			took_ns = root_thread_cpu_ns(tree->root) - begun_ns;
		}
		if (memory->scan_next >= tree->count) {
			memory->scanning = false;
			memory->scanned_ns = root_monotonic_ns(tree->root);
			memory_objects_end_search(&memory->objects);
		}
	} while (!memory->scanning && memory->objects.lost_kib >= MAPPED_STEP_KIB && took_ns < most_ns);
	memory->for_scans.left_ns -= took_ns;
	return true;
}

/* Forks that map shared memory of their own: the siblings that were not read have some as well, which nothing else tells. */
static void note_own_objects(struct process_memory *memory, const struct process_tree *tree,
			     struct memory_family *family)
{
	for (size_t i = 0; memory->objects.count && !family->has_own_objects && i < family->count; i++) {
		const struct member *member = memory_family_member(&memory->families, family, tree, i);
		const struct memory_reading *reading = member->memory.reading;

		for (size_t j = 0; member->memory.is_forked && reading && j < reading->objects.count; j++) {
			const struct memory_object *object = memory_objects_find(
				&memory->objects, reading->objects.at[j].space, reading->objects.at[j].page);

			family->has_own_objects |= object && object->users == 1;
		}
	}
}

/* Marks the objects that a member mapped at its last reading. */
static void mark_objects(struct process_memory *memory, const struct process_tree *tree)
{
	for (size_t i = 0; i < memory->objects.count; i++) {
		memory->objects.objects[i].is_used = false;
		memory->objects.objects[i].users = 0;
		memory->objects.objects[i].oldest_ns = INT64_MAX;
	}
	for (size_t i = 0; i < tree->count; i++) {
		const struct memory_reading *reading = tree->members[i].memory.reading;

		if (!reading || !memory_is_counted(tree, &tree->members[i]))
			continue;
		for (size_t j = 0; j < reading->objects.count; j++) {
			struct memory_object *object = memory_objects_find(
				&memory->objects, reading->objects.at[j].space, reading->objects.at[j].page);

			if (object) {
				object->is_used = true;
				object->users++;
				object->oldest_ns = min_i64(object->oldest_ns, reading->taken_ns);
			}
		}
	}
	for (size_t i = 0; i < memory->families.count; i++)
		note_own_objects(memory, tree, &memory->families.at[i]);
}

/* Reads the sizes of all objects. If a process that held one has ended, another one may hold it as well. */
static void refresh_objects(struct process_memory *memory, struct process_tree *tree)
{
	mark_objects(memory, tree);
	memory_objects_refresh(&memory->objects, tree->root, tree->root_pid);
	if (!search_objects(memory, tree))
		return;
	mark_objects(memory, tree);
	memory_objects_refresh(&memory->objects, tree->root, tree->root_pid);
}

/* ---- sums ---------------------------------------------------------------------------------------------------------- */

struct sums {
	int64_t anon_kib;
	int64_t private_kib;
	int64_t unread_kib; /* from the bound alone */
	int64_t file_kib;
	int64_t swap_kib;
	int64_t huge_kib;
	int64_t objects_kib;
	int64_t doubt_kib;
	double variance;
	bool sampled;
	bool has_forks;
	size_t read;
	int64_t oldest_ns;
};

static void add_families(struct process_memory *memory, struct process_tree *tree, int64_t now_ns,
			 struct sums *sums)
{
	for (size_t i = 0; i < memory->families.count; i++) {
		struct memory_family *family = &memory->families.at[i];
		struct family_memory found;

		if (!family->count)
			continue;
		found = memory_family_measure(&memory->families, family, tree, now_ns);
		memory_correct(memory, tree, family, now_ns, &found);
		family->anon_kib = found.anon_kib;
		sums->anon_kib += found.anon_kib;
		sums->private_kib += found.private_kib;
		sums->unread_kib += found.unread_kib;
		sums->variance += found.variance;
		sums->doubt_kib += found.doubt_kib;
		sums->sampled |= found.extrapolated;
		sums->has_forks |= family->count > 1;
	}
}

/* Swapped memory and huge pages of a family count once: those of the largest member. */
static void add_unsplit(const struct process_memory *memory, const struct process_tree *tree, int64_t now_ns,
			struct sums *sums)
{
	for (size_t i = 0; i < memory->families.count; i++) {
		const struct memory_family *family = &memory->families.at[i];
		int64_t swap_sum_kib = 0, swap_most_kib = 0, huge_most_kib = 0;

		for (size_t j = 0; j < family->count; j++) {
			const struct member *member =
				&tree->members[memory->families.order[family->first + j]];

			if (!member_is_read(family, member, now_ns))
				continue;
			swap_sum_kib += member->memory.reading->swap_kib;
			swap_most_kib = max_i64(swap_most_kib, member->memory.reading->swap_kib);
			huge_most_kib = max_i64(huge_most_kib, member->memory.reading->huge_private_kib);
		}
		sums->swap_kib += family->sampled ? swap_most_kib : swap_sum_kib;
		sums->huge_kib += huge_most_kib;
	}
}

/* Pages of files that several sampled members map, each page once. */
static int64_t united_files_kib(struct process_memory *memory, const struct process_tree *tree,
				int64_t now_ns)
{
	double places = 0, scale = 0;
	uint64_t version = 1;
	unsigned level = 0;

	for (size_t i = 0; i < tree->count; i++) {
		const struct member *member = &tree->members[i];

		if (!member_has_reading(member, now_ns) || !memory_is_counted(tree, member) ||
		    !member->memory.reading->files.count)
			continue;
		version = version * 31 + (uint64_t)member->memory.reading->taken_ns + (uint64_t)member->pid;
		if (member->memory.reading->files.level > level)
			level = member->memory.reading->files.level;
	}
	if (version == memory->files_of)
		return memory->files_kib;
	memory->files_of = version;
	memory->files.count = 0;
	for (size_t i = 0; i < tree->count; i++) {
		const struct member *member = &tree->members[i];
		double found;

		if (!member_has_reading(member, now_ns) || !memory_is_counted(tree, member))
			continue;
		found = (double)page_places_count_at(&member->memory.reading->files, level);
		places += found;
		scale += found * member->memory.reading->files_scale;
		for (size_t j = 0; j < member->memory.reading->files.count; j++)
			if (page_is_sampled(level, member->memory.reading->files.at[j].page))
				(void)page_places_add(&memory->files,
						      member->memory.reading->files.at[j].space,
						      member->memory.reading->files.at[j].page);
	}
	scale = places > 0 ? scale / places : 1;
	page_places_unite(&memory->files);
	memory->files_kib = (int64_t)((double)memory->files.count * scale *
				      (double)((tree->root->page_bytes >> 10) << level));
	return memory->files_kib;
}

/*
 * Pages of files as read, and for unread members in proportion to the others. If nothing was read, all members are
 * assumed to map the same pages, which is mostly true for libraries and data.
 */
static void add_files(struct process_memory *memory, const struct process_tree *tree, int64_t now_ns,
		      struct sums *sums)
{
	int64_t read_kib = 0, read_shared_kib = 0, unread_kib = 0, unread_most_kib = 0, sampled_kib = 0;
	int64_t united_kib;

	for (size_t i = 0; i < tree->count; i++) {
		const struct member *member = &tree->members[i];
		const struct memory_reading *reading = member->memory.reading;
		int64_t shared_kib = member_shared_kib(tree, member);

		if (!memory_is_counted(tree, member))
			continue;
		if (!member_has_reading(member, now_ns)) {
			unread_kib += shared_kib;
			unread_most_kib = max_i64(unread_most_kib, shared_kib);
			continue;
		}
		sums->read++;
		if (!sums->oldest_ns || reading->taken_ns < sums->oldest_ns)
			sums->oldest_ns = reading->taken_ns;
		if (reading->kind == READING_SAMPLED) {
			sampled_kib += reading->file_kib;
			if (!reading->objects.count && !member->memory.is_forked &&
			    shared_kib > reading->statm_shared_kib)
				sampled_kib += shared_kib - reading->statm_shared_kib;
			sums->sampled = true;
			continue;
		}
		read_kib += reading->file_kib;
		read_shared_kib += shared_kib;
		if (!reading->objects.count && shared_kib > reading->statm_shared_kib)
			read_kib += shared_kib - reading->statm_shared_kib;
	}
	united_kib = united_files_kib(memory, tree, now_ns);
	sums->doubt_kib += min_i64(united_kib, FILES_IN_DOUBT_KIB);
	sums->file_kib = read_kib + sampled_kib + united_kib;
	if (!unread_kib)
		return;
	if (read_shared_kib > 0) {
		sums->file_kib += (int64_t)((double)unread_kib * (double)read_kib / (double)read_shared_kib);
		sums->sampled = true;
	} else {
		/* Shared memory with a name is counted with the objects. */
		unread_most_kib = max_i64(0, unread_most_kib - sums->objects_kib);
		sums->file_kib += unread_most_kib;
		sums->unread_kib += unread_most_kib;
	}
}

/* Shared memory of a family that is not in the table of objects. */
struct unknown_objects {
	int64_t pages;     /* of mappings for which it had no place */
	int64_t grown_kib; /* made since the readings, and */
	int64_t read_kib; /* what may be so, or is a known object of which the member has only read more since */
};

/* The most that a member can have in its page table of the objects that it is known to map. */
static int64_t known_objects_kib(const struct process_memory *memory, const struct memory_reading *reading)
{
	int64_t kib = 0;

	for (size_t i = 0; i < reading->objects.count; i++) {
		const struct memory_object *object = memory_objects_find(
			&memory->objects, reading->objects.at[i].space, reading->objects.at[i].page);

		kib += object ? max_i64(0, object->kib) : 0;
	}
	return kib;
}

/*
 * Mappings for which the table had no place, and those that the member has made since its reading. If the known objects have grown,
 * so has its resident set. It also grows by pages of a known object that the member has only read since: growth is in doubt, not in
 * the sum, as far as its objects can explain it, or the machine's shared memory has not grown by as much.
 */
static void add_unknown(const struct process_memory *memory, const struct process_tree *tree,
			const struct member *member, int64_t objects_kib, struct unknown_objects *unknown)
{
	struct memory_reading *reading = member->memory.reading;
	int64_t shared_kib = member_shared_kib(tree, member), grown_kib, risen_kib;

	if (!reading || !reading->objects.count)
		return;
	if (!reading->objects_kib) {
		reading->objects_kib = max_i64(objects_kib, 1);
		reading->machine_shmem_kib =
			memory->begun_shmem_kib >= 0 ? memory->begun_shmem_kib : memory->machine.shmem_kib;
		reading->virtual_pages = member->memory.virtual_pages;
	}
	risen_kib = max_i64(0, objects_kib - reading->objects_kib);
	grown_kib = shared_kib - reading->statm_shared_kib - risen_kib;
	unknown->pages = max_i64(unknown->pages, reading->cut_pages);
	unknown->read_kib = max_i64(unknown->read_kib, grown_kib);
	grown_kib = min_i64(grown_kib, shared_kib - known_objects_kib(memory, reading));
	/* Each new mapping of a known object has its pages once more, but the address space grows by it. */
	grown_kib = min_i64(grown_kib,
			    memory_pages_to_kib(tree, member->memory.virtual_pages - reading->virtual_pages));
	if (memory->machine.shmem_kib >= 0)
		grown_kib = min_i64(grown_kib,
				    memory->machine.shmem_kib - reading->machine_shmem_kib - risen_kib);
	unknown->grown_kib = max_i64(unknown->grown_kib, grown_kib);
}

/* While a search of the descriptors goes on: the rise of the machine's shared memory that the last one cannot have seen. */
static int64_t unsearched_kib(struct process_memory *memory, int64_t objects_kib)
{
	int64_t risen_kib = memory->machine.shmem_kib - memory->searched_shmem_kib -
			    (objects_kib - memory->searched_objects_kib);

	if (memory->scanning && memory->scanned_ns)
		return risen_kib > GROWN_LEAST_KIB ? risen_kib : 0;
	memory->searched_shmem_kib = memory->scanned_shmem_kib;
	memory->searched_objects_kib = objects_kib;
	return 0;
}

/*
 * The most that objects of unknown size can have where no member maps them: the kernel keeps the pages of an object until its last
 * mapping goes. If their pages come from page faults alone, and the faults of all processes that may map them are known, so many.
 */
static int64_t unmapped_kib(const struct process_memory *memory, const struct process_tree *tree,
			    const struct memory_objects_sum *found)
{
	const struct usages *usages = &tree->cpu.account.published;
	int64_t most_kib = memory->machine.shmem_kib - found->kib;
	int64_t faults = usages->of[USAGE_MINOR_FAULTS] + usages->of[USAGE_MAJOR_FAULTS];

	if (tree->started_by_caller && tree->with_children && !tree->sigchld_ignored && !found->has_written &&
	    memory->machine.shmem_huge_kib <= 0)
		most_kib = min_i64(most_kib, memory_pages_to_kib(tree, faults) - found->faulted_kib);
	return max_i64(0, most_kib);
}

/* Forks map the same objects, unless one of them has made more. */
static void add_objects(struct process_memory *memory, const struct process_tree *tree, struct sums *sums)
{
	struct objects_cut cut = {0};
	struct memory_objects_sum found = memory_objects_sum(&memory->objects, &cut, tree->root->page_bytes);
	int64_t grown_kib = 0, read_kib = 0;

	if (memory->objects.in_round &&
	    memory_objects_end_rounds(&memory->objects, root_monotonic_ns(tree->root),
				      memory->machine.shmem_kib - found.kib, tree->root->page_bytes))
		found = memory_objects_sum(&memory->objects, &cut, tree->root->page_bytes);
	for (size_t i = 0; i < memory->families.count; i++) {
		const struct memory_family *family = &memory->families.at[i];
		struct unknown_objects most = {0};

		for (size_t j = 0; j < family->count; j++) {
			struct unknown_objects unknown = most;

			unknown.pages = 0;
			add_unknown(memory, tree, memory_family_member(&memory->families, family, tree, j),
				    found.kib, &unknown);
			cut.all += unknown.pages;
			unknown.pages = max_i64(most.pages, unknown.pages);
			most = unknown;
		}
		cut.most += most.pages;
		grown_kib += most.grown_kib > GROWN_LEAST_KIB ? most.grown_kib : 0;
		read_kib += most.read_kib > GROWN_LEAST_KIB ? most.read_kib : 0;
	}
	if (cut.all)
		found = memory_objects_sum(&memory->objects, &cut, tree->root->page_bytes);
	found.cut_kib += max_i64(grown_kib, read_kib) + unsearched_kib(memory, found.kib);
	found.kib += grown_kib;
	found.sampled |= found.cut_kib > 0;
	if (memory->machine.shmem_kib >= 0 && found.kib > memory->machine.shmem_kib)
		found.kib = memory->machine.shmem_kib;
	sums->objects_kib = found.kib;
	sums->doubt_kib += found.cut_kib;
	memory->has_unknown = found.has_unknown;
	sums->doubt_kib += found.has_unknown ? unmapped_kib(memory, tree, &found) : 0;
	sums->huge_kib += found.huge_kib;
	if (sums->huge_kib > huge_used_kib(&memory->machine))
		sums->huge_kib = huge_used_kib(&memory->machine);
	sums->sampled |= found.sampled;
	sums->variance += found.variance;
}

static enum memory_source source_of(const struct sums *sums)
{
	double total_kib = (double)(sums->anon_kib + sums->file_kib + sums->objects_kib);

	if ((double)sums->unread_kib > BOUND_SHARE * total_kib || !sums->read)
		return sums->has_forks ? MEMORY_BOUND : MEMORY_RSS;
	return sums->sampled ? MEMORY_SAMPLED : MEMORY_PSS;
}

static int64_t rss_kib_of(const struct process_tree *tree)
{
	int64_t pages = 0;

	for (size_t i = 0; i < tree->count; i++)
		if (memory_is_counted(tree, &tree->members[i]))
			pages += tree->members[i].memory.resident_pages;
	return memory_pages_to_kib(tree, pages);
}

/* The root's private memory. -1: it has exited. */
static int64_t main_private_kib(struct process_memory *memory, struct process_tree *tree, int64_t now_ns)
{
	const struct member *root = process_tree_root(tree);

	for (size_t i = 0; root && i < memory->families.count; i++) {
		const struct memory_family *family = &memory->families.at[i];

		if (family->id == root->memory.family && memory_is_counted(tree, root))
			return member_private_kib(tree, family, root, now_ns);
	}
	return -1;
}

/* Twice the square root by Newton's method, because the recorder does not link libm. */
static int64_t two_deviations(double variance)
{
	double root = variance > 1 ? variance : 1, next = (root + variance / root) / 2;

	while (next < root) {
		root = next;
		next = (root + variance / root) / 2;
	}
	return (int64_t)(2 * root + 0.5);
}

static void tell_tree_memory(struct process_memory *memory, struct process_tree *tree, int64_t now_ns,
			     const struct sums *sums, struct tree_memory *ret_memory)
{
	int64_t rss_kib = ret_memory->rss_bytes >> 10;
	int64_t own_kib = sums->anon_kib + sums->file_kib;
	/* Shared memory may have pages outside every resident set. Other memory has none. */
	int64_t mapped_kib = (own_kib < rss_kib ? own_kib : rss_kib) + sums->objects_kib;
	int64_t limit_kib = machine_limit_kib(&memory->machine), best_kib = mapped_kib + sums->huge_kib;

	if (limit_kib >= 0 && best_kib > limit_kib)
		best_kib = limit_kib;
	/* Where even the machine's own sums are damaged, derive() tells that so much is impossible. */
	ret_memory->best_bytes = min_i64(best_kib, KIB_MOST) * 1024;
	ret_memory->best_source = source_of(sums);
	ret_memory->error_kib = ret_memory->best_source == MEMORY_SAMPLED
					? two_deviations(sums->variance) + sums->doubt_kib +
						  min_i64(memory->late_kib, max_i64(best_kib, rss_kib))
					: -1;
	debug_say_member(
		"job: %jd KiB = %jd anonymous + %jd of files + %jd shared by name + %jd huge; resident %jd, "
		"limit %jd, bound alone %jd, unread %jd",
		(intmax_t)best_kib, (intmax_t)sums->anon_kib, (intmax_t)sums->file_kib,
		(intmax_t)sums->objects_kib, (intmax_t)sums->huge_kib, (intmax_t)rss_kib, (intmax_t)limit_kib,
		(intmax_t)sums->unread_kib, (intmax_t)memory->late_kib);
	if (ret_memory->best_source > MEMORY_SAMPLED) {
		ret_memory->pss_reason = memory->ruled_out ? -memory->ruled_out : ABSENT_PSS_TOO_COSTLY;
		return;
	}
	ret_memory->pss_kib = mapped_kib < best_kib ? mapped_kib : best_kib;
	ret_memory->private_kib = sums->private_kib < rss_kib ? sums->private_kib : rss_kib;
	ret_memory->shared_kib = rss_kib - ret_memory->private_kib;
	ret_memory->main_private_kib = main_private_kib(memory, tree, now_ns);
	ret_memory->swap_kib = sums->swap_kib;
	ret_memory->file_kib = min_i64(sums->file_kib, ret_memory->pss_kib);
	ret_memory->huge_kib = sums->huge_kib;
	ret_memory->pss_age_ns = max_i64(0, now_ns - sums->oldest_ns);
}

/*
 * A cgroup that holds only the tree counts each page once, no matter how many members map it. From its files only those
 * in memory (shmem) belong to the job. The kernel can take the rest of the page cache back.
 */
static void estimate_by_cgroup(const struct process_tree *tree, struct tree_memory *memory)
{
	struct cgroup_v2_memory_stat stat;

	if (!tree->memory.cgroup_has_memory || !tree->with_children ||
	    read_cgroup_v2_memory_stat(tree->root, tree->cgroup_folder, &stat) < 0 || stat.anon_bytes < 0)
		return;
	memory->best_bytes = stat.anon_bytes + (stat.shmem_bytes > 0 ? stat.shmem_bytes : 0);
	if (cgroup_v2_kernel_bytes(&stat) > 0)
		memory->best_bytes += cgroup_v2_kernel_bytes(&stat);
	memory->best_source = MEMORY_CGROUP;
	debug_say_member("job: %jd KiB by its control group instead", (intmax_t)memory->best_bytes >> 10);
}

static int why_no_memory(const struct process_tree *tree)
{
	const struct member *root = process_tree_root(tree);

	for (size_t i = 0; i < tree->count; i++)
		if (!tree->members[i].is_zombie && !tree->members[i].memory.is_being_freed)
			return root && (root->unreadable || root->memory.is_refused) &&
					       !root->memory.resident_pages && !root->is_zombie
				       ? EACCES
				       : 0;
	return ABSENT_ZOMBIE;
}

static bool is_unknown(struct process_tree *tree, int reason, struct tree_memory *ret_memory)
{
	ret_memory->reason = ret_memory->pss_reason = reason;
	if (reason)
		memory_between_follow(tree, -1, -1);
	return reason;
}

/* The members are a part of the job's processes, so that only its cgroup tells the memory of all. */
static SELDOM void leave_members_out(struct process_tree *tree, struct tree_memory *ret_memory)
{
	ret_memory->error_kib = -1;
	ret_memory->pss_reason = ABSENT_LEFT_OUT;
	if (ret_memory->best_source != MEMORY_CGROUP)
		(void)is_unknown(tree, ABSENT_LEFT_OUT, ret_memory);
}

/* If no member has run, come, gone or been read since a tick that found nothing to correct, its figures hold. */
static bool still_hold(struct process_memory *memory, struct process_tree *tree, enum pss_mode mode,
		       struct tree_memory *ret_memory)
{
	*ret_memory = memory->told;
	ret_memory->pss_age_ns += tree->pass_ns - memory->told_ns;
	memory->hold = memory->told_ns && tree->changed_ns < memory->told_ns && mode != PSS_MODE_ALWAYS &&
		       !debug_has_members() && ret_memory->pss_age_ns < REFRESH_NS;
	if (!memory->hold)
		return false;
	ret_memory->machine = read_machine(memory, tree->root);
	if (memory->scanning)
		(void)search_objects(memory, tree);
	memory->hold = memory->machine.shmem_kib == memory->told_shmem_kib &&
		       memory->objects.count == memory->told_objects;
	return memory->hold;
}

static void keep_told(struct process_memory *memory, const struct process_tree *tree,
		      const struct tree_memory *told)
{
	bool may_improve = memory->has_read || memory->late_kib || told->best_source > MEMORY_SAMPLED ||
			   tree->cpu.turns.left_out;

	memory->told_ns = may_improve || tree->changed_ns >= tree->pass_ns ? 0 : tree->pass_ns;
	memory->told_shmem_kib = memory->machine.shmem_kib;
	memory->told_objects = memory->objects.count;
	memory->told = *told;
}

void process_memory_measure(struct process_memory *memory, struct process_tree *tree, enum pss_mode mode,
			    struct tree_memory *ret_memory)
{
	int64_t now_ns = root_monotonic_ns(tree->root), best_kib;
	struct sums sums = {0};

	if (still_hold(memory, tree, mode, ret_memory))
		return;
	memory->told_ns = 0;
	memory->has_read = false;
	*ret_memory = (struct tree_memory){.error_kib = -1};
	if (is_unknown(tree, why_no_memory(tree), ret_memory) ||
	    is_unknown(tree, -memory_families_build(&memory->families, tree), ret_memory))
		return;
	if (memory->meminfo_file.fd < 0 || memory->has_unknown || memory->machine.huge_pages_total > 0 ||
	    memory->huge_kib)
		(void)read_machine(memory, tree->root);
	memory->begun_shmem_kib = memory->has_unknown ? memory->machine.shmem_kib : -1;
	/* AnonHugePages leaves out huge pages that were split, and those of other sizes. */
	tree->memory.huge_kib = may_have_huge_pages(tree) ? max_i64(0, memory->machine.anon_pages_kib) : 0;
	memory->reader.objects = &memory->objects;
	if (mode != PSS_MODE_OFF && memory->machine.shmem_kib > 0)
		memory_objects_read_mounts(&memory->objects, tree->root, tree->root_pid);
	memory_schedule(memory, tree, mode);
	/* The readings look at the processes again: by now all may have begun to exit. */
	if (is_unknown(tree, why_no_memory(tree), ret_memory))
		return;
	ret_memory->machine = read_machine(memory, tree->root);
	if (mode != PSS_MODE_OFF) {
		refresh_objects(memory, tree);
		add_objects(memory, tree, &sums);
	}
	ret_memory->rss_bytes = rss_kib_of(tree) * 1024;
	add_families(memory, tree, now_ns, &sums);
	sums.doubt_kib += memory_watch_copies(memory, tree, sums.anon_kib, ret_memory->rss_bytes >> 10);
	add_files(memory, tree, now_ns, &sums);
	add_unsplit(memory, tree, now_ns, &sums);
	sums.sampled |= memory->late_kib >= WORTH_READING_KIB || tree->memory.suspect_ns;
	tell_tree_memory(memory, tree, now_ns, &sums, ret_memory);
	if (mode == PSS_MODE_OFF)
		ret_memory->pss_reason = ABSENT_PSS_OFF;
	if (ret_memory->best_source > MEMORY_CGROUP || tree->cpu.turns.left_out)
		estimate_by_cgroup(tree, ret_memory);
	if (tree->cpu.turns.left_out)
		leave_members_out(tree, ret_memory);
	if (ret_memory->reason)
		return;
	best_kib = ret_memory->best_bytes >> 10;
	/* Neither hugetlb nor what is read from swap counts as allocated. */
	tree->memory.between.objects_kib = sums.huge_kib | sums.swap_kib ? 0 : sums.objects_kib;
	tree->memory.between.files_kib = sums.file_kib;
	memory_between_follow(
		tree, ret_memory->best_source == MEMORY_BOUND ? -1 : best_kib,
		ret_memory->best_source > MEMORY_SAMPLED ? -1 : best_kib + max_i64(0, ret_memory->error_kib));
	keep_told(memory, tree, ret_memory);
}
