/* The public calls about workflows; see resource_tracker_internal.h. */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "resource_tracker_internal.h"
#include "workflow/flow.h"

enum { TEXT_MOST = 1 << 20, FLOW_JSON_MOST = 1 << 30 };

void rt_workflow_free(rt_workflow *workflow)
{
	if (!workflow)
		return;
	for (size_t i = 0; workflow->places && i < workflow->steps.count; i++)
		free(workflow->places[i].course);
	free(workflow->places);
	free(workflow->needs);
	free(workflow->path);
	free(workflow->hosts);
	free(workflow->rules);
	free(workflow->ranks);
	steps_done(&workflow->steps);
	free(workflow);
}

int rt_workflow_read(const char *const *paths, size_t path_count, rt_workflow **ret_workflow,
		     struct rt_problem *ret_problem)
{
	rt_workflow *workflow = calloc(1, sizeof(*workflow));
	int result = workflow ? steps_read(&workflow->steps, paths, path_count, ret_problem) : -ENOMEM;

	if (result == 0)
		result = flow_compute(workflow);
	if (result == 0) {
		flow_estimate(workflow);
		*ret_workflow = workflow;
	} else {
		rt_workflow_free(workflow);
	}
	return result == -ENOMEM ? problem_set(ret_problem, result, "out of memory") : result;
}

static int hand_out(struct buffer *text, char **ret_text)
{
	int result = buffer_error(text);

	buffer_add_char(text, '\0');
	if (result < 0 || buffer_error(text) < 0) {
		buffer_done(text);
		return -ENOMEM;
	}
	*ret_text = text->data;
	return 0;
}

int rt_workflow_to_json(const rt_workflow *workflow, char **ret_text)
{
	struct buffer text = BUFFER(FLOW_JSON_MOST);

	flow_add_json(&text, workflow);
	return hand_out(&text, ret_text);
}

int rt_workflow_for_screen(const rt_workflow *workflow, int fd, const char *colour, char **ret_text)
{
	struct buffer text = BUFFER(TEXT_MOST);
	struct screen screen;

	if (!is_colour_choice(colour))
		return -EINVAL;
	screen = screen_of(fd, colour);
	flow_add_text(&text, workflow, &screen);
	return hand_out(&text, ret_text);
}
