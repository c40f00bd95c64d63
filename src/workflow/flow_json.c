/* A workflow as JSON. See flow.h. */
#include <math.h>

#include "base/json_write.h"
#include "workflow/flow.h"

enum { SCHEMA = 1 };

/* Smaller figures have more decimals. All others are short, because a page has thousands. */
static const double FEW_MIB = 10, FEW_CORES = 0.1;

static void add_flow_number(struct json_writer *json, const char *key, double value, int decimals)
{
	json_key(json, key);
	json_decimal(json, value, decimals);
}

/* A tenth of a MiB is enough above 10 MiB. A program of half a MiB would be told as one that takes a tenth more or less. */
static void add_flow_mib(struct json_writer *json, const char *key, double mib)
{
	add_flow_number(json, key, mib, mib < FEW_MIB ? 3 : 1);
}

static void add_flow_count(struct json_writer *json, const char *key, size_t value)
{
	json_key(json, key);
	json_count(json, (int64_t)value);
}

static void add_flow_word(struct json_writer *json, const char *key, const char *value)
{
	json_key(json, key);
	json_text(json, value && *value ? value : NULL);
}

/* Which steps it needs, how long it waited after the last of them, and whether for a slot. */
static void add_flow_needs(struct json_writer *json, const struct rt_workflow *flow, size_t index)
{
	const struct flow_place *place = &flow->places[index];
	double waited = flow->steps.list[index].started - flow_needs_done(flow, index);

	json_key(json, "needs");
	if (isnan(waited)) {
		json_absent(json);
	} else {
		json_open(json, '[');
		for (size_t i = 0; i < place->need_count; i++)
			json_count(json, (int64_t)flow->needs[place->first_need + i]);
		json_close(json, ']');
	}
	add_flow_number(json, "waited_secs", waited, 3);
	json_key(json, "waited_for_slot");
	isnan(waited) ? json_absent(json) : json_flag(json, !place->had_room);
}

static void add_course_list(struct json_writer *json, const char *key, const double *values, size_t parts,
			    double few, int decimals)
{
	double most = 0;

	for (size_t i = 0; i < parts; i++)
		most = fmax(most, values[i]);
	decimals += most < few ? 2 : 0;
	json_key(json, key);
	json_open(json, '[');
	for (size_t i = 0; i < parts; i++)
		json_decimal(json, values[i], decimals);
	json_close(json, ']');
}

static void add_flow_course(struct json_writer *json, const struct flow_place *place)
{
	json_key(json, "course");
	if (!place->course) {
		json_absent(json);
		return;
	}
	json_open(json, '{');
	add_course_list(json, "cores", place->course, place->course_parts, FEW_CORES, 2);
	add_course_list(json, "memory_mib", place->course + place->course_parts, place->course_parts, FEW_MIB,
			0);
	json_close(json, '}');
}

static void add_flow_step(struct json_writer *json, const struct rt_workflow *flow, size_t index)
{
	const struct flow_step *step = &flow->steps.list[index];
	const struct flow_place *place = &flow->places[index];

	json_open(json, '{');
	add_flow_word(json, "rule", step->rule);
	add_flow_word(json, "task", step->task);
	add_flow_word(json, "host", step->host);
	json_key(json, "rank");
	json_is_integer(json_object_get(step->line, "rank"))
		? json_count(json, json_integer_value(json_object_get(step->line, "rank")))
		: json_absent(json);
	add_flow_word(json, "outcome", step->outcome);
	add_flow_word(json, "end", json_string_value(json_object_get(step->line, "end")));
	add_flow_word(json, "bottleneck", json_string_value(json_object_get(step->line, "bottleneck")));
	add_flow_number(json, "start_secs", step->started - flow->began, 3);
	add_flow_number(json, "wall_secs", step->wall_secs, 3);
	add_flow_number(json, "cpu_secs", step->cpu_secs, 3);
	add_flow_number(json, "cores_mean", step->cores_mean, 3);
	add_flow_number(json, "cores_max", step->cores_max, 3);
	add_flow_number(json, "cores_asked", step->cores_asked, 3);
	add_flow_mib(json, "memory_peak_mib", step->memory_peak_mib);
	add_flow_number(json, "memory_asked_mib", step->memory_asked_mib, 1);
	add_flow_count(json, "attempt", step->attempt);
	json_key(json, "is_last_attempt");
	json_flag(json, step->is_last);
	add_flow_count(json, "slot", place->lane);
	json_key(json, "before");
	place->before < 0 ? json_absent(json) : json_count(json, place->before);
	add_flow_needs(json, flow, index);
	add_flow_number(json, "gap_secs", place->gap_secs, 3);
	add_flow_number(json, "slack_secs", place->slack_secs, 3);
	json_key(json, "on_path");
	json_flag(json, place->on_path);
	add_flow_word(json, "recording", step->path);
	add_flow_course(json, place);
	json_close(json, '}');
}

static void add_flow_rule(struct json_writer *json, const struct flow_rule *rule)
{
	json_open(json, '{');
	add_flow_word(json, "rule", rule->name);
	add_flow_count(json, "steps", rule->steps);
	add_flow_count(json, "failed", rule->failed);
	add_flow_count(json, "repeated", rule->repeated);
	add_flow_count(json, "steps_on_path", rule->on_path);
	add_flow_number(json, "wall_secs", rule->wall_secs, 3);
	add_flow_number(json, "longest_secs", rule->longest_secs, 3);
	add_flow_number(json, "path_secs", rule->path_secs, 3);
	add_flow_number(json, "cpu_secs", rule->cpu_secs, 3);
	add_flow_mib(json, "memory_peak_mib", rule->memory_peak_mib);
	add_flow_number(json, "cores_asked", rule->cores_asked, 3);
	add_flow_number(json, "memory_asked_mib", rule->memory_asked_mib, 1);
	add_flow_number(json, "asked_core_secs", rule->asked_core_secs, 3);
	add_flow_number(json, "idle_core_secs", rule->idle_core_secs, 3);
	add_flow_number(json, "asked_gib_hours", rule->asked_gib_hours, 6);
	add_flow_number(json, "idle_gib_hours", rule->idle_gib_hours, 6);
	json_close(json, '}');
}

static void add_flow_spread(struct json_writer *json, const char *key, const struct flow_spread *spread)
{
	json_key(json, key);
	json_open(json, '{');
	add_flow_number(json, "min", spread->least, 3);
	add_flow_number(json, "median", spread->median, 3);
	add_flow_number(json, "max", spread->most, 3);
	json_close(json, '}');
}

static void add_flow_ranks(struct json_writer *json, const struct flow_ranks *ranks)
{
	json_open(json, '{');
	add_flow_word(json, "rule", ranks->rule);
	add_flow_word(json, "task", ranks->task);
	add_flow_count(json, "ranks", ranks->count);
	add_flow_spread(json, "wall_secs", &ranks->wall_secs);
	add_flow_spread(json, "cpu_secs", &ranks->cpu_secs);
	add_flow_spread(json, "memory_peak_mib", &ranks->memory_mib);
	add_flow_spread(json, "gpu_mean", &ranks->gpu_mean);
	add_flow_spread(json, "gpu_held_idle_secs", &ranks->gpu_held_idle_secs);
	json_key(json, "straggler");
	ranks->straggler < 0 ? json_absent(json) : json_count(json, ranks->straggler);
	add_flow_word(json, "straggler_by",
		      ranks->straggler < 0 ? NULL
		      : ranks->by_cpu      ? "cpu_secs"
					   : "wall_secs");
	add_flow_number(json, "straggler_over_pct", 100 * ranks->over, 1);
	json_close(json, '}');
}

static void add_flow_host(struct json_writer *json, const struct flow_host *host)
{
	json_open(json, '{');
	add_flow_word(json, "host", host->name);
	add_flow_count(json, "slots", host->lanes);
	add_flow_number(json, "cores", host->cores, 3);
	add_flow_number(json, "memory_mib", host->memory_mib, 1);
	add_flow_number(json, "cores_most", host->cores_most, 3);
	add_flow_mib(json, "memory_most_mib", host->memory_most);
	json_close(json, '}');
}

static void add_flow_estimate(struct json_writer *json, const struct flow_estimate *estimate)
{
	json_open(json, '{');
	add_flow_word(json, "what", estimate->what);
	add_flow_number(json, "wall_secs", estimate->wall_secs, 3);
	add_flow_word(json, "assumption", estimate->assumption);
	json_close(json, '}');
}

static void add_totals_of_flow(struct json_writer *json, const struct rt_workflow *flow)
{
	add_flow_count(json, "schema", SCHEMA);
	add_flow_number(json, "began", flow->began, 3);
	add_flow_number(json, "wall_secs", flow->wall_secs, 3);
	add_flow_number(json, "cpu_secs", flow->cpu_secs, 3);
	add_flow_number(json, "path_secs", flow->path_secs, 3);
	add_flow_count(json, "failed", flow->failed);
	add_flow_count(json, "repeated", flow->repeated);
	add_flow_count(json, "slots", flow->slots);
}

void flow_add_json(struct buffer *out, const struct rt_workflow *flow)
{
	struct json_writer writer = JSON_WRITER(out), *json = &writer;

	json_open(json, '{');
	add_totals_of_flow(json, flow);
#define LIST(key, length, add) \
	json_key(json, key); \
	json_open(json, '['); \
	for (size_t i = 0; i < (length); i++) \
		add; \
	json_close(json, ']')
	LIST("hosts", flow->host_count, add_flow_host(json, &flow->hosts[i]));
	LIST("path", flow->path_count, json_count(json, (int64_t)flow->path[i]));
	LIST("estimates", flow->estimate_count, add_flow_estimate(json, &flow->estimates[i]));
	LIST("ranks", flow->ranks_count, add_flow_ranks(json, &flow->ranks[i]));
	LIST("rules", flow->rule_count, add_flow_rule(json, &flow->rules[i]));
	LIST("steps", flow->steps.count, add_flow_step(json, flow, i));
	LIST("damaged", flow->steps.damaged_count, json_text(json, flow->steps.damaged[i].why));
#undef LIST
	json_close(json, '}');
}
