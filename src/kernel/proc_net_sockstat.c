/*
 * /proc/net/sockstat
 *
 *   sockets: used 41
 *   TCP: inuse 11 orphan 0 tw 417 alloc 11 mem 163
 *   UDP: inuse 1 mem 0
 *
 * The orphans are those of IPv4 and IPv6, in all network namespaces.
 */
#include "kernel/proc_net_sockstat.h"

#include <errno.h>
#include <stdbool.h>

#include "base/scan.h"

/* Returns the number after a key. -1: there is none. */
static int64_t sockstat_number_of(struct scan line, const char *wanted)
{
	struct scan key;
	int64_t value;

	while (scan_word(&line, &key) && scan_count(&line, &value))
		if (scan_is(&key, wanted))
			return value;
	return -1;
}

int parse_proc_net_sockstat(const char *bytes, size_t length, struct proc_net_sockstat *ret_sockstat)
{
	struct scan text = scan_bytes(bytes, length), line;
	struct proc_net_sockstat sockstat = {.sockets = -1};

	while (scan_line(&text, &line)) {
		if (scan_literal(&line, "sockets:"))
			sockstat.sockets = sockstat_number_of(line, "used");
		if (!scan_literal(&line, "TCP:"))
			continue;
		sockstat.tcp_in_use = sockstat_number_of(line, "inuse");
		sockstat.tcp_allocated = sockstat_number_of(line, "alloc");
		sockstat.tcp_orphans = sockstat_number_of(line, "orphan");
		*ret_sockstat = sockstat;
		return 0;
	}
	return -EBADMSG;
}

int read_proc_net_sockstat(struct root *root, struct kept_file *file, struct proc_net_sockstat *ret_sockstat)
{
	ssize_t length = root_reread(root, file);

	return length < 0 ? (int)length
			  : parse_proc_net_sockstat(root->text.data, (size_t)length, ret_sockstat);
}
