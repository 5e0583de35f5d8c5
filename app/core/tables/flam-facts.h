/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The facts of a profile, and the one description of them.
 *
 * A new fact is a member of FlamFacts, a row in flam-facts.c, who provides it
 * and whoever shows it. Written to .flambeau files, read from them, dumped and
 * told by `info --json` it is by its row. */

#include "flam-types.h"

G_BEGIN_DECLS

/* What is known about the capture, and what is missing from it. */
typedef struct
{
  const char *format;       /* importer id, "perf-data" */
  const char *command;      /* may be "" */
  gint64 start_unix_ns;     /* 0 unknown */
  gint64 duration_ns;       /* 0 for captures without times */
  gboolean complete;        /* the file was read to its end */
  double read_fraction;     /* of the file; 1 when complete */
  guint64 lost;             /* events the recorder could not keep */
  guint64 late;             /* samples a period late, or left out for it */
  guint64 truncated_stacks; /* stacks that do not reach their root */
  gint64 recorder_cpu_ns;   /* CPU time of the recorder; 0 unknown */
  double recorder_share;    /* recorder's CPU / target's CPU; < 0 unknown */
  gint64 recorded_cpu_ns;   /* CPU time that samples weigh; 0 unknown */
  gint64 charged_cpu_ns;    /* what the kernel charged for it, as far as it is
                               known at the end; 0 unknown */
  gint64 stop_median_ns;    /* how long a sample stopped a thread; 0 unknown */
  gint64 stop_p99_ns;       /* 99 of 100 stops were shorter */
  gint64 sample_bytes;      /* allocations are sampled, one in so many bytes on
                               average; 0: every one is there, or unknown */
  gboolean pages_count;     /* its recorder takes mmap and brk for memory of the
                               same rank as the heap's blocks */
  const char *const *others;   /* key, value, key, value, ..., NULL: facts that
                                  a capture has and this version has no member
                                  for, to be written again as they are */
  const char *const *warnings; /* NULL-terminated, in order, no doubles */
} FlamFacts;

/* In .flambeau files facts are a key and a text, numbers in decimal; the last
 * one of a key counts. These are beside FlamFacts, and say how the recording
 * was made: */
#define FLAM_FACT_MODE "mode"
#define FLAM_FACT_RATE "rate-hz"
#define FLAM_FACT_EXIT_STATUS "exit-status"
/* And these how the tables are to be read. Of the tick in which the highest
 * point of AT_PEAK was. */
#define FLAM_FACT_PEAK_TIME "peak-time-ns"
#define FLAM_FACT_HAS_TIMES "has-times"
/* 1: of the measures of allocations there are those in the table alone; else
 * all are there if one is. */
#define FLAM_FACT_MEASURES_LISTED "measures-listed"
/* The measure whose samples are spans: they last their weight. */
#define FLAM_FACT_SPANS "spans"

/* Nothing is known yet: what a member is without its fact. */
extern const FlamFacts flam_facts_unknown;

typedef enum
{
  FLAM_FACT_TEXT,   /* const char * */
  FLAM_FACT_NUMBER, /* gint64 */
  FLAM_FACT_COUNT,  /* guint64: 0 says something too */
  FLAM_FACT_FLAG,   /* gboolean */
  FLAM_FACT_SHARE,  /* double; neither in files nor in dumps */
} FlamFactType;

/* Where `info --json` tells it. */
typedef enum
{
  FLAM_FACT_UNTOLD,
  FLAM_FACT_HEAD,    /* what the capture is, always told */
  FLAM_FACT_QUALITY, /* how good it is */
} FlamFactSection;

typedef struct
{
  FlamFactType type;
  const char *member; /* its name, which is its id in JSON too */
  gsize offset;       /* in FlamFacts */
  const char *key;    /* in .flambeau files; NULL: not there */
  const char *name;   /* in dumps; "": on the line of the row before; NULL: not
                         there */
  FlamFactSection section;
  gsize with; /* of the number that it is shown with, be it 0 or not; or 0 */
} FlamFact;

/* Ends with a row without member. */
extern const FlamFact flam_fact_rows[];

gboolean flam_fact_is_known (const FlamFact *fact, const FlamFacts *facts);
/* Known, or 0 with its other half known. */
gboolean flam_fact_is_shown (const FlamFact *fact, const FlamFacts *facts);
/* As in files and dumps, numbers in decimal; g_free. */
char *flam_fact_to_text (const FlamFact *fact, const FlamFacts *facts);
/* The standard error of a sum of `bytes` of sampled allocations, in bytes, at
 * most: blocks larger than the distance are met more surely. Poisson: a sum of
 * n samples, each for sample_bytes, varies by the root of n. 0: they are not
 * sampled. */
gint64 flam_facts_standard_error (const FlamFacts *facts, gint64 bytes);
/* From which sum on it is a tenth of it. */
#define FLAM_FACTS_ROUGH 100
/* NULL: none of this version's. */
const FlamFact *flam_fact_of_key (const char *key);

G_END_DECLS
