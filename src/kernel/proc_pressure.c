/*
 * /proc/pressure/memory
 *
 *   some avg10=0.00 avg60=1.27 avg300=0.34 total=4026532
 *   full avg10=0.00 avg60=0.91 avg300=0.25 total=3019899
 */
#include "kernel/proc_pressure.h"

#include <errno.h>
#include <math.h>

#include "base/scan.h"

static const struct pressure_stall ABSENT = {NAN, NAN, NAN, -1};

static int take_pressure_pair(struct scan pair, struct pressure_stall *stall)
{
	struct scan key;
	uint64_t total;

	if (!scan_until(&pair, '=', &key))
		return 0;
	if (scan_is(&key, "avg10"))
		return scan_real(&pair, &stall->avg10_pct);
	if (scan_is(&key, "avg60"))
		return scan_real(&pair, &stall->avg60_pct);
	if (scan_is(&key, "avg300"))
		return scan_real(&pair, &stall->avg300_pct);
	if (!scan_is(&key, "total") || !scan_u64(&pair, &total) || total > INT64_MAX)
		return 0;
	stall->total_usec = (int64_t)total;
	return 1;
}

int parse_proc_pressure(const char *bytes, size_t length, struct proc_pressure *ret_pressure)
{
	struct scan text = scan_bytes(bytes, length), line, word;
	struct proc_pressure pressure = {ABSENT, ABSENT};
	int known = 0;

	while (scan_line(&text, &line)) {
		struct pressure_stall *stall;

		if (!scan_word(&line, &word))
			continue;
		if (scan_is(&word, "some"))
			stall = &pressure.some;
		else if (scan_is(&word, "full"))
			stall = &pressure.full;
		else
			continue;
		while (scan_word(&line, &word))
			known += take_pressure_pair(word, stall);
	}
	if (!known)
		return -EBADMSG;
	*ret_pressure = pressure;
	return 0;
}

int read_proc_pressure(struct root *root, struct kept_file *file, struct proc_pressure *ret_pressure)
{
	ssize_t length = root_reread(root, file);

	return length < 0 ? (int)length : parse_proc_pressure(root->text.data, (size_t)length, ret_pressure);
}

int read_cgroup_pressure(struct root *root, int dir_fd, const char *file, struct proc_pressure *ret_pressure)
{
	ssize_t length = root_read_at(root, dir_fd, file);

	return length < 0 ? (int)length : parse_proc_pressure(root->text.data, (size_t)length, ret_pressure);
}
