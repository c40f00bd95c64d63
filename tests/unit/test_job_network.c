/* Tests of src/collect/job_network.c: this test stands for sockets and network namespaces. */
#include "lone_collector.h"

#include <errno.h>

#include "collect/job_namespaces.h"
#include "job/network/job_sockets.h"
#include "job/network/network_tuning.h"
#include "job/pass.h"

extern const struct collector JOB_NETWORK_COLLECTOR;

static struct job_traffic sockets;
static struct traffic spaces, shared;
static bool has_spaces, any_ran, none_changed;
static int sockets_error, opened, begun, updates, last_updates, namespace_looks, tree_looks;
static int64_t attend_ns;

void job_namespaces_open(struct job_namespaces *state, const struct root *root)
{
	(void)root;
	opened++;
	state->seen = has_spaces;
}

void job_namespaces_close(struct job_namespaces *state)
{
	(void)state;
}

void job_namespaces_look(struct job_namespaces *state, const struct process_tree *tree)
{
	(void)tree;
	state->seen = has_spaces;
	namespace_looks++;
}

void job_namespaces_read(struct job_namespaces *state, const struct process_tree *tree)
{
	(void)tree;
	state->seen = has_spaces;
}

void job_namespaces_total(const struct job_namespaces *state, struct traffic *ret_known,
			  struct traffic *ret_shared)
{
	(void)state;
	*ret_known = spaces;
	*ret_shared = shared;
}

void job_sockets_open(struct job_sockets *of, const struct root *root, bool attached)
{
	(void)root, (void)attached;
	of->error = sockets_error;
	opened++;
}

void job_sockets_close(struct job_sockets *of)
{
	(void)of;
}

void job_sockets_begin(struct job_sockets *of, struct process_tree *tree)
{
	(void)of, (void)tree;
	begun++;
}

void job_sockets_update(struct job_sockets *of, struct process_tree *tree, bool is_last)
{
	(void)of, (void)tree;
	updates++;
	last_updates += is_last;
}

int64_t job_sockets_attend(struct job_sockets *of, int64_t now_ns)
{
	(void)of, (void)now_ns;
	return attend_ns;
}

void job_sockets_total(const struct job_sockets *of, struct job_traffic *ret_traffic)
{
	(void)of;
	*ret_traffic = sockets;
}

bool socket_changes_none(const struct socket_changes *changes)
{
	(void)changes;
	return none_changed;
}

bool process_tree_look(struct process_tree *tree)
{
	(void)tree;
	tree_looks++;
	return any_ran;
}

/* ---- what the tests do ------------------------------------------------------------------------------------- */

static int begin(void **state)
{
	if (lone_enter(state) < 0)
		return -1;
	sockets = (struct job_traffic){.has_bound = true};
	spaces = shared = (struct traffic){0};
	has_spaces = any_ran = none_changed = false;
	sockets_error = opened = begun = updates = last_updates = namespace_looks = tree_looks = 0;
	attend_ns = INT64_MAX;
	lone.root.live = true;
	lone.context.tree = &lone.tree;
	lone.context.attend_ns = INT64_MAX;
	return 0;
}

static const struct tree_row *sample(void)
{
	(void)SINGLE_ROW(lone_begin(1), tree);
	(void)lone_fill();
	return FIRST(&lone.frame, tree);
}

static void expect_absent(const struct tree_row *row, int reason)
{
	assert_absent_count(row->net_received_total, reason);
	assert_absent_count(row->net_sent_total, reason);
	assert_absent_count(row->net_received_bound_total, reason);
	assert_absent_count(row->net_sent_bound_total, reason);
	assert_absent_count(row->net_retransmits_total, reason);
	assert_absent_count(row->net_connections_total, reason);
	assert_absent_count(row->process_net_connections, reason);
	assert_int_equal(text_absent(row->process_net_source), reason);
}

/* ---- figures ----------------------------------------------------------------------------------------------- */

static void connections_of_the_job_are_exact(void **state)
{
	const struct tree_row *row;

	(void)state;
	lone_open(&JOB_NETWORK_COLLECTOR);
	sockets = (struct job_traffic){
		.known = {100, 20, 3}, .open_count = 4, .count = 5, .has_bound = true, .unattributed = {0}};
	row = sample();
	assert_string_equal(row->process_net_source, "sockets");
	assert_int_equal(row->net_received_total, 100);
	assert_int_equal(row->net_sent_total, 20);
	assert_int_equal(row->net_received_bound_total, 100);
	assert_int_equal(row->net_sent_bound_total, 20);
	assert_int_equal(row->net_retransmits_total, 3);
	assert_int_equal(row->process_net_connections, 4);
	assert_int_equal(row->net_connections_total, 5);
	/* Connections that ended unseen may have been the job's. */
	sockets.unattributed = (struct traffic_count){7, 8, 9};
	sockets.unattributed_count = 1;
	row = sample();
	assert_string_equal(row->process_net_source, "bound");
	assert_int_equal(row->net_received_total, 100);
	assert_int_equal(row->net_received_bound_total, 107);
	assert_int_equal(row->net_sent_bound_total, 28);
	/* Nor is the bound known if ends were lost. */
	sockets.has_bound = false;
	sockets.unattributed_count = 0;
	row = sample();
	assert_string_equal(row->process_net_source, "bound");
	assert_int_equal(row->net_sent_total, 20);
	assert_absent_count(row->net_received_bound_total, ABSENT_UNSEEN_ENDS);
	assert_absent_count(row->net_sent_bound_total, ABSENT_UNSEEN_ENDS);
}

static void a_namespace_of_its_own_has_all_bytes(void **state)
{
	const struct tree_row *row;

	(void)state;
	lone_open(&JOB_NETWORK_COLLECTOR);
	has_spaces = true;
	spaces = (struct traffic){1000, 200};
	row = sample();
	assert_string_equal(row->process_net_source, "namespace");
	assert_int_equal(row->net_received_total, 1000);
	assert_int_equal(row->net_sent_total, 200);
	assert_int_equal(row->net_received_bound_total, 1000);
	assert_absent_count(row->net_connections_total, ABSENT_NO_ATTRIBUTION);
	assert_absent_count(row->net_retransmits_total, ABSENT_NO_ATTRIBUTION);
	assert_absent_count(row->process_net_connections, ABSENT_NO_ATTRIBUTION);
	/* A part of the job has connections outside. */
	sockets.count = 1, sockets.known = (struct traffic_count){5, 6, 7};
	row = sample();
	assert_string_equal(row->process_net_source, "mixed");
	assert_int_equal(row->net_received_total, 1005);
	assert_int_equal(row->net_sent_total, 206);
	assert_int_equal(row->net_retransmits_total, 7);
	assert_int_equal(row->net_connections_total, 1);
	/* Without a look at sockets, the namespace is what is known. */
	sockets.reason = EPERM;
	row = sample();
	assert_string_equal(row->process_net_source, "namespace");
	assert_int_equal(row->net_received_total, 1000);
	assert_absent_count(row->net_connections_total, ABSENT_NO_ATTRIBUTION);
}

static void bytes_that_others_may_have_had_are_a_bound(void **state)
{
	const struct tree_row *row;

	(void)state;
	lone_open(&JOB_NETWORK_COLLECTOR);
	has_spaces = true;
	spaces = (struct traffic){1000, 200};
	shared = (struct traffic){0, 1};
	row = sample();
	assert_string_equal(row->process_net_source, "bound");
	assert_int_equal(row->net_sent_total, 200);
	assert_int_equal(row->net_sent_bound_total, 201);
	assert_int_equal(row->net_received_bound_total, 1000);
	shared = (struct traffic){1, 0};
	assert_string_equal(sample()->process_net_source, "bound");
}

static void the_reason_for_no_figures_is_told(void **state)
{
	(void)state;
	lone_open(&JOB_NETWORK_COLLECTOR);
	sockets.reason = EPERM;
	expect_absent(sample(), EPERM);
	lone.context.tree = NULL;
	expect_absent(sample(), ABSENT_NOT_COLLECTED);
	/* Without a row, nothing is looked at. */
	lone.context.tree = &lone.tree;
	updates = 0;
	(void)lone_sample(2);
	assert_int_equal(updates, 0);
}

static void nothing_is_looked_at_if_it_is_not_wanted(void **state)
{
	(void)state;
	lone.context.no_process_network = true;
	lone_open(&JOB_NETWORK_COLLECTOR);
	assert_int_equal(opened, 0);
	expect_absent(sample(), ABSENT_NOT_WANTED);
	lone.collector->prepare(lone.state, &lone.context);
	lone.collector->attend(lone.state, &lone.context);
	assert_int_equal(begun + updates + namespace_looks + tree_looks, 0);
	lone.context.no_process_network = false;
	lone.collector->close(lone.state);
	lone.context.facts = NULL;
	lone_open(&JOB_NETWORK_COLLECTOR);
	expect_absent(sample(), ABSENT_NOT_WANTED);
	lone.collector->close(lone.state);
	lone.context.facts = &lone.facts;
	/* A captured machine has no sockets. */
	lone.root.live = false;
	lone_open(&JOB_NETWORK_COLLECTOR);
	assert_int_equal(opened, 0);
	lone.collector->close(lone.state);
	lone.root.live = true;
	lone_open(&JOB_NETWORK_COLLECTOR);
	assert_int_equal(opened, 2);
}

static void each_metric_of_the_network_is_a_wish(void **state)
{
	static const char *const WANTED[] = {"process_net_recv_bytes",
					     "process_net_sent_bytes",
					     "process_net_recv_bound_bytes",
					     "process_net_sent_bound_bytes",
					     "process_net_connections",
					     "process_net_retransmits",
					     "process_net_source"};
	static struct selection selection;
	char other[] = "memory.used_mib", *globs[1] = {other};

	(void)state;
	lone.context.selection = &selection;
	selection_init(&selection, false, false, globs, 1);
	selection.kinds[ROW_run_end] = false;
	lone_open(&JOB_NETWORK_COLLECTOR);
	assert_int_equal(opened, 0);
	for (size_t i = 0; i < sizeof WANTED / sizeof *WANTED; i++) {
		lone.collector->close(lone.state);
		globs[0] = (char *)(uintptr_t)WANTED[i];
		selection_init(&selection, false, false, globs, 1);
		selection.kinds[ROW_run_end] = false;
		opened = 0;
		lone_open(&JOB_NETWORK_COLLECTOR);
		assert_int_equal(opened, 2);
	}
	lone.collector->close(lone.state);
	memset(&selection, 0, sizeof selection);
	selection.kinds[ROW_run_end] = true;
	opened = 0;
	lone_open(&JOB_NETWORK_COLLECTOR);
	assert_int_equal(opened, 2);
}

/* ---- looks between samples --------------------------------------------------------------------------------- */

static void at(double secs)
{
	lone.now_ns = lone.context.progress.started_ns + (int64_t)(secs * 1e9 + 0.5);
	lone.context.attend_ns = INT64_MAX;
	lone.collector->attend(lone.state, &lone.context);
}

/* When it wants to be called again, in ms after the start. */
static double wanted_ms(void)
{
	return (double)(lone.context.attend_ns - lone.context.progress.started_ns) / 1e6;
}

static void begin_looks(void)
{
	lone_open(&JOB_NETWORK_COLLECTOR);
	any_ran = true;
	lone.collector->prepare(lone.state, &lone.context);
	assert_int_equal(begun, 1);
	assert_int_equal(namespace_looks, 1);
	assert_int_equal(tree_looks, 1);
	assert_real(wanted_ms(), 30);
}

static void a_job_that_runs_is_looked_at_often(void **state)
{
	(void)state;
	begin_looks();
	at(0.0299);
	assert_int_equal(updates, 0);
	assert_real(wanted_ms(), 30);
	at(0.03);
	assert_int_equal(updates, 1);
	assert_int_equal(last_updates, 0);
	assert_true(wanted_ms() >= 130);
	/* Notifications may have to be taken sooner. */
	attend_ns = lone.context.progress.started_ns + 50 * NSEC_PER_MSEC;
	at(0.04);
	assert_real(wanted_ms(), 50);
	assert_int_equal(updates, 1);
	lone.context.tree = NULL;
	at(9);
	assert_int_equal(updates, 1);
	assert_true(lone.context.attend_ns == INT64_MAX);
}

/* 100 ms, 200, 400, 800, and then a second. */
static void a_job_that_sleeps_is_looked_at_less_and_less(void **state)
{
	static const double PAUSES[] = {100, 200, 400, 800, 1000, 1000};
	double secs = 0.03;

	(void)state;
	begin_looks();
	any_ran = false;
	for (size_t i = 0; i < sizeof PAUSES / sizeof *PAUSES; i++) {
		at(secs);
		assert_real(wanted_ms(), secs * 1000 + PAUSES[i]);
		secs += PAUSES[i] / 1000;
	}
	/* Nor does one that runs without any socket that comes or goes need more. */
	any_ran = true, none_changed = true;
	at(secs);
	assert_real(wanted_ms(), secs * 1000 + 1000);
	secs += 1;
	none_changed = false;
	at(secs);
	assert_real(wanted_ms(), secs * 1000 + 100);
}

static void without_permission_no_look_is_taken(void **state)
{
	(void)state;
	sockets_error = EPERM;
	lone_open(&JOB_NETWORK_COLLECTOR);
	lone.collector->prepare(lone.state, &lone.context);
	assert_true(lone.context.attend_ns == INT64_MAX);
	at(5);
	assert_int_equal(updates, 0);
}

/* A sample is a look, too. After the end no bytes can come. */
static void a_sample_puts_off_the_next_look(void **state)
{
	(void)state;
	begin_looks();
	lone.context.attend_ns = INT64_MAX;
	(void)sample();
	assert_int_equal(updates, 1);
	assert_int_equal(namespace_looks, 2);
	assert_true(wanted_ms() >= 1100 - 1e-6);
	lone.ending.reason = "exit";
	lone.context.attend_ns = INT64_MAX;
	(void)sample();
	assert_int_equal(last_updates, 1);
	assert_int_equal(namespace_looks, 2);
	assert_true(lone.context.attend_ns == INT64_MAX);
}

#define network_test(test) cmocka_unit_test_setup_teardown(test, begin, lone_leave)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		network_test(connections_of_the_job_are_exact),
		network_test(a_namespace_of_its_own_has_all_bytes),
		network_test(bytes_that_others_may_have_had_are_a_bound),
		network_test(the_reason_for_no_figures_is_told),
		network_test(nothing_is_looked_at_if_it_is_not_wanted),
		network_test(each_metric_of_the_network_is_a_wish),
		network_test(a_job_that_runs_is_looked_at_often),
		network_test(a_job_that_sleeps_is_looked_at_less_and_less),
		network_test(without_permission_no_look_is_taken),
		network_test(a_sample_puts_off_the_next_look),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
