/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-follow.h"

#include "flam-capture-reader.h"
#include "flam-core-profile.h"
#include "flam-frame-names.h"

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
  FlamFrameNames *names; /* or NULL */
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
  g_clear_pointer (&follow->names, flam_frame_names_free);
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
    return flam_error_set (
        error, FLAM_ERROR_SYSTEM, "%s: %s", follow->path, g_strerror (errno));
  return flam_capture_reader_poll (follow->reader, follow->fd, &changed, error);
}

static gboolean
has_begun (FlamFollow *follow, GError **error)
{
  if (flam_capture_reader_n_rows (follow->reader, FLAM_TABLE_STRINGS) > 0)
    return TRUE;
  return flam_error_set (error,
                         FLAM_ERROR_TRUNCATED,
                         N_ ("%s: nothing has been written yet"),
                         follow->path);
}

/* The names that were looked up here. */
static void
forget_names (FlamFollow *follow)
{
  FlamTables *tables = flam_builder_tables (follow->builder);
  guint32 written =
      flam_capture_reader_n_rows (follow->reader, FLAM_TABLE_SYMBOLS);

  if (follow->names == NULL)
    return;
  g_clear_pointer (&follow->names, flam_frame_names_free);
  flam_tables_drop (tables, FLAM_TABLE_SYMBOLS, tables->symbols.n - written);
  flam_snapshots_free (follow->snapshots);
  follow->snapshots = flam_snapshots_new (follow->builder);
}

/* The recorder's names, at the end of the file, are better than these. */
static void
name_frames (FlamFollow *follow, const char *const *binaries)
{
  if (follow->names != NULL &&
      !g_strv_equal (flam_frame_names_binaries (follow->names), binaries))
    forget_names (follow);
  if (flam_capture_reader_n_rows (follow->reader, FLAM_TABLE_SYMBOLS) > 0)
    {
      forget_names (follow);
      return;
    }
  if (follow->names == NULL)
    follow->names = flam_frame_names_new (binaries);
  flam_frame_names_add (follow->names, follow->builder);
}

FlamProfile *
flam_follow_refresh (FlamFollow *follow,
                     const char *const *binaries,
                     GError **error)
{
  FlamProfile *profile = NULL;

  if (!g_atomic_int_compare_and_exchange (&follow->busy, FALSE, TRUE))
    return flam_error_null (error,
                            FLAM_ERROR_CANCELLED,
                            N_ ("%s: is already being read"),
                            follow->path);
  if (read_new (follow, error) && has_begun (follow, error))
    {
      if (binaries != NULL)
        name_frames (follow, binaries);
      profile = flam_snapshots_take (follow->snapshots, error);
    }
  g_atomic_int_set (&follow->busy, FALSE);
  return profile;
}
