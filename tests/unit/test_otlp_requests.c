/* Tests of src/format/otlp_encode.c: every field of the requests, by the numbers of opentelemetry/proto 1. */
#include "unit.h"

#include <stdio.h>

#include "base/cleanup.h"
#include "format/otlp_encode.h"
#include "format/otlp_wire.h"
#include "metric/typed_rows.h"

/* The messages of both requests: that of metrics and that of logs. Other fields of bytes are texts. */
static const char *const MESSAGES[] = {
	"m.1",         "m.1.2",         "m.1.2.2",       "m.1.2.2.5",       "m.1.2.2.7",       "m.1.2.2.5.1",
	"m.1.2.2.7.1", "m.1.2.2.5.1.7", "m.1.2.2.7.1.7", "m.1.2.2.5.1.7.2", "m.1.2.2.7.1.7.2", "l.1",
	"l.1.2",       "l.1.2.2",       "l.1.2.2.5",     "l.1.2.2.6",       "l.1.2.2.6.2",
};

/* A metric, a point and an attribute of a log begin a line. */
static const char *const LINES[] = {"m.1.2.2", "m.1.2.2.5.1", "m.1.2.2.7.1", "l.1.2.2.6"};

static bool is_one_of(const char *place, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(place, list[i]) == 0)
			return true;
	return false;
}

/* Appends " PLACE=VALUE" for each field, without those of the resource and of the program's name and version. */
static void show_fields(struct buffer *out, struct scan message, const char *above)
{
	struct otlp_field field;
	char place[40];
	double real;

	while (otlp_next_field(&message, &field) == 1) {
		snprintf(place, sizeof place, "%s.%u", above, field.number);
		if (strcmp(place + 1, ".1.1") == 0 || strcmp(place + 1, ".1.2.1") == 0)
			continue;
		if (is_one_of(place, LINES, ARRAY_SIZE(LINES)))
			buffer_add_char(out, '\n');
		if (field.wire == WIRE_BYTES && is_one_of(place, MESSAGES, ARRAY_SIZE(MESSAGES))) {
			show_fields(out, field.bytes, place);
			continue;
		}
		buffer_printf(out, " %s=", place + strlen("m.1.2.2."));
		memcpy(&real, &field.value, sizeof real);
		if (field.wire == WIRE_BYTES)
			buffer_add(out, field.bytes.at, scan_left(&field.bytes));
		else if (field.wire == WIRE_FIXED64 && field.number == 4)
			buffer_printf(out, "%g", real);
		else
			buffer_add_u64(out, field.value);
	}
}

static void assert_shown(const struct buffer *request, const char *kind, const char *wanted)
{
	CLEANUP_BUFFER struct buffer text = BUFFER(1 << 16);

	show_fields(&text, scan_bytes(request->data, request->length), kind);
	assert_string_equal(text.data, wanted);
}

static struct frame frame;
static struct otlp_run run;
static struct otlp_batch *batch;
static struct otlp_resource resource;

static int begin_run(void **state)
{
	(void)state;
	batch = calloc(1, sizeof *batch);
	resource = OTLP_RESOURCE;
	return batch ? 0 : -1;
}

static int end_run(void **state)
{
	(void)state;
	free(batch);
	otlp_resource_done(&resource);
	frame_done(&frame);
	frame = (struct frame){0};
	return 0;
}

static void begin_second(double elapsed)
{
	frame_begin(&frame, 0, 0);
	frame.sample->timestamp = 1000 + elapsed;
	frame.sample->elapsed_secs = elapsed;
	SINGLE_ROW(&frame, tree)->process_utime_secs = 0.5;
}

static void points_have_times_values_and_attributes(void **state)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(1 << 16);
	struct program_row *program;

	(void)state;
	otlp_encode_metrics(&out, &resource, batch);
	assert_int_equal(out.length, 0);
	for (int i = 1; i <= 2; i++) {
		begin_second(i);
		if (i == 1) {
			SINGLE_ROW(&frame, tree)->process_memory_mib = 2;
			otlp_run_begin(&run, &frame, 0, OTLP_WITH_PROGRAMS);
		}
		program = ADD_ROW(&frame, program, NULL);
		program->name = "cc1";
		program->cpu_secs = 0.25;
		if (i == 2) {
			SINGLE_ROW(&frame, run_end)->reason = "exit";
			SINGLE_ROW(&frame, run_end)->exit_code = 3;
		}
		otlp_run_feed(&run, &frame, batch);
	}
	otlp_run_end(&run, batch);
	otlp_encode_metrics(&out, &resource, batch);
	/* Counters begin with 0, a value that became unknown has a mark (field 8), and so has the end of each series. */
	assert_shown(
		&out, "m",
		"\n"
		" 1=process.cpu.time 3=s\n"
		" 7.1.2=1000000000000 7.1.3=1000000000000 7.1.4=0 7.1.7.1=cpu.mode 7.1.7.2.1=user\n"
		" 7.1.2=1000000000000 7.1.3=1001000000000 7.1.4=0.5 7.1.7.1=cpu.mode 7.1.7.2.1=user\n"
		" 7.1.2=1000000000000 7.1.3=1002000000000 7.1.4=1 7.1.7.1=cpu.mode 7.1.7.2.1=user\n"
		" 7.1.2=1000000000000 7.1.3=1002001000000 7.1.8=1 7.1.7.1=cpu.mode 7.1.7.2.1=user 7.2=2 "
		"7.3=1\n"
		" 1=process.memory.usage 3=By\n"
		" 7.1.2=1000000000000 7.1.3=1001000000000 7.1.4=2.09715e+06\n"
		" 7.1.2=1000000000000 7.1.3=1002000000000 7.1.8=1 7.2=2\n"
		" 1=resource_tracker.run.memory.peak 3=By\n"
		" 5.1.3=1001000000000 5.1.4=2.09715e+06\n"
		" 5.1.3=1002000000000 5.1.4=2.09715e+06\n"
		" 5.1.3=1002001000000 5.1.8=1\n"
		" 1=resource_tracker.run.exit_code\n"
		" 5.1.3=1002000000000 5.1.4=3\n"
		" 5.1.3=1002001000000 5.1.8=1\n"
		" 1=resource_tracker.run.ended\n"
		" 5.1.3=1002000000000 5.1.4=1 5.1.7.1=reason 5.1.7.2.1=exit\n"
		" 5.1.3=1002001000000 5.1.8=1 5.1.7.1=reason 5.1.7.2.1=exit\n"
		" 1=resource_tracker.program.cpu.time 3=s\n"
		" 7.1.2=1000000000000 7.1.3=1000000000000 7.1.4=0 7.1.7.1=program 7.1.7.2.1=cc1\n"
		" 7.1.2=1000000000000 7.1.3=1001000000000 7.1.4=0.25 7.1.7.1=program 7.1.7.2.1=cc1\n"
		" 7.1.2=1000000000000 7.1.3=1002000000000 7.1.4=0.5 7.1.7.1=program 7.1.7.2.1=cc1\n"
		" 7.1.2=1000000000000 7.1.3=1002001000000 7.1.8=1 7.1.7.1=program 7.1.7.2.1=cc1 7.2=2 7.3=1");
	assert_int_equal(otlp_count_points(out.data, out.length), 17);
	/* A request may hold two runs. */
	otlp_encode_metrics(&out, &resource, batch);
	assert_int_equal(otlp_count_points(out.data, out.length), 34);
}

static void add_failure(const char *certainty)
{
	struct run_end_row *end = SINGLE_ROW(&frame, run_end);
	struct first_failure_row *first = SINGLE_ROW(&frame, first_failure);

	end->reason = "signal";
	end->signal = 9;
	end->wall_secs = 1.5;
	first->program = "cc1";
	first->parents = "sh > make";
	if (certainty)
		first->certainty = certainty;
}

static void encode_end(struct buffer *out, const struct frame *last)
{
	run = (struct otlp_run){.last_ns = 77};
	buffer_clear(out);
	otlp_encode_end(out, &resource, &run, last, scan_bytes("", 0));
}

static void the_end_is_a_record_with_a_trace(void **state)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(1 << 16);

	(void)state;
	otlp_resource_set(&resource, "service.name", "train");
	otlp_resource_set(&resource, "traceparent",
			  "00-6162636465666768696a6b6c6d6e6f70-7172737475767778-01");
	begin_second(1);
	add_failure("sure");
	encode_end(&out, &frame);
	assert_shown(&out, "l",
		     " 1=77 2=17 3=ERROR 5.1=train: signal, signal 9, cc1 failed first\n"
		     " 6.1=resource_tracker.run.reason 6.2.1=signal\n"
		     " 6.1=resource_tracker.run.signal 6.2.3=9\n"
		     " 6.1=resource_tracker.run.wall_secs 6.2.4=1.5\n"
		     " 6.1=resource_tracker.run.first_failure.program 6.2.1=cc1\n"
		     " 6.1=resource_tracker.run.first_failure.parents 6.2.1=sh > make\n"
		     " 6.1=resource_tracker.run.first_failure.certainty 6.2.1=sure 9=abcdefghijklmnop "
		     "10=qrstuvwx 11=77 12=job.run.end");
}

static void a_damaged_trace_is_left_out(void **state)
{
	static const char *const DAMAGED[] = {
		"",
		"00-6162636465666768696a6b6c6d6e6f70-717273747576777",
		"00-6162636465666768696a6b6c6d6e6f70_7172737475767778-01",
		"00-6162636465666768696a6b6c6d6e6f7x-7172737475767778-01",
		"00-6162636465666768696a6b6c6d6e6f70-717273747576777 -01",
		"00-x162636465666768696a6b6c6d6e6f70-7172737475767778-01",
		"00- 162636465666768696a6b6c6d6e6f70-7172737475767778-01",
	};
	CLEANUP_BUFFER struct buffer out = BUFFER(1 << 16);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(DAMAGED); i++) {
		otlp_resource_set(&resource, "traceparent", DAMAGED[i]);
		encode_end(&out, NULL);
		assert_shown(&out, "l",
			     " 1=77 2=13 3=WARN 5.1=the run: the recording stops without an end 11=77 "
			     "12=job.run.end");
	}
}

/* Returns the severity and the words of an end. */
static const char *words_of_end(void)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(1 << 16), text = BUFFER(1 << 16);
	static char words[200];
	const char *end;

	encode_end(&out, &frame);
	show_fields(&text, scan_bytes(out.data, out.length), "l");
	end = strchr(text.data, '\n');
	snprintf(words, sizeof words, "%.*s", (int)(end ? end - text.data : 0), text.data);
	return words;
}

static void the_words_say_how_the_run_ended(void **state)
{
	struct run_end_row *end;

	(void)state;
	begin_second(1);
	end = SINGLE_ROW(&frame, run_end);
	end->exit_code = 0;
	assert_string_equal(words_of_end(), " 1=77 2=9 3=INFO 5.1=the run: ended, exit status 0");
	end->exit_code = 1;
	assert_string_equal(words_of_end(), " 1=77 2=17 3=ERROR 5.1=the run: ended, exit status 1");
	begin_second(1);
	add_failure("likely");
	assert_string_equal(words_of_end(),
			    " 1=77 2=17 3=ERROR 5.1=the run: signal, signal 9, cc1 failed first (probably)");
	begin_second(1);
	add_failure(NULL);
	assert_string_equal(words_of_end(),
			    " 1=77 2=17 3=ERROR 5.1=the run: signal, signal 9, cc1 failed first (probably)");
	/* The job itself has failed. */
	begin_second(1);
	add_failure("sure");
	SINGLE_ROW(&frame, first_failure)->parents = no_text(ABSENT_NOT_A_VALUE);
	assert_string_equal(words_of_end(), " 1=77 2=17 3=ERROR 5.1=the run: signal, signal 9");
}

/* Returns the attributes of an end, without "resource_tracker.run." before each. */
static const char *figures_of_end(const char *line)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(1 << 16), text = BUFFER(1 << 16);
	static char figures[400];
	char *at;
	size_t used = 0;

	otlp_encode_end(&out, &resource, &run, &frame, scan_bytes(line, strlen(line)));
	show_fields(&text, scan_bytes(out.data, out.length), "l");
	*figures = '\0';
	for (at = text.data; (at = strstr(at, "resource_tracker.run."));
	     at += strlen("resource_tracker.run."))
		used += (size_t)snprintf(figures + used, sizeof figures - used, "%.*s;",
					 (int)strcspn(at + strlen("resource_tracker.run."), "\n"),
					 at + strlen("resource_tracker.run."));
	at = strstr(figures, " 11=");
	if (at)
		*at = '\0';
	return figures;
}

/* Each has the type of its figure, and the end's own facts come first. */
static void figures_of_the_line_follow_the_end(void **state)
{
	(void)state;
	begin_second(1);
	SINGLE_ROW(&frame, run_end)->exit_code = 3;
	assert_string_equal(
		figures_of_end("{\"schema\":1,\"cpu_secs\":2.5,\"samples\":7,\"end\":\"a\\u0062\"}"),
		"exit_code 6.2.3=3;cpu_secs 6.2.4=2.5;samples 6.2.3=7;end 6.2.1=ab");
	assert_string_equal(figures_of_end("{\"exit_code\":4,\"signal\":9,\"none\":1}"),
			    "exit_code 6.2.3=3;signal 6.2.3=9");
	/* Values of another type, and a damaged line, say nothing. */
	assert_string_equal(figures_of_end("{\"cpu_secs\":\"2\",\"end\":3,\"samples\":null,\"oom\":true}"),
			    "exit_code 6.2.3=3");
	assert_string_equal(figures_of_end("{\"cpu_secs\":2,\"samples\"7}"),
			    "exit_code 6.2.3=3;cpu_secs 6.2.4=2");
	assert_string_equal(figures_of_end("[\"cpu_secs\":2}"), "exit_code 6.2.3=3");
	assert_string_equal(figures_of_end("{cpu_secs:2}"), "exit_code 6.2.3=3");
	assert_string_equal(figures_of_end("{\"end\":\"\"}"), "exit_code 6.2.3=3;end 6.2.1=");
	/* A line of another run. */
	assert_string_equal(figures_of_end("{\"id\":\"x\",\"cpu_secs\":2}"), "exit_code 6.2.3=3");
	assert_string_equal(figures_of_end("{\"id\":\"\",\"cpu_secs\":2}"),
			    "exit_code 6.2.3=3;cpu_secs 6.2.4=2");
	otlp_resource_set(&resource, "service.instance.id", "x");
	assert_string_equal(figures_of_end("{\"id\":\"x\",\"cpu_secs\":2}"),
			    "exit_code 6.2.3=3;cpu_secs 6.2.4=2");
	assert_string_equal(figures_of_end("{\"cpu_secs\":2,\"id\":\"y\",\"samples\":7}"),
			    "exit_code 6.2.3=3;cpu_secs 6.2.4=2");
}

/* The flags at its end are not needed. */
static void a_trace_ends_with_its_span(void **state)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(1 << 16);

	(void)state;
	otlp_resource_set(&resource, "traceparent", "00-6162636465666768696a6b6c6d6e6f70-7172737475767778");
	encode_end(&out, NULL);
	assert_shown(&out, "l",
		     " 1=77 2=13 3=WARN 5.1=the run: the recording stops without an end 9=abcdefghijklmnop "
		     "10=qrstuvwx 11=77 12=job.run.end");
}

/* Each names the program that has made it, with its version. */
static void requests_name_the_recorder(void **state)
{
	CLEANUP_BUFFER struct buffer scope = BUFFER(1000), out = BUFFER(1 << 16);

	(void)state;
	buffer_printf(&scope, "\x0a%c\x0a\x10resource-tracker\x12%c" RT_VERSION,
		      (int)(2 + 16 + 2 + sizeof RT_VERSION - 1), (int)sizeof RT_VERSION - 1);
	encode_end(&out, NULL);
	assert_non_null(memmem(out.data, out.length, scope.data, scope.length));
	buffer_clear(&out);
	batch->is_end = true;
	otlp_encode_metrics(&out, &resource, batch);
	assert_non_null(memmem(out.data, out.length, scope.data, scope.length));
}

/* A batch without points has the marks of an end. */
static void a_batch_without_samples_is_nothing_or_an_end(void **state)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(1 << 16);

	(void)state;
	batch->stale_ns = 5;
	batch->start_ns = 3;
	otlp_set_put(&batch->stale, 0, true);
	otlp_encode_metrics(&out, &resource, batch);
	assert_int_equal(out.length, 0);
	batch->is_end = true;
	otlp_encode_metrics(&out, &resource, batch);
	assert_shown(
		&out, "m",
		"\n 1=process.cpu.time 3=s\n 7.1.2=3 7.1.3=5 7.1.8=1 7.1.7.1=cpu.mode 7.1.7.2.1=user 7.2=2 "
		"7.3=1");
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(points_have_times_values_and_attributes, begin_run, end_run),
		cmocka_unit_test_setup_teardown(the_end_is_a_record_with_a_trace, begin_run, end_run),
		cmocka_unit_test_setup_teardown(a_damaged_trace_is_left_out, begin_run, end_run),
		cmocka_unit_test_setup_teardown(the_words_say_how_the_run_ended, begin_run, end_run),
		cmocka_unit_test_setup_teardown(figures_of_the_line_follow_the_end, begin_run, end_run),
		cmocka_unit_test_setup_teardown(a_trace_ends_with_its_span, begin_run, end_run),
		cmocka_unit_test_setup_teardown(requests_name_the_recorder, begin_run, end_run),
		cmocka_unit_test_setup_teardown(a_batch_without_samples_is_nothing_or_an_end, begin_run,
						end_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
