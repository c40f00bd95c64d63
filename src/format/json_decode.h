/*
 * Decodes one line of a JSON Lines recording into a frame: the inverse of format/json_encode.c, driven by the same
 * catalogue.
 *
 *   {"timestamp_secs":1718000000,...,"cpu":{"utilization_pct":4.6,...},"memory":{...},"network":[{...}],...}
 *
 * Unknown keys (of a later version) are skipped. Missing keys (of an earlier version, or with --static-once) and
 * values of another type leave their field absent.
 */
#pragma once

#include "format/json_scan.h"
#include "metric/frame.h"
#include "metric/metric_set.h"

/* A key of an object: a metric, or the rows of a kind below it. */
struct sample_member {
	const char *key;
	size_t key_length;
	enum row_kind kind; /* the row kind of the metric, or the kind below */
	int metric;         /* index, or -1: rows of `kind` */
};

#define ROW_BEGIN(kind, parent, shape, key, source, cost, help) +1
#define REAL(kind, name, unit, decimals, nature, help) +1
#define COUNT(kind, name, unit, nature, help) +1
#define TEXT(kind, name, help) +1
#define FLAG(kind, name, help) +1
#define DELTA_REAL(kind, name, unit, decimals, from, help) +1
#define DELTA_COUNT(kind, name, unit, from, help) +1
#define CHANGE_REAL(kind, name, unit, decimals, help) +1
#define CHANGE_COUNT(kind, name, unit, help) +1
#define RATE(kind, name, unit, decimals, from, help) +1
#define EXACT_RATE(kind, name, unit, decimals, from, help) +1
#define SUM_DELTA(kind, name, unit, of_kind, from, help) +1
#define SUM_RATE(kind, name, unit, decimals, of_kind, from, help) +1
enum {
	SAMPLE_MEMBERS = 0
#include "metric/catalogue.def"
};

/* Where a wanted value stands in the line, and its field in the frame. */
struct decoded_value {
	const char *text;
	void *field;
	enum metric_type type;
	enum row_kind kind;
};

/* The members of each kind's object in the order of output, and whether they are wanted. */
struct json_decoder {
	struct sample_member members[SAMPLE_MEMBERS];
	struct {
		size_t first, count;
	} objects[ROW_KINDS];
	struct metric_set wanted;
	bool below_wanted[ROW_KINDS]; /* a metric of the kind, or of one below it, is wanted */
	struct buffer text;           /* a string while its escapes are resolved */
	bool brief;                   /* the last sample leaves out unchanged fields (--static-once) */
	int rows[ROW_KINDS];          /* number of rows in the present sample */
	struct decoded_value
		*values;    /* of the last sample, in the order of its line; NULL: they are not noted */
	size_t value_count; /* above value_room: there were more of them */
	size_t value_room;
};

enum { SAMPLE_ROWS = 8192 };

void json_decoder_init(struct json_decoder *ret_reader, const struct metric_set *wanted);
void json_decoder_done(struct json_decoder *reader);

/*
 * Fills a frame that frame_begin() has emptied. Returns false if the line is not one whole JSON object, or has
 * more rows of a kind than any machine (SAMPLE_ROWS).
 */
bool json_decoder_read(struct json_decoder *reader, struct scan line, struct frame *frame);

/* Writes a number or a flag into its field, which becomes absent if the value is of another type. */
void json_decode_number(enum metric_type type, enum json_kind kind, struct scan raw, void *field);
