/* Decides what this run of the command does; see front.h. */
#include "cli/front.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/ends_with.h"
#include "base/file_place.h"
#include "base/runs_once.h"
#include "base/scan.h"
#include "base/trust.h"
#include "cli/alone.h"
#include "cli/command_line.h"
#include "cli/config_file.h"
#include "cli/help.h"
#include "cli/keep_run.h"
#include "cli/message.h"
#include "cli/end_places.h"
#include "kernel/may_hang.h"
#include "launch/find_program.h"
#include "launch/in_time.h"
#include "options/parse.h"

enum { HELP_BYTES = 64 << 10, QUOTED_BYTES = 60 };

static const char DEFAULT_CONFIG[] = "resource-tracker.toml";
/* Settings of a site, which are weaker than all others. */
static const char SITE_CONFIG[] = "/etc/resource-tracker/config.toml";

static int print_version(bool verbose)
{
	CLEANUP_BUFFER struct buffer text = BUFFER(HELP_BYTES);

	add_version(&text);
	if (verbose)
		add_build_facts(&text);
	return print_text(&text);
}

static int print_help(const struct given *help)
{
	CLEANUP_BUFFER struct buffer text = BUFFER(HELP_BYTES);

	if (help->text && strcmp(help->text, "all") != 0)
		return refuse("--help: '%.*s' is unknown; give --help or --help=all", QUOTED_BYTES,
			      help->text);
	add_help(&text, help->text != NULL);
	return print_text(&text);
}

static const char *site_config(void)
{
	const char *named = secure_getenv("TRACKER_SITE_CONFIG");

	return named ? named : SITE_CONFIG;
}

/* Returns the configuration file that the user named, or NULL. */
static const char *named_config(const struct front *front)
{
	const struct given *config = given_by_name(&front->given, "config");

	return config && *config->text ? config->text : NULL;
}

static const char *config_path(const struct front *front)
{
	const char *named = named_config(front);

	return named ? named : DEFAULT_CONFIG;
}

/* ---- one option ------------------------------------------------------------------------------------ */

/* Returns the library's message without the setting's name, which complain_of_setting() puts in front itself. */
static const char *without_name(const char *message, const char *name)
{
	size_t length = strlen(name);

	return strncmp(message, name, length) == 0 && strncmp(message + length, ": ", 2) == 0
		       ? message + length + 2
		       : message;
}

/* A setting of the environment or of a configuration file, without which the job runs. */
static void say_ignored(const struct front *front, const struct given *item, const char *message)
{
	char variable[64];

	if (front->no_warnings)
		return;
	if (item->origin == ORIGIN_ENVIRONMENT) {
		option_variable(item->row, variable, sizeof(variable));
		say("%s: %s; ignored", variable, message);
	} else {
		say("%s:%u: %s: %s; ignored",
		    item->origin == ORIGIN_SITE ? site_config() : config_path(front), item->line,
		    item->row->toml_key, message);
	}
}

/*
 * Reports what is wrong with an option. An error in a configuration file never stops a job. Returns 0 or an
 * exit status.
 */
static int complain_of_setting(const struct front *front, const struct given *item, const char *message)
{
	char variable[64], own[200];

	/* The library's messages already contain the reason. */
	if (item->row->owner == OWNER_FRONT) {
		snprintf(own, sizeof(own), "'%.*s%s' %s", QUOTED_BYTES, item->text,
			 strlen(item->text) > QUOTED_BYTES ? "..." : "", message);
		message = own;
	}
	switch (item->origin) {
	case ORIGIN_SITE:
	case ORIGIN_CONFIG:
		if (!front->configured)
			say_ignored(front, item, message);
		return 0;
	case ORIGIN_ENVIRONMENT:
		option_variable(item->row, variable, sizeof(variable));
		return refuse("%s: %s", variable, message);
	case ORIGIN_COMMAND_LINE:
	default:
		return refuse("--%s: %s", item->row->name, message);
	}
}

static bool read_flag(const char *text, bool *ret_flag)
{
	struct scan scan = scan_trim(scan_bytes(text, strlen(text)));

	return scan_flag(&scan, ret_flag);
}

/* Sets one of the command's own options. Returns NULL, or the reason why it is invalid. */
static const char *set_own(struct front *front, const struct given *item)
{
	const struct {
		const char *name;
		bool *flag;
	} FLAGS[] = {
		{"quiet", &front->quiet},
		{"wait-descendants", &front->wait_descendants},
		{"why", &front->why},
		{"no-warnings", &front->no_warnings},
		{"no-history", &front->no_history},
	};

	for (size_t i = 0; i < ARRAY_SIZE(FLAGS); i++) {
		if (strcmp(item->row->name, FLAGS[i].name) == 0 && !read_flag(item->text, FLAGS[i].flag))
			return "is neither yes nor no; give 1 or 0";
	}
	if (strcmp(item->row->name, "report") == 0) {
		const char *reason = why_no_page(item->text);

		front->page = reason ? NULL : front->page;
		return reason;
	}
	/* TRACKER_RUNS is the fleet's: a folder that is away for a moment must not refuse everyone's jobs. */
	if (strcmp(item->row->name, "runs") == 0 && item->origin == ORIGIN_COMMAND_LINE) {
		const char *reason = why_no_line(item->text);

		front->runs = reason ? NULL : front->runs;
		return reason;
	}
	return NULL;
}

/*
 * Applies the last of --summary and --no-summary from the strongest origin. Returns NULL, or the reason why
 * *ret_item is invalid.
 */
static const char *choose_summary(struct front *front, const struct given **ret_item)
{
	const struct given *wanted = given_by_name(&front->given, "summary");
	const struct given *unwanted = given_by_name(&front->given, "no-summary");
	bool flag = false;

	front->summary = !front->quiet && (front->keeps || front->is_ci_log ||
					   (front->named_outputs && isatty(STDERR_FILENO)))
				 ? SUMMARY_TEXT
				 : SUMMARY_NONE;
	if (unwanted && !read_flag(unwanted->text, &flag)) {
		*ret_item = unwanted;
		return "is neither yes nor no; give 1 or 0";
	}
	if (!flag)
		unwanted = NULL;
	if (unwanted && (!wanted || unwanted->origin > wanted->origin ||
			 (unwanted->origin == wanted->origin && unwanted > wanted))) {
		front->summary = SUMMARY_NONE;
		return NULL;
	}
	if (!wanted)
		return NULL;
	*ret_item = wanted;
	if (wanted->text && strcmp(wanted->text, "json") == 0) {
		front->summary = SUMMARY_JSON;
		return NULL;
	}
	/* In the environment and the file, the value may also be a plain yes or no. */
	if (wanted->text && strcmp(wanted->text, "text") != 0) {
		if (!read_flag(wanted->text, &flag))
			return "is unknown; give one of text, json";
		if (!flag) {
			front->summary = SUMMARY_NONE;
			return NULL;
		}
	}
	front->summary = SUMMARY_TEXT;
	return NULL;
}

static bool is_config_pid(const struct given *item)
{
	return strcmp(item->row->name, "pid") == 0 && item->origin != ORIGIN_COMMAND_LINE;
}

/* ---- all of them ----------------------------------------------------------------------------------- */

static int apply_all(struct front *front)
{
	for (size_t i = 0; i < front->given.count; i++) {
		const struct given *item = &front->given.items[i];
		const char *message = NULL;
		int status, r;

		if (!given_counts(&front->given, item) || (front->command && is_config_pid(item)))
			continue;
		if (item->row->owner == OWNER_FRONT) {
			message = set_own(front, item);
		} else {
			r = rt_config_set(front->config, item->row->name, item->text);
			if (r == -ENOMEM)
				return front_refuse(front, r);
			if (r < 0)
				message = without_name(rt_config_message(front->config), item->row->name);
			else if (given_is_output(item))
				front->named_outputs = true;
		}
		if (message) {
			status = complain_of_setting(front, item, message);
			if (status)
				return status;
		}
	}
	return 0;
}

static bool flag_of(const struct front *front, const char *name)
{
	const struct given *item = given_by_name(&front->given, name);
	bool flag = false;

	return item && read_flag(item->text, &flag) && flag;
}

/* Reads those settings again that decide the mode. rt_config_set() has checked their values. */
static void find_mode(struct front *front)
{
	const struct given *pid = given_by_name(&front->given, "pid");
	const struct given *root = given_by_name(&front->given, "root");
	const struct given *cgroup = given_by_name(&front->given, "cgroup");
	const struct given *page = given_by_name(&front->given, "report");
	const struct given *runs = given_by_name(&front->given, "runs");
	uint64_t number = 0;

	front->keep_running = flag_of(front, "keep-running");
	front->requires_cgroup = cgroup && strcmp(cgroup->text, "require") == 0;
	front->page = page && *page->text ? page->text : NULL;
	front->runs = runs && *runs->text ? runs->text : NULL;
	front->live = !root || strcmp(root->text, "/") == 0;
	if (front->command) {
		front->mode = MODE_WRAP;
		return;
	}
	if (pid) {
		struct scan text = scan_trim(scan_bytes(pid->text, strlen(pid->text)));

		if (scan_u64(&text, &number) && number <= INT32_MAX && !scan_left(&text))
			front->pid = (pid_t)number;
	}
	front->mode = front->pid ? MODE_ATTACH : MODE_HOST;
}

/* `-o true`: the name of the file was forgotten. */
static bool is_command_taken(const struct given *item)
{
	return given_is_output(item) && !strpbrk(item->text, "/.") && is_on_path(item->text);
}

static void warn_of_useless_options(const struct front *front)
{
	static const char *const PLACES[] = {
		[MODE_WRAP] = "while wrapping a command",
		[MODE_ATTACH] = "with --pid",
		[MODE_HOST] = "without a command or --pid",
	};

	for (size_t i = 0; i < front->given.count && !front->no_warnings; i++) {
		const struct given *item = &front->given.items[i];

		if (item->origin != ORIGIN_COMMAND_LINE)
			continue;
		if (!(item->row->modes & front->mode))
			say("--%s has no effect %s", item->row->name, PLACES[front->mode]);
		else if (front->mode == MODE_HOST && is_command_taken(item))
			say("-o takes '%s' as its file, and the machine is recorded (to run it: -o FILE %s)",
			    item->text, item->text);
	}
}

static int add_default_output(struct front *front)
{
	const char *stream = front->mode == MODE_WRAP ? "/dev/stderr" : "-";
	int r;

	if (front->named_outputs || front->quiet || front->keeps ||
	    (front->is_ci_log && front->summary != SUMMARY_NONE))
		return 0;
	r = rt_config_set(front->config, "output", stream);
	return r < 0 ? front_refuse(front, r) : 0;
}

/* Decides by name alone: an output that does not exist yet will be a regular file. */
static bool names_file(const struct given *item)
{
	struct stat status;

	return strcmp(item->text, "-") != 0 && strncmp(item->text, "/dev/", strlen("/dev/")) != 0 &&
	       (stat_in_time(item->text, &status) < 0 || S_ISREG(status.st_mode));
}

/* Returns the first output that is a file, of JSON if `json`, or NULL. */
static const char *named_file(const struct front *front, bool json)
{
	for (size_t i = 0; i < front->given.count; i++) {
		const struct given *item = &front->given.items[i];

		if (given_is_output(item) && given_counts(&front->given, item) && names_file(item) &&
		    !(json && front_writes_csv(front, item->text)))
			return item->text;
	}
	return NULL;
}

/* In the folder of a file that is written: /tmp may be memory, and the recording of a long run is large. */
static int open_beside(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;
	CLEANUP_BUFFER struct buffer folder = BUFFER(PATH_MAX);

	if (!path)
		return -1;
	buffer_printf(&folder, "%.*s", slash ? (int)(slash - path + 1) : 1, slash ? path : ".");
	return buffer_error(&folder) || path_may_hang(folder.data)
		       ? -1
		       : open(folder.data, O_TMPFILE | O_RDWR | O_APPEND | O_CLOEXEC, 0600);
}

static int open_in_memory(void)
{
	int fd = memfd_create("resource-tracker", MFD_CLOEXEC);

	return fd < 0 || fcntl(fd, F_SETFL, O_APPEND) < 0 ? -errno : fd;
}

/*
 * Opens a file without a name, which disappears with this process. Returns a descriptor or a negative errno.
 */
static int open_unnamed(const char *beside)
{
	CLEANUP_BUFFER struct buffer name = BUFFER(PATH_MAX);
	int fd = open_beside(beside);
	const char *folder;

	if (fd >= 0)
		return fd;
	folder = temporary_folder();
	if (path_may_hang(folder))
		return open_in_memory();
	fd = open(folder, O_TMPFILE | O_RDWR | O_APPEND | O_CLOEXEC, 0600);
	if (fd >= 0)
		return fd;
	/* Some file systems lack O_TMPFILE. */
	buffer_printf(&name, "%s/resource-tracker-XXXXXX", folder);
	fd = buffer_error(&name) < 0 ? -1 : mkostemp(name.data, O_APPEND | O_CLOEXEC);
	if (fd < 0)
		return buffer_error(&name) < 0 ? buffer_error(&name) : -errno;
	unlink_file(name.data);
	return fd;
}

/* Moves it above the standard streams' numbers, which may be closed. */
static int open_temporary(const char *beside)
{
	CLEANUP_CLOSE int fd = open_unnamed(beside);
	int above;

	if (fd == -ENOSPC || fd == -EDQUOT || (fd >= 0 && !has_room_for_recording(fd))) {
		cleanup_close(&fd);
		fd = open_in_memory();
	}
	if (fd < 0 || fd > STDERR_FILENO)
		return take_fd(&fd);
	above = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	return above < 0 ? -errno : above;
}

/*
 * The summary, the report and the line of the run need a file of JSON to read. If no output is one, record to a temporary
 * one: CSV has neither the job's name nor how it ended.
 */
static int add_temporary_output(struct front *front)
{
	char name[32];
	int r;

	if ((front->summary == SUMMARY_NONE && !front->page && !front->runs) || named_file(front, true) ||
	    front->kept_path)
		return 0;
	if (!front->temporary_fd)
		front->temporary_fd = open_temporary(named_file(front, false));
	if (front->temporary_fd < 0) {
		say("no summary, report or line of this run: the temporary recording cannot be created: %s; "
		    "name a file with -o",
		    strerror(-front->temporary_fd));
		front->temporary_fd = 0;
		front->summary = SUMMARY_NONE;
		front->page = front->runs = NULL;
		return 0;
	}
	snprintf(name, sizeof(name), "/dev/fd/%d", front->temporary_fd);
	r = rt_config_add_output(front->config, name, "json");
	return r < 0 ? front_refuse(front, r) : 0;
}

/*
 * Turns the given options into a config; called again after the outputs were forgotten. Returns 0 or an exit
 * status.
 */
static RUNS_ONCE int configure_from_file(struct front *front)
{
	const struct given *item = NULL;
	const char *message;
	int status, r;

	rt_config_free(front->config);
	front->config = NULL;
	/* The command streams if there is a token. A library streams only if its caller asks for it. */
	if (rt_config_new(&front->config) < 0 || rt_config_set(front->config, "stream", "auto") < 0)
		return alone_for_lack(front->command, OUT_OF_MEMORY);
	find_mode(front);
	status = apply_all(front);
	if (status)
		return status;
	front->keeps = run_is_kept(front);
	front->is_ci_log = run_is_in_ci_log(front);
	message = choose_summary(front, &item);
	if (message) {
		status = complain_of_setting(front, item, message);
		if (status)
			return status;
	}
	if (front->command && (r = rt_config_set_command(front->config, front->command)) < 0)
		return front_refuse(front, r);
	rt_config_set_own_process(front->config, true);
	front->configured = true;
	status = front->keeps ? begin_kept_run(front) : 0;
	if (status == 0)
		status = add_temporary_output(front);
	return status ? status : add_default_output(front);
}

/* The file of a site need not exist. One that is named may be on a file system that hangs: it is read within a second. */
static int read_site_config(struct front *front)
{
	const char *path = site_config();

	if (!*path || (path == SITE_CONFIG && access(path, F_OK) < 0))
		return 0;
	return read_config_file(path, ORIGIN_SITE, true, !front->no_warnings, &front->given);
}

static int check_command(const struct front *front, bool separated)
{
	if (separated && !front->command)
		return refuse("there is no command after '--'");
	if (!front->command)
		return 0;
	for (size_t i = 0; i < front->given.count; i++) {
		const struct given *item = &front->given.items[i];

		if (strcmp(item->row->name, "pid") == 0 && item->origin == ORIGIN_COMMAND_LINE)
			return refuse("--pid and a command exclude each other: give one of them");
	}
	if (!*front->command[0]) {
		say("the command is empty");
		return EXIT_NOT_FOUND;
	}
	return 0;
}

int front_read(char **argv, struct front *ret_front)
{
	struct front *front = ret_front;
	bool separated;
	int status;

	*front = (struct front){.mode = MODE_HOST};
	if (read_arguments(argv, &front->given, &front->command, &separated) < 0)
		return EXIT_OWN_ERROR;
	if (front->given.is_short)
		return alone_for_lack(front->command, OUT_OF_MEMORY);
	if (given_by_name(&front->given, "help"))
		return print_help(given_by_name(&front->given, "help"));
	if (given_by_name(&front->given, "version"))
		return print_version(given_by_name(&front->given, "verbose"));
	if (given_by_name(&front->given, "verbose"))
		return refuse("--verbose belongs to --version");
	status = check_command(front, separated);
	if (status)
		return status;
	if (read_environment(&front->given) < 0)
		return alone_for_lack(front->command, OUT_OF_MEMORY);
	front->no_warnings = flag_of(front, "no-warnings");
	if (read_site_config(front) < 0 ||
	    read_config_file(config_path(front), ORIGIN_CONFIG, named_config(front) != NULL,
			     !front->no_warnings, &front->given) < 0)
		return alone_for_lack(front->command, OUT_OF_MEMORY);
	front->no_warnings = flag_of(front, "no-warnings");
	status = configure_from_file(front);
	if (status)
		return status;
	warn_of_useless_options(front);
	return -1;
}

void front_done(struct front *front)
{
	rt_config_free(front->config);
	given_done(&front->given);
	if (front->temporary_fd)
		close(front->temporary_fd);
	if (front->kept_fd)
		close(front->kept_fd);
	free(front->kept_path);
}

/* Returns the setting whose file or folder rt_open() could not open. NULL: the user has not set it. */
static const struct given *find_failed(const struct front *front)
{
	const char *output = rt_config_failed_output(front->config);

	if (!output && strncmp(rt_config_message(front->config), "root ", 5) == 0)
		return given_by_name(&front->given, "root");
	for (size_t i = 0; output && i < front->given.count; i++) {
		const struct given *item = &front->given.items[i];

		if (given_is_output(item) && given_counts(&front->given, item) &&
		    strcmp(item->text, output) == 0)
			return item;
	}
	return NULL;
}

bool front_forget(struct front *front, int error)
{
	enum origin strongest = error == -EBUSY                             ? ORIGIN_ENVIRONMENT
				: front->command && is_place_mistake(error) ? ORIGIN_CONFIG
									    : 0;
	const struct given *found = find_failed(front);
	struct given failed;
	size_t kept = 0;

	if (!found || found->origin > strongest)
		return false;
	failed = *found;
	say_ignored(front, &failed, rt_config_message(front->config));
	/* The values of a weaker origin go too: they would take its place. */
	for (size_t i = 0; i < front->given.count; i++) {
		struct given *item = &front->given.items[i];

		if (item->row != failed.row ||
		    (item->origin == failed.origin && strcmp(item->text, failed.text) != 0))
			front->given.items[kept++] = *item;
		else if (item->text != failed.text)
			free(item->text);
	}
	free(failed.text);
	front->given.count = kept;
	front->named_outputs = false;
	return configure_from_file(front) == 0;
}
