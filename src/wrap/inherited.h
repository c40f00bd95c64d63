/* Attributes that this process inherited and the job must have. */
#pragma once

#include "wrap/state.h"

void inherited_capture(struct wrap *wrap);
void inherited_restore_for_job(const struct wrap *wrap);
