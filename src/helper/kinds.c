/* The list of helper kinds; see kinds.h. */
#include "helper/kinds.h"

extern const struct helper_kind GPU_HELPER;

const struct helper_kind *const HELPER_KINDS[] = {
	&GPU_HELPER,
	NULL,
};
