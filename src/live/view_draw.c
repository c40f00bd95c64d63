/* Makes the screen of the live view from its parts; see view.h. */
#include "live/view.h"

static bool is_too_small(const struct canvas *canvas)
{
	return canvas->rows < VIEW_LEAST_ROWS || canvas->columns < VIEW_LEAST_COLUMNS;
}

void view_draw(struct view *view, struct canvas *canvas)
{
	if (is_too_small(canvas)) {
		canvas_printf(canvas, 0, 0, canvas->columns, LOOK_PLAIN, "%zux%zu is too small",
			      canvas->columns, canvas->rows);
		canvas_printf(canvas, 1, 0, canvas->columns, LOOK_PLAIN, "at least %dx%d", VIEW_LEAST_COLUMNS,
			      VIEW_LEAST_ROWS);
		return;
	}
	if (view->help)
		view_draw_help(view, canvas);
	else if (view->lists)
		view_draw_list(view, canvas);
	else
		view_draw_run(view, canvas);
}
