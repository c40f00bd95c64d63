/*
 * Feeds any bytes to the recording shell's readers of names: a command, .command.run of Nextflow, a template of the output.
 */
#include "fuzz.h"

#include "base/cleanup.h"
#include "shell/step.h"

/* One line without control characters, because it becomes part of a command line and of a file name. */
static void check_name(const char *name)
{
	const char *end = memchr(name, '\0', STEP_NAME_BYTES);

	must_hold(end);
	for (const char *at = name; at < end; at++)
		must_hold((unsigned char)*at >= ' ' && *at != 0x7f);
}

static void check_step(const struct step *step)
{
	must_hold(step->orchestrator);
	check_name(step->job);
	check_name(step->task);
}

static void fuzz_command(const char *bytes, size_t length)
{
	CLEANUP_FREE char *text = strndup(length ? bytes : "", length);
	struct step step;

	must_hold(text);
	if (step_of_command(text, &step))
		check_step(&step);
}

static void fuzz_nextflow(const char *bytes, size_t length)
{
	struct step step;

	if (step_of_nextflow(bytes, length, &step))
		check_step(&step);
}

/* The name of a step adds no folder and no "%" to the template, which is before the first newline. */
static void fuzz_template(const char *bytes, size_t length)
{
	const char *newline = length ? memchr(bytes, '\n', length) : NULL;
	/* One "%" is that of the number, which is added. */
	size_t before = newline ? (size_t)(newline - bytes) : length, slashes = 0, percents = 1;
	CLEANUP_FREE char *template = strndup(length ? bytes : "", before);
	CLEANUP_BUFFER struct buffer out = BUFFER(1 << 20);
	struct step step = {.orchestrator = "x"};

	must_hold(template);
	if (newline && !step_of_nextflow(newline + 1, length - before - 1, &step))
		memcpy(step.job, newline + 1,
		       length - before - 1 < sizeof step.job ? length - before - 1 : sizeof step.job - 1);
	step_expand(template, &step, &out);
	if (buffer_error(&out) || !out.data)
		return;
	for (const char *at = template; *at; at++) {
		slashes += *at == '/';
		percents += *at == '%';
	}
	for (size_t i = 0; i < out.length; i++) {
		slashes -= out.data[i] == '/';
		must_hold(out.data[i] != '%' || percents-- > 0);
	}
	must_hold(slashes == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	static const fuzz_parser PARSERS[] = {fuzz_command, fuzz_nextflow, fuzz_template};

	fuzz_one_of(PARSERS, ARRAY_SIZE(PARSERS), bytes, length);
	return 0;
}
