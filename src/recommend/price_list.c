/*
 * Reads a price list of cloud servers from a file: CSV, or a table of an SQLite file.
 *
 *	vendor_id,api_reference,region_id,vcpus,memory_mib,gpu_count,gpu_memory_mib,price_usd_per_hour
 *	aws,t3.micro,us-east-1,2,1024,0,0,0.0104
 */
#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "recommend/recommend.h"
#include "base/cleanup.h"
#include "base/plain_print.h"
#include "table/aggregate.h"
#include "table/sqlite_read.h"
#include "table/table.h"

static int read_catalogue(const char *path, rt_table **ret_table, struct rt_problem *problem)
{
	static const char *const NEEDED[] = {"vendor_id", "api_reference", "vcpus", "price_usd_per_hour"};
	CLEANUP_TABLE rt_table *table = NULL;
	int result = sqlite_is_file(path) ? sqlite_read_table(path, "servers", &table, problem)
					  : rt_table_read_csv(path, &table, problem);

	if (result < 0)
		return result;
	for (size_t i = 0; i < ARRAY_SIZE(NEEDED); i++)
		if (rt_table_find(table, NEEDED[i]) < 0)
			return problem_set(problem, -EBADMSG, "%s: there is no column %s", path, NEEDED[i]);
	if (rt_table_find(table, "memory_mib") < 0 && rt_table_find(table, "memory_gib") < 0)
		return problem_set(problem, -EBADMSG, "%s: there is no column memory_mib", path);
	*ret_table = table;
	table = NULL;
	return 0;
}

static double number_at(const rt_table *table, const char *name, size_t row)
{
	ssize_t column = rt_table_find(table, name);

	return column < 0 ? (double)NAN : cell_real(rt_table_get(table, (size_t)column, row), NAN);
}

static const char *text_at(const rt_table *table, const char *name, size_t row)
{
	ssize_t column = rt_table_find(table, name);
	struct rt_value cell = {0};

	if (column >= 0)
		cell = rt_table_get(table, (size_t)column, row);
	return cell.type == RT_TYPE_TEXT ? cell.text : "";
}

static double memory_mib(const rt_table *table, size_t row)
{
	double mib = number_at(table, "memory_mib", row);

	return isnan(mib) ? number_at(table, "memory_gib", row) * 1024 : mib;
}

/* A filter on a column that does not exist matches no row. */
static bool passes_filter(const rt_table *table, size_t row, const char *filter)
{
	const char *equals = strchr(filter, '=');
	char name[64], value[64];
	struct rt_value cell;
	ssize_t column;

	if (!equals || (size_t)(equals - filter) >= sizeof(name))
		return false;
	snprintf(name, sizeof(name), "%.*s", (int)(equals - filter), filter);
	column = rt_table_find(table, name);
	if (column < 0)
		return false;
	cell = rt_table_get(table, (size_t)column, row);
	if (cell.type == RT_TYPE_TEXT)
		return strcmp(cell.text, equals + 1) == 0;
	plain_print(value, sizeof(value), cell.type == RT_TYPE_COUNT ? "%.0f" : "%.10g",
		    cell_real(cell, NAN));
	return strcmp(value, equals + 1) == 0;
}

static bool fits_advice(const struct rt_advice *advice, const rt_table *table, size_t row)
{
	if (!(number_at(table, "vcpus", row) >= (double)advice->cpu) ||
	    !(memory_mib(table, row) >= (double)advice->memory_mib))
		return false;
	if (advice->gpu > 0 && !(number_at(table, "gpu_count", row) >= (double)advice->gpu))
		return false;
	return advice->vram_mib <= 0 || number_at(table, "gpu_memory_mib", row) >= (double)advice->vram_mib;
}

int rt_advice_find_server(rt_advice *advice, const char *catalogue, const char *const *filters,
			  size_t filter_count, struct rt_problem *ret_problem)
{
	struct rt_server server = {.size = sizeof(server), .question = catalogue, .usd_per_hour = NAN};
	CLEANUP_TABLE rt_table *table = NULL;
	int result = read_catalogue(catalogue, &table, ret_problem);
	size_t best = SIZE_MAX;

	if (result < 0)
		return result;
	if (advice->cpu < 0 || advice->memory_mib < 0)
		return 0;
	for (size_t row = 0; row < rt_table_row_count(table); row++) {
		double price = number_at(table, "price_usd_per_hour", row);
		bool wanted = fits_advice(advice, table, row) && !isnan(price);

		for (size_t i = 0; i < filter_count; i++)
			wanted = wanted && passes_filter(table, row, filters[i]);
		if (!wanted || (best != SIZE_MAX && price >= server.usd_per_hour))
			continue;
		best = row;
		server.usd_per_hour = price;
	}
	if (best == SIZE_MAX) {
		server.problem = "no server in the catalogue fits";
	} else {
		server.vendor = text_at(table, "vendor_id", best);
		server.type = text_at(table, "api_reference", best);
		server.region = text_at(table, "region_id", best);
		server.vcpus = (int64_t)fmin(number_at(table, "vcpus", best), 1e15);
		server.memory_mib = memory_mib(table, best);
	}
	return rt_advice_set_server(advice, &server);
}

int rt_catalogue_price(const char *catalogue, const char *instance, double *ret_usd_per_hour,
		       struct rt_problem *ret_problem)
{
	CLEANUP_TABLE rt_table *table = NULL;
	int result = read_catalogue(catalogue, &table, ret_problem);

	if (result < 0)
		return result;
	for (size_t row = 0; row < rt_table_row_count(table); row++) {
		char with_region[256], without[256];

		snprintf(with_region, sizeof(with_region), "%s/%s/%s", text_at(table, "vendor_id", row),
			 text_at(table, "region_id", row), text_at(table, "api_reference", row));
		snprintf(without, sizeof(without), "%s/%s", text_at(table, "vendor_id", row),
			 text_at(table, "api_reference", row));
		if ((strcmp(instance, with_region) == 0 || strcmp(instance, without) == 0) &&
		    !isnan(number_at(table, "price_usd_per_hour", row))) {
			*ret_usd_per_hour = number_at(table, "price_usd_per_hour", row);
			return 0;
		}
	}
	return problem_set(ret_problem, -ENOENT, "%s: there is no instance %.200s (vendor/region/type)",
			   catalogue, instance);
}
