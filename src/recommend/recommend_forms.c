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

static void form_slurm(struct buffer *out, const struct rt_advice *advice)
{
	add_warnings(out, advice, "#");
	if (advice->ranks.tasks > 1)
		add_slurm_tasks(out, advice);
	else
		buffer_printf(out, "#SBATCH --cpus-per-task=%lld\n#SBATCH --mem=%lldM\n",
			      (long long)advice->cpu, (long long)advice->memory_mib);
	if (count_gpus(advice))
		buffer_printf(out, "#SBATCH --gpus=%lld\n", count_gpus(advice));
}

/* Writes whole cores, or thousandths. */
static void add_kubernetes_cpu(struct buffer *out, double cores)
{
	if (cores == floor(cores))
		buffer_printf(out, "    cpu: \"%.0f\"\n", cores);
	else
		buffer_printf(out, "    cpu: \"%.0fm\"\n", 1000 * cores);
}

static void form_kubernetes(struct buffer *out, const struct rt_advice *advice)
{
	double request = isnan(advice->cpu_request) ? (double)advice->cpu : advice->cpu_request;

	add_warnings(out, advice, "#");
	buffer_add_text(out, "resources:\n  requests:\n");
	add_kubernetes_cpu(out, request);
	buffer_printf(out, "    memory: %lldMi\n  limits:\n", (long long)advice->memory_mib);
	add_kubernetes_cpu(out, (double)advice->cpu);
	buffer_printf(out, "    memory: %lldMi\n", (long long)advice->memory_mib);
	if (count_gpus(advice))
		buffer_printf(out, "    nvidia.com/gpu: %lld\n", count_gpus(advice));
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

static void form_nextflow(struct buffer *out, const struct rt_advice *advice)
{
	add_warnings(out, advice, "//");
	/* In Nextflow, MB means 1,048,576 bytes. */
	buffer_printf(out, "cpus %lld\nmemory '%lld MB'\n", (long long)advice->cpu,
		      (long long)advice->memory_mib);
	if (count_gpus(advice))
		buffer_printf(out, "accelerator %lld\n", count_gpus(advice));
}

static void form_snakemake(struct buffer *out, const struct rt_advice *advice)
{
	add_warnings(out, advice, "#");
	/* In Snakemake, MB means 1,000,000 bytes. */
	buffer_printf(out, "threads: %lld\nresources:\n    mem_mb=%.0f%s\n", (long long)advice->cpu,
		      ceil((double)advice->memory_mib * MIB / 1e6), count_gpus(advice) ? "," : "");
	if (count_gpus(advice))
		buffer_printf(out, "    gpu=%lld\n", count_gpus(advice));
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
