/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-cli.h"

#include "flam-cli-table.h"
#include "flam-cli-output.h"

#include <string.h>

#define DEFAULT_COLUMNS 20
#define DEFAULT_FUNCTIONS 20

/* --- machines ------------------------------------------------------------- */

static void
json_spread (JsonBuilder *json,
             const FlamBalance *balance,
             const FlamBalanceSpread *spread)
{
  flam_cli_json_weight (json, "sum", &balance->measure, spread->sum);
  flam_cli_json_weight (json, "median", &balance->measure, spread->median);
  flam_cli_json_weight (json, "slowest", &balance->measure, spread->most);
  flam_cli_json_int (
      json, "slowest_rank", balance->ranks[spread->slowest].rank);
}

static void
json_ranks (JsonBuilder *json, const FlamBalance *balance)
{
  json_builder_set_member_name (json, "ranks");
  json_builder_begin_array (json);
  for (guint i = 0; i < balance->n_ranks; i++)
    {
      const FlamBalanceRank *rank = &balance->ranks[i];

      json_builder_begin_object (json);
      flam_cli_json_int (json, "rank", rank->rank);
      flam_cli_json_string (json, "host", rank->host);
      flam_cli_json_weight (json, "work", &balance->measure, rank->work);
      flam_cli_json_weight (json, "waits", &balance->measure, rank->waits);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
}

static void
json_columns (JsonBuilder *json, const FlamBalance *balance)
{
  json_builder_set_member_name (json, "columns");
  json_builder_begin_array (json);
  for (guint c = 0; c < balance->n_columns; c++)
    {
      json_builder_begin_object (json);
      flam_cli_json_int (json, "from_ns", (gint64)c * balance->column);
      json_spread (json, balance, &balance->columns[c]);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
}

static void
print_json (const FlamBalance *balance, guint n_functions)
{
  JsonBuilder *json = json_builder_new ();

  json_builder_begin_object (json);
  flam_cli_json_string (
      json, "unit", flam_unit_to_string (balance->measure.unit));
  flam_cli_json_int (json, "hosts", balance->n_hosts);
  json_builder_set_member_name (json, "work");
  json_builder_begin_object (json);
  json_spread (json, balance, &balance->work);
  json_builder_end_object (json);
  json_ranks (json, balance);
  json_builder_set_member_name (json, "functions");
  json_builder_begin_array (json);
  for (guint i = 0; i < n_functions; i++)
    {
      const FlamBalanceFunction *function = &balance->functions[i];

      json_builder_begin_object (json);
      flam_cli_json_string (json, "function", function->name);
      flam_cli_json_string (json, "module", function->module);
      json_spread (json, balance, &function->spread);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
  flam_cli_json_int (json, "column_ns", balance->column);
  json_columns (json, balance);
  json_builder_end_object (json);
  flam_cli_print_json (json);
}

/* --- text ----------------------------------------------------------------- */

static void
add_weight (FlamCliTable *table, const FlamBalance *balance, gint64 weight)
{
  g_autofree char *text = flam_format_weight (&balance->measure, weight);

  flam_cli_table_add (table, text, 0);
}

static void
add_rank (FlamCliTable *table, guint32 rank)
{
  g_autofree char *text = g_strdup_printf ("%u", rank);

  flam_cli_table_add (table, text, 0);
}

/* Of a table of spreads; `title`: of the texts. */
static FlamCliTable *
new_table (const char *title)
{
  FlamCliTable *table = flam_cli_table_new ();

  flam_cli_print ("\n");
  flam_cli_table_add (table, "median", 11);
  flam_cli_table_add (table, "slowest", 9);
  flam_cli_table_add (table, "lost", 9);
  flam_cli_table_add (table, "rank", 5);
  flam_cli_table_append (table, "%s", title);
  flam_cli_table_end_row (table);
  return table;
}

static void
add_spread (FlamCliTable *table,
            const FlamBalance *balance,
            const FlamBalanceSpread *spread)
{
  add_weight (table, balance, spread->median);
  add_weight (table, balance, spread->most);
  add_weight (table, balance, flam_balance_lost (spread));
  add_rank (table, balance->ranks[spread->slowest].rank);
}

static void
print_sum (const FlamBalance *balance)
{
  const FlamBalanceSpread *work = &balance->work;
  g_autofree char *most = flam_format_weight (&balance->measure, work->most);
  g_autofree char *median =
      flam_format_weight (&balance->measure, work->median);
  g_autofree char *more =
      flam_format_percent (flam_balance_lost (work), work->median);

  flam_cli_print (balance->n_ranks == 1 ? _ ("%u rank") : _ ("%u ranks"),
                  balance->n_ranks);
  flam_cli_print (balance->n_hosts == 1 ? _ (" on %u host")
                                        : _ (" on %u hosts"),
                  balance->n_hosts);
  flam_cli_print (_ (": rank %u works most, %s; the median is %s (+%s)\n\n"),
                  balance->ranks[work->slowest].rank,
                  most,
                  median,
                  work->median > 0 ? more : "∞");
}

static void
print_ranks (const FlamBalance *balance)
{
  FlamCliTable *table = flam_cli_table_new ();

  flam_cli_table_add (table, "rank", 6);
  flam_cli_table_add (table, "work", 9);
  flam_cli_table_add (table, "waits", 9);
  flam_cli_table_append (table, "host");
  flam_cli_table_end_row (table);
  for (guint i = 0; i < balance->n_ranks; i++)
    {
      const FlamBalanceRank *rank = &balance->ranks[i];

      add_rank (table, rank->rank);
      add_weight (table, balance, rank->work);
      add_weight (table, balance, rank->waits);
      flam_cli_table_append (table, "%s", rank->host);
      flam_cli_table_end_row (table);
    }
  flam_cli_table_print (table);
}

static void
print_functions (const FlamBalance *balance, guint n)
{
  FlamCliTable *table = new_table ("function");

  /* They are in order of what is lost. */
  for (guint i = 0;
       i < n && flam_balance_lost (&balance->functions[i].spread) > 0;
       i++)
    {
      const FlamBalanceFunction *function = &balance->functions[i];

      add_spread (table, balance, &function->spread);
      flam_cli_table_append (table, "%s", function->name);
      if (*function->module != '\0')
        flam_cli_table_append (table, "  (%s)", function->module);
      flam_cli_table_end_row (table);
    }
  flam_cli_table_print (table);
}

static void
print_columns (const FlamBalance *balance)
{
  FlamCliTable *table = new_table ("from");

  for (guint c = 0; c < balance->n_columns; c++)
    {
      g_autofree char *from =
          flam_format_value ((gint64)c * balance->column, FLAM_UNIT_NS);

      add_spread (table, balance, &balance->columns[c]);
      flam_cli_table_append (table, "%s", from);
      flam_cli_table_end_row (table);
    }
  flam_cli_table_print (table);
}

static void
print_text (const FlamBalance *balance, guint n_functions)
{
  print_sum (balance);
  print_ranks (balance);
  print_functions (balance, n_functions);
  if (balance->n_columns > 0)
    print_columns (balance);
}

/* --- the verb ------------------------------------------------------------- */

static int
run (int argc, char **argv)
{
  g_autoptr (FlamCliOptions) options = flam_cli_options_new ();
  g_auto (FlamCliOutput) output = { NULL };
  g_autoptr (FlamProfile) profile = NULL;
  g_autoptr (FlamSelection) selection = NULL;
  g_autoptr (FlamBalance) balance = NULL;
  g_autofree char *sort_text = NULL;
  g_auto (GStrv) files = NULL;
  FlamBalanceWanted wanted = { .functions = TRUE };
  int columns = DEFAULT_COLUMNS, limit = 0;
  FlamExit status;
  guint n;
  const GOptionEntry entries[] = {
    { "sort",
      0,
      0,
      G_OPTION_ARG_STRING,
      &sort_text,
      N_ ("Compare functions by self (default) or total"),
      "self|total" },
    { "limit",
      0,
      0,
      G_OPTION_ARG_INT,
      &limit,
      N_ ("At most N functions"),
      "N" },
    { "columns",
      0,
      0,
      G_OPTION_ARG_INT,
      &columns,
      N_ ("Number of time slices, 0 to 2000 (default: 20)"),
      "N" },
    FLAM_OUTPUT_ENTRIES (output),
    { NULL },
  };

  if (!flam_cli_parse (
          &argc, &argv, &flam_verb_balance, options, entries, 1, &files))
    return FLAM_EXIT_USAGE;
  if (!flam_cli_parse_sort (sort_text, &wanted.sort))
    return flam_cli_usage (_ ("balance: --sort: expected self or total"));
  if (columns < 0 || columns > FLAM_BALANCE_COLUMNS_MAX)
    return flam_cli_usage (_ ("balance: --columns %d: expected 0 to %d"),
                           columns,
                           FLAM_BALANCE_COLUMNS_MAX);
  wanted.columns = (guint)columns;
  profile = flam_cli_load (files[0], options);
  if (profile == NULL)
    return FLAM_EXIT_REFUSED;
  selection = flam_cli_select (options, profile, files[0], &status);
  if (selection == NULL)
    return status;
  balance = flam_balance_new (profile, selection, &wanted, NULL, NULL);
  if (balance == NULL)
    {
      flam_cli_error (_ ("%s: not the capture of a parallel job"), files[0]);
      return FLAM_EXIT_REFUSED;
    }
  n = balance->n_functions;
  if (limit > 0)
    n = MIN (n, (guint)limit);
  else if (!options->json)
    n = MIN (n, DEFAULT_FUNCTIONS);
  if (!flam_cli_output_begin (&output))
    return FLAM_EXIT_REFUSED;
  if (options->json)
    print_json (balance, n);
  else
    print_text (balance, n);
  return flam_cli_output_end (&output) ? FLAM_EXIT_DONE : FLAM_EXIT_REFUSED;
}

const FlamVerb flam_verb_balance = {
  "balance", "FILE…", N_ ("compare the ranks of a job"), run, TRUE
};
