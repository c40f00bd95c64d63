/*
 * /proc/vmstat
 *
 *   nr_free_pages 5743346
 *   pgalloc_dma32 81922
 *   pgalloc_normal 92134409
 *   oom_kill 3
 */
#include "kernel/proc_vmstat.h"

#include <errno.h>
#include <string.h>

#include "base/scan.h"

/* Returns the text behind a newline and the key, or NULL without such a line. A search of each of the 180 lines takes ten times as long. */
static const char *after_key(const char *bytes, size_t length, const char *key)
{
	size_t key_length = strlen(key);
	const char *found;

	if (length >= key_length && memcmp(bytes, key + 1, key_length - 1) == 0)
		return bytes + key_length - 1;
	found = memmem(bytes, length, key, key_length);
	return found ? found + key_length : NULL;
}

int parse_proc_vmstat(const char *bytes, size_t length, struct proc_vmstat *ret_vmstat)
{
	const char *at = after_key(bytes, length, "\noom_kill ");
	struct scan text = {at, bytes + length};
	uint64_t kills;

	if (!at || !scan_u64(&text, &kills) || kills > INT64_MAX)
		return -EBADMSG;
	ret_vmstat->oom_kills = (int64_t)kills;
	return 0;
}

int64_t proc_vmstat_allocated_pages(const struct root *root)
{
	const char *end = root->text.data + root->text.length,
		   *at = after_key(root->text.data, root->text.length, "\npgalloc_");
	struct scan text = {at, end}, zone, line;
	int64_t sum = 0;
	uint64_t pages;

	/* The lines of all zones follow each other. */
	while (at && scan_until(&text, ' ', &zone) && scan_u64(&text, &pages)) {
		sum += (int64_t)pages;
		(void)scan_line(&text, &line);
		if (!scan_literal(&text, "pgalloc_"))
			break;
	}
	return sum;
}

int read_proc_vmstat(struct root *root, struct kept_file *file, struct proc_vmstat *ret_vmstat)
{
	/* The kernel sums up all CPUs for each piece that it returns: 22 us. Both counts are in the first one. */
	ssize_t length = root_reread_beginning(root, file);

	if (length >= 0 && parse_proc_vmstat(root->text.data, (size_t)length, ret_vmstat) == 0)
		return 0;
	length = root_reread(root, file);
	return length < 0 ? (int)length : parse_proc_vmstat(root->text.data, (size_t)length, ret_vmstat);
}
