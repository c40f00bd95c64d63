/* Makes the fake NVML answer: see tests/fakes/nvml_fake_script.c for the language. */
#pragma once

/* The library and an empty script, by TRACKER_NVML_LIBRARY and NVML_FAKE_SCRIPT. `library`: nvml_fake, nvml_fake_old. */
void nvml_script_begin(const char *library);
/* Replaces what it answers; it is read at the next pass. */
void nvml_script_set(const char *text);
void nvml_script_end(void);
