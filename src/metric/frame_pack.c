/* Packs a frame into bytes and back; see frame_pack.h. */
#include "metric/frame_pack.h"
#include "metric/typed_rows.h"

#include <errno.h>
#include <string.h>

/* Before the fields of each row. */
struct packed_row {
	int32_t kind;
	int32_t number;
	int64_t parent; /* position among the rows of the parent's kind; -1: the sample, or none */
};

/* Before all rows. */
struct packed_head {
	int64_t monotonic_ns;
	int64_t realtime_ns;
	int missing[ROW_KINDS];
};

static int64_t parent_position(const struct frame *frame, const struct row *row)
{
	int64_t position = 0;

	if (!row->parent || row->parent->kind == ROW_sample)
		return -1;
	for (const struct row *parent = frame->first[row->parent->kind]; parent; parent = parent->next) {
		if (parent == row->parent)
			return position;
		position++;
	}
	return -1;
}

/* A text is its length behind the reasons (absent.h), then its bytes. */
static void pack_row(struct buffer *out, const struct frame *frame, const struct row *row)
{
	const struct row_description *description = &ROW_DESCRIPTIONS[row->kind];
	const struct packed_row head = {
		.kind = (int32_t)row->kind, .number = row->number, .parent = parent_position(frame, row)};

	buffer_add(out, (const char *)&head, sizeof head);
	for (size_t i = 0; i < description->metric_count; i++) {
		const char *text;
		uint64_t length;

		if (description->metrics[i].type != TYPE_TEXT) {
			buffer_add(out, (const char *)row_count(row, metric_offset(i)), 8);
			continue;
		}
		text = *row_text(row, metric_offset(i));
		length = text_absent(text) ? (uint64_t)text_absent(text) : ABSENT_END + strlen(text);
		buffer_add(out, (const char *)&length, sizeof length);
		if (!text_absent(text))
			buffer_add(out, text, strlen(text));
	}
}

void frame_pack(struct buffer *out, const struct frame *frame)
{
	struct packed_head head = {.monotonic_ns = frame->monotonic_ns, .realtime_ns = frame->realtime_ns};

	memcpy(head.missing, frame->missing, sizeof head.missing);
	buffer_add(out, (const char *)&head, sizeof head);
	for (enum row_kind kind = 0; kind < ROW_KINDS; kind++)
		for (const struct row *row = frame->first[kind]; row; row = row->next)
			pack_row(out, frame, row);
}

struct packed {
	const char *at, *end;
};

static bool take_bytes(struct packed *packed, void *ret_bytes, size_t length)
{
	if ((size_t)(packed->end - packed->at) < length)
		return false;
	memcpy(ret_bytes, packed->at, length);
	packed->at += length;
	return true;
}

static bool take_text(struct packed *packed, struct frame *frame, const char **ret_text)
{
	uint64_t length;

	if (!take_bytes(packed, &length, sizeof length))
		return false;
	if (length < ABSENT_END) {
		*ret_text = no_text((int)length);
		return true;
	}
	length -= ABSENT_END;
	if ((uint64_t)(packed->end - packed->at) < length)
		return false;
	*ret_text = frame_text(frame, packed->at, length);
	packed->at += length;
	return true;
}

/* Adds an empty row below its parent; the sample is there already. NULL: no such kind or parent. */
static struct row *add_packed_row(struct frame *frame, const struct packed_row *head)
{
	enum row_kind parent_kind;
	struct row *parent;

	if (head->kind < 0 || head->kind >= ROW_KINDS)
		return NULL;
	if (head->kind == ROW_sample)
		return &frame->sample->row;
	parent_kind = ROW_DESCRIPTIONS[head->kind].parent;
	parent = head->parent < 0 ? NULL : frame->first[parent_kind];
	for (int64_t i = 0; i < head->parent && parent; i++)
		parent = parent->next;
	if (head->parent >= 0 && !parent)
		return NULL;
	return frame_add(frame, (enum row_kind)head->kind, parent);
}

static bool take_packed_row(struct packed *packed, struct frame *frame)
{
	const struct row_description *description;
	struct packed_row head;
	struct row *row = take_bytes(packed, &head, sizeof head) ? add_packed_row(frame, &head) : NULL;

	if (!row)
		return false;
	row->number = head.number;
	description = &ROW_DESCRIPTIONS[row->kind];
	for (size_t i = 0; i < description->metric_count; i++) {
		size_t offset = metric_offset(i);

		if (!(description->metrics[i].type == TYPE_TEXT
			      ? take_text(packed, frame, row_text(row, offset))
			      : take_bytes(packed, row_count(row, offset), 8)))
			return false;
	}
	return true;
}

int frame_unpack(struct frame *ret_frame, const void *bytes, size_t length)
{
	struct packed packed = {.at = bytes, .end = (const char *)bytes + length};
	struct packed_head head;
	bool good = take_bytes(&packed, &head, sizeof head);

	if (!good)
		return -EBADMSG;
	frame_begin(ret_frame, head.monotonic_ns, head.realtime_ns);
	memcpy(ret_frame->missing, head.missing, sizeof head.missing);
	while (good && !ret_frame->error && packed.at < packed.end)
		good = take_packed_row(&packed, ret_frame);
	return ret_frame->error ? ret_frame->error : good ? 0 : -EBADMSG;
}
