/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-process-line.h"

#include <string.h>

#define COLUMNS 8
/* Of bytes, so that a line fits into one of flam_connection_read_line(). */
#define SHORT 300
#define LONG 1000

void
flam_process_line_clear (FlamProcessLine *line)
{
  g_free (line->name);
  g_free (line->command);
  g_free (line->obstacle);
  *line = (FlamProcessLine){ 0 };
}

static char *
plain (const char *text, gsize max)
{
  char *valid = g_utf8_make_valid (text, (gssize)strnlen (text, max));

  for (char *p = valid; *p != '\0'; p++)
    if ((guchar)*p < ' ' || *p == 0x7f)
      *p = ' ';
  return valid;
}

char *
flam_process_line_to_text (const FlamProcessLine *line)
{
  g_autofree char *name = plain (line->name, SHORT);
  g_autofree char *command = plain (line->command, LONG);
  g_autofree char *obstacle = plain (line->obstacle, SHORT);
  char cpu[G_ASCII_DTOSTR_BUF_SIZE];

  g_ascii_formatd (cpu, sizeof cpu, "%.1f", line->cpu * 100);
  return g_strdup_printf ("%d\t%d\t%d\t%" G_GINT64_FORMAT "\t%s\t%s\t%s\t%s",
                          line->pid,
                          line->parent,
                          line->session,
                          line->began,
                          cpu,
                          name,
                          command,
                          obstacle);
}

static gboolean
parse_number (const char *text, gint64 max, gint64 *number)
{
  return g_ascii_string_to_signed (text, 10, 0, max, number, NULL);
}

gboolean
flam_process_line_parse (const char *text, FlamProcessLine *line)
{
  g_auto (GStrv) parts = g_strsplit (text, "\t", COLUMNS + 1);
  gint64 pid, parent, session, began;
  double cpu;

  *line = (FlamProcessLine){ 0 };
  if (g_strv_length (parts) != COLUMNS ||
      !parse_number (parts[0], G_MAXINT32, &pid) || pid == 0 ||
      !parse_number (parts[1], G_MAXINT32, &parent) ||
      !parse_number (parts[2], G_MAXINT32, &session) ||
      !parse_number (parts[3], G_MAXINT64, &began))
    return FALSE;
  cpu = g_ascii_strtod (parts[4], NULL) / 100;
  *line = (FlamProcessLine){
    .pid = (int)pid,
    .parent = (int)parent,
    .session = (int)session,
    .began = began,
    .cpu = cpu >= 0 && cpu < 1e6 ? cpu : 0,
    .name = g_strdup (parts[5]),
    .command = g_strdup (parts[6]),
    .obstacle = g_strdup (parts[7]),
  };
  return TRUE;
}
