/* Writes regions for people: one row for each phase, fitted to a terminal; see regions.h. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "regions/regions.h"
#include "base/cleanup.h"
#include "base/grid.h"
#include "base/printable.h"
#include "table/table.h"
#include "table/units.h"

enum { TEXT_CEILING = 64 << 20 };

static const double TELLING_FACTOR = 1.02;

/* The columns of the table for people, with their headings. A recording without a job shows the machine's figures. */
static const struct usual {
	const char *measure, *heading;
	int statistic; /* of enum region_statistic */
	bool of_machine;
} USUAL[] = {
	{"process_cpu_usage", "cores mean", REGION_MEAN, false},
	{"process_cpu_usage", "cores max", REGION_MAX, false},
	{"process_memory_mib", "largest sample", REGION_MAX, false},
	{"process_disk_read_bytes", "read", REGION_TOTAL, false},
	{"process_disk_write_bytes", "written", REGION_TOTAL, false},
	{"process_gpu_usage", "GPUs mean", REGION_MEAN, false},
	{"process_gpu_vram_mib", "VRAM max", REGION_MAX, false},
	{"system_cpu_usage", "cores mean", REGION_MEAN, true},
	{"system_memory_used_mib", "largest sample", REGION_MAX, true},
	{"system_disk_read_bytes", "read", REGION_TOTAL, true},
	{"system_disk_write_bytes", "written", REGION_TOTAL, true},
	{"system_net_recv_bytes", "received", REGION_TOTAL, true},
	{"system_net_sent_bytes", "sent", REGION_TOTAL, true},
};

/* A column of the table. */
struct shown {
	const char *heading;
	char *owned; /* the heading, if it was composed */
	size_t measure;
	int statistic;
};

struct shown_list {
	struct shown *list;
	size_t count;
};

static void shown_done(struct shown_list *shown)
{
	for (size_t i = 0; i < shown->count; i++)
		free(shown->list[i].owned);
	free(shown->list);
}

static size_t find_measure(const rt_regions *regions, const char *name)
{
	size_t i = 0;

	while (i < regions->measure_count && strcmp(regions->measures[i], name) != 0)
		i++;
	return i;
}

static bool is_usual(const rt_regions *regions)
{
	return find_measure(regions, USUAL[0].measure) < regions->measure_count &&
	       find_measure(regions, "system_net_sent_bytes") < regions->measure_count;
}

/* A measure that is 0 or unknown over the whole run, such as those of GPUs on most machines. */
static bool is_empty(const rt_regions *regions, size_t measure)
{
	double most = regions->overall[measure][REGION_MAX];

	return isnan(most) || most == 0;
}

static void add_usual(const rt_regions *regions, struct shown_list *shown)
{
	/* The memory of a job that ended before its first sample is unknown, and the machine's is not its own. */
	bool machine = is_empty(regions, find_measure(regions, "process_memory_mib")) &&
		       is_empty(regions, find_measure(regions, "process_cpu_usage"));

	for (size_t i = 0; i < ARRAY_SIZE(USUAL); i++) {
		size_t measure = find_measure(regions, USUAL[i].measure);

		if (USUAL[i].of_machine != machine || measure == regions->measure_count ||
		    is_empty(regions, measure))
			continue;
		shown->list[shown->count++] =
			(struct shown){USUAL[i].heading, NULL, measure, USUAL[i].statistic};
	}
}

/* Mean and maximum of each measure that the user named. */
static int add_named(const rt_regions *regions, struct shown_list *shown)
{
	static const struct {
		enum region_statistic statistic;
		const char *word;
	} BOTH[] = {{REGION_MEAN, "mean"}, {REGION_MAX, "max"}};

	for (size_t i = 0; i < regions->measure_count; i++)
		for (size_t j = 0; j < ARRAY_SIZE(BOTH); j++) {
			CLEANUP_BUFFER struct buffer heading = BUFFER(1 << 16);
			struct shown *one = &shown->list[shown->count];

			buffer_add_printable(&heading, regions->measures[i]);
			buffer_printf(&heading, " %s", BOTH[j].word);
			one->owned = buffer_error(&heading) ? NULL : strdup(heading.data);
			if (!one->owned)
				return -ENOMEM;
			one->heading = one->owned;
			one->measure = i;
			one->statistic = (int)BOTH[j].statistic;
			shown->count++;
		}
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct region *const *left = a, *const *right = b;

	return ((*left)->began > (*right)->began) - ((*left)->began < (*right)->began);
}

/* The usual headings name the cores and GPUs. */
static const char *unit_of(const rt_regions *regions, const struct shown *one)
{
	const char *unit = unit_of_column(regions->measures[one->measure]);

	return !one->owned && (strcmp(unit, "cores") == 0 || strcmp(unit, "GPUs") == 0) ? "" : unit;
}

static void add_measures(struct grid *grid, const rt_regions *regions, const struct shown_list *shown,
			 double (*measures)[REGION_STATISTICS])
{
	for (size_t i = 0; i < shown->count; i++) {
		const struct shown *one = &shown->list[i];
		double value = measures[one->measure][one->statistic];

		if (isnan(value))
			grid_add_cell(grid, "-");
		else
			add_amount(grid_cell(grid), value, unit_of(regions, one));
	}
}

static double run_secs(const rt_regions *regions)
{
	return regions->latest - regions->earliest;
}

static void add_region(struct grid *grid, const rt_regions *regions, const struct shown_list *shown,
		       const struct region *region)
{
	double secs = region->seconds[REGION_TOTAL], run = run_secs(regions);

	buffer_add_printable(grid_cell(grid), region->name);
	buffer_printf(grid_cell(grid), "%lld", (long long)region->calls);
	add_duration(grid_cell(grid), secs);
	if (run > 0)
		buffer_printf(grid_cell(grid), "%.0f %%", secs / run * 100);
	else
		grid_add_cell(grid, "-");
	add_measures(grid, regions, shown, region->measures);
}

/* The whole run, below its phases. */
static void add_all(struct grid *grid, const rt_regions *regions, const struct shown_list *shown)
{
	buffer_add_text(grid_cell(grid), STYLE_FAINT "whole run" STYLE_END);
	grid_add_cell(grid, "");
	if (run_secs(regions) > 0)
		add_duration(grid_cell(grid), run_secs(regions));
	else
		grid_add_cell(grid, "-");
	grid_add_cell(grid, "");
	add_measures(grid, regions, shown, regions->overall);
}

static void add_notes(struct buffer *out, const rt_regions *regions, const struct screen *screen)
{
	CLEANUP_BUFFER struct buffer notes = BUFFER(1 << 16);
	size_t without = 0;

	for (size_t i = 0; i < regions->count; i++)
		without += regions->list[i].timepoints == 0;
	if (!regions->count)
		buffer_add_text(&notes,
				"no phase was marked: the job writes marks with resource-tracker mark\n");
	if (without)
		buffer_printf(&notes,
			      "%zu phase%s no sample's time stamp: cores and bytes are %s share of longer "
			      "samples; a "
			      "shorter --interval measures %s\n",
			      without, without == 1 ? " has" : "s have", without == 1 ? "its" : "their",
			      without == 1 ? "it" : "them");
	if (regions->peak_mib > TELLING_FACTOR * regions->sampled_mib) {
		buffer_add_text(&notes, "the run's memory peak of ");
		add_size(&notes, regions->peak_mib * 1048576, RT_SIZE_AUTO);
		buffer_add_text(&notes, " is above the largest sample: no sample was taken then\n");
	}
	if (regions->phases.open_calls)
		buffer_printf(
			&notes, "%zu call%s never stopped: the end of the recording counts as the end\n",
			regions->phases.open_calls, regions->phases.open_calls == 1 ? " was" : "s were");
	if (regions->phases.unmatched_stops)
		buffer_printf(&notes, "%zu stop%s without a start\n", regions->phases.unmatched_stops,
			      regions->phases.unmatched_stops == 1 ? "" : "s");
	if (regions->phases.bad_lines)
		buffer_printf(&notes, "%zu line%s of the marks cannot be read\n", regions->phases.bad_lines,
			      regions->phases.bad_lines == 1 ? "" : "s");
	if (notes.length && !buffer_error(&notes)) {
		buffer_add_char(out, '\n');
		screen_add(out, notes.data, screen, 0);
	}
}

static int fill_grid(struct grid *grid, const rt_regions *regions, const struct shown_list *shown)
{
	static const char *const FIXED[] = {"calls", "time", "of run"};
	CLEANUP_FREE const struct region **sorted = calloc(regions->count + 1, sizeof(*sorted));

	if (!sorted)
		return -ENOMEM;
	grid_add_shrinking(grid, "phase");
	for (size_t i = 0; i < ARRAY_SIZE(FIXED); i++)
		grid_add_column(grid, FIXED[i], true);
	for (size_t i = 0; i < shown->count; i++)
		grid_add_column(grid, shown->list[i].heading, true);
	for (size_t i = 0; i < regions->count; i++)
		sorted[i] = &regions->list[i];
	qsort(sorted, regions->count, sizeof(*sorted), by_time);
	for (size_t i = 0; i < regions->count; i++)
		add_region(grid, regions, shown, sorted[i]);
	add_all(grid, regions, shown);
	return 0;
}

int rt_regions_for_screen(const rt_regions *regions, int fd, const char *colour, char **ret_text)
{
	__attribute__((cleanup(shown_done))) struct shown_list shown = {
		.list = calloc(2 * regions->measure_count + ARRAY_SIZE(USUAL), sizeof(struct shown))};
	CLEANUP_BUFFER struct buffer out = BUFFER(TEXT_CEILING);
	CLEANUP_GRID struct grid grid = {.keys = 1};
	struct screen screen;
	int result = 0;

	if (!shown.list)
		return -ENOMEM;
	if (!is_colour_choice(colour))
		return -EINVAL;
	screen = table_screen_of(fd, colour);
	if (is_usual(regions))
		add_usual(regions, &shown);
	else
		result = add_named(regions, &shown);
	if (result == 0)
		result = fill_grid(&grid, regions, &shown);
	if (result < 0)
		return result;
	grid_print(&grid, &out, &screen);
	add_notes(&out, regions, &screen);
	return buffer_take_text(&out, ret_text);
}
