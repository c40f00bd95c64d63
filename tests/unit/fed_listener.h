/* A listener with a kernel of its own, which sends the events and exit records that a test wants. */
#pragma once

#include "unit.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "job/programs/program_listener.h"
#include "job/programs/program_tuning.h"
#include "kernel/netlink.h"
#include "kernel/proc_events.h"
#include "kernel/taskstats.h"

/* ---- the kernel -------------------------------------------------------------------------------------------------- */

enum {
	FED_MOST = 4096,
	FED_RECORDS_MOST = 64,
	JOB = 1 << 22,
	CHILD = JOB - 1,
	OTHER = JOB - 2,
	PARENT = JOB - 3
};

static struct {
	struct proc_event events[FED_MOST]; /* a datagram each */
	int count, taken;
	int receive_error;                          /* once, instead of events */
	struct taskstats records[FED_RECORDS_MOST]; /* a datagram each */
	int record_count, records_taken;
	int record_error;  /* once, instead of records */
	bool with_records; /* this process may have them */
	int record_fd;
	int open_error, choose_error, signal_error;
	int signo; /* that was asked for last */
	int fd, opened, records_opened;
	void (*on_receive)(void);
} fed;

int proc_events_open(int buffer_bytes)
{
	assert_int_equal(buffer_bytes, EVENTS_ROOM_BYTES);
	fed.opened++;
	fed.fd = fed.open_error ? fed.open_error : eventfd(0, EFD_CLOEXEC);
	return fed.fd;
}

int proc_events_choose(int fd)
{
	assert_true(fd >= 0);
	return fed.choose_error;
}

int proc_events_signal(int fd, int signo)
{
	assert_true(fd >= 0);
	fed.signo = signo;
	return fed.signal_error;
}

bool proc_events_next(struct scan *messages, struct proc_event *ret_event)
{
	if (scan_left(messages) < sizeof *ret_event)
		return false;
	memcpy(ret_event, messages->at, sizeof *ret_event);
	messages->at += sizeof *ret_event;
	return true;
}

static void put_datagram(struct netlink_batch *batch, int at, const void *bytes, size_t size)
{
	assert_true(size <= batch->datagram_bytes);
	memcpy(batch->bytes + (size_t)at * batch->datagram_bytes, bytes, size);
	batch->lengths[at] = size;
}

static int take_error(int *error)
{
	int taken = *error;

	*error = 0;
	return taken;
}

int netlink_receive_batch(int fd, struct netlink_batch *batch)
{
	bool of_records = fed.record_fd > 0 && fd == fed.record_fd;
	int count = 0, error = take_error(of_records ? &fed.record_error : &fed.receive_error);

	assert_true(fd >= 0);
	if (fed.on_receive)
		fed.on_receive();
	if (error)
		return error;
	if (of_records)
		for (; count < batch->capacity && fed.records_taken < fed.record_count; count++)
			put_datagram(batch, count, &fed.records[fed.records_taken++], sizeof *fed.records);
	else
		for (; count < batch->capacity && fed.taken < fed.count; count++)
			put_datagram(batch, count, &fed.events[fed.taken++], sizeof *fed.events);
	return count ? count : -EAGAIN;
}

int taskstats_open(int buffer_bytes, uint16_t *ret_family)
{
	assert_int_equal(buffer_bytes, RECORDS_ROOM_BYTES);
	*ret_family = 1;
	fed.records_opened++;
	fed.record_fd = fed.with_records ? eventfd(0, EFD_CLOEXEC) : -EPERM;
	return fed.record_fd;
}

bool taskstats_next(struct scan *messages, uint16_t family, struct taskstats *ret_record)
{
	assert_int_equal(family, 1);
	if (scan_left(messages) < sizeof *ret_record)
		return false;
	memcpy(ret_record, messages->at, sizeof *ret_record);
	messages->at += sizeof *ret_record;
	return true;
}

static void feed(struct proc_event event)
{
	assert_true(fed.count < FED_MOST);
	fed.events[fed.count++] = event;
}

static void feed_fork(pid_t pid, pid_t parent_pid)
{
	feed((struct proc_event){.kind = PROC_EVENT_FORKED, .pid = pid, .parent_pid = parent_pid});
}

static void feed_end(pid_t pid, pid_t parent_pid, int wait_status)
{
	feed((struct proc_event){
		.kind = PROC_EVENT_EXITED, .pid = pid, .parent_pid = parent_pid, .wait_status = wait_status});
}

/* ---- a listener without a thread --------------------------------------------------------------------------------- */

static struct program_listener *listener;

static int begin(void **state)
{
	(void)state;
	memset(&fed, 0, sizeof fed);
	listener = NULL;
	if (program_listener_open(&listener) < 0)
		return -1;
	program_listener_add(listener, JOB, "make");
	return program_listener_start(listener, true);
}

static int end(void **state)
{
	(void)state;
	program_listener_close(listener);
	return 0;
}

struct taken {
	const struct program_event *events;
	size_t count;
	bool lost;
};

static struct taken take(void)
{
	struct taken taken;

	taken.events = program_listener_take(listener, &taken.count, &taken.lost);
	return taken;
}
