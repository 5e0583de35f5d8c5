/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_TREE_H
#define FLAM_TREE_H

/* The merged call tree, as columns in preorder:
 *
 *    A ─┬─ B ─── C          node        0  1  2  3
 *       └─ D                name        A  B  C  D
 *                           parent      -  0  1  0
 *                           subtree_end 4  3  3  4
 *                           depth       0  1  2  1
 *                           self        1  0  5  2
 *                           total       8  5  5  2
 *
 * The first child of i is i + 1 (if that is < subtree_end[i]), the next sibling
 * is subtree_end[i]; a subtree is a range; ancestry is two comparisons; totals
 * take one loop backward. Node 0 is the root "all": total[0] is the total of
 * the selection. No function here recurses. Immutable, reference counted, any
 * thread may read it. */

#include "flam-weights.h"

G_BEGIN_DECLS

typedef enum
{
  FLAM_ORDER_TOTAL, /* siblings heaviest first, then by name */
  FLAM_ORDER_NAME,
  FLAM_ORDER_TIME, /* by the time they were first seen; by name without times */
} FlamTreeOrder;

typedef enum
{
  FLAM_CHANGE_KEPT,      /* the path existed before and exists now */
  FLAM_CHANGE_NEW,       /* it exists only now */
  FLAM_CHANGE_GONE,      /* it existed only before */
  FLAM_CHANGE_UNTRACKED, /* new, and so is its function everywhere */
} FlamChangeKind;

/* A tree compared with another one: one value per node. */
typedef struct
{
  gint64 *base;    /* the value of the same path of names before */
  gint64 *delta;   /* the value now, minus that */
  guint8 *kind;    /* FlamChangeKind */
  guint kinds;     /* of nodes other than the root, one bit each */
  gint64 greatest; /* the largest magnitude of the deltas, without the root's */
  gint64 missing;  /* the weight of paths that only the other tree has */
  FlamChangeEstimate *estimate; /* their errors; NULL: both trees are exact */
  FlamEstimate missing_estimate;
  gboolean self; /* the selves were compared */
  gboolean both; /* self and total of the nodes are widths, not weights */
} FlamTreeChange;

typedef struct
{
  FlamProfile *profile; /* a reference */
  FlamBy by;
  gboolean inverted;
  gboolean rooted; /* node 0 is not "all" but a function (flam-sandwich.h) */
  guint measure;
  gboolean counted; /* every sample counted as 1 */
  guint32 n;
  guint32 max_depth;
  FlamId *parent;
  FlamId *subtree_end;
  guint32 *depth;
  FlamTreeKey *key;   /* FLAM_NONE for the root and for "no stack". Use
                         flam_tree_name() and the functions next to it */
  guint32 *line;      /* FLAM_BY_LINE: the line; otherwise NULL */
  FlamFrameId *frame; /* the heaviest of the frames merged here, or FLAM_NONE: a
                    click goes to its source */
  gint64 *self;
  gint64 *total;
  FlamStateSplit *split; /* the total by state; NULL: all was running */
  guint8 *status; /* FlamStatus bits of the frames merged here, and of frames
                     below them that are hidden; NULL: the capture has none */
  FlamTreeChange *change; /* only for flam_diff_tree(); otherwise NULL */
  gint64 *other_self; /* memory: in the measure's other unit, blocks for bytes
                         and bytes for blocks; NULL for samples */
  gint64 *other_total;
  FlamSpread *spread_self; /* sampled memory: what the errors of these depend
                              on; otherwise NULL */
  FlamSpread *spread_total;
  FlamId *stack_node; /* per stack of the profile: the node that has its weight,
                         or FLAM_NONE; NULL where flam_by_has_tops(), since one
                         stack then has many */
  GPtrArray *top_names; /* FLAM_BY_PROCESS: "make (4711)", one per process;
                           FLAM_BY_THREAD: one per thread, with its id where
                           several have one name; otherwise NULL */
} FlamTree;

/* NULL only with an error (cancelled). Nodes without weight are left out. */
FlamTree *flam_tree_new (const FlamWeights *weights,
                         const FlamSelection *selection,
                         FlamTreeOrder order,
                         const FlamProgress *progress,
                         GError **error);
/* The same for known stacks: those that flam_shown_init() finds for the
 * selection. */
FlamTree *flam_tree_new_shown (const FlamWeights *weights,
                               const FlamSelection *selection,
                               const FlamShown *shown,
                               FlamTreeOrder order,
                               const FlamProgress *progress,
                               GError **error);
FlamTree *flam_tree_ref (FlamTree *tree);
void flam_tree_unref (FlamTree *tree);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamTree, flam_tree_unref)

/* The measure of the tree's weights: that of the profile, or counts if samples
 * were counted. */
FlamMeasure flam_tree_measure (const FlamTree *tree);

/* The states with weight, one bit each; 0: the capture has none. */
guint flam_tree_states (const FlamTree *tree);

/* The unit of `other_self` and `other_total`: bytes or blocks. */
FlamUnit flam_tree_other_unit (const FlamTree *tree);

/* Another column for the same nodes: sums `weight`, one value per stack, into
 * `self` and `total` (tree->n each). Not if flam_by_has_tops(). */
void flam_tree_sum (const FlamTree *tree,
                    const gint64 *weight,
                    gint64 *self,
                    gint64 *total);

/* The same for the values on which errors depend. */
void flam_tree_sum_spread (const FlamTree *tree,
                           const FlamSpread *spread,
                           FlamSpread *self,
                           FlamSpread *total);

/* FLAM_BY_ADDRESS: the address, by the module's addressing; otherwise 0. */
guint64 flam_tree_address (const FlamTree *tree, FlamNodeId node);
/* The part that distinguishes a node from others of its name: ":12" with
 * FLAM_BY_LINE, "@0x4f2" with FLAM_BY_ADDRESS; otherwise ""; g_free. */
char *flam_tree_detail (const FlamTree *tree, FlamNodeId node);
/* Valid as long as the tree. With FLAM_BY_LINE the function's name, with
 * FLAM_BY_PROCESS the process's and its id, with FLAM_BY_THREAD the thread's,
 * and its id where several have one name. */
const char *flam_tree_name (const FlamTree *tree, FlamNodeId node);
/* The same without the id: to compare with another capture's. */
const char *flam_tree_plain_name (const FlamTree *tree, FlamNodeId node);
/* The name as in folded stacks, with the mark of its kind: "_[k]" for the
 * kernel, "_[j]" for a JIT, "_[i]" for inlined, "_[w]" for wakers; "" for the
 * root. g_free. */
char *flam_tree_annotated_name (const FlamTree *tree, FlamNodeId node);
gboolean flam_tree_is_inlined (const FlamTree *tree, FlamNodeId node);
/* The same if its function is known, that of flam_tree_function(). */
gboolean flam_tree_is_inlined_in (const FlamTree *tree,
                                  FlamNodeId node,
                                  FlamFunctionId function);
/* Whether a node is not code but on top of the functions: a thread, a label's
 * value; only where flam_by_has_tops(). */
gboolean flam_tree_is_top (const FlamTree *tree, FlamNodeId node);
/* Whether a node of one tree and a node of another tree of the same profile
 * represent the same thing. */
gboolean flam_tree_is_same (const FlamTree *tree,
                            FlamNodeId node,
                            const FlamTree *other_tree,
                            FlamId other);
/* The profile's function that a node represents, or FLAM_NONE. */
FlamFunctionId flam_tree_function (const FlamTree *tree, FlamNodeId node);
/* The thread that a node on top represents with FLAM_BY_THREAD. */
FlamThreadId flam_tree_thread (const FlamTree *tree, FlamNodeId node);
/* The process that a node on top represents with FLAM_BY_PROCESS. */
FlamProcessId flam_tree_process (const FlamTree *tree, FlamNodeId node);
/* The module that a node represents with FLAM_BY_MODULE, or FLAM_NONE. */
FlamModuleId flam_tree_module (const FlamTree *tree, FlamNodeId node);
FlamFunctionKind flam_tree_kind (const FlamTree *tree, FlamNodeId node);
/* The source line to jump to, 0 if unknown; `file` may be "". */
guint32 flam_tree_source_line (const FlamTree *tree,
                               FlamNodeId node,
                               const char **file);

static inline FlamNodeId
flam_tree_first_child (const FlamTree *tree, FlamNodeId node)
{
  return node + 1 < tree->subtree_end[node] ? node + 1 : FLAM_NONE;
}

static inline FlamNodeId
flam_tree_next_sibling (const FlamTree *tree, FlamNodeId node)
{
  FlamId parent = tree->parent[node];
  FlamId next = tree->subtree_end[node];

  return parent != FLAM_NONE && next < tree->subtree_end[parent] ? next
                                                                 : FLAM_NONE;
}

static inline guint32
flam_tree_line (const FlamTree *tree, FlamNodeId node)
{
  return tree->line != NULL ? tree->line[node] : 0;
}

static inline gboolean
flam_tree_is_ancestor (const FlamTree *tree, FlamId ancestor, FlamNodeId node)
{
  return ancestor <= node && node < tree->subtree_end[ancestor];
}

/* Of a node's value before, its value now, and the change; 0 for no change. */
static inline FlamChangeEstimate
flam_tree_change_estimate (const FlamTreeChange *change, FlamNodeId node)
{
  return change != NULL && change->estimate != NULL ? change->estimate[node]
                                                    : (FlamChangeEstimate){ 0 };
}

static inline guint
flam_tree_status (const FlamTree *tree, FlamNodeId node)
{
  return tree->status != NULL ? tree->status[node] : 0;
}

/* The node in `to` with the same path of names as `node` in `from`, or the
 * deepest ancestor of it that exists: used to keep the zoom in a new tree. */
FlamNodeId
flam_tree_find_path (const FlamTree *from, FlamNodeId node, const FlamTree *to);

/* The node that corresponds to `node` after a transform: the same path;
 * otherwise, of the nodes of its function, the one below the most of its
 * callers; otherwise as flam_tree_find_path(). */
FlamNodeId flam_tree_find_again (const FlamTree *from,
                                 FlamNodeId node,
                                 const FlamTree *to);

/* What a node represents; not for tops. */
FlamShownKey flam_tree_key (const FlamTree *tree, FlamNodeId node);
/* The node of a whole stack, outermost call first, or 0; `top`: its thread, in
 * a tree with threads or processes on top. In an inverted tree several nodes
 * may represent it: the heaviest one. */
FlamNodeId flam_tree_find_stack (const FlamTree *tree,
                                 const FlamShownKey *keys,
                                 guint32 n,
                                 FlamId top);
/* For a chain of calls anywhere in the tree, outermost first: the node of the
 * first caller, or of the last `callee`; the heaviest of several; 0: none. */
FlamNodeId flam_tree_find_calls (const FlamTree *tree,
                                 const FlamShownKey *keys,
                                 guint32 n,
                                 gboolean callee);

/* A path as names, root's child first, and the deepest node of such a path. The
 * names outlive the tree. g_strfreev. */
char **flam_tree_get_path (const FlamTree *tree, FlamNodeId node);
FlamNodeId flam_tree_find_names (const FlamTree *tree,
                                 const char *const *names);

/* The heaviest of the nodes with that name, or FLAM_NONE. */
FlamNodeId flam_tree_find_name (const FlamTree *tree, const char *name);
/* The heaviest node of a function, or 0. With FLAM_BY_MODULE and FLAM_BY_FILE:
 * the heaviest node whose heaviest frame is the function's. */
FlamNodeId flam_tree_find_function (const FlamTree *tree,
                                    FlamFunctionId function);
/* The heaviest node that represents the same thing as a node of another tree of
 * the same profile, or 0. */
FlamNodeId
flam_tree_find_same (const FlamTree *from, FlamNodeId node, const FlamTree *to);

/* Matches of a search: one byte per node in `matched` (n bytes, 0 or 1), and
 * the weight under matches, nested ones counted once. NULL, and an expression
 * that is too slow for one of the names, match nothing. */
gint64
flam_tree_search (const FlamTree *tree, FlamRegex *regex, guint8 *matched);

G_END_DECLS

#endif
