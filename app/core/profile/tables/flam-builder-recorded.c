/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The rows that a recorder writes as things happen, and their conversion into
 * those of a profile. Memory, stacks and facts are in separate files. */

#include "flam-builder-private.h"

#include <string.h>

/* --- noting --------------------------------------------------------------- */

#define note(builder, table, ...)                                              \
  flam_tables_add (&(builder)->tables, table, (const gint64[]){ __VA_ARGS__ })

void
flam_builder_note_blocks (FlamBuilder *builder,
                          const FlamRecordedBlocks *blocks)
{
  FlamId row = flam_tables_push (&builder->tables, FLAM_TABLE_BLOCKS);

  cells (builder, gint64, blocks.time)[row] = blocks->time;
  cells (builder, FlamId, blocks.thread)[row] = blocks->thread;
  cells (builder, FlamId, blocks.stack)[row] = blocks->stack;
  cells (builder, gint64, blocks.size)[row] = blocks->size;
  cells (builder, gint64, blocks.count)[row] = blocks->count;
  cells (builder, guint8, blocks.allocator)[row] = (guint8)blocks->allocator;
  cells (builder, gint64, blocks.more)[row] = blocks->more;
}

void
flam_builder_note_release (FlamBuilder *builder,
                           gint64 time,
                           guint32 row,
                           gint64 count,
                           guint16 distance,
                           gint64 more)
{
  FlamId release = flam_tables_push (&builder->tables, FLAM_TABLE_RELEASES);

  cells (builder, gint64, releases.time)[release] = time;
  cells (builder, gint64, releases.row)[release] = row;
  cells (builder, gint64, releases.count)[release] = count;
  cells (builder, guint16, releases.distance)[release] = distance;
  cells (builder, gint64, releases.more)[release] = more;
}

void
flam_builder_note_at_peak (FlamBuilder *builder,
                           FlamId thread,
                           FlamId stack,
                           gint64 size,
                           FlamAllocator allocator,
                           gint64 count)
{
  note (builder, FLAM_TABLE_AT_PEAK, thread, stack, size, allocator, count);
}

static void
note_name (FlamBuilder *builder,
           FlamNamed what,
           FlamId row,
           gint64 time,
           const char *name)
{
  FlamId string = flam_builder_string (builder, name, -1);

  note (builder, FLAM_TABLE_NAMES, what, row, time, string);
}

void
flam_builder_note_process_name (FlamBuilder *builder,
                                FlamId process,
                                gint64 time,
                                const char *name)
{
  note_name (builder, FLAM_NAMED_PROCESS, process, time, name);
}

void
flam_builder_note_thread_name (FlamBuilder *builder,
                               FlamId thread,
                               gint64 time,
                               const char *name)
{
  note_name (builder, FLAM_NAMED_THREAD, thread, time, name);
}

void
flam_builder_note_symbol (FlamBuilder *builder,
                          FlamId frame,
                          FlamId function,
                          FlamId file,
                          guint32 line)
{
  note (builder, FLAM_TABLE_SYMBOLS, frame, function, line, file);
}

void
flam_builder_note_rename (FlamBuilder *builder,
                          FlamId frame,
                          gint64 time,
                          FlamId function,
                          guint32 line)
{
  note (builder, FLAM_TABLE_RENAMES, frame, time, function, line, FLAM_NONE);
}

void
flam_builder_note_module_symbols (FlamBuilder *builder,
                                  FlamId module,
                                  FlamSymbolState state,
                                  const char *why)
{
  FlamId string = flam_builder_string (builder, why, -1);

  note (builder, FLAM_TABLE_MODULE_SYMBOLS, module, state, string);
}

/* --- folding -------------------------------------------------------------- */

static void
fold_module_symbols (FlamBuilder *builder)
{
  const FlamModuleSymbolRows *rows = &builder->tables.module_symbols;

  for (guint32 i = 0; i < rows->n; i++)
    {
      cells (builder, guint8, profile.modules.symbols)[rows->module[i]] =
          rows->state[i];
      cells (builder, FlamId, profile.modules.why)[rows->module[i]] =
          rows->why[i];
    }
}

static void
fold_names (FlamBuilder *builder)
{
  const FlamNameRows *rows = &builder->tables.names;

  for (guint32 i = 0; i < rows->n; i++)
    {
      g_autofree char *name =
          g_strdup (flam_builder_get_string (builder, rows->name[i]));

      if (rows->what[i] == FLAM_NAMED_PROCESS)
        flam_builder_rename_process (
            builder, rows->row[i], rows->time[i], name);
      else
        flam_builder_rename_thread (builder, rows->row[i], rows->time[i], name);
    }
}

/* A measure of samples is kept if its column exists. For measures of
 * allocations the rows list those that exist, or mean that all do. */
static void
fold_measures (FlamBuilder *builder)
{
  FlamTables *tables = &builder->tables;
  const FlamMeasureRows *rows = &tables->measures;
  const char *spans = flam_builder_noted (builder, FLAM_FACT_SPANS);
  const char *sampled = flam_builder_noted (builder, FLAM_FACT_SAMPLED_SPANS);
  gboolean listed =
      flam_builder_noted_number (builder, FLAM_FACT_MEASURES_LISTED) > 0;
  gboolean done = FALSE;
  guint32 n = rows->n;

  for (guint32 i = 0; i < n && tables->profile.samples.n == 0; i++)
    while (rows->column[i] >= tables->weights->len &&
           tables->weights->len < FLAM_MAX_WEIGHTS)
      flam_builder_add_column (builder);
  for (guint32 i = 0; i < n; i++)
    {
      g_autofree char *id =
          g_strdup (flam_builder_get_string (builder, rows->id[i]));
      g_autofree char *name =
          g_strdup (flam_builder_get_string (builder, rows->name[i]));
      gint64 column = rows->column[i];
      gint64 event = rows->event[i];
      gint64 denominator = rows->denominator[i];
      FlamMeasureSource source = rows->source[i];
      guint measure;

      if (source != FLAM_FROM_SAMPLES)
        {
          if (listed)
            flam_builder_add_allocation_measure (builder, source);
          else if (!done)
            flam_builder_add_allocation_measures (builder);
          done |= !listed || source < FLAM_N_SOURCES;
          continue;
        }
      if (column >= (gint64)tables->weights->len)
        continue;
      measure = flam_builder_add_measure (
          builder,
          id,
          name,
          rows->unit[i],
          rows->kind[i],
          column < 0 ? -1 : (int)column,
          event < 0 || event > G_MAXUINT16 ? FLAM_NONE : (FlamId)event);
      flam_builder_set_denominator (builder, measure, MAX (denominator, 1));
      if (column >= 0 && g_strcmp0 (spans, id) == 0)
        flam_builder_set_spans (builder, measure, FLAM_SPANS_CALLS);
      if (column >= 0 && g_strcmp0 (sampled, id) == 0)
        flam_builder_set_spans (builder, measure, FLAM_SPANS_SAMPLES);
    }
  if (!done && tables->profile.allocations.n + tables->blocks.n > 0)
    flam_builder_add_allocation_measures (builder);
  flam_tables_drop (tables, FLAM_TABLE_MEASURES, n);
  if (rows->n == 0)
    flam_builder_add_standard_measure (
        builder, FLAM_STANDARD_SAMPLES, -1, FLAM_NONE);
}

void
flam_builder_set_recorded (FlamBuilder *builder)
{
  builder->recorded = TRUE;
}

gboolean
flam_builder_fold (FlamBuilder *builder,
                   const FlamProgress *progress,
                   GError **error)
{
  builder->recorded = FALSE;
  flam_builder_fold_facts (builder);
  fold_module_symbols (builder);
  fold_measures (builder);
  flam_builder_fold_memory (builder);
  if (!flam_builder_fold_stacks (builder, progress, error))
    return FALSE;
  fold_names (builder);
  return TRUE;
}
