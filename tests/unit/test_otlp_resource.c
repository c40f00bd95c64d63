/* Tests of src/format/otlp_resource.c: the attributes of a run, from its first sample and from text. */
#include "unit.h"
#include "guarded.h"

#include <errno.h>

#include "base/cleanup.h"
#include "format/otlp_resource.h"
#include "metric/typed_rows.h"

static struct otlp_resource resource;
static struct frame frame;

static int begin(void **state)
{
	(void)state;
	resource = OTLP_RESOURCE;
	frame_begin(&frame, 0, 0);
	return 0;
}

static int end(void **state)
{
	(void)state;
	otlp_resource_done(&resource);
	frame_done(&frame);
	frame = (struct frame){0};
	return 0;
}

static void assert_attributes(const char *wanted)
{
	CLEANUP_BUFFER struct buffer text = BUFFER(1 << 16);

	otlp_resource_format(&resource, &text);
	assert_string_equal(text.data ? text.data : "", wanted);
}

static void a_set_attribute_takes_the_place_of_an_old_one(void **state)
{
	static char longest[9000], key[300];

	(void)state;
	otlp_resource_set(&resource, "a", "1");
	otlp_resource_set(&resource, "bc", "22");
	otlp_resource_set(&resource, "c", "3");
	otlp_resource_set(&resource, "bc", "four");
	assert_attributes("a=1,c=3,bc=four");
	otlp_resource_set(&resource, "a", "5");
	assert_attributes("c=3,bc=four,a=5");
	otlp_resource_set(&resource, "a", "");
	otlp_resource_set(&resource, "c", NULL);
	otlp_resource_set(&resource, "c", no_text(ABSENT_NOT_COLLECTED));
	otlp_resource_set(&resource, "", "x");
	assert_attributes("c=3,bc=four,a=5");
	assert_null(otlp_resource_get(&resource, "b"));
	assert_null(otlp_resource_get(&resource, "3"));
	assert_string_equal(otlp_resource_get(&resource, "bc"), "four");
	/* 255 bytes of a key, and 8 KiB of a value. */
	memset(longest, 'x', sizeof longest - 1);
	memset(key, 'k', sizeof key - 1);
	otlp_resource_set(&resource, key, longest);
	key[255] = '\0';
	assert_int_equal(strlen(otlp_resource_get(&resource, key)), 8192);
	longest[8192] = '\0';
	otlp_resource_set(&resource, "a", longest);
	assert_int_equal(strlen(otlp_resource_get(&resource, "a")), 8192);
}

static void a_sample_alone_has_a_name(void **state)
{
	(void)state;
	otlp_resource_of_run(&resource, &frame, "file-1");
	assert_attributes("service.name=resource-tracker,service.instance.id=file-1,os.type=linux");
}

/* In the order in which receivers show them. */
static void the_first_sample_tells_of_job_and_machine(void **state)
{
	struct run_start_row *start = SINGLE_ROW(&frame, run_start);
	struct cloud_row *cloud = SINGLE_ROW(&frame, cloud);

	(void)state;
	frame.sample->host = "node-1";
	frame.sample->tracked_pid = 42;
	frame.sample->rank = 0;
	start->executable = "python3";
	otlp_resource_of_run(&resource, &frame, "file-1");
	assert_attributes("service.instance.id=file-1,service.name=python3,host.name=node-1,os.type=linux,"
			  "process.pid=42,mpi.rank=0,process.executable.name=python3");
	frame.sample->job_name = "train";
	start->project_name = "project";
	start->run_id = "id";
	start->architecture = "x86_64";
	start->os = "Debian";
	start->env = "prod";
	start->container_image = "image";
	start->stage_name = "stage";
	start->task_name = "task";
	start->team = "team";
	start->external_run_id = "external";
	start->input_source = "option";
	start->input_bytes = 5;
	cloud->vendor_id = "aws";
	cloud->account_id = "account";
	cloud->region_id = "region";
	cloud->zone_id = "zone";
	cloud->instance_type = "type";
	otlp_resource_done(&resource);
	resource = OTLP_RESOURCE;
	otlp_resource_of_run(&resource, &frame, "file-1");
	assert_attributes(
		"service.name=train,host.name=node-1,os.type=linux,process.pid=42,mpi.rank=0,"
		"service.namespace=project,service.instance.id=id,host.arch=amd64,"
		"os.description=Debian,process.executable.name=python3,"
		"deployment.environment.name=prod,container.image.name=image,"
		"resource_tracker.stage=stage,resource_tracker.task=task,resource_tracker.team=team,"
		"resource_tracker.external_run.id=external,"
		"resource_tracker.run.input_source=option,resource_tracker.run.input_bytes=5,"
		"cloud.provider=aws,cloud.account.id=account,cloud.region=region,"
		"cloud.availability_zone=zone,host.type=type");
}

static void architectures_have_the_names_of_the_conventions(void **state)
{
	static const char *const NAMES[][2] = {
		{"x86_64", "amd64"}, {"aarch64", "arm64"}, {"riscv64", "riscv64"}, {"x86_6", "x86_6"}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(NAMES); i++) {
		SINGLE_ROW(&frame, run_start)->architecture = NAMES[i][0];
		otlp_resource_of_run(&resource, &frame, "f");
		assert_string_equal(otlp_resource_get(&resource, "host.arch"), NAMES[i][1]);
	}
}

static void add_scheduler_id(const char *name, const char *value)
{
	struct run_start_scheduler_row *row = ADD_ROW(&frame, run_start_scheduler, NULL);

	if (name)
		row->name = name;
	row->value = value;
}

static void variables_of_ci_have_the_names_of_the_conventions(void **state)
{
	static char longest[300];

	(void)state;
	add_scheduler_id(NULL, "nameless");
	add_scheduler_id("GITHUB_WORKFLOW", "w");
	add_scheduler_id("GITHUB_RUN_ID", "1");
	add_scheduler_id("GITHUB_JOB", "j");
	add_scheduler_id("GITHUB_SHA", "s");
	add_scheduler_id("Own9_Id", "o");
	otlp_resource_of_run(&resource, &frame, "f");
	assert_attributes(
		"service.name=resource-tracker,service.instance.id=f,os.type=linux,github.workflow=w,"
		"cicd.pipeline.name=w,github.run.id=1,cicd.pipeline.run.id=1,github.job=j,"
		"cicd.pipeline.task.name=j,github.sha=s,vcs.ref.head.revision=s,own9.id=o");
	/* GitLab's come later. */
	add_scheduler_id("CI_PIPELINE_ID", "2");
	add_scheduler_id("CI_JOB_NAME", "g");
	add_scheduler_id("CI_COMMIT_SHA", "c");
	memset(longest, 'K', sizeof longest - 1);
	add_scheduler_id(longest, "cut");
	otlp_resource_of_run(&resource, &frame, "f");
	assert_string_equal(otlp_resource_get(&resource, "cicd.pipeline.run.id"), "2");
	assert_string_equal(otlp_resource_get(&resource, "cicd.pipeline.task.name"), "g");
	assert_string_equal(otlp_resource_get(&resource, "vcs.ref.head.revision"), "c");
	memset(longest, 'k', 255);
	longest[255] = '\0';
	assert_string_equal(otlp_resource_get(&resource, longest), "cut");
}

static void add_tag(const char *name, const char *value)
{
	struct run_start_tag_row *tag = ADD_ROW(&frame, run_start_tag, NULL);

	if (name)
		tag->name = name;
	if (value)
		tag->value = value;
}

static void tags_have_their_own_names(void **state)
{
	(void)state;
	add_tag("model", "a");
	add_tag("os.type", "other");
	add_tag(NULL, "nameless");
	add_tag("empty", NULL);
	add_tag("model", "b");
	otlp_resource_of_run(&resource, &frame, "f");
	assert_attributes("service.name=resource-tracker,service.instance.id=f,os.type=linux,model=a");
}

static int parse(const char *text)
{
	return otlp_resource_parse(&resource, text, strlen(text));
}

static void a_text_has_pairs_between_commas(void **state)
{
	static char text[10000];

	(void)state;
	assert_int_equal(parse(""), 0);
	assert_int_equal(parse(" , ,"), 0);
	assert_int_equal(parse("a=1,b = 2=3 , c="), 0);
	assert_attributes("a=1,b=2%3D3");
	assert_int_equal(parse("bad,d=4"), -EBADMSG);
	assert_int_equal(parse("d=5,bad"), -EBADMSG);
	assert_attributes("a=1,b=2%3D3,d=5");
	/* Bytes that stay as they are, and others. */
	assert_int_equal(parse("a=._-/:Zz9,b=%20%7e%2c,d=%C3%a9"), 0);
	assert_attributes("a=._-/:Zz9,b=%20%7E%2C,d=%C3%A9");
	/* A key of 255 bytes and a value of 8 KiB. */
	memset(text, 'k', 256);
	strcpy(text + 255, "=1");
	assert_int_equal(parse(text), 0);
	text[255] = '\0';
	assert_string_equal(otlp_resource_get(&resource, text), "1");
	memset(text, 'k', 256);
	strcpy(text + 256, "=1");
	assert_int_equal(parse(text), -EBADMSG);
	memset(text, 'v', sizeof text);
	memcpy(text, "v=", 2);
	text[2 + 8192] = '\0';
	assert_int_equal(parse(text), 0);
	text[2 + 8192] = 'v';
	text[2 + 8193] = '\0';
	assert_int_equal(parse(text), -EBADMSG);
	/* A NUL would end the value. */
	assert_int_equal(otlp_resource_parse(&resource, "n=a\0b", 5), -EBADMSG);
	assert_int_equal(otlp_resource_parse(&resource, "n\0m=a", 5), -EBADMSG);
	assert_null(otlp_resource_get(&resource, "n"));
}

static void some_attributes_are_numbers(void **state)
{
	static const char EXPECTED[] = "\x0a\x59"
				       "\x0a\x11\x0a\x0bprocess.pid\x12\x02\x18\x2a"
				       "\x0a\x0f\x0a\x08mpi.rank\x12\x03\x0a\x01x"
				       "\x0a\x27\x0a\x20resource_tracker.run.input_bytes\x12\x03\x18\x80\x01"
				       "\x0a\x0a\x0a\x03own\x12\x03\x0a\x01\x37";
	CLEANUP_BUFFER struct buffer out = BUFFER(1000);

	(void)state;
	otlp_resource_set(&resource, "process.pid", "42");
	otlp_resource_set(&resource, "mpi.rank", "x");
	otlp_resource_set(&resource, "resource_tracker.run.input_bytes", "128");
	otlp_resource_set(&resource, "own", "7");
	otlp_resource_encode(&resource, &out, 1);
	assert_int_equal(out.length, sizeof EXPECTED - 1);
	assert_memory_equal(out.data, EXPECTED, out.length);
	otlp_resource_set(&resource, "mpi.rank", "3x");
	buffer_clear(&out);
	otlp_resource_encode(&resource, &out, 1);
	assert_non_null(memmem(out.data, out.length, "\x0a\x02\x33x", 4));
}

static void pairs_stay_in_their_text(void **state)
{
	static const char TEXT[] = " a = %41%5a , b=c,%6B=%7e";
	char *end = guarded_begin();

	(void)state;
	for (size_t length = 0; length < sizeof TEXT; length++) {
		int r = otlp_resource_parse(&resource, guarded_text(end, TEXT, length), length);

		assert_true(r == 0 || r == -EBADMSG);
	}
	guarded_end(end);
	assert_attributes("a=AZ,b=c,k=%7E");
}

#define RESOURCE_TEST(test) cmocka_unit_test_setup_teardown(test, begin, end)

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		RESOURCE_TEST(a_set_attribute_takes_the_place_of_an_old_one),
		RESOURCE_TEST(a_sample_alone_has_a_name),
		RESOURCE_TEST(the_first_sample_tells_of_job_and_machine),
		RESOURCE_TEST(architectures_have_the_names_of_the_conventions),
		RESOURCE_TEST(variables_of_ci_have_the_names_of_the_conventions),
		RESOURCE_TEST(tags_have_their_own_names),
		RESOURCE_TEST(a_text_has_pairs_between_commas),
		RESOURCE_TEST(some_attributes_are_numbers),
		RESOURCE_TEST(pairs_stay_in_their_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
