/*
 * Where --stream sends a run, one row each:
 *
 *	ROW(value of the setting, word, ID, place)
 *
 * A row is expanded into the option's words and help here and in `upload`, the completions, the man page, the command that
 * sends what is left, and the ending of the run's names in the spool (".WORD"). It is sent by ID_destination in
 * src/stream/stream_ID.c (stream/destination.h).
 *
 * word: behind --stream. The default is taken if there is a token; the others must be named.
 * place: for help, after "stream if ..., or".
 */
#pragma once

#define DEFAULT_DESTINATION(ROW) ROW(STREAM_AUTO, "auto", sentinel, "to a Sentinel API")
#define NAMED_DESTINATIONS(ROW) \
	/* one line each */ \
	ROW(STREAM_OTLP, "otlp", otlp, "to a receiver of OTLP")

/* The named ones as "|a|b", and as ", or to A, or to B". */
#define DESTINATION_WORD(value, word, ...) "|" word
#define DESTINATION_PLACE(value, word, id, place) ", or " place
