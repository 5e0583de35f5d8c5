/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_SELECTION_H
#define FLAM_SELECTION_H

/* The user's current choice, as a value: every view is a function of (profile,
 * selection). Copied, never shared while it can still change. */

#include "flam-profile.h"
#include "flam-regex.h"
#include "flam-suppressions.h"

G_BEGIN_DECLS

typedef enum
{
  FLAM_BY_FUNCTION,
  FLAM_BY_LINE,
  FLAM_BY_MODULE,
  FLAM_BY_FILE,
  FLAM_BY_THREAD,  /* threads on top of the functions */
  FLAM_BY_ADDRESS, /* each address of a function by itself */
  FLAM_BY_PROCESS, /* processes on top of the functions */
  FLAM_BY_LABEL,   /* the values of a label on top of the functions */
  FLAM_N_BY
} FlamBy;

/* Whether rows are functions, or parts of them. */
static inline gboolean
flam_by_is_code (FlamBy by)
{
  return by == FLAM_BY_FUNCTION || by == FLAM_BY_LINE || by == FLAM_BY_ADDRESS;
}

/* Whether nodes that are not code are on top of the functions. */
static inline gboolean
flam_by_has_tops (FlamBy by)
{
  return by == FLAM_BY_THREAD || by == FLAM_BY_LABEL || by == FLAM_BY_PROCESS;
}

typedef enum
{
  FLAM_TRANSFORM_FOCUS,    /* keep stacks through a match, rooted there */
  FLAM_TRANSFORM_IGNORE,   /* drop stacks through a match */
  FLAM_TRANSFORM_FILTER,   /* keep stacks through a match */
  FLAM_TRANSFORM_HIDE,     /* splice matches out, cost to the caller */
  FLAM_TRANSFORM_COLLAPSE, /* a match takes the cost of all that it calls */
  FLAM_TRANSFORM_STOP_AT,  /* exact NAME[,FILE]: cut the tree below it */
  FLAM_TRANSFORM_PRUNE, /* the same: cuts the node, too; cost to the caller */
  FLAM_TRANSFORM_BRANCHES, /* cut branches without a match in the capture, cost
                              to the caller; after all others */
} FlamTransformKind;

typedef enum
{
  FLAM_RECURSION_OFF,
  FLAM_RECURSION_FLAT,     /* direct recursion as iteration */
  FLAM_RECURSION_COLLAPSE, /* also through others */
} FlamRecursion;

typedef struct
{
  FlamTransformKind kind;
  FlamBy of;        /* what is matched: functions; or modules or files */
  char *pattern;    /* a regex (PCRE), but for STOP_AT and PRUNE, and for the
                       names of modules and files */
  FlamRegex *regex; /* NULL: the pattern is a name */
} FlamTransform;

/* A row of bits per function: which of them match. */
#define FLAM_TRANSFORMS_MAX 64

typedef struct
{
  guint measure;        /* index into profile->measures */
  gboolean count;       /* give each sample the weight 1, whatever the column */
  GArray *threads;      /* FlamId, ascending; NULL: all */
  gint64 from, to;      /* ns, half open; G_MININT64, G_MAXINT64: all */
  guint states;         /* bit per FlamState */
  GPtrArray *labels;    /* "KEY=VALUE" that samples must have, each of them
                           (flam-sample-filter.h); NULL: none */
  const char *by_label; /* FLAM_BY_LABEL: which; interned */
  int temporary_distance; /* a block is temporary if its thread allocated at
                             most this many others before freeing it; 0 */
  guint allocators; /* bit per FlamAllocator that counts; 0: those that the
                       capture itself counts (flam-allocation-filter.h) */
  FlamSuppressions *suppressions; /* leaks that do not count; NULL: none */
  GPtrArray *transforms;          /* FlamTransform*, in order of application */
  FlamRecursion recursion;
  FlamBy by;
  gboolean invert;
  gboolean
      no_native; /* only interpreted code: FLAM_KIND_INTERPRETED, _JIT, _ROOT */
  gboolean hide_irrelevant;
  gboolean hide_imports;
  gboolean no_inlines; /* inlined frames folded into their caller */
  gboolean no_repl;    /* stacks begin below FLAM_STATUS_REPL */
} FlamSelection;

FlamSelection *flam_selection_new (void);
FlamSelection *flam_selection_copy (const FlamSelection *selection);
void flam_selection_free (FlamSelection *selection);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamSelection, flam_selection_free)

gboolean flam_selection_equal (const FlamSelection *a, const FlamSelection *b);
/* Whether both select the same samples and weigh them alike, however their
 * stacks are shown; with `any_thread`, their threads may differ. */
gboolean flam_selection_has_same_samples (const FlamSelection *a,
                                          const FlamSelection *b,
                                          gboolean any_thread);

/* A measure in the form in which the selection weighs it: samples if it counts
 * them. */
FlamMeasure flam_selection_measure (const FlamSelection *selection,
                                    const FlamProfile *profile,
                                    guint measure);

/* The range of time as it applies to `profile`: a side that reaches the
 * capture's border is open, so that the whole range includes everything, even
 * at the very end. */
void flam_selection_get_range (const FlamSelection *selection,
                               const FlamProfile *profile,
                               gint64 *from,
                               gint64 *to);
/* The length of that range, ns; 0: unknown. */
gint64 flam_selection_get_length (const FlamSelection *selection,
                                  const FlamProfile *profile);

/* Adds a thread to the restriction (the first call: from all to this one). */
void flam_selection_add_thread (FlamSelection *selection, FlamThreadId thread);
void flam_selection_all_threads (FlamSelection *selection);
void flam_selection_no_threads (FlamSelection *selection);
gboolean flam_selection_has_thread (const FlamSelection *selection,
                                    FlamThreadId thread);
/* Adds a label that samples must have: KEY=VALUE. */
void flam_selection_add_label (FlamSelection *selection, const char *condition);
/* By the function's name, or by that of its module. Branches also by "NAME at
 * FILE", with the file of the function, as in FlameGraphs.jl. */
gboolean flam_transform_matches (const FlamTransform *transform,
                                 const FlamProfile *profile,
                                 FlamFunctionId function);
/* The name of an unknown module or file in trees. */
#define FLAM_UNKNOWN_PLACE "[unknown]"
/* FALSE with FLAM_ERROR_INVALID if a transform's regex takes too long on a
 * function's name. Such a transform matches nothing. */
gboolean flam_selection_check (const FlamSelection *selection,
                               const FlamProfile *profile,
                               GError **error);

/* FALSE with FLAM_ERROR_INVALID for a bad regex. */
gboolean flam_selection_add_transform (FlamSelection *selection,
                                       FlamTransformKind kind,
                                       const char *pattern,
                                       GError **error);
/* The same for the module or file of exactly that name. */
gboolean flam_selection_add_place_transform (FlamSelection *selection,
                                             FlamTransformKind kind,
                                             FlamBy of,
                                             const char *name,
                                             GError **error);

G_END_DECLS

#endif
