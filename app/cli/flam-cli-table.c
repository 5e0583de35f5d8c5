/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-cli-table.h"

#include "flam-cli.h"

#include "flam-core-picture.h"

typedef struct
{
  GPtrArray *cells; /* char * */
  GString *text;
} Row;

struct _FlamCliTable
{
  GPtrArray *rows; /* Row *; the last one is being filled */
  GArray *widths;  /* int, one per column */
};

static void
row_free (gpointer data)
{
  Row *row = data;

  g_ptr_array_unref (row->cells);
  g_string_free (row->text, TRUE);
  g_free (row);
}

static Row *
last_row (FlamCliTable *table)
{
  return table->rows->pdata[table->rows->len - 1];
}

void
flam_cli_table_end_row (FlamCliTable *table)
{
  Row *row = g_new (Row, 1);

  *row = (Row){ g_ptr_array_new_with_free_func (g_free), g_string_new (NULL) };
  g_ptr_array_add (table->rows, row);
}

FlamCliTable *
flam_cli_table_new (void)
{
  FlamCliTable *table = g_new (FlamCliTable, 1);

  table->rows = g_ptr_array_new_with_free_func (row_free);
  table->widths = g_array_new (FALSE, TRUE, sizeof (int));
  flam_cli_table_end_row (table);
  return table;
}

/* In columns of a terminal: some characters take two of them, and some none. */
static int
width_of (const char *text)
{
  int width = 0;

  for (; *text != '\0'; text = g_utf8_next_char (text))
    {
      gunichar c = g_utf8_get_char (text);

      width += g_unichar_iszerowidth (c) ? 0 : g_unichar_iswide (c) ? 2 : 1;
    }
  return width;
}

void
flam_cli_table_add (FlamCliTable *table, const char *text, int least)
{
  GPtrArray *cells = last_row (table)->cells;
  char *shown = flam_format_visible (text);
  int *width;

  if (cells->len == table->widths->len)
    g_array_set_size (table->widths, cells->len + 1);
  width = &g_array_index (table->widths, int, cells->len);
  *width = MAX (*width, MAX (width_of (shown), least));
  g_ptr_array_add (cells, shown);
}

void
flam_cli_table_append (FlamCliTable *table, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  g_string_append_vprintf (last_row (table)->text, format, args);
  va_end (args);
}

static void
print_row (const FlamCliTable *table, const Row *row)
{
  for (guint i = 0; i < row->cells->len; i++)
    {
      const char *cell = row->cells->pdata[i];
      int padding = g_array_index (table->widths, int, i) - width_of (cell);

      flam_cli_print ("%*s%s  ", padding, "", cell);
    }
  flam_cli_print ("%s\n", row->text->str);
}

void
flam_cli_table_print (FlamCliTable *table)
{
  for (guint i = 0; i + 1 < table->rows->len; i++)
    print_row (table, table->rows->pdata[i]);
  g_ptr_array_unref (table->rows);
  g_array_unref (table->widths);
  g_free (table);
}
