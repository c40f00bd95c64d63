/* Lists of CPU numbers. See cpu_list.h. */
#include "kernel/cpu_list.h"

#include <errno.h>

bool scan_cpu_range(struct scan *list, uint32_t *ret_first, uint32_t *ret_last)
{
	struct scan probe = *list;
	uint64_t first, last;

	if (!scan_u64(&probe, &first))
		return false;
	last = first;
	if (scan_literal(&probe, "-") && !scan_u64(&probe, &last))
		return false;
	if (last < first || last > INT32_MAX)
		return false;
	(void)scan_literal(&probe, ",");
	*ret_first = (uint32_t)first;
	*ret_last = (uint32_t)last;
	*list = probe;
	return true;
}

int parse_cpu_list(const char *bytes, size_t length, int64_t *ret_count)
{
	struct scan list = scan_trim(scan_bytes(bytes, length));
	uint32_t first, last;
	int64_t count = 0;

	while (scan_left(&list)) {
		if (!scan_cpu_range(&list, &first, &last))
			return -EBADMSG;
		count += (int64_t)last - first + 1;
		if (count > INT32_MAX)
			return -EBADMSG;
	}
	*ret_count = count;
	return 0;
}

int read_cpu_list(struct root *root, int dir_fd, const char *file, int64_t *ret_count)
{
	ssize_t length = root_read_at(root, dir_fd, file);

	return length < 0 ? (int)length : parse_cpu_list(root->text.data, (size_t)length, ret_count);
}
