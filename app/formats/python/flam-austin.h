/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_AUSTIN_H
#define FLAM_AUSTIN_H

/* Austin's samples, in both formats: flam-import-austin.c reads the text,
 * flam-mojo.c the binary form.
 *
 * A sample is a thread's stack, the µs since the threads were sampled before,
 * and in some modes the change of the process's memory in bytes. Threads are
 * sampled one after the other, and have the same µs; samples have no time, so
 * it is the sum of these. */

#include "flam-ranges.h"
#include "flam-load.h"

typedef enum
{
  FLAM_AUSTIN_WALL,
  FLAM_AUSTIN_CPU,
  FLAM_AUSTIN_MEMORY,
  FLAM_AUSTIN_FULL,
} FlamAustinMode;

typedef struct
{
  gint64 now;  /* ns */
  FlamId base; /* its last stack, to the last frame of Python */
} FlamAustinThread;

typedef struct
{
  FlamBuilder *builder;
  FlamAustinMode mode;
  gboolean begun;
  gboolean old;      /* before version 3: threads are in hex */
  gboolean kib;      /* version 1: memory */
  gint64 clock;      /* ns */
  GArray *threads;   /* FlamAustinThread, by FlamId */
  FlamRanges *maps;  /* value: a row of `mapped` */
  GPtrArray *mapped; /* paths */
  GHashTable *bases; /* path -> its lowest address */
  guint64 samples;
} FlamAustin;

typedef struct
{
  FlamThreadId thread;
  FlamStackId stack;
  gint64 time;   /* µs */
  gint64 memory; /* bytes */
  gboolean idle;
} FlamAustinSample;

void flam_austin_init (FlamAustin *austin, FlamLoad *load);

/* Reads "mode", "duration", …: the metadata before or after the samples. */
void flam_austin_tell (FlamAustin *austin,
                       const char *key,
                       gsize key_length,
                       const char *value,
                       gsize length);
FlamThreadId flam_austin_thread (FlamAustin *austin,
                                 gint64 pid,
                                 gint64 interpreter,
                                 const char *tid,
                                 gsize length,
                                 guint base);
FlamAustinThread *flam_austin_state (FlamAustin *austin, FlamThreadId thread);
/* `*python`: whether it is one of Python's frames. */
FlamFrameId flam_austin_frame (FlamAustin *austin,
                               const char *file,
                               gsize file_length,
                               const char *name,
                               gsize length,
                               gint64 line,
                               gboolean *python);
void flam_austin_add (FlamAustin *austin, const FlamAustinSample *sample);
/* Adds the measures, even without any sample. */
void flam_austin_begin (FlamAustin *austin);

gboolean flam_mojo_read (FlamAustin *austin, FlamLoad *load, GError **error);

#endif
