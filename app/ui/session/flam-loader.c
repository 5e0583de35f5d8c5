/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-loader.h"

#include "flam-cache.h"
#include "flam-job.h"
#include "flam-ranks.h"
#include "flam-settings.h"

/* Larger texts are read by all cores, which does not keep their lines in
 * order. */
#define IN_ORDER_MAX (32 << 20)

struct _FlamLoaderInput
{
  FlamProfile *profile;
  char *path;
  FlamWeightsAs weights_as;
  gboolean begun;
  FlamFollow *follow; /* NULL: not a live recording */
  FlamSymbolDetail detail;
  char **binaries;
  char *cache_file;
  FlamModuleId *modules; /* to download; NULL: none */
  guint n_modules;
};

static FlamLoaderInput *
input_new (void)
{
  FlamLoaderInput *input = g_new0 (FlamLoaderInput, 1);

  input->binaries =
      g_settings_get_strv (flam_settings_get (), FLAM_KEY_BINARIES);
  return input;
}

gpointer
flam_loader_input_new (const char *path, FlamWeightsAs weights_as)
{
  FlamLoaderInput *input = input_new ();

  input->path = g_strdup (path);
  input->weights_as = weights_as;
  return input;
}

void
flam_loader_input_show_begun (gpointer data)
{
  FlamLoaderInput *input = data;

  input->begun = TRUE;
}

void
flam_loader_input_set_path (gpointer data, const char *path)
{
  FlamLoaderInput *input = data;

  g_free (input->path);
  input->path = g_strdup (path);
}

gpointer
flam_loader_input_new_live (FlamFollow *follow)
{
  FlamLoaderInput *input = input_new ();

  input->follow = flam_follow_ref (follow);
  return input;
}

gpointer
flam_loader_input_new_symbols (const FlamProfile *profile,
                               const char *path,
                               FlamSymbolDetail detail)
{
  FlamLoaderInput *input = input_new ();

  input->path = g_strdup (path);
  input->profile = flam_profile_ref (profile);
  input->detail = detail;
  return input;
}

gpointer
flam_loader_input_new_download (const FlamProfile *profile,
                                const char *path,
                                const FlamModuleId *modules,
                                guint n)
{
  FlamLoaderInput *input =
      flam_loader_input_new_symbols (profile, path, FLAM_SYMBOL_DETAIL_FULL);

  input->modules = g_memdup2 (modules, n * sizeof *modules);
  input->n_modules = n;
  return input;
}

gpointer
flam_loader_input_new_keep (const FlamProfile *profile,
                            const char *path,
                            FlamWeightsAs weights_as,
                            const char *file)
{
  FlamLoaderInput *input = flam_loader_input_new (path, weights_as);

  input->profile = flam_profile_ref (profile);
  input->cache_file = g_strdup (file);
  return input;
}

void
flam_loader_input_free (gpointer data)
{
  FlamLoaderInput *input = data;

  g_clear_pointer (&input->profile, flam_profile_unref);
  g_clear_pointer (&input->follow, flam_follow_unref);
  g_strfreev (input->binaries);
  g_free (input->modules);
  g_free (input->path);
  g_free (input->cache_file);
  g_free (input);
}

static FlamProfile *
symbolize (const FlamLoaderInput *input,
           const FlamProfile *profile,
           FlamSymbolDetail detail,
           const FlamProgress *progress,
           GError **error)
{
  FlamSymbolOptions options = {
    .detail = detail,
    .binaries = (const char *const *)input->binaries,
    .this_boot = input->follow != NULL,
    .capture = input->path,
    .debuginfod = input->modules != NULL,
    .modules = input->modules,
    .n_modules = input->n_modules,
  };

  return flam_symbolize (profile, &options, progress, error);
}

/* What a capture is read as, and so where it is cached. */
static FlamLoadOptions
content_options (FlamWeightsAs weights_as)
{
  return (FlamLoadOptions){ .weights_as = weights_as,
                            .in_order_max = IN_ORDER_MAX };
}

static FlamLoadOptions
load_options (const FlamLoaderInput *input, const FlamProgress *progress)
{
  FlamLoadOptions options = content_options (input->weights_as);

  options.progress = progress;
  options.binaries = (const char *const *)input->binaries;
  return options;
}

static void
hand_over (FlamProfile *profile, gpointer progress)
{
  flam_job_hand_over (progress, profile);
}

gpointer
flam_loader_load_work (gpointer data,
                       const FlamProgress *progress,
                       GError **error)
{
  FlamLoaderInput *input = data;
  FlamLoadOptions options = load_options (input, progress);
  g_autofree char *file = NULL;
  FlamProfile *profile;

  if (input->follow != NULL)
    return flam_follow_refresh (
        input->follow, (const char *const *)input->binaries, error);
  if (input->begun)
    {
      options.take_begun = hand_over;
      options.begun_data = (gpointer)progress;
    }
  file = flam_cache_file (input->path, &options);
  profile = file != NULL ? flam_cache_load (file) : NULL;
  return profile != NULL ? profile
                         : flam_ranks_open (input->path, &options, error);
}

char *
flam_loader_cache_file (const char *path, FlamWeightsAs weights_as)
{
  const FlamLoadOptions options = content_options (weights_as);

  return flam_cache_file (path, &options);
}

gpointer
flam_loader_keep_work (gpointer data,
                       const FlamProgress *progress,
                       GError **error)
{
  FlamLoaderInput *input = data;
  FlamLoadOptions options = load_options (input, progress);

  flam_cache_save (input->cache_file, input->path, &options, input->profile);
  return flam_profile_ref (input->profile);
}

gpointer
flam_loader_whole_work (gpointer data,
                        const FlamProgress *progress,
                        GError **error)
{
  g_autoptr (FlamProfile) profile =
      flam_loader_load_work (data, progress, error);

  if (profile == NULL || !flam_loader_needs_symbols (profile))
    return g_steal_pointer (&profile);
  return symbolize (data, profile, FLAM_SYMBOL_DETAIL_FULL, progress, error);
}

gpointer
flam_loader_symbolize_work (gpointer data,
                            const FlamProgress *progress,
                            GError **error)
{
  FlamLoaderInput *input = data;

  return symbolize (input, input->profile, input->detail, progress, error);
}

gboolean
flam_loader_needs_symbols (const FlamProfile *profile)
{
  for (FlamId i = 0; i < profile->modules.n; i++)
    if (profile->modules.symbols[i] != FLAM_SYMBOLS_CAPTURE &&
        profile->modules.symbols[i] != FLAM_SYMBOLS_DWARF)
      return TRUE;
  return FALSE;
}

static gboolean
same_thread (const FlamProfile *a, FlamId i, const FlamProfile *b, FlamId k)
{
  return a->threads.tid[i] == b->threads.tid[k] &&
         a->processes.pid[a->threads.process[i]] ==
             b->processes.pid[b->threads.process[k]];
}

static FlamThreadId
carry_thread (const FlamProfile *from,
              FlamThreadId thread,
              const FlamProfile *to)
{
  if (thread < to->threads.n && same_thread (from, thread, to, thread))
    return thread;
  for (FlamId i = 0; i < to->threads.n; i++)
    if (same_thread (from, thread, to, i))
      return i;
  return FLAM_NONE;
}

FlamSelection *
flam_loader_carry_selection (const FlamProfile *from,
                             const FlamSelection *selection,
                             const FlamProfile *to)
{
  FlamSelection *carried = flam_selection_copy (selection);
  int measure = -1;

  if (selection->measure < from->n_measures)
    measure = flam_profile_find_measure (
        to, flam_profile_string (from, from->measures[selection->measure].id));
  carried->measure = MAX (measure, 0);
  if (selection->threads == NULL)
    return carried;

  flam_selection_no_threads (carried);
  for (guint i = 0; i < selection->threads->len; i++)
    {
      FlamId old = g_array_index (selection->threads, FlamId, i);
      FlamId same = carry_thread (from, old, to);
      if (same != FLAM_NONE)
        flam_selection_add_thread (carried, same);
    }
  return carried;
}
