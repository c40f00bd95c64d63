/* The options of each subcommand that prints for people; included by the tables of subcommands (*.def). */
#pragma once

#define SCREEN_OPTIONS(id) \
	OPTION(id, color, "color", 0, VALUE, "auto|always|never", "auto", \
	       "colours; auto: on a terminal, unless NO_COLOR is set") \
	OPTION(id, no_pager, "no-pager", 0, SWITCH, "", "", \
	       "never use $PAGER (usually less), which shows text that is longer than the screen")
