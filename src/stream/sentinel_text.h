/*
 * Builds requests to the Sentinel API and reads its answers. Pure: bytes in, bytes out. The API's schemas refuse
 * unknown members, so only listed members are sent.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "metric/frame.h"
#include "discover/machine_facts.h"
#include "stream/spool.h"

/*
 * POST /runs: metadata from the first sample of a run, and the facts of the machine. `metadata` (NULL: none) is a
 * JSON object from the recorded program. Its members replace those of the same name. Other text is ignored.
 */
void write_start(struct buffer *out, const struct frame *first, const struct facts *facts,
		 const char *metadata);

/* A JSON object as one line, which the caller frees. NULL: the bytes are not a JSON object. */
char *object_as_line(const char *bytes, size_t length);

/* POST /runs/ID/finish with the rows themselves. `csv` is a complete CSV text. */
void write_finish_inline(struct buffer *out, const struct run_outcome *outcome, const char *csv,
			 size_t length);

/* POST /runs/ID/finish with the addresses of `objects` objects: "PREFIX/RUN_ID/000007.csv.gz". */
void write_finish_s3(struct buffer *out, const struct run_outcome *outcome, const char *uri_prefix,
		     const char *run_id, int64_t objects);

struct credentials {
	char *access_key;
	char *secret_key;
	char *session_token; /* NULL: none */
	char region[64];     /* "": the answer has none */
	bool expires;
	int64_t expires_at_secs; /* UTC */
};

void credentials_done(struct credentials *credentials);

struct registration {
	char *run_id;
	char *uri_prefix;
	struct credentials credentials;
};

void registration_done(struct registration *registration);

/*
 * Read answers. Return 0, -EBADMSG for an invalid one (ret_wrong is one line without any text of the answer), or
 * -ENOMEM. Unknown members are ignored. The expiry is called expires_at or expiration. With both, the earlier one
 * counts.
 */
int parse_registration(const char *bytes, size_t length, struct registration *ret_registration,
		       const char **ret_wrong);
int parse_credentials(const char *bytes, size_t length, struct credentials *ret_credentials,
		      const char **ret_wrong);

/*
 * Appends the reason for a refusal, in one line: "detail" as text, or as a list of members with their faults. It
 * leaves out the refused values, which the server repeats. Appends nothing without such a member.
 */
void add_error_detail(struct buffer *out, const char *bytes, size_t length);
