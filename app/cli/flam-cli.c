/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-cli.h"

#include "flam-format.h"
#include "flam-config.h"

#include <locale.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HEAP ((gsize)256 << 20)
#define HUGE_PAGE ((gsize)2 << 20)

static const FlamVerb *const verbs[] = {
  &flam_verb_info,   &flam_verb_top,         &flam_verb_tree,
  &flam_verb_lines,  &flam_verb_disassemble, &flam_verb_memory,
  &flam_verb_export, &flam_verb_diff,        &flam_verb_history,
  &flam_verb_record, &flam_verb_formats,     &flam_verb_dump,
};

static void
print_help (void)
{
  g_print ("Usage: flambeau-cli VERB [OPTION…] FILE\n\n"
           "Opens profiles of every kind and says where time and memory go.\n"
           "\nVerbs:\n");
  for (guint i = 0; i < G_N_ELEMENTS (verbs); i++)
    g_print ("  %-11s %-32s %s\n",
             verbs[i]->name,
             verbs[i]->arguments,
             verbs[i]->summary);
  g_print ("\nOpens:\n");
  for (guint i = 0; flam_importers[i] != NULL; i++)
    g_print ("  %-14s %s\n", flam_importers[i]->id, flam_importers[i]->label);
  g_print ("\nflambeau-cli VERB --help lists a verb's options; "
           "--version prints the version.\n");
}

static const FlamVerb *
find_verb (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (verbs); i++)
    if (strcmp (verbs[i]->name, name) == 0)
      return verbs[i];
  return NULL;
}

static int
run (int argc, char **argv)
{
  const FlamVerb *verb;

  if (argc < 2)
    {
      print_help ();
      return FLAM_EXIT_USAGE;
    }
  if (strcmp (argv[1], "--help") == 0 || strcmp (argv[1], "-h") == 0 ||
      strcmp (argv[1], "help") == 0)
    {
      print_help ();
      return FLAM_EXIT_DONE;
    }
  if (strcmp (argv[1], "--version") == 0)
    {
      g_print ("flambeau-cli %s\n", FLAM_VERSION);
      return FLAM_EXIT_DONE;
    }
  verb = find_verb (argv[1]);
  if (verb == NULL)
    return flam_cli_usage ("“%s” is not a verb; see --help", argv[1]);
  return verb->run (argc - 1, argv + 1);
}

/* Fresh pages are nearly half of the time it takes to open a large capture.
 * Memory that one table gave back is the next one's, not the system's: the
 * process ends soon. And it comes in huge pages: a block is taken, marked and
 * given back at once, which leaves the heap that long. */
static void
prepare_heap (void)
{
  char *heap;
  char *aligned;

  mallopt (M_MMAP_THRESHOLD, G_MAXINT);
  mallopt (M_TRIM_THRESHOLD, G_MAXINT);
  heap = malloc (HEAP + HUGE_PAGE);
  if (heap == NULL)
    return;
  aligned = heap + -(gsize)heap % HUGE_PAGE;
  madvise (aligned, HEAP, MADV_HUGEPAGE);
  free (heap);
}

/* In a locale without UTF-8, as containers have: what looks most like it. */
static void
print_in_locale (const char *text, FILE *file)
{
  const char *charset;
  g_autofree char *wanted = NULL;
  g_autofree char *converted = NULL;

  if (!g_get_charset (&charset))
    {
      wanted = g_strconcat (charset, "//TRANSLIT", NULL);
      converted = g_convert_with_fallback (
          text, -1, wanted, "UTF-8", "?", NULL, NULL, NULL);
    }
  fputs (converted != NULL ? converted : text, file);
}

static void
print_out (const char *text)
{
  print_in_locale (text, stdout);
}

static void
print_error (const char *text)
{
  print_in_locale (text, stderr);
  fflush (stderr);
}

int
main (int argc, char **argv)
{
  int status;

  prepare_heap ();
  setlocale (LC_ALL, "");
  g_set_print_handler (print_out);
  g_set_printerr_handler (print_error);
  /* Numbers are for machines. */
  setlocale (LC_NUMERIC, "C");
  g_set_prgname ("flambeau-cli");
  status = run (argc, argv);
  if (status != FLAM_EXIT_DONE || (fflush (stdout) == 0 && !ferror (stdout)))
    return status;
  flam_cli_error ("standard output: cannot write");
  return FLAM_EXIT_REFUSED;
}

static gsize
count_of (const char *text, char c)
{
  gsize n = 0;

  for (; *text != '\0'; text++)
    n += *text == c;
  return n;
}

/* The format's newlines are told from those of the arguments by a mark that is
 * no part of UTF-8, and that the arguments do not hold either. */
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
  g_autofree char *visible = flam_format_visible (text);

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

gboolean
flam_cli_put (const GString *document)
{
  if (fwrite (document->str, 1, document->len, stdout) == document->len &&
      fflush (stdout) == 0)
    return TRUE;
  flam_cli_error ("standard output: cannot write");
  return FALSE;
}

/* json-glib writes U+001F as it is (its test is one off), which no parser
 * takes. It can stand in strings alone. */
char *
flam_cli_json_text (JsonNode *node)
{
  g_autofree char *text = json_to_string (node, FALSE);
  g_auto (GStrv) parts = NULL;

  if (strchr (text, 0x1f) == NULL)
    return g_steal_pointer (&text);
  parts = g_strsplit (text, "\x1f", -1);
  return g_strjoinv ("\\u001f", parts);
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

void
flam_cli_print_states (const FlamTree *tree, const FlamStateSplit *split)
{
  guint states = flam_tree_states (tree);
  g_autofree char *text = NULL;

  if ((states & (states - 1)) == 0)
    return;
  text = flam_format_states (split);
  g_print ("  [%s]", text);
}
