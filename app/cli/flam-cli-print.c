/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-cli.h"

#include <gio/gunixoutputstream.h>
#include <unistd.h>

#include "flam-core-picture.h"
#include "flam-terminal-stream.h"

#include <stdio.h>
#include <string.h>

static gsize
count_of (const char *text, char c)
{
  gsize n = 0;

  for (; *text != '\0'; text++)
    n += *text == c;
  return n;
}

/* The format's newlines are distinguished from those in the arguments by a mark
 * that is not valid UTF-8, and that the arguments do not contain either. */
void
flam_cli_print (const char *format, ...)
{
  static const char marks[] = "\xff\xfe\xf8\xc1\xc0";
  g_autofree char *marked = g_strdup (format);
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;
  const char *mark = marks;

  for (;; mark++)
    {
      char set[2] = { mark > marks ? mark[-1] : '\n', '\0' };
      va_list args;

      g_strdelimit (marked, set, *mark);
      g_free (text);
      va_start (args, format);
      text = g_strdup_vprintf (marked, args);
      va_end (args);
      if (mark[1] == '\0' || count_of (text, *mark) == count_of (marked, *mark))
        break;
    }
  lines = g_strsplit (text, (char[]){ *mark, '\0' }, -1);
  for (guint i = 0; lines[i] != NULL; i++)
    {
      g_autofree char *line = flam_format_visible (lines[i]);

      g_print (lines[i + 1] != NULL ? "%s\n" : "%s", line);
    }
}

static void
print_message (const char *text)
{
  g_autofree char *shown = flam_message_shown (text);
  g_autofree char *visible = flam_format_visible (shown);

  g_printerr ("flambeau-cli: %s\n", visible);
}

void
flam_cli_error (const char *format, ...)
{
  g_autofree char *text = NULL;
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  g_strdelimit (text, "\n\r", ' ');
  print_message (text);
}

void
flam_cli_follow (GError *error)
{
  char *text = error != NULL ? error->message : NULL;

  if (text != NULL && g_ascii_isupper (text[0]) && g_ascii_islower (text[1]))
    text[0] = g_ascii_tolower (text[0]);
}

int
flam_cli_usage (const char *format, ...)
{
  g_autofree char *text = NULL;
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  print_message (text);
  return FLAM_EXIT_USAGE;
}

FlamSink *
flam_cli_stdout (void)
{
  g_autoptr (GOutputStream) stream =
      isatty (STDOUT_FILENO) ? flam_terminal_stream_new ()
                             : g_unix_output_stream_new (STDOUT_FILENO, FALSE);

  fflush (stdout);
  return flam_sink_new (stream);
}

FlamSink *
flam_cli_open_output (const char *output, gboolean force)
{
  g_autoptr (GError) error = NULL;
  FlamSink *sink;

  if (output == NULL)
    return flam_cli_stdout ();
  sink = flam_sink_new_for_file (output, force, &error);
  if (g_error_matches (error, G_FILE_ERROR, G_FILE_ERROR_EXIST))
    flam_cli_error (_ ("%s: already exists; --force replaces it"), output);
  else if (sink == NULL)
    flam_cli_error (
        _ ("%s: cannot be written: %s"), output, _ (error->message));
  else if (g_str_has_suffix (output, ".gz"))
    flam_sink_compress (sink);
  return sink;
}

gboolean
flam_cli_finish (FlamSink *sink, const char *output)
{
  g_autoptr (FlamSink) own = sink;
  g_autoptr (GError) error = NULL;

  if (flam_sink_finish (own, &error))
    return TRUE;
  if (output == NULL)
    flam_cli_error (_ ("standard output: cannot write"));
  else
    flam_cli_error (_ ("%s: cannot be written: %s"), output, error->message);
  return FALSE;
}

/* Control characters could change what a terminal shows, and json-glib writes
 * those from U+007F on as they are. So does it write U+001F, which no parser
 * accepts (its test is off by one). They occur only in strings. */
char *
flam_cli_json_text (JsonNode *node)
{
  g_autofree char *written = json_to_string (node, FALSE);
  g_autofree char *text = g_utf8_make_valid (written, -1);
  GString *out = g_string_sized_new (strlen (text));

  for (const char *p = text; *p != '\0'; p = g_utf8_next_char (p))
    if (flam_format_is_invisible (g_utf8_get_char (p)))
      g_string_append_printf (out, "\\u%04x", g_utf8_get_char (p));
    else
      g_string_append_len (out, p, g_utf8_next_char (p) - p);
  return g_string_free (out, FALSE);
}

void
flam_cli_print_json (JsonBuilder *json)
{
  g_autoptr (JsonNode) root = json_builder_get_root (json);
  g_autofree char *text = flam_cli_json_text (root);

  puts (text);
  g_object_unref (json);
}

void
flam_cli_json_string (JsonBuilder *json, const char *member, const char *value)
{
  json_builder_set_member_name (json, member);
  json_builder_add_string_value (json, value);
}

void
flam_cli_json_int (JsonBuilder *json, const char *member, gint64 value)
{
  json_builder_set_member_name (json, member);
  json_builder_add_int_value (json, value);
}

void
flam_cli_json_weight (JsonBuilder *json,
                      const char *member,
                      const FlamMeasure *measure,
                      gint64 weight)
{
  json_builder_set_member_name (json, member);
  if (weight % measure->denominator == 0)
    json_builder_add_int_value (json, weight / measure->denominator);
  else
    json_builder_add_double_value (json, (double)weight / measure->denominator);
}

void
flam_cli_json_states (JsonBuilder *json,
                      const FlamMeasure *measure,
                      const FlamStateSplit *split)
{
  json_builder_set_member_name (json, "states");
  json_builder_begin_object (json);
  for (guint i = 0; i < FLAM_N_STATES; i++)
    if (split->weight[i] != 0)
      flam_cli_json_weight (
          json, flam_state_to_string (i), measure, split->weight[i]);
  json_builder_end_object (json);
}

char *
flam_cli_thread_text (const FlamProfile *profile, FlamThreadId thread)
{
  const char *name =
      flam_profile_string (profile, profile->threads.name[thread]);
  gint32 tid = profile->threads.tid[thread];
  gint32 pid;

  if (tid < 0)
    return g_strdup_printf ("#%u %s", thread + 1, name);
  pid = profile->processes.pid[profile->threads.process[thread]];
  return pid < 0 ? g_strdup_printf ("%d %s", tid, name)
                 : g_strdup_printf ("%d/%d %s", pid, tid, name);
}

char *
flam_cli_states_text (const FlamTree *tree, const FlamStateSplit *split)
{
  guint states = flam_tree_states (tree);
  g_autofree char *text = NULL;

  if ((states & (states - 1)) == 0)
    return g_strdup ("");
  text = flam_format_states (split);
  return g_strdup_printf ("  [%s]", text);
}
