/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_FACTS_H
#define FLAM_FACTS_H

/* The facts of a profile, and the one description of them.
 *
 * A new fact needs a member of FlamFacts, a row in flam-facts.c, and code that
 * sets and shows it. The row is sufficient for writing and reading .flambeau
 * files, for dumps and for `info --json`. */

#include "flam-types.h"

G_BEGIN_DECLS

/* Facts about the capture, and about what is missing from it. */
/* What times count. */
typedef enum
{
  FLAM_CLOCK_TIME, /* ns */
  FLAM_CLOCK_INSTRUCTIONS,
  FLAM_CLOCK_BYTES, /* that the program has allocated */
} FlamClock;

typedef struct
{
  const char *format;       /* importer id, "perf-data" */
  const char *command;      /* may be "" */
  gint64 start_unix_ns;     /* 0 unknown */
  gint64 duration_ns;       /* 0 for captures without times */
  gboolean complete;        /* the file was read to its end */
  double read_fraction;     /* of the file; 1 when complete */
  guint64 lost;             /* events that the recorder was too slow to keep */
  guint64 late;             /* samples taken a period late, or dropped for it */
  guint64 truncated_stacks; /* stacks that do not reach their root */
  gint64 recorder_cpu_ns;   /* CPU time of the recorder; 0 unknown */
  double recorder_share;    /* recorder's CPU / target's CPU; < 0 unknown */
  gint64 recorded_cpu_ns;   /* CPU time in the samples' weights; 0 unknown */
  gint64 charged_cpu_ns;    /* CPU time charged by the kernel, as far as it is
                               known at the end; 0 unknown */
  gint64 stop_median_ns;    /* how long a sample stopped a thread; 0 unknown */
  gint64 stop_p99_ns;       /* 99 of 100 stops were shorter */
  gint64 waiting_stops;     /* stops that are not samples, since the thread was
                               waiting for a CPU; 0 unknown */
  gint64 uncertain_stops;   /* stops of threads of which the recorder estimated
                               whether they were running; 0 unknown */
  gint64 unseen_cpu_ns;     /* CPU time around waits in which the kernel takes
                               no sample, at most: an estimate; 0 unknown */
  gint64 unnamed_frames;    /* frames of managed languages whose names could not
                               be read, in all samples; 0 unknown */
  const char *clock;        /* what times count: "instructions", "bytes" or,
                               for ns, "" (flam_facts_clock) */
  const char *engine;       /* the recorder's clock: "perf" or "ptrace"; may
                               be "" */
  const char *engine_reason; /* why, a sentence; "": the user chose it */
  gint64 sample_bytes; /* allocations are sampled, one per this many bytes on
                          average; 0: all are recorded, or unknown */
  /* Sampled allocations: bytes counted without sampling; 0 unknown: */
  gint64 allocated_bytes;  /* all blocks, */
  gint64 live_bytes;       /* those that were live at the end, */
  gint64 peak_bytes;       /* and at the peak */
  gint64 live_bytes_error; /* of these two: the allocator rounds sizes, */
  gint64 peak_bytes_error; /* and only sampled blocks show by how much */
  gint64 allocated_blocks; /* the same in blocks */
  gint64 live_blocks;
  gint64 peak_blocks;
  double blocks_spread;    /* sampled: the variance of the number of blocks per
                              allocated byte, see flam-estimate.h; computed from
                              the    allocations */
  const char *unseen_heap; /* a sentence: a heap of the program's language that
                              the allocations do not include; may be "" */
  gboolean pages_count;    /* the recorder counts mmap and brk as memory like
                              the heap's blocks */
  const char *const *others;   /* key, value, key, value, ..., NULL: facts of
                                  the capture without a member in this version,
                                  kept to be written again */
  const char *const *warnings; /* NULL-terminated, in order, no doubles; the
                                  first says why the file is not complete */
} FlamFacts;

/* In .flambeau files, facts are a key and a text, with numbers in decimal; the
 * last one with a key counts. The following ones are not in FlamFacts, and
 * describe how the recording was made: */
#define FLAM_FACT_MODE "mode"
#define FLAM_FACT_RATE "rate-hz"
#define FLAM_FACT_EXIT_STATUS "exit-status"
/* The host name. */
#define FLAM_FACT_HOST "host"
/* Of a rank of a job: its number, the number of ranks, and the job. They apply
 * to all processes of the capture that have no rank in their table. */
#define FLAM_FACT_RANK "rank"
#define FLAM_FACT_RANKS "ranks"
#define FLAM_FACT_JOB "job"
/* "attaching": the processes ran already, and had blocks that are not counted,
 * nor is their release. */
#define FLAM_FACT_MEMORY_SINCE "memory-since"
/* These describe how to read the tables. The time of the tick with the highest
 * point of AT_PEAK. */
#define FLAM_FACT_PEAK_TIME "peak-time-ns"
#define FLAM_FACT_HAS_TIMES "has-times"
/* 1: only the measures of allocations in the table exist; otherwise all exist
 * if one does. */
#define FLAM_FACT_MEASURES_LISTED "measures-listed"
/* The measure whose samples are spans (each lasts its weight), or whose samples
 * are not parts of calls. */
#define FLAM_FACT_SPANS "spans"
#define FLAM_FACT_SAMPLED_SPANS "sampled-spans"

/* The value of each member if its fact is missing. */
extern const FlamFacts flam_facts_unknown;

typedef enum
{
  FLAM_FACT_TEXT,   /* const char * */
  FLAM_FACT_NUMBER, /* gint64 */
  FLAM_FACT_COUNT,  /* guint64: 0 is meaningful, too */
  FLAM_FACT_FLAG,   /* gboolean */
  FLAM_FACT_SHARE,  /* double; neither in files nor in dumps */
} FlamFactType;

/* The part of `info --json` that contains it. */
typedef enum
{
  FLAM_FACT_UNTOLD,
  FLAM_FACT_HEAD,    /* identity of the capture; always written */
  FLAM_FACT_QUALITY, /* completeness */
} FlamFactSection;

typedef struct
{
  FlamFactType type;
  const char *member; /* its name, which is also its id in JSON */
  gsize offset;       /* in FlamFacts */
  const char *key;    /* in .flambeau files; NULL: not included */
  const char *name; /* in dumps; "": on the line of the previous row; NULL: not
                       in dumps */
  FlamFactSection section;
  gsize with; /* of another number that it is shown with, even if 0; or 0 */
} FlamFact;

/* Ends with a row without member. */
extern const FlamFact flam_fact_rows[];

gboolean flam_fact_is_known (const FlamFact *fact, const FlamFacts *facts);
/* Whether the figure is known; one that is 0 counts as known if its counterpart
 * is. */
gboolean flam_fact_is_shown (const FlamFact *fact, const FlamFacts *facts);
/* The text in files and dumps, numbers in decimal; g_free. */
char *flam_fact_to_text (const FlamFact *fact, const FlamFacts *facts);
/* The part of the CPU time in which no sample could be taken: shares are wrong
 * by at most this. 0: less than FLAM_FACTS_SEEN, or unknown. */
#define FLAM_FACTS_SEEN 0.01
FlamClock flam_facts_clock (const FlamFacts *facts);
double flam_facts_unseen (const FlamFacts *facts);
/* A sum from fewer samples of allocations than that is only a hint. */
#define FLAM_FACTS_FEW 10
/* A fact without a member in this version; NULL: it is not there. */
const char *flam_facts_other (const FlamFacts *facts, const char *key);
/* The number of samples at which the error is a tenth of the sum. */
#define FLAM_FACTS_ROUGH 100
/* NULL: not a fact of this version. */
const FlamFact *flam_fact_of_key (const char *key);

G_END_DECLS

#endif
