/*
 * Surveys of the fake NVML, one after the other, by clocks that can be set. The assertions of cmocka judge the
 * results.
 */
#pragma once

#include "gpu/surveyor.h"
#include "kernel/root.h"

extern struct root root;
extern struct surveyor *surveyor;
extern struct gpu_request request;
extern const struct gpu_survey *survey; /* of the last pass */
extern int64_t offset_ns;               /* of the machine's clocks from the real ones */
extern int64_t realtime_offset_ns;      /* of the wall clock alone */

/* With an answering script, see nvml_script.h; `library`: nvml_fake, nvml_fake_old. */
void begin_at(const char *library, const char *root_dir, const char *script);
void begin(const char *script);
void end_survey(void);

/* Makes the next survey. */
void pass(void);

/* A reading that must be there, and why one is not. */
double reading(int device, enum gpu_reading which);
int64_t error_of(int device, enum gpu_reading which);
/* NULL: it is not in the survey. */
const struct gpu_process *process(int device, int pid);
void assert_near(double value, double wanted);
