/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PERF_SCRIPT_H
#define FLAM_PERF_SCRIPT_H

/* The lines of `perf script`'s text, one by one; flam-import-perf-script.c
 * shows how they belong together. */

#include "flam-text.h"

typedef struct
{
  FlamSlice comm; /* empty: not printed */
  FlamSlice who;  /* name and ids, unparsed */
  gint32 pid;     /* -1 unknown */
  gint32 tid;     /* -1 unknown */
  gint64 time;    /* ns; -1 none */
  gint64 period;
  gboolean has_period;
  gint64 bytes; /* that the kernel allocated (kmem's events); -1: none */
  FlamSlice event;
  FlamSlice leaf;      /* the only frame of a sample that has no call chain */
  FlamSlice time_text; /* the token; NULL: none */
  FlamSlice period_text;
  /* Only a header can have this form: otherwise its place decides. */
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

/* FALSE: the line does not have the form of a header. */
gboolean flam_script_parse_header (const char *text,
                                   gsize length,
                                   FlamScriptHeader *header);
/* "94564.109216:", all of it, in ns. */
gboolean
flam_script_parse_time (const char *text, const char *end, gint64 *time);

/* The previous header, which most headers resemble (flam-perf-script-last.c).
 * Zero it first. */
typedef struct
{
  FlamSlice line; /* empty: none that another frame could resemble */
  FlamScriptHeader header;
  gsize time, stop; /* its token, in the line */
  gsize rest;       /* after the period */
} FlamScriptLast;

/* FALSE: the line does not resemble the last one, and must be parsed. */
gboolean flam_script_parse_like_last (const FlamScriptLast *last,
                                      const char *line,
                                      gsize length,
                                      FlamScriptHeader *header);
void flam_script_remember (FlamScriptLast *last,
                           const char *line,
                           gsize length,
                           const FlamScriptHeader *header);

/* One of perf's own records, which --show-mmap-events, --show-task-events and
 * similar options print among the samples; `*lost`, its number of lost
 * samples. */
gboolean
flam_script_parse_record (const char *text, gsize length, guint64 *lost);
/* A frame in the place of those of call chains in perf's output: after a tab,
 * or at that width. */
gboolean flam_script_is_chain_line (const char *text, const char *end);
/* The same to the column, as only perf prints it. */
gboolean flam_script_is_exact_chain_line (const char *text, const char *end);
/* After the lines at `p` that belong to a sample whose header is above; `*cut`
 * if more text might add to them. */
const char *
flam_script_chain_end (const char *p, const char *end, gboolean *cut);
/* Reads a line of a call chain, with the source line below it if there is
 * one. */
gboolean flam_script_parse_frame (FlamSlice text, FlamScriptFrame *frame);
/* Two spaces and no address: belongs to the frame above it. */
gboolean flam_script_is_source_line (const char *text, const char *end);
/* perf's output about a sample after its stack: registers, branches, code. */
gboolean flam_script_is_detail (const char *text, const char *end);
/* The kind of the code in a module, from its name. */
FlamFunctionKind flam_script_module_kind (FlamSlice module);

#endif
