/* The machine's rows of a frame as one plain struct. See machine_summary.h. */
#include "collect/machine_summary.h"
#include "metric/typed_rows.h"

#include <string.h>

static int64_t count_or_unknown(int64_t count)
{
	return count_absent(count) ? -1 : count;
}

static int64_t bytes_of(double amount, double unit_bytes)
{
	return real_absent(amount) ? -1 : (int64_t)(amount * unit_bytes + 0.5);
}

static void take_machine_memory(const struct memory_row *row, struct rt_system *system)
{
	const double mib = 1048576;

	system->memory_total_bytes = bytes_of(row->total_mib, mib);
	system->memory_free_bytes = bytes_of(row->free_mib, mib);
	system->memory_available_bytes = bytes_of(row->available_mib, mib);
	system->memory_used_bytes = bytes_of(row->used_mib, mib);
	system->memory_buffers_bytes = bytes_of(row->buffers_mib, mib);
	system->memory_cached_bytes = bytes_of(row->cached_mib, mib);
	system->memory_active_bytes = bytes_of(row->active_mib, mib);
	system->memory_inactive_bytes = bytes_of(row->inactive_mib, mib);
}

static void add_machine_count(int64_t *sum, int64_t counted, int64_t count)
{
	if (counted == 1 && !count_absent(count))
		*sum = (*sum < 0 ? 0 : *sum) + count;
}

void machine_summary(const struct frame *frame, struct rt_system *ret_system)
{
	const struct host_cpu_row *cpu = (const void *)frame->first[ROW_host_cpu];
	const struct memory_row *memory = (const void *)frame->first[ROW_memory];
	const struct totals_row *totals = (const void *)frame->first[ROW_totals];
	struct rt_system system;

	memset(&system, 0xff, sizeof system);
	system.realtime_secs = (double)frame->realtime_ns / 1e9;
	system.user_secs = cpu ? cpu->utime_total_secs : no_real(ABSENT_NOT_COLLECTED);
	system.system_secs = cpu ? cpu->stime_total_secs : no_real(ABSENT_NOT_COLLECTED);
	system.process_count = cpu ? count_or_unknown(cpu->process_count) : -1;
	if (memory)
		take_machine_memory(memory, &system);
	if (totals) {
		system.disk_space_total_bytes = bytes_of(totals->disk_space_total_gb, 1e9);
		system.disk_space_used_bytes = bytes_of(totals->disk_space_used_gb, 1e9);
		system.disk_space_free_bytes = bytes_of(totals->disk_space_free_gb, 1e9);
	}
	for (const struct row *row = frame->first[ROW_disk]; row; row = row->next) {
		const struct disk_row *disk = (const void *)row;

		add_machine_count(&system.disk_read_bytes, disk->counted, disk->read_bytes_total);
		add_machine_count(&system.disk_write_bytes, disk->counted, disk->write_bytes_total);
	}
	for (const struct row *row = frame->first[ROW_network]; row; row = row->next) {
		const struct network_row *network = (const void *)row;

		add_machine_count(&system.network_received_bytes, network->counted, network->rx_bytes_total);
		add_machine_count(&system.network_sent_bytes, network->counted, network->tx_bytes_total);
	}
	*ret_system = system;
}
