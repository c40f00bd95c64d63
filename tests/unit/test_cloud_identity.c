/* Tests of src/collect/cloud_identity.c: this test stands for resource-tracker-net, which knows the cloud. */
#include "lone_collector.h"

#include <errno.h>
#include <sys/socket.h>

#include "launch/detached.h"

extern const struct collector CLOUD_COLLECTOR;

enum { NET_PID = 4711 };

static int start_error, other_end, reaped;
static char words[200];

int detached_start(const struct detached *detached, int *ret_socket, pid_t *ret_pid)
{
	int ends[2];

	words[0] = '\0';
	for (const char *const *word = detached->argv; *word; word++)
		snprintf(words + strlen(words), sizeof words - strlen(words), "%s ", *word);
	if (start_error)
		return start_error;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	*ret_socket = ends[0];
	other_end = ends[1];
	*ret_pid = NET_PID;
	return 0;
}

void detached_reap(pid_t pid)
{
	assert_int_equal(pid, NET_PID);
	reaped++;
}

static int begin(void **state)
{
	start_error = reaped = 0;
	other_end = -1;
	if (lone_enter(state) < 0)
		return -1;
	lone.context.cloud = true;
	lone.context.tree = &lone.tree;
	return 0;
}

static int end(void **state)
{
	if (other_end >= 0)
		close(other_end);
	return lone_leave(state);
}

static const struct cloud_row *sample(void)
{
	lone.context.helper_count = 0;
	return FIRST(lone_sample(1), cloud);
}

static void answer(const char *text)
{
	assert_int_equal(send(other_end, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

static void the_answer_is_in_the_first_sample_after_it(void **state)
{
	const struct cloud_row *row;
	char byte;

	(void)state;
	lone_open(&CLOUD_COLLECTOR);
	assert_string_equal(words, "resource-tracker-net discover cloud --lines --when-told --root . ");
	assert_int_equal(lone.context.helper_count, 1);
	assert_true(process_tree_excludes(&lone.tree, NET_PID));
	assert_int_equal(recv(other_end, &byte, 1, MSG_DONTWAIT), -1);
	lone.collector->prepare(lone.state, &lone.context);
	assert_int_equal(recv(other_end, &byte, 1, MSG_DONTWAIT), 1);
	assert_null(sample());
	assert_int_equal(lone.context.helper_count, 1);
	answer("cloud_vendor_id=aws\ncloud_region_id=eu-1\ncloud_zone_id=eu=1a\nother=x\nno sign\n");
	assert_null(sample());
	answer("cloud_instance_type=c5\nen");
	assert_null(sample());
	answer("d\n");
	lone.context.progress.baseline = true;
	assert_null(sample());
	lone.context.progress.baseline = false;
	row = sample();
	assert_string_equal(row->vendor_id, "aws");
	assert_string_equal(row->region_id, "eu-1");
	assert_string_equal(row->zone_id, "eu=1a");
	assert_string_equal(row->instance_type, "c5");
	assert_int_equal(text_absent(row->account_id), ENOENT);
	/* It is told once. */
	assert_null(sample());
	assert_int_equal(reaped, 0);
	close(other_end);
	other_end = -1;
	assert_null(sample());
	assert_int_equal(reaped, 1);
	assert_int_equal(lone.context.helper_count, 0);
	lone.collector->prepare(lone.state, &lone.context);
}

static void a_program_that_ends_has_still_answered(void **state)
{
	(void)state;
	lone.context.tree = NULL;
	lone.context.root_dir = NULL;
	lone_open(&CLOUD_COLLECTOR);
	assert_string_equal(words, "resource-tracker-net discover cloud --lines --when-told ");
	answer("cloud_account_id=7\nend\n");
	close(other_end);
	other_end = -1;
	assert_string_equal(sample()->account_id, "7");
	assert_int_equal(reaped, 1);
}

static void half_an_answer_is_not_used(void **state)
{
	(void)state;
	lone_open(&CLOUD_COLLECTOR);
	answer("cloud_account_id=7\n");
	close(other_end);
	other_end = -1;
	assert_null(sample());
	assert_null(sample());
	assert_int_equal(reaped, 1);
	assert_int_equal(lone.frame.missing[ROW_cloud], 0);
}

static void a_program_that_does_not_start_is_told(void **state)
{
	(void)state;
	start_error = -ENOENT;
	lone_open(&CLOUD_COLLECTOR);
	assert_non_null(strstr(lone.context.warning, "cannot be started: No such file"));
	assert_int_equal(lone.context.helper_count, 0);
	lone.collector->prepare(lone.state, &lone.context);
	assert_null(sample());
	assert_int_equal(reaped, 0);
}

static void without_a_wish_nothing_is_asked(void **state)
{
	(void)state;
	lone.context.cloud = false;
	lone_open(&CLOUD_COLLECTOR);
	assert_null(lone.state);
	lone.collector->prepare(lone.state, &lone.context);
	assert_null(sample());
	assert_int_equal(lone.frame.missing[ROW_cloud], ABSENT_NOT_GIVEN);
}

#define cloud_test(test) cmocka_unit_test_setup_teardown(test, begin, end)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cloud_test(the_answer_is_in_the_first_sample_after_it),
		cloud_test(a_program_that_ends_has_still_answered),
		cloud_test(half_an_answer_is_not_used),
		cloud_test(a_program_that_does_not_start_is_told),
		cloud_test(without_a_wish_nothing_is_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
