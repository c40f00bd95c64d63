/* Writes the facts of this machine for people. See discovery.h. */
#include <unistd.h>

#include "base/cleanup.h"
#include "base/grid.h"
#include "base/printable.h"
#include "discover/discovery.h"

enum { TEXT_CEILING = 1 << 20 };

static const struct {
	enum fact_id id;
	const char *label;
} LABELS[] = {
	{HOST_HOSTNAME, "name"},
	{HOST_IP, "address"},
	{HOST_ID, "id"},
	{HOST_SERVER_ALLOCATION, "allocation"},
	{HOST_CPU_MODEL, "processor"},
	{HOST_VCPUS, "CPUs"},
	{HOST_MEMORY_MIB, "memory"},
	{HOST_STORAGE_GB, "disks"},
	{CLOUD_VENDOR_ID, "vendor"},
	{CLOUD_ACCOUNT_ID, "account"},
	{CLOUD_REGION_ID, "region"},
	{CLOUD_ZONE_ID, "zone"},
	{CLOUD_INSTANCE_TYPE, "instance type"},
};

static void add_fact_mib(struct buffer *out, double mib)
{
	if (mib < 1024)
		buffer_printf(out, "%.0f MiB", mib);
	else
		buffer_printf(out, "%.1f GiB", mib / 1024);
}

static void add_machine_fact(struct buffer *out, enum fact_id id, const struct fact *fact)
{
	if (fact->type == FACT_UNKNOWN)
		buffer_add_text(out, STYLE_FAINT "unknown" STYLE_END);
	else if (fact->type == FACT_TEXT)
		buffer_add_printable(out, fact->text);
	else if (id == HOST_MEMORY_MIB)
		add_fact_mib(out, (double)fact->count);
	else if (id == HOST_STORAGE_GB)
		buffer_printf(out, "%.0f GB", fact->real);
	else
		buffer_add_i64(out, fact->count);
}

static void add_fact_part(struct buffer *out, const char *heading, const struct grid *grid,
			  const struct screen *screen)
{
	CLEANUP_BUFFER struct buffer line = BUFFER(TEXT_CEILING);

	buffer_printf(&line, "%s" STYLE_STRONG "%s" STYLE_END "\n", out->length ? "\n" : "", heading);
	screen_add(out, buffer_error(&line) ? "" : line.data, screen, 0);
	grid_print(grid, out, screen);
}

static void begin_facts(struct grid *grid)
{
	grid->keys = 2;
	grid_add_column(grid, "", false);
	grid_add_shrinking(grid, "");
}

static void add_fact_label(struct grid *grid, const char *label)
{
	buffer_printf(grid_cell(grid), "  %s", label);
}

static void add_machine_facts(struct buffer *out, const struct discovery *discovery, bool cloud,
			      const struct screen *screen)
{
	CLEANUP_GRID struct grid grid = {0};

	begin_facts(&grid);
	for (size_t i = 0; i < ARRAY_SIZE(LABELS); i++) {
		const struct fact *fact = &discovery->facts.items[LABELS[i].id];

		/* Few machines have an allocation. */
		if ((LABELS[i].id >= HOST_FACTS) != cloud ||
		    (LABELS[i].id == HOST_SERVER_ALLOCATION && fact->type == FACT_UNKNOWN))
			continue;
		add_fact_label(&grid, LABELS[i].label);
		add_machine_fact(grid_cell(&grid), LABELS[i].id, fact);
	}
	add_fact_part(out, cloud ? "Cloud" : "Machine", &grid, screen);
}

static void add_limits(struct buffer *out, const struct host_limits *limits, const struct screen *screen)
{
	CLEANUP_GRID struct grid grid = {0};

	begin_facts(&grid);
	add_fact_label(&grid, "CPU");
	if (real_absent(limits->cpu_limit_cores))
		grid_add_cell(&grid, "no limit");
	else
		buffer_printf(grid_cell(&grid), "%.2f cores", limits->cpu_limit_cores);
	add_fact_label(&grid, "memory");
	if (real_absent(limits->memory_limit_mib))
		grid_add_cell(&grid, "no limit");
	else
		add_fact_mib(grid_cell(&grid), limits->memory_limit_mib);
	add_fact_label(&grid, "usable CPUs");
	if (count_absent(limits->cpuset_cores))
		grid_add_cell(&grid, STYLE_FAINT "unknown" STYLE_END);
	else
		buffer_add_i64(grid_cell(&grid), limits->cpuset_cores);
	add_fact_part(out, "Limits of a process here", &grid, screen);
}

static void add_machine_gpus(struct buffer *out, const struct host_gpus *gpus, const struct screen *screen)
{
	CLEANUP_GRID struct grid grid = {0};

	begin_facts(&grid);
	for (size_t i = 0; i < gpus->count; i++) {
		const struct host_gpu *gpu = &gpus->items[i];
		struct buffer *cell;

		buffer_printf(grid_cell(&grid), "  %zu", i);
		cell = grid_cell(&grid);
		buffer_add_printable(cell, *gpu->name ? gpu->name : "unknown");
		if (!count_absent(gpu->vram_bytes)) {
			buffer_add_text(cell, ", ");
			add_fact_mib(cell, (double)gpu->vram_bytes / 1048576);
		}
	}
	if (!gpus->count) {
		add_fact_label(&grid, gpus->known ? "none" : "unknown");
		grid_add_cell(&grid, "");
	}
	add_fact_part(out, "GPUs", &grid, screen);
}

void discovery_add_text(struct buffer *out, const struct discovery *discovery, const char *colour)
{
	struct screen screen = screen_of(STDOUT_FILENO, colour);

	if (discovery->host) {
		add_machine_facts(out, discovery, false, &screen);
		add_limits(out, &discovery->limits, &screen);
		add_machine_gpus(out, &discovery->gpus, &screen);
	}
	if (discovery->cloud)
		add_machine_facts(out, discovery, true, &screen);
}
