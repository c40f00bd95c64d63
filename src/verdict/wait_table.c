/* The waits of a run as a table and as JSON, for `stats --by wait`. */
#include <errno.h>

#include "base/cleanup.h"
#include "base/grid.h"
#include "base/printable.h"
#include "base/screen.h"
#include "resource_tracker_internal.h"
#include "table/table.h"
#include "table/units.h"
#include "verdict/run_summary.h"

enum { TABLE_CEILING = 1 << 20 };

static void add_wait_cells(struct grid *grid, const struct rt_wait_use *use)
{
	buffer_add_printable(grid_cell(grid), use->wait_class);
	buffer_add_printable(grid_cell(grid), use->target ? use->target : "-");
	buffer_add_printable(grid_cell(grid), use->program);
	add_amount(grid_cell(grid), use->secs, "s");
	if (use->run_pct >= 0)
		buffer_printf(grid_cell(grid), "%.1f %%", use->run_pct);
	else
		grid_add_cell(grid, "-");
	buffer_printf(grid_cell(grid), "%lld", (long long)use->look_count);
}

int rt_summary_waits_for_screen(const rt_summary *summary, int fd, const char *colour, char **ret_text)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(TABLE_CEILING);
	CLEANUP_GRID struct grid grid = {.keys = 1};
	struct rt_wait_use use = {.size = sizeof use};
	struct screen screen;

	if (!is_colour_choice(colour))
		return -EINVAL;
	screen = table_screen_of(fd, colour);
	grid_add_column(&grid, "wait", false);
	grid_add_shrinking(&grid, "target");
	grid_add_column(&grid, "program", false);
	grid_add_column(&grid, "time", true);
	grid_add_column(&grid, "of the run", true);
	grid_add_column(&grid, "samples", true);
	for (size_t i = 0; rt_summary_wait(summary, i, &use) == 0; i++)
		add_wait_cells(&grid, &use);
	grid_print(&grid, &out, &screen);
	return buffer_take_text(&out, ret_text);
}

int rt_summary_waits_to_json(const rt_summary *summary, char **ret_text)
{
	CLEANUP_BUFFER struct buffer out = BUFFER(TABLE_CEILING);

	summary_waits_json(&out, &summary->facts.waits, summary->facts.recorded_secs);
	buffer_add_char(&out, '\n');
	return buffer_take_text(&out, ret_text);
}
