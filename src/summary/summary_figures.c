/* The figures of a summary by name. See summary.h. */
#include "summary/summary.h"

#include <math.h>
#include <string.h>

#include "base/cleanup.h"
#include "metric/typed_rows.h"

/* Shared parts of several figures. */
struct told {
	const struct run_start_row *start; /* NULL: not recorded */
	const struct run_end_row *end;     /* all absent if it is not recorded */
	bool has_end;
	const struct first_failure_row *first; /* NULL: no process is known to have failed first */
	const char *of;                        /* the job's figures, or the machine's */
	const struct figure *cores, *memory;
	struct cpu_time time;
	struct binding core_limit, memory_limit;
	struct memory_peak peak;
	struct network_use network;
	struct oom_finding oom;
	int64_t idle_gpus; /* negative: unknown */
};

static struct run_end_row no_end(void)
{
	struct run_end_row end;

	memset(&end, 0, sizeof(end));
	end.exit_code = end.signal = end.descendants_running = end.oom_kills = no_count(ABSENT_NOT_YET);
	end.voluntary_switches = end.involuntary_switches = no_count(ABSENT_NOT_YET);
	end.cgroup_oom_kills = end.machine_oom_kills = no_count(ABSENT_NOT_YET);
	end.largest_process_peak_mib = end.cgroup_memory_peak_mib = no_real(ABSENT_NOT_YET);
	return end;
}

static struct told work_out(const struct run_facts *facts, const struct run_end_row *none)
{
	const struct frame *identity = record_identity(facts->record);
	const struct run_end_row *end = FIRST(identity, run_end);
	struct idle_gpus idle = summary_gpus_idle(facts->gpus, facts->tracked);

	buffer_done(&idle.names);
	return (struct told){
		.start = FIRST(identity, run_start),
		.end = end ? end : none,
		.has_end = end != NULL,
		.first = FIRST(identity, first_failure),
		.of = facts->tracked ? "job" : "machine",
		.cores = facts->tracked ? &facts->cores : &facts->host_cores,
		.memory = facts->tracked ? &facts->memory : &facts->host_memory,
		.time = summary_cpu_time(facts),
		.core_limit = summary_core_limit(facts),
		.memory_limit = summary_memory_limit(facts),
		.peak = summary_memory_peak(facts),
		.network = summary_network(facts),
		.oom = summary_oom(facts),
		.idle_gpus = idle.count,
	};
}

/* The value of a figure, not rounded. */
struct figure_value {
	double number; /* NaN: absent, or a text */
	const char *text;
};

static struct figure_value value_of_REAL(double value)
{
	return (struct figure_value){value, NULL};
}

static struct figure_value value_of_COUNT(int64_t value)
{
	return value_of_REAL(real_of_count(value));
}

/* A sum or maximum of counts, as a whole number. */
static struct figure_value value_of_WHOLE(double value)
{
	return value_of_REAL(value);
}

static struct figure_value value_of_TEXT(const char *text)
{
	return (struct figure_value){NAN, text_absent(text) || !*text ? NULL : text};
}

static struct figure_value value_of_FLAG(double value)
{
	return value_of_REAL(value);
}

static void find_values(const struct run_facts *facts,
			struct figure_value ret_values[static RUN_FIGURE_COUNT])
{
	const struct run_end_row none = no_end();
	const struct told told = work_out(facts, &none);

#define FIGURE(group, name, kind, decimals, value, ...) \
	ret_values[FIGURE_##group##_##name] = value_of_##kind(value);
#include "figures/run_figures.def"
}

static struct rt_value cell_of_figure(const struct run_figure *figure, const struct figure_value *value)
{
	if (value->text)
		return (struct rt_value){.type = RT_TYPE_TEXT, .text = value->text};
	if (!isfinite(value->number))
		return (struct rt_value){.reason = ABSENT_NOT_COLLECTED};
	if (figure->kind == KIND_REAL)
		return (struct rt_value){.type = RT_TYPE_REAL,
					 .real = round_like_python(value->number, figure->decimals)};
	return (struct rt_value){.type = RT_TYPE_COUNT, .count = count_of_real(value->number + 0.5)};
}

void summary_values(const struct run_facts *facts, struct rt_value ret_values[static RUN_FIGURE_COUNT])
{
	struct figure_value values[RUN_FIGURE_COUNT];

	find_values(facts, values);
	for (size_t i = 0; i < RUN_FIGURE_COUNT; i++)
		ret_values[i] = cell_of_figure(&RUN_FIGURES[i], &values[i]);
}

void summary_numbers(const struct run_facts *facts, double ret_numbers[static RUN_FIGURE_COUNT])
{
	struct figure_value values[RUN_FIGURE_COUNT];

	find_values(facts, values);
	for (size_t i = 0; i < RUN_FIGURE_COUNT; i++)
		ret_numbers[i] = values[i].number;
}
