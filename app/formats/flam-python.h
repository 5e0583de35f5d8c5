/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What CPython's code objects say of themselves, as captures carry it. */

#include "flam-builder.h"

G_BEGIN_DECLS

/* The line of the instruction at `offset` (as in f_lasti), by the code's line
 * table in the form of the Python `version` (PY_VERSION_HEX); `first_line`
 * where the table is empty, 0 where it says nothing.
 *
 * Source of facts: CPython, Objects/lnotab_notes.txt (to 3.10) and
 * InternalDocs/code_objects.md (3.11 on). */
guint32 flam_python_line (guint32 version,
                          const guint8 *table,
                          gsize length,
                          gint64 offset,
                          gint64 first_line);

/* FlamFunctionFlags of a Python function in that file: runpy is not the
 * program's own, importlib's insides are import machinery. */
guint flam_python_flags (const char *file);

G_END_DECLS
