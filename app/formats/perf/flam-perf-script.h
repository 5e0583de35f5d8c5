/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The lines of `perf script`'s text, one by one; how they stand together is
 * drawn in flam-import-perf-script.c. */

#include "flam-text.h"

typedef struct
{
  FlamSlice comm; /* empty: not printed */
  FlamSlice who;  /* name and ids, as they stand */
  gint32 pid;     /* -1 unknown */
  gint32 tid;     /* -1 unknown */
  gint64 time;    /* ns; -1 none */
  gint64 period;
  gboolean has_period;
  FlamSlice event;
  FlamSlice leaf; /* the only frame of a sample that has no call chain */
  /* It holds what no other line does: else only its place says that it is a
   * header. */
  gboolean certain;
} FlamScriptHeader;

typedef struct
{
  guint64 address;
  FlamSlice symbol; /* empty: unknown */
  FlamSlice module; /* empty: none was printed, or it is unknown */
  gboolean inlined;
  FlamSlice file;
  gint64 line;
} FlamScriptFrame;

/* FALSE: no header has this form. */
gboolean flam_script_parse_header (const char *text,
                                   gsize length,
                                   FlamScriptHeader *header);
/* One of perf's own records, which --show-mmap-events, --show-task-events and
 * their like print among the samples; `*lost`, the samples that it says are
 * lost. */
gboolean
flam_script_parse_record (const char *text, gsize length, guint64 *lost);
/* A frame where perf prints those of call chains: behind a tab, or as wide. */
gboolean flam_script_is_chain_line (const char *text, const char *end);
/* The same to the column, as only perf writes it. */
gboolean flam_script_is_exact_chain_line (const char *text, const char *end);
/* Behind the lines at `p` that belong to a sample whose header is above; `*cut`
 * if more text might add to them. */
const char *
flam_script_chain_end (const char *p, const char *end, gboolean *cut);
/* A line of a call chain, with the source line below it if there is one. */
gboolean flam_script_parse_frame (FlamSlice text, FlamScriptFrame *frame);
/* Two spaces and no address: belongs to the frame above it. */
gboolean flam_script_is_source_line (const char *text, const char *end);
/* What perf prints of a sample behind its stack: registers, branches, code. */
gboolean flam_script_is_detail (const char *text, const char *end);
/* What its name says of the code in a module. */
FlamFunctionKind flam_script_module_kind (FlamSlice module);
