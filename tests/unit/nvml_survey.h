/*
 * Takes surveys of the fake NVML in sequence, with adjustable clocks. The assertions of cmocka judge the
 * results.
 */
#pragma once

#include "gpu/surveyor.h"
#include "kernel/root.h"

extern struct root root;
extern struct surveyor *surveyor;
extern struct gpu_request request;
extern const struct gpu_survey *survey; /* the last survey */
extern int64_t offset_ns;               /* added to the machine's clocks */
extern int64_t realtime_offset_ns;      /* added to the wall clock only */

/* Begins with a script of answers, see nvml_script.h; `library`: nvml_fake, nvml_fake_old. */
void begin_at(const char *library, const char *root_dir, const char *script);
void begin(const char *script);
void end_survey(void);

/* Makes the next survey. */
void pass(void);

/* Returns a reading, which must be present; fails with the reason if it is not. */
double reading(int device, enum gpu_reading which);
int64_t error_of(int device, enum gpu_reading which);
/* Returns NULL if the survey lacks the process. */
const struct gpu_process *process(int device, int pid);
void assert_near(double value, double wanted);
