#pragma once

/* Stands before a function that runs once or twice in a run: small code is worth more there than fast code. */
#define RUNS_ONCE __attribute__((cold))

/* The same before a function that most samples of most jobs do without. */
#define SELDOM __attribute__((cold))
