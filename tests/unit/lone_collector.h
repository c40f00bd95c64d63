/* One collector on a machine whose files the test writes (scratch.h), at times that the test tells. */
#pragma once

#include "scratch.h"

#include "base/clock.h"
#include "collect/collector.h"
#include "metric/typed_rows.h"

enum { LONE_JOB = 100 };

static struct {
	int64_t now_ns;
	struct root root;
	struct process_tree tree;
	struct cgroup_mounts mounts;
	struct run_facts facts;
	struct run_ending ending;
	struct collect_context context;
	struct frame frame;
	const struct collector *collector;
	void *state;
} lone;

static inline int64_t lone_clock(void *unused)
{
	(void)unused;
	return lone.now_ns;
}

/* Begins a run that is recorded since the second 1000. The first frame is not its baseline. */
static inline int lone_enter(void **state)
{
	memset(&lone, 0, sizeof lone);
	lone.now_ns = 1000 * NSEC_PER_SEC;
	if (scratch_enter(state) < 0 || mkdir("proc", 0755) < 0 ||
	    root_open(&lone.root, ".", &(struct clocks){lone_clock, lone_clock, NULL}) < 0)
		return -1;
	lone.tree = (struct process_tree){.root = &lone.root, .root_pid = LONE_JOB, .cgroup_folder = -1};
	lone.context = (struct collect_context){.root = &lone.root,
						.cgroup_mounts = &lone.mounts,
						.facts = &lone.facts,
						.ending = &lone.ending,
						.root_dir = ".",
						.prepared = true,
						.memory_folder = -1,
						.progress = {.started_ns = lone.now_ns, .number = 1}};
	return 0;
}

static inline int lone_leave(void **state)
{
	frame_done(&lone.frame);
	if (lone.collector && lone.collector->close)
		lone.collector->close(lone.state);
	free(lone.tree.members);
	free(lone.tree.slots);
	free(lone.tree.excluded);
	cgroup_mounts_done(&lone.mounts);
	root_close(&lone.root);
	return scratch_leave(state);
}

static inline void lone_open(const struct collector *collector)
{
	lone.collector = collector;
	assert_int_equal(collector->open(&lone.context, &lone.state), 0);
}

/* Begins the frame of a time after the start, for rows that other collectors fill. */
static inline struct frame *lone_begin(double secs)
{
	lone.now_ns = lone.context.progress.started_ns + (int64_t)(secs * 1e9 + 0.5);
	frame_begin(&lone.frame, lone.now_ns, 0);
	return &lone.frame;
}

static inline struct frame *lone_fill(void)
{
	lone.collector->collect(lone.state, &lone.context, &lone.frame);
	assert_int_equal(lone.frame.error, 0);
	return &lone.frame;
}

static inline struct frame *lone_sample(double secs)
{
	(void)lone_begin(secs);
	return lone_fill();
}

#define lone_test(test) cmocka_unit_test_setup_teardown(test, lone_enter, lone_leave)
#define assert_real(value, expected) assert_true((value) - (expected) < 1e-6 && (expected) - (value) < 1e-6)
#define assert_absent_real(value, reason) assert_int_equal(real_absent(value), reason)
#define assert_absent_count(value, reason) assert_int_equal(count_absent(value), reason)
