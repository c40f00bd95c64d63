/*
 * Writes the figures of a run in the tree, units and layouts of gpu_tracker, with gpu_tracker's names.
 *
 * The figures come from whole intervals; gpu_tracker looks at a tenth of a second of each. "main" is the root
 * process with its resident set, "descendants" are the other processes, and "combined" is all of them, with
 * shared pages counted once. If the recording has no figure that counts shared pages once, the sum of
 * resident sets stands for the descendants, and private memory is null.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "verdict/run_summary.h"
#include "base/cleanup.h"
#include "base/json_write.h"
#include "compat/gpu_tracker_units.h"
#include "table/table.h"

#define MIB 1048576.0

/* Writes a tree as JSON or text: groups, and values with a label and a key. */
struct tree {
	struct buffer *out;
	bool json;
	int depth;
	bool has_members; /* JSON: the open group has members */
};

static void begin_entry(struct tree *tree, const char *key, const char *label)
{
	if (tree->json) {
		buffer_add_text(tree->out, tree->has_members ? ",\n" : "\n");
		buffer_printf(tree->out, "%*s\"%s\": ", tree->depth, "", key);
	} else {
		if (tree->out->length)
			buffer_add_char(tree->out, '\n');
		buffer_printf(tree->out, "%*s%s:", 3 * (tree->depth - 1), "", label);
	}
	tree->has_members = true;
}

static void open_group(struct tree *tree, const char *key, const char *label)
{
	begin_entry(tree, key, label);
	if (tree->json)
		buffer_add_char(tree->out, '{');
	tree->depth++;
	tree->has_members = false;
}

static void close_package_group(struct tree *tree)
{
	tree->depth--;
	if (tree->json)
		buffer_printf(tree->out, "\n%*s}", tree->depth, "");
	tree->has_members = true;
}

static void add_package_real(struct tree *tree, const char *key, const char *label, double value)
{
	begin_entry(tree, key, label);
	if (!tree->json)
		buffer_add_char(tree->out, ' ');
	if (isfinite(value))
		buffer_add_shortest(tree->out, tree->json ? value : round_like_python(value, 3));
	else
		buffer_add_text(tree->out, tree->json ? "null" : "unknown");
}

static void add_package_count(struct tree *tree, const char *key, const char *label, double value)
{
	begin_entry(tree, key, label);
	if (!isfinite(value))
		buffer_add_text(tree->out, tree->json ? "null" : " unknown");
	else
		buffer_printf(tree->out, tree->json ? "%.0f" : " %.0f", value);
}

static void add_text(struct tree *tree, const char *key, const char *label, const char *value)
{
	begin_entry(tree, key, label);
	buffer_printf(tree->out, tree->json ? "\"%s\"" : " %s", value);
}

static void add_rss(struct tree *tree, const char *key, const char *label, double total_mib,
		    double private_mib, double shared_mib, double factor)
{
	open_group(tree, key, label);
	add_package_real(tree, "total_rss", "Total RSS", total_mib * MIB * factor);
	add_package_real(tree, "private_rss", "Private RSS", private_mib * MIB * factor);
	add_package_real(tree, "shared_rss", "Shared RSS", (shared_mib < 0 ? 0 : shared_mib) * MIB * factor);
	close_package_group(tree);
}

static void add_ram(struct tree *tree, const struct run_facts *facts, const struct gpu_tracker_unit *unit)
{
	const struct parts *rss = &facts->rss, *private_mib = &facts->private_mib,
			   *shared_mib = &facts->shared_mib;
	double factor = unit->factor;

	open_group(tree, "max_ram", "Max RAM");
	add_text(tree, "unit", "Unit", unit->name);
	add_package_real(tree, "system_capacity", "System capacity", facts->total_memory_mib * MIB * factor);
	add_package_real(tree, "system", "System", facts->host_memory.most * MIB * factor);
	if (facts->had_descendants) {
		add_rss(tree, "main", "Main", rss->main.most, private_mib->main.most, shared_mib->main.most,
			factor);
		/* If their memory is unknown, the sum of their resident sets is the only figure left. */
		add_rss(tree, "descendants", "Descendants",
			isnan(facts->descendants_mib.most) ? rss->descendants.most
							   : facts->descendants_mib.most,
			private_mib->descendants.most, shared_mib->descendants.most, factor);
	} else {
		/*
		 * A recording may have it for all processes together only; with a single process, that is the
		 * main process's.
		 */
		add_rss(tree, "main", "Main", rss->main.most, private_mib->combined.most,
			isnan(shared_mib->main.most) ? rss->main.most - private_mib->combined.most
						     : shared_mib->main.most,
			factor);
		add_rss(tree, "descendants", "Descendants", 0, 0, 0, factor);
	}
	add_rss(tree, "combined", "Combined", facts->memory.most, private_mib->combined.most,
		shared_mib->combined.most, factor);
	close_package_group(tree);
}

static void add_gpu_ram(struct tree *tree, const struct run_facts *facts, const struct gpu_tracker_unit *unit)
{
	double factor = MIB * unit->factor;

	open_group(tree, "max_gpu_ram", "Max GPU RAM");
	add_text(tree, "unit", "Unit", unit->name);
	add_package_real(tree, "system_capacity", "System capacity", facts->gpu_memory_mib * factor);
	add_package_real(tree, "system", "System", facts->host_gpu_vram_mib.most * factor);
	add_package_real(tree, "main", "Main", facts->vram.main.most * factor);
	add_package_real(tree, "descendants", "Descendants", facts->vram.descendants.most * factor);
	add_package_real(tree, "combined", "Combined", facts->vram.combined.most * factor);
	close_package_group(tree);
}

/* Adds a figure in wholes (cores, GPUs) as percent of one, and as percent of the hardware. */
static void add_percents(struct tree *tree, const char *key, const char *label, const struct figure *figure,
			 double hardware)
{
	double mean = figure_mean(figure) * 100, most = figure->most * 100;

	open_group(tree, key, label);
	add_package_real(tree, "max_sum_percent", "Max sum percent", most);
	add_package_real(tree, "max_hardware_percent", "Max hardware percent",
			 hardware > 0 ? most / hardware : 0);
	add_package_real(tree, "mean_sum_percent", "Mean sum percent", mean);
	add_package_real(tree, "mean_hardware_percent", "Mean hardware percent",
			 hardware > 0 ? mean / hardware : 0);
	close_package_group(tree);
}

static void add_cpu(struct tree *tree, const struct run_facts *facts, double expected)
{
	double cores = count_absent(facts->core_count) ? NAN : (double)facts->core_count;

	if (!(expected > 0))
		expected = cores;
	open_group(tree, "cpu_utilization", "CPU utilization");
	add_package_count(tree, "system_core_count", "System core count", cores);
	add_package_count(tree, "n_expected_cores", "Number of expected cores", expected);
	add_percents(tree, "system", "System", &facts->host_cores, cores);
	add_percents(tree, "main", "Main", &facts->cpu_cores.main, expected);
	add_percents(tree, "descendants", "Descendants", &facts->cpu_cores.descendants, expected);
	add_percents(tree, "combined", "Combined", &facts->cpu_cores.combined, expected);
	add_package_count(tree, "main_n_threads", "Main number of threads", facts->thread_count.main.most);
	add_package_count(tree, "descendants_n_threads", "Descendants number of threads",
			  facts->thread_count.descendants.most);
	add_package_count(tree, "combined_n_threads", "Combined number of threads",
			  facts->thread_count.combined.most);
	close_package_group(tree);
}

static void add_gpu(struct tree *tree, const struct run_facts *facts, double expected)
{
	static const struct figure NOTHING = {.weights = 1};
	double count = (double)facts->gpu_count;

	if (!(expected > 0))
		expected = facts->gpu_uuid_count ? (double)facts->gpu_uuid_count : count;
	open_group(tree, "gpu_utilization", "GPU utilization");
	add_package_count(tree, "system_gpu_count", "System GPU count", count);
	add_package_count(tree, "n_expected_gpus", "Number of expected GPUs", expected);
	add_percents(tree, "gpu_percentages", "GPU percentages", count > 0 ? &facts->gpu_cores : &NOTHING,
		     expected);
	close_package_group(tree);
}

int rt_summary_to_gpu_tracker(const rt_summary *summary, const struct rt_gpu_tracker_options *options,
			      bool json, char **ret_text, struct rt_problem *ret_problem)
{
	const struct run_facts *facts = &summary->facts;
	CLEANUP_BUFFER struct buffer out = BUFFER(1 << 20);
	struct tree tree = {.out = &out, .json = json, .depth = 1};
	struct rt_gpu_tracker_options own;
	struct gpu_tracker_units units;
	int result = TAKE_OPTIONS(ret_problem, &own, rt_gpu_tracker_options, gpu_uuid_count, options);

	if (result == 0)
		result = gpu_tracker_units_find(&own, &units, ret_problem);
	if (result < 0)
		return result;
	if (json)
		buffer_add_char(&out, '{');
	add_ram(&tree, facts, &units.ram);
	add_gpu_ram(&tree, facts, &units.gpu_ram);
	add_cpu(&tree, facts, own.expected_cores);
	add_gpu(&tree, facts, own.expected_gpus);
	open_group(&tree, "compute_time", "Compute time");
	add_text(&tree, "unit", "Unit", units.time.name);
	add_package_real(&tree, "time", "Time", facts->wall_secs * units.time.factor);
	close_package_group(&tree);
	if (json)
		buffer_add_text(&out, "\n}");
	return buffer_take_text(&out, ret_text);
}
