/*
 * /proc/net/dev
 *
 *   Inter-|   Receive                                                |  Transmit
 *    face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls
 * ... eth0: 182438120    3592    0    0    0     0          0         0   155553    1973    0    0    0     0
 * ...
 *
 * Before Linux 4.4 a name could hold a colon, and before 3.0 a long number followed it without a blank: only
 * the last colon of a line surely ends the name.
 */
#include "kernel/proc_net_dev.h"

/* The columns after the transmitter's drops are not needed. */
enum { COLUMNS = 12, TRANSMIT = 8 };

struct scan parse_proc_net_dev(const char *bytes, size_t length)
{
	return scan_bytes(bytes, length);
}

static bool scan_interface_name(struct scan *line, struct scan *ret_name)
{
	const char *colon = scan_left(line) ? memrchr(line->at, ':', scan_left(line)) : NULL;
	struct scan before;

	if (!colon)
		return false;
	before = (struct scan){line->at, colon};
	if (!scan_word(&before, ret_name) || scan_left(&before))
		return false;
	line->at = colon + 1;
	return true;
}

static int scan_interface_columns(struct scan *line, int64_t columns[COLUMNS])
{
	int known = 0;

	for (int i = 0; i < COLUMNS; i++) {
		columns[i] = -1;
		(void)scan_count(line, &columns[i]);
		known += columns[i] >= 0;
	}
	return known;
}

bool proc_net_dev_next(struct scan *interfaces, struct net_dev *ret_interface)
{
	struct scan line, name;

	while (scan_line(interfaces, &line)) {
		int64_t columns[COLUMNS];

		if (!scan_interface_name(&line, &name) || !scan_interface_columns(&line, columns))
			continue;
		*ret_interface = (struct net_dev){
			.name = name,
			.receive_bytes = columns[0],
			.receive_packets = columns[1],
			.receive_errors = columns[2],
			.receive_drops = columns[3],
			.transmit_bytes = columns[TRANSMIT],
			.transmit_packets = columns[TRANSMIT + 1],
			.transmit_errors = columns[TRANSMIT + 2],
			.transmit_drops = columns[TRANSMIT + 3],
		};
		return true;
	}
	return false;
}

int read_proc_net_dev(struct root *root, struct kept_file *file, struct scan *ret_interfaces)
{
	ssize_t length = root_reread(root, file);

	if (length < 0)
		return (int)length;
	*ret_interfaces = parse_proc_net_dev(root->text.data, (size_t)length);
	return 0;
}
