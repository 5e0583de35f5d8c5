/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-output.h"

#include "flam-rank.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SUFFIX ".flambeau"

G_GNUC_PRINTF (2, 3)
static gboolean
fail (GError **error, const char *what, ...)
{
  va_list arguments;
  g_autofree char *text = NULL;

  va_start (arguments, what);
  text = g_strdup_vprintf (what, arguments);
  va_end (arguments);
  return flam_error_set (error, FLAM_ERROR_SYSTEM, "%s", text);
}

/* A message with a remedy. */
static const char *
problem_text (int code)
{
  switch (code)
    {
    case ENOSPC:
    case EDQUOT:
      return N_ ("the disk is full: free some space, or choose another one "
                 "with --output");
    case EROFS:
    case EACCES:
    case EPERM:
      return N_ ("this is not permitted: choose another folder with --output");
    case EMFILE:
      return N_ ("too many open files: raise the limit (ulimit -n)");
    default:
      return g_strerror (code);
    }
}

static int
make (const char *path)
{
  return open (path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
}

/* --- without a name ------------------------------------------------------ */

static char *
stem_of_target (const FlamRecordOptions *options)
{
  char *const *names = options->argv;

  if (options->pids != NULL)
    return g_strdup_printf ("pid-%d", atoi (options->pids[0]));
  if (options->wait_for != NULL)
    names = &options->wait_for;
  else if (options->processes != NULL)
    names = options->processes;
  else if (options->units != NULL)
    names = options->units;
  else if (options->cgroups != NULL)
    names = options->cgroups;
  else if (options->containers != NULL)
    names = options->containers;
  return g_strdelimit (g_path_get_basename (names[0]), "/", '-');
}

static void
make_numbered (FlamOutput *output, const FlamRecordOptions *options)
{
  g_autofree char *stem = stem_of_target (options);

  output->path = g_strconcat (stem, SUFFIX, NULL);
  output->fd = make (output->path);
  for (guint i = 2; output->fd < 0 && errno == EEXIST; i++)
    {
      g_free (output->path);
      output->path = g_strdup_printf ("%s-%u" SUFFIX, stem, i);
      output->fd = make (output->path);
    }
}

/* --- with one ------------------------------------------------------------ */

/* A link or a device was probably created on purpose. */
static gboolean
may_be_replaced (const char *path, GError **error)
{
  struct stat st;

  if (lstat (path, &st) == 0 && !S_ISREG (st.st_mode))
    return fail (
        error, N_ ("%s: already exists and is not a regular file"), path);
  return TRUE;
}

static void
make_beside (FlamOutput *output)
{
  gsize n = strlen (output->path);

  if (g_str_has_suffix (output->path, SUFFIX))
    n -= strlen (SUFFIX);
  output->base_lines =
      g_strdup_printf ("%.*s-XXXXXX" SUFFIX, (int)n, output->path);
  output->fd = g_mkstemp_full (output->base_lines, O_RDWR | O_CLOEXEC, 0600);
  if (output->fd < 0)
    g_clear_pointer (&output->base_lines, g_free);
}

static gboolean
make_given (FlamOutput *output,
            const FlamRecordOptions *options,
            GError **error)
{
  output->path = flam_rank_expand (options->output, error);
  if (output->path == NULL)
    return FALSE;
  output->fd = make (output->path);
  if (output->fd >= 0 || errno != EEXIST)
    return TRUE;
  if (!options->force)
    return fail (
        error, N_ ("%s: already exists; --force replaces it"), output->path);
  if (!may_be_replaced (output->path, error))
    return FALSE;
  make_beside (output);
  return TRUE;
}

gboolean
flam_output_open (FlamOutput *output,
                  const FlamRecordOptions *options,
                  GError **error)
{
  *output = (FlamOutput){ .fd = -1 };
  if (options->output == NULL)
    make_numbered (output, options);
  else if (!make_given (output, options, error))
    return FALSE;
  if (output->fd < 0)
    return fail (error,
                 N_ ("%s: cannot be written: %s"),
                 output->path,
                 problem_text (errno));
  fstat (output->fd, &output->made);
  return TRUE;
}

int
flam_output_unnamed (const FlamOutput *output)
{
  g_autofree char *folder = g_path_get_dirname (output->path);
  g_autofree char *name = g_strconcat (output->path, ".XXXXXX", NULL);
  int fd = open (folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

  if (fd >= 0)
    return fd;
  fd = g_mkstemp_full (name, O_RDWR | O_CLOEXEC, 0600);
  if (fd >= 0)
    unlink (name);
  return fd;
}

/* --- the end ------------------------------------------------------------- */

gboolean
flam_output_finish (FlamOutput *output, GError **error)
{
  if (output->base_lines == NULL)
    return TRUE;
  if (!may_be_replaced (output->path, error))
    return FALSE;
  if (g_rename (output->base_lines, output->path) != 0)
    return fail (error,
                 N_ ("%s: cannot be replaced: %s"),
                 output->path,
                 g_strerror (errno));
  g_clear_pointer (&output->base_lines, g_free);
  return TRUE;
}

void
flam_output_abandon (FlamOutput *output)
{
  const char *path =
      output->base_lines != NULL ? output->base_lines : output->path;
  struct stat st;

  if (lstat (path, &st) == 0 && st.st_dev == output->made.st_dev &&
      st.st_ino == output->made.st_ino)
    unlink (path);
}

void
flam_output_clear (FlamOutput *output)
{
  if (output->fd >= 0)
    close (output->fd);
  g_free (output->path);
  g_free (output->base_lines);
}
