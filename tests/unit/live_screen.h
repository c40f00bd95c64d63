/* Shared by the tests of src/live: a run that is filled with samples, and its screen as text. */
#pragma once

#include "unit.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buffer.h"
#include "live/view.h"
#include "metric/typed_rows.h"
#include "record/reader.h"

static struct run run, other;
static struct view view;
static struct frame frame, identity;
static struct canvas canvas;
static char screen[64 << 10];

static inline int begin(void **state)
{
	(void)state;
	setlocale(LC_CTYPE, "C.UTF-8");
	setenv("TZ", "UTC", 1);
	tzset();
	run_begin(&run, "first", 0, 0);
	run_begin(&other, "second", 0, 0);
	view_begin(&view);
	view_add(&view, &run);
	view.style = GRAPH_ASCII;
	frame_begin(&identity, 0, 0);
	return 0;
}

static inline int end(void **state)
{
	(void)state;
	run_done(&run);
	run_done(&other);
	view_done(&view);
	canvas_done(&canvas);
	frame_done(&frame);
	frame_done(&identity);
	return 0;
}

/* Begins a sample at a time, one second after the last. Rows are added before give(). */
static inline void sample_at(double secs)
{
	frame_begin(&frame, 0, 0);
	frame.sample->elapsed_secs = secs;
	frame.sample->timestamp = 1700000000 + secs;
	frame.sample->actual_interval_ms = 1000;
	frame.sample->tracked_pid = 42;
	frame.sample->host = "node-1";
}

static inline void give(struct run *to)
{
	assert_int_equal(run_take(to, &frame, &identity, 1, 1), 0);
}

static inline void give_job(struct run *to, double secs, double cores, double memory_mib)
{
	sample_at(secs);
	SINGLE_ROW(&frame, host_cpu);
	SINGLE_ROW(&frame, tree)->process_cores_used = cores;
	SINGLE_ROW(&frame, tree)->process_memory_mib = memory_mib;
	SINGLE_ROW(&frame, limits)->cpu_limit_cores = 2;
	SINGLE_ROW(&frame, limits)->memory_limit_mib = 512;
	give(to);
}

static inline void add_program(const char *name, double cpu_secs, double memory_mib)
{
	struct program_row *row = ADD_ROW(&frame, program, NULL);

	row->name = name;
	row->cpu_secs = cpu_secs;
	row->memory_mib = memory_mib;
}

static inline void add_character(struct buffer *out, uint32_t character)
{
	if (character < 0x80)
		buffer_add_char(out, (char)character);
	else
		buffer_printf(out, "%c%c%c", (int)(0xe0 | character >> 12),
			      (int)(0x80 | (character >> 6 & 0x3f)), (int)(0x80 | (character & 0x3f)));
}

/* The screen as lines of text without blanks at their ends. */
static inline const char *draw(size_t rows, size_t columns)
{
	struct buffer out = BUFFER(sizeof(screen));

	assert_int_equal(canvas_begin(&canvas, rows, columns), 0);
	view_draw(&view, &canvas);
	for (size_t row = 0; row < rows; row++) {
		for (size_t column = 0; column < columns; column++) {
			uint32_t character = canvas.cells[row * columns + column].character;

			if (character)
				add_character(&out, character);
		}
		while (out.length && out.data[out.length - 1] == ' ')
			out.length--;
		buffer_add_char(&out, '\n');
	}
	assert_int_equal(buffer_error(&out), 0);
	snprintf(screen, sizeof(screen), "%s", out.data);
	buffer_done(&out);
	return screen;
}

static inline void assert_shows(const char *text)
{
	if (!strstr(draw(24, 80), text))
		fail_msg("'%s' is not on the screen:\n%s", text, screen);
}

static inline void assert_lacks(const char *text)
{
	if (strstr(draw(24, 80), text))
		fail_msg("'%s' is on the screen:\n%s", text, screen);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)
