/* Prints the metrics for a person; see metric_pages.h. */
#include "analysis/metric_pages.h"

#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "analysis/command.h"
#include "base/buffer.h"
#include "base/screen.h"
#include "base/write_all.h"
#include "launch/pager.h"

enum { OUTPUT_BYTES = 4 << 20, HELP_MARGIN = 6 };

static const char *page_text_of(const json_t *metric, const char *key)
{
	const char *text = json_string_value(json_object_get(metric, key));

	return text ? text : "";
}

/* The source and cost stand once for all metrics that share them, the meaning of each metric below its name. */
static void add_metric(struct buffer *page, const json_t *metric, const json_t *before)
{
	const char *group = page_text_of(metric, "group"), *source = page_text_of(metric, "source"),
		   *unit = page_text_of(metric, "unit");

	if (!before || strcmp(group, page_text_of(before, "group")) != 0 ||
	    strcmp(source, page_text_of(before, "source")) != 0)
		buffer_printf(page, "%s" STYLE_STRONG "%s" STYLE_END ": from %s; cost: %s\n",
			      before ? "\n" : "", *group ? group : "sample",
			      *source ? source : "the recorder", page_text_of(metric, "cost"));
	buffer_printf(page, "  " STYLE_GOOD "%s" STYLE_END "  %s%s%s\n      %s\n",
		      page_text_of(metric, "name"), unit, *unit ? ", " : "", page_text_of(metric, "kind"),
		      page_text_of(metric, "help"));
}

int print_metric_pages(const char *colour, const char *pager)
{
	CLEANUP_BUFFER struct buffer page = BUFFER(OUTPUT_BYTES), out = BUFFER(OUTPUT_BYTES);
	struct screen screen = screen_of(STDOUT_FILENO, colour);
	json_t *metrics = json_loadfd(STDIN_FILENO, 0, NULL);

	for (size_t i = 0; i < json_array_size(metrics); i++)
		add_metric(&page, json_array_get(metrics, i), i ? json_array_get(metrics, i - 1) : NULL);
	json_decref(metrics);
	screen_add(&out, page.data ? page.data : "", &screen, HELP_MARGIN);
	if (buffer_error(&page) || buffer_error(&out) || !out.data)
		return EXIT_FAULT;
	if (strcmp(pager, "pager") == 0 && show_paged(out.data, out.length))
		return 0;
	return write_all(STDOUT_FILENO, out.data, out.length) < 0 ? EXIT_FAULT : 0;
}
