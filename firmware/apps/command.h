/* Commands: words with arguments that answer with lines of text.
 *
 * A module brings a table of its commands; the console and the command port run them. A command prints
 * one line at a time: `run` is called with step 0, 1, ... and is false when there is nothing more, so
 * that a long answer waits for whoever takes it and blocks nobody. It may print nothing in a step.
 * Everything runs in the application. No device is used here.
 */
#ifndef TIERV_APPS_COMMAND_H
#define TIERV_APPS_COMMAND_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes of a command line and of a line of an answer, the end included, for a node of `lin` with counters of ten
 * digits; words of a command. */
enum { COMMAND_INPUT_BYTES = 96, COMMAND_LINE_BYTES = 108, COMMAND_WORDS = 16 };

/* Takes text, which ends its lines with '\n'. */
typedef void (*command_sink_t)(void *context, const char *text, uint32_t bytes);

typedef struct command_call command_call_t;

typedef struct {
    const char *name;
    const char *arguments; /* for help: what may stand behind the name, or "" */
    uint32_t most;         /* words that may stand there; COMMAND_WORDS: any number */
    const char *help;
    /* Prints a line or less; true if there is another step. */
    bool (*run)(command_call_t *call);
} command_t;

/* A module's table; `next` is NULL before command_add(). */
typedef struct command_table {
    const command_t *commands;
    uint32_t count;
    struct command_table *next;
} command_table_t;

struct command_call {
    uint32_t count;                   /* words, the command's name included */
    const char *words[COMMAND_WORDS]; /* point into `text` */
    uint32_t step;
    uint32_t state; /* the command's own, 0 at first */
    bool failed;    /* command_error() was called */
    const command_t *command; /* NULL: nothing is running */
    command_sink_t sink;
    void *context;
    char text[COMMAND_INPUT_BYTES];
};

/* Calls that ended with an error. */
extern uint32_t command_errors;

/* Adds a table for good. `help` is always there. */
void command_add(command_table_t *table);

/* Begins a command: takes `line` apart at blanks. True if it runs: then call command_step() until that
 * is false. Otherwise there is nothing to do, or it was wrong and the sink has been told. */
bool command_begin(command_call_t *call, const char *line, uint32_t bytes);

/* Does the next step; at the most a line is printed. False if the command has ended. */
bool command_step(command_call_t *call);

/* For commands: prints part of a line, or a line with its '\n'. */
void command_print(command_call_t *call, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* For commands: prints "error: ...", counts it, and is false, so that a command may return it. */
bool command_error(command_call_t *call, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* For commands: true if a call has no more than `words` words, the command's name included. Otherwise false,
 * and command_error() with the first that is too many. */
bool command_ends(command_call_t *call, uint32_t words);

/* For commands: reads all of `word` as a number, decimal or with 0x, from `least` to `most`. False, and
 * command_error() with `what` and the word, if it is none. */
bool command_number(command_call_t *call, const char *what, const char *word, uint32_t least,
                    uint32_t most, uint32_t *value);

#endif
