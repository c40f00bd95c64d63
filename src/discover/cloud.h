/*
 * Finds out in which cloud this machine runs: the cloud_* facts, from the metadata services of the vendors. The
 * firmware is asked first (/sys/class/dmi/id), which costs no network. If a known vendor names itself there,
 * only that one is asked. If another maker does, none is. The remaining vendors are asked in parallel, 1 s a
 * request, 3 s in all, never through a proxy. Each must prove its identity (the service at 169.254.169.254
 * imitates Amazon's in half of all clouds). If several do, the first of the list wins, regardless of speed.
 */
#pragma once

#include <stdbool.h>

#include "kernel/sys_dmi.h"
#include "net/http.h"
#include "discover/machine_facts.h"

enum { CLOUD_TOKEN_SIZE = 4096 };

/* Answers of one vendor so far, while its steps are walked through. */
struct cloud_reading {
	struct facts facts;
	char token[CLOUD_TOKEN_SIZE]; /* for the following steps. "": the service gives none */
};

struct cloud_step {
	const char *method; /* NULL: GET */
	const char *url;
	const char *headers[2];
	const char *token_header; /* "Name: " or "Name: Bearer ", followed by the token if there is one */
	const char *body;
	const char *answer_header; /* "Name", "value": the answer must have it */
	const char *answer_value;
	bool optional; /* the vendor is recognised without it. Optional steps come last */
	bool may_fail; /* continues without this step's facts */
	/* A pure function. Returns false if the answer is not this vendor's. */
	bool (*take)(struct cloud_reading *reading, const char *bytes, size_t length);
};

/* A text of the firmware that identifies a vendor. One match is enough. */
struct cloud_mark {
	size_t offset; /* of the text in struct sys_dmi */
	bool whole;    /* equals, else begins with */
	bool vague;    /* other firmware looks the same: ask, unless the firmware names another vendor */
	const char *text;
};

struct cloud_vendor {
	const char *id; /* as the Sentinel and Keeper APIs call it */
	const struct cloud_mark *marks;
	size_t mark_count;
	const struct cloud_step *steps;
	size_t step_count;
};

/* The only list. An earlier vendor wins over a later one. */
extern const struct cloud_vendor CLOUD_VENDORS[];
extern const size_t CLOUD_VENDOR_COUNT;
enum { CLOUD_MOST_VENDORS = 16 };

/*
 * Finds the vendors that the firmware does not exclude. dmi NULL: there is no firmware to ask. Returns their
 * number.
 */
size_t cloud_candidates(const struct sys_dmi *dmi, bool ret_candidates[CLOUD_MOST_VENDORS]);

/*
 * Asks, and sets the cloud_* facts of the winner, if any. `metadata_url` replaces scheme, host and port of every
 * request. NULL: each vendor's own.
 */
void cloud_discover(struct http_client *http, const struct sys_dmi *dmi, const char *metadata_url,
		    struct facts *facts);
