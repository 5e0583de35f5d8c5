/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-python-merge.h"

#include "flam-python-codes.h"

/* A thread that works for several interpreters has a chain for each, and only
 * the order of the first is certain to match the stack. */
#define TURNS_MAX 64

typedef struct
{
  const guint64 *sps;
  guint n;
  guint at; /* moves toward the root with the entries */
  guint turns;
} Search;

/* The native frame that contains `sp`, or n. */
static guint
find_native (Search *search, guint64 sp)
{
  for (guint i = search->at; i + 1 < search->n; i++)
    if (sp >= search->sps[i] && sp < search->sps[i + 1])
      return search->at = i;
  for (guint i = 0; search->turns < TURNS_MAX && i < search->at; i++)
    if (sp >= search->sps[i] && sp < search->sps[i + 1])
      {
        search->turns++;
        return search->at = i;
      }
  return search->n;
}

static void
put_python (GArray *mixed, const FlamPythonEntry *entries, guint from, guint to)
{
  for (guint i = from; i < to; i++)
    if (entries[i].code != NULL && !entries[i].code->hidden)
      {
        guint32 item = FLAM_MERGED_PYTHON | i;
        g_array_append_val (mixed, item);
      }
}

guint
flam_python_merge (const guint64 *sps,
                   guint n,
                   gboolean whole,
                   const FlamPythonEntry *entries,
                   guint n_entries,
                   GArray *mixed)
{
  typedef struct
  {
    guint from;
    guint to;
  } Run;
  g_autofree Run *runs = g_new0 (Run, n + 1);
  Search search = { sps, n, 0, 0 };
  guint from = 0, left = 0;

  g_array_set_size (mixed, 0);
  for (guint i = 0; i < n_entries; i++)
    {
      guint native =
          entries[i].code == NULL ? find_native (&search, entries[i].pc) : n;

      if (native == n)
        continue;
      if (runs[native].to == 0)
        runs[native].from = from;
      runs[native].to = i + 1;
      from = i + 1;
    }
  for (guint i = 0; i < n; i++)
    if (runs[i].to > 0)
      put_python (mixed, entries, runs[i].from, runs[i].to);
    else
      g_array_append_val (mixed, i);
  if (!whole)
    put_python (mixed, entries, from, n_entries);
  for (guint i = from; whole && i < n_entries; i++)
    left += entries[i].code != NULL;
  return left;
}
