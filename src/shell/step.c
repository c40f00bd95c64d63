/* Names of steps. See step.h. */
#include "shell/step.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/scan.h"

static const char MARK[] = ": resource-tracker-step ";
static const char NEXTFLOW[] = "# NEXTFLOW TASK: ";

/* FILE_NAME_MOST leaves room for time, pid, number, ".jsonl.marks": some file systems take 143 bytes. */
enum { COMMAND_RUN_BYTES = 512, FILE_NAME_MOST = 100, HASH_BYTES = 9, HASH_FIRST = 2, HASH_REST = 30 };

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

size_t step_decode(struct scan word, char *ret_text, size_t size)
{
	size_t length = 0;

	for (const char *at = word.at; at < word.end && length < size - 1; at++) {
		unsigned char c = (unsigned char)*at;

		if (c == '%' && word.end - at > 2 && hex_digit(at[1]) >= 0 && hex_digit(at[2]) >= 0) {
			c = (unsigned char)(hex_digit(at[1]) << 4 | hex_digit(at[2]));
			at += 2;
		}
		ret_text[length++] = (char)c;
	}
	ret_text[length] = '\0';
	return length;
}

/* A control character becomes "?", so that a name stays one line. */
static void decode_word(struct scan word, char *ret_name)
{
	size_t length = step_decode(word, ret_name, STEP_NAME_BYTES);

	for (size_t i = 0; i < length; i++)
		if ((unsigned char)ret_name[i] < ' ' || ret_name[i] == 0x7f)
			ret_name[i] = '?';
}

/* "cores=4". A name has its "=" encoded. */
static bool take_request(struct step *step, struct scan word)
{
	static const struct {
		const char *key;
		size_t place;
	} KEYS[] = {{"cores=", offsetof(struct step, cores)},
		    {"memory_mib=", offsetof(struct step, memory_mib)},
		    {"attempt=", offsetof(struct step, attempt)}};

	for (size_t i = 0; i < ARRAY_SIZE(KEYS); i++)
		if (scan_literal(&word, KEYS[i].key)) {
			scan_copy(&word, (char *)step + KEYS[i].place, STEP_NUMBER_BYTES);
			return true;
		}
	return false;
}

/* Returns the words behind the mark, or none. */
static struct scan words_of_step(const char *text)
{
	const char *mark = strstr(text, MARK);

	if (mark)
		mark += strlen(MARK);
	return mark ? scan_bytes(mark, strcspn(mark, ";\n")) : scan_bytes("", 0);
}

bool step_next_file(struct scan *words, const char *key, struct scan *ret_name)
{
	while (scan_word(words, ret_name))
		if (scan_literal(ret_name, key))
			return true;
	return false;
}

bool step_write_tag(const struct step *step, const char *tag, const char *key, bool also_without,
		    struct buffer *out)
{
	struct scan words = step->words, name;
	const char *before = "";

	buffer_add_text(out, tag);
	while (step_next_file(&words, key, &name)) {
		buffer_printf(out, "%s%.*s", before, (int)scan_left(&name), name.at);
		before = " ";
	}
	buffer_add_char(out, '\0');
	return (*before || also_without) && !buffer_error(out);
}

bool step_of_command(const char *text, struct step *ret_step)
{
	struct scan words = words_of_step(text), word;
	struct step step = {.orchestrator = "snakemake"};

	if (!scan_word(&words, &word))
		return false;
	decode_word(word, step.job);
	step.words = words;
	while (scan_word(&words, &word))
		if (!take_request(&step, word) && !scan_literal(&word, "input=") &&
		    !scan_literal(&word, "output=") && !*step.task)
			decode_word(word, step.task);
	*ret_step = step;
	return true;
}

bool step_of_nextflow(const char *text, size_t length, struct step *ret_step)
{
	struct scan lines = scan_bytes(text, length), line, job;
	struct step step = {.orchestrator = "nextflow"};

	while (scan_line(&lines, &line)) {
		if (!scan_literal(&line, NEXTFLOW))
			continue;
		line = scan_trim(line);
		decode_word(line, step.task);
		/* "align (sample 3)" is a task of the process "align". */
		if (!scan_until(&line, '(', &job))
			job = line;
		decode_word(scan_trim(job), step.job);
		*ret_step = step;
		return true;
	}
	return false;
}

static bool is_hash_of_task(const char *text, size_t length)
{
	return strspn(text, "0123456789abcdef") == length && (text[length] == '/' || !text[length]);
}

/* The last folder of that kind counts: a task may run a workflow of its own. */
bool step_find_maker(const char *path, const char *own, char ret_folder[static STEP_FOLDER_BYTES])
{
	const char *above = "", *parent = "";
	bool is_found = false;
	size_t length;

	for (const char *at = path; *at; at += length + (at[length] == '/')) {
		/* A relative link to a folder beside this one does not name the first two digits. */
		const char *first = strncmp(parent, "../", 3) == 0 ? own : parent;

		length = strcspn(at, "/");
		if (is_hash_of_task(at, HASH_REST) && strspn(first, "0123456789abcdef") == HASH_FIRST) {
			snprintf(ret_folder, STEP_FOLDER_BYTES, "%.2s/%.10s", first, at);
			if (strncmp(above, "tmp/", 4) == 0)
				*ret_folder = '\0';
			is_found = true;
		}
		above = parent;
		parent = at;
	}
	return is_found;
}

static bool read_nextflow(const char *folder, size_t folder_length, struct step *ret_step)
{
	char path[PATH_MAX], text[COMMAND_RUN_BYTES];
	CLEANUP_CLOSE int fd = -1;
	ssize_t length;

	if (snprintf(path, sizeof path, "%.*s/.command.run", (int)folder_length, folder) >= (int)sizeof path)
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	length = fd < 0 ? -1 : read(fd, text, sizeof text);
	if (length <= 0 || !step_of_nextflow(text, (size_t)length, ret_step))
		return false;
	if (!step_find_maker(path, "", ret_step->folder))
		*ret_step->folder = '\0';
	return true;
}

static bool find_nextflow(const char *script, struct step *ret_step)
{
	const char *folder = getenv("NXF_TASK_WORKDIR"), *name = script ? strrchr(script, '/') : NULL;

	return folder && (read_nextflow(folder, strlen(folder), ret_step) ||
			  (name && strcmp(name, "/.command.sh") == 0 &&
			   read_nextflow(script, (size_t)(name - script), ret_step)));
}

static bool find_github(struct step *ret_step)
{
	const char *job = getenv("GITHUB_JOB"), *action = getenv("GITHUB_ACTION");

	if (!job || !action)
		return false;
	*ret_step = (struct step){.orchestrator = "github"};
	snprintf(ret_step->task, sizeof ret_step->task, "%s/%s", job, action);
	return true;
}

/* The user's own names come first. The recorder reads the same variables. */
static void take_variable(const char *name, char *ret_text)
{
	const char *value = getenv(name);

	if (value && *value)
		snprintf(ret_text, STEP_NAME_BYTES, "%s", value);
}

void step_find(const char *command, const char *script, struct step *ret_step)
{
	struct step step = {.orchestrator = NULL};

	if (!command || !step_of_command(command, &step))
		(void)(find_nextflow(script, &step) || find_github(&step));
	take_variable("TRACKER_JOB_NAME", step.job);
	take_variable("TRACKER_TASK_NAME", step.task);
	*ret_step = step;
}

static void export_number(const char *name, const char *value)
{
	if (*value)
		(void)setenv(name, value, 1);
}

void step_export(const struct step *step)
{
	export_number("TRACKER_CORES_ASKED", step->cores);
	export_number("TRACKER_MEMORY_ASKED_MIB", step->memory_mib);
	export_number("TRACKER_ATTEMPT", step->attempt);
}

/* Adds a name with the characters that are safe in a file name. All others become "_". */
static void add_safe(struct buffer *out, const char *name)
{
	static const char SAFE[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,=+-_";

	for (; *name; name++)
		buffer_add_char(out, strchr(SAFE, *name) ? *name : '_');
}

/* A name that is too long for a file ends with a hash of itself (FNV-1a), so that two of them stay two. */
static void cut_name(struct buffer *out, size_t start)
{
	uint32_t hash = 2166136261;

	if (buffer_error(out) || out->length - start <= FILE_NAME_MOST)
		return;
	for (size_t i = start; i < out->length; i++)
		hash = (hash ^ (unsigned char)out->data[i]) * 16777619;
	out->length = start + FILE_NAME_MOST - HASH_BYTES;
	buffer_printf(out, "-%08x", hash);
}

/* "one.s=x", of Nextflow, whose task contains the name of the job, "WORK__sample_50_". */
static void add_step(struct buffer *out, const struct step *step)
{
	size_t start = out->length;
	bool both = *step->job && *step->task && strncmp(step->job, step->task, strlen(step->job)) != 0;

	if (both || !*step->task)
		add_safe(out, *step->job ? step->job : "step");
	if (both)
		buffer_add_char(out, '.');
	add_safe(out, step->task);
	cut_name(out, start);
}

static void add_step_host(struct buffer *out)
{
	char host[HOST_NAME_MAX + 1] = "";

	gethostname(host, sizeof host - 1);
	add_safe(out, host);
}

/* The end of the name without ".jsonl" or ".csv.gz", or NULL for a stream, and for a name that has its own %u. */
static const char *place_of_number(const char *template)
{
	const char *slash = strrchr(template, '/'), *name = slash ? slash + 1 : template;
	const char *end = name + strlen(name), *dot;

	if (strcmp(template, "-") == 0 || strncmp(template, "/dev/", strlen("/dev/")) == 0 || !*name)
		return NULL;
	for (const char *at = template; *at; at++)
		if (*at == '%' && at[1] && *++at == 'u')
			return NULL;
	if (end - name > 3 && strcmp(end - 3, ".gz") == 0)
		end -= 3;
	dot = memrchr(name, '.', (size_t)(end - name));
	return dot && dot > name ? dot : end;
}

void step_expand(const char *template, const struct step *step, struct buffer *out)
{
	const char *number = place_of_number(template);

	for (const char *at = template; *at; at++) {
		if (at == number)
			buffer_add_text(out, "%u");
		if (at[0] != '%' || !at[1]) {
			buffer_add_char(out, *at);
			continue;
		}
		at++;
		if (*at == 'n')
			add_step(out, step);
		else if (*at == 'h')
			add_step_host(out);
		else
			buffer_printf(out, "%%%c", *at);
	}
	if (number && !*number)
		buffer_add_text(out, "%u");
}
