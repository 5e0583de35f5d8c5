/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_BUILDER_H
#define FLAM_BUILDER_H

/* The only writer of profiles. Importers add their data in any order; all of it
 * is interned at once; flam_builder_finish() checks every id, sorts samples by
 * thread and time, and freezes the tables.
 *
 * A builder accepts hostile values: text that is not UTF-8, times out of order,
 * negative weights (finish() reports those). Ids that are not from this builder
 * are a bug of the importer, and fail an assertion.
 *
 * Everything is copied in. A builder is used by one thread at a time. */

#include "flam-profile.h"

G_BEGIN_DECLS

typedef struct _FlamBuilder FlamBuilder;

FlamBuilder *flam_builder_new (void);
void flam_builder_free (FlamBuilder *builder);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamBuilder, flam_builder_free)

/* --- names and code ------------------------------------------------------ */

/* `length` -1: NUL-terminated. */
FlamStringId
flam_builder_string (FlamBuilder *builder, const char *text, gssize length);
const char *flam_builder_get_string (FlamBuilder *builder, FlamStringId string);

/* Hexadecimal digits. */
#define FLAM_BUILD_ID_MAX 128

/* Interned by path and build id; name is the path's last part. A build id that
 * is not hexadecimal is ignored. */
FlamModuleId flam_builder_module (FlamBuilder *builder,
                                  const char *path,
                                  const char *build_id,
                                  FlamAddressing addressing);
void flam_builder_set_module_symbols (FlamBuilder *builder,
                                      FlamModuleId module,
                                      FlamSymbolState state,
                                      const char *why);

typedef struct
{
  FlamStringId name;        /* strings */
  FlamStringId system_name; /* 0 ("") where the same as name */
  FlamStringId file;
  FlamModuleId module; /* FLAM_NONE for none */
  guint32 line;
  FlamFunctionKind kind;
  guint flags; /* FlamFunctionFlags */
} FlamFunction;

/* Interned by every field. */
FlamFunctionId flam_builder_function (FlamBuilder *builder,
                                      const FlamFunction *function);
/* A function with only a name. */
FlamId flam_builder_function_named (FlamBuilder *builder,
                                    FlamStringId name,
                                    FlamFunctionKind kind);
/* The function for addresses in `module` that have no name: "[module]", or
 * "[unknown]" for FLAM_NONE; kind UNRESOLVED. */
FlamId flam_builder_function_unresolved (FlamBuilder *builder,
                                         FlamModuleId module);

/* A frame in the function's own file. */
FlamFrameId flam_builder_frame (FlamBuilder *builder,
                                FlamFunctionId function,
                                guint64 address,
                                guint32 line,
                                guint inline_depth);
/* The same for a function that need not have a name: without one it is the
 * function for its module's unnamed addresses, and the frame has its file. */
FlamId flam_builder_frame_of (FlamBuilder *builder,
                              const FlamFunction *function,
                              guint64 address,
                              guint32 line,
                              guint inline_depth);
/* The same with FlamStatus bits. */
FlamId flam_builder_frame_of_status (FlamBuilder *builder,
                                     const FlamFunction *function,
                                     guint64 address,
                                     guint32 line,
                                     guint inline_depth,
                                     guint status);
/* A frame in `file` (string). */
FlamId flam_builder_frame_in (FlamBuilder *builder,
                              FlamFunctionId function,
                              guint64 address,
                              FlamStringId file,
                              guint32 line,
                              guint inline_depth);

/* A frame in a recording, whose name may be found later. */
typedef struct
{
  FlamModuleId module;     /* or FLAM_NONE */
  guint64 address;         /* by the module's addressing */
  FlamFunctionId function; /* FLAM_NONE: an address to be named later */
  FlamStringId
      file; /* string: the file of the line; FLAM_NONE: the function's */
  guint32 line;
  guint32 inline_depth;
  guint32 status; /* FlamStatus bits */
} FlamRecordedFrame;

FlamFrameId flam_builder_recorded_frame (FlamBuilder *builder,
                                         const FlamRecordedFrame *frame);
guint32 flam_builder_n_frames (const FlamBuilder *builder);
void flam_builder_get_recorded_frame (const FlamBuilder *builder,
                                      FlamId id,
                                      FlamRecordedFrame *frame);
/* `prefix` FLAM_NONE: a root. */
FlamStackId flam_builder_stack (FlamBuilder *builder,
                                FlamStackId prefix,
                                FlamFrameId frame);
/* Adds a whole stack, caller first, below `prefix`; `stacks` gets the stack
 * that ends with each of its frames. Below a new stack no search is
 * needed. */
void flam_builder_stack_path (FlamBuilder *builder,
                              FlamStackId prefix,
                              const FlamFrameId *frames,
                              gsize n,
                              FlamStackId *stacks);
/* The same without a search, five times as fast: for files that contain each
 * stack only once. A duplicate only takes space. */
FlamStackId flam_builder_append_stack (FlamBuilder *builder,
                                       FlamStackId prefix,
                                       FlamFrameId frame);
/* Reserves space for that many more, so that the columns need not move. */
void flam_builder_reserve_stacks (FlamBuilder *builder, gsize n);

/* --- who ----------------------------------------------------------------- */

/* The thread for a format without threads: of a process without a number. */
FlamThreadId flam_builder_lone_thread (FlamBuilder *builder);
/* Interned by (pid, generation): raise the generation when a pid is used again;
 * 0 otherwise. Names may be set at any time, the last one is kept. */
FlamProcessId
flam_builder_process (FlamBuilder *builder, gint32 pid, guint generation);
/* The same without a search, for one that is known to be new. */
FlamProcessId
flam_builder_append_process (FlamBuilder *builder, gint32 pid, FlamId parent);
FlamThreadId flam_builder_append_thread (FlamBuilder *builder,
                                         FlamProcessId process,
                                         gint32 tid);
void flam_builder_set_process_name (FlamBuilder *builder,
                                    FlamProcessId process,
                                    const char *name);
void flam_builder_set_process_parent (FlamBuilder *builder,
                                      FlamProcessId process,
                                      FlamId parent);
/* `rank`: plus 1, or 0. */
void flam_builder_set_process_rank (FlamBuilder *builder,
                                    FlamProcessId process,
                                    guint32 rank,
                                    const char *host);
FlamThreadId flam_builder_thread (FlamBuilder *builder,
                                  FlamProcessId process,
                                  gint32 tid,
                                  guint generation);
/* A thread without a number, identified by a text (string). */
FlamId flam_builder_thread_keyed (FlamBuilder *builder,
                                  FlamProcessId process,
                                  FlamId key);
gboolean flam_builder_has_thread_name (const FlamBuilder *builder,
                                       FlamThreadId thread);
void flam_builder_set_thread_name (FlamBuilder *builder,
                                   FlamThreadId thread,
                                   const char *name);
/* The same for names that change: at `time`, on the clock of the samples, the
 * name before it becomes a former name. Call in order of time. */
void flam_builder_rename_process (FlamBuilder *builder,
                                  FlamProcessId process,
                                  gint64 time,
                                  const char *name);
void flam_builder_rename_thread (FlamBuilder *builder,
                                 FlamThreadId thread,
                                 gint64 time,
                                 const char *name);

/* --- samples ------------------------------------------------------------- */

/* A column of weights over the samples; add all columns before the first
 * sample. Returns 0, 1, ... */
guint flam_builder_add_column (FlamBuilder *builder);

/* `column` -1: every sample weighs 1. `event` FLAM_NONE: all samples, else
 * those with that event. Returns the measure's index; the first one added is
 * the file's default. */
guint flam_builder_add_measure (FlamBuilder *builder,
                                const char *id,
                                const char *name,
                                FlamUnit unit,
                                FlamMeasureKind kind,
                                int column,
                                FlamId event);
/* The measures that many formats have, with the same id, name and unit. */
typedef enum
{
  FLAM_STANDARD_SAMPLES,
  FLAM_STANDARD_TIME, /* time whose kind the format does not specify */
  FLAM_STANDARD_CPU_TIME,
  FLAM_STANDARD_WALL_TIME,
  FLAM_STANDARD_CALLS,
  FLAM_STANDARD_PEAK,
  FLAM_STANDARD_PEAK_BLOCKS,
  FLAM_STANDARD_LEAKED,
  FLAM_STANDARD_LEAKED_BLOCKS,
  FLAM_STANDARD_ALLOCATED,
  FLAM_STANDARD_ALLOCATIONS,
  FLAM_STANDARD_TEMPORARY,
  FLAM_STANDARD_TEMPORARY_BYTES,
  FLAM_STANDARD_PEAK_USEFUL, /* without what the allocator and stacks take */
} FlamStandardMeasure;
guint flam_builder_add_standard_measure (FlamBuilder *builder,
                                         FlamStandardMeasure measure,
                                         int column,
                                         FlamId event);
/* A count of an event with the tool's own name for it: "cache-misses". */
guint flam_builder_add_event_measure (FlamBuilder *builder,
                                      const char *name,
                                      FlamUnit unit,
                                      int column,
                                      FlamId event);
/* For fractional weights: values are stored times `denominator`. */
void flam_builder_set_denominator (FlamBuilder *builder,
                                   guint measure,
                                   gint64 denominator);
/* Call after the samples: if none of its weights has a fraction, the measure
 * gets no denominator. */
void flam_builder_reduce (FlamBuilder *builder, guint measure);

void
flam_builder_set_spans (FlamBuilder *builder, guint measure, FlamSpans spans);

/* `weights`: one per column. */
void flam_builder_add_sample (FlamBuilder *builder,
                              const FlamSample *sample,
                              const gint64 *weights);
/* Reserves space for that many more. */
void flam_builder_reserve_samples (FlamBuilder *builder, gsize n);
/* The same in two steps: adds `n` rows, and returns the number of the first.
 * The cells of each must then be set once, on any thread. The event, state and
 * labels of `like` are 0 where those of all these samples are. */
FlamId flam_builder_push_samples (FlamBuilder *builder,
                                  guint32 n,
                                  const FlamSample *like);
void flam_builder_set_sample (FlamBuilder *builder,
                              FlamId row,
                              const FlamSample *sample,
                              const gint64 *weights);
/* Times of samples and marks are meaningful; call before the first sample.
 * (Times of allocations and counters always are.) */
void flam_builder_set_has_times (FlamBuilder *builder);
/* The capture's own beginning, on the clock of the times above; without it
 * the earliest time is the beginning. */
void flam_builder_set_origin (FlamBuilder *builder, gint64 time);

/* --- memory -------------------------------------------------------------- */

typedef struct
{
  gint64 time;
  gint64 freed_at;     /* FLAM_NEVER */
  FlamThreadId thread; /* or FLAM_NONE */
  FlamStackId stack;   /* or FLAM_NONE */
  gint64 size;
  gint64 count;
  gint64 at_peak;              /* -1: not known */
  gint64 born_more, died_more; /* as in FlamAllocations */
  guint16 distance;
  guint8 allocator; /* FlamAllocator */
} FlamAllocation;

void flam_builder_add_allocation (FlamBuilder *builder,
                                  const FlamAllocation *allocation);
/* The time of `at_peak`, on the clock of the allocations; if it is not set, the
 * time at which the last of those blocks was allocated. */
void flam_builder_set_peak_time (FlamBuilder *builder, gint64 time);
/* Reserves space for that many more. */
void flam_builder_reserve_allocations (FlamBuilder *builder, gsize n);
/* The measures derived from allocations: peak, leaked, allocated, allocations,
 * temporary and their counterparts. Call once, at their place in the list. */
void flam_builder_add_allocation_measures (FlamBuilder *builder);
/* One of them, for files that lack the data for the others. */
void flam_builder_add_allocation_measure (FlamBuilder *builder,
                                          FlamMeasureSource source);
/* The same with another name than the usual one: "Open at the end". */
void flam_builder_add_allocation_measure_named (FlamBuilder *builder,
                                                FlamMeasureSource source,
                                                const char *name);

/* --- beside the samples -------------------------------------------------- */

guint
flam_builder_add_counter (FlamBuilder *builder, const char *id, FlamUnit unit);
void flam_builder_add_counter_value (FlamBuilder *builder,
                                     guint counter,
                                     gint64 time,
                                     gint64 value);
/* A label of a sample. */
typedef struct
{
  const char *key;
  const char *value; /* as shown */
  gint64 number;
  const char *unit; /* of the number, or ""; NULL: the value is a text */
} FlamSampleLabel;

/* Captures of hostile or careless programs label every request. */
#define FLAM_LABEL_SETS_MAX 65536
/* A set of labels, for FlamSample.labels; 0 for an empty set, and, with a
 * warning, for one above the limit. Equal labels in any order are one set. */
guint32 flam_builder_add_labels (FlamBuilder *builder,
                                 const FlamSampleLabel *labels,
                                 guint n);
void flam_builder_add_mark (FlamBuilder *builder,
                            gint64 time,
                            gint64 duration,
                            FlamThreadId thread,
                            const char *name);

/* A note about a function or, with NULL, about a range: ns from the beginning;
 * `written` is in ns since 1970. */
void flam_builder_add_note (FlamBuilder *builder,
                            const char *text,
                            const char *function,
                            gint64 from,
                            gint64 to,
                            gint64 written);
void flam_builder_drop_notes (FlamBuilder *builder);
/* The text of a source file, at most FLAM_STRING_MAX bytes; `path` as in the
 * frames. `length` -1: NUL-terminated. */
void flam_builder_add_source (FlamBuilder *builder,
                              const char *path,
                              const char *text,
                              gssize length);

/* See FlamJumps. */
void flam_builder_add_jump (FlamBuilder *builder,
                            FlamFrameId from,
                            FlamFrameId to,
                            gint64 taken,
                            gint64 reached);

/* From now on; call in order of time. */
void flam_builder_add_working_folder (FlamBuilder *builder,
                                      FlamProcessId process,
                                      const char *path);

/* --- facts --------------------------------------------------------------- */

/* Its numbers may be set and incremented; texts are set by the functions below,
 * which copy them. The duration is at least that of the times. */
FlamFacts *flam_builder_facts (FlamBuilder *builder);
void flam_builder_set_format (FlamBuilder *builder, const char *importer_id);
void flam_builder_set_command (FlamBuilder *builder, const char *command);
/* The file ended early, or its rest was invalid. `why` becomes the first of the
 * warnings. */
void flam_builder_set_partial (FlamBuilder *builder,
                               double read_fraction,
                               const char *why);
/* A fact as in a .flambeau file; each key once. Facts without a row in
 * flam-facts.c are kept, to be written to such a file again. */
void flam_builder_set_fact (FlamBuilder *builder,
                            const char *key,
                            const char *value);
/* The facts that have a member, texts copied. */
void flam_builder_copy_told_facts (FlamBuilder *builder,
                                   const FlamFacts *facts);
/* All facts of another profile, its warnings too. */
void flam_builder_copy_facts (FlamBuilder *builder, const FlamFacts *facts);
/* Adds a warning once, however often it is called; at most 100 are kept. */
void flam_builder_warn (FlamBuilder *builder, const char *format, ...)
    G_GNUC_PRINTF (2, 3);
/* Adds a warning with a number of things, or nothing if it is 0. `one` and
 * `many` have PRIu64 for the number; the call marks them for translation. */
void flam_builder_warn_count (FlamBuilder *builder,
                              guint64 n,
                              const char *one,
                              const char *many) G_GNUC_PRINTF (3, 0)
    G_GNUC_PRINTF (4, 0);

/* --- numbers out of range ------------------------------------------------- */

/* The numbers of a capture that were limited, for one warning at the end of its
 * load. */
typedef struct
{
  guint64 n;
  gconstpointer first; /* its text in the source; NULL: unknown */
} FlamLimited;

FlamLimited *flam_builder_limited (FlamBuilder *builder);
/* The number within the limits; it is counted if it is beyond them. `at`: its
 * text in the source, or NULL. */
gint64 flam_builder_limit (FlamBuilder *builder,
                           __int128 value,
                           gint64 least,
                           gint64 most,
                           gconstpointer at);

/* --- as a recorder notes it ---------------------------------------------- */

/* Blocks allocated at about the same time; rows count from 0. */
typedef struct
{
  gint64 time;
  FlamThreadId thread;
  FlamStackId stack;
  gint64 size;
  gint64 count;
  FlamAllocator allocator;
  gint64 more; /* as in FlamBlockRows */
} FlamRecordedBlocks;

void flam_builder_note_blocks (FlamBuilder *builder,
                               const FlamRecordedBlocks *blocks);
void flam_builder_note_release (FlamBuilder *builder,
                                gint64 time,
                                guint32 row,
                                gint64 count,
                                guint16 distance,
                                gint64 more); /* as in FlamReleaseRows */
void flam_builder_note_at_peak (FlamBuilder *builder,
                                FlamThreadId thread,
                                FlamStackId stack,
                                gint64 size,
                                FlamAllocator allocator,
                                gint64 count);
/* The name of a process or a thread from `time` on. One from the same time on
 * as the last one replaces it: that does not become a former name. */
void flam_builder_note_process_name (FlamBuilder *builder,
                                     FlamProcessId process,
                                     gint64 time,
                                     const char *name);
void flam_builder_note_thread_name (FlamBuilder *builder,
                                    FlamThreadId thread,
                                    gint64 time,
                                    const char *name);
/* Frame by frame: the whole chain of one frame is added at once, caller first.
 * `file` as in FlamRecordedFrame. */
void flam_builder_note_symbol (FlamBuilder *builder,
                               FlamFrameId frame,
                               FlamFunctionId function,
                               FlamStringId file,
                               guint32 line);
/* Generated code: from `time` on the address of `frame` is this function. */
void flam_builder_note_rename (FlamBuilder *builder,
                               FlamFrameId frame,
                               gint64 time,
                               FlamFunctionId function,
                               guint32 line);
void flam_builder_note_module_symbols (FlamBuilder *builder,
                                       FlamModuleId module,
                                       FlamSymbolState state,
                                       const char *why);
/* Adds the known facts; otherwise, earlier ones are kept. */
void flam_builder_note_facts (FlamBuilder *builder, const FlamFacts *facts);
/* Adds a fact that is not in FlamFacts. */
void flam_builder_note_fact (FlamBuilder *builder,
                             const char *key,
                             const char *value);
void
flam_builder_note_number (FlamBuilder *builder, const char *key, gint64 value);
void flam_builder_note_warning (FlamBuilder *builder, const char *format, ...)
    G_GNUC_PRINTF (2, 3);
/* The warnings so far, in order, each once; NULL after the last. */
const char *flam_builder_warning (const FlamBuilder *builder, guint i);

/* Converts recorded rows into those of a profile. flam_builder_finish() does
 * the same for a builder that a file was read into, but cannot be cancelled. */
gboolean flam_builder_fold (FlamBuilder *builder,
                            const FlamProgress *progress,
                            GError **error);
/* The profile, or FLAM_ERROR (only negative or overflowing weights can
 * still be wrong). The builder is empty afterwards and can only be
 * freed. */
FlamProfile *flam_builder_finish (FlamBuilder *builder, GError **error);

/* --- from a profile ---------------------------------------------------------
 */

/* A builder that starts as a copy of `profile`, same ids throughout. Frames
 * may then be replaced by chains of frames; finish() rebuilds the stacks and
 * shares what did not change. Samples and measures cannot be added to it. */
FlamBuilder *flam_builder_new_edit (const FlamProfile *profile);
/* A builder with the tables that a recorder would have written for `profile`,
 * to be written to a file. */
FlamBuilder *flam_builder_new_copy (const FlamProfile *profile);
/* Replaces frame `frame` by `chain`, caller first; `n` at least 1. The chain's
 * frames are the builder's own. Chains are not followed further. */
void flam_builder_replace_frame (FlamBuilder *builder,
                                 FlamFrameId frame,
                                 const FlamId *chain,
                                 guint n);

G_END_DECLS

#endif
