/* Devices that the job used. See summary_disks.h. */
#include "summary/summary_disks.h"

#include <string.h>

#include "metric/typed_rows.h"
#include "table/units.h"
#include "base/json_write.h"
#include "base/printable.h"

void summary_disks_want(struct metric_set *wanted)
{
	WANT(wanted, job_disk, bytes_read);
	WANT(wanted, job_disk, bytes_written);
}

static size_t index_of(struct summary_disks *disks, const char *device)
{
	struct scan name = scan_bytes(device, strlen(device));

	for (size_t i = 0; i < disks->count; i++)
		if (strncmp(disks->of[i].device, device, DISK_NAME_BYTES - 1) == 0)
			return i;
	if (disks->count < DISKS_SHOWN)
		scan_copy(&name, disks->of[disks->count++].device, DISK_NAME_BYTES);
	else
		return DISKS_SHOWN;
	return disks->count - 1;
}

void summary_disks_add(struct summary_disks *disks, const struct frame *frame)
{
	for (const struct job_disk_row *row = FIRST(frame, job_disk); row; row = NEXT(row, job_disk)) {
		size_t i;

		if (text_absent(row->device) || count_absent(row->bytes_read) ||
		    count_absent(row->bytes_written))
			continue;
		i = index_of(disks, row->device);
		if (i == DISKS_SHOWN)
			continue;
		disks->of[i].read_bytes = (double)row->bytes_read;
		disks->of[i].written_bytes = (double)row->bytes_written;
	}
}

void summary_disks_lines(struct buffer *out, const struct summary_disks *disks, enum rt_size_unit unit,
			 int indent)
{
	for (size_t i = 0; i < disks->count; i++) {
		if (!(disks->of[i].read_bytes + disks->of[i].written_bytes > 0))
			continue;
		buffer_printf(out, "\n  %-*s", indent, "");
		buffer_add_printable(out, disks->of[i].device);
		buffer_add_text(out, ": read ");
		add_size(out, disks->of[i].read_bytes, unit);
		buffer_add_text(out, ", written ");
		add_size(out, disks->of[i].written_bytes, unit);
	}
}

void summary_disks_json(struct buffer *out, const struct summary_disks *disks)
{
	buffer_add_text(out, "\"disks\":[");
	for (size_t i = 0; i < disks->count; i++) {
		buffer_add_text(out, i ? ",{\"device\":" : "{\"device\":");
		json_escape(out, disks->of[i].device, strlen(disks->of[i].device));
		buffer_printf(out, ",\"read_bytes\":%.0f,\"written_bytes\":%.0f}", disks->of[i].read_bytes,
			      disks->of[i].written_bytes);
	}
	buffer_add_char(out, ']');
}
