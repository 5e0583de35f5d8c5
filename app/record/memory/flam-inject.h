/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_INJECT_H
#define FLAM_INJECT_H

/* The allocation library is loaded at the exec stop, when the new program is in
 * memory and has not run: by two additional variables on its stack, which the
 * library removes before main().
 *
 *   sp ▶ argc argv... 0  env...          0  auxv... 0   strings...
 *   sp ▶ argc argv... 0  env... two new 0   auxv... 0   new    strings...
 *
 * So the decision is made for each program separately: a 32-bit, static or
 * privileged program is left unchanged, and no loader prints a warning. The
 * environment that a program passes to its children has no effect, and neither
 * the program nor its children find the two variables in their environment. */

#include <glib.h>
#include <sys/types.h>

typedef struct
{
  const char *library;
  const char *directory; /* the session's */
} FlamInjection;

/* Called in the exec stop of `tid`. NULL, or the reason why the library cannot
 * be loaded: a static string that continues a sentence after "it ". */
const char *flam_inject (const FlamInjection *injection, pid_t tid);

/* The same for a program file; conditions that depend on its stack are
 * unknown. */
const char *flam_preload_check (const char *program);

/* The same for a process that is to load it while it runs. Gives it the folder,
 * if it runs as another user. */
const char *flam_inject_check_process (const FlamInjection *injection,
                                       pid_t pid);

#endif
