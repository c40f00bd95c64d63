/* A signal of --signal-at in words. See signal_words.h. */
#include "table/signal_words.h"

#include "metric/absent.h"
#include "metric/typed_rows.h"
#include "table/units.h"

void add_signal_words(struct buffer *out, const struct signal_at_row *row)
{
	int64_t count = count_absent(row->process_count) ? 0 : row->process_count;

	buffer_add_text(out, text_absent(row->rule) ? "a signal" : row->rule);
	if (count)
		buffer_printf(out, " sent to %lld process%s", (long long)count, count == 1 ? "" : "es");
	else
		buffer_add_text(out, " not sent");
	if (!real_absent(row->elapsed_secs)) {
		buffer_add_text(out, " after ");
		add_duration(out, row->elapsed_secs);
	}
	if (count && !text_absent(row->because))
		buffer_printf(out, " (%s)", row->because);
	if (!text_absent(row->not_sent))
		buffer_printf(out, count ? ", not to all (%s)" : " (%s)", row->not_sent);
}
