/* Writes the figures of a fleet as JSON. See fleet.h. */
#include <math.h>

#include "base/json_write.h"
#include "history/fleet.h"
#include "recommend/replay.h"

enum { PART_BYTES = 64 << 10 };
static const char *const PARTS[] = {"job", "task", "host", "user", "tag"};

static void add_fleet_real(struct json_writer *json, const char *key, double value)
{
	json_key(json, key);
	json_decimal(json, value, 9);
}

static void add_fleet_count(struct json_writer *json, const char *key, size_t count)
{
	json_key(json, key);
	json_count(json, (int64_t)count);
}

static void add_range(struct json_writer *json, const char *key, const struct fleet_range *range)
{
	json_key(json, key);
	json_open(json, '{');
	add_fleet_real(json, "p50", range->p50);
	add_fleet_real(json, "p95", range->p95);
	add_fleet_real(json, "max", range->most);
	json_close(json, '}');
}

static void add_drift(struct json_writer *json, const char *key, const struct fleet_drift *drift)
{
	json_key(json, key);
	json_open(json, '{');
	add_fleet_real(json, "change_pct", 100 * drift->change);
	add_fleet_count(json, "new_runs", drift->new_runs);
	add_fleet_count(json, "old_runs", drift->old_runs);
	json_key(json, "is_clear");
	json_flag(json, drift->is_clear);
	json_close(json, '}');
}

/* "job", "task", "tag:team": the name of a part, and its value in this group. */
static void add_parts(struct json_writer *json, const struct fleet *fleet, const struct fleet_group *group)
{
	CLEANUP_BUFFER struct buffer text = BUFFER(PART_BYTES);
	CLEANUP_BUFFER struct buffer name = BUFFER(PART_BYTES);

	for (size_t i = 0; i < fleet->by_count; i++) {
		buffer_clear(&name);
		buffer_add_text(&name, PARTS[fleet->by[i].part]);
		if (fleet->by[i].part == FLEET_TAG)
			buffer_printf(&name, ":%s", fleet->by[i].tag);
		json_key(json, buffer_error(&name) ? "tag" : name.data);
		if (fleet_part_text(group, i, &text) && !buffer_error(&text))
			json_text_bytes(json, text.data ? text.data : "", text.length);
		else
			json_absent(json);
	}
}

static void add_ends(struct json_writer *json, const struct fleet *fleet, const struct fleet_group *group)
{
	add_fleet_count(json, "runs", group->runs);
	add_fleet_count(json, "ok", group->ends[FLEET_OK]);
	add_fleet_count(json, "failed", group->ends[FLEET_FAILED]);
	add_fleet_count(json, "cut", group->ends[FLEET_CUT]);
	json_key(json, "reasons");
	json_open(json, '{');
	for (size_t i = 0; i < fleet->reason_count; i++)
		if (group->reasons[i] && *fleet->reasons[i])
			add_fleet_count(json, fleet->reasons[i], group->reasons[i]);
	json_close(json, '}');
}

static void add_fleet_group(struct json_writer *json, const struct fleet *fleet,
			    const struct fleet_group *group)
{
	json_open(json, '{');
	add_parts(json, fleet, group);
	add_ends(json, fleet, group);
#define FLEET(field, figure, ...) add_range(json, RUN_FIGURES[FIGURE_##figure].key, &group->field);
#include "figures/run_figures.def"
	add_fleet_count(json, "runs_at_memory_limit", group->at_limit);
	add_fleet_real(json, "oom_had_mib", group->oom_had_mib);
	add_fleet_real(json, "cores_asked", group->cores_asked);
	add_fleet_real(json, "memory_asked_mib", group->memory_asked_mib);
	add_fleet_real(json, "core_hours", group->core_hours);
	add_fleet_real(json, "failed_core_hours", group->failed_core_hours);
	add_fleet_real(json, "unused_core_hours", group->core_runs ? group->unused_core_hours : (double)NAN);
	add_fleet_real(json, "unused_gib_hours", group->memory_runs ? group->unused_gib_hours : (double)NAN);
	add_fleet_real(json, "unused_memory_usd",
		       group->memory_runs && fleet->usd_per_gib_hour > 0
			       ? group->unused_gib_hours * fleet->usd_per_gib_hour
			       : (double)NAN);
	add_fleet_real(json, "unused_gpu_hours", group->gpu_runs ? group->unused_gpu_hours : (double)NAN);
	add_fleet_count(json, "runs_with_cores_asked", group->core_runs);
	add_fleet_count(json, "runs_with_memory_asked", group->memory_runs);
	add_fleet_count(json, "runs_with_gpus", group->gpu_runs);
	add_drift(json, "wall_drift", &group->wall_drift);
	add_drift(json, "memory_drift", &group->memory_drift);
	json_close(json, '}');
}

void fleet_add_json(struct buffer *out, const struct fleet *fleet)
{
	struct json_writer json = JSON_WRITER(out);

	json_open(&json, '{');
	add_fleet_count(&json, "schema", 1);
	add_fleet_count(&json, "files", fleet->files);
	add_fleet_count(&json, "runs", fleet->runs);
	add_fleet_count(&json, "damaged_lines", fleet->left_out.damaged);
	add_fleet_count(&json, "newer_lines", fleet->left_out.newer);
	add_fleet_count(&json, "repeated_lines", fleet->repeated);
	json_key(&json, "groups");
	json_open(&json, '[');
	for (size_t i = 0; i < fleet->group_count; i++)
		add_fleet_group(&json, fleet, &fleet->groups[i]);
	json_close(&json, ']');
	if (fleet->saved) {
		json_key(&json, "saved");
		json_open(&json, '{');
		replay_saving_json(&json, fleet->saved);
		json_close(&json, '}');
	}
	json_close(&json, '}');
	buffer_add_char(out, '\n');
}
