/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-follow.h"

#include "flam-capture-reader.h"
#include "flam-snapshots.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <unistd.h>

struct _FlamFollow
{
  char *path;
  int fd; /* -1: not opened yet */
  int busy;
  FlamBuilder *builder;
  FlamCaptureReader *reader;
  FlamSnapshots *snapshots;
};

FlamFollow *
flam_follow_new (const char *path)
{
  FlamFollow *follow = g_atomic_rc_box_new0 (FlamFollow);

  follow->path = g_strdup (path);
  follow->fd = -1;
  follow->builder = flam_builder_new ();
  flam_builder_set_format (follow->builder, "flambeau");
  follow->reader = flam_capture_reader_new (path, follow->builder);
  follow->snapshots = flam_snapshots_new (follow->builder);
  return follow;
}

static void
follow_clear (gpointer data)
{
  FlamFollow *follow = data;

  if (follow->fd >= 0)
    close (follow->fd);
  flam_capture_reader_free (follow->reader);
  flam_snapshots_free (follow->snapshots);
  flam_builder_free (follow->builder);
  g_free (follow->path);
}

FlamFollow *
flam_follow_ref (FlamFollow *follow)
{
  return g_atomic_rc_box_acquire (follow);
}

void
flam_follow_unref (FlamFollow *follow)
{
  g_atomic_rc_box_release_full (follow, follow_clear);
}

static gboolean
read_new (FlamFollow *follow, GError **error)
{
  gboolean changed;

  if (follow->fd < 0)
    follow->fd = g_open (follow->path, O_RDONLY | O_CLOEXEC, 0);
  if (follow->fd < 0)
    {
      g_set_error (error,
                   FLAM_ERROR,
                   FLAM_ERROR_SYSTEM,
                   "%s: %s",
                   follow->path,
                   g_strerror (errno));
      return FALSE;
    }
  return flam_capture_reader_poll (follow->reader, follow->fd, &changed, error);
}

static gboolean
has_begun (FlamFollow *follow, GError **error)
{
  if (flam_capture_reader_n_rows (follow->reader, FLAM_TABLE_STRINGS) > 0)
    return TRUE;
  g_set_error (error,
               FLAM_ERROR,
               FLAM_ERROR_TRUNCATED,
               "%s: nothing is written yet",
               follow->path);
  return FALSE;
}

FlamProfile *
flam_follow_refresh (FlamFollow *follow, GError **error)
{
  FlamProfile *profile = NULL;

  if (!g_atomic_int_compare_and_exchange (&follow->busy, FALSE, TRUE))
    {
      g_set_error (error,
                   FLAM_ERROR,
                   FLAM_ERROR_CANCELLED,
                   "%s: is being read already",
                   follow->path);
      return NULL;
    }
  if (read_new (follow, error) && has_begun (follow, error))
    profile = flam_snapshots_take (follow->snapshots, error);
  g_atomic_int_set (&follow->busy, FALSE);
  return profile;
}
