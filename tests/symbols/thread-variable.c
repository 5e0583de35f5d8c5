/* SPDX-License-Identifier: GPL-3.0-or-later */

/* A library with thread-local variables: one that is exported, and one that
 * only a function leads to. */

#include "thread-variable.h"

static __thread long unused[3] = { 1, 2, 3 };
__thread long thread_exported = 5;
static __thread long hidden = 7;

long
thread_hidden (void)
{
  return hidden;
}

long *
thread_hidden_address (void)
{
  return unused[0] == 1 ? &hidden : 0;
}
