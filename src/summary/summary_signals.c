/* The signals of --signal-at in words. See summary_signals.h. */
#include "summary/summary_signals.h"

#include <stdio.h>

#include "base/cleanup.h"
#include "metric/typed_rows.h"
#include "table/signal_words.h"

void summary_signals_want(struct metric_set *wanted)
{
	metric_set_add_kind(wanted, ROW_signal_at);
}

void summary_signals_add(struct summary_signals *signals, const struct frame *frame)
{
	for (const struct signal_at_row *row = FIRST(frame, signal_at); row; row = NEXT(row, signal_at)) {
		CLEANUP_BUFFER struct buffer words = BUFFER(sizeof(signals->words));

		buffer_add_text(&words, signals->words);
		buffer_add_text(&words, *signals->words ? "; " : "");
		add_signal_words(&words, row);
		/* One that has no room any more is in the recording. */
		if (!buffer_error(&words))
			snprintf(signals->words, sizeof(signals->words), "%s", words.data);
	}
}
