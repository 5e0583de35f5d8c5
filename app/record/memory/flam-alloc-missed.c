/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-alloc-missed.h"

#define KINDS_MAX 100 /* warnings are for users */

typedef struct
{
  char *name;
  char *why;
  guint more;
} Kind;

struct _FlamAllocMissed
{
  FlamBuilder *builder;
  GPtrArray *kinds; /* Kind, in order of appearance */
  guint others;
};

static void
kind_free (gpointer data)
{
  Kind *kind = data;

  g_free (kind->name);
  g_free (kind->why);
  g_free (kind);
}

FlamAllocMissed *
flam_alloc_missed_new (FlamBuilder *builder)
{
  FlamAllocMissed *missed = g_new0 (FlamAllocMissed, 1);

  missed->builder = builder;
  missed->kinds = g_ptr_array_new_with_free_func (kind_free);
  return missed;
}

void
flam_alloc_missed_free (FlamAllocMissed *missed)
{
  g_ptr_array_unref (missed->kinds);
  g_free (missed);
}

static Kind *
find (const FlamAllocMissed *missed, const char *name, const char *why)
{
  for (guint i = 0; i < missed->kinds->len; i++)
    {
      Kind *kind = missed->kinds->pdata[i];

      if (g_str_equal (kind->name, name) && g_str_equal (kind->why, why))
        return kind;
    }
  return NULL;
}

void
flam_alloc_missed_add (FlamAllocMissed *missed,
                       pid_t pid,
                       const char *name,
                       const char *why)
{
  Kind *kind = find (missed, name, why);

  if (kind != NULL)
    kind->more++;
  else if (missed->kinds->len == KINDS_MAX)
    missed->others++;
  else
    {
      kind = g_new0 (Kind, 1);
      kind->name = g_strdup (name);
      kind->why = g_strdup (why);
      g_ptr_array_add (missed->kinds, kind);
      flam_builder_note_warning (
          missed->builder,
          N_ ("allocations of %s (%d) are not recorded: it %s"),
          name,
          (int)pid,
          why);
    }
}

void
flam_alloc_missed_finish (FlamAllocMissed *missed)
{
  for (guint i = 0; i < missed->kinds->len; i++)
    {
      const Kind *kind = missed->kinds->pdata[i];

      if (kind->more > 0)
        flam_builder_note_warning (missed->builder,
                                   N_ ("allocations of %u more processes "
                                       "called %s are not recorded: it %s"),
                                   kind->more,
                                   kind->name,
                                   kind->why);
    }
  if (missed->others > 0)
    flam_builder_note_warning (
        missed->builder,
        N_ ("allocations of %u more processes are not recorded"),
        missed->others);
}
