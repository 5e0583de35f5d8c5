/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_XCTRACE_H
#define FLAM_XCTRACE_H

/* An element of xctrace's XML when it closes, and its value. */

#include "flam-markup.h"
#include "flam-stack-text.h"

typedef enum
{
  FLAM_XCTRACE_OTHER,
  FLAM_XCTRACE_ROW,
  FLAM_XCTRACE_TIME,
  FLAM_XCTRACE_WEIGHT,
  FLAM_XCTRACE_CYCLES,
  FLAM_XCTRACE_STATE,
  FLAM_XCTRACE_TID,
  FLAM_XCTRACE_PID,
  FLAM_XCTRACE_PROCESS,
  FLAM_XCTRACE_THREAD,
  FLAM_XCTRACE_PATH,
  FLAM_XCTRACE_SOURCE,
  FLAM_XCTRACE_BINARY,
  FLAM_XCTRACE_FRAME,
  FLAM_XCTRACE_BACKTRACE,
  FLAM_XCTRACE_ADDRESSES,
  FLAM_XCTRACE_N_KINDS
} FlamXctraceKind;

/* The value of an element: a number, or an id of the builder. */
typedef struct
{
  gboolean known;
  FlamXctraceKind kind;
  gint64 a;
  gint64 b; /* of a source its line, of a binary its load address */
  FlamFunctionKind code; /* of a binary */
} FlamXctraceValue;

typedef struct
{
  FlamTag tag;
  FlamSlice text; /* up to the first element in it */
  FlamXctraceKind kind;
  FlamXctraceValue inner[FLAM_XCTRACE_N_KINDS]; /* the last one of each */
} FlamXctraceElement;

typedef struct
{
  FlamBuilder *builder;
  GArray *frames; /* FlamId: of the backtrace, leaf first */
  GString *scratch;
  guint64 addresses; /* stacks of addresses without names */
  guint64 bad_numbers;
} FlamXctrace;

FlamXctraceValue flam_xctrace_value (FlamXctrace *xctrace,
                                     const FlamXctraceElement *element);

#endif
