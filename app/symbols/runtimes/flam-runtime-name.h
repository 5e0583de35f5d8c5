/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_RUNTIME_NAME_H
#define FLAM_RUNTIME_NAME_H

/* The names of a managed function, or of a position in one: made by a reader,
 * of bounded size, and all texts in it valid UTF-8.
 *
 *   frames[0]      the innermost function inlined at the position, if any
 *   ...
 *   frames[n - 1]  the function itself
 *
 * How a reader uses it:
 *
 *   FlamRuntimeNamed *named = flam_runtime_name_add (name);
 *   named->function = flam_runtime_name_read (name, memory, address, length);
 */

#include "flam-runtime-memory.h"

#include <glib.h>

#define FLAM_RUNTIME_INLINED_MAX 64
#define FLAM_RUNTIME_TEXT_MAX 4096
#define FLAM_RUNTIME_TEXTS_MAX (128u << 10)
#define FLAM_RUNTIME_LINES_MAX (1u << 20)

typedef struct
{
  const char *function; /* as its language writes it, without its class */
  const char *type;     /* class or module; "": none */
  const char *file;     /* "": unknown */
  guint32 first_line;   /* 0: unknown */
  guint32 line;         /* of the position; 0: unknown */
  bool compiled;        /* machine code now; it is the same function */
  bool hidden;          /* internal to the runtime: its frames are left out */
} FlamRuntimeNamed;

typedef struct
{
  guint n;
  FlamRuntimeNamed frames[FLAM_RUNTIME_INLINED_MAX];
  /* A copy of the function's line table, if lines are found in that, and the
   * version of its form; only the reader interprets it. */
  guint32 lines_version;
  gsize n_lines;
  guint8 lines[FLAM_RUNTIME_LINES_MAX];
  gsize used;
  char texts[FLAM_RUNTIME_TEXTS_MAX];
} FlamRuntimeName;

/* Large; to be reused. Free with g_free(). */
FlamRuntimeName *flam_runtime_name_new (void);
void flam_runtime_name_clear (FlamRuntimeName *name);
/* The next function outward, with empty texts. Beyond the limit it is the last
 * one again, so that the function itself is never lost. */
FlamRuntimeNamed *flam_runtime_name_add (FlamRuntimeName *name);

/* Copies of texts, truncated after FLAM_RUNTIME_TEXT_MAX bytes, "" if there is
 * no more room. They end at the first NUL. Invalid UTF-8, unpaired surrogates
 * and control characters become U+FFFD. */
const char *
flam_runtime_name_utf8 (FlamRuntimeName *name, const void *bytes, gsize size);
const char *
flam_runtime_name_latin1 (FlamRuntimeName *name, const void *bytes, gsize size);
/* `n` units in the machine's order. */
const char *
flam_runtime_name_utf16 (FlamRuntimeName *name, const void *units, gsize n);
G_GNUC_PRINTF (2, 3)
const char *
flam_runtime_name_printf (FlamRuntimeName *name, const char *format, ...);
/* `size` bytes of UTF-8 in the process's memory; NULL: not readable. */
const char *flam_runtime_name_read (FlamRuntimeName *name,
                                    const FlamRuntimeMemory *memory,
                                    guint64 address,
                                    guint64 size);
/* The same up to a NUL, which must follow within FLAM_RUNTIME_TEXT_MAX bytes or
 * the text is truncated. */
const char *flam_runtime_name_read_string (FlamRuntimeName *name,
                                           const FlamRuntimeMemory *memory,
                                           guint64 address);

#endif
