/* Shows a canvas with ncursesw. See terminal.h. */
#include "live/terminal.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <ncurses.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

#include "base/cleanup.h"
#include "live/keys.h"

enum { ESCAPE_MS = 25, ESCAPE = 27, CONTROL_L = 12, PAIR_BYTES = 128 };

/* One terminal per process: ncurses knows no more. */
static struct {
	SCREEN *screen;
	struct canvas shown;   /* empty: curses may have something else */
	struct termios before; /* of the terminal as it was found */
	char leave[PAIR_BYTES];
	size_t leave_length;
	bool colour, many_colours, utf8;
} terminal;

struct shade {
	short in_256, in_8;
	attr_t with_256, with_8, without_colour;
};

/* Calm on dark and light backgrounds. The colours of 16 are those that the user has chosen. */
static const struct shade SHADES[LOOKS] = {
	[LOOK_PLAIN] = {-1, -1, 0, 0, 0},
	[LOOK_FAINT] = {245, -1, 0, A_DIM, A_DIM},
	[LOOK_STRONG] = {-1, -1, A_BOLD, A_BOLD, A_BOLD},
	[LOOK_CPU] = {72, COLOR_GREEN, 0, 0, 0},
	[LOOK_MEMORY] = {68, COLOR_BLUE, 0, 0, 0},
	[LOOK_STORAGE] = {179, COLOR_YELLOW, 0, 0, 0},
	[LOOK_NETWORK] = {139, COLOR_MAGENTA, 0, 0, 0},
	[LOOK_GPU] = {73, COLOR_CYAN, 0, 0, 0},
	[LOOK_GOOD] = {72, COLOR_GREEN, 0, 0, 0},
	[LOOK_WARNING] = {172, COLOR_YELLOW, A_BOLD, A_BOLD, A_BOLD},
	[LOOK_BAD] = {167, COLOR_RED, A_BOLD, A_BOLD, A_REVERSE},
	[LOOK_HEADING] = {245, -1, 0, A_DIM, A_UNDERLINE},
	[LOOK_CHOSEN] = {-1, -1, A_REVERSE, A_REVERSE, A_REVERSE},
};

bool terminal_is_built(void)
{
	return true;
}

/* ---- putting it back --------------------------------------------------------------------------------- */

static void add_sequence(const char *name)
{
	const char *sequence = tigetstr((char *)(uintptr_t)name);
	size_t length = sequence && sequence != (char *)-1 ? strlen(sequence) : 0;

	if (terminal.leave_length + length >= sizeof(terminal.leave))
		return;
	memcpy(terminal.leave + terminal.leave_length, sequence ? sequence : "", length);
	terminal.leave_length += length;
}

/* A crash: only calls that a signal handler may make. */
static void put_back(int number)
{
	ssize_t written = write(STDOUT_FILENO, terminal.leave, terminal.leave_length);

	(void)written;
	tcsetattr(STDIN_FILENO, TCSANOW, &terminal.before);
	signal(number, SIG_DFL);
	raise(number);
}

static void watch_for_crashes(void)
{
	static const int CRASHES[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
	struct sigaction action = {.sa_handler = put_back, .sa_flags = (int)SA_RESETHAND | SA_NODEFER};

	add_sequence("sgr0");
	add_sequence("cnorm");
	add_sequence("rmkx");
	add_sequence("rmcup");
	for (size_t i = 0; i < ARRAY_SIZE(CRASHES); i++)
		sigaction(CRASHES[i], &action, NULL);
}

/* ---- opening ----------------------------------------------------------------------------------------- */

static bool wants_colour(const char *colour)
{
	const char *without = getenv("NO_COLOR");

	if (strcmp(colour, "auto") == 0)
		return !(without && *without);
	return strcmp(colour, "always") == 0;
}

static void prepare_colours(const char *colour)
{
	terminal.colour =
		wants_colour(colour) && has_colors() && start_color() == OK && COLOR_PAIRS > (int)LOOKS;
	if (!terminal.colour)
		return;
	terminal.many_colours = COLORS >= 256;
	use_default_colors();
	for (size_t i = 0; i < LOOKS; i++) {
		short shade = terminal.many_colours ? SHADES[i].in_256 : SHADES[i].in_8;

		init_pair((short)(i + 1), shade, -1);
	}
}

int terminal_open(const char *colour)
{
	const char *kind = getenv("TERM");

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || tcgetattr(STDIN_FILENO, &terminal.before) < 0)
		return -ENOTTY;
	if (!kind || !*kind || strcmp(kind, "dumb") == 0)
		return -ENOTSUP;
	setlocale(LC_CTYPE, "");
	terminal.utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	/* ncurses opens no file of the user for a program with more rights than its user. */
	terminal.screen = newterm(NULL, stdout, stdin);
	if (!terminal.screen)
		return -ENOTSUP;
	if (!tigetstr("cup") || tigetstr("cup") == (char *)-1) {
		terminal_close();
		return -ENOTSUP;
	}
	watch_for_crashes();
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(ESCAPE_MS);
	curs_set(0);
	prepare_colours(colour);
	return 0;
}

void terminal_close(void)
{
	if (!terminal.screen)
		return;
	endwin();
	delscreen(terminal.screen);
	terminal.screen = NULL;
	canvas_done(&terminal.shown);
	tcsetattr(STDIN_FILENO, TCSADRAIN, &terminal.before);
}

/* The console of Linux has no dots. */
enum graph_style terminal_style(void)
{
	const char *kind = getenv("TERM");

	return !terminal.utf8 || (kind && strcmp(kind, "linux") == 0) ? GRAPH_ASCII : GRAPH_BRAILLE;
}

void terminal_size(size_t *ret_rows, size_t *ret_columns)
{
	*ret_rows = LINES > 0 ? (size_t)LINES : 0;
	*ret_columns = COLS > 0 ? (size_t)COLS : 0;
}

void terminal_resize(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col)
		resizeterm(size.ws_row, size.ws_col);
	canvas_done(&terminal.shown);
	clearok(curscr, TRUE);
}

void terminal_suspend(void)
{
	endwin();
}

void terminal_resume(void)
{
	terminal_resize();
	refresh();
	curs_set(0);
}

void terminal_bell(void)
{
	beep();
}

/* ---- showing ----------------------------------------------------------------------------------------- */

static attr_t attributes_of(unsigned look)
{
	const struct shade *shade = &SHADES[look % LOOK_CURSOR % LOOKS];
	attr_t attributes = !terminal.colour        ? shade->without_colour
			    : terminal.many_colours ? shade->with_256
						    : shade->with_8;

	return look & LOOK_CURSOR ? attributes ^ A_REVERSE : attributes;
}

static short pair_of(unsigned look)
{
	return terminal.colour ? (short)(look % LOOK_CURSOR % LOOKS + 1) : 0;
}

/* A character that the locale lacks is a '?'. */
static wchar_t curses_character(uint32_t character)
{
	return character < 0x80 || (terminal.utf8 && wcwidth((wchar_t)character) > 0) ? (wchar_t)character
										      : L'?';
}

static void put_row(const struct canvas *canvas, size_t row)
{
	for (size_t column = 0; column < canvas->columns; column++) {
		const struct cell *cell = &canvas->cells[row * canvas->columns + column];
		wchar_t text[2] = {curses_character(cell->character), 0};
		cchar_t shown;

		if (!cell->character)
			continue;
		setcchar(&shown, text, attributes_of(cell->look), pair_of(cell->look), NULL);
		mvadd_wch((int)row, (int)column, &shown);
	}
}

/* Puts only the rows that differ: curses compares cells as well, but takes longer for it than the rest of a redraw. */
void terminal_show(struct canvas *canvas, bool again)
{
	struct canvas before = terminal.shown;

	for (size_t row = 0; row < canvas->rows; row++)
		if (!canvas_row_is(canvas, &before, row))
			put_row(canvas, row);
	terminal.shown = *canvas;
	*canvas = before;
	if (again)
		redrawwin(stdscr);
	refresh();
}

/* ---- keys -------------------------------------------------------------------------------------------- */

static uint32_t special_key(wint_t key)
{
	static const struct {
		wint_t key;
		uint32_t meaning;
	} KEYS[] = {
		{KEY_UP, KEY_OF_UP},          {KEY_DOWN, KEY_OF_DOWN},       {KEY_LEFT, KEY_OF_LEFT},
		{KEY_RIGHT, KEY_OF_RIGHT},    {KEY_HOME, KEY_OF_HOME},       {KEY_END, KEY_OF_END},
		{KEY_PPAGE, KEY_OF_PAGE_UP},  {KEY_NPAGE, KEY_OF_PAGE_DOWN}, {KEY_ENTER, KEY_OF_ENTER},
		{KEY_BACKSPACE, KEY_OF_BACK},
	};

	for (size_t i = 0; i < ARRAY_SIZE(KEYS); i++)
		if (KEYS[i].key == key)
			return KEYS[i].meaning;
	return UINT32_MAX;
}

uint32_t terminal_key(void)
{
	wint_t key;
	int kind = get_wch(&key);

	if (kind == ERR)
		return 0;
	if (kind == KEY_CODE_YES)
		return special_key(key);
	if (key == '\r' || key == '\n')
		return KEY_OF_ENTER;
	if (key == CONTROL_L) {
		/* Something else has written to the terminal: all of it is drawn again. */
		clearok(curscr, TRUE);
		return UINT32_MAX;
	}
	if (key == ESCAPE || key == 127 || key == '\b')
		return KEY_OF_BACK;
	return key ? (uint32_t)key : UINT32_MAX;
}
