/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-perf-report.h"

#include "flam-amount.h"

#define MAX_SECTIONS 1000

FlamReport *
flam_report_new (void)
{
  FlamReport *report = g_new0 (FlamReport, 1);

  report->sections = g_array_new (FALSE, FALSE, sizeof (FlamReportSection));
  report->entries = g_array_new (FALSE, FALSE, sizeof (FlamReportEntry));
  report->nodes = g_array_new (FALSE, TRUE, sizeof (FlamReportNode));
  report->frames = g_array_new (FALSE, FALSE, sizeof (FlamSlice));
  report->open = g_array_new (FALSE, FALSE, sizeof (guint32));
  flam_pieces_init (&report->names);
  flam_pieces_init (&report->made);
  return report;
}

void
flam_report_free (FlamReport *report)
{
  g_array_unref (report->sections);
  g_array_unref (report->entries);
  g_array_unref (report->nodes);
  g_array_unref (report->frames);
  g_array_unref (report->open);
  flam_pieces_clear (&report->names);
  flam_pieces_clear (&report->made);
  g_free (report);
}

/* --- the head ------------------------------------------------------------ */

static FlamReportCell
cell_of (FlamSlice name)
{
  static const struct
  {
    const char *name;
    FlamReportCell cell;
  } all[] = {
    { "Overhead", FLAM_REPORT_OVERHEAD },
    { "Children", FLAM_REPORT_CHILDREN },
    { "Self", FLAM_REPORT_SELF },
    { "Samples", FLAM_REPORT_SAMPLES },
    { "Period", FLAM_REPORT_PERIOD },
    { "Command", FLAM_REPORT_COMMAND },
    { "Pid:Command", FLAM_REPORT_PID },
    { "Shared Object", FLAM_REPORT_MODULE },
    { "Symbol", FLAM_REPORT_SYMBOL },
    { "Source:Line", FLAM_REPORT_PLACE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    if (flam_slice_is (name, all[i].name))
      return all[i].cell;
  return FLAM_REPORT_OTHER;
}

static FlamSlice
cell_text (FlamSlice line, const FlamReportColumn *column)
{
  gsize start = MIN (column->start, line.length);

  return flam_slice_strip (
      (FlamSlice){ line.text + start, MIN (column->end, line.length) - start });
}

static void
name_columns (FlamReport *report)
{
  for (guint i = 0; i < report->n_columns; i++)
    {
      FlamReportColumn *column = &report->columns[i];
      FlamSlice name = cell_text (report->head, column);

      if (i == 0 && flam_slice_begins (name, "#"))
        name = flam_slice_strip (flam_slice_from (name, 1));
      column->cell = cell_of (name);
      report->children |= column->cell == FLAM_REPORT_CHILDREN;
    }
}

/* "# ........ ......." below the names: the places of the columns. */
static void
read_columns (FlamReport *report, FlamSlice dots)
{
  gsize at = 1;

  report->n_columns = 0;
  while (at < dots.length && report->n_columns < FLAM_REPORT_MAX_COLUMNS)
    {
      FlamReportColumn *column = &report->columns[report->n_columns];

      column->start = at;
      while (at < dots.length && dots.text[at] == '.')
        at++;
      column->end = at;
      if (at > column->start)
        report->n_columns++;
      else
        at++;
    }
  if (report->n_columns == 0)
    return;
  report->columns[0].start = 0;
  report->columns[report->n_columns - 1].end = G_MAXSIZE;
  name_columns (report);
}

static void
begin_section (FlamReport *report, FlamSlice event)
{
  FlamReportSection section = { event, -1 };

  section.event.length = flam_slice_find (event, "'");
  g_array_append_val (report->sections, section);
  report->n_columns = 0;
}

static void
read_comment (FlamReport *report, FlamSlice line)
{
  gsize event = flam_slice_find (line, " of event '");
  gint64 total = flam_slice_number_after (line, "Event count (approx.): ");

  if (flam_slice_begins (line, "# ..") || flam_slice_begins (line, "#  .."))
    read_columns (report, line);
  else if (event < line.length && flam_slice_begins (line, "# Samples: ") &&
           report->sections->len < MAX_SECTIONS)
    begin_section (report,
                   flam_slice_from (line, event + strlen (" of event '")));
  else if (total >= 0 && report->sections->len > 0)
    flam_report_section (report, report->sections->len - 1)->total = total;
  report->head = line;
}

/* --- rows ---------------------------------------------------------------- */

/* "19.94%" in hundredths; FALSE: not a percentage. */
static gboolean
read_percent (FlamSlice cell, gint64 *value)
{
  const char *p = cell.text;
  const char *end = p + cell.length;

  return flam_amount_number (&p, end, 100, value) && p + 1 == end &&
         *p == '%' && *value >= 0;
}

static void
read_symbol (FlamReportEntry *entry, FlamSlice cell)
{
  entry->symbol = cell;
  if (cell.length > 4 && cell.text[0] == '[' && cell.text[2] == ']')
    {
      if (cell.text[1] == 'k' || cell.text[1] == 'g')
        entry->kind = FLAM_KIND_KERNEL;
      entry->symbol = flam_slice_strip (flam_slice_from (cell, 3));
    }
  entry->symbol.length = MIN (entry->symbol.length, (gsize)G_MAXINT32);
}

static void
read_pid (FlamReportEntry *entry, FlamSlice cell)
{
  gsize colon = flam_slice_find (cell, ":");

  entry->command = flam_slice_from (cell, MIN (colon + 1, cell.length));
  flam_slice_number ((FlamSlice){ cell.text, colon }, &entry->pid);
}

static gboolean
read_cell (FlamReportEntry *entry, FlamReportCell kind, FlamSlice cell)
{
  switch (kind)
    {
    case FLAM_REPORT_OVERHEAD:
    case FLAM_REPORT_SELF:
      return read_percent (cell, &entry->own);
    case FLAM_REPORT_CHILDREN:
      return read_percent (cell, &entry->all);
    case FLAM_REPORT_SAMPLES:
      return flam_slice_number (cell, &entry->samples);
    case FLAM_REPORT_PERIOD:
      return flam_slice_number (cell, &entry->period);
    case FLAM_REPORT_COMMAND:
      entry->command = cell;
      break;
    case FLAM_REPORT_PID:
      read_pid (entry, cell);
      break;
    case FLAM_REPORT_MODULE:
      entry->module = cell;
      break;
    case FLAM_REPORT_SYMBOL:
      read_symbol (entry, cell);
      break;
    case FLAM_REPORT_PLACE:
      entry->place = cell;
      break;
    case FLAM_REPORT_OTHER:
      break;
    }
  return TRUE;
}

/* The first cell of a row ends with its column; no line of a tree does. */
static gboolean
is_row (const FlamReport *report, FlamSlice line)
{
  gsize end = report->n_columns > 0 ? report->columns[0].end : 0;

  if (end == 0 || line.length == 0 ||
      (report->n_columns > 1 && line.length < end))
    return FALSE;
  end = MIN (end, line.length);
  return strchr ("%0123456789", line.text[end - 1]) != NULL &&
         line.text[end - 1] != '\0' && memchr (line.text, '|', end) == NULL;
}

static gboolean
read_row (FlamReport *report, FlamSlice line)
{
  const FlamSlice none = { "", 0 };
  FlamReportEntry entry = { .command = none,
                            .module = none,
                            .symbol = none,
                            .place = none,
                            .own = -1,
                            .all = -1,
                            .samples = -1,
                            .period = -1,
                            .pid = -1,
                            .section = report->sections->len - 1,
                            .node = report->nodes->len };

  g_array_set_size (report->open, 0);
  for (guint i = 0; i < report->n_columns; i++)
    if (!read_cell (&entry,
                    report->columns[i].cell,
                    cell_text (line, &report->columns[i])))
      return FALSE;
  if (entry.own < 0 || report->sections->len == 0)
    return FALSE;
  if (entry.all < 0)
    entry.all = entry.own;
  report->counted |= entry.samples >= 0;
  g_array_append_val (report->entries, entry);
  return TRUE;
}

/* --- trees --------------------------------------------------------------- */

static void
add_frame (FlamReport *report, FlamSlice name)
{
  if (name.length == 0 || flam_slice_is (name, "[...]"))
    return;
  name.length = MIN (name.length, (gsize)G_MAXINT32);
  g_array_append_val (report->frames, name);
  flam_report_node (report, report->nodes->len - 1)->n_frames++;
}

/* A value of -1: not printed. */
static void
begin_node (FlamReport *report, gsize column, gint64 value, gboolean percent)
{
  GArray *open = report->open;
  FlamReportNode node = { .parent = FLAM_NONE,
                          .column = column,
                          .value = MAX (value, 0),
                          .all = value < 0,
                          .percent = percent,
                          .frame = report->frames->len };
  guint32 id = report->nodes->len;

  while (open->len > 0 &&
         flam_report_node (report, g_array_index (open, guint32, open->len - 1))
                 ->column >= column)
    g_array_set_size (open, open->len - 1);
  if (open->len > 0)
    node.parent = g_array_index (open, guint32, open->len - 1);
  g_array_append_val (report->nodes, node);
  g_array_append_val (open, id);
  flam_report_entry (report, report->entries->len - 1)->n_nodes++;
}

/* "10.08%" or "140" at *rest, which moves past it. */
static gboolean
take_value (FlamSlice *rest, gint64 *value, gboolean *percent)
{
  const char *p = rest->text;
  const char *end = p + rest->length;

  if (rest->length == 0 || !flam_text_is_digit (*p) ||
      !flam_amount_number (&p, end, 100, value) || *value < 0)
    return FALSE;
  *percent = p < end && *p == '%';
  p += *percent;
  *rest = (FlamSlice){ p, end - p };
  return TRUE;
}

/* "--10.08%--recurse" at a column, or "---main" below a whole row. */
static gboolean
read_branch (FlamReport *report, FlamSlice rest, gsize column)
{
  gint64 value = -1;
  gboolean percent = FALSE;

  rest = flam_slice_from (rest, 2);
  if (flam_slice_begins (rest, "-"))
    rest = flam_slice_from (rest, 1);
  else if (column == 0 || !take_value (&rest, &value, &percent) ||
           !flam_slice_begins (rest, "--"))
    return FALSE;
  else
    {
      rest = flam_slice_from (rest, 2);
      column--;
    }
  begin_node (report, column, value, percent);
  add_frame (report, rest);
  return TRUE;
}

/* -g flat: "10.08%", and frames on the lines below;
 * -g folded: "10.08% leaf_work;main". */
static gboolean
read_chain (FlamReport *report, FlamSlice rest, gsize column)
{
  gint64 value;
  gboolean percent;

  if (!take_value (&rest, &value, &percent) ||
      (rest.length > 0 && (column > 0 || *rest.text != ' ')))
    return FALSE;
  begin_node (report, 0, value, percent);
  rest = flam_slice_strip (rest);
  while (rest.length > 0)
    {
      gsize at = flam_slice_find (rest, ";");
      add_frame (report, (FlamSlice){ rest.text, at });
      rest = flam_slice_from (rest, MIN (at + 1, rest.length));
    }
  return TRUE;
}

static gboolean
read_tree (FlamReport *report, FlamSlice line)
{
  FlamSlice rest = line;
  gsize column;

  /* Skips the lines that join the branches. */
  while (rest.length > 0 && (*rest.text == ' ' || *rest.text == '|'))
    rest = flam_slice_from (rest, 1);
  column = rest.text - line.text;
  rest = flam_slice_strip (rest);
  if (rest.length == 0)
    return TRUE;
  if (report->entries->len == 0)
    return FALSE;
  if (flam_slice_begins (rest, "--"))
    return read_branch (report, rest, column);
  if (read_chain (report, rest, column))
    return TRUE;
  if (report->open->len == 0 ||
      flam_report_node (report, report->nodes->len - 1)->column >= column)
    return FALSE;
  add_frame (report, rest);
  return TRUE;
}

gboolean
flam_report_read_line (FlamReport *report, FlamSlice line)
{
  if (line.length > 0 && *line.text == '#')
    {
      read_comment (report, line);
      return TRUE;
    }
  if (is_row (report, line))
    return read_row (report, line);
  return read_tree (report, line);
}
