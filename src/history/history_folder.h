/*
 * The folder of the history: runs of this user on this machine. The recorder puts recordings there, the analysis keeps
 * it in order.
 *
 *	$XDG_STATE_HOME/resource-tracker/   or ~/.local/state/resource-tracker/, mode 0700
 *	  12.jsonl         the recording of run 12: locked while it is written
 *	  12.jsonl.gz      the same after its end
 *	  12.jsonl.marks   the phases that the job marked, and 12.jsonl.gz.marks after the end
 *	  12.removed       run 12 was the newest one and has been removed: its number is not given again
 *	  runs.jsonl       a line for each run that has ended (run_line.h)
 *
 * Nothing in a folder that another user controls is read or written: the folder, and those that lead to it from the home
 * folder, must belong to this user or root, and no other user may write to them.
 */
#pragma once

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>

enum { HISTORY_WHY_BYTES = PATH_MAX + 200 };

/* Whether the value of TRACKER_HISTORY or --history means that no history is kept: off, no, false or 0. */
bool history_is_off(const char *given);

/* The path of the folder that history_folder_find() looks for. Touches no file system. */
void history_place(const char *given, char ret_path[static PATH_MAX]);

/*
 * Finds the folder, and makes it if `make`. `given` is a folder, or NULL for the usual one. Returns 0 and the path, which
 * the caller frees, -ENOENT if there is none and `make` is false, or another negative errno with a reason: a path and
 * what is wrong with it.
 */
int history_folder_find(const char *given, bool make, char **ret_path,
			char ret_why[static HISTORY_WHY_BYTES]);

/* A file with a higher number is foreign: a run after it could not have the next number. */
enum { HISTORY_NUMBER_MOST = 999999999 };

static inline void history_close_entries(DIR **entries)
{
	if (*entries)
		closedir(*entries);
}
#define CLEANUP_ENTRIES __attribute__((cleanup(history_close_entries)))

/* The facts in the name of a file in the folder. */
enum history_file {
	HISTORY_OTHER,
	HISTORY_RECORDING,
	HISTORY_COMPRESSED,
	HISTORY_MARKS,
	HISTORY_COMPRESSED_MARKS,
	HISTORY_REMOVED,
};
enum history_file history_file_kind(const char *name, unsigned *ret_number);

/*
 * Creates the recording of the next run: an empty file with the lock of a recorder. Returns its descriptor, which is
 * above the standard streams, and its number, or a negative errno.
 */
int history_create(const char *folder, unsigned *ret_number);
