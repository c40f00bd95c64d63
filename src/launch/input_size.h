/* How large the input of a job is, in bytes, before it starts: of files, by stat(2). Each file counts once. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * A command with more words that may be files, and a folder with more entries, have an unknown size. The first files that a user names
 * are compared by inode.
 */
enum { INPUT_FILES_MOST = 256, INPUT_ENTRIES_MOST = 100000 };

/*
 * The input that a user named: files, folders with all that is below them, and patterns ("data/2026-*.csv"). Returns their bytes or -1
 * if one is missing or its file system does not answer; *ret_unknown is the word.
 */
int64_t size_of_inputs(const char *const *words, size_t count, const char **ret_unknown);

/*
 * The regular files that a command names: words behind the first one that are paths, without options and without files that can be
 * executed. Returns -1 if it names none. A file whose file system does not answer is left out.
 */
int64_t size_of_named_files(char *const *words, size_t count);
