/* Size of a step's input. See step.h. */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "launch/in_time.h"
#include "launch/input_size.h"
#include "shell/step.h"

/* Room for some thousand names. Beyond it the size is unknown. */
enum { NAMES_BYTES = 128 << 10, STAGED_DEEP = 8, MAKERS_MOST = (32 << 10) / STEP_FOLDER_BYTES };

/* Names of files, one behind the other, each with a NUL. A process aside fills it. */
struct names {
	size_t count, length;
	bool is_whole;
	char text[NAMES_BYTES];
	/* Of a task of Nextflow: its folder, and those of the tasks that made the files, each once. */
	const char *own;
	size_t maker_count;
	bool has_all_makers;
	char makers[MAKERS_MOST][STEP_FOLDER_BYTES];
};

static void add_name(struct names *names, const char *folder, const char *name)
{
	size_t left = sizeof(names->text) - names->length;
	int length = snprintf(names->text + names->length, left, "%s%s", folder, name);

	if (length < 0 || (size_t)length >= left || length >= PATH_MAX) {
		names->is_whole = false;
		return;
	}
	names->length += (size_t)length + 1;
	names->count++;
}

/* ---- Nextflow: what is staged ----------------------------------------------------------------------- */

static bool is_own_of_task(const char *name)
{
	return strncmp(name, ".command.", strlen(".command.")) == 0 || strcmp(name, ".exitcode") == 0 ||
	       strcmp(name, ".resource-tracker") == 0;
}

static bool is_known_maker(const struct names *names, const char *maker)
{
	size_t i = names->maker_count;

	while (i && strcmp(names->makers[i - 1], maker) != 0)
		i--;
	return i > 0;
}

/* The origin of a copy is unknown. */
static void add_staged_maker(struct names *names, int folder, const char *name)
{
	char path[PATH_MAX], maker[STEP_FOLDER_BYTES];
	ssize_t length = readlinkat(folder, name, path, sizeof(path) - 1);

	bool is_link = length >= 0 && (size_t)length < sizeof(path) - 1;

	path[is_link ? length : 0] = '\0';
	if (is_link && (!step_find_maker(path, names->own, maker) || is_known_maker(names, maker)))
		return;
	if (!is_link || !*maker || names->maker_count == MAKERS_MOST)
		names->has_all_makers = false;
	else
		memcpy(names->makers[names->maker_count++], maker, sizeof(maker));
}

/* `prefix` is "" or "in/1/". Takes the descriptor. */
static void add_staged(struct names *names, int fd, const char *prefix, unsigned depth)
{
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	char below[PATH_MAX];

	if (!folder || depth > STAGED_DEEP)
		names->is_whole = false;
	while (folder && names->is_whole && (entry = readdir(folder))) {
		const char *name = entry->d_name;

		if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || (!*prefix && is_own_of_task(name)))
			continue;
		fd = openat(dirfd(folder), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0) {
			add_name(names, prefix, name);
			add_staged_maker(names, dirfd(folder), name);
		} else if (snprintf(below, sizeof(below), "%s%s/", prefix, name) < (int)sizeof(below))
			add_staged(names, fd, below, depth + 1);
		else
			close(fd);
	}
	if (folder)
		closedir(folder);
	else if (fd >= 0)
		close(fd);
}

static void list_staged(void *data)
{
	add_staged(data, open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), "", 0);
}

/* ---- Snakemake: the input of a rule ------------------------------------------------------------------ */

static void list_told(const struct step *step, struct names *names)
{
	struct scan words = step->words, name;
	char path[PATH_MAX];

	while (step_next_file(&words, "input=", &name)) {
		step_decode(name, path, sizeof(path));
		add_name(names, "", path);
	}
}

static int64_t size_of_names(const struct names *names)
{
	CLEANUP_FREE const char **words = calloc(names->count, sizeof(*words));
	const char *unknown, *name = names->text;
	int64_t bytes;

	if (!words)
		return 0;
	for (size_t i = 0; i < names->count; i++, name += strlen(name) + 1)
		words[i] = name;
	bytes = size_of_inputs(words, names->count, &unknown);
	return bytes > 0 ? bytes : 0;
}

int64_t step_input_bytes(const struct step *step, struct buffer *makers)
{
	bool is_nextflow = step->orchestrator && strcmp(step->orchestrator, "nextflow") == 0;
	CLEANUP_FREE struct names *names = NULL;

	if (!is_nextflow && !scan_left(&step->words))
		return 0;
	names = calloc(1, sizeof(*names));
	if (!names)
		return 0;
	names->is_whole = names->has_all_makers = true;
	names->own = step->folder;
	if (!is_nextflow)
		list_told(step, names);
	else if (act_in_time(".", list_staged, names, sizeof(*names)) < 0)
		return 0;
	for (size_t i = 0; i < names->maker_count && names->is_whole && names->has_all_makers; i++)
		buffer_printf(makers, " %s", names->makers[i]);
	return names->is_whole && names->count ? size_of_names(names) : 0;
}
