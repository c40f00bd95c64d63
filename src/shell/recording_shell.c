/*
 * libexec/resource-tracker/shell/bash, and sh: a shell for engines (SHELL of make, shell.executable of Snakemake,
 * process.shell of Nextflow, shell: of GitHub Actions) that records each step.
 *
 * It becomes the recorder, which runs the real shell with the same arguments. Arguments, exit status, signals and standard streams
 * are those of the real shell. The program has the name of the shell that it stands for, because engines look at it: Snakemake
 * puts "set -euo pipefail" before a command for "bash" alone.
 *
 * A shell below a recorded step is part of that step and is not recorded again. TRACKER_SHELL_STEP=PID:START names the recorder
 * of the step. It counts only if that process is an ancestor: a variable travels further, for instance into batch jobs.
 *
 * A step never fails because it cannot be recorded: then one line on stderr has the reason, and the real shell runs alone: here
 * before the recorder, and in its place afterwards (cli/alone.h). So it does with more rights than its caller (AT_SECURE), whose environment would choose the shell and the recording.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/enough_stack.h"
#include "base/file_place.h"
#include "base/printable.h"
#include "base/runs_once.h"
#include "base/scan.h"
#include "base/trust.h"
#include "kernel/proc_pid_stat.h"
#include "launch/find_program.h"
#include "launch/in_time.h"
#include "launch/install_paths.h"
#include "shell/step.h"

enum { EXIT_CANNOT_RUN = 126, ANCESTORS_MOST = 4096, OWN_WORDS = 21, TAG_BYTES = 32 << 10 };

static const char DEFAULT_OUTPUT[] = ".resource-tracker/%n.%t.%p.jsonl";

/* In a build tree this program is in src/shell. Installed, in libexec/resource-tracker/shell. */
static const char *const NEAR_RECORDER[] = {"../../", "../../../bin/", NULL};
static const struct sister_program RECORDER = {"resource-tracker", NULL, NEAR_RECORDER, BIN_DIR};

/* Prints one line. A path or a variable of the user may have characters that steer a terminal. */
__attribute__((format(printf, 1, 2))) static void tell_user(const char *format, ...)
{
	char text[2 * PATH_MAX];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	for (char *at = text; *at; at++)
		if (*at == '\n' || *at == '\t')
			*at = '?';
	make_printable(text, strlen(text));
	fprintf(stderr, "resource-tracker: %s\n", text);
}

static void warn_user(const char *what, const char *why)
{
	tell_user("this step is not recorded: %s%s%s", what, why ? ": " : "", why ? why : "");
}

/* ---- the real shell -------------------------------------------------------------------------------- */

/* A filter may refuse stat(2), which a newer C library and shell can do without. */
static bool is_other_name(const char *path)
{
	char real[PATH_MAX], own[PATH_MAX];

	return realpath(path, real) && access(real, X_OK) == 0 && realpath("/proc/self/exe", own) &&
	       strcmp(real, own) != 0;
}

static bool is_other_program(const char *path)
{
	struct stat own, file;

	if (stat(path, &file) < 0)
		return errno != ENOENT && is_other_name(path);
	/* If a filter refuses access(2), exec decides. */
	return S_ISREG(file.st_mode) && (access(path, X_OK) == 0 || errno != EACCES) &&
	       (stat("/proc/self/exe", &own) < 0 || own.st_ino != file.st_ino || own.st_dev != file.st_dev);
}

/* The name of this program: "bash" or "sh". */
static void own_name(char ret_name[static NAME_MAX + 1])
{
	char path[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
	const char *slash;

	path[length < 0 ? 0 : length] = '\0';
	slash = strrchr(path, '/');
	snprintf(ret_name, NAME_MAX + 1, "%s", slash ? slash + 1 : "bash");
}

static bool find_on_path(const char *name, char ret_path[static PATH_MAX])
{
	const char *list = secure_getenv("PATH");

	while (list && *list) {
		size_t length = strcspn(list, ":");

		if (length && snprintf(ret_path, PATH_MAX, "%.*s/%s", (int)length, list, name) < PATH_MAX &&
		    is_other_program(ret_path))
			return true;
		list += length + (list[length] == ':');
	}
	return false;
}

/* The shell that the user names by its path, or by a name that is looked for on PATH. */
static bool find_given_shell(const char *given, char ret_path[static PATH_MAX])
{
	if (strchr(given, '/'))
		return snprintf(ret_path, PATH_MAX, "%s", given) < PATH_MAX && is_other_program(ret_path);
	return find_on_path(given, ret_path);
}

/* Returns false if this machine has no such shell. A wrong variable fails no step. */
static bool find_real_shell(char ret_path[static PATH_MAX])
{
	static const char *const FOLDERS[] = {"/bin", "/usr/bin", "/usr/local/bin"};
	const char *given = secure_getenv("TRACKER_SHELL_REAL");
	char name[NAME_MAX + 1];
	bool is_found = false;

	if (given && *given && find_given_shell(given, ret_path))
		return true;
	own_name(name);
	for (size_t i = 0; i < ARRAY_SIZE(FOLDERS) && !is_found; i++) {
		snprintf(ret_path, PATH_MAX, "%s/%s", FOLDERS[i], name);
		is_found = is_other_program(ret_path);
	}
	is_found = is_found || find_on_path(name, ret_path);
	if (is_found && given && *given)
		tell_user("TRACKER_SHELL_REAL: '%.200s' is not another shell; %s runs this step", given,
			  ret_path);
	return is_found;
}

/* ---- which shells are recorded --------------------------------------------------------------------- */

/* Whether the recorder that the mark names, "PID:START", is an ancestor of this process. */
static bool is_below_folder(struct root *root, const char *mark)
{
	struct scan text = scan_bytes(mark, strlen(mark)), word;
	struct proc_pid_stat stat = {.parent_pid = getppid()};
	int64_t pid, start;

	if (!scan_until(&text, ':', &word) || !scan_i64(&word, &pid) || !scan_i64(&text, &start))
		return false;
	for (int i = 0; i < ANCESTORS_MOST && stat.parent_pid > 0; i++) {
		pid_t ancestor = stat.parent_pid;

		if (read_proc_pid_stat(root, ancestor, &stat) < 0)
			return false;
		if (ancestor == pid)
			return stat.start_ticks == start;
	}
	return false;
}

/* The recorder that this process becomes keeps its pid and its start time. Returns false without /proc. */
static bool mark_step(struct root *root)
{
	struct proc_pid_stat stat;
	char mark[64];

	if (read_proc_pid_stat(root, getpid(), &stat) < 0)
		return false;
	snprintf(mark, sizeof mark, "%d:%" PRId64, (int)getpid(), stat.start_ticks);
	return setenv("TRACKER_SHELL_STEP", mark, 1) == 0;
}

/* Returns the text behind -c, or NULL. ret_script is the script of a shell that has no such text, or NULL. */
static const char *command_of(char *const *argv, const char **ret_script)
{
	bool has_c = false;

	*ret_script = NULL;
	for (size_t i = 1; argv[i]; i++) {
		bool is_option = (argv[i][0] == '-' || argv[i][0] == '+') && argv[i][1];

		if (!is_option) {
			*ret_script = has_c ? NULL : argv[i];
			return has_c ? argv[i] : NULL;
		}
		if (argv[i][0] == '-' && argv[i][1] != '-' && strchr(argv[i], 'c'))
			has_c = true;
		/* "-o pipefail" and "-O extglob" have a word of their own. */
		if (strchr("oO", argv[i][strlen(argv[i]) - 1]) && argv[i][1] != '-' && argv[i + 1])
			i++;
	}
	return NULL;
}

/* ---- where its recording goes ---------------------------------------------------------------------- */

/* Whether another user has put a folder, or a link to one, into a folder that all users may write to. */
static bool is_folder_planted(const struct stat *above, const char *path)
{
	struct stat status;

	return above->st_mode & S_IWOTH && lstat(path, &status) == 0 && status.st_uid != geteuid() &&
	       status.st_uid != 0 && status.st_uid != above->st_uid;
}

/* `above`: its parent, and then itself. */
RUNS_ONCE static int make_folder(const char *path, bool named, struct stat *above)
{
	if (mkdir(path, 0777) < 0 && errno != EEXIST)
		return -errno;
	if (!named && is_folder_planted(above, path))
		return -EUCLEAN;
	return stat(path, above) < 0 ? -errno : 0;
}

/* Makes all folders of a path, as mkdir -p. Returns 0 or a negative errno; -EUCLEAN: another user has planted one of them. */
static int make_folders(char *path, bool named)
{
	struct stat above;
	int r = stat(*path == '/' ? "/" : ".", &above) < 0 ? -errno : 0;

	for (char *slash = strchr(path + 1, '/'); r == 0 && slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		r = make_folder(path, named, &above);
		*slash = '/';
	}
	return r;
}

struct folder_call {
	char *path;
	bool named;
	int result;
};

static void prepare_folder(void *data)
{
	struct folder_call *call = data;

	call->result = make_folders(call->path, call->named);
	if (call->result == 0 && access(call->path, W_OK | X_OK) < 0)
		call->result = -errno;
}

/* The user has named no folder: it is the one that this program chooses, or that snakemake.smk does. */
static bool is_default(const char *template)
{
	size_t length = strlen(template), most = strlen(DEFAULT_OUTPUT);

	return length >= most && strcmp(template + length - most, DEFAULT_OUTPUT) == 0;
}

/* The folder of a template without "%%", or ".", or false if another "%" is left in it. */
static bool folder_of_program(const char *template, struct buffer *out)
{
	const char *slash = strrchr(template, '/');

	for (const char *at = template; slash && at <= slash; at++) {
		if (*at == '%' && *++at != '%')
			return false;
		buffer_add_char(out, *at);
	}
	if (!slash)
		buffer_add_text(out, "./");
	return true;
}

/* Fills in the template for the recorder's -o. Returns false after the reason was told. */
static bool choose_output(const char *template, const struct step *step, struct buffer *out)
{
	CLEANUP_BUFFER struct buffer folder = BUFFER(PATH_MAX);
	struct folder_call call;
	int r;

	step_expand(template, step, out);
	if (buffer_error(out) || !out->data) {
		warn_user("TRACKER_SHELL_OUTPUT", "is too long");
		return false;
	}
	if (!folder_of_program(out->data, &folder) || buffer_error(&folder)) {
		warn_user("TRACKER_SHELL_OUTPUT", "only %n and %h can be in the name of a folder");
		return false;
	}
	call = (struct folder_call){folder.data, !is_default(template), 0};
	r = act_in_time(folder.data, prepare_folder, &call, sizeof call);
	r = r < 0 ? r : call.result;
	if (r < 0)
		warn_user(folder.data, r == -EUCLEAN     ? "another user has put it there"
				       : r == -ETIMEDOUT ? file_place_fault(r)
							 : strerror(-r));
	return r == 0;
}

static void add_pair(char **words, size_t *count, char *option, char *value)
{
	if (!value || !*value)
		return;
	words[(*count)++] = option;
	words[(*count)++] = value;
}

/* The user's own word comes first. Told to the recorder alone: the step's own jobs have an input of their own. */
static bool find_step_input(const struct step *step, struct buffer *makers, char ret_bytes[static 24])
{
	bool is_given = getenv("TRACKER_INPUT") || getenv("TRACKER_INPUT_BYTES");
	int64_t bytes = is_given && !*step->folder ? 0 : step_input_bytes(step, makers);

	snprintf(ret_bytes, 24, "%" PRId64, bytes);
	return !is_given && bytes > 0;
}

/* Which steps need each other: by the files of a rule of Snakemake, and by the folders of tasks of Nextflow. */
static void write_workflow_tags(const struct step *step, const struct buffer *makers, struct buffer *makes,
				struct buffer *needs, bool *ret_has_makes, bool *ret_has_needs)
{
	if (*step->folder) {
		buffer_printf(makes, "makes=%s", step->folder);
		/* The blank before the first name is left out. */
		*ret_has_needs = makers->length > 0;
		buffer_printf(needs, "needs=%s", *ret_has_needs ? makers->data + 1 : "");
		*ret_has_makes = true;
		return;
	}
	*ret_has_makes = step_write_tag(step, "makes=", "output=", false, makes);
	/* A rule with an output and no input needs nothing. */
	*ret_has_needs = step_write_tag(step, "needs=", "input=", *ret_has_makes, needs);
}

/* Becomes the recorder. Returns only if that fails. */
static void exec_recorder(char *recorder, char *output, struct step *step, char *real, char **argv)
{
	static char quiet[] = "-q", no_summary[] = "--no-summary", no_warnings[] = "--no-warnings",
		    o[] = "-o", job[] = "--job-name", task[] = "--task-name",
		    orchestrator[] = "--orchestrator", input[] = "--input-bytes", tag[] = "--tag",
		    separator[] = "--", name[] = "resource-tracker";
	CLEANUP_BUFFER struct buffer needs = BUFFER(TAG_BYTES), makes = BUFFER(TAG_BYTES),
				     makers = BUFFER(TAG_BYTES);
	CLEANUP_FREE char **words = NULL;
	bool has_input, has_output;
	size_t count = 0, given = 0;
	char alone[24], bytes[24];

	while (argv[given])
		given++;
	words = calloc(given + OWN_WORDS + 2, sizeof(*words));
	if (!words)
		return;
	words[count++] = name;
	words[count++] = quiet;
	words[count++] = no_summary;
	words[count++] = no_warnings;
	add_pair(words, &count, o, output);
	add_pair(words, &count, job, step->job);
	add_pair(words, &count, task, step->task);
	if (!getenv("TRACKER_ORCHESTRATOR"))
		add_pair(words, &count, orchestrator, (char *)(uintptr_t)step->orchestrator);
	if (find_step_input(step, &makers, bytes))
		add_pair(words, &count, input, bytes);
	write_workflow_tags(step, &makers, &makes, &needs, &has_output, &has_input);
	if (has_output)
		add_pair(words, &count, tag, makes.data);
	if (has_input)
		add_pair(words, &count, tag, needs.data);
	/* The recorder does not look at the variable if it has the option. */
	if (has_input || has_output)
		add_pair(words, &count, tag, getenv("TRACKER_TAG"));
	words[count++] = separator;
	words[count++] = real;
	memcpy(words + count, argv + 1, (given - 1) * sizeof(*words));
	step_export(step);
	snprintf(alone, sizeof alone, "%zu", count - 1);
	if (setenv("RESOURCE_TRACKER_ALONE", alone, 1) == 0)
		execv(recorder, words);
	warn_user(recorder, strerror(errno));
	unsetenv("RESOURCE_TRACKER_ALONE");
}

static void record_command(const char *command, const char *script, char *real, char **argv)
{
	const char *template = getenv("TRACKER_SHELL_OUTPUT");
	const char *mark = getenv("TRACKER_SHELL_STEP");
	CLEANUP_BUFFER struct buffer output = BUFFER(PATH_MAX);
	char recorder[PATH_MAX];
	struct root root;
	struct step step;

	if (!template || !*template)
		template = DEFAULT_OUTPUT;
	if (strcmp(template, "off") == 0)
		return;
	if (root_open(&root, NULL, NULL) < 0) {
		warn_user("/proc", "cannot be read");
		return;
	}
	if ((!mark || !is_below_folder(&root, mark)) && mark_step(&root)) {
		step_find(command, script, &step);
		if (find_sister_program(&RECORDER, recorder) < 0)
			warn_user("resource-tracker", "the program was not found");
		else if (choose_output(template, &step, &output))
			exec_recorder(recorder, output.data, &step, real, argv);
	}
	root_close(&root);
}

static int run_as_shell(char **argv)
{
	char real[PATH_MAX];
	const char *command, *script;

	allow_work_aside(JOB_LOOK_MS);
	if (!find_real_shell(real)) {
		tell_user("no real shell was found; set TRACKER_SHELL_REAL to its path");
		return EXIT_CANNOT_RUN;
	}
	command = command_of(argv, &script);
	/* Shells in which a person types are not steps. */
	if (!has_more_rights_than_caller() && argv[0] && argv[0][0] != '-' &&
	    (command || script || !isatty(STDIN_FILENO)))
		record_command(command, script, real, argv);
	execv(real, argv);
	tell_user("%s: %s", real, strerror(errno));
	return EXIT_CANNOT_RUN;
}

int main(int argc, char **argv)
{
	(void)argc;
	return run_with_enough_stack(run_as_shell, argv);
}
