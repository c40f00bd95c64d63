/* Lines of runs in one file give what each of them gives alone, in whatever order their keys come. */
#include "unit.h"

#include <stdio.h>
#include <unistd.h>

#include "record/run_lines.h"

enum { LINES = 2000, LINE_BYTES = 8192, OTHER_KEYS = 900 };

static const char *const KEYS[] = {
	"id",       "name",        "task", "host",       "wall_secs", "memory_peak_mib",
	"cpu_secs", "cores_asked", "tags", "n\\u0061me", "outcome"};

static uint32_t random_below(uint32_t *state, uint32_t bound)
{
	*state = *state * 1103515245 + 12345;
	return (*state >> 16) % bound;
}

/* More names than there are places for, some of them too long for one. */
static size_t add_random_member(char *line, size_t length, uint32_t *state)
{
	static const char *const BLANKS[] = {"", "", "", " ", "  "};
	const char *before = BLANKS[random_below(state, 5)], *after = BLANKS[random_below(state, 5)];
	uint32_t which = random_below(state, 3) ? random_below(state, sizeof(KEYS) / sizeof(*KEYS))
						: random_below(state, OTHER_KEYS) + 100;
	char other[80];

	snprintf(other, sizeof(other), "other_%u_%.*s", which, which % 60 == 0 ? 50 : 0,
		 "of a name with fifty bytes and more, for which no place has room");
	return length + (size_t)snprintf(line + length, LINE_BYTES - length, ",%s\"%s\"%s:%s%u", before,
					 which < 100 ? KEYS[which] : other, after, after,
					 random_below(state, 1000));
}

struct random_lines {
	uint32_t state, same;
};

/* Most lines have the keys of the one before. */
static size_t make_random_line(char *line, struct random_lines *random)
{
	uint32_t *state = &random->state;
	uint32_t order = random_below(state, 4) ? random->same : (random->same = *state);
	size_t length = (size_t)snprintf(line, LINE_BYTES, "{\"schema\":1,\"outcome\":\"ok\"");

	for (uint32_t members = random_below(&order, 60); members; members--)
		length = add_random_member(line, length, &order);
	/* The last value of a key counts: an outcome that is a number is none. */
	return length + (size_t)snprintf(line + length, LINE_BYTES - length,
					 ",\"wall_secs\":%u,\"outcome\":\"ok\"}", random_below(state, 100));
}

static void assert_same_values(const struct run_lines *one, const struct run_lines *other)
{
	for (size_t key = 0; key < RUN_KEY_COUNT; key++) {
		const struct run_value *a = &one->values[key], *b = &other->values[key];

		assert_int_equal(a->kind, b->kind);
		assert_int_equal(scan_left(&a->raw), scan_left(&b->raw));
		assert_memory_equal(a->raw.at ? a->raw.at : "", b->raw.at ? b->raw.at : "",
				    scan_left(&a->raw));
	}
}

static void lines_of_a_file_are_read_as_each_alone(void **state)
{
	char path[] = "/tmp/rt-run-lines.XXXXXX";
	FILE *file = fdopen(mkstemp(path), "w");
	struct run_lines *lines = NULL, *alone = malloc(sizeof(*alone));
	struct random_lines random = {7, 7};
	char line[LINE_BYTES];
	int count = 0;

	(void)state;
	assert_non_null(file);
	assert_non_null(alone);
	for (int i = 0; i < LINES; i++) {
		make_random_line(line, &random);
		fprintf(file, "%s\n", line);
	}
	fclose(file);
	assert_int_equal(run_lines_new(&lines, path, NULL), 0);
	random = (struct random_lines){7, 7};
	for (; run_lines_next(lines) > 0; count++) {
		size_t length = make_random_line(line, &random);

		assert_int_equal(run_lines_read_text(alone, line, length), 0);
		assert_same_values(lines, alone);
	}
	assert_int_equal(count, LINES);
	run_lines_free(lines);
	free(alone);
	unlink(path);
}

static void a_key_that_only_begins_as_the_expected_one_is_another(void **state)
{
	static const char *const LATER[] = {
		"{\"schema\":1,\"name\":\"a\",\"task\":\"b\",\"outcome\":\"ok\"}\n",
		"{\"schema\":1,\"name_x\":\"c\",\"task\" : \"d\",\"outcome\":\"ok\"}\n",
		"{\"schema\":1,\"name\":\"e\",\"tas\":\"f\",\"outcome\":\"ok\"}\n",
		"{\"schema\":1,\"name\":\"g\",\"task\":\"h\",\"outcome\":\"ok\"}\n",
	};
	static const char *const NAMES[] = {"a", "", "e", "g"}, *const TASKS[] = {"b", "d", "", "h"};
	char path[] = "/tmp/rt-run-lines.XXXXXX";
	FILE *file = fdopen(mkstemp(path), "w");
	struct run_lines *lines = NULL;

	(void)state;
	assert_non_null(file);
	for (size_t i = 0; i < sizeof(LATER) / sizeof(*LATER); i++)
		fputs(LATER[i], file);
	fclose(file);
	assert_int_equal(run_lines_new(&lines, path, NULL), 0);
	for (size_t i = 0; i < sizeof(LATER) / sizeof(*LATER); i++) {
		struct scan name, task;

		assert_int_equal(run_lines_next(lines), 1);
		name = run_text(lines, RUN_name);
		task = run_text(lines, RUN_task);
		assert_true(scan_is(&name, NAMES[i]) && scan_is(&task, TASKS[i]));
	}
	run_lines_free(lines);
	unlink(path);
}

/* Reads lines of these keys, all with a number but the outcome. */
static void read_keys(struct run_lines **lines, const char *const (*keys)[8], size_t count)
{
	char path[] = "/tmp/rt-run-lines.XXXXXX";
	FILE *file = fdopen(mkstemp(path), "w");

	assert_non_null(file);
	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; k < 8 && keys[i][k]; k++)
			fprintf(file, "%s\"%s\": %s", k ? "," : "{", keys[i][k],
				strcmp(keys[i][k], "outcome") == 0 ? "\"ok\"" : "1");
		fputs("}\n", file);
	}
	fclose(file);
	assert_int_equal(run_lines_new(lines, path, NULL), 0);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(run_lines_next(*lines), 1);
	assert_int_equal(run_lines_next(*lines), 0);
	assert_int_equal((*lines)->read, count);
	unlink(path);
}

/* The keys of the last line follow one another. Those that are too long for a place have none. */
static void a_key_has_one_place_and_knows_the_key_behind_it(void **state)
{
	static const char LONGEST[] = "a_key_that_is_35_bytes_long_with_us",
			  LONGER[] = "a_key_that_is_36_bytes_long_with_us_";
	static const char *const KEYS_OF_LINES[][8] = {
		{"schema", "outcome", "name", "task", LONGEST, LONGER, "wall_secs"},
		{"wall_secs", "schema", LONGEST, "outcome", "name", LONGER, "task"},
		{"outcome", "task", "schema", "wall_secs", "name", LONGEST},
	};
	const char *const *last = KEYS_OF_LINES[2];
	struct run_lines *lines = NULL;
	const struct run_known_key *known;
	size_t count = 0;

	(void)state;
	read_keys(&lines, KEYS_OF_LINES, 3);
	known = &lines->known[lines->begin.next];
	for (size_t k = 0; last[k]; k++) {
		char text[64];

		snprintf(text, sizeof(text), "\"%s\":", last[k]);
		assert_int_equal(known->length, strlen(text));
		assert_memory_equal(known->text, text, strlen(text));
		known = &lines->known[known->next];
	}
	for (size_t i = 0; i < RUN_KNOWN_KEYS; i++)
		count += lines->known[i].length > 0;
	assert_int_equal(count, 6);
	run_lines_free(lines);
}

/* A machine without GPUs has no work of GPUs, if no figure of theirs says otherwise. */
static void without_gpus_their_work_is_0(void **state)
{
	static const struct {
		const char *line;
		bool filled;
	} CASES[] = {
		{"{\"schema\":1,\"gpus\":0,\"outcome\":\"ok\"}", true},
		{"{\"schema\":1,\"gpus\":0,\"gpu_mean\":null,\"outcome\":\"ok\"}", true},
		{"{\"schema\":1,\"gpus\":1,\"outcome\":\"ok\"}", false},
		{"{\"schema\":1,\"gpus\":\"0\",\"outcome\":\"ok\"}", false},
		{"{\"schema\":1,\"gpus\":null,\"outcome\":\"ok\"}", false},
		{"{\"schema\":1,\"outcome\":\"ok\"}", false},
		{"{\"schema\":1,\"gpus\":0,\"gpu_max\":0.5,\"outcome\":\"ok\"}", false},
	};
	struct run_lines *lines = malloc(sizeof(*lines));

	(void)state;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
		const struct run_value *mean = &lines->values[FIGURE_gpu_mean];

		assert_int_equal(run_lines_read_text(lines, CASES[i].line, strlen(CASES[i].line)), 0);
		assert_int_equal(mean->kind, CASES[i].filled ? VALUE_NUMBER : VALUE_NULL);
		if (!CASES[i].filled)
			continue;
		assert_true(scan_is(&mean->raw, "0"));
		assert_true(scan_is(&lines->values[FIGURE_gpu_used_max].raw, "0"));
		assert_true(scan_is(&lines->values[FIGURE_gpu_max].raw, "0"));
		assert_true(scan_is(&lines->values[FIGURE_gpu_memory_max_mib].raw, "0"));
	}
	free(lines);
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_of_a_file_are_read_as_each_alone),
		cmocka_unit_test(without_gpus_their_work_is_0),
		cmocka_unit_test(a_key_has_one_place_and_knows_the_key_behind_it),
		cmocka_unit_test(a_key_that_only_begins_as_the_expected_one_is_another),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
