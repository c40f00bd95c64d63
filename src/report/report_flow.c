/* Makes the page of a workflow; see rt_workflow_report() in resource_tracker_internal.h. Its program is page/flow.js. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/json_write.h"
#include "report/page.h"
#include "report/page_write.h"
#include "resource_tracker_internal.h"
#include "workflow/flow.h"

#define FLOW_DATA_CEILING ((size_t)1 << 30)

static void close_flow_page(struct output *output)
{
	output_close(output);
}

/* The folder in which the workflow ran: the one above .resource-tracker. */
static void add_flow_title(struct json_writer *json, const char *path)
{
	static const char HIDDEN[] = "/.resource-tracker";
	CLEANUP_FREE char *whole = realpath(path, NULL);
	size_t length = whole ? strlen(whole) : 0;
	const char *slash;

	if (length > strlen(HIDDEN) && strcmp(whole + length - strlen(HIDDEN), HIDDEN) == 0)
		whole[length - strlen(HIDDEN)] = '\0';
	slash = whole ? strrchr(whole, '/') : NULL;
	json_key(json, "title");
	json_text(json, slash && slash[1] ? slash + 1 : "Workflow");
}

int rt_workflow_report(const rt_workflow *workflow, const char *name, const char *path,
		       struct rt_problem *ret_problem)
{
	__attribute__((cleanup(close_flow_page))) struct output output = {.fd = -1};
	CLEANUP_BUFFER struct buffer data = BUFFER(FLOW_DATA_CEILING);
	struct json_writer json = JSON_WRITER(&data);
	int result = output_open(&output, path, false, ret_problem);

	if (result < 0)
		return result;
	page_write_bytes(&output, FLOW_PAGE.head, FLOW_PAGE.head_length);
	json_open(&json, '{');
	json_key(&json, "version");
	json_text(&json, RT_VERSION);
	json_key(&json, "made");
	json_count(&json, (int64_t)time(NULL));
	add_flow_title(&json, name);
	json_key(&json, "workflow");
	flow_add_json(&data, workflow);
	json_close(&json, '}');
	page_write_data(&output, &data);
	page_write_bytes(&output, FLOW_PAGE.tail, FLOW_PAGE.tail_length);
	return output_finish(&output, ret_problem);
}
