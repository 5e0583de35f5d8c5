/* SPDX-License-Identifier: GPL-3.0-or-later */

/* perf script text, compared with the output of FlameGraph's stackcollapse-
 * perf.pl for the same files: its kept results beside the captures, and the
 * script itself if $FLAMEGRAPH or PATH has it. Its changes of names are
 * imitated here; ours keep them whole. Two differences remain: a thread that
 * changes its name has its last one here, so names of threads are not compared;
 * and the script loses the last sample of a file that does not end in an empty
 * line, so that sample is cut off first. */

#include "flam-formats.h"

#include <glib/gstdio.h>
#include <string.h>

#include "peer-captures.h"

/* --- the script's names -------------------------------------------------- */

static gboolean
looks_like_go (const char *name)
{
  const char *open = strstr (name, ".(");
  const char *close = open != NULL ? g_strrstr (open, ").") : NULL;

  return close != NULL;
}

static void
cut_parameters (char *name)
{
  static const char anonymous[] = "(anonymous namespace)";

  for (char *p = strchr (name, '('); p != NULL; p = strchr (p + 1, '('))
    if (!g_str_has_prefix (p, anonymous))
      {
        *p = '\0';
        return;
      }
}

static char *
tidy (const char *name, const char *comm)
{
  g_autofree char *copy = g_strdup (name);
  GString *out = g_string_new (NULL);

  g_strdelimit (copy, ";", ':');
  if (!looks_like_go (copy))
    cut_parameters (copy);
  for (const char *p = copy; *p != '\0'; p++)
    if (*p != '"' && *p != '\'')
      g_string_append_c (out, *p);
  if (g_str_has_prefix (comm, "java") && strchr (out->str, '/') != NULL &&
      out->str[0] == 'L')
    g_string_erase (out, 0, 1);
  return g_string_free (out, FALSE);
}

static gboolean
is_kernel (const FlamProfile *profile, FlamFunctionId function)
{
  FlamModuleId module = profile->functions.module[function];
  const char *path;

  if (profile->functions.kind[function] == FLAM_KIND_KERNEL)
    return TRUE;
  if (module == FLAM_NONE)
    return FALSE;
  path = flam_profile_string (profile, profile->modules.path[module]);
  return path[0] == '[';
}

static void
append_function (GString *line,
                 const FlamProfile *profile,
                 FlamFrameId frame,
                 const char *comm,
                 gboolean inlined)
{
  FlamFunctionId function = profile->frames.function[frame];
  FlamModuleId module = profile->functions.module[function];
  /* The script leaves mangled names unchanged. */
  const char *name =
      flam_profile_string (profile, profile->functions.system_name[function]);
  g_autofree char *whole = NULL;
  g_auto (GStrv) parts = NULL;

  if (name[0] == '(')
    return;
  if (profile->functions.kind[function] == FLAM_KIND_UNRESOLVED &&
      module != FLAM_NONE)
    {
      g_autofree char *base = g_path_get_basename (
          flam_profile_string (profile, profile->modules.path[module]));
      whole = g_strdup_printf ("[%s]", base);
    }
  else
    whole = g_strdup (name);
  parts = g_strsplit (whole, "->", -1);
  for (guint i = 0; parts[i] != NULL; i++)
    {
      g_autofree char *part = tidy (parts[i], comm);
      if (part[0] == '\0')
        continue;
      g_string_append_printf (line, ";%s", part);
      if (i > 0 || inlined)
        g_string_append (line, "_[i]");
      else if (is_kernel (profile, function))
        g_string_append (line, "_[k]");
      else if (profile->functions.kind[function] == FLAM_KIND_JIT)
        g_string_append (line, "_[j]");
    }
}

static void
append_stack (GString *line,
              const FlamProfile *profile,
              FlamStackId stack,
              const char *comm)
{
  g_autoptr (GArray) frames = g_array_new (FALSE, FALSE, sizeof (FlamId));

  for (; stack != FLAM_NONE; stack = profile->stacks.prefix[stack])
    g_array_append_val (frames, profile->stacks.frame[stack]);
  for (guint i = frames->len; i-- > 0;)
    {
      FlamFrameId frame = g_array_index (frames, FlamId, i);
      FlamFunctionId function = profile->frames.function[frame];
      gboolean unfolded = profile->functions.kind[function] == FLAM_KIND_JIT &&
                          profile->frames.inline_depth[frame] > 0;
      append_function (line, profile, frame, comm, unfolded);
    }
}

static void
add_weight (GHashTable *table, const char *line, gint64 weight)
{
  gint64 *sum = g_hash_table_lookup (table, line);

  if (sum == NULL)
    {
      sum = g_new0 (gint64, 1);
      g_hash_table_insert (table, g_strdup (line), sum);
    }
  *sum += weight;
}

static GHashTable *
new_table (void)
{
  return g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
}

/* Only the first event, which is the script's default. */
static GHashTable *
collapse (const FlamProfile *profile)
{
  GHashTable *table = new_table ();
  const FlamMeasure *measure = &profile->measures[0];

  for (FlamThreadId thread = 0; thread < profile->threads.n; thread++)
    {
      g_autofree char *comm = g_strdup (
          flam_profile_string (profile, profile->threads.name[thread]));
      guint32 first = profile->threads.first_sample[thread];
      g_strdelimit (comm, " ", '_');
      for (guint32 i = 0; i < profile->threads.n_samples[thread]; i++)
        {
          g_autoptr (GString) line = g_string_new (NULL);
          if (profile->samples.event != NULL &&
              profile->samples.event[first + i] != 0)
            continue;
          append_stack (line, profile, profile->samples.stack[first + i], comm);
          add_weight (table, line->str, measure->weight[first + i]);
        }
    }
  return table;
}

/* --- the comparison ------------------------------------------------------ */

static GHashTable *
parse (const char *text)
{
  GHashTable *table = new_table ();
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);

  for (guint i = 0; lines[i] != NULL; i++)
    {
      char *space = strrchr (lines[i], ' ');
      if (space == NULL)
        continue;
      *space = '\0';
      add_weight (table,
                  strchrnul (lines[i], ';'),
                  g_ascii_strtoll (space + 1, NULL, 10));
    }
  return table;
}

static guint
report (GHashTable *a, GHashTable *b, const char *whose)
{
  GHashTableIter iter;
  gpointer key, value;
  guint n = 0;

  g_hash_table_iter_init (&iter, a);
  while (g_hash_table_iter_next (&iter, &key, &value))
    {
      gint64 *other = g_hash_table_lookup (b, key);
      if (other != NULL && *other == *(gint64 *)value)
        continue;
      if (n++ < 5)
        g_test_message ("%s alone: %s %" G_GINT64_FORMAT,
                        whose,
                        (char *)key,
                        *(gint64 *)value);
    }
  return n;
}

static FlamSource *
open_whole (const char *path)
{
  static const char empty_line[] = "\n\n";
  g_autoptr (GError) error = NULL;
  g_autoptr (FlamSource) source = flam_source_open (path, NULL, &error);
  gsize size;

  g_assert_no_error (error);
  for (size = source->size; size > 2; size--)
    if (memcmp (source->data + size - 2, empty_line, 2) == 0)
      break;
  return flam_source_new_from_data (path, source->data, size);
}

static void
compare (const char *path, const char *expected)
{
  g_autoptr (FlamSource) source = open_whole (path);
  g_autoptr (GError) error = NULL;
  g_autoptr (FlamProfile) profile =
      flam_formats_load_source (source, NULL, &error);
  g_autoptr (GHashTable) ours = NULL;
  g_autoptr (GHashTable) theirs = parse (expected);

  g_assert_no_error (error);
  g_assert_cmpstr (profile->facts.format, ==, "perf-script");
  ours = collapse (profile);
  g_assert_cmpuint (g_hash_table_size (theirs), >, 0);
  if (report (ours, theirs, "ours") + report (theirs, ours, "theirs") > 0)
    g_test_fail_printf ("%s differs", path);
}

typedef struct
{
  const char *script;
  const char *kept;
} Pair;

static const Pair pairs[] = {
#define FLAMEGRAPH(name)                                                       \
  {                                                                            \
    "public/flamegraph/" name ".txt",                                          \
        "public/flamegraph/results/" name "-collapsed-all.txt"                 \
  }
  FLAMEGRAPH ("perf-cycles-instructions-01"),
  FLAMEGRAPH ("perf-dd-stacks-01"),
  FLAMEGRAPH ("perf-funcab-cmd-01"),
  FLAMEGRAPH ("perf-funcab-pid-01"),
  FLAMEGRAPH ("perf-iperf-stacks-pidtid-01"),
  FLAMEGRAPH ("perf-java-faults-01"),
  { "perf/nest-fp.script.txt", "folded/nest-fp.folded" },
  { "perf/nest-dwarf.script.txt", "folded/nest-dwarf.folded" },
  { "perf/threads-dwarf.script.txt", "folded/threads-dwarf.folded" },
  { "perf/threads-fp.script.txt", "folded/threads-fp.folded" },
  { "perf/twoevents.script.txt", "folded/twoevents.folded" },
  { "perf/tmpl-dwarf16.script.txt", NULL },
  { "perf/nest-dwarf.noinline.script.txt", NULL },
  { "perf/threads-dwarf.noinline.script.txt", NULL },
  { "public/firefox/gzip.perf.gz", NULL },
  { "public/firefox/test.perf.gz", NULL },
  { "public/firefox/graphviz.perf.gz", NULL },
};

static void
test_kept (gconstpointer data)
{
  const Pair *pair = data;
  g_autofree char *script = peer_capture_path (pair->script);
  g_autofree char *kept = peer_capture_path (pair->kept);
  g_autofree char *expected = NULL;
  g_autoptr (GError) error = NULL;

  g_file_get_contents (kept, &expected, NULL, &error);
  g_assert_no_error (error);
  compare (script, expected);
}

static char *
find_script (void)
{
  const char *folder = g_getenv ("FLAMEGRAPH");

  if (folder != NULL)
    return g_build_filename (folder, "stackcollapse-perf.pl", NULL);
  return g_find_program_in_path ("stackcollapse-perf.pl");
}

static char *
run_script (const char *script, const char *path, GError **error)
{
  g_autoptr (FlamSource) source = open_whole (path);
  g_autofree char *plain = NULL;
  const char *argv[] = { "perl", script, "--all", NULL, NULL };
  char *out = NULL;

  g_close (g_file_open_tmp ("flambeau-script-XXXXXX", &plain, NULL), NULL);
  if (!g_file_set_contents (
          plain, (const char *)source->data, source->size, error))
    return NULL;
  argv[3] = plain;
  g_spawn_sync (NULL,
                (char **)argv,
                NULL,
                G_SPAWN_SEARCH_PATH | G_SPAWN_STDERR_TO_DEV_NULL,
                NULL,
                NULL,
                &out,
                NULL,
                NULL,
                error);
  g_unlink (plain);
  return out;
}

static void
test_script (gconstpointer data)
{
  const Pair *pair = data;
  g_autofree char *path = peer_capture_path (pair->script);
  g_autofree char *script = find_script ();
  g_autofree char *expected = NULL;
  g_autoptr (GError) error = NULL;

  expected = run_script (script, path, &error);
  g_assert_no_error (error);
  compare (path, expected);
}

int
main (int argc, char **argv)
{
  g_autofree char *script = find_script ();

  g_test_init (&argc, &argv, NULL);
  if (script == NULL)
    g_test_message ("no stackcollapse-perf.pl in $FLAMEGRAPH or $PATH: against "
                    "what it said once alone");
  for (guint i = 0; i < G_N_ELEMENTS (pairs); i++)
    {
      if (peer_capture_is_absent (pairs[i].script))
        continue;
      g_autofree char *kept =
          g_strdup_printf ("/collapse/kept/%s", pairs[i].script);
      g_autofree char *now =
          g_strdup_printf ("/collapse/script/%s", pairs[i].script);
      if (pairs[i].kept != NULL)
        g_test_add_data_func (kept, &pairs[i], test_kept);
      if (script != NULL)
        g_test_add_data_func (now, &pairs[i], test_script);
    }
  return g_test_run ();
}
