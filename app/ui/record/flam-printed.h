/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PRINTED_H
#define FLAM_PRINTED_H

/* The output of a recorded program. It goes into a file, not a pipe: the target
 * may outlive the window, and printing must then neither end nor block it. The
 * file has no name, and is freed when the last process closes it.
 *
 * It holds 16 MiB, and what is printed between two reads: then it is truncated,
 * and the next line of the target is at its beginning. So it cannot fill a disk
 * or reach a limit of a file's size. */

#include <glib.h>

G_BEGIN_DECLS

typedef struct _FlamPrinted FlamPrinted;

FlamPrinted *flam_printed_new (GError **error);
/* Keeps the file bounded as long as another process has it open and this one
 * runs. */
void flam_printed_free (FlamPrinted *printed);

/* A descriptor for a process to print to, numbered `lowest` or higher. */
int flam_printed_dup (const FlamPrinted *printed, int lowest);
/* From here on, no process gets a descriptor. */
void flam_printed_seal (FlamPrinted *printed);
/* The text printed since the last call, or the end of a long one, without
 * NUL bytes; g_free. NULL: nothing. `left_out` becomes TRUE if some was left
 * out. */
char *flam_printed_take (FlamPrinted *printed, gboolean *left_out);

G_END_DECLS

#endif
