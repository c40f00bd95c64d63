/* Formats the summary as JSON. See summary.h. */
#include <string.h>

#include "verdict/run_summary.h"
#include "base/cleanup.h"
#include "base/json_write.h"
#include "table/table.h"

enum { JSON_COLUMNS = 60, TEXT_CEILING = 1 << 20 };

static void add_json_figures(struct buffer *out, const struct run_facts *facts)
{
	struct rt_value values[RUN_FIGURE_COUNT];
	const char *group = "";

	summary_values(facts, values);
	for (size_t i = 0; i < RUN_FIGURE_COUNT; i++) {
		const struct run_figure *figure = &RUN_FIGURES[i];

		if (figure->column)
			continue;
		if (strcmp(figure->group, group) == 0)
			buffer_add_char(out, ',');
		else
			buffer_printf(out, "%s\n \"%s\":{", *group ? "}," : "", figure->group);
		group = figure->group;
		buffer_printf(out, "\"%s\":", figure->name);
		if (figure->kind == KIND_FLAG && values[i].type != RT_TYPE_NONE)
			buffer_add_text(out, values[i].count ? "true" : "false");
		else
			cell_add_json(out, values[i]);
	}
}

static void add_json_history(struct buffer *out, const char *name, const struct time_bins *history)
{
	double values[JSON_COLUMNS], total = history->bin_secs * (double)history->count;

	time_bins_columns(history, total, false, values, JSON_COLUMNS);
	buffer_printf(out, "},\n \"%s\":{\"step_secs\":", name);
	buffer_add_real(out, total / (double)JSON_COLUMNS, 6);
	buffer_add_text(out, ",\"means\":[");
	for (size_t i = 0; i < JSON_COLUMNS && history->count; i++) {
		buffer_add_text(out, i ? "," : "");
		buffer_add_real(out, values[i], 4);
	}
	buffer_add_char(out, ']');
}

static void add_json_phases(struct buffer *out, const struct phases *phases)
{
	buffer_add_text(out, "},\n \"phases\":[");
	for (size_t i = 0; i < phases->count; i++) {
		struct phase_time time = phase_time_of(&phases->list[i]);

		buffer_add_text(out, i ? "," : "");
		buffer_add_text(out, "{\"name\":");
		json_escape(out, phases->list[i].name, strlen(phases->list[i].name));
		buffer_printf(out,
			      ",\"calls\":%zu,\"open_calls\":%zu,\"total_secs\":", phases->list[i].call_count,
			      time.open_calls);
		buffer_add_real(out, time.secs, 6);
		buffer_add_char(out, '}');
	}
	buffer_add_char(out, ']');
}

static void add_json_text(struct buffer *out, const char *key, const char *text)
{
	buffer_printf(out, "%s:", key);
	json_escape(out, text, strlen(text));
}

static void add_json_bottlenecks(struct buffer *out, const struct verdict *verdict)
{
	buffer_add_text(out, ",\n \"bottlenecks\":[");
	for (size_t i = 0; i < verdict->count; i++) {
		const struct bottleneck *one = &verdict->bottlenecks[i];

		add_json_text(out, i ? ",{\"rule\"" : "{\"rule\"", one->rule);
		add_json_text(out, ",\"title\"", one->title);
		add_json_text(out, ",\"text\"", one->text);
		buffer_add_char(out, '}');
	}
	buffer_add_char(out, ']');
}

int rt_summary_to_json(const rt_summary *summary, char **ret_text)
{
	const struct run_facts *facts = &summary->facts;
	CLEANUP_BUFFER struct buffer out = BUFFER(TEXT_CEILING);

	buffer_add_char(&out, '{');
	add_json_figures(&out, facts);
	add_json_history(&out, "cores_over_time", &facts->cores_history);
	add_json_history(&out, "memory_over_time", &facts->memory_history);
	add_json_phases(&out, &summary->phases);
	buffer_add_text(&out, ",\n ");
	summary_disks_json(&out, &facts->disks);
	buffer_add_text(&out, ",\n ");
	summary_gpus_json(&out, facts->gpus);
	buffer_add_text(&out, ",\n ");
	summary_programs_json(&out, &facts->programs);
	buffer_add_text(&out, ",\n \"waits\":");
	summary_waits_json(&out, &facts->waits, facts->recorded_secs);
	buffer_add_text(&out, ",\n \"limit_changes\":");
	allowances_json(&facts->allowances, &out);
	add_json_bottlenecks(&out, &summary->verdict);
	buffer_add_text(&out, "}\n");
	return buffer_take_text(&out, ret_text);
}
