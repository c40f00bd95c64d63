/* Names of programs from their arguments. See program_name.h. */
#include "job/programs/program_name.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/scan.h"

enum { COMM_MOST = 15 }; /* the kernel cuts names there */

/* Lists of options, each with a blank before and after it. */
struct interpreter {
	const char *name;       /* a version may follow: python3.11 */
	const char *with_value; /* options whose value is an argument of its own */
	const char *with_code;  /* options after which no script comes */
	const char *with_name;  /* options whose value is named instead of a script */
};

static const struct interpreter INTERPRETERS[] = {
	{"python", " -W -X --check-hash-based-pycs ", " -c ", " -m "},
	{"pypy", " -W -X ", " -c ", " -m "},
	{"java",
	 " -cp -classpath --class-path -p --module-path --add-modules --add-exports --add-opens --add-reads ",
	 " ", " -jar -m --module "},
	{"bash", " -o -O --rcfile --init-file ", " -c ", " "},
	{"sh", " -o ", " -c ", " "},
	{"dash", " -o ", " -c ", " "},
	{"zsh", " -o ", " -c ", " "},
	{"ksh", " -o ", " -c ", " "},
	{"fish", " -C --init-command ", " -c --command ", " "},
	{"perl", " -I ", " -e -E ", " "},
	{"ruby", " -I -r -C ", " -e ", " "},
	{"node", " -r --require --import --loader ", " -e --eval -p --print ", " "},
	{"php", " -d -c -z ", " -r ", " -f "},
	{"Rscript", " ", " -e ", " "},
	{"julia", " -L --load -t --threads -p ", " -e -E --eval --print ", " "},
	{"lua", " -l ", " -e ", " "},
	{"tclsh", " -encoding ", " ", " "},
	{"wish", " -encoding ", " ", " "},
};

/* Programs whose first target is a part of the run's name. Their options as above. */
static const struct interpreter MAKERS[] = {
	{"make", " -C -f -I -o -W --directory --file --makefile --include-dir --old-file --what-if ", NULL,
	 NULL},
	{"gmake", " -C -f -I -o -W --directory --file --makefile --include-dir --old-file --what-if ", NULL,
	 NULL},
	{"ninja", " -C -f -j -k -l -t -d -w ", NULL, NULL},
};

/*
 * Programs that only start the command behind their options, which a person means by the run: "timeout 60 python3 train.py". Any other option
 * may take a value, which must not become a name.
 */
struct starter {
	const char *name;
	const char *flags, *with_value; /* as above */
	const char *subcommand;         /* uv run. NULL: none */
	size_t operands;                /* before the command */
};

static const struct starter STARTERS[] = {
	{"env", " -i - --ignore-environment ", " -u --unset -C --chdir ", NULL, 0},
	{"nice", " ", " -n --adjustment ", NULL, 0},
	{"nohup", " ", " ", NULL, 0},
	{"setsid", " -c -f -w --ctty --fork --wait ", " ", NULL, 0},
	{"stdbuf", " ", " -i -o -e --input --output --error ", NULL, 0},
	{"ionice", " -t --ignore ", " -c -n --class --classdata ", NULL, 0},
	{"timeout", " --foreground --preserve-status -v --verbose ", " -k -s --kill-after --signal ", NULL,
	 1},
	{"time", " -a -p -q -v --append --portability --quiet --verbose ", " -f -o --format --output ", NULL,
	 0},
	{"taskset", " -a -c --all-tasks --cpu-list ", " ", NULL, 1},
	{"chrt", " -b -f -i -o -r --batch --fifo --idle --other --rr ", " ", NULL, 1},
	{"numactl", " -a -l --all --localalloc ",
	 " -C -N -i -m -p --cpunodebind --interleave --membind --physcpubind --preferred ", NULL, 0},
	{"mpirun", " --allow-run-as-root --oversubscribe ",
	 " -n -np -H -x --bind-to --host --hostfile --map-by ", NULL, 0},
	{"mpiexec", " --allow-run-as-root --oversubscribe ",
	 " -n -np -H -x -ppn --bind-to --host --hostfile --map-by ", NULL, 0},
	{"srun", " -l -u --exclusive --label --overlap --unbuffered ",
	 " -c -J -n -N -p -t -w --cpus-per-task --gres --job-name --mem --nodes --ntasks --partition --time ",
	 NULL, 0},
	{"uv", " --frozen --no-sync --quiet ", " -p --extra --group --project --python --with ", "run", 0},
	{"poetry", " ", " ", "run", 0},
	{"pipenv", " ", " ", "run", 0},
	{"conda", " --live-stream --no-capture-output ", " -n -p --cwd --name --prefix ", "run", 0},
};

static struct scan last_component(struct scan path)
{
	const char *slash = scan_left(&path) ? memrchr(path.at, '/', scan_left(&path)) : NULL;

	if (slash && slash + 1 < path.end)
		path.at = slash + 1;
	return path;
}

static bool next_argument(struct scan *arguments, struct scan *ret_argument)
{
	const char *end;

	if (!scan_left(arguments))
		return false;
	end = memchr(arguments->at, '\0', scan_left(arguments));
	*ret_argument = (struct scan){arguments->at, end ? end : arguments->end};
	arguments->at = end ? end + 1 : arguments->end;
	return true;
}

/*
 * Removes the title that a process may have written over its arguments: "postgres: checkpointer", or
 * "redis-server unixsocket:/run/s". A path with a blank has the same look, so only a first word that the kernel also
 * knows as the name of the process is cut off from the rest.
 */
static struct scan without_title(struct scan argument, const char *comm)
{
	const char *colon = memmem(argument.at, scan_left(&argument), ": ", 2), *blank;
	struct scan first = argument;
	size_t length;

	if (colon)
		argument.end = colon;
	blank = memchr(argument.at, ' ', scan_left(&argument));
	if (!blank)
		return argument;
	first.end = blank;
	first = last_component(first);
	length = scan_left(&first);
	if (length > COMM_MOST)
		length = COMM_MOST;
	if (length && strlen(comm) == length && memcmp(first.at, comm, length) == 0)
		argument.end = blank;
	return argument;
}

/* A login shell begins with a dash. */
static struct scan executable_name(struct scan argument, const char *comm)
{
	argument = last_component(without_title(argument, comm));
	if (scan_left(&argument) > 1 && *argument.at == '-')
		argument.at++;
	return argument;
}

static const struct interpreter *interpreter_of(struct scan name)
{
	while (scan_left(&name) && strchr("0123456789.", name.end[-1]))
		name.end--;
	for (size_t i = 0; i < ARRAY_SIZE(INTERPRETERS); i++)
		if (scan_is(&name, INTERPRETERS[i].name))
			return &INTERPRETERS[i];
	return NULL;
}

static const struct interpreter *maker_of(struct scan name)
{
	for (size_t i = 0; i < ARRAY_SIZE(MAKERS); i++)
		if (scan_is(&name, MAKERS[i].name))
			return &MAKERS[i];
	return NULL;
}

static const struct starter *starter_of(struct scan name)
{
	for (size_t i = 0; i < ARRAY_SIZE(STARTERS); i++)
		if (scan_is(&name, STARTERS[i].name))
			return &STARTERS[i];
	return NULL;
}

static bool is_listed(const char *options, const struct scan *option)
{
	char padded[40];

	if (scan_left(option) + 3 > sizeof padded || memchr(option->at, ' ', scan_left(option)))
		return false;
	snprintf(padded, sizeof padded, " %.*s ", (int)scan_left(option), option->at);
	return strstr(options, padded) != NULL;
}

/* Letters may stand together (-lc), and code right behind its letter (-c1+1). Rather no script than an argument as one. */
static bool may_have_code(const struct interpreter *interpreter, const struct scan *argument)
{
	if (scan_left(argument) < 3 || argument->at[0] != '-' || argument->at[1] == '-')
		return false;
	for (const char *at = argument->at + 1; at < argument->end; at++) {
		const char option[] = {'-', *at};
		const struct scan letter = {option, option + sizeof option};

		if (is_listed(interpreter->with_code, &letter))
			return true;
	}
	return false;
}

/* Letters of a shell or language that stand together, of which the last takes a value: -eo pipefail */
static bool ends_with_value(const struct interpreter *interpreter, const struct scan *argument)
{
	const char last[] = {'-', argument->end[-1]};
	const struct scan letter = {last, last + sizeof last};

	/* Java has words behind a single dash. */
	if (scan_left(argument) < 3 || argument->at[0] != '-' || strcmp(interpreter->with_code, " ") == 0)
		return false;
	for (const char *at = argument->at + 1; at < argument->end; at++)
		if (!((*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z')))
			return false;
	return is_listed(interpreter->with_value, &letter);
}

/* Finds the script, module or class. False if the code comes from an argument or the input. */
static bool script_of(const struct interpreter *interpreter, struct scan arguments, struct scan *ret_script)
{
	struct scan argument;

	while (next_argument(&arguments, &argument)) {
		struct scan file = argument;

		if (scan_literal(&file, "--file=") && scan_left(&file)) {
			*ret_script = last_component(file);
			return true;
		}
		if (is_listed(interpreter->with_name, &argument) || scan_is(&argument, "--")) {
			if (!next_argument(&arguments, &argument) || !scan_left(&argument))
				return false;
			*ret_script = last_component(argument);
			return true;
		}
		if (is_listed(interpreter->with_code, &argument) || may_have_code(interpreter, &argument))
			return false;
		if (is_listed(interpreter->with_value, &argument) ||
		    (scan_left(&argument) && ends_with_value(interpreter, &argument))) {
			(void)next_argument(&arguments, &argument);
			continue;
		}
		if (!scan_left(&argument) || *argument.at == '-' || *argument.at == '+')
			continue;
		*ret_script = last_component(argument);
		return true;
	}
	return false;
}

void program_name(const char *cmdline, size_t length, const char *comm, char ret_name[PROGRAM_NAME_BYTES])
{
	struct scan arguments = scan_bytes(cmdline, length), name = {0}, script;
	const struct interpreter *interpreter;

	if (next_argument(&arguments, &name))
		name = executable_name(name, comm);
	/* PyTorch gives its forked workers a name, but they keep the arguments of their parent. */
	if (!scan_left(&name) || strcmp(comm, "pt_data_worker") == 0) {
		snprintf(ret_name, PROGRAM_NAME_BYTES, "%s", *comm ? comm : "?");
		return;
	}
	scan_copy(&name, ret_name, PROGRAM_NAME_BYTES);
	interpreter = interpreter_of(name);
	if (!interpreter || scan_left(&name) + 2 >= PROGRAM_NAME_BYTES ||
	    !script_of(interpreter, arguments, &script))
		return;
	ret_name[scan_left(&name)] = ' ';
	scan_copy(&script, ret_name + scan_left(&name) + 1, PROGRAM_NAME_BYTES - scan_left(&name) - 1);
}

/* Finds the first target. A word with "=" sets a variable, and a number belongs to an option such as -j. */
static bool target_of(const struct interpreter *maker, struct scan arguments, struct scan *ret_target)
{
	struct scan argument;
	uint64_t number;

	while (next_argument(&arguments, &argument)) {
		struct scan digits = argument;

		if (is_listed(maker->with_value, &argument)) {
			(void)next_argument(&arguments, &argument);
			continue;
		}
		if (!scan_left(&argument) || *argument.at == '-' ||
		    memchr(argument.at, '=', scan_left(&argument)) || scan_u64(&digits, &number))
			continue;
		*ret_target = last_component(argument);
		return true;
	}
	return false;
}

/* -n5, --class=2, and -5 of nice have their value with them. */
static bool has_own_value(const struct starter *starter, const struct scan *option)
{
	struct scan key = *option, digits = {option->at + 1, option->end};
	const char *sign = memchr(option->at, '=', scan_left(option));
	uint64_t number;

	if (sign)
		key.end = sign;
	else if (scan_left(&key) > 2)
		key.end = key.at + 2;
	return (scan_u64(&digits, &number) && !scan_left(&digits)) || is_listed(starter->with_value, &key);
}

/* Leaves the command that a starter runs. False, and the arguments as they were: it has none, or an option that is not known. */
static bool skip_starter(const struct starter *starter, struct scan *arguments)
{
	struct scan left = *arguments, argument, command;
	size_t operands = starter->operands;

	if (starter->subcommand &&
	    (!next_argument(&left, &argument) || !scan_is(&argument, starter->subcommand)))
		return false;
	for (command = left; next_argument(&left, &argument) && scan_left(&argument); command = left) {
		bool is_option = *argument.at == '-', sets = memchr(argument.at, '=', scan_left(&argument));

		if (scan_is(&argument, "--") || is_listed(starter->flags, &argument))
			continue;
		if (is_option && is_listed(starter->with_value, &argument)) {
			if (!next_argument(&left, &argument))
				return false;
		} else if (is_option) {
			if (!has_own_value(starter, &argument))
				return false;
		} else if (operands) {
			operands--;
		} else if (!sets || starter != &STARTERS[0]) {
			*arguments = command;
			return true;
		}
	}
	return false;
}

/* Takes the executable of a command, behind all that only start it. */
static struct scan take_executable(struct scan *arguments)
{
	struct scan name = {0};
	const struct starter *starter;

	do {
		if (!next_argument(arguments, &name))
			break;
		name = executable_name(name, "");
		starter = starter_of(name);
	} while (starter && skip_starter(starter, arguments));
	return name;
}

void run_name(const char *cmdline, size_t length, const char *folder, char ret_name[PROGRAM_NAME_BYTES])
{
	struct scan arguments = scan_bytes(cmdline, length), name = take_executable(&arguments), found;
	const struct interpreter *interpreter, *maker;

	scan_copy(&name, ret_name, PROGRAM_NAME_BYTES);
	interpreter = interpreter_of(name);
	maker = maker_of(name);
	if (interpreter && script_of(interpreter, arguments, &found))
		scan_copy(&found, ret_name, PROGRAM_NAME_BYTES);
	else if (interpreter && folder)
		snprintf(ret_name, PROGRAM_NAME_BYTES, "%.*s (%.40s)", (int)scan_left(&name), name.at,
			 folder);
	else if (maker && target_of(maker, arguments, &found))
		snprintf(ret_name, PROGRAM_NAME_BYTES, "%.*s %.*s", (int)scan_left(&name), name.at,
			 (int)scan_left(&found), found.at);
}
