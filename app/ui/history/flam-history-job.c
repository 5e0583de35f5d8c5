/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-history-job.h"

#include "flam-history-load.h"
#include "flam-history-store.h"
#include "flam-loader.h"

/* For each measure, by total and by self. */
#define FUNCTIONS_KEPT 500

typedef struct
{
  char *path;
  FlamHistory *before;
  gpointer loader; /* FlamLoaderInput from the settings */
} Input;

gpointer
flam_history_job_input_new (const char *path, const FlamHistory *before)
{
  Input *input = g_new0 (Input, 1);

  input->path = g_strdup (path);
  input->before = before != NULL ? flam_history_ref (before) : NULL;
  input->loader = flam_loader_input_new (path, FLAM_WEIGHTS_GUESS);
  return input;
}

void
flam_history_job_input_free (gpointer data)
{
  Input *input = data;

  flam_loader_input_free (input->loader);
  g_clear_pointer (&input->before, flam_history_unref);
  g_free (input->path);
  g_free (input);
}

static FlamProfile *
open_capture (const char *path,
              const FlamProgress *progress,
              gpointer data,
              GError **error)
{
  Input *input = data;

  flam_loader_input_set_path (input->loader, path);
  return flam_loader_whole_work (input->loader, progress, error);
}

/* What `flambeau-cli history --store` has written. */
static FlamHistory *
read_store (const char *path, GError **error)
{
  g_autoptr (FlamHistoryStore) store =
      flam_history_store_open (path, FALSE, error);
  GPtrArray *captures =
      store != NULL ? flam_history_store_read (store, NULL, error) : NULL;

  return captures != NULL
             ? flam_history_new (captures, flam_history_new_refused ())
             : NULL;
}

gpointer
flam_history_job_work (gpointer data,
                       const FlamProgress *progress,
                       GError **error)
{
  Input *input = data;
  const char *const paths[] = { input->path, NULL };
  FlamHistoryOptions options = {
    open_capture, input, { FUNCTIONS_KEPT, TRUE }, input->before
  };

  if (flam_history_store_is (input->path))
    return read_store (input->path, error);
  return flam_history_load (paths, &options, progress, error);
}
