/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_SPEEDSCOPE_H
#define FLAM_SPEEDSCOPE_H

/* The state of reading speedscope's files: in two passes, see
 * flam-import-speedscope.c. */

#include "flam-json.h"

/* For weights other than times, if some are fractions. */
#define FLAM_SPEEDSCOPE_FRACTION 1000000
#define FLAM_SPEEDSCOPE_MAX_MEASURES 16

typedef struct
{
  FlamUnit is;
  guint32 scale; /* of time: to ns */
} FlamSpeedscopeUnit;

typedef struct
{
  FlamId id;
  FlamStringId name; /* strings */
  FlamUnit unit;
  FlamMeasureKind kind;
  gboolean evented; /* some of its profiles are of events */
} FlamSpeedscopeMeasure;

/* A profile after the first pass. */
typedef struct
{
  FlamSpeedscopeUnit unit;
  guint measure;     /* FLAM_NONE: too many measures */
  gint64 thread;     /* -1: a separate one */
  FlamStringId name; /* of that thread; 0: the profile's */
} FlamSpeedscopeProfile;

/* Samples of one thread that wait for the weights of other measures. */
typedef struct
{
  FlamThreadId thread; /* FLAM_NONE: no samples */
  GArray *stacks;
  GArray *times;
  GArray *weights; /* for each sample as many as there are measures */
  gboolean has[FLAM_SPEEDSCOPE_MAX_MEASURES];
  gboolean timed;
} FlamSpeedscopeRows;

typedef struct
{
  gint64 frame;
  FlamStackId stack;
} FlamSpeedscopeStep;

typedef struct
{
  FlamLoad *load;
  FlamBuilder *builder;
  GArray *frames;   /* FlamId */
  GArray *profiles; /* FlamSpeedscopeProfile */
  GArray *measures; /* FlamSpeedscopeMeasure */
  gint64 active;    /* the index of the default profile */
  FlamSpeedscopeRows rows;
  GArray *open;    /* FlamId: stacks, of an evented profile */
  GArray *stacks;  /* FlamId: of a sampled profile */
  GArray *last;    /* FlamSpeedscopeStep: of the last sample */
  GArray *weights; /* gint64 */
  gboolean fractions;
  gboolean left_out; /* profiles of measures beyond the limit */
  FlamThreadId thread;
  guint first_own; /* threads from here on are of profiles that have none */
  guint64 samples;
  guint64 bad;
  guint64 unweighted;
  guint64 surplus;  /* weights beyond the samples */
  guint64 unclosed; /* frames of evented profiles */
} FlamSpeedscope;

/* Reads the frames, and the measure and the thread of each profile; then adds
 * the measures. */
gboolean flam_speedscope_begin (FlamSpeedscope *reader, GError **error);

#endif
