/* Draws the peaks of earlier runs by the size of their input, with what is advised for each size. See recommend.h. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/json_write.h"
#include "recommend/recommend.h"

/* Two points would be a line through anything. */
enum { PLOT_LEAST_RUNS = 3 };
/* The line goes on a quarter beyond the largest input. Sizes that differ by less than 2 % are one. */
static const double REACH = 1.25, ONE_SIZE = 1.02;

static void take_points(struct size_plot *plot, const struct past *past, double started)
{
	for (size_t i = past->count; i-- > 0;) {
		const struct evidence *one = &past->list[i];
		struct plot_point run = {one->input_bytes, peak_of(one)},
				  kill = {one->input_bytes, one->oom_had_mib};

		if (!(one->input_bytes >= 0))
			continue;
		if (kill.mib > 0 && plot->kill_count < SIZING_RUNS)
			plot->kills[plot->kill_count++] = kill;
		if (!one->good || !(run.mib > 0) || plot->run_count == SIZING_RUNS)
			continue;
		plot->runs[plot->run_count++] = run;
		if (one->started == started)
			plot->newest = run;
	}
}

/* The places of the line lie closer where the sizes are small, as runs do. */
static double size_at(double least, double most, size_t place)
{
	double part = (double)place / (PLOT_LINE - 1);

	return least > 0 ? least * pow(most / least, part) : least + (most - least) * part;
}

int make_size_plot(struct rt_advice *advice, const struct past *past, double started, struct sized_run *runs,
		   struct sized_kill *kills)
{
	struct size_plot *plot = calloc(1, sizeof(*plot));
	double least = INFINITY, most = 0;
	size_t count;

	if (!plot)
		return -ENOMEM;
	advice->plot = plot;
	plot->newest = (struct plot_point){NAN, NAN};
	take_points(plot, past, started);
	for (size_t i = 0; i < plot->run_count; i++) {
		least = fmin(least, plot->runs[i].input_bytes);
		most = fmax(most, plot->runs[i].input_bytes);
	}
	if (plot->run_count < PLOT_LEAST_RUNS || !(most > least * ONE_SIZE + 1)) {
		advice->plot = NULL;
		free(plot);
		return 0;
	}
	for (size_t i = 0; i < PLOT_LINE; i++) {
		struct rt_advice asked =
			start_advice(&(struct rt_recommend_options){.policy = advice->policy});

		asked.input_bytes = size_at(least, REACH * most, i);
		(void)advise_memory(&asked, past, runs, kills, &count);
		plot->line[i].input_bytes = asked.input_bytes;
		plot->line[i].usual_mib = asked.sizing.usual;
		plot->line[i].advised_mib = (double)asked.memory_mib;
	}
	return 0;
}

static void add_plot_numbers(struct json_writer *json, const double *values, size_t count)
{
	json_open(json, '[');
	for (size_t i = 0; i < count; i++)
		json_decimal(json, values[i], i ? 3 : 0);
	json_close(json, ']');
}

static void add_plot_points(struct json_writer *json, const char *key, const struct plot_point *points,
			    size_t count)
{
	json_key(json, key);
	json_open(json, '[');
	for (size_t i = 0; i < count; i++)
		add_plot_numbers(json, (double[]){points[i].input_bytes, points[i].mib}, 2);
	json_close(json, ']');
}

void size_plot_json(struct json_writer *json, const struct size_plot *plot)
{
	if (!plot) {
		json_absent(json);
		return;
	}
	json_open(json, '{');
	add_plot_points(json, "runs", plot->runs, plot->run_count);
	add_plot_points(json, "kills", plot->kills, plot->kill_count);
	add_plot_points(json, "newest", &plot->newest, (size_t)!isnan(plot->newest.mib));
	json_key(json, "line");
	json_open(json, '[');
	for (size_t i = 0; i < PLOT_LINE; i++)
		add_plot_numbers(json,
				 (double[]){plot->line[i].input_bytes, plot->line[i].usual_mib,
					    plot->line[i].advised_mib},
				 3);
	json_close(json, ']');
	json_close(json, '}');
}
