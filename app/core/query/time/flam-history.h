/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_HISTORY_H
#define FLAM_HISTORY_H

/* Many captures in the order of their dates, and the series they are in.
 *
 *   ci/main/1.flambeau   ┐        key ^ci/([^/]+)/        main   1 ─ 2
 *   ci/main/2.flambeau   ├─ by date ───────────────▶      next   1
 *   ci/next/1.flambeau   ┘
 *
 * The name of a series is the part of the shown path that a regex matches: its
 * first named group, else its first group, else the whole match. Captures
 * without a match are one series without a name, the last one. */

#include "flam-figures.h"

G_BEGIN_DECLS

typedef struct
{
  char *name; /* its path, as shown */
  char *why;
} FlamRefusal;

typedef struct
{
  GPtrArray *captures; /* FlamFigures *, by date, then by name */
  GPtrArray *refused;  /* FlamRefusal *: files that could not be read */
} FlamHistory;

void flam_history_add_refusal (GPtrArray *refused,
                               const char *name,
                               const char *why);
/* For flam_history_new(). */
GPtrArray *flam_history_new_captures (void);
GPtrArray *flam_history_new_refused (void);

/* Takes ownership of both; immutable afterwards, reference counted. */
FlamHistory *flam_history_new (GPtrArray *captures, GPtrArray *refused);
FlamHistory *flam_history_ref (const FlamHistory *history);
void flam_history_unref (FlamHistory *history);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamHistory, flam_history_unref)

static inline const FlamFigures *
flam_history_get (const FlamHistory *history, guint i)
{
  return history->captures->pdata[i];
}

/* The figures kept for the file, if it has not changed since; NULL: none. */
const FlamFigures *flam_history_find (const FlamHistory *history,
                                      const char *path,
                                      gint64 modified,
                                      gint64 size);

/* Whether the captures' names contain different folders. */
gboolean flam_history_has_folders (const FlamHistory *history);

/* --- series --------------------------------------------------------------- */

typedef struct
{
  GRegex *regex; /* NULL: all captures are one series */
  int group;     /* of the regex; 0: the whole match */
} FlamHistoryKey;

/* "" and NULL: no regex. FALSE with FLAM_ERROR_INVALID, which has the position
 * in the pattern. */
gboolean flam_history_key_init (FlamHistoryKey *key,
                                const char *pattern,
                                GError **error);
void flam_history_key_clear (FlamHistoryKey *key);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (FlamHistoryKey, flam_history_key_clear)
/* The part that it matches; NULL: none; g_free. */
char *flam_history_key_match (const FlamHistoryKey *key, const char *name);
/* FALSE with FLAM_ERROR_INVALID if matching a name takes too long; then it
 * counts as not matched. */
gboolean flam_history_key_check (const FlamHistoryKey *key,
                                 const FlamHistory *history,
                                 GError **error);

typedef struct
{
  char *name; /* NULL: captures that the key does not match or, without a key,
                 all */
  guint n;
  guint *captures; /* indices, by date */
} FlamHistorySeries;

/* FlamHistorySeries, by name; each has at least one capture. */
GArray *flam_history_series (const FlamHistory *history,
                             const FlamHistoryKey *key);

/* --- functions ------------------------------------------------------------ */

/* The functions of a measure (its id; NULL: each capture's selected one) that
 * any capture lists, the largest total in any of them first: their names, valid
 * as long as the history. */
GPtrArray *flam_history_functions (const FlamHistory *history,
                                   const char *measure);

G_END_DECLS

#endif
