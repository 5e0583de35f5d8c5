/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-formats.h"

#include "flam-core-query.h"
#include "flam-export-common.h"

static gboolean
any_number (const guint32 *column, guint32 n)
{
  for (guint32 i = 0; i < n; i++)
    if (column[i] != 0)
      return TRUE;
  return FALSE;
}

static gboolean
has_kind (const FlamProfile *profile, FlamFunctionKind kind)
{
  for (FlamId i = 0; i < profile->functions.n; i++)
    if (profile->functions.kind[i] == kind)
      return TRUE;
  return FALSE;
}

static gboolean
has_kinds (const FlamProfile *profile)
{
  for (FlamId i = 1; i < profile->functions.n; i++)
    if (profile->functions.kind[i] != profile->functions.kind[0])
      return TRUE;
  return has_kind (profile, FLAM_KIND_WAKER);
}

static guint
threads_selected (const FlamProfile *profile, const FlamSelection *selection)
{
  return selection->threads != NULL ? selection->threads->len
                                    : profile->threads.n;
}

/* Returns what the profile contains. */
static guint
present (const FlamProfile *profile, const FlamSelection *selection)
{
  const FlamMeasure *measure = &profile->measures[selection->measure];
  gboolean blocks = measure->source != FLAM_FROM_SAMPLES;
  gboolean times = blocks || profile->samples.time != NULL;
  guint there = 0;

  if (threads_selected (profile, selection) > 1)
    there |= FLAM_HOLDS_THREADS;
  if (profile->processes.n > 1)
    there |= FLAM_HOLDS_PROCESSES;
  if (times)
    there |= FLAM_HOLDS_ORDER | FLAM_HOLDS_TIMES;
  if (!blocks && profile->samples.state != NULL)
    there |= FLAM_HOLDS_STATES;
  if (profile->n_measures > 1)
    there |= FLAM_HOLDS_MEASURES;
  if (any_number (profile->functions.file, profile->functions.n))
    there |= FLAM_HOLDS_FILES;
  if (any_number (profile->frames.line, profile->frames.n) ||
      any_number (profile->functions.line, profile->functions.n))
    there |= FLAM_HOLDS_LINES;
  if (!selection->no_inlines &&
      (flam_frame_traits_of (profile) & FLAM_HAS_INLINES) != 0)
    there |= FLAM_HOLDS_INLINES;
  if (profile->modules.n > 1)
    there |= FLAM_HOLDS_MODULES;
  if (has_kinds (profile))
    there |= FLAM_HOLDS_KINDS;
  if (blocks && profile->allocations.n > 0)
    there |= FLAM_HOLDS_BLOCKS;
  if (profile->marks.n > 0)
    there |= FLAM_HOLDS_MARKS;
  if (profile->n_counters > 0)
    there |= FLAM_HOLDS_COUNTERS;
  if (!blocks && profile->labels.n > 0)
    there |= FLAM_HOLDS_LABELS;
  if (measure->denominator > 1 && measure->unit != FLAM_UNIT_NS)
    there |= FLAM_HOLDS_FRACTIONS;
  if (flam_profile_statuses (profile) != 0)
    there |= FLAM_HOLDS_STATUS;
  if (profile->jumps.n > 0)
    there |= FLAM_HOLDS_JUMPS;
  return there;
}

/* The data that the exporter supports with these options. Marks distinguish the
 * kernel, JITs and wakers, but not interpreted code; the types of libraries,
 * not the wakers either. */
static guint
held (const FlamExporter *exporter,
      const FlamProfile *profile,
      const FlamSelection *selection,
      const FlamExportOptions *options)
{
  guint holds = exporter->holds;
  gboolean interpreted = has_kind (profile, FLAM_KIND_INTERPRETED);

  if ((holds & FLAM_HOLDS_BEFORE) != 0 && profile->n_measures == 2 &&
      flam_transfer_find_before (profile, selection->measure) >= 0)
    holds |= FLAM_HOLDS_MEASURES;
  if ((holds & FLAM_HOLDS_COMPILED) != 0 && !interpreted &&
      !has_kind (profile, FLAM_KIND_WAKER))
    holds |= FLAM_HOLDS_KINDS;
  if (exporter->lacks != NULL)
    holds &= ~exporter->lacks (profile);
  if (options->annotate)
    holds |= FLAM_HOLDS_INLINES | (interpreted ? 0 : FLAM_HOLDS_KINDS);
  if (options->root != FLAM_ROOT_NONE)
    holds |= FLAM_HOLDS_THREADS | FLAM_HOLDS_PROCESSES;
  return holds;
}

static gboolean
same_place (gconstpointer table, FlamId row, gconstpointer key)
{
  const FlamFunctions *functions = table;
  FlamId other = *(const FlamId *)key;

  return functions->name[row] == functions->name[other] &&
         functions->file[row] == functions->file[other] &&
         functions->module[row] == functions->module[other];
}

guint
flam_export_lacks_first_lines (const FlamProfile *profile)
{
  const FlamFunctions *functions = &profile->functions;
  FlamInterner places;
  gboolean differ = FALSE;

  flam_interner_init (&places);
  for (FlamId i = 0; i < functions->n && !differ; i++)
    {
      guint32 hash = flam_hash_pair ((guint64)functions->name[i] << 32 |
                                         functions->file[i],
                                     functions->module[i]);
      FlamSlot *slot =
          flam_interner_find (&places, hash, same_place, functions, &i);

      if (slot->id == FLAM_NONE)
        {
          *slot = (FlamSlot){ hash, i };
          places.used++;
        }
      differ = functions->line[slot->id] != functions->line[i];
    }
  flam_interner_clear (&places);
  return differ ? FLAM_HOLDS_LINES : 0;
}

char *
flam_exporter_losses (const FlamExporter *exporter,
                      const FlamProfile *profile,
                      const FlamSelection *selection,
                      const FlamExportOptions *options)
{
  static const char *const names[] = {
    N_ ("threads"),
    N_ ("processes"),
    N_ ("order in time"),
    N_ ("times"),
    N_ ("states"),
    N_ ("other measures"),
    N_ ("files"),
    N_ ("lines"),
    N_ ("inlined functions"),
    N_ ("modules"),
    N_ ("kinds of code"),
    N_ ("single blocks"),
    N_ ("marks"),
    N_ ("counters"),
    N_ ("labels"),
    N_ ("fractions"),
    N_ ("Julia’s status of frames"),
    N_ ("counts of jumps"),
  };
  GString *text = NULL;
  guint lost = present (profile, selection) &
               ~held (exporter, profile, selection, options);

  /* Without an order there are no times, either. */
  if ((lost & FLAM_HOLDS_ORDER) != 0)
    lost &= ~FLAM_HOLDS_TIMES;
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if ((lost & 1u << i) != 0)
      {
        if (text == NULL)
          text = g_string_new (names[i]);
        else
          g_string_append_printf (text, ", %s", names[i]);
      }
  return text != NULL ? g_string_free (text, FALSE) : NULL;
}
