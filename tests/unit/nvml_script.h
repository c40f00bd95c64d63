/* Scripts the answers of the fake NVML: see tests/fakes/nvml_fake_script.c for the language. */
#pragma once

/*
 * Sets the library and an empty script in TRACKER_NVML_LIBRARY and NVML_FAKE_SCRIPT. `library`: nvml_fake,
 * nvml_fake_old.
 */
void nvml_script_begin(const char *library);
/* Replaces the script. The library reads it at its next pass. */
void nvml_script_set(const char *text);
void nvml_script_end(void);
