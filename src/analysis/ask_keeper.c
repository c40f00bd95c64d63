/* Asks the Keeper API; see ask_keeper.h. */
#include "analysis/ask_keeper.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "launch/child.h"

enum { ARGUMENTS_MOST = 64, ANSWER_BYTES = 8 << 20 };

struct question {
	const char *arguments[ARGUMENTS_MOST];
	size_t count;
};

static void add_argument(struct question *question, const char *argument)
{
	if (question->count < ARGUMENTS_MOST - 1)
		question->arguments[question->count++] = argument;
}

static int read_answer(int fd, struct buffer *answer)
{
	for (;;) {
		char bytes[4096];
		ssize_t count = read(fd, bytes, sizeof(bytes));

		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0)
			return count < 0 ? -errno : buffer_error(answer);
		buffer_add(answer, bytes, (size_t)count);
	}
}

/* Runs the program and collects its output. Returns 0 or a negative errno. */
static int run_net(struct question *question, struct buffer *answer)
{
	const struct child_program child = {.program = &NET_PROGRAM, .argv = question->arguments};
	CLEANUP_CLOSE int fd = -1;
	pid_t pid;
	int result = child_start_with_pipe(&child, &fd, &pid);

	if (result < 0)
		return result;
	result = read_answer(fd, answer);
	return child_wait(pid) && !result ? -EIO : result;
}

/* Writes the question as a user would type it. */
static void add_question(struct buffer *out, const struct question *question)
{
	for (size_t i = 0; i < question->count; i++)
		buffer_printf(out, "%s%s", i ? " " : "", question->arguments[i]);
}

static const char *keeper_text_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static void cleanup_json(json_t **json)
{
	json_decref(*json);
}

static void take_server(rt_advice *advice, const json_t *root, const char *question)
{
	const json_t *first = json_array_get(json_object_get(root, "servers"), 0);
	const json_t *price = json_object_get(first, "price_usd_per_hour");
	struct rt_server server = {
		.size = sizeof(server),
		.question = keeper_text_of(root, "asked") ? keeper_text_of(root, "asked") : question,
		.problem = keeper_text_of(root, "problem"),
		.vendor = keeper_text_of(first, "vendor_id"),
		.type = keeper_text_of(first, "api_reference"),
		.vcpus = json_integer_value(json_object_get(first, "vcpus")),
		.memory_mib = json_number_value(json_object_get(first, "memory_mib")),
		.usd_per_hour = json_is_number(price) ? json_number_value(price) : (double)NAN,
	};

	if (!first && !server.problem)
		server.problem = root ? "no server fits" : "the answer is not JSON";
	(void)rt_advice_set_server(advice, &server);
}

static const char *why_not(int result)
{
	return result == -ENOENT ? "resource-tracker-net, which is needed to ask, is not installed"
				 : "resource-tracker-net did not answer";
}

static void add_keeper_number(struct question *question, const char *option, const rt_advice *advice,
			      const char *figure, char text[static 32])
{
	struct rt_value cell = rt_advice_get(advice, figure);

	if (cell.type != RT_TYPE_COUNT || cell.count <= 0)
		return;
	snprintf(text, 32, "%lld", (long long)cell.count);
	add_argument(question, option);
	add_argument(question, text);
}

int ask_for_server(rt_advice *advice, const char *const *filters, size_t filter_count)
{
	struct question question = {{NET_PROGRAM.name, "keeper", "servers"}, 3};
	CLEANUP_BUFFER struct buffer answer = BUFFER(ANSWER_BYTES), typed = BUFFER(4096);
	__attribute__((cleanup(cleanup_json))) json_t *root = NULL;
	char numbers[4][32];
	int result;

	add_keeper_number(&question, "--vcpus", advice, "cpu", numbers[0]);
	add_keeper_number(&question, "--memory-mib", advice, "memory", numbers[1]);
	add_keeper_number(&question, "--gpus", advice, "gpu", numbers[2]);
	add_keeper_number(&question, "--gpu-memory-mib", advice, "vram", numbers[3]);
	add_argument(&question, "--limit");
	add_argument(&question, "1");
	for (size_t i = 0; i < filter_count; i++) {
		add_argument(&question, "--filter");
		add_argument(&question, filters[i]);
	}
	add_question(&typed, &question);
	result = run_net(&question, &answer);
	if (result == -ENOMEM || buffer_error(&typed))
		return -ENOMEM;
	if (result < 0) {
		const struct rt_server none = {.size = sizeof(none),
					       .question = typed.data,
					       .problem = why_not(result),
					       .usd_per_hour = NAN};

		return rt_advice_set_server(advice, &none);
	}
	root = json_loadb(answer.data ? answer.data : "", answer.length, 0, NULL);
	take_server(advice, root, typed.data);
	return 0;
}

int ask_for_price(const char *instance, double *ret_usd_per_hour, struct rt_problem *ret_problem)
{
	struct question question = {{NET_PROGRAM.name, "keeper", "price", "--vendor"}, 4};
	CLEANUP_BUFFER struct buffer answer = BUFFER(ANSWER_BYTES);
	__attribute__((cleanup(cleanup_json))) json_t *root = NULL;
	CLEANUP_FREE char *vendor = strdup(instance);
	char *region = vendor ? strchr(vendor, '/') : NULL, *type = region ? strchr(region + 1, '/') : NULL;
	const char *problem;
	int result;

	if (!type) {
		snprintf(ret_problem->text, sizeof(ret_problem->text),
			 "an instance is named vendor/region/type, as in aws/us-east-1/t3.micro");
		return -ENOENT;
	}
	*region++ = *type++ = '\0';
	add_argument(&question, vendor);
	add_argument(&question, "--region");
	add_argument(&question, region);
	add_argument(&question, "--instance-type");
	add_argument(&question, type);
	result = run_net(&question, &answer);
	if (result == 0)
		root = json_loadb(answer.data ? answer.data : "", answer.length, 0, NULL);
	if (json_is_number(json_object_get(root, "price_usd_per_hour"))) {
		*ret_usd_per_hour = json_number_value(json_object_get(root, "price_usd_per_hour"));
		return 0;
	}
	problem = result < 0 ? why_not(result) : keeper_text_of(root, "problem");
	snprintf(ret_problem->text, sizeof(ret_problem->text), "the price of %.100s is unknown: %.300s",
		 instance, problem ? problem : "the answer contains no price");
	return -ENOENT;
}
