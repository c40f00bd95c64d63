/* Memory of the machine: /proc/meminfo, and the cache of ZFS. */
#include <errno.h>
#include <stdlib.h>

#include "collect/collector.h"
#include "kernel/in_container.h"
#include "kernel/proc_meminfo.h"
#include "kernel/spl_zfs.h"
#include "metric/typed_rows.h"

struct host_memory {
	struct kept_file meminfo;
	struct kept_file arcstats;
	bool looked_for_arc;
	bool has_arc;
};

static int host_memory_open(struct collect_context *context, void **ret_state)
{
	struct host_memory *state = calloc(1, sizeof *state);

	(void)context;
	if (!state)
		return -ENOMEM;
	state->meminfo = KEPT_FILE("proc/meminfo");
	state->arcstats = KEPT_FILE("proc/spl/kstat/zfs/arcstats");
	*ret_state = state;
	return 0;
}

static double host_mib_of_kib(int64_t kib)
{
	return kib < 0 ? no_real(ABSENT_NO_SUCH_COUNTER) : (double)kib / 1024;
}

/* No part is larger than the whole. lxcfs mixes figures of the machine with those of a container. */
static double part_mib(const struct proc_meminfo *meminfo, int64_t kib)
{
	return meminfo->total_kib >= 0 && kib > meminfo->total_kib ? no_real(ABSENT_IMPOSSIBLE)
								   : host_mib_of_kib(kib);
}

/* Linux before 3.14 has no MemAvailable. Fall back to free + buffers + cached. */
static int64_t available_kib(const struct proc_meminfo *meminfo)
{
	int64_t reclaimable = meminfo->slab_reclaimable_kib > 0 ? meminfo->slab_reclaimable_kib : 0;

	/* An emulated kernel writes a line that it does not fill: nothing is available beside free memory. */
	if (meminfo->available_kib > 0 ||
	    (meminfo->available_kib == 0 && meminfo->free_kib <= meminfo->total_kib / 4))
		return meminfo->available_kib;
	if (meminfo->free_kib < 0 || meminfo->buffers_kib < 0 || meminfo->cached_kib < 0)
		return -1;
	return meminfo->free_kib + meminfo->buffers_kib + meminfo->cached_kib + reclaimable;
}

/*
 * The kernel counts the cache of ZFS (ARC) as used, but takes back all but its minimum when programs need memory. Example: 3 of
 * 16 GiB are free beside a cache of 8 that may shrink to 1, so 10 are available.
 */
static int64_t available_with_arc_kib(struct host_memory *state, struct root *root,
				      const struct proc_meminfo *meminfo)
{
	int64_t without_kib = available_kib(meminfo), with_kib;
	struct spl_zfs_arcstats arc;

	/* A container sees the cache of its host, which lies outside the memory that the container has. */
	if (!state->looked_for_arc)
		state->has_arc = root_exists(root, state->arcstats.path) && !root_is_in_container(root);
	state->looked_for_arc = true;
	if (without_kib < 0 || !state->has_arc || read_spl_zfs_arcstats(root, &state->arcstats, &arc) < 0 ||
	    arc.min_bytes < 0 || arc.size_bytes <= arc.min_bytes)
		return without_kib;
	with_kib = without_kib + (arc.size_bytes - arc.min_bytes) / 1024;
	/* A cache that is larger than all used memory belongs to another machine. */
	return with_kib > meminfo->total_kib ? without_kib : with_kib;
}

/* lxcfs may report more free than in total: how much is used is then unknown. */
static void fill_used(int64_t total_kib, int64_t free_kib, double *ret_mib, double *ret_pct)
{
	if (total_kib < 0 || free_kib < 0 || free_kib > total_kib) {
		*ret_mib = *ret_pct = no_real(ABSENT_NOT_A_VALUE);
		return;
	}
	*ret_mib = host_mib_of_kib(total_kib - free_kib);
	*ret_pct = total_kib ? 100.0 * (double)(total_kib - free_kib) / (double)total_kib : 0;
}

/* The kernel tells how many of the usual size are free, but of all sizes together only how much they take. */
static void fill_huge(struct memory_row *row, const struct proc_meminfo *meminfo)
{
	int64_t usual_kib, free_kib;

	if (meminfo->huge_pages_total < 0 || meminfo->huge_pages_free < 0 || meminfo->huge_page_kib < 0 ||
	    __builtin_mul_overflow(meminfo->huge_pages_total, meminfo->huge_page_kib, &usual_kib) ||
	    __builtin_mul_overflow(meminfo->huge_pages_free, meminfo->huge_page_kib, &free_kib))
		return;
	row->hugetlb_total_mib =
		part_mib(meminfo, meminfo->hugetlb_kib > usual_kib ? meminfo->hugetlb_kib : usual_kib);
	row->hugetlb_used_mib = meminfo->hugetlb_kib > usual_kib ? no_real(ABSENT_NO_SUCH_COUNTER)
								 : part_mib(meminfo, usual_kib - free_kib);
}

static void host_memory_collect(void *state_, struct collect_context *context, struct frame *frame)
{
	struct host_memory *state = state_;
	struct memory_row *row = ADD_ROW(frame, memory, NULL);
	struct proc_meminfo meminfo;
	int64_t available;
	int error = 0;

	if (context->meminfo)
		meminfo = *context->meminfo;
	else
		error = read_proc_meminfo(context->root, &state->meminfo, &meminfo);

	row_set_absent(&row->row, error < 0 ? error : ABSENT_NO_SUCH_COUNTER);
	if (error < 0)
		return;
	/* The baseline, in which no memory is told, must not delay the start of the job. */
	available = context->progress.baseline ? available_kib(&meminfo)
					       : available_with_arc_kib(state, context->root, &meminfo);
	row->total_mib = meminfo.total_kib ? host_mib_of_kib(meminfo.total_kib) : no_real(ABSENT_NOT_A_VALUE);
	row->free_mib = part_mib(&meminfo, meminfo.free_kib);
	row->available_mib = part_mib(&meminfo, available);
	row->buffers_mib = part_mib(&meminfo, meminfo.buffers_kib);
	row->active_mib = part_mib(&meminfo, meminfo.active_kib);
	row->inactive_mib = part_mib(&meminfo, meminfo.inactive_kib);
	row->cached_mib = part_mib(&meminfo, meminfo.cached_kib);
	if (!real_absent(row->cached_mib) && meminfo.slab_reclaimable_kib > 0)
		row->cached_mib += host_mib_of_kib(meminfo.slab_reclaimable_kib);
	fill_used(meminfo.total_kib > 0 ? meminfo.total_kib : -1, available, &row->used_mib, &row->used_pct);
	row->active_anon_mib = host_mib_of_kib(meminfo.active_anon_kib);
	row->inactive_anon_mib = host_mib_of_kib(meminfo.inactive_anon_kib);
	/* If a part is absent, so is the difference. */
	row->used_less_cache_mib = row->total_mib - row->free_mib - row->buffers_mib - row->cached_mib;
	if (row->used_less_cache_mib < 0)
		row->used_less_cache_mib = no_real(ABSENT_NOT_A_VALUE);
	row->swap_total_mib = host_mib_of_kib(meminfo.swap_total_kib);
	fill_used(meminfo.swap_total_kib, meminfo.swap_free_kib, &row->swap_used_mib, &row->swap_used_pct);
	fill_huge(row, &meminfo);
	frame->memory_mib = real_absent(row->total_mib) ? 0 : row->total_mib;
	if (!real_absent(row->swap_total_mib))
		frame->memory_mib += row->swap_total_mib;
}

static void host_memory_close(void *state_)
{
	struct host_memory *state = state_;

	kept_file_close(&state->meminfo);
	kept_file_close(&state->arcstats);
	free(state);
}

const struct collector HOST_MEMORY_COLLECTOR = {
	.name = "host_memory",
	.open = host_memory_open,
	.collect = host_memory_collect,
	.close = host_memory_close,
	.fills = (const enum row_kind[]){ROW_memory, ROW_KINDS},
	.describes_machine = true,
};
