/* Tests of src/figures/run_figures.def: no name of a figure stands for two of them, and the places in a line have no gap. */
#include "unit.h"

#include <string.h>

#include "figures/run_figures.h"
#include "record/run_lines.h"

static size_t bearers_of(const char *name)
{
	size_t count = 0;

	for (size_t i = 0; i < RUN_FIGURE_COUNT; i++) {
		const struct run_figure *figure = &RUN_FIGURES[i];

		count += (figure->key && strcmp(figure->key, name) == 0) ||
			 (figure->alias && strcmp(figure->alias, name) == 0) ||
			 (figure->compared && strcmp(figure->compared, name) == 0);
	}
	return count;
}

static void a_name_stands_for_one_figure(void **state)
{
	(void)state;
	for (size_t i = 0; i < RUN_FIGURE_COUNT; i++) {
		const char *names[] = {RUN_FIGURES[i].key, RUN_FIGURES[i].alias, RUN_FIGURES[i].compared};

		for (size_t j = 0; j < sizeof(names) / sizeof(*names); j++)
			if (names[j] && bearers_of(names[j]) != 1)
				fail_msg("%s stands for %zu figures", names[j], bearers_of(names[j]));
	}
}

static void no_other_key_of_a_line_is_a_figures(void **state)
{
	static const char *const OTHERS[] = {
#define KEY_TEXT(key) #key,
		RUN_KEYS(KEY_TEXT)};

	(void)state;
	for (size_t i = 0; i < sizeof(OTHERS) / sizeof(*OTHERS); i++)
		assert_int_equal(bearers_of(OTHERS[i]), 0);
}

static void places_in_a_line_have_no_gap(void **state)
{
	int places = 0;

	(void)state;
	while (run_figure_at(places + 1)) {
		places++;
		assert_non_null(run_figure_at(places)->key);
	}
	for (size_t i = 0; i < RUN_FIGURE_COUNT; i++) {
		if (RUN_FIGURES[i].place > places)
			fail_msg("place %d is behind a gap", RUN_FIGURES[i].place);
		if (RUN_FIGURES[i].place && run_figure_at(RUN_FIGURES[i].place) != &RUN_FIGURES[i])
			fail_msg("%s takes the place of another figure", RUN_FIGURES[i].key);
	}
}

static void old_keys_are_still_found(void **state)
{
	(void)state;
	assert_int_equal(run_figure_of_key(scan_bytes("damaged_lines", 13)), FIGURE_damage_bad_lines);
	assert_int_equal(run_figure_of_key(scan_bytes("bad_lines", 9)), FIGURE_damage_bad_lines);
	assert_int_equal(run_figure_of_key(scan_bytes("bad_line", 8)), RUN_FIGURE_COUNT);
}

/* Values of lines stand at these numbers, so a key behind the table must not be one of a figure. */
static void a_line_is_read_by_keys_and_aliases(void **state)
{
	static const char LINE[] = "{\"schema\":1,\"outcome\":\"ok\",\"cpu_pressure_secs\":2.5,\"bad_lines\":"
				   "3,\"cpu_model\":\"x\"}";
	struct run_lines lines;

	(void)state;
	assert_int_equal(run_lines_read_text(&lines, LINE, strlen(LINE)), 0);
	assert_true(run_real(&lines, FIGURE_waiting_cpu_pressure_secs) == 2.5);
	assert_true(run_real(&lines, FIGURE_damage_bad_lines) == 3);
	assert_true(run_text_is(&lines, RUN_cpu_model, "x"));
}

static void the_gate_judges_amounts_that_lines_have(void **state)
{
	(void)state;
	assert_string_equal(run_figure_in_gate(&RUN_FIGURES[FIGURE_memory_peak_mib]), "memory_peak");
	assert_string_equal(run_figure_in_gate(&RUN_FIGURES[FIGURE_damage_bad_lines]), "damaged_lines");
	assert_null(run_figure_in_gate(&RUN_FIGURES[FIGURE_run_started_timestamp]));
	assert_null(run_figure_in_gate(&RUN_FIGURES[FIGURE_waiting_cpu_wait_secs]));
}

UNIT_TESTS
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_stands_for_one_figure),
		cmocka_unit_test(no_other_key_of_a_line_is_a_figures),
		cmocka_unit_test(places_in_a_line_have_no_gap),
		cmocka_unit_test(old_keys_are_still_found),
		cmocka_unit_test(a_line_is_read_by_keys_and_aliases),
		cmocka_unit_test(the_gate_judges_amounts_that_lines_have),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
