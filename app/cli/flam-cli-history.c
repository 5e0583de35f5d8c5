/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-cli-gates.h"

#include "flam-diff.h"
#include "flam-format.h"
#include "flam-pages.h"

#include <stdio.h>
#include <string.h>

#define MOVED 3

/* One capture: what it holds, and what moved since the one before. */
typedef struct
{
  char *path;
  FlamProfile *profile;
  FlamSelection *selection;
  FlamTree *tree;
} Entry;

static void
entry_free (gpointer data)
{
  Entry *entry = data;

  g_clear_pointer (&entry->selection, flam_selection_free);
  g_clear_pointer (&entry->tree, flam_tree_unref);
  g_clear_pointer (&entry->profile, flam_profile_unref);
  g_free (entry->path);
  g_free (entry);
}

static Entry *
load_entry (const char *path, FlamCliOptions *options, FlamExit *status)
{
  g_autoptr (FlamProfile) profile = flam_cli_load (path, options);
  g_autoptr (FlamSelection) selection = NULL;
  Entry *entry;

  *status = FLAM_EXIT_REFUSED;
  if (profile != NULL)
    selection = flam_cli_select (options, profile, path, status);
  if (selection == NULL)
    return NULL;
  selection->invert = FALSE;
  entry = g_new0 (Entry, 1);
  entry->path = g_strdup (path);
  entry->tree = flam_cli_tree (profile, selection);
  entry->selection = g_steal_pointer (&selection);
  entry->profile = g_steal_pointer (&profile);
  return entry;
}

static int
compare_entries (gconstpointer a, gconstpointer b)
{
  const Entry *x = *(const Entry *const *)a;
  const Entry *y = *(const Entry *const *)b;
  gint64 s = x->profile->facts.start_unix_ns;
  gint64 t = y->profile->facts.start_unix_ns;

  return (s > t) - (s < t);
}

static gint64
total_of (const Entry *entry, guint measure)
{
  g_autoptr (FlamSelection) selection = flam_selection_copy (entry->selection);

  selection->measure = measure;
  return flam_weights_total (entry->profile, selection);
}

/* The functions that moved most; "" for the first capture. */
static char *
moved_text (const Entry *before, const Entry *entry)
{
  const FlamMeasure *measure = &entry->profile->measures[entry->tree->measure];
  GString *text = g_string_new (NULL);
  g_autofree FlamDiffRow *rows = NULL;
  guint n = 0;

  if (before != NULL)
    rows = flam_diff_functions (
        before->tree, entry->tree, TRUE, FLAM_DIFF_UNSCALED, &n);
  for (guint i = 0; i < MIN (n, MOVED) && rows[i].delta != 0; i++)
    {
      g_autofree char *delta =
          flam_format_weight (measure, ABS (rows[i].delta));

      g_string_append_printf (text,
                              "%s%s %s%s",
                              i > 0 ? ", " : "",
                              rows[i].name,
                              rows[i].delta > 0 ? "+" : "−",
                              delta);
    }
  return g_string_free (text, FALSE);
}

static void
add_moved (JsonBuilder *json, const Entry *before, const Entry *entry)
{
  const FlamMeasure *measure = &entry->profile->measures[entry->tree->measure];
  g_autofree FlamDiffRow *rows = NULL;
  guint n = 0;

  json_builder_set_member_name (json, "moved");
  json_builder_begin_array (json);
  if (before != NULL)
    rows = flam_diff_functions (
        before->tree, entry->tree, TRUE, FLAM_DIFF_UNSCALED, &n);
  for (guint i = 0; i < MIN (n, MOVED) && rows[i].delta != 0; i++)
    {
      json_builder_begin_object (json);
      flam_cli_json_string (json, "function", rows[i].name);
      flam_cli_json_weight (json, "delta", measure, rows[i].delta);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
}

static void
print_json (const GPtrArray *entries)
{
  JsonBuilder *json = json_builder_new ();

  json_builder_begin_array (json);
  for (guint i = 0; i < entries->len; i++)
    {
      const Entry *entry = entries->pdata[i];
      const FlamProfile *p = entry->profile;

      json_builder_begin_object (json);
      flam_cli_json_string (json, "file", entry->path);
      flam_cli_json_int (json, "start_unix_ns", p->facts.start_unix_ns);
      flam_cli_json_int (json, "duration_ns", p->facts.duration_ns);
      json_builder_set_member_name (json, "totals");
      json_builder_begin_object (json);
      for (guint m = 0; m < p->n_measures; m++)
        flam_cli_json_weight (json,
                              flam_profile_string (p, p->measures[m].id),
                              &p->measures[m],
                              total_of (entry, m));
      json_builder_end_object (json);
      add_moved (json, i > 0 ? entries->pdata[i - 1] : NULL, entry);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
  flam_cli_print_json (json);
}

static void
print_csv (const GPtrArray *entries)
{
  printf ("file,start_unix_ns,duration_ns,measure,total\n");
  for (guint i = 0; i < entries->len; i++)
    {
      const Entry *entry = entries->pdata[i];
      const FlamProfile *p = entry->profile;
      g_autofree char *path = flam_format_csv (entry->path);

      for (guint m = 0; m < p->n_measures; m++)
        {
          g_autofree char *total =
              flam_format_plain (&p->measures[m], total_of (entry, m));
          g_autofree char *id =
              flam_format_csv (flam_profile_string (p, p->measures[m].id));

          printf ("%s,%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT ",%s,%s\n",
                  path,
                  p->facts.start_unix_ns,
                  p->facts.duration_ns,
                  id,
                  total);
        }
    }
}

static void
print_text (const GPtrArray *entries)
{
  for (guint i = 0; i < entries->len; i++)
    {
      const Entry *entry = entries->pdata[i];
      const FlamProfile *p = entry->profile;
      g_autofree char *duration =
          flam_format_value (p->facts.duration_ns, FLAM_UNIT_NS);
      g_autofree char *moved =
          moved_text (i > 0 ? entries->pdata[i - 1] : NULL, entry);

      flam_cli_print ("%s  %s", entry->path, duration);
      for (guint m = 0; m < p->n_measures; m++)
        {
          g_autofree char *total =
              flam_format_weight (&p->measures[m], total_of (entry, m));

          flam_cli_print (
              "  %s %s", flam_profile_string (p, p->measures[m].id), total);
        }
      flam_cli_print ("%s%s\n", *moved ? "  moved: " : "", moved);
    }
}

static int
print_page (const GPtrArray *entries)
{
  FlamSink *out = flam_cli_stdout ();
  g_autofree FlamCompared *captures = g_new (FlamCompared, entries->len);

  for (guint i = 0; i < entries->len; i++)
    {
      const Entry *entry = entries->pdata[i];

      captures[i] =
          (FlamCompared){ entry->path, entry->tree, entry->selection };
    }
  flam_history_page (out, captures, entries->len);
  return flam_cli_finish (out, NULL) ? FLAM_EXIT_DONE : FLAM_EXIT_REFUSED;
}

static gboolean
check_gates (FlamGates *gates, const GPtrArray *entries)
{
  FlamGated before = { NULL };

  for (guint i = 0; i < entries->len; i++)
    {
      const Entry *entry = entries->pdata[i];
      FlamGated now = { entry->path, entry->tree, entry->selection };

      if (!flam_gates_check (gates, i > 0 ? &before : NULL, &now))
        return FALSE;
      before = now;
    }
  return TRUE;
}

static gboolean
is_capture (const char *path)
{
  g_autoptr (FlamSource) source = NULL;

  if (!g_file_test (path, G_FILE_TEST_IS_REGULAR))
    return FALSE;
  source = flam_source_open (path, NULL, NULL);
  return source != NULL && flam_formats_probe (source) != NULL;
}

static int
compare_paths (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *)a, *(const char *const *)b);
}

/* Of a folder, the captures in it. */
static void
add_paths (GPtrArray *paths, const char *path)
{
  g_autoptr (GDir) folder = NULL;
  guint before = paths->len;
  const char *name;

  if (g_file_test (path, G_FILE_TEST_IS_DIR))
    folder = g_dir_open (path, 0, NULL);
  if (folder == NULL)
    {
      g_ptr_array_add (paths, g_strdup (path));
      return;
    }
  while ((name = g_dir_read_name (folder)) != NULL)
    {
      g_autofree char *inner = g_build_filename (path, name, NULL);

      if (is_capture (inner))
        g_ptr_array_add (paths, g_steal_pointer (&inner));
    }
  if (paths->len > before)
    qsort (&paths->pdata[before],
           paths->len - before,
           sizeof (gpointer),
           compare_paths);
}

static int
run (int argc, char **argv)
{
  g_autoptr (FlamCliOptions) options = flam_cli_options_new ();
  g_autoptr (GPtrArray) entries = g_ptr_array_new_with_free_func (entry_free);
  g_autoptr (GPtrArray) paths = g_ptr_array_new_with_free_func (g_free);
  g_auto (FlamGates) gates = { NULL };
  g_autofree char *to = NULL;
  g_auto (GStrv) files = NULL;
  const GOptionEntry own[] = {
    { "to", 0, 0, G_OPTION_ARG_STRING, &to, N_ ("html or csv"), "FORMAT" },
    FLAM_GATE_ENTRIES (gates),
    { NULL },
  };

  if (!flam_cli_parse (&argc,
                       &argv,
                       &flam_verb_history,
                       options,
                       own,
                       FLAM_CLI_ANY_FILES,
                       &files))
    return FLAM_EXIT_USAGE;
  if (to != NULL && strcmp (to, "csv") != 0 && strcmp (to, "html") != 0)
    return flam_cli_usage (_ ("history: --to is html or csv"));
  if (!flam_gates_parse (&gates, "history"))
    return FLAM_EXIT_USAGE;
  for (guint i = 0; files[i] != NULL; i++)
    add_paths (paths, files[i]);
  if (paths->len == 0)
    {
      flam_cli_error (_ ("%s: no capture is in this folder"), files[0]);
      return FLAM_EXIT_REFUSED;
    }
  for (guint i = 0; i < paths->len; i++)
    {
      FlamExit status;
      Entry *entry = load_entry (paths->pdata[i], options, &status);

      if (entry == NULL)
        return status;
      g_ptr_array_add (entries, entry);
    }
  g_ptr_array_sort (entries, compare_entries);
  for (guint i = 1; i < entries->len; i++)
    {
      const Entry *before = entries->pdata[i - 1];
      const Entry *entry = entries->pdata[i];

      if (!flam_cli_comparable (
              before->path, before->tree, entry->path, entry->tree))
        return FLAM_EXIT_REFUSED;
    }
  if (!check_gates (&gates, entries))
    return FLAM_EXIT_REFUSED;
  if (g_strcmp0 (to, "html") == 0 && print_page (entries) != FLAM_EXIT_DONE)
    return FLAM_EXIT_REFUSED;
  if (g_strcmp0 (to, "html") == 0)
    return flam_gates_status (&gates);
  if (options->json)
    print_json (entries);
  else if (to != NULL)
    print_csv (entries);
  else
    print_text (entries);
  return flam_gates_status (&gates);
}

const FlamVerb flam_verb_history = {
  "history", "FILE|DIR…", N_ ("how captures changed over time"), run, TRUE
};
