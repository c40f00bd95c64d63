/* The places that --report and --runs name: a mistake in them must be told before the job, which may take days. */
#pragma once

/* Returns NULL, or why the report cannot or must not be written to `page`, valid until the next call. Creates nothing. */
const char *why_no_page(const char *page);

/* The same for the line of the run, which is appended to `runs`. */
const char *why_no_line(const char *runs);

/* Returns TMPDIR, or /tmp if it is not given or may hang. */
const char *temporary_folder(void);

/*
 * Copies the temporary recording `fd`, of which no page could be made, to the new file PAGE.jsonl (or PAGE.1.jsonl, ...),
 * and names the file on stderr. Where that folder has no room, or is /dev, the temporary folder gets it.
 */
void rescue_recording(int fd, const char *page);
