/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PROFILE_H
#define FLAM_PROFILE_H

/* A profile: immutable tables, read by any thread without a lock.
 *
 *   samples ──stack──▶ stacks ──frame──▶ frames ──function──▶ functions
 *      │                 │ prefix ▲                              │ module
 *   threads              └────────┘                              ▼
 *      │                                                      modules
 *   processes       names everywhere ──────────────▶ strings
 *
 * Tables are structs of arrays; every column has `n` rows; the comments give
 * the meaning of NULL columns. FlamBuilder is the only writer; after its
 * finish() every id is in range, prefix < own id, and times ascend within a
 * thread, so no further checks are needed. */

#include "flam-facts.h"

G_BEGIN_DECLS

typedef struct
{
  guint32 n;
  const FlamStringId *name;     /* base name, "[kernel]", "[vdso]" */
  const FlamId *path;           /* string: as on the recording machine */
  const FlamStringId *build_id; /* lower-case hex, or "" */
  const FlamStringId *why;      /* why there are no symbols, or "" */
  const guint8 *symbols;        /* FlamSymbolState */
  const guint8 *addressing;     /* FlamAddressing */
} FlamModules;

typedef struct
{
  guint32 n;
  const FlamStringId *name; /* demangled, as shown */
  const FlamStringId
      *system_name;           /* string: as linked; the same as name if equal */
  const FlamStringId *file;   /* source path, or "" */
  const FlamModuleId *module; /* module or FLAM_NONE */
  const guint32 *line;        /* first line, 0 unknown */
  const guint8 *kind;         /* FlamFunctionKind */
  const guint8 *flags;        /* FlamFunctionFlags */
} FlamFunctions;

/* A place in a function: a line of a file, which need not be the file that the
 * function begins in (#line, X macros, code that was included into it). The
 * address of a caller's frame is that of the call (return address - 1), so it
 * can be looked up unchanged. Several frames of one address follow one another
 * on the stack: the physical function has inline depth 0, functions inlined
 * into it 1, 2, ... */
typedef struct
{
  guint32 n;
  const FlamFunctionId *function;
  const guint64 *address;   /* by the module's addressing; 0 with no module */
  const FlamStringId *file; /* the file of the line, or "" */
  const guint32 *line;      /* 0 unknown */
  const guint16 *inline_depth;
  const guint8 *status; /* FlamStatus bits */
} FlamFrames;

/* The stacks as a trie: a stack is its leaf frame and the stack of its
 * caller. A root's prefix is FLAM_NONE; else prefix < own id. */
typedef struct
{
  guint32 n;
  const FlamStackId *prefix;
  const FlamFrameId *frame;
} FlamStacks;

typedef struct
{
  guint32 n;
  const gint32 *pid;        /* -1 unknown */
  const FlamStringId *name; /* string */
  const FlamId *parent;     /* process or FLAM_NONE */
  const FlamStringId *host; /* string: its machine, of a job's ranks; or "" */
  const guint32 *rank;      /* in its job, plus 1; 0: not of a job */
} FlamProcesses;

/* A thread's samples are the slice [first_sample, first_sample + n_samples). */
typedef struct
{
  guint32 n;
  const FlamProcessId *process;
  const gint32 *tid; /* -1 unknown */
  const FlamStringId *name;
  const guint32 *first_sample;
  const guint32 *n_samples;
} FlamThreads;

/* There may be unused cells between the slices of the threads: samples have to
 * be read thread by thread. */
typedef struct
{
  guint32 n;          /* in all slices together */
  guint states;       /* the states of all samples, one bit each; 0: none */
  const gint64 *time; /* ns from the profile's start; NULL: no times */
  const FlamStackId *stack; /* stack or FLAM_NONE: weight without a stack */
  const guint16 *event;     /* NULL: all of one event, 0 */
  const guint8 *state;      /* FlamState; NULL: all running */
  const guint32
      *labels; /* a set of FlamSampleLabels, 0: none; NULL: all have none */
} FlamSamples;

/* Sets of labels of samples, numbered from 1, one label per row: ascending in
 * `set`, without gaps. */
typedef struct
{
  guint32 n;
  const guint32 *set;
  const FlamId *key;    /* string: "tenant", "bytes" */
  const FlamId *value;  /* string, as shown: "red", "4096 bytes" */
  const gint64 *number; /* 0 of a text */
  const FlamId *unit;   /* string: of the number, or ""; FLAM_NONE: a text */
} FlamSampleLabels;

/* The key of the CPU on which a sample was taken; its value is a number. */
#define FLAM_LABEL_CPU "cpu"

/* A sample, as it is passed to flam_builder_add_sample(); optional members come
 * last. */
typedef struct
{
  FlamThreadId thread;
  FlamStackId stack; /* FLAM_NONE: no stack */
  gint64 time;       /* ns from any origin, the same for all; finish() makes the
                        earliest 0. Ignored unless flam_builder_set_has_times() */
  guint16 event;
  guint8 state;   /* FlamState */
  guint32 labels; /* flam_builder_add_labels(), or 0 */
} FlamSample;

/* Blocks of memory, ascending in time. One row stands for `count` blocks that
 * were alike in every column. State at a time t is the sum over all rows with
 * time <= t < freed_at. */
typedef struct
{
  guint32 n;
  const gint64 *time;
  const gint64 *freed_at;     /* FLAM_NEVER: live until the end */
  const FlamThreadId *thread; /* FLAM_NONE unknown */
  const FlamStackId *stack;   /* FLAM_NONE: allocated before recording */
  const gint64 *size;         /* of one block, bytes */
  const gint64 *count;
  const gint64 *at_peak; /* how many of `count` were live at the high-water
                            mark of the whole capture, where the capture
                            orders events more finely than its clock; NULL:
                            derive it from the times */
  gint64 peak_time;      /* ns: the time of at_peak; -1 without it */
  /* Times are those of ticks, and memory use may have been highest before the
   * end of a tick. At the highest moment of the tick in which the blocks were
   * allocated, this many more of the row were live than at its end (fewer if
   * negative); */
  const gint64 *born_more;
  const gint64 *died_more; /* the same for the tick in which they were freed, if
                              it is a later one */
  const guint16 *distance; /* allocations of the thread between this one and its
                              free: 0 = temporary; G_MAXUINT16 = more, or never
                              freed, or unknown */
  const guint8 *allocator; /* FlamAllocator; NULL: all malloc */
} FlamAllocations;

typedef enum
{
  FLAM_ALLOCATOR_MALLOC,
  FLAM_ALLOCATOR_CALLOC,
  FLAM_ALLOCATOR_REALLOC,
  FLAM_ALLOCATOR_ALIGNED, /* posix_memalign, aligned_alloc, memalign, valloc */
  FLAM_ALLOCATOR_MMAP,
  FLAM_ALLOCATOR_BRK,
  FLAM_ALLOCATOR_PYMALLOC,
  FLAM_ALLOCATOR_OTHER,      /* the numbers are in captures: new ones go last */
  FLAM_ALLOCATOR_FILE,       /* a mapping of a file */
  FLAM_ALLOCATOR_DESCRIPTOR, /* not memory: its size is 1, like a thread's */
  FLAM_ALLOCATOR_THREAD,
  FLAM_N_ALLOCATORS
} FlamAllocator;

/* Where a measure's weights come from. */
typedef enum
{
  FLAM_FROM_SAMPLES,   /* a column over samples, or 1 each */
  FLAM_FROM_ALLOCATED, /* the rest are derived from allocations */
  FLAM_FROM_ALLOCATIONS,
  FLAM_FROM_PEAK,
  FLAM_FROM_PEAK_BLOCKS,
  FLAM_FROM_LEAKED,
  FLAM_FROM_LEAKED_BLOCKS,
  FLAM_FROM_TEMPORARY,
  FLAM_FROM_TEMPORARY_BYTES,
  FLAM_FROM_PEAK_USEFUL, /* FLAM_FROM_PEAK without FLAM_ALLOCATOR_OTHER */
} FlamMeasureSource;

#define FLAM_N_SOURCES (FLAM_FROM_PEAK_USEFUL + 1)
const char *flam_measure_source_to_string (FlamMeasureSource source);

/* Whether a sample begins at its time and lasts its weight (ns), so that a
 * range of time cuts it. Otherwise it only has a moment: samplers mostly
 * measure the time since the previous sample. */
typedef enum
{
  FLAM_SPANS_NONE,
  FLAM_SPANS_CALLS,   /* each one is a part of a call that was traced */
  FLAM_SPANS_SAMPLES, /* samples: equal stacks in a row are one call */
  FLAM_SPANS_ORDER,   /* the same without times: each begins where the thread's
                         previous one ends, and its weight has any unit */
  FLAM_N_SPANS
} FlamSpans;

typedef struct
{
  FlamId id;         /* string: stable, for the command line: "cpu-time" */
  FlamStringId name; /* string: for people: "CPU time" */
  FlamUnit unit;
  FlamMeasureKind kind;
  FlamMeasureSource source;
  FlamId event;         /* only samples of this event; FLAM_NONE: all */
  const gint64 *weight; /* one value per sample; NULL: 1 each */
  gint64 denominator;   /* weights are value * denominator; 1 but for captures
                           with fractional weights */
  FlamSpans spans;
} FlamMeasure;

/* Former names of processes and threads, in order of
 * time. */
typedef struct
{
  guint32 n;
  const FlamProcessId *process; /* FLAM_NONE: a thread's name */
  const FlamThreadId *thread;   /* FLAM_NONE: a process's */
  const FlamStringId *name;     /* string */
  const gint64 *until;          /* ns: when the next name began */
} FlamFormerNames;

/* The user's note about a function or a time range. */
typedef struct
{
  guint32 n;
  const FlamStringId *text;     /* string */
  const FlamStringId *function; /* its name; FLAM_NONE: for a range */
  const gint64 *from;           /* ns from the profile's start */
  const gint64 *to;
  const gint64 *written; /* ns since 1970 */
} FlamNotes;

/* Source files stored in the capture, each once. */
typedef struct
{
  guint32 n;
  const FlamId *path;       /* string: as in frames and functions */
  const FlamStringId *text; /* string */
} FlamSources;

/* Jumps from one place in the code to another, as a tracer counted them over
 * the whole capture, in all threads. Rows of the same two places are to be
 * added up. */
typedef struct
{
  guint32 n;
  const FlamFrameId *from;
  const FlamFrameId *to;
  const gint64 *taken;
  const gint64 *reached; /* of a conditional jump: how often it was executed,
                            taken or not; -1: of an unconditional one */
} FlamJumps;

/* The working folders of recorded processes, in order of time: a process may
 * have several, or none if it is unknown. */
typedef struct
{
  guint32 n;
  const FlamProcessId *process;
  const FlamStringId *path; /* string: as on the recorded machine */
} FlamWorkingFolders;

typedef struct
{
  FlamId id; /* string: "rss", "heap" */
  FlamUnit unit;
  guint32 n;
  const gint64 *time;
  const gint64 *value;
} FlamCounter;

typedef struct
{
  guint32 n;
  const gint64 *time;
  const gint64 *duration;     /* 0: a moment */
  const FlamThreadId *thread; /* FLAM_NONE: of the whole capture */
  const FlamStringId *name;
} FlamMarks;

typedef struct
{
  FlamFacts facts;
  FlamModules modules;
  FlamFunctions functions;
  FlamFrames frames;
  FlamStacks stacks;
  FlamProcesses processes;
  FlamThreads threads;
  FlamSamples samples;
  FlamAllocations allocations;
  FlamMarks marks;
  FlamSampleLabels labels;
  FlamNotes notes;
  FlamSources sources;
  FlamJumps jumps;
  FlamWorkingFolders working_folders;
  FlamFormerNames former_names;
  guint n_measures;
  const FlamMeasure *measures;
  guint n_counters;
  const FlamCounter *counters;
} FlamProfile;

FlamProfile *flam_profile_ref (const FlamProfile *profile);
void flam_profile_unref (FlamProfile *profile);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamProfile, flam_profile_unref)

/* Valid as long as the profile; "" for FLAM_NONE. */
const char *flam_profile_string (const FlamProfile *profile,
                                 FlamStringId string);
/* The last working folder of each process, 0: unknown; g_free. */
FlamStringId *flam_profile_working_folders (const FlamProfile *profile);
guint32 flam_profile_n_strings (const FlamProfile *profile);
const char *flam_profile_function_name (const FlamProfile *profile,
                                        FlamFunctionId function);
/* "" if the function has no module, and for FLAM_NONE. */
const char *flam_profile_module_name (const FlamProfile *profile,
                                      FlamFunctionId function);

/* Whether weights of one can be compared with those of the other: they have the
 * same kind and unit. Blocks of memory are counts, as samples are, but cannot
 * be compared with them. Their denominators may differ (flam-rescale.h). */
gboolean flam_measure_is_like (const FlamMeasure *a, const FlamMeasure *b);
/* Index of the measure with this id, or -1. */
int flam_profile_find_measure (const FlamProfile *profile, const char *id);
/* The first one from this source, or -1: snapshots of memory, for example, have
 * none of allocations. Rows of other sources can be summed, too, but the sums
 * must not be shown. */
int flam_profile_find_source (const FlamProfile *profile,
                              FlamMeasureSource source);
/* The measure that counts samples, or -1: each row is one sample. Where there
 * is one, a row may be many samples, as in folded stacks, or none: CPU time
 * that was measured between samples. */
int flam_profile_find_count (const FlamProfile *profile);
/* The number of samples of the whole capture. */
gint64 flam_profile_count_samples (const FlamProfile *profile);
/* The first mark of this name, or FLAM_NONE. */
FlamId flam_profile_find_mark (const FlamProfile *profile, const char *name);
gboolean flam_profile_has_kind (const FlamProfile *profile,
                                FlamMeasureKind kind);
/* The number of cells of the samples' columns, to the end of the last slice. */
guint32 flam_profile_sample_cells (const FlamProfile *profile);
/* The status bits of any of its frames. */
guint flam_profile_statuses (const FlamProfile *profile);
/* Whether data of a newer version is kept with it, to be written again. */
gboolean flam_profile_has_extras (const FlamProfile *profile);
/* Whether `later` and `earlier` are snapshots of the same tables: `later` has
 * the same rows and then more, in each thread's samples too. */
gboolean flam_profile_extends (const FlamProfile *later,
                               const FlamProfile *earlier);

G_END_DECLS

#endif
