/* Used at build time only: how one option looks in the man pages and in the completions of each shell. */
#pragma once

#include <stdbool.h>

#include "options/option.h"

/* Every `letter` in a text gets a backslash. */
void print_escaped(const char *text, const char *letters);
/* A text with a capital and a full stop, for scdoc. */
void print_sentence(const char *help);

bool is_any(const struct option_row *row);
/* Those whose value may be the next word. */
bool takes_word(const struct option_row *row);

/* "-i|--interval" of all options for which `wanted` holds, with `between` between them. */
void print_names(struct option_list options, bool (*wanted)(const struct option_row *), const char *between);
/* The words of "a|b|c", with blanks between them. */
void print_words(const char *choices);

/* "*-i*, *--interval* _TIME_", a newline, and its help behind a tab. */
void print_man_option(const struct option_row *row);
/* "choices='a b' ;;" or "kind='FILE' ;;" and a newline. */
void print_bash_value(const struct option_row *row);
/* An argument of _arguments. */
void print_zsh_option(const struct option_row *row);
/* The words behind the condition of `complete`. */
void print_fish_option(const struct option_row *row);

/* The parts of the templates that tell of subcommands. */
void man_subcommands(void);
void bash_subcommand_options(void);
void bash_subcommand_values(void);
void bash_operands(void);
void zsh_subcommands(void);
void zsh_subcommand_options(void);
void fish_subcommands(void);
void fish_subcommand_names(void);
void fish_subcommand_options(void);

/* The man page of one subcommand (scdoc). False if there is none of that name. */
bool man_page(const char *name);
