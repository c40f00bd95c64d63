/*
 * /proc/spl/kstat/zfs/arcstats
 *
 *   13 1 0x01 147 39984 4286331046 8712345678901
 *   name                            type data
 *   c_min                           4    2104989440
 *   size                            4    21474836480
 */
#include "kernel/spl_zfs.h"

#include <errno.h>

#include "base/scan.h"

int parse_spl_zfs_arcstats(const char *bytes, size_t length, struct spl_zfs_arcstats *ret_arcstats)
{
	struct scan text = scan_bytes(bytes, length), line, name, type;
	struct spl_zfs_arcstats arcstats = {-1, -1};

	while (scan_line(&text, &line)) {
		int64_t *place, value;

		if (!scan_word(&line, &name) || !scan_word(&line, &type))
			continue;
		if (scan_is(&name, "size"))
			place = &arcstats.size_bytes;
		else if (scan_is(&name, "c_min"))
			place = &arcstats.min_bytes;
		else
			continue;
		if (scan_count(&line, &value))
			*place = value;
	}
	if (arcstats.size_bytes < 0 && arcstats.min_bytes < 0)
		return -EBADMSG;
	*ret_arcstats = arcstats;
	return 0;
}

int read_spl_zfs_arcstats(struct root *root, struct kept_file *file, struct spl_zfs_arcstats *ret_arcstats)
{
	ssize_t length = root_reread(root, file);

	return length < 0 ? (int)length
			  : parse_spl_zfs_arcstats(root->text.data, (size_t)length, ret_arcstats);
}
