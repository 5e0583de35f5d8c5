/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Captures of a version that is newer than this one. */

#include "flam-capture-reader.h"
#include "flam-capture-writer.h"

/* The number of a table on disk. */
#define NUMBER(name) (flam_table_infos[FLAM_TABLE_##name].number)

static FlamBuilder *
recorder_new (void)
{
  FlamBuilder *builder = flam_builder_new ();

  flam_builder_set_has_times (builder);
  flam_builder_add_column (builder);
  return builder;
}

static gint64 *
extra_of (FlamBuilder *builder, FlamTable table)
{
  GArray *extras = flam_builder_tables (builder)->extras;

  for (guint i = 0; i < extras->len; i++)
    if (g_array_index (extras, FlamExtra, i).table == table)
      return g_array_index (extras, FlamExtra, i).data;
  return NULL;
}

static FlamBuilder *
read_again (FlamCaptureWriter *writer)
{
  FlamBuilder *builder = flam_builder_new ();
  g_autoptr (FlamCaptureReader) reader =
      flam_capture_reader_new ("test", builder);
  const guint8 *data;
  gsize size;

  g_assert_true (flam_capture_writer_end (writer, 5000, NULL));
  data = flam_capture_writer_data (writer, &size);
  g_assert_true (flam_capture_reader_feed (reader, data, size, NULL));
  return builder;
}

/* Adds a column that this version does not describe, as a file lists it. */
static void
add_listed (FlamTables *tables,
            guint table,
            guint number,
            FlamEncoding encoding,
            guint refers_to)
{
  const gint64 row[] = { table, number, encoding, refers_to };

  flam_tables_add (tables, FLAM_TABLE_COLUMNS, row);
  flam_tables_add_listed (tables, 0);
  /* The writer lists it again. */
  flam_tables_drop (tables, FLAM_TABLE_COLUMNS, 1);
}

/* Data that a newer version writes and this one does not support is kept when a
 * capture is opened and saved: columns, including those with references, and
 * flags. */
static void
test_newer (void)
{
  g_autoptr (FlamBuilder) builder = recorder_new ();
  g_autoptr (FlamCaptureWriter) writer = flam_capture_writer_new (-1, builder);
  g_autoptr (FlamBuilder) first = NULL;
  g_autoptr (FlamBuilder) copy = NULL;
  g_autoptr (FlamCaptureWriter) again = NULL;
  g_autoptr (FlamBuilder) second = NULL;
  g_autoptr (FlamProfile) profile = NULL;
  FlamFunction strange = { .module = FLAM_NONE, .flags = 0x40 };
  FlamFunctionId function;
  FlamThreadId thread = flam_builder_append_thread (
      builder, flam_builder_append_process (builder, 1, FLAM_NONE), 1);

  flam_builder_add_measure (builder,
                            "cpu-time",
                            "CPU time",
                            FLAM_UNIT_NS,
                            FLAM_MEASURE_CPU,
                            0,
                            FLAM_NONE);
  strange.name = flam_builder_string (builder, "strange", -1);
  function = flam_builder_function (builder, &strange);
  add_listed (flam_builder_tables (builder),
              NUMBER (SAMPLES),
              200,
              FLAM_ENCODE_DELTA,
              0);
  add_listed (flam_builder_tables (builder),
              NUMBER (FUNCTIONS),
              201,
              FLAM_ENCODE_ID,
              NUMBER (STRINGS));
  /* Later ones first, so that they must be put in order. */
  for (gint64 i = 0; i < 3; i++)
    {
      FlamSample sample = { thread, FLAM_NONE, 30 - i };

      flam_builder_add_sample (builder, &sample, &i);
      extra_of (builder, FLAM_TABLE_SAMPLES)[i] = 1000 - i;
    }
  extra_of (builder, FLAM_TABLE_FUNCTIONS)[function] =
      flam_builder_string (builder, "somebody", -1);

  first = read_again (writer);
  profile = flam_builder_finish (first, NULL);
  g_assert_nonnull (profile);
  g_assert_cmpuint (profile->functions.flags[0], ==, 0x40);
  copy = flam_builder_new_copy (profile);
  again = flam_capture_writer_new (-1, copy);
  second = read_again (again);
  for (gint64 i = 0; i < 3; i++)
    g_assert_cmpint (
        extra_of (second, FLAM_TABLE_SAMPLES)[i], ==, 1000 - 2 + i);
  g_assert_cmpstr (
      flam_builder_get_string (
          second, (FlamId)extra_of (second, FLAM_TABLE_FUNCTIONS)[0]),
      ==,
      "somebody");
}

static gint64 *
cells_of (FlamBuilder *builder, FlamTable table, guint number)
{
  GArray *extras = flam_builder_tables (builder)->extras;

  for (guint i = 0; i < extras->len; i++)
    if (g_array_index (extras, FlamExtra, i).table == table &&
        g_array_index (extras, FlamExtra, i).info.number == number)
      return g_array_index (extras, FlamExtra, i).data;
  g_assert_not_reached ();
}

#define TASKS 77 /* its number on disk */

/* Each task has a name, a thread, and the task that began it; a mark refers to
 * its task. */
static void
add_tasks (FlamBuilder *builder)
{
  FlamTables *tables = flam_builder_tables (builder);
  FlamTable tasks;
  FlamThreadId thread = flam_builder_append_thread (
      builder, flam_builder_append_process (builder, 1, FLAM_NONE), 1);

  add_listed (tables, TASKS, 0, FLAM_ENCODE_ID, NUMBER (STRINGS));
  add_listed (tables, TASKS, 1, FLAM_ENCODE_ID, NUMBER (THREADS));
  add_listed (tables, TASKS, 2, FLAM_ENCODE_ID, TASKS);
  add_listed (tables, TASKS, 3, FLAM_ENCODE_I64, 0);
  add_listed (tables, NUMBER (MARKS), 200, FLAM_ENCODE_ID, TASKS);
  tasks = flam_tables_of_number (tables, TASKS);
  for (guint i = 0; i < 3; i++)
    {
      g_autofree char *name = g_strdup_printf ("task %u", i);
      FlamId row = flam_tables_push (tables, tasks);

      cells_of (builder, tasks, 0)[row] =
          flam_builder_string (builder, name, -1);
      cells_of (builder, tasks, 1)[row] = thread;
      cells_of (builder, tasks, 2)[row] = i > 0 ? i - 1 : FLAM_NONE;
      cells_of (builder, tasks, 3)[row] = -5 * (gint64)i;
      flam_builder_add_mark (builder, i, 0, FLAM_NONE, "begins");
      cells_of (builder, FLAM_TABLE_MARKS, 200)[i] = 2 - i;
    }
}

static void
assert_tasks (FlamBuilder *builder)
{
  FlamTables *tables = flam_builder_tables (builder);
  FlamTable tasks = flam_tables_of_number (tables, TASKS);

  g_assert_true (flam_table_is_newer (tasks));
  g_assert_cmpuint (*flam_tables_n (tables, tasks), ==, 3);
  for (guint i = 0; i < 3; i++)
    {
      g_autofree char *name = g_strdup_printf ("task %u", i);

      g_assert_cmpstr (flam_builder_get_string (
                           builder, (FlamId)cells_of (builder, tasks, 0)[i]),
                       ==,
                       name);
      g_assert_cmpint (cells_of (builder, tasks, 1)[i], ==, 0);
      g_assert_cmpint (
          cells_of (builder, tasks, 2)[i], ==, i > 0 ? i - 1 : FLAM_NONE);
      g_assert_cmpint (cells_of (builder, tasks, 3)[i], ==, -5 * (gint64)i);
      g_assert_cmpint (cells_of (builder, FLAM_TABLE_MARKS, 200)[i], ==, 2 - i);
    }
}

/* A table that this version lacks, the tables that it refers to, and those that
 * refer to it: read, opened, and saved again. */
static void
test_tables (void)
{
  g_autoptr (FlamBuilder) builder = recorder_new ();
  g_autoptr (FlamCaptureWriter) writer = flam_capture_writer_new (-1, builder);
  g_autoptr (FlamBuilder) first = NULL;
  g_autoptr (FlamProfile) profile = NULL;
  g_autoptr (FlamBuilder) copy = NULL;
  g_autoptr (FlamCaptureWriter) again = NULL;
  g_autoptr (FlamBuilder) second = NULL;

  add_tasks (builder);
  first = read_again (writer);
  assert_tasks (first);
  profile = flam_builder_finish (first, NULL);
  g_assert_nonnull (profile);
  copy = flam_builder_new_copy (profile);
  again = flam_capture_writer_new (-1, copy);
  second = read_again (again);
  assert_tasks (second);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/newer/columns", test_newer);
  g_test_add_func ("/newer/tables", test_tables);
  return g_test_run ();
}
