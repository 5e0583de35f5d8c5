/* SPDX-License-Identifier: GPL-3.0-or-later */

/* One harness for every importer: drop files into captures/<importer id>/.
 *
 *    captures/folded/nest.folded            the fixture
 *    captures/folded/nest.folded.expected   its profile, as flam_dump_profile()
 *    captures/folded/empty.folded.error     a malformed one: its message
 *    captures/gecko/prog@70.firefox.json    the same profile as prog@57, as
 *                                           another version has it
 *    captures/x/make.py                     what made them: no fixture
 *
 * FLAM_UPDATE_GOLDEN=1 writes the .expected and .error files. Each fixture is
 * also recognized under the name "unknown", has the properties of any profile,
 * and is exported with every exporter that has an importer and imported again.
 * It is truncated everywhere and damaged at random, and must then give a
 * profile or an error. */

#include "exporting.h"
#include "flam-core-picture.h"

#include <glib/gstdio.h>
#include <json-glib/json-glib.h>
#include <string.h>

/* Fewer under ASan, where fuzz-formats damages the same files. */
#define MAX_PREFIXES (g_test_slow () ? 2000 : 400)
#define MAX_FLIPS (g_test_slow () ? 300 : 60)
/* Size limit for truncating and damaging; larger fixtures are only loaded. */
#define MAX_DAMAGED (256 << 10)

typedef struct
{
  char *importer; /* the folder's name */
  char *path;
  gboolean smallest;
} Fixture;

static void
fixture_free (gpointer data)
{
  Fixture *fixture = data;

  g_free (fixture->importer);
  g_free (fixture->path);
  g_free (fixture);
}

/* --- goldens ------------------------------------------------------------- */

static gboolean
updating (void)
{
  return g_strcmp0 (g_getenv ("FLAM_UPDATE_GOLDEN"), "1") == 0;
}

static void
show_difference (const char *golden, const char *text)
{
  g_autofree char *ours = NULL;
  g_autofree char *out = NULL;
  g_autoptr (GError) error = NULL;
  int fd = g_file_open_tmp ("flambeau-golden-XXXXXX", &ours, &error);

  g_assert_no_error (error);
  g_close (fd, NULL);
  g_file_set_contents (ours, text, -1, NULL);
  const char *argv[] = { "diff", "-u", golden, ours, NULL };
  g_spawn_sync (NULL,
                (char **)argv,
                NULL,
                G_SPAWN_SEARCH_PATH,
                NULL,
                NULL,
                &out,
                NULL,
                NULL,
                NULL);
  g_unlink (ours);
  g_test_message ("%.4000s", out != NULL ? out : "(no diff program)");
}

static void
check_golden (const char *path,
              const char *suffix,
              const char *other_suffix,
              const char *text)
{
  g_autofree char *golden = g_strconcat (path, suffix, NULL);
  g_autofree char *other = g_strconcat (path, other_suffix, NULL);
  g_autofree char *expected = NULL;
  g_autoptr (GError) error = NULL;

  if (updating ())
    {
      g_unlink (other);
      g_file_set_contents (golden, text, -1, &error);
      g_assert_no_error (error);
      return;
    }
  g_file_get_contents (golden, &expected, NULL, &error);
  g_assert_no_error (error);
  if (strcmp (expected, text) != 0)
    {
      show_difference (golden, text);
      g_test_fail_printf ("%s differs", golden);
    }
}

static void
check_error (const Fixture *fixture, const GError *error)
{
  g_autofree char *folder = g_path_get_dirname (fixture->path);
  g_autofree char *prefix = g_strconcat (folder, "/", NULL);
  g_autofree char *message = g_strconcat (error->message, "\n", NULL);
  char *name = strstr (message, prefix);

  g_assert_true (error->domain == FLAM_ERROR);
  g_assert_true (name == message);
  check_golden (fixture->path, ".error", ".expected", name + strlen (prefix));
}

/* --- properties ---------------------------------------------------------- */

static FlamTree *
make_tree (FlamProfile *profile, guint measure, FlamSelection *selection)
{
  g_autoptr (FlamWeights) weights = NULL;

  selection->measure = measure;
  weights = flam_weights_new (profile, selection, NULL, NULL);
  return flam_tree_new (weights, selection, FLAM_ORDER_NAME, NULL, NULL);
}

static void
check_tree (const FlamTree *tree)
{
  g_autofree FlamFunctionRow *rows = NULL;
  gint64 self = 0;
  guint n;

  for (guint32 i = 0; i < tree->n; i++)
    {
      g_assert_cmpint (tree->self[i], >=, 0);
      g_assert_cmpint (tree->self[i], <=, tree->total[i]);
      if (i > 0)
        g_assert_cmpint (tree->total[i], <=, tree->total[tree->parent[i]]);
      self += tree->self[i];
    }
  g_assert_cmpint (self, ==, tree->total[0]);
  rows = flam_functions_new (tree, FLAM_SORT_SELF, &n);
  self = tree->self[0];
  for (guint i = 0; i < n; i++)
    {
      g_assert_cmpint (rows[i].total, <=, tree->total[0]);
      g_assert_cmpint (rows[i].self, <=, rows[i].total);
      self += rows[i].self;
    }
  g_assert_cmpint (self, ==, tree->total[0]);
}

static void
check_properties (FlamProfile *profile)
{
  gboolean empty = TRUE;

  g_assert_cmpuint (profile->n_measures, >, 0);
  for (guint i = 0; i < profile->n_measures; i++)
    {
      g_autoptr (FlamSelection) selection = flam_selection_new ();
      g_autoptr (FlamTree) tree = make_tree (profile, i, selection);
      check_tree (tree);
      empty = empty && tree->total[0] == 0;
    }
  /* An empty picture gives a reason. */
  g_assert_true (!empty || profile->facts.warnings[0] != NULL);
}

/* --- round trip ---------------------------------------------------------- */

static char *
folded (FlamProfile *profile)
{
  g_autoptr (FlamSelection) selection = flam_selection_new ();

  return export_text (flam_exporter_find ("folded"), profile, selection);
}

static gboolean
is_of_events (const FlamExporter *exporter)
{
  return strcmp (exporter->id, "chrome-trace") == 0 ||
         strcmp (exporter->id, "perfetto") == 0;
}

static gboolean
is_of_time (const FlamExporter *exporter)
{
  return strcmp (exporter->id, "cpuprofile") == 0 || is_of_events (exporter);
}

/* Measures of samples, as many as fit. */
static gboolean
is_of_counts (const FlamExporter *exporter)
{
  return strcmp (exporter->id, "jlprof") == 0;
}

/* callgrind has no stacks, V8 whole µs, pprof and OTLP whole numbers, and a
 * picture only readable figures. */
static gboolean
holds_all (const FlamExporter *exporter, const FlamProfile *profile)
{
  static const char *const lossy[] = { "callgrind", "cpuprofile", "svg", NULL };

  if (strcmp (exporter->id, "pprof") == 0 || strcmp (exporter->id, "otlp") == 0)
    return profile->measures[0].denominator == 1;
  return !g_strv_contains (lossy, exporter->id);
}

/* Exactly the measures that it has. */
static void
check_measures (const FlamProfile *profile, const FlamProfile *again)
{
  g_assert_cmpuint (profile->n_measures, ==, again->n_measures);
  for (guint i = 0; i < profile->n_measures; i++)
    g_assert_cmpstr (flam_profile_string (profile, profile->measures[i].id),
                     ==,
                     flam_profile_string (again, again->measures[i].id));
}

static void
check_exporter (FlamProfile *profile, const FlamExporter *exporter)
{
  const FlamImporter *importer = flam_importer_find (exporter->id);
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (GBytes) out = NULL;
  g_autoptr (FlamSource) source = NULL;
  g_autoptr (FlamProfile) again = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *first = NULL;
  g_autofree char *second = NULL;

  out = export_bytes (exporter, profile, selection, &error);
  if (out == NULL && (is_of_time (exporter) || is_of_counts (exporter)))
    {
      g_assert_error (error, FLAM_ERROR, FLAM_ERROR_UNSUPPORTED);
      if (is_of_time (exporter))
        g_assert_cmpint (profile->measures[0].unit, !=, FLAM_UNIT_NS);
      return;
    }
  g_assert_no_error (error);
  g_assert_cmpuint (g_bytes_get_size (out), >, 0);
  if (strcmp (exporter->mime_type, "application/json") == 0)
    {
      g_autoptr (JsonParser) parser = json_parser_new ();
      json_parser_load_from_data (parser,
                                  g_bytes_get_data (out, NULL),
                                  (gssize)g_bytes_get_size (out),
                                  &error);
      g_assert_no_error (error);
    }
  if (importer == NULL)
    return;
  source = export_source (out);
  g_assert_true (flam_formats_probe (source) == importer);
  again = flam_formats_load_source (source, NULL, &error);
  g_assert_no_error (error);
  if (strcmp (exporter->id, "flambeau") == 0 ||
      strcmp (exporter->id, "sqlite") == 0)
    check_measures (profile, again);
  if (strcmp (exporter->id, "speedscope") == 0)
    export_check_totals (profile, again);
  first = folded (profile);
  second = folded (again);
  /* An event has a name, while a sample may have no stack. */
  if (holds_all (exporter, profile) &&
      !((is_of_events (exporter) || is_of_counts (exporter)) &&
        first[0] == ' '))
    g_assert_cmpstr (first, ==, second);
}

/* Under ASan, every third exporter: each with a third of the profiles. */
static void
check_exporters (FlamProfile *profile)
{
  g_autofree char *text = folded (profile);

  if (*text == '\0')
    return;
  for (guint i = 0; flam_exporters[i] != NULL; i++)
    if (g_test_slow () || (i + profile->stacks.n) % 3 == 0)
      check_exporter (profile, flam_exporters[i]);
}

/* --- the folders --------------------------------------------------------- */

static gboolean
is_fixture (const char *name)
{
  return !g_str_has_suffix (name, ".expected") &&
         !g_str_has_suffix (name, ".error") && !g_str_has_suffix (name, ".c") &&
         !g_str_has_suffix (name, ".md") && !g_str_has_suffix (name, ".py") &&
         name[0] != '.';
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *)a, *(const char *const *)b);
}

static GPtrArray *
list_folder (const char *path)
{
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    if (is_fixture (name))
      g_ptr_array_add (names, g_strdup (name));
  g_ptr_array_sort (names, compare_names);
  return names;
}

/* --- one fixture --------------------------------------------------------- */

static void
check_unknown_name (const Fixture *fixture, const FlamSource *source)
{
  g_autoptr (FlamSource) unnamed =
      flam_source_new_from_data ("unknown", source->data, source->size);
  const FlamImporter *importer = flam_formats_probe (unnamed);

  g_assert_nonnull (importer);
  g_assert_cmpstr (importer->id, ==, fixture->importer);
}

/* --- what may be before a text, and how its lines end --------------------- */

static gboolean
is_text (const FlamSource *source)
{
  for (gsize i = 0; i < source->size; i++)
    if (source->data[i] == 0x7f ||
        (source->data[i] < ' ' && !g_ascii_isspace (source->data[i])))
      return FALSE;
  return source->before == 0;
}

static FlamSource *
open_copy (const Fixture *fixture,
           const FlamSource *source,
           const GString *text)
{
  g_autoptr (GError) error = NULL;
  FlamSpool spool;
  FlamSource *copy;

  flam_spool_init (&spool, &error);
  flam_spool_append (&spool, text->str, text->len, &error);
  flam_spool_seal (&spool, &error);
  g_assert_no_error (error);
  copy = flam_source_new_from_spool (
      fixture->path, source->name, &spool, NULL, &error);
  g_assert_no_error (error);
  flam_spool_clear (&spool);
  return copy;
}

/* Without the warnings, which have places in the file. */
static char *
dump_without_warnings (const FlamProfile *profile)
{
  g_autofree char *dump = flam_dump_profile (profile);
  g_auto (GStrv) lines = g_strsplit (dump, "\n", -1);
  GString *rest = g_string_new (NULL);

  for (guint i = 0; lines[i] != NULL; i++)
    if (!g_str_has_prefix (lines[i], "warning "))
      g_string_append_printf (rest, "%s\n", lines[i]);
  return g_string_free (rest, FALSE);
}

static void
check_copy (const Fixture *fixture,
            const FlamSource *source,
            const GString *text,
            const char *wanted)
{
  g_autoptr (FlamSource) copy = open_copy (fixture, source, text);
  g_autoptr (GError) error = NULL;
  g_autoptr (FlamProfile) profile =
      flam_formats_load_source (copy, NULL, &error);
  g_autofree char *dump = NULL;

  g_assert_no_error (error);
  dump = dump_without_warnings (profile);
  g_assert_cmpstr (dump, ==, wanted);
}

/* A text is the same after a byte order mark and empty lines, and with the line
 * ends of another system. */
static void
check_text (const Fixture *fixture,
            const FlamSource *source,
            const FlamProfile *profile)
{
  g_autofree char *wanted = NULL;
  g_autoptr (GString) text = NULL;

  /* What leads to other files has none beside its copy. */
  if (!is_text (source) || flam_source_is_unpacked (source) ||
      g_file_test (fixture->path, G_FILE_TEST_IS_DIR))
    return;
  wanted = dump_without_warnings (profile);
  text = g_string_new ("\xef\xbb\xbf\r\n \t\n\n");
  g_string_append_len (text, (const char *)source->data, source->size);
  check_copy (fixture, source, text, wanted);
  g_string_truncate (text, 0);
  g_string_append_len (text, (const char *)source->data, source->size);
  g_string_replace (text, "\r\n", "\n", 0);
  g_string_replace (text, "\n", "\r\n", 0);
  check_copy (fixture, source, text, wanted);
}

/* The window shows "This file is incomplete: WARNING". */
static void
check_reason (const FlamFacts *facts)
{
  g_assert_true (facts->complete || facts->warnings[0] != NULL);
  for (guint i = 0; !facts->complete && facts->warnings[i] != NULL; i++)
    g_assert_null (strstr (facts->warnings[i], "incomplete"));
}

static void
test_golden (gconstpointer data)
{
  const Fixture *fixture = data;
  g_autofree char *file = NULL;
  g_autoptr (FlamSource) source = NULL;
  g_autoptr (FlamProfile) profile = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *dump = NULL;

  file = flam_formats_find_file (fixture->path);
  source = flam_source_open (file, NULL, &error);
  if (source != NULL)
    profile = flam_formats_load_source (source, NULL, &error);
  if (profile == NULL)
    {
      check_error (fixture, error);
      return;
    }
  g_assert_no_error (error);
  g_assert_cmpstr (profile->facts.format, ==, fixture->importer);
  check_unknown_name (fixture, source);
  check_text (fixture, source, profile);
  dump = flam_dump_profile (profile);
  check_golden (fixture->path, ".expected", ".error", dump);
  check_reason (&profile->facts);
  check_properties (profile);
  check_exporters (profile);
}

static char *
dump_file (const char *folder, const char *name)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (FlamProfile) profile = flam_formats_load (path, NULL, &error);

  g_assert_no_error (error);
  return flam_dump_profile (profile);
}

/* The files with the same name before an "@" contain the same profile. */
static void
test_versions (gconstpointer data)
{
  const Fixture *fixture = data;
  g_autofree char *folder = g_path_get_dirname (fixture->path);
  g_autofree char *base = g_path_get_basename (fixture->path);
  g_autoptr (GPtrArray) names = list_folder (folder);
  g_autofree char *dump = dump_file (folder, base);
  gsize length = strchr (base, '@') + 1 - base;
  guint others = 0;

  for (guint i = 0; i < names->len; i++)
    if (strncmp (names->pdata[i], base, length) == 0)
      {
        g_autofree char *other = dump_file (folder, names->pdata[i]);
        g_assert_cmpstr (dump, ==, other);
        others++;
      }
  g_assert_cmpuint (others, >, 1);
}

/* A profile or an error, and no crash; the properties hold. */
static void
try_bytes (const FlamImporter *importer, const guint8 *bytes, gsize size)
{
  g_autoptr (FlamSource) source =
      flam_source_new_from_data ("damaged", bytes, size);
  g_autoptr (GError) error = NULL;
  g_autoptr (FlamProfile) profile = NULL;

  flam_formats_probe (source);
  profile = flam_formats_load_with (importer, source, NULL, &error);
  g_assert_true ((profile != NULL) == (error == NULL));
  if (profile != NULL)
    check_properties (profile);
  else
    g_assert_true (error->domain == FLAM_ERROR);
}

static void
test_damaged (gconstpointer data)
{
  const Fixture *fixture = data;
  const FlamImporter *importer = flam_importer_find (fixture->importer);
  g_autoptr (FlamSource) source = flam_source_open (fixture->path, NULL, NULL);
  g_autofree guint8 *copy = NULL;

  g_assert_nonnull (importer);
  if (source == NULL || source->size == 0 || source->size > MAX_DAMAGED)
    return;
  if (fixture->smallest)
    {
      gsize step = 1 + source->size / (gsize)MAX_PREFIXES;
      for (gsize size = 0; size < source->size; size += step)
        try_bytes (importer, source->data, size);
    }
  copy = g_memdup2 (source->data, source->size);
  for (int i = 0; i < MAX_FLIPS; i++)
    {
      gsize at = g_test_rand_int_range (0, source->size);
      guint8 old = copy[at];
      copy[at] = g_test_rand_int_range (0, 256);
      try_bytes (importer, copy, source->size);
      copy[at] = old;
    }
}

/* --- the tests ----------------------------------------------------------- */

static goffset
file_size (const char *folder, const char *name)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  GStatBuf info;

  return g_stat (path, &info) == 0 ? info.st_size : G_MAXINT64;
}

static gboolean
is_malformed (const char *folder, const char *name)
{
  g_autofree char *path = g_strdup_printf ("%s/%s.error", folder, name);

  return g_file_test (path, G_FILE_TEST_EXISTS);
}

static const char *
find_smallest (const char *folder, const GPtrArray *names)
{
  const char *best = NULL;

  for (guint i = 0; i < names->len; i++)
    {
      const char *name = names->pdata[i];
      if (!is_malformed (folder, name) &&
          (best == NULL || file_size (folder, name) < file_size (folder, best)))
        best = name;
    }
  return best;
}

static void
add_test (const char *importer,
          const char *folder,
          const char *name,
          gboolean smallest,
          const char *what,
          GTestDataFunc function)
{
  Fixture *fixture = g_new0 (Fixture, 1);
  g_autofree char *test =
      g_strdup_printf ("/formats/%s/%s/%s", importer, name, what);

  fixture->importer = g_strdup (importer);
  fixture->path = g_build_filename (folder, name, NULL);
  fixture->smallest = smallest;
  g_test_add_data_func_full (test, fixture, function, fixture_free);
}

static void
add_folder (const char *captures, const char *importer)
{
  g_autofree char *folder = g_build_filename (captures, importer, NULL);
  g_autoptr (GPtrArray) names = list_folder (folder);
  const char *smallest = find_smallest (folder, names);

  for (guint i = 0; i < names->len; i++)
    {
      const char *name = names->pdata[i];
      gboolean is_smallest = g_strcmp0 (name, smallest) == 0;
      add_test (importer, folder, name, is_smallest, "golden", test_golden);
      add_test (importer, folder, name, is_smallest, "damaged", test_damaged);
      if (strchr (name, '@') != NULL)
        add_test (
            importer, folder, name, is_smallest, "versions", test_versions);
    }
}

/* Every importer has fixtures. */
static void
test_all_have_fixtures (gconstpointer captures)
{
  for (guint i = 0; flam_importers[i] != NULL; i++)
    {
      g_autofree char *folder =
          g_build_filename (captures, flam_importers[i]->id, NULL);
      g_autoptr (GPtrArray) names = list_folder (folder);
      if (names->len == 0)
        g_test_fail_printf ("%s has no fixtures", folder);
    }
}

/* Text in no known format, though its lines resemble one. */
static void
test_foreign (void)
{
  static const char *const texts[] = {
    "Total allocations:\n\t532\n\nTotal memory:\n\t24.715MB\n",
    "CPU     ID                    FUNCTION:NAME\n  0  64091     :tick-60s\n",
    "a name\n\t12 apples\n\tadd some\n",
    "10 20\n",
  };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autoptr (FlamSource) source =
          flam_source_new_from_data ("unknown", texts[i], strlen (texts[i]));
      const FlamImporter *importer = flam_formats_probe (source);

      if (importer != NULL && strcmp (importer->id, "folded") != 0)
        g_test_fail_printf ("text %u is %s", i, importer->id);
    }
}

/* Text whose lines merely end in numbers is not a capture. */
static void
test_numbers (void)
{
  static const char *const texts[] = {
    "# HELP http_requests_total The total number of HTTP requests.\n"
    "# TYPE http_requests_total counter\n"
    "http_requests_total{method=\"post\",code=\"200\"} 1027\n"
    "process_cpu_seconds_total 12.5\n",
    "http_requests_total{method=\"post\",code=\"200\"} 1027\n"
    "http_requests_total{method=\"post\",code=\"a;b\"} 3\n",
    "The first meeting was in 1912\nThe second one was in 1915\n"
    "He came to her; she left him in 1920\n",
    "Chapter one 1\nChapter two 15\nChapter three 31\n",
    "name;price\nApples and pears; a kilogram 12\nPlums; a kilogram 9\n",
    "all good things\nmust end; so it was in the year 1999\nof our lord\n",
  };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autoptr (FlamSource) source =
          flam_source_new_from_data ("unknown", texts[i], strlen (texts[i]));
      const FlamImporter *importer = flam_formats_probe (source);

      if (importer != NULL)
        g_test_fail_printf ("text %u is %s", i, importer->id);
    }
}

int
main (int argc, char **argv)
{
  g_autofree char *captures = NULL;
  g_autoptr (GPtrArray) folders = NULL;

  g_test_init (&argc, &argv, NULL);
  captures = g_test_build_filename (G_TEST_DIST, "captures", NULL);
  folders = list_folder (captures);
  for (guint i = 0; i < folders->len; i++)
    if (flam_importer_find (folders->pdata[i]) != NULL)
      add_folder (captures, folders->pdata[i]);
  g_test_add_data_func (
      "/formats/all-have-fixtures", captures, test_all_have_fixtures);
  g_test_add_func ("/formats/foreign", test_foreign);
  g_test_add_func ("/formats/numbers", test_numbers);
  return g_test_run ();
}
