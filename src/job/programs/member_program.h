/* The program that one member runs, as job/programs/ keeps it. */
#pragma once

#include <stdint.h>

struct member_program {
	char comm[16];
	uint64_t identity; /* changes with exec */
};
