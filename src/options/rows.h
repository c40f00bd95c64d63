/*
 * The definitions that a file needs before it expands the tables of subcommands: the identifiers of their options, and macros that make
 * rows of struct option_row and struct subcommand.
 */
#pragma once

#include "options/option.h"

#define SWITCH KIND_SWITCH
#define VALUE KIND_VALUE
#define LIST KIND_LIST
#define OPTIONAL KIND_OPTIONAL
#define WORD KIND_WORD
#define OPEN KIND_OPEN
#define NUMBER KIND_NUMBER
#define POSITIVE KIND_POSITIVE
#define PARTS KIND_PARTS
#define STEP KIND_STEP

/* Programs print no manual: its texts stay out of them. */
#ifdef WITH_MANUAL
#define MANUAL(more) , more
#else
#define MANUAL(more)
#endif

#define SUBCOMMAND_ROW(name, arguments, help, purpose, notes, example) \
	{name, arguments, help, purpose, notes, example},
#define HEADING_ROW(name) {name, NULL, 0, OWNER_SUBCOMMAND, SWITCH, "", "", 0, "", "", 0 MANUAL("")},
#define OPTION_ROW(id, name, letter, kind, argument, shown, help) \
	{NULL, name, letter, OWNER_SUBCOMMAND, kind, argument, shown, MODE_ANY, "", help, id MANUAL("")},
#define LAST_ROW \
	{ \
		NULL, NULL, 0, OWNER_SUBCOMMAND, SWITCH, "", "", 0, "", "", 0 MANUAL("") \
	}
