/*
 * /proc/sysvipc/shm
 *
 *   key shmid perms size cpid lpid nattch uid gid cuid cgid atime dtime ctime rss swap
 *     0     3   600  4096 4242 4242     1   0   0    0    0  ...            4096    0
 */
#include "kernel/proc_sysvipc_shm.h"

enum { COLUMN_ID = 1, COLUMN_SIZE = 3, COLUMN_ATTACHED = 6, COLUMN_RESIDENT = 14, COLUMN_SWAPPED = 15 };

static bool scan_segment(struct scan *line, struct shm_segment *segment)
{
	int64_t value;

	*segment = (struct shm_segment){-1, -1, -1, -1, -1};
	for (int column = 0; scan_count(line, &value); column++)
		switch (column) {
		case COLUMN_ID:
			segment->id = value;
			break;
		case COLUMN_SIZE:
			segment->size_bytes = value;
			break;
		case COLUMN_ATTACHED:
			segment->attached_count = value;
			break;
		case COLUMN_RESIDENT:
			segment->resident_bytes = value;
			break;
		case COLUMN_SWAPPED:
			segment->swapped_bytes = value;
			break;
		default:
			break;
		}
	return segment->id >= 0;
}

bool parse_proc_sysvipc_shm(const char *bytes, size_t length, int64_t id, struct shm_segment *ret_segment)
{
	struct scan text = scan_bytes(bytes, length), line;
	struct shm_segment segment;

	while (scan_line(&text, &line)) {
		if (!scan_segment(&line, &segment) || segment.id != id)
			continue;
		*ret_segment = segment;
		return true;
	}
	return false;
}

ssize_t read_proc_sysvipc_shm(struct root *root)
{
	return root_read(root, "proc/sysvipc/shm");
}
