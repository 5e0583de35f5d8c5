/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-cli.h"

#include "flam-cli-reduce.h"
#include "flam-core-query.h"
#include "flam-formats.h"
#include "flam-ranks.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Selects from each file, by its own threads and times, and then merges the
 * parts: all of them at once, with their times; or one after the other as they
 * are read, without (flam-fold.h). */

/* Captures of more bytes would take more than about 300 MB of memory with their
 * times. */
#define FOLD_ABOVE (G_GUINT64_CONSTANT (32) << 20)

typedef struct
{
  FlamCliOptions *options;
  char *output;
  gboolean force;
  gboolean apart;
  gboolean fold;
  gboolean times;
  gboolean mpi;
  char **files;
} Asked;

static void
asked_clear (Asked *asked)
{
  g_clear_pointer (&asked->options, flam_cli_options_free);
  g_clear_pointer (&asked->output, g_free);
  g_clear_pointer (&asked->files, g_strfreev);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Asked, asked_clear)

static FlamProfile *
load_part (const Asked *asked, const char *file, FlamExit *status)
{
  g_autoptr (FlamProfile) profile = flam_cli_load (file, asked->options);
  g_autoptr (FlamSelection) selection = NULL;
  g_autoptr (GError) error = NULL;
  FlamProfile *part;

  *status = FLAM_EXIT_REFUSED;
  if (profile == NULL)
    return NULL;
  selection = flam_cli_select (asked->options, profile, file, status);
  if (selection == NULL)
    return NULL;
  part = flam_cut_new (profile, selection, &error);
  if (part == NULL)
    {
      *status = FLAM_EXIT_REFUSED;
      flam_cli_error ("%s: %s", file, error->message);
    }
  return part;
}

static void
print_error (const GError *error)
{
  g_autofree char *shown = flam_message_shown (error->message);

  flam_cli_error ("%s", shown);
}

/* --- with times ----------------------------------------------------------- */

static GPtrArray *
load_parts (const Asked *asked, FlamExit *status)
{
  g_autoptr (GPtrArray) parts =
      g_ptr_array_new_with_free_func ((GDestroyNotify)flam_profile_unref);

  for (guint i = 0; asked->files[i] != NULL; i++)
    {
      FlamProfile *part = load_part (asked, asked->files[i], status);

      if (part == NULL)
        return NULL;
      g_ptr_array_add (parts, part);
    }
  return g_steal_pointer (&parts);
}

static FlamProfile *
add_up (const Asked *asked, const GPtrArray *profiles)
{
  g_autofree FlamMergePart *parts = g_new0 (FlamMergePart, profiles->len);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GError) error = NULL;
  FlamProfile *merged;

  for (guint i = 0; i < profiles->len; i++)
    {
      g_ptr_array_add (names, g_path_get_basename (asked->files[i]));
      parts[i] = (FlamMergePart){ names->pdata[i], profiles->pdata[i] };
    }
  merged = flam_merge_new (
      parts, profiles->len, asked->apart ? FLAM_MERGE_APART : 0, &error);
  if (merged == NULL)
    {
      g_autofree char *shown = flam_message_shown (error->message);

      if (g_error_matches (error, FLAM_ERROR, FLAM_ERROR_INVALID) &&
          !asked->apart)
        flam_cli_error (_ ("%s; --side-by-side merges them nevertheless"),
                        shown);
      else
        flam_cli_error ("%s", shown);
    }
  return merged;
}

static FlamProfile *
merge (const Asked *asked, FlamExit *status)
{
  g_autoptr (GPtrArray) parts = load_parts (asked, status);

  if (parts == NULL)
    return NULL;
  *status = FLAM_EXIT_REFUSED;
  return add_up (asked, parts);
}

/* --- without -------------------------------------------------------------- */

static gboolean
fold_file (const Asked *asked,
           FlamFold *fold,
           const char *file,
           FlamExit *status)
{
  g_autofree char *name = g_path_get_basename (file);
  g_autoptr (FlamProfile) part = load_part (asked, file, status);
  g_autoptr (GError) error = NULL;

  if (part == NULL)
    return FALSE;
  if (flam_fold_add (fold, name, part, &error))
    return TRUE;
  *status = FLAM_EXIT_REFUSED;
  print_error (error);
  return FALSE;
}

/* Every `of`-th file, from `first` on. */
static gboolean
fold_files (
    const Asked *asked, FlamFold *fold, guint first, guint of, FlamExit *status)
{
  guint n = g_strv_length (asked->files);

  for (guint i = first; i < n; i += of)
    if (!fold_file (asked, fold, asked->files[i], status))
      return FALSE;
  return TRUE;
}

static FlamProfile *
finish_fold (FlamFold *fold, FlamExit *status)
{
  g_autoptr (GError) error = NULL;
  FlamProfile *folded = flam_fold_finish (fold, &error);

  if (folded != NULL)
    return folded;
  *status = FLAM_EXIT_REFUSED;
  print_error (error);
  return NULL;
}

static FlamProfile *
fold (const Asked *asked, FlamExit *status)
{
  g_autoptr (FlamFold) sum = flam_fold_new (asked->apart);

  return fold_files (asked, sum, 0, 1, status) ? finish_fold (sum, status)
                                               : NULL;
}

/* From a pattern, a process takes the captures of the ranks whose numbers,
 * modulo the number of processes, are its own; it may have a disk of its own
 * for them. From a list, it takes captures by their place in it. */
static gboolean
fold_own_share (const Asked *asked,
                const FlamMpi *mpi,
                FlamFold *sum,
                FlamExit *status)
{
  const char *pattern = asked->files[0];
  g_auto (GStrv) found = NULL;

  if (asked->files[1] != NULL || !flam_ranks_is_pattern (pattern))
    return fold_files (asked, sum, (guint)mpi->rank, (guint)mpi->size, status);
  found = flam_ranks_find (pattern, NULL);
  for (guint i = 0; found != NULL && found[i] != NULL; i++)
    if (flam_ranks_number (pattern, found[i]) % (guint)mpi->size ==
            (guint)mpi->rank &&
        !fold_file (asked, sum, found[i], status))
      return FALSE;
  return TRUE;
}

static FlamProfile *
reduce (const Asked *asked, const FlamMpi *mpi, FlamExit *status)
{
  g_autoptr (FlamFold) sum = flam_fold_new (asked->apart);
  g_autoptr (GError) error = NULL;
  gboolean good = fold_own_share (asked, mpi, sum, status);

  *status = FLAM_EXIT_DONE;
  if (!flam_cli_reduce (mpi, sum, !good, &error))
    {
      *status = FLAM_EXIT_REFUSED;
      if (error != NULL)
        print_error (error);
    }
  if (*status != FLAM_EXIT_DONE || mpi->rank > 0)
    return NULL;
  if (flam_fold_n (sum) > 0)
    return finish_fold (sum, status);
  *status = FLAM_EXIT_REFUSED;
  flam_cli_error (_ ("%s: has no captures"), asked->files[0]);
  return NULL;
}

/* --- the verb ------------------------------------------------------------- */

static guint64
total_size (char **files)
{
  guint64 sum = 0;
  struct stat at;

  for (guint i = 0; files[i] != NULL; i++)
    if (stat (files[i], &at) == 0)
      sum += (guint64)at.st_size;
  return sum;
}

static void
choose (Asked *asked)
{
  guint64 size = total_size (asked->files);
  g_autofree char *text = NULL;

  if (asked->fold || asked->times || size <= FOLD_ABOVE ||
      asked->files[1] == NULL)
    return;
  asked->fold = TRUE;
  text = flam_format_value ((gint64)size, FLAM_UNIT_BYTES);
  if (isatty (STDERR_FILENO))
    g_printerr (_ ("flambeau-cli: these are %s, and are merged without times; "
                   "--times keeps them\n"),
                text);
}

static FlamExit
save (const Asked *asked, const FlamProfile *merged)
{
  const FlamExportOptions as = { .root = FLAM_ROOT_NONE };
  g_autoptr (FlamSelection) all = flam_selection_new ();
  g_autoptr (GError) error = NULL;
  FlamSink *sink = flam_cli_open_output (asked->output, asked->force);

  if (sink == NULL)
    return FLAM_EXIT_REFUSED;
  if (merged->n_measures > 0)
    all->measure = flam_weights_default_measure (merged);
  if (flam_exporter_save (
          flam_exporter_find ("flambeau"), merged, all, &as, sink, &error))
    return flam_cli_finish (sink, asked->output) ? FLAM_EXIT_DONE
                                                 : FLAM_EXIT_REFUSED;
  flam_cli_error ("%s: %s", asked->output, error->message);
  flam_sink_free (sink);
  return FLAM_EXIT_REFUSED;
}

static FlamExit
run_in_job (const Asked *asked)
{
  g_autoptr (FlamProfile) merged = NULL;
  g_autoptr (GError) error = NULL;
  FlamExit status;
  FlamMpi mpi;

  if (!flam_mpi_begin (&mpi, &error))
    {
      print_error (error);
      return FLAM_EXIT_REFUSED;
    }
  merged = reduce (asked, &mpi, &status);
  if (merged != NULL)
    status = save (asked, merged);
  flam_mpi_end (&mpi);
  return status;
}

static int
run (int argc, char **argv)
{
  g_auto (Asked) asked = { .options = flam_cli_options_new () };
  g_autoptr (FlamProfile) merged = NULL;
  FlamExit status = FLAM_EXIT_DONE;
  const GOptionEntry entries[] = {
    { "output",
      'o',
      0,
      G_OPTION_ARG_FILENAME,
      &asked.output,
      N_ ("Output file (.flambeau)"),
      "OUT" },
    { "side-by-side",
      0,
      0,
      G_OPTION_ARG_NONE,
      &asked.apart,
      N_ ("Merge captures without a common measure"),
      NULL },
    { "fold",
      0,
      0,
      G_OPTION_ARG_NONE,
      &asked.fold,
      N_ ("One process per program, without times"),
      NULL },
    { "times",
      0,
      0,
      G_OPTION_ARG_NONE,
      &asked.times,
      N_ ("Keep times even of many large captures"),
      NULL },
    { "mpi",
      0,
      0,
      G_OPTION_ARG_NONE,
      &asked.mpi,
      N_ ("Fold with all processes of this MPI job"),
      NULL },
    { "force",
      'f',
      0,
      G_OPTION_ARG_NONE,
      &asked.force,
      N_ ("Replace OUT if it exists"),
      NULL },
    { NULL },
  };

  if (!flam_cli_parse (&argc,
                       &argv,
                       &flam_verb_merge,
                       asked.options,
                       entries,
                       FLAM_CLI_ANY_FILES,
                       &asked.files))
    return FLAM_EXIT_USAGE;
  if (asked.output == NULL)
    return flam_cli_usage ("merge: --output OUT");
  if (asked.times && (asked.fold || asked.mpi))
    return flam_cli_usage (
        _ ("merge: --times and --fold contradict each other"));
  if (asked.mpi)
    return run_in_job (&asked);
  choose (&asked);
  merged = asked.fold ? fold (&asked, &status) : merge (&asked, &status);
  return merged != NULL ? save (&asked, merged) : status;
}

const FlamVerb flam_verb_merge = { "merge",
                                   "FILE… --output OUT",
                                   N_ ("merge several captures into one"),
                                   run,
                                   FALSE };
