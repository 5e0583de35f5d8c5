/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-cli-reference.h"

#include "flam-history-load.h"

#include <string.h>
#include <sys/stat.h>

static gint64
date_of (const FlamProfile *profile, const char *path)
{
  gint64 modified, size;

  if (profile->facts.start_unix_ns > 0)
    return profile->facts.start_unix_ns;
  flam_history_stamp (path, &modified, &size);
  return modified;
}

static gboolean
is_same_file (const char *a, const char *b)
{
  struct stat one, two;

  return stat (a, &one) == 0 && stat (b, &two) == 0 &&
         one.st_dev == two.st_dev && one.st_ino == two.st_ino;
}

/* Only one capture is in memory at a time. Unreadable ones are listed. */
static char *
find_last (const FlamCliReference *asked,
           const FlamHistoryKey *key,
           const char *series,
           const GArray *files,
           FlamCliOptions *options)
{
  gint64 before = date_of (asked->profile, asked->path), last = G_MININT64;
  const char *found = NULL;

  for (guint i = 0; i < files->len; i++)
    {
      const FlamHistoryFile *file = &g_array_index (files, FlamHistoryFile, i);
      g_autofree char *own = flam_history_key_match (key, file->path);
      g_autoptr (FlamProfile) profile = NULL;
      gint64 date;

      if (g_strcmp0 (own, series) != 0 ||
          is_same_file (file->path, asked->path))
        continue;
      profile = flam_cli_load (file->path, options);
      if (profile == NULL)
        continue;
      date = date_of (profile, file->path);
      if (date <= before && date > last)
        {
          last = date;
          found = file->path;
        }
    }
  return g_strdup (found);
}

char *
flam_cli_reference_find (const FlamCliReference *asked, FlamCliOptions *options)
{
  const char *const folders[] = { asked->folder, NULL };
  g_autoptr (GPtrArray) refused = flam_history_new_refused ();
  g_autoptr (GArray) files = NULL;
  g_autoptr (GError) error = NULL;
  g_auto (FlamHistoryKey) key = { NULL };
  g_autofree char *series = NULL, *found = NULL;

  if (!flam_history_key_init (&key, asked->group, &error))
    {
      flam_cli_usage ("diff: --group: %s", error->message);
      return NULL;
    }
  series = flam_history_key_match (&key, asked->path);
  if (asked->group != NULL && series == NULL)
    {
      flam_cli_error (_ ("%s: --group matches no part of this path"),
                      asked->path);
      return NULL;
    }
  files = flam_history_find_files (folders, FALSE, refused, NULL, &error);
  if (files != NULL)
    found = find_last (asked, &key, series, files, options);
  if (found == NULL)
    flam_cli_error (_ ("%s: there is no capture from before %s"),
                    asked->folder,
                    asked->path);
  else
    g_printerr (_ ("compared with %s\n"), found);
  return g_steal_pointer (&found);
}
