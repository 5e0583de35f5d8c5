/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The lines of Go's table of functions. */

#include "flam-go-private.h"

#include <stdlib.h>

static const char *
find_file (const FlamGoTable *table, guint64 record, guint64 offset)
{
  guint32 pc_table, number, unit, path;

  if (!flam_go_read_field (table, record, FLAM_GO_FIELD_PC_FILES, &pc_table) ||
      pc_table == 0 || !flam_go_find_value (table, pc_table, offset, &number))
    return NULL;
  if (table->layout == FLAM_GO_1_2)
    return flam_go_read_u32 (table, table->files + 4 * (guint64)number, &path)
               ? flam_go_read_text (table, path)
               : NULL;
  if (!flam_go_read_field (table, record, FLAM_GO_FIELD_UNIT, &unit) ||
      !flam_go_read_u32 (
          table, table->units + 4 * ((guint64)unit + number), &path) ||
      path == G_MAXUINT32)
    return NULL;
  return flam_go_read_text (table, table->files + path);
}

static int
compare_address (gconstpointer key, gconstpointer function)
{
  guint64 vaddr = *(const guint64 *)key;
  const FlamGoFunction *own = function;

  return vaddr < own->start ? -1 : vaddr >= own->end;
}

/* The position of the innermost function that is `offset` bytes into the
 * function. */
static gboolean
find_position (const FlamGoTable *table,
               guint64 record,
               guint64 offset,
               FlamGoFrame *frame)
{
  guint32 pc_table;

  frame->line_file = find_file (table, record, offset);
  return frame->line_file != NULL && *frame->line_file != '\0' &&
         flam_go_read_field (
             table, record, FLAM_GO_FIELD_PC_LINES, &pc_table) &&
         pc_table != 0 &&
         flam_go_find_value (table, pc_table, offset, &frame->line) &&
         frame->line > 0 && frame->line <= G_MAXINT32;
}

static guint32
first_line_of (const FlamGoTable *table, guint64 record)
{
  guint32 line;

  return table->layout == FLAM_GO_1_20 &&
                 flam_go_read_field (
                     table, record, FLAM_GO_FIELD_FIRST_LINE, &line) &&
                 line <= G_MAXINT32
             ? line
             : 0;
}

guint
flam_go_table_look_up (const FlamGoTable *table,
                       guint64 vaddr,
                       FlamGoFrame frames[FLAM_GO_FRAMES_MAX])
{
  const FlamGoFunction *function = bsearch (&vaddr,
                                            table->functions,
                                            table->n,
                                            sizeof *table->functions,
                                            compare_address);
  guint64 record, offset;
  FlamGoCall call;
  guint n = 0;

  if (function == NULL)
    return 0;
  record = table->record[function - table->functions];
  offset = vaddr - function->start;
  while (n < FLAM_GO_FRAMES_MAX - 1 &&
         flam_go_find_call (table, record, offset, &call) &&
         find_position (table, record, offset, &frames[n]))
    {
      frames[n].name = call.name;
      frames[n].file = frames[n].line_file;
      frames[n].first_line = call.first_line;
      offset = call.parent;
      n++;
    }
  if (!find_position (table, record, offset, &frames[n]))
    return 0;
  frames[n].name = function->name;
  frames[n].file = find_file (table, record, 0);
  frames[n].first_line = first_line_of (table, record);
  return n + 1;
}
