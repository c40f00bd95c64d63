/* Makes the list of texts about a job from the table of settings; see job_texts.h. */
#include "metric/job_texts.h"

#include "base/cleanup.h"

const struct job_text JOB_TEXTS[] = {
#define JOB_SETTING(field, name, help, metric_help) {#field, metric_help},
#include "options/job_settings.def"
};

const size_t JOB_TEXT_COUNT = ARRAY_SIZE(JOB_TEXTS);
