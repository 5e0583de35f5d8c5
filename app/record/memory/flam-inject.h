/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The allocation library is loaded at the exec stop, when the new program is
 * in memory and has not run: by two variables more on its stack, which the
 * library takes out again before main().
 *
 *   sp ▶ argc argv... 0  env...          0  auxv... 0   strings...
 *   sp ▶ argc argv... 0  env... ours two 0  auxv... 0   ours   strings...
 *
 * So it is for this program to say whether it can be loaded: what is 32-bit,
 * static or privileged is left as it is, and no loader complains of us. What a
 * program hands on, or does not, to those it starts makes no difference, and
 * neither it nor they find anything of ours in their environment. */

#include <glib.h>
#include <sys/types.h>

typedef struct
{
  const char *library;
  const char *directory; /* the session's */
} FlamInjection;

/* In the exec stop of `tid`. NULL, or why the library cannot be loaded; static,
 * to be said after "it ". */
const char *flam_inject (const FlamInjection *injection, pid_t tid);

/* The same of a program that is a file; what its stack would say is unknown. */
const char *flam_preload_check (const char *program);
