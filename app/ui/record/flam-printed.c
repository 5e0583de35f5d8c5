/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-printed.h"

#include "flam-core-profile.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gi18n.h>
#include <glib/gstdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define BOUND (16 << 20)
#define TAKEN_MAX (64 << 10) /* bytes; the end of longer output is kept */
#define EVERY_S 1

struct _FlamPrinted
{
  int theirs; /* opened for appending */
  int ours;   /* a second descriptor, which tells whether others have the file
                 open */
  gint64 at;
  gboolean left_out;
  gboolean freed; /* by its owner; other processes may still print */
};

static gint64
size_of (const FlamPrinted *printed)
{
  struct stat info;

  return fstat (printed->ours, &info) == 0 ? info.st_size : 0;
}

/* Processes that append continue at the beginning. Unread data is lost, which
 * is reported. */
static void
hold_bound (FlamPrinted *printed)
{
  if (size_of (printed) <= BOUND || ftruncate (printed->ours, 0) != 0)
    return;
  printed->at = 0;
  printed->left_out = TRUE;
}

/* A lease for writing is granted only if no other process has the file open. */
static gboolean
is_ours_alone (const FlamPrinted *printed)
{
  if (fcntl (printed->ours, F_SETLEASE, F_WRLCK) != 0)
    return errno != EAGAIN;
  fcntl (printed->ours, F_SETLEASE, F_UNLCK);
  return TRUE;
}

static gboolean
on_timeout (gpointer data)
{
  FlamPrinted *printed = data;

  hold_bound (printed);
  if (!printed->freed || !is_ours_alone (printed))
    return G_SOURCE_CONTINUE;
  close (printed->ours);
  g_free (printed);
  return G_SOURCE_REMOVE;
}

FlamPrinted *
flam_printed_new (GError **error)
{
  g_autofree char *folder =
      g_build_filename (g_get_user_cache_dir (), "flambeau", NULL);
  g_autofree char *path = g_build_filename (folder, "output-XXXXXX", NULL);
  FlamPrinted *printed;
  int theirs, ours = -1;

  g_mkdir_with_parents (folder, 0700);
  theirs = g_mkstemp_full (path, O_RDWR | O_APPEND | O_CLOEXEC, 0600);
  if (theirs >= 0)
    {
      ours = open (path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
      g_unlink (path);
    }
  if (ours < 0)
    {
      g_set_error (error,
                   FLAM_ERROR,
                   FLAM_ERROR_SYSTEM,
                   _ ("The recorder cannot be started: %s"),
                   g_strerror (errno));
      if (theirs >= 0)
        close (theirs);
      return NULL;
    }
  printed = g_new0 (FlamPrinted, 1);
  printed->theirs = theirs;
  printed->ours = ours;
  g_timeout_add_seconds (EVERY_S, on_timeout, printed);
  return printed;
}

void
flam_printed_seal (FlamPrinted *printed)
{
  if (printed->theirs >= 0)
    close (printed->theirs);
  printed->theirs = -1;
}

void
flam_printed_free (FlamPrinted *printed)
{
  flam_printed_seal (printed);
  printed->freed = TRUE;
}

int
flam_printed_dup (const FlamPrinted *printed, int lowest)
{
  return fcntl (printed->theirs, F_DUPFD_CLOEXEC, lowest);
}

char *
flam_printed_take (FlamPrinted *printed, gboolean *left_out)
{
  gint64 size = size_of (printed);
  char *text = NULL;
  gssize n, length = 0;

  if (size - printed->at > TAKEN_MAX)
    {
      printed->at = size - TAKEN_MAX;
      printed->left_out = TRUE;
    }
  text = g_malloc (TAKEN_MAX + 1);
  n = pread (printed->ours, text, TAKEN_MAX, printed->at);
  printed->at += MAX (n, 0);
  hold_bound (printed);
  *left_out = *left_out || printed->left_out;
  for (gssize i = 0; i < n; i++)
    if (text[i] != '\0')
      text[length++] = text[i];
  text[length] = '\0';
  if (length == 0)
    g_clear_pointer (&text, g_free);
  return text;
}
