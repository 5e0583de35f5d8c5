/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Captures for sharing: they contain nothing private, and nothing else has
 * changed. */

#include "exporting.h"
#include "flam-capture-reader.h"
#include "flam-capture-writer.h"
#include "flam-core-query.h"
#include "flam-export-common.h"
#include "flam-path-access.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

/* A word that occurs nowhere else, in all private texts. */
#define MARKER "quixotry"

/* --- the same tree -------------------------------------------------------- */

static int
compare_hashes (gconstpointer a, gconstpointer b)
{
  guint64 x = *(const guint64 *)a, y = *(const guint64 *)b;

  return (x > y) - (x < y);
}

static guint64
mix (guint64 hash, guint64 value)
{
  hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
  return hash ^ (hash >> 29);
}

/* Of a tree without its names: siblings in any order. */
static guint64
shape_of (const FlamTree *tree)
{
  g_autofree guint64 *hashes = g_new (guint64, tree->n);
  g_autoptr (GArray) below = g_array_new (FALSE, FALSE, sizeof (guint64));

  for (guint32 i = tree->n; i-- > 0;)
    {
      guint64 hash =
          mix (mix (1, (guint64)tree->total[i]), (guint64)tree->self[i]);

      g_array_set_size (below, 0);
      for (FlamId c = i + 1; c < tree->subtree_end[i]; c = tree->subtree_end[c])
        g_array_append_val (below, hashes[c]);
      g_array_sort (below, compare_hashes);
      for (guint c = 0; c < below->len; c++)
        hash = mix (hash, g_array_index (below, guint64, c));
      hashes[i] = hash;
    }
  return hashes[0];
}

static void
assert_same (const FlamProfile *a, const FlamProfile *b)
{
  g_assert_cmpuint (a->n_measures, ==, b->n_measures);
  g_assert_cmpuint (a->threads.n, ==, b->threads.n);
  g_assert_cmpuint (a->processes.n, ==, b->processes.n);
  g_assert_cmpuint (a->samples.n, ==, b->samples.n);
  g_assert_cmpuint (a->allocations.n, ==, b->allocations.n);
  g_assert_cmpuint (a->marks.n, ==, b->marks.n);
  for (guint i = 0; i < a->n_measures; i++)
    {
      g_autoptr (FlamSelection) selection = flam_selection_new ();
      g_autoptr (FlamTree) before = NULL;
      g_autoptr (FlamTree) after = NULL;

      selection->measure = i;
      g_assert_cmpint (flam_weights_total (a, selection),
                       ==,
                       flam_weights_total (b, selection));
      before = flam_export_tree (a, selection);
      after = flam_export_tree (b, selection);
      g_assert_cmpuint (before->n, ==, after->n);
      g_assert_cmpuint (shape_of (before), ==, shape_of (after));
    }
}

static FlamProfile *
share (const FlamProfile *profile, const FlamShare *how)
{
  const FlamExporter *exporter = flam_exporter_find ("flambeau");
  const FlamExportOptions options = { .share = *how };
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (GOutputStream) stream = g_memory_output_stream_new_resizable ();
  g_autoptr (FlamSink) sink = flam_sink_new (stream);
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (FlamSource) source = NULL;
  FlamProfile *shared;

  if (profile->n_measures > 0)
    selection->measure = flam_weights_default_measure (profile);
  flam_exporter_save (exporter, profile, selection, &options, sink, &error);
  g_assert_no_error (error);
  g_assert_true (flam_sink_finish (sink, NULL));
  g_output_stream_close (stream, NULL, NULL);
  bytes =
      g_memory_output_stream_steal_as_bytes (G_MEMORY_OUTPUT_STREAM (stream));
  source = export_source (bytes);
  shared = flam_formats_load_source (source, NULL, &error);
  g_assert_no_error (error);
  return shared;
}

static void
check_capture (const char *path, guint *n)
{
  g_autoptr (FlamProfile) profile = flam_formats_load (path, NULL, NULL);
  g_autoptr (FlamProfile) plain = NULL;

  if (profile == NULL)
    return;
  g_test_message ("%s", path);
  *n += 1;
  plain = share (profile, &(FlamShare){ FLAM_ANONYMIZE_NOTHING });
  for (guint i = FLAM_ANONYMIZE_PATHS; i < FLAM_N_ANONYMIZE; i++)
    {
      FlamRemains remains;
      g_autoptr (FlamProfile) shared =
          share (profile, &(FlamShare){ i, .remains = &remains });

      assert_same (plain, shared);
      g_assert_false (i == FLAM_ANONYMIZE_NAMES && remains.command);
      g_assert_false (i == FLAM_ANONYMIZE_NAMES &&
                      remains.clear[FLAM_ROLE_TASK] > 0);
      g_assert_false (remains.personal);
    }
}

static void
check_folder (const char *folder, guint *n)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);
      GStatBuf info;

      if (g_file_test (path, G_FILE_TEST_IS_DIR))
        check_folder (path, n);
      else if (g_stat (path, &info) == 0 && info.st_size < 300000 &&
               !g_str_has_suffix (name, ".expected"))
        check_capture (path, n);
    }
}

/* Whatever the format was: names are removed, the picture stays. */
static void
test_shape (void)
{
  guint n = 0;

  g_autofree char *folder =
      g_test_build_filename (G_TEST_DIST, "captures", NULL);

  check_folder (folder, &n);
  g_assert_cmpuint (n, >, 100);
}

/* --- every column --------------------------------------------------------- */

static gboolean
is_text (const FlamColumnInfo *info)
{
  return info->refers_to == FLAM_TABLE_STRINGS &&
         info->encoding == FLAM_ENCODE_ID;
}

static void
set (const FlamTables *tables,
     const FlamColumnInfo *info,
     guint32 row,
     gint64 value)
{
  gpointer *cells = flam_tables_array (tables, info);

  if (*cells != NULL)
    flam_cell_set (*cells, info, row, value);
}

/* A row of a table, in which each text is different and contains the marker. */
static void
add_row (FlamBuilder *builder, FlamTable table)
{
  FlamTables *tables = flam_builder_tables (builder);
  const FlamTableInfo *infos = &flam_table_infos[table];
  FlamId row = flam_tables_push (tables, table);

  for (guint c = 0; c < infos->n_columns; c++)
    {
      const FlamColumnInfo *info = &infos->columns[c];
      g_autofree char *text =
          g_strdup_printf ("/home/" MARKER "/%s %u", info->name, row);

      if (is_text (info))
        {
          /* Every column has a role. */
          g_assert_cmpint (info->role, !=, FLAM_ROLE_PRIVATE);
          set (tables, info, row, flam_builder_string (builder, text, -1));
        }
      else
        set (tables,
             info,
             row,
             info->encoding == FLAM_ENCODE_ID &&
                     !(info->flags & FLAM_COLUMN_REQUIRED)
                 ? FLAM_NONE
                 : 0);
    }
}

#define NEWER 99 /* the number of its table on disk */

/* Also columns of a newer version, as a file lists them. */
static void
add_newer (FlamBuilder *builder)
{
  FlamTables *tables = flam_builder_tables (builder);
  guint strings = flam_table_infos[FLAM_TABLE_STRINGS].number;
  guint marks = flam_table_infos[FLAM_TABLE_MARKS].number;
  const gint64 columns[][4] = {
    { NEWER, 0, FLAM_ENCODE_ID, strings },
    { marks, 200, FLAM_ENCODE_ID, strings },
  };

  for (guint i = 0; i < G_N_ELEMENTS (columns); i++)
    flam_tables_add (tables, FLAM_TABLE_COLUMNS, columns[i]);
  flam_tables_add_listed (tables, 0);
  /* The writer lists them again. */
  flam_tables_drop (tables, FLAM_TABLE_COLUMNS, G_N_ELEMENTS (columns));
  flam_tables_push (tables, flam_tables_of_number (tables, NEWER));
  for (guint i = 0; i < G_N_ELEMENTS (columns); i++)
    ((gint64 *)g_array_index (tables->extras, FlamExtra, i).data)[0] =
        flam_builder_string (builder, i == 0 ? MARKER "!" : MARKER "?", -1);
}

static FlamBuilder *
read_again (FlamBuilder *builder)
{
  g_autoptr (FlamCaptureWriter) writer = flam_capture_writer_new (-1, builder);
  FlamBuilder *read = flam_builder_new ();
  g_autoptr (FlamCaptureReader) reader = flam_capture_reader_new ("test", read);
  g_autoptr (GError) error = NULL;
  const guint8 *data;
  gsize size;

  g_assert_true (flam_capture_writer_end (writer, 5000, NULL));
  data = flam_capture_writer_data (writer, &size);
  flam_capture_reader_feed (reader, data, size, &error);
  g_assert_no_error (error);
  return read;
}

/* In all strings of the file, wherever they are used. */
static guint
count_strings (FlamBuilder *builder, const char *part)
{
  const FlamStrings *strings = &flam_builder_tables (builder)->strings;
  guint n = 0;

  for (FlamId i = 0; i < strings->offsets.n; i++)
    if (strstr (flam_strings_get (strings, i), part) != NULL)
      n++;
  return n;
}

static FlamBuilder *
new_marked (void)
{
  FlamBuilder *builder = flam_builder_new ();

  for (guint t = FLAM_TABLE_MODULES; t < FLAM_N_TABLES; t++)
    if (flam_table_infos[t].number != 0 && t != FLAM_TABLE_END &&
        t != FLAM_TABLE_COLUMNS)
      for (guint i = 0; i < 2; i++)
        add_row (builder, t);
  flam_builder_note_fact (
      builder, "command", "/home/" MARKER "/prog --token=" MARKER);
  flam_builder_note_fact (builder, "host", MARKER "-laptop");
  flam_builder_note_fact (builder, FLAM_FACT_MODE, "cpu");
  add_newer (builder);
  return builder;
}

static void
test_columns (void)
{
  g_autoptr (FlamBuilder) as_is = new_marked ();
  g_autoptr (FlamBuilder) read = read_again (as_is);

  g_assert_cmpuint (count_strings (read, MARKER), >, 30);
  for (guint i = FLAM_ANONYMIZE_PATHS; i < FLAM_N_ANONYMIZE; i++)
    {
      g_autoptr (FlamBuilder) builder = new_marked ();
      FlamRemains remains;

      flam_builder_anonymize (builder, i, NULL, NULL, &remains);
      g_clear_pointer (&read, flam_builder_free);
      read = read_again (builder);
      g_assert_false (remains.personal);
      g_assert_cmpuint (count_strings (read, MARKER), ==, 0);
      g_assert_cmpuint (count_strings (read, "/home"), ==, 0);
      g_assert_cmpuint (count_strings (read, "--token"), ==, 0);
      g_assert_cmpstr (flam_builder_noted (read, FLAM_FACT_MODE), ==, "cpu");
      g_assert_cmpstr (flam_builder_noted (read, "command"),
                       ==,
                       i == FLAM_ANONYMIZE_PATHS ? "prog" : NULL);
    }
}

/* Names of this computer's user and host; other homes are distinguished. */
static void
test_persons (void)
{
  static const struct
  {
    const char *before;
    const char *after;
  } texts[] = {
    { "/home/ann/x/a.c", "~/x/a.c" },
    { "/srv/ann/a.c", "/srv/user/a.c" },
    { "/home/annabel/a.c", "~2/a.c" },
    { "/srv/annabelle/a.c", "/srv/annabelle/a.c" },
    { "/net/box.example/a.c", "/net/user/a.c" },
    { "/net/box/a.c", "/net/box/a.c" },
    { "/data/me/a.c", "~3/a.c" },
    { "/usr/src/a.c", "/usr/src/a.c" },
  };
  const char *const words[] = { "box.example", NULL };
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  FlamTables *tables = flam_builder_tables (builder);

  /* The longest is the first. */
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    flam_builder_add_source (builder, texts[i].before, "", -1);
  flam_builder_anonymize (
      builder, FLAM_ANONYMIZE_PATHS, "/data/me", words, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      const char *now =
          flam_strings_get (&tables->strings, tables->profile.sources.path[i]);
      const char *end = strchr (texts[i].after, '/');

      if (*texts[i].after == '~')
        {
          g_assert_cmpint (*now, ==, '~');
          g_assert_true (g_str_has_suffix (now, end));
        }
      else
        g_assert_cmpstr (now, ==, texts[i].after);
    }
}

/* --- included files ------------------------------------------------------- */

static FlamProfile *
load (const char *name)
{
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "captures", name, NULL);
  g_autoptr (GError) error = NULL;
  FlamProfile *profile = flam_formats_load (path, NULL, &error);

  g_assert_no_error (error);
  return profile;
}

static FlamProfile *
profile_naming (const char *const *files)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  FlamThreadId thread =
      flam_builder_thread (builder, flam_builder_process (builder, 1, 0), 1, 0);

  flam_builder_add_measure (builder,
                            "samples",
                            "Samples",
                            FLAM_UNIT_COUNT,
                            FLAM_MEASURE_CPU,
                            -1,
                            FLAM_NONE);
  for (guint i = 0; files[i] != NULL; i++)
    {
      FlamFunction function = { .module = FLAM_NONE };
      FlamSample sample = { thread };

      function.name = flam_builder_string (builder, files[i], -1);
      function.file = function.name;
      sample.stack = flam_builder_stack (
          builder,
          FLAM_NONE,
          flam_builder_frame (
              builder, flam_builder_function (builder, &function), 0, 3, 0));
      flam_builder_add_sample (builder, &sample, NULL);
    }
  return flam_builder_finish (builder, NULL);
}

/* Files that frames refer to, and no others: never the kernel's, no devices,
 * and no files that are not sources. */
static void
test_sources (void)
{
  g_autofree char *folder = g_dir_make_tmp ("flam-share-XXXXXX", NULL);
  g_autofree char *source = g_build_filename (folder, "a.c", NULL);
  g_autofree char *key = g_build_filename (folder, "id_rsa", NULL);
  g_autofree char *large = g_build_filename (folder, "b.c", NULL);
  g_autofree char *out = g_build_filename (folder, "out.c", NULL);
  g_autofree char *other = g_dir_make_tmp ("flam-private-XXXXXX", NULL);
  g_autofree char *private = g_build_filename (other, "private.c", NULL);
  const char *const files[] = { source,
                                key,
                                large,
                                out,
                                "/proc/self/environ",
                                "/proc/version",
                                "/sys/kernel/uevent_seqnum",
                                "/dev/null",
                                "/no/such/file.c",
                                NULL };
  g_autoptr (FlamProfile) profile = profile_naming (files);
  g_autoptr (FlamSourcePaths) paths = flam_source_paths_new ();
  g_autofree char *much = g_strnfill (FLAM_STRING_MAX + 1, 'x');
  g_autoptr (GPtrArray) list = NULL;
  g_autoptr (GPtrArray) again = NULL;
  g_autoptr (FlamProfile) shared = NULL;
  FlamRemains remains;
  const FlamShareSource *one;

  g_assert_true (g_file_set_contents (source, "int a;\n", -1, NULL));
  g_assert_true (g_file_set_contents (key, "secret", -1, NULL));
  g_assert_true (g_file_set_contents (large, much, -1, NULL));
  g_assert_true (g_file_set_contents (private, "secret", -1, NULL));
  g_assert_cmpint (symlink (private, out), ==, 0);
  list = flam_share_list_sources (profile, paths);
  g_assert_cmpuint (list->len, ==, 1);
  one = list->pdata[0];
  g_assert_cmpstr (one->path, ==, source);
  g_assert_cmpuint (one->size, ==, 7);
  shared =
      share (profile, &(FlamShare){ .sources = list, .remains = &remains });
  g_assert_cmpuint (shared->sources.n, ==, 1);
  g_assert_cmpuint (remains.clear[FLAM_ROLE_SOURCE], ==, 1);
  g_assert_cmpuint (remains.source_bytes, ==, 7);
  g_assert_cmpstr (
      flam_profile_string (shared, shared->sources.path[0]), ==, source);
  g_assert_cmpstr (
      flam_profile_string (shared, shared->sources.text[0]), ==, "int a;\n");
  again = flam_share_list_sources (shared, paths);
  g_assert_cmpuint (again->len, ==, 0);
  /* It becomes such a link after it was listed. */
  g_unlink (source);
  g_assert_cmpint (symlink (private, source), ==, 0);
  g_assert_null (flam_path_access_read_beneath (
      one->folder, one->path, FLAM_STRING_MAX, &(gsize){ 0 }, NULL));
  g_unlink (out);
  g_unlink (private);
  g_rmdir (other);
  g_unlink (source);
  g_unlink (key);
  g_unlink (large);
  g_rmdir (folder);
}

static FlamProfile *
with_notes (const FlamProfile *profile)
{
  FlamShareNote notes[] = {
    { (char *)"slow", (char *)"main", 0, 0, 7 },
    { (char *)"here", NULL, 100, 200, 8 },
    { (char *)"later", NULL, 5000, 6000, 9 },
  };
  g_autoptr (GPtrArray) list = g_ptr_array_new ();

  for (guint i = 0; i < G_N_ELEMENTS (notes); i++)
    g_ptr_array_add (list, &notes[i]);
  return share (profile, &(FlamShare){ .notes = list });
}

/* Written, read, and cut like the capture. */
static void
test_notes (void)
{
  g_autoptr (FlamProfile) profile = load ("flambeau/kitchen.flambeau");
  g_autoptr (FlamProfile) noted = with_notes (profile);
  g_autoptr (FlamProfile) again =
      share (noted, &(FlamShare){ FLAM_ANONYMIZE_NOTHING });
  g_autoptr (FlamProfile) hidden =
      share (noted, &(FlamShare){ FLAM_ANONYMIZE_NAMES });
  g_autoptr (FlamSelection) range = flam_selection_new ();
  g_autoptr (FlamProfile) cut = NULL;
  const FlamNotes *notes = &again->notes;

  g_assert_cmpuint (notes->n, ==, 3);
  g_assert_cmpstr (flam_profile_string (again, notes->text[0]), ==, "slow");
  g_assert_cmpstr (flam_profile_string (again, notes->function[0]), ==, "main");
  g_assert_cmpuint (notes->function[1], ==, FLAM_NONE);
  g_assert_cmpint (notes->from[1], ==, 100);
  g_assert_cmpint (notes->to[1], ==, 200);
  g_assert_cmpint (notes->written[2], ==, 9);
  g_assert_cmpuint (hidden->notes.n, ==, 0);
  range->measure = flam_weights_default_measure (again);
  range->from = 150;
  range->to = 1000000;
  cut = flam_cut_new (again, range, NULL);
  g_assert_cmpuint (cut->notes.n, ==, 3);
  g_assert_cmpint (cut->notes.from[1], ==, 0);
  g_assert_cmpint (cut->notes.to[1], ==, 50);
  range->from = 300;
  flam_profile_unref (cut);
  cut = flam_cut_new (again, range, NULL);
  g_assert_cmpuint (cut->notes.n, ==, 2);
  g_assert_cmpint (cut->notes.from[1], ==, 4700);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/share/columns", test_columns);
  g_test_add_func ("/share/persons", test_persons);
  g_test_add_func ("/share/sources", test_sources);
  g_test_add_func ("/share/notes", test_notes);
  g_test_add_func ("/share/shape", test_shape);
  return g_test_run ();
}
