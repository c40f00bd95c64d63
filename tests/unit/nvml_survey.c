/* Surveys of the fake NVML; see nvml_survey.h. */
#include "nvml_survey.h"

#include <math.h>
#include <string.h>

#include "nvml_script.h"
#include "unit.h"

#include "base/clock.h"

struct root root;
struct surveyor *surveyor;
struct gpu_request request;
const struct gpu_survey *survey;
int64_t offset_ns;
int64_t realtime_offset_ns;

static int64_t shifted_monotonic(void *context)
{
	(void)context;
	return SYSTEM_CLOCKS.monotonic_ns(NULL) + offset_ns;
}

static int64_t shifted_realtime(void *context)
{
	(void)context;
	return SYSTEM_CLOCKS.realtime_ns(NULL) + realtime_offset_ns;
}

void begin_at(const char *library, const char *root_dir, const char *script)
{
	const struct gpu_setup setup = {.interval_ns = NSEC_PER_SEC};
	const struct clocks clocks = {shifted_monotonic, shifted_realtime, NULL};

	offset_ns = realtime_offset_ns = 0;
	memset(&request, 0, sizeof request);
	nvml_script_begin(library);
	nvml_script_set(script);
	assert_int_equal(root_open(&root, root_dir, &clocks), 0);
	assert_int_equal(surveyor_new(&root, &setup, &surveyor), 0);
}

void begin(const char *script)
{
	begin_at("nvml_fake", "/", script);
}

void end_survey(void)
{
	surveyor_free(surveyor);
	root_close(&root);
	nvml_script_end();
}

void pass(void)
{
	assert_int_equal(surveyor_pass(surveyor, &request, &survey), 0);
}

double reading(int device, enum gpu_reading which)
{
	assert_int_equal(survey->devices[device].readings[which].error, 0);
	return survey->devices[device].readings[which].value;
}

int64_t error_of(int device, enum gpu_reading which)
{
	return survey->devices[device].readings[which].error;
}

const struct gpu_process *process(int device, int pid)
{
	for (int64_t i = 0; i < survey->process_count; i++)
		if (survey->processes[i].pid == pid && survey->processes[i].device == device)
			return &survey->processes[i];
	return NULL;
}

void assert_near(double value, double wanted)
{
	if (fabs(value - wanted) > 1e-9 * (1 + fabs(wanted)))
		fail_msg("%.9g, not %.9g", value, wanted);
}
