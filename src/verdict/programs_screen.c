/* Writes the programs of a run for people, as a table; see resource_tracker_analysis.h. */
#include <errno.h>

#include "verdict/run_summary.h"
#include "base/cleanup.h"
#include "base/grid.h"
#include "base/printable.h"
#include "base/screen.h"
#include "table/table.h"
#include "table/units.h"

enum { TEXT_CEILING = 1 << 20 };

static void add_program(struct grid *grid, const struct rt_program_use *use)
{
	buffer_add_printable(grid_cell(grid), use->name);
	add_amount(grid_cell(grid), use->cpu_secs, "s");
	buffer_printf(grid_cell(grid), "%.1f %%", use->cpu_pct);
	add_amount(grid_cell(grid), use->cpu_estimated_secs, "s");
	if (use->memory_peak_mib >= 0)
		add_amount(grid_cell(grid), use->memory_peak_mib, "MiB");
	else
		grid_add_cell(grid, "-");
	if (use->process_count >= 0)
		buffer_printf(grid_cell(grid), "%lld", (long long)use->process_count);
	else
		grid_add_cell(grid, "-");
}

int rt_summary_programs_for_screen(const rt_summary *summary, int fd, const char *colour, char **ret_text)
{
	static const char *const HEADINGS[] = {"CPU time", "share", "estimated", "memory max", "processes"};
	CLEANUP_BUFFER struct buffer out = BUFFER(TEXT_CEILING);
	CLEANUP_GRID struct grid grid = {.keys = 1};
	struct rt_program_use use = {.size = sizeof use};
	struct screen screen;

	if (!is_colour_choice(colour))
		return -EINVAL;
	screen = table_screen_of(fd, colour);
	grid_add_shrinking(&grid, "program");
	for (size_t i = 0; i < ARRAY_SIZE(HEADINGS); i++)
		grid_add_column(&grid, HEADINGS[i], true);
	for (size_t i = 0; rt_summary_program(summary, i, &use) == 0; i++)
		add_program(&grid, &use);
	grid_print(&grid, &out, &screen);
	return buffer_take_text(&out, ret_text);
}
