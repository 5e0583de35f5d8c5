/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-alloc-folder.h"

#include "flam-alloc-shared.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX "flambeau-"
#define TEMPLATE PREFIX "XXXXXX"
#define N_FOLDERS 3

/* Memory, not a disk; the last one is for systems without the others. */
static const char *
base_folder (guint i)
{
  const char *folders[N_FOLDERS] = { "/dev/shm",
                                     g_get_user_runtime_dir (),
                                     "/tmp" };

  return folders[i];
}

static int
open_folder (int parent, const char *path)
{
  return openat (parent, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

gboolean
flam_alloc_folder_make (FlamAllocFolder *folder, GError **error)
{
  for (guint i = 0; i < N_FOLDERS; i++)
    {
      g_autofree char *path =
          g_build_filename (base_folder (i), TEMPLATE, NULL);

      if (g_mkdtemp_full (path, 0700) == NULL)
        continue;
      folder->fd = open_folder (AT_FDCWD, path);
      if (folder->fd >= 0)
        {
          flock (folder->fd, LOCK_EX);
          folder->path = g_steal_pointer (&path);
          return TRUE;
        }
      rmdir (path);
    }
  return flam_error_set (
      error,
      FLAM_ERROR_SYSTEM,
      N_ ("%s: cannot create a folder for allocation events: %s"),
      base_folder (0),
      g_strerror (errno));
}

/* --- removing ------------------------------------------------------------ */

/* Whether the name is "control", or PID.N of a target. */
static gboolean
is_ours (const char *name)
{
  gsize n = strspn (name, "0123456789");

  if (strcmp (name, "control") == 0)
    return TRUE;
  return n > 0 && name[n] == '.' && name[n + 1] != '\0' &&
         name[n + 1 + strspn (name + n + 1, "0123456789")] == '\0';
}

static void
remove_files (int fd)
{
  int copy = openat (fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *dir = copy >= 0 ? fdopendir (copy) : NULL;
  struct dirent *entry;

  while (dir != NULL && (entry = readdir (dir)) != NULL)
    if (is_ours (entry->d_name))
      unlinkat (fd, entry->d_name, 0);
  if (dir != NULL)
    closedir (dir);
}

void
flam_alloc_folder_remove (FlamAllocFolder *folder)
{
  if (folder->path == NULL)
    return;
  remove_files (folder->fd);
  unlinkat (AT_FDCWD, folder->path, AT_REMOVEDIR);
  close (folder->fd);
  g_clear_pointer (&folder->path, g_free);
}

/* --- leftovers of other recorders ---------------------------------------- */

/* A folder of that name that the user made does not contain this file. */
static gboolean
has_control (int fd)
{
  int control = openat (
      fd, "control", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  guint64 magic = 0;
  gboolean has;

  if (control < 0)
    return FALSE;
  has = pread (control, &magic, sizeof magic, 0) == sizeof magic &&
        magic == FLAM_ALLOC_MAGIC;
  close (control);
  return has;
}

static void
sweep_folder (int parent, const char *name)
{
  int fd = open_folder (parent, name);
  struct stat st;

  if (fd < 0)
    return;
  if (fstat (fd, &st) == 0 && st.st_uid == geteuid () &&
      (st.st_mode & 07777) == 0700 && flock (fd, LOCK_EX | LOCK_NB) == 0 &&
      has_control (fd))
    {
      remove_files (fd);
      unlinkat (parent, name, AT_REMOVEDIR);
    }
  close (fd);
}

static void
sweep_base (const char *path)
{
  DIR *dir = opendir (path);
  struct dirent *entry;

  while (dir != NULL && (entry = readdir (dir)) != NULL)
    if (strlen (entry->d_name) == strlen (TEMPLATE) &&
        g_str_has_prefix (entry->d_name, PREFIX))
      sweep_folder (dirfd (dir), entry->d_name);
  if (dir != NULL)
    closedir (dir);
}

void
flam_alloc_folder_sweep (void)
{
  for (guint i = 0; i < N_FOLDERS; i++)
    sweep_base (base_folder (i));
}
