#pragma once

/* Stands before a function that runs once or twice in a run: small code is worth more there than fast code. */
#define RUNS_ONCE __attribute__((cold))
