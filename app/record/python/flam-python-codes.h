/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The Python functions of a recording, each once however many processes run it.
 * The tracer makes them and the sampler names frames by them; they live as long
 * as the recording, so that pointers to them are always valid. */

#include "flam-core-profile.h"
#include "flam-python.h"

typedef struct _FlamPythonCode
{
  /* Constant after creation. */
  char *name; /* qualified */
  char *file;
  guint32 first_line;
  guint32 version; /* PY_VERSION_HEX, which determines the form of the line
                    * table */
  GBytes *lines;   /* the line table; never written to a file */
  gboolean hidden; /* internal to CPython, not shown in a traceback */

  /* Sampler's. */
  FlamId function;
  GArray *frames; /* FlamId by code unit, FLAM_NONE: not made yet */
} FlamPythonCode;

typedef struct _FlamPythonCodes FlamPythonCodes;

FlamPythonCodes *flam_python_codes_new (void);
void flam_python_codes_free (FlamPythonCodes *codes);
/* Tracer: the function with this content. */
FlamPythonCode *flam_python_codes_get (FlamPythonCodes *codes,
                                       guint32 version,
                                       const char *name,
                                       const char *file,
                                       guint32 first_line,
                                       const guint8 *lines,
                                       gsize n_lines);
/* Sampler: the capture's frame of the instruction at `offset`. */
FlamId flam_python_code_frame (FlamPythonCode *code,
                               FlamBuilder *builder,
                               gint64 offset);
