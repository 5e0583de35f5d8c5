/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_TEST_CASES_H
#define FLAM_TEST_CASES_H

#include <stdint.h>

/* Keeps a CPU busy, about as long on every machine. */
void burn (long n);

int deep_stack (void);
int deep_sleep (void);
int hollow (void);
int wide (void);
int execs (void);
int abyss (void);
int coroutines (void);
int generated (void);

#endif
