/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_SHOWN_H
#define FLAM_SHOWN_H

/* Profile + selection -> the stacks as the selection shows them. Transforms,
 * switches and the folding of recursion are applied only here, so that weights,
 * tree, lines and exports are based on the same stacks:
 *
 *    profile's stacks     --hide 'b|d'      shown
 *    0 a                                    0 a         of: 0 -> 0
 *    1 └─ b                                 1 └─ c          1 -> 0
 *    2    ├─ c                                              2 -> 1
 *    3    └─ d                                              3 -> 0
 *
 * Two stacks may have the same frames left: a tree merges them anyway. For one
 * stack of each there is flam_shown_unite(). */

#include "flam-columns.h"
#include "flam-selection.h"

G_BEGIN_DECLS

typedef struct
{
  guint32 n;
  const FlamStackId *prefix; /* a trie, like FlamStacks */
  const FlamFrameId *frame;
  FlamId *of;      /* a shown stack for each of the profile's; n: all of its
                      frames are hidden; FLAM_NONE: it is not selected. NULL:
                      every stack is shown as it is */
  FlamId no_stack; /* the same for weight without a stack */
  FlamId *last;    /* the last shown stack at or above each of the profile's, or
                      FLAM_NONE; NULL as `of`, and where no frame has a status */
  FlamId *own_prefix;
  FlamId *own_frame;
} FlamShown;

/* FALSE only when cancelled; must be cleared in either case. */
gboolean flam_shown_init (FlamShown *shown,
                          const FlamProfile *profile,
                          const FlamSelection *selection,
                          const FlamProgress *progress,
                          GError **error);
void flam_shown_clear (FlamShown *shown);
/* Merges stacks of the same frames; `n_stacks` is that of the profile. */
void flam_shown_unite (FlamShown *shown, guint32 n_stacks);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (FlamShown, flam_shown_clear)

/* `stack` FLAM_NONE: none. */
static inline FlamId
flam_shown_of (const FlamShown *shown, FlamStackId stack)
{
  if (stack == FLAM_NONE)
    return shown->no_stack;
  return shown->of != NULL ? shown->of[stack] : stack;
}

/* The weights of the shown stacks, and at the end that of samples without a
 * shown frame; g_free. */
gint64 *
flam_shown_sum (const FlamShown *shown, guint32 n_stacks, const gint64 *weight);

/* A copy of the rows of the profile's stacks and of "no stack", `size` bytes
 * each, 0 for unselected ones; g_free. */
gpointer flam_shown_take (const FlamShown *shown,
                          guint32 n_stacks,
                          gconstpointer rows,
                          guint size);

/* The FlamStatus bits of each shown stack: of its frame, and of the hidden
 * frames with weight whose last shown caller it is. g_free; NULL: the capture
 * has none. */
struct _FlamWeights;
guint8 *flam_shown_status (const FlamShown *shown,
                           const FlamProfile *profile,
                           const struct _FlamWeights *weights);

/* Per shown stack: whether it is in the recorder's library or below it;
 * g_free. */
guint8 *flam_shown_in_recorder (const FlamShown *shown,
                                const FlamProfile *profile);

/* Whether the selection leaves stacks out. */
gboolean flam_selection_drops_stacks (const FlamSelection *selection);

/* What a frame counts as in the selection: a function, a module, a file; with
 * FLAM_BY_LINE a function's line, which may be in another file. */
typedef struct
{
  FlamId thing;
  guint32 line;
  FlamStringId file;
  guint64 address; /* FLAM_BY_ADDRESS: 0 where the capture has none */
} FlamShownKey;

static inline gboolean
flam_shown_key_equal (const FlamShownKey *a, const FlamShownKey *b)
{
  return a->thing == b->thing && a->line == b->line && a->file == b->file &&
         a->address == b->address;
}

/* A table with such keys, which it copies: insert with
 * flam_shown_key_table_set(). */
GHashTable *flam_shown_key_table_new (void);
void flam_shown_key_table_set (GHashTable *table,
                               const FlamShownKey *key,
                               gpointer value);

static inline FlamShownKey
flam_shown_key (const FlamProfile *profile, FlamBy by, FlamFrameId frame)
{
  FlamFunctionId function = profile->frames.function[frame];
  FlamShownKey key = { .thing = function };

  if (by == FLAM_BY_LINE)
    {
      key.line = profile->frames.line[frame];
      key.file = profile->frames.file[frame];
    }
  else if (by == FLAM_BY_MODULE)
    key.thing = profile->functions.module[function];
  else if (by == FLAM_BY_FILE)
    key.thing = profile->frames.file[frame];
  else if (by == FLAM_BY_ADDRESS)
    key.address = profile->frames.address[frame];
  return key;
}

G_END_DECLS

#endif
