/* Formats advice as lines to copy into a job. See recommend.h. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "recommend/recommend.h"
#include "base/cleanup.h"
#include "table/table.h"
#include "table/units.h"

enum { FORM_CEILING = 1 << 16 };

#define MIB 1048576.0

/* Adds comments for the reader of the script. */
static void add_warnings(struct buffer *out, const struct rt_advice *advice, const char *comment)
{
	if (advice->memory_at_least)
		buffer_printf(out,
			      "%s %s was killed for lack of memory with %s: it needs more, perhaps more than "
			      "this advice\n",
			      comment, advice->usage.oom == OOM_STEP ? "a process of it" : "it",
			      amount_of_mib(advice->usage.oom_had_mib).text);
	if (advice->cpu < advice->cpu_limit && advice->cpu_stretch >= 1.005)
		buffer_printf(out, "%s it was faster with %lld cores: it takes %.0f %% longer now\n", comment,
			      (long long)advice->cpu_limit, 100 * (advice->cpu_stretch - 1));
}

static long long count_gpus(const struct rt_advice *advice)
{
	return advice->gpu > 0 ? (long long)advice->gpu : 0;
}

/* ---- expressions of the size of the input ---- */

/* How an engine writes functions, a real number, the size of a task's input in MiB, and the attempt. */
struct expression_words {
	const char *minimum, *maximum, *real, *size, *attempt;
	double mib; /* in the unit of memory */
};
static const struct expression_words SNAKEMAKE = {"min", "max", "", "input.size_mb", "attempt", MIB / 1e6},
				     NEXTFLOW = {"Math.min",
						 "Math.max",
						 "d",
						 "[reads].flatten()*.size().sum() / 1048576d",
						 "task.attempt",
						 1};

/* A bound of an expression, which is rounded up. */
static void add_rounded_up(struct buffer *out, const struct expression_words *words, double value)
{
	buffer_printf(out, "%.0f%s", ceil(value) + 0.0, words->real);
}

static void add_factor(struct buffer *out, const struct expression_words *words, double value, int decimals)
{
	buffer_add_real(out, value, decimals);
	buffer_add_text(out, words->real);
}

/* The first attempt: a number, or a line within its bounds. `unit` is a MiB or a second in the unit that the engine takes. */
static void add_first_attempt(struct buffer *out, const struct expression_words *words,
			      const struct sizing_formula *formula, double unit)
{
	double slope = formula->per_byte * MIB * unit;

	if (formula->per_byte == 0) {
		add_rounded_up(out, words, fmax(formula->fixed, formula->least) * unit);
		return;
	}
	buffer_printf(out, "%s(", words->minimum);
	add_rounded_up(out, words, formula->most * unit);
	buffer_printf(out, ", %s(", words->maximum);
	add_rounded_up(out, words, formula->least * unit);
	buffer_add_text(out, ", ");
	add_factor(out, words, formula->fixed * unit, 3);
	buffer_add_text(out, slope < 0 ? " - " : " + ");
	add_factor(out, words, fabs(slope), 9);
	buffer_printf(out, " * %s))", words->size);
}

/* Each attempt has half as much again as the one before, and at least a tenth more than any run took. */
static void add_memory_of_attempt(struct buffer *out, const struct expression_words *words,
				  const struct rt_advice *advice)
{
	const struct sizing_formula *formula = &advice->memory_formula;
	double second = formula->second / SIZING_MEMORY.after_kill;
	bool is_enough = formula->per_byte == 0 && fmax(formula->fixed, formula->least) >= second;

	if (!is_enough) {
		buffer_printf(out, "%s(", words->maximum);
		add_rounded_up(out, words, second * words->mib);
		buffer_printf(out, words == &SNAKEMAKE ? " if %s > 1 else 0, " : " * (%s > 1 ? 1 : 0), ",
			      words->attempt);
	}
	add_first_attempt(out, words, formula, words->mib);
	buffer_printf(out, "%s * 1.5 ** (%s - 1)", is_enough ? "" : ")", words->attempt);
}

static void add_minutes_of_attempt(struct buffer *out, const struct expression_words *words,
				   const struct rt_advice *advice)
{
	add_first_attempt(out, words, &advice->time_formula, 1.0 / 60);
	buffer_printf(out, " * 2 ** (%s - 1)", words->attempt);
}

static bool has_expression(const struct rt_advice *advice)
{
	return advice->memory_formula.has_sizes;
}

/* Says where the expression comes from, and the part of the past that it cannot express. */
static void add_expression_comment(struct buffer *out, const struct rt_advice *advice, const char *comment)
{
	double saves = advice->memory_formula.nearest_saves;

	buffer_printf(out, "%s memory %s, by earlier runs; 1.5 times as much for each further attempt\n",
		      comment,
		      advice->memory_formula.per_byte == 0 ? "is the same for every size of the input"
							   : "follows the size of the input");
	if (saves >= 0.01)
		buffer_printf(
			out,
			"%s the runs nearest in size would reserve %.0f %% less, which no expression can "
			"say: recommend --input FILE does\n",
			comment, 100 * saves);
}

/*
 * --mem is per node. On a single node it is the sum of the tasks. If the scheduler may spread the tasks over
 * several nodes, memory is given per CPU, so that each task brings its own.
 */
static void add_slurm_tasks(struct buffer *out, const struct rt_advice *advice)
{
	const struct ranks *ranks = &advice->ranks;
	int64_t task_mib;

	buffer_printf(out, "#SBATCH --nodes=%zu\n#SBATCH --ntasks=%zu\n#SBATCH --cpus-per-task=%lld\n",
		      ranks->hosts, ranks->tasks, (long long)ranks->task_cpus);
	if (ranks->hosts == 1) {
		buffer_printf(out, "#SBATCH --mem=%lldM\n", (long long)advice->memory_mib);
		return;
	}
	task_mib = (int64_t)ceil((double)advice->memory_mib / (double)ranks->tasks_on_host);
	if (ranks->tasks_per_recording == 1 &&
	    ranks->task_memory_mib * (1 + advice->sizing.margin) > (double)task_mib)
		task_mib = (int64_t)ceil(ranks->task_memory_mib * (1 + advice->sizing.margin));
	buffer_printf(out, "#SBATCH --mem-per-cpu=%lldM\n",
		      (long long)((task_mib + ranks->task_cpus - 1) / ranks->task_cpus));
}

/* "--time=1:30:00" */
static void add_slurm_time(struct buffer *out, int64_t secs)
{
	buffer_printf(out, "--time=%lld:%02lld:00", (long long)secs / 3600, (long long)secs / 60 % 60);
}

/* #SBATCH lines cannot compute, so that the second attempt is a command. Options of sbatch count more than the script's. */
static void add_slurm_retry(struct buffer *out, const struct rt_advice *advice)
{
	if (has_expression(advice) && isnan(advice->input_bytes))
		buffer_add_text(out, "# by the size of the input: recommend --input FILE\n");
	if (advice->runs < 2 || advice->memory_again_mib < advice->memory_mib)
		return;
	if (advice->ranks.tasks > 1) {
		buffer_add_text(out, "# after OUT_OF_MEMORY or TIMEOUT: recommend --attempt 2\n");
		return;
	}
	buffer_printf(out, "# after OUT_OF_MEMORY or TIMEOUT: sbatch --mem=%lldM ",
		      (long long)advice->memory_again_mib);
	if (advice->time_secs >= 0) {
		add_slurm_time(out, (int64_t)SIZING_TIME.after_kill * advice->time_secs);
		buffer_add_char(out, ' ');
	}
	buffer_add_text(out, "SCRIPT\n");
}

static void form_slurm(struct buffer *out, const struct rt_advice *advice)
{
	add_warnings(out, advice, "#");
	if (advice->ranks.tasks > 1)
		add_slurm_tasks(out, advice);
	else
		buffer_printf(out, "#SBATCH --cpus-per-task=%lld\n#SBATCH --mem=%lldM\n",
			      (long long)advice->cpu, (long long)advice->memory_mib);
	if (advice->time_secs >= 0) {
		buffer_add_text(out, "#SBATCH ");
		add_slurm_time(out, advice->time_secs);
		buffer_add_char(out, '\n');
	}
	if (count_gpus(advice))
		buffer_printf(out, "#SBATCH --gpus=%lld\n", count_gpus(advice));
	add_slurm_retry(out, advice);
}

/* Writes whole cores, or thousandths. */
static void add_kubernetes_cpu(struct buffer *out, double cores)
{
	if (cores == floor(cores))
		buffer_printf(out, "\"%.0f\"", cores);
	else
		buffer_printf(out, "\"%.0fm\"", 1000 * cores);
}

/* The bounds within which an autoscaler may move: what half of the runs need, and what a second attempt gets. */
static void add_autoscaler_bounds(struct buffer *out, const struct rt_advice *advice, double least_cores)
{
	double usual_mib = advice->sizing.usual + advice->usage.kernel_mib;
	int64_t least_mib = round_for_site(advice, fmin(usual_mib, (double)advice->memory_mib));

	if (advice->runs < 2 || !(usual_mib > 0) || advice->memory_again_mib < advice->memory_mib)
		return;
	buffer_add_text(out, "# resourcePolicy of a VerticalPodAutoscaler: from what half of the runs need "
			     "to a second attempt\n"
			     "#   containerPolicies:\n"
			     "#   - containerName: \"*\"\n"
			     "#     minAllowed: {cpu: ");
	add_kubernetes_cpu(out, least_cores);
	buffer_printf(out, ", memory: %lldMi}\n#     maxAllowed: {cpu: ", (long long)least_mib);
	add_kubernetes_cpu(out, (double)(advice->cpu_limit > advice->cpu ? advice->cpu_limit : advice->cpu));
	buffer_printf(out, ", memory: %lldMi}\n", (long long)advice->memory_again_mib);
}

static void form_kubernetes(struct buffer *out, const struct rt_advice *advice)
{
	double request = isnan(advice->cpu_request) ? (double)advice->cpu : advice->cpu_request;

	add_warnings(out, advice, "#");
	buffer_add_text(out, "resources:\n  requests:\n    cpu: ");
	add_kubernetes_cpu(out, request);
	buffer_printf(out, "\n    memory: %lldMi\n  limits:\n    cpu: ", (long long)advice->memory_mib);
	add_kubernetes_cpu(out, (double)advice->cpu);
	buffer_printf(out, "\n    memory: %lldMi\n", (long long)advice->memory_mib);
	if (count_gpus(advice))
		buffer_printf(out, "    nvidia.com/gpu: %lld\n", count_gpus(advice));
	add_autoscaler_bounds(out, advice, request);
	if (advice->time_secs >= 0)
		buffer_printf(out,
			      "# in the spec of the pod or job, not of the "
			      "container:\nactiveDeadlineSeconds: %lld\n",
			      (long long)advice->time_secs);
}

static void form_docker(struct buffer *out, const struct rt_advice *advice)
{
	add_warnings(out, advice, "#");
	buffer_printf(out, "docker run --cpus=%lld --memory=%lldm", (long long)advice->cpu,
		      (long long)advice->memory_mib);
	if (count_gpus(advice))
		buffer_printf(out, " --gpus=%lld", count_gpus(advice));
	buffer_add_char(out, '\n');
}

static void nextflow_expression(struct buffer *out, const struct rt_advice *advice)
{
	add_expression_comment(out, advice, "//");
	if (advice->memory_formula.per_byte != 0 || advice->time_formula.per_byte != 0)
		buffer_add_text(out, "// `reads` stands for the name of the process's path input\n");
	buffer_printf(out, "cpus %lld\nmemory { 1.MB * (", (long long)advice->cpu);
	add_memory_of_attempt(out, &NEXTFLOW, advice);
	buffer_add_text(out, ") }\n");
	if (advice->time_secs >= 0) {
		buffer_add_text(out, "time { 1.min * (long) Math.ceil(");
		add_minutes_of_attempt(out, &NEXTFLOW, advice);
		buffer_add_text(out, ") }\n");
	}
	buffer_add_text(out, "errorStrategy 'retry'\nmaxRetries 2\n");
	if (count_gpus(advice))
		buffer_printf(out, "accelerator %lld\n", count_gpus(advice));
}

static void form_nextflow(struct buffer *out, const struct rt_advice *advice)
{
	add_warnings(out, advice, "//");
	if (has_expression(advice)) {
		nextflow_expression(out, advice);
		return;
	}
	/* In Nextflow, MB means 1,048,576 bytes. */
	buffer_printf(out, "cpus %lld\nmemory '%lld MB'\n", (long long)advice->cpu,
		      (long long)advice->memory_mib);
	if (count_gpus(advice))
		buffer_printf(out, "accelerator %lld\n", count_gpus(advice));
	if (advice->time_secs >= 0)
		buffer_printf(out, "time '%lld min'\n", (long long)advice->time_secs / 60);
}

/* Bounds are whole numbers. A line has one more than its whole part, as int() rounds down. */
static const char *whole_of(const struct sizing_formula *formula)
{
	return formula->per_byte == 0 ? ")" : ") + 1";
}

static void snakemake_expression(struct buffer *out, const struct rt_advice *advice)
{
	static const char BEGIN[] = "lambda wildcards, input, attempt: int(";

	add_expression_comment(out, advice, "#");
	buffer_printf(out, "threads: %lld\nretries: 2\nresources:\n    mem_mb=%s", (long long)advice->cpu,
		      BEGIN);
	add_memory_of_attempt(out, &SNAKEMAKE, advice);
	buffer_add_text(out, whole_of(&advice->memory_formula));
	if (advice->time_secs >= 0) {
		buffer_printf(out, ",\n    runtime=%s", BEGIN);
		add_minutes_of_attempt(out, &SNAKEMAKE, advice);
		buffer_add_text(out, whole_of(&advice->time_formula));
	}
	if (count_gpus(advice))
		buffer_printf(out, ",\n    gpu=%lld", count_gpus(advice));
	buffer_add_char(out, '\n');
}

static void form_snakemake(struct buffer *out, const struct rt_advice *advice)
{
	add_warnings(out, advice, "#");
	if (has_expression(advice)) {
		snakemake_expression(out, advice);
		return;
	}
	/* In Snakemake, MB means 1,000,000 bytes. */
	buffer_printf(out, "threads: %lld\nresources:\n    mem_mb=%.0f", (long long)advice->cpu,
		      ceil((double)advice->memory_mib * MIB / 1e6));
	if (advice->time_secs >= 0)
		buffer_printf(out, ",\n    runtime=%lld", (long long)advice->time_secs / 60);
	if (count_gpus(advice))
		buffer_printf(out, ",\n    gpu=%lld", count_gpus(advice));
	buffer_add_char(out, '\n');
}

static void form_metaflow(struct buffer *out, const struct rt_advice *advice)
{
	add_warnings(out, advice, "#");
	buffer_printf(out, "@resources(cpu=%lld, memory=%lld", (long long)advice->cpu,
		      (long long)advice->memory_mib);
	if (count_gpus(advice))
		buffer_printf(out, ", gpu=%lld", count_gpus(advice));
	buffer_add_text(out, ")\n");
}

int rt_advice_to_form(const rt_advice *advice, const char *form, char **ret_text,
		      struct rt_problem *ret_problem)
{
	static const struct {
		const char *name;
		void (*add)(struct buffer *out, const struct rt_advice *advice);
	} FORMS[] = {{"slurm", form_slurm},         {"kubernetes", form_kubernetes},
		     {"docker", form_docker},       {"nextflow", form_nextflow},
		     {"snakemake", form_snakemake}, {"metaflow", form_metaflow}};
	CLEANUP_BUFFER struct buffer out = BUFFER(FORM_CEILING);

	for (size_t i = 0; i < ARRAY_SIZE(FORMS); i++) {
		if (strcmp(form, FORMS[i].name) != 0)
			continue;
		if (advice->cpu < 0 || advice->memory_mib < 0)
			return problem_set(ret_problem, -ENODATA, "no advice: %s",
					   *advice->refused ? advice->refused
							    : "CPU or memory was not recorded");
		FORMS[i].add(&out, advice);
		return buffer_take_text(&out, ret_text);
	}
	return problem_set(ret_problem, -EINVAL,
			   "there is no form '%.100s': it is one of slurm, kubernetes, docker, nextflow, "
			   "snakemake, metaflow",
			   form);
}
