/* The search of one member's descriptors for sockets, as job/network/ keeps it. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct member_sockets {
	size_t searched;  /* the search that last read its descriptors. 0: none has */
	int64_t clock_ns; /* its CPU clock at that time */
};
