/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What a recorded program prints. Into a file, not a pipe: the target may
 * outlive the window, and must not end for what it prints then; nor does it
 * wait for anybody. The file has no name, and goes with the last who has it
 * open.
 *
 * It holds 16 MiB, and what is printed between two looks: then it is begun anew
 * under the target, whose next line stands at its beginning. It never meets a
 * full disk or a limit of a file's size that way. */

#include <glib.h>

G_BEGIN_DECLS

typedef struct _FlamPrinted FlamPrinted;

FlamPrinted *flam_printed_new (GError **error);
/* The file stays bounded for as long as another process has it, and this one
 * runs. */
void flam_printed_free (FlamPrinted *printed);

/* A descriptor for a process to print to, of a number from `lowest` on. */
int flam_printed_dup (const FlamPrinted *printed, int lowest);
/* No process is to get one from here on. */
void flam_printed_seal (FlamPrinted *printed);
/* What was printed since the last call, of much the end, as text without zeros;
 * g_free. NULL: nothing. `left_out`: becomes TRUE when something was. */
char *flam_printed_take (FlamPrinted *printed, gboolean *left_out);

G_END_DECLS
