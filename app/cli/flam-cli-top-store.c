/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-cli-top-store.h"

#include "flam-cli-table.h"
#include "flam-core-picture.h"
#include "flam-history-store.h"

#include <string.h>

typedef struct
{
  const FlamFiguresMeasure *measure; /* of the newest run */
  guint n_runs;
  gint64 total;
  FlamFiguresFunction *rows; /* names are those of the figures */
  guint n;
} Sums;

/* --- which runs ----------------------------------------------------------- */

static const char *
label_of (const FlamFigures *run, const char *key, gsize length)
{
  const struct
  {
    const char *key, *value;
  } labels[] = {
    { "host", run->host },
    { "job", run->job },
    { "commit", run->commit },
    { "name", run->name },
  };

  for (guint i = 0; i < G_N_ELEMENTS (labels); i++)
    if (strlen (labels[i].key) == length &&
        strncmp (labels[i].key, key, length) == 0)
      return labels[i].value;
  return NULL;
}

static gboolean
is_wanted (const FlamFigures *run, const GPtrArray *labels)
{
  for (guint i = 0; labels != NULL && i < labels->len; i++)
    {
      const char *label = labels->pdata[i];
      gsize length = strcspn (label, "=");
      const char *value = label_of (run, label, length);

      if (value == NULL || label[length] != '=' ||
          strcmp (value, label + length + 1) != 0)
        return FALSE;
    }
  return TRUE;
}

/* The wanted ones, with one measure: by default that of the newest run. NULL
 * after printing the error. */
static GPtrArray *
read_runs (const char *path, const FlamCliOptions *options)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FlamHistoryStore) store =
      flam_history_store_open (path, FALSE, &error);
  g_autoptr (GPtrArray) runs = NULL;
  g_autofree char *measure = g_strdup (options->measure);

  if (store != NULL && measure == NULL)
    {
      g_autoptr (GPtrArray) all = flam_history_store_read (store, NULL, &error);

      if (all != NULL && all->len > 0)
        measure =
            g_strdup (flam_figures_selected (all->pdata[all->len - 1])->id);
    }
  if (store != NULL && error == NULL)
    runs = flam_history_store_read (store, measure, &error);
  if (runs == NULL)
    {
      g_autofree char *shown = flam_message_shown (error->message);

      flam_cli_error ("%s", shown);
      return NULL;
    }
  for (guint i = runs->len; i-- > 0;)
    if (!is_wanted (runs->pdata[i], options->selection->labels))
      g_ptr_array_remove_index (runs, i);
  if (runs->len > 0)
    return g_steal_pointer (&runs);
  flam_cli_error (_ ("%s: this store has no runs"), path);
  return NULL;
}

/* --- their sum ------------------------------------------------------------ */

static void
add_function (GHashTable *places, GArray *rows, const FlamFiguresFunction *from)
{
  gpointer place;
  FlamFiguresFunction *row;

  if (!g_hash_table_lookup_extended (places, from->name, NULL, &place))
    {
      g_hash_table_insert (places, from->name, GUINT_TO_POINTER (rows->len));
      g_array_append_val (rows, *from);
      return;
    }
  row = &g_array_index (rows, FlamFiguresFunction, GPOINTER_TO_UINT (place));
  row->self += from->self;
  row->total += from->total;
  row->self_estimate =
      flam_estimate_of_sum (row->self_estimate, from->self_estimate);
  row->total_estimate =
      flam_estimate_of_sum (row->total_estimate, from->total_estimate);
}

/* FALSE after printing that two runs cannot be added up. */
static gboolean
add_up (const GPtrArray *runs, Sums *sums)
{
  g_autoptr (GHashTable) places = g_hash_table_new (g_str_hash, g_str_equal);
  GArray *rows = g_array_new (FALSE, FALSE, sizeof (FlamFiguresFunction));
  const FlamFigures *newest = runs->pdata[runs->len - 1];
  gboolean alike = TRUE;

  sums->measure = flam_figures_selected (newest);
  sums->n_runs = runs->len;
  for (guint i = 0; i < runs->len && alike; i++)
    {
      const FlamFigures *run = runs->pdata[i];
      const FlamFiguresMeasure *measure = flam_figures_selected (run);

      alike =
          flam_measure_is_like (&measure->measure, &sums->measure->measure) &&
          measure->measure.denominator == sums->measure->measure.denominator &&
          measure->total <= G_MAXINT64 - sums->total;
      if (!alike)
        flam_cli_not_comparable (run->path,
                                 &measure->measure,
                                 measure->id,
                                 newest->path,
                                 &sums->measure->measure,
                                 sums->measure->id);
      else
        sums->total += measure->total;
      for (guint k = 0; k < measure->n_functions && alike; k++)
        add_function (places, rows, &measure->functions[k]);
    }
  sums->n = rows->len;
  sums->rows = (FlamFiguresFunction *)(void *)g_array_free (rows, FALSE);
  return alike;
}

static int
compare_rows (gconstpointer a, gconstpointer b, gpointer data)
{
  const FlamFiguresFunction *x = a, *y = b;
  gboolean by_self = GPOINTER_TO_INT (data) == FLAM_SORT_SELF;
  gint64 first = by_self ? x->self : x->total;
  gint64 second = by_self ? y->self : y->total;

  return first != second ? (first > second ? -1 : 1)
                         : strcmp (x->name, y->name);
}

/* --- output --------------------------------------------------------------- */

static void
print_json (const Sums *sums)
{
  const FlamMeasure *measure = &sums->measure->measure;
  JsonBuilder *json = json_builder_new ();

  json_builder_begin_object (json);
  flam_cli_json_int (json, "runs", sums->n_runs);
  flam_cli_json_weight (json, "total", measure, sums->total);
  json_builder_set_member_name (json, "rows");
  json_builder_begin_array (json);
  for (guint i = 0; i < sums->n; i++)
    {
      const FlamFiguresFunction *row = &sums->rows[i];

      json_builder_begin_object (json);
      flam_cli_json_string (json, "function", row->name);
      flam_cli_json_weight (json, "self", measure, row->self);
      flam_cli_json_weight (json, "total", measure, row->total);
      if (row->self_estimate.sampled)
        flam_cli_json_int (json, "self_error", row->self_estimate.error);
      if (row->total_estimate.sampled)
        flam_cli_json_int (json, "total_error", row->total_estimate.error);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
  json_builder_end_object (json);
  flam_cli_print_json (json);
}

static void
add_value (FlamCliTable *table,
           const Sums *sums,
           gint64 value,
           const FlamEstimate *estimate)
{
  g_autofree char *text =
      flam_format_estimated (estimate, &sums->measure->measure, value);
  g_autofree char *share = flam_format_percent (value, sums->total);

  flam_cli_table_add (table, text, 0);
  flam_cli_table_add (table, share, 0);
}

static void
print_text (const Sums *sums)
{
  FlamCliTable *table = flam_cli_table_new ();

  flam_cli_table_add (table, "self", 10);
  flam_cli_table_add (table, "", 8);
  flam_cli_table_add (table, "total", 10);
  flam_cli_table_add (table, "", 8);
  flam_cli_table_append (table, "function");
  flam_cli_table_end_row (table);
  for (guint i = 0; i < sums->n; i++)
    {
      const FlamFiguresFunction *row = &sums->rows[i];

      add_value (table, sums, row->self, &row->self_estimate);
      add_value (table, sums, row->total, &row->total_estimate);
      flam_cli_table_append (table, "%s", row->name);
      flam_cli_table_end_row (table);
    }
  flam_cli_table_print (table);
}

FlamExit
flam_cli_top_store (const char *path,
                    const FlamCliOptions *options,
                    FlamSort sort,
                    guint limit)
{
  g_autoptr (GPtrArray) runs = NULL;
  Sums sums = { NULL };
  gboolean good;

  if (flam_cli_selects (options))
    return flam_cli_usage (_ ("top: a store of runs has no samples to select; "
                              "--label selects runs by host, job or commit"));
  runs = read_runs (path, options);
  if (runs == NULL)
    return FLAM_EXIT_REFUSED;
  good = add_up (runs, &sums);
  if (good)
    {
      if (sums.n > 0)
        g_qsort_with_data (sums.rows,
                           (int)sums.n,
                           sizeof *sums.rows,
                           compare_rows,
                           GINT_TO_POINTER (sort));
      if (limit > 0)
        sums.n = MIN (sums.n, limit);
      if (options->json)
        print_json (&sums);
      else
        print_text (&sums);
    }
  g_free (sums.rows);
  return good ? FLAM_EXIT_DONE : FLAM_EXIT_REFUSED;
}
