/*
 * Exit records. See taskstats.h. A message is a netlink header (16), the header of generic netlink (4), and attributes:
 * AGGR_PID (4) holds PID (1) and STATS (3), which is the kernel's struct taskstats. It has grown over time, at its end only.
 */
#include "kernel/taskstats.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/min_max.h"
#include "kernel/netlink.h"

enum {
	PROTOCOL_GENERIC = 16,
	FAMILY_CONTROL = 16,
	CONTROL_GET_FAMILY = 3,
	CONTROL_FAMILY_ID = 1,
	CONTROL_FAMILY_NAME = 2,
	GENERIC_HEADER_BYTES = 4,

	COMMAND_GET = 1,
	REGISTER_CPUS = 3,
	AGGREGATE_OF_THREAD = 4,
	STATS = 3,

	/* Offsets in struct taskstats, and the least length of one that has them. */
	FLAGS = 8,
	DELAY_NS = 24,
	FLAG_FORK = 0x01,
	FLAG_LAST = 0x20,
	RUN_NS = 72, /* cpu_run_virtual_total; user and system time count in ticks on many kernels */
	COMM = 80,
	COMM_BYTES = 15,
	TID = 128,
	PARENT_PID = 132,
	ELAPSED_USEC = 144,
	UTIME_USEC = 152,
	STIME_USEC = 160,
	PEAK_RESIDENT_KIB = 200,
	READ_CHARS = 216,
	WRITTEN_CHARS = 224,
	READ_BYTES = 248,
	WRITTEN_BYTES = 256,
	CANCELLED_BYTES = 264,
	VOLUNTARY_SWITCHES = 272,
	OTHER_SWITCHES = 280,
	LEAST_BYTES = 288,
	PID = 368,
};

static int64_t scaled_amount(const struct scan *stats, size_t offset, uint64_t scale)
{
	uint64_t value = netlink_u64(stats, offset);

	return value > INT64_MAX / scale ? -1 : (int64_t)(value * scale);
}

/* Without extended accounting in the kernel it is 0. */
static int64_t amount_at(const struct scan *stats, size_t offset)
{
	return max_i64(0, scaled_amount(stats, offset, 1));
}

static pid_t pid_at(const struct scan *stats, size_t offset)
{
	uint32_t value = netlink_u32(stats, offset);

	return value <= INT32_MAX ? (pid_t)value : 0;
}

static void parse_io(const struct scan *stats, struct taskstats *record)
{
	static const size_t OFFSETS[TASKSTATS_IO] = {READ_BYTES, WRITTEN_BYTES, CANCELLED_BYTES, READ_CHARS,
						     WRITTEN_CHARS};

	for (int i = 0; i < TASKSTATS_IO; i++)
		record->io[i] = amount_at(stats, OFFSETS[i]);
}

static bool parse_stats(const struct scan *stats, struct taskstats *ret_record)
{
	int64_t user_ns = scaled_amount(stats, UTIME_USEC, 1000),
		system_ns = scaled_amount(stats, STIME_USEC, 1000);
	struct taskstats record = {0};
	struct scan comm;

	if (scan_left(stats) < LEAST_BYTES || user_ns < 0 || system_ns < 0 ||
	    user_ns > INT64_MAX - system_ns || !pid_at(stats, TID))
		return false;
	comm = scan_bytes(stats->at + COMM, strnlen(stats->at + COMM, COMM_BYTES));
	scan_copy(&comm, record.comm, sizeof record.comm);
	record.tid = pid_at(stats, TID);
	record.parent_pid = pid_at(stats, PARENT_PID);
	record.pid = pid_at(stats, PID);
	record.is_fork = stats->at[FLAGS] & FLAG_FORK;
	record.is_last = stats->at[FLAGS] & FLAG_LAST;
	record.peak_resident_kib = amount_at(stats, PEAK_RESIDENT_KIB);
	record.elapsed_ns = max_i64(0, scaled_amount(stats, ELAPSED_USEC, 1000));
	record.delay_ns = amount_at(stats, DELAY_NS);
	record.sleeps = min_i64(amount_at(stats, VOLUNTARY_SWITCHES), INT32_MAX);
	record.switches = record.sleeps + min_i64(amount_at(stats, OTHER_SWITCHES), INT32_MAX);
	parse_io(stats, &record);
	record.cpu_ns = scaled_amount(stats, RUN_NS, 1);
	if (record.cpu_ns <= 0)
		record.cpu_ns = user_ns + system_ns;
	*ret_record = record;
	return true;
}

bool taskstats_next(struct scan *messages, uint16_t family, struct taskstats *ret_record)
{
	struct scan body, value;
	uint16_t type, name;

	while (netlink_next_message(messages, &type, &body)) {
		if (type != family || scan_left(&body) < GENERIC_HEADER_BYTES)
			continue;
		body.at += GENERIC_HEADER_BYTES;
		/* The record of the whole process, which may follow, repeats the sums of its threads. */
		while (netlink_next_attribute(&body, &name, &value)) {
			struct scan parts = value, part;

			while (name == AGGREGATE_OF_THREAD && netlink_next_attribute(&parts, &name, &part)) {
				if (name == STATS && parse_stats(&part, ret_record))
					return true;
				name = AGGREGATE_OF_THREAD;
			}
		}
	}
	return false;
}

uint16_t parse_taskstats_family(struct scan messages)
{
	struct scan body, value;
	uint16_t type, name;

	while (netlink_next_message(&messages, &type, &body)) {
		if (type != FAMILY_CONTROL || scan_left(&body) < GENERIC_HEADER_BYTES)
			continue;
		body.at += GENERIC_HEADER_BYTES;
		while (netlink_next_attribute(&body, &name, &value))
			if (name == CONTROL_FAMILY_ID && scan_left(&value) >= 2)
				return (uint16_t)netlink_u16(&value, 0);
	}
	return 0;
}

struct request {
	struct netlink_header header;
	uint8_t command, version;
	uint16_t reserved;
	uint16_t attribute_length, attribute;
	char text[32];
};

static int ask_family(int fd, uint16_t family, uint8_t command, uint16_t attribute, const char *text)
{
	struct request request = {
		.header = {.length = sizeof request, .type = family, .flags = NETLINK_FLAG_REQUEST},
		.command = command,
		.version = 1,
		.attribute = attribute,
	};
	size_t length = strlen(text) + 1;

	memcpy(request.text, text, length);
	request.attribute_length = (uint16_t)(4 + length);
	request.header.length = (uint32_t)(offsetof(struct request, text) + ((length + 3) & ~(size_t)3));
	return netlink_send(fd, &request, request.header.length);
}

static int find_family(int fd, uint16_t *ret_family)
{
	char bytes[2048];
	int length,
		error = ask_family(fd, FAMILY_CONTROL, CONTROL_GET_FAMILY, CONTROL_FAMILY_NAME, "TASKSTATS");

	if (error < 0)
		return error;
	length = netlink_receive(fd, bytes, sizeof bytes);
	if (length < 0)
		return length;
	*ret_family = parse_taskstats_family(scan_bytes(bytes, (size_t)length));
	return *ret_family ? 0 : -ENOENT;
}

/* The kernel answers only to refuse: with an error that is not 0. */
static int hear_refusal(int fd)
{
	char bytes[512];
	int length = netlink_receive(fd, bytes, sizeof bytes);
	struct scan messages = scan_bytes(bytes, length > 0 ? (size_t)length : 0), body;
	uint16_t type;

	if (length > 0 && netlink_next_message(&messages, &type, &body) && type == NETLINK_MESSAGE_ERROR)
		return (int)netlink_u32(&body, 0);
	return 0;
}

int taskstats_open(int buffer_bytes, uint16_t *ret_family)
{
	CLEANUP_CLOSE int fd = netlink_open(PROTOCOL_GENERIC, 0);
	char cpus[32];
	int error = fd;

	if (fd < 0)
		return error;
	error = find_family(fd, ret_family);
	if (error < 0)
		return error;
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &buffer_bytes, sizeof buffer_bytes) < 0)
		return -errno;
	snprintf(cpus, sizeof cpus, "0-%ld", sysconf(_SC_NPROCESSORS_CONF) - 1);
	error = ask_family(fd, *ret_family, COMMAND_GET, REGISTER_CPUS, cpus);
	if (!error)
		error = hear_refusal(fd);
	return error < 0 ? error : take_fd(&fd);
}
