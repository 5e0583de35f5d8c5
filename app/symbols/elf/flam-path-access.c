/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-path-access.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#define LINKS_MAX 40
/* The time for which the list of mounts is considered current. */
#define MOUNTS_US G_USEC_PER_SEC

typedef struct
{
  char *path;
  gboolean network;
  gboolean automount;
} Mount;

static GMutex lock; /* protects the following */
static GArray *mounts;
static gint64 mounts_read;
static GPtrArray *asked;
static GPtrArray *roots; /* or NULL */

/* --- mounts --------------------------------------------------------------- */

static gboolean
is_network (const char *type)
{
  static const char *const types[] = {
    "nfs",  "nfs4",   "cifs",     "smb3", "smbfs", "ncpfs", "afs",  "coda",
    "ceph", "lustre", "orangefs", "gfs2", "ocfs2", "davfs", "fuse", "autofs",
  };
  /* These are on the local machine. */
  static const char *const local[] = {
    "fuse.portal", "fuse.fuse-overlayfs", "fuse.lxcfs", "fuse.ntfs-3g"
  };

  for (guint i = 0; i < G_N_ELEMENTS (local); i++)
    if (strcmp (type, local[i]) == 0)
      return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    if (strcmp (type, types[i]) == 0)
      return TRUE;
  return g_str_has_prefix (type, "fuse.");
}

static void
clear_mount (gpointer data)
{
  g_free (((Mount *)data)->path);
}

/* "36 35 98:0 /root /mount\040point rw,noatime master:1 - ext4 /dev/x rw" */
static void
add_mount (const char *line)
{
  g_auto (GStrv) fields = g_strsplit (line, " ", -1);
  guint n = g_strv_length (fields);

  for (guint i = 5; i + 1 < n; i++)
    if (strcmp (fields[i], "-") == 0)
      {
        Mount mount = { g_strcompress (fields[4]),
                        is_network (fields[i + 1]),
                        strcmp (fields[i + 1], "autofs") == 0 };
        g_array_append_val (mounts, mount);
        return;
      }
}

static void
read_mounts (void)
{
  gint64 now = g_get_monotonic_time ();
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;

  if (mounts != NULL && now - mounts_read < MOUNTS_US)
    return;
  g_clear_pointer (&mounts, g_array_unref);
  mounts = g_array_new (FALSE, FALSE, sizeof (Mount));
  g_array_set_clear_func (mounts, clear_mount);
  mounts_read = now;
  g_file_get_contents ("/proc/self/mountinfo", &text, NULL, NULL);
  lines = g_strsplit (text != NULL ? text : "", "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    add_mount (lines[i]);
}

static gboolean
is_below (const char *path, const char *folder)
{
  gsize n = strlen (folder);

  if (n > 0 && folder[n - 1] == '/')
    n--;
  return strncmp (path, folder, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

/* The last one, if two are mounted at the same place: it hides the other. */
static const Mount *
mount_of (const char *path)
{
  const Mount *best = NULL;

  for (guint i = 0; i < mounts->len; i++)
    {
      const Mount *mount = &g_array_index (mounts, Mount, i);

      if (is_below (path, mount->path) &&
          (best == NULL || strlen (mount->path) >= strlen (best->path)))
        best = mount;
    }
  return best;
}

/* --- granted paths -------------------------------------------------------- */

/* The home directory, the current one and the system are granted by default. */
static void
begin_asking (void)
{
  const char *here = g_get_home_dir ();

  if (asked != NULL)
    return;
  asked = g_ptr_array_new_with_free_func (g_free);
  g_ptr_array_add (asked, g_strdup ("/"));
  g_ptr_array_add (asked, g_strdup ("/usr"));
  g_ptr_array_add (asked, g_get_current_dir ());
  if (here != NULL)
    g_ptr_array_add (asked, g_strdup (here));
}

static gboolean
is_asked_for (const char *path, const Mount *mount)
{
  begin_asking ();
  for (guint i = 0; i < asked->len; i++)
    {
      const char *one = asked->pdata[i];

      if (!mount->automount && mount_of (one) == mount)
        return TRUE;
      /* Not "/", because all paths are below it. */
      if (strcmp (one, "/") != 0 && is_below (path, one))
        return TRUE;
    }
  return FALSE;
}

void
flam_path_access_grant (const char *path)
{
  g_autofree char *whole = g_canonicalize_filename (path, NULL);

  g_mutex_lock (&lock);
  begin_asking ();
  if (!g_ptr_array_find_with_equal_func (asked, whole, g_str_equal, NULL))
    g_ptr_array_add (asked, g_steal_pointer (&whole));
  g_mutex_unlock (&lock);
}

void
flam_path_access_grant_root (const char *path)
{
  g_mutex_lock (&lock);
  if (roots == NULL)
    roots = g_ptr_array_new_with_free_func (g_free);
  if (!g_ptr_array_find_with_equal_func (roots, path, g_str_equal, NULL))
    g_ptr_array_add (roots, g_strdup (path));
  g_mutex_unlock (&lock);
}

/* The root folder that contains it, and its path there; NULL: none. */
static char *
root_of (const char *path, const char **rest)
{
  char *root = NULL;

  g_mutex_lock (&lock);
  for (guint i = 0; roots != NULL && i < roots->len && root == NULL; i++)
    if (is_below (path, roots->pdata[i]))
      root = g_strdup (roots->pdata[i]);
  g_mutex_unlock (&lock);
  if (root != NULL)
    *rest = path + strlen (root) + strspn (path + strlen (root), "/");
  return root;
}

/* --- the walk ------------------------------------------------------------ */

static const char *
why_not (const char *path, const char *rest)
{
  static const char *const systems[] = { "/proc", "/sys", "/dev" };
  g_autofree char *whole = g_build_filename (path, rest, NULL);
  const Mount *mount;

  for (guint i = 0; i < G_N_ELEMENTS (systems); i++)
    if (is_below (path, systems[i]))
      return N_ ("names below /proc, /sys and /dev are not followed");
  read_mounts ();
  mount = mount_of (path);
  if (mount != NULL && mount->network && !is_asked_for (whole, mount))
    return N_ ("it is on a network file system, where no files were requested");
  return NULL;
}

/* The text of the link, if it is one and there is space for it. */
static char *
link_of (const char *path)
{
  char target[PATH_MAX];
  gssize n = readlink (path, target, sizeof target);

  return n > 0 && n < (gssize)sizeof target ? g_strndup (target, (gsize)n)
                                            : NULL;
}

/* Resolves a path like the kernel, but checks before each step:
 *
 *    at  /home/me        rest  link/../x/y.c
 */
static const char *
walk (char *start)
{
  g_autoptr (GString) at = g_string_new ("");
  g_autofree char *rest = start;
  guint links = 0;

  while (*rest != '\0')
    {
      g_auto (GStrv) parts = g_strsplit (rest, "/", 2);
      g_autofree char *next = g_strdup (parts[1] != NULL ? parts[1] : "");
      g_autofree char *target = NULL;
      gsize before = at->len;
      const char *why;

      g_free (rest);
      rest = g_strdup (next);
      if (*parts[0] == '\0' || strcmp (parts[0], ".") == 0)
        continue;
      if (strcmp (parts[0], "..") == 0)
        {
          const char *slash = strrchr (at->str, '/');
          g_string_truncate (at, slash != NULL ? (gsize)(slash - at->str) : 0);
          continue;
        }
      g_string_append_printf (at, "/%s", parts[0]);
      why = why_not (at->str, rest);
      if (why != NULL)
        return why;
      target = link_of (at->str);
      if (target == NULL)
        continue;
      if (++links > LINKS_MAX)
        return N_ ("it has too many symbolic links");
      g_string_truncate (at, *target == '/' ? 0 : before);
      g_free (rest);
      rest = g_build_filename (target, next, NULL);
    }
  return NULL;
}

gboolean
flam_path_access_check (const char *path, const char **why)
{
  g_autofree char *here = g_get_current_dir ();
  const char *reason;

  g_mutex_lock (&lock);
  reason = walk (*path == '/' ? g_strdup (path)
                              : g_strconcat (here, "/", path, NULL));
  g_mutex_unlock (&lock);
  if (why != NULL)
    *why = reason;
  return reason == NULL;
}

/* --- opening ------------------------------------------------------------- */

/* The kernel's files are regular ones to fstat(). */
static gboolean
is_kernels (int fd)
{
  static const guint32 kinds[] = {
    PROC_SUPER_MAGIC,   SYSFS_MAGIC,        DEBUGFS_MAGIC,       TRACEFS_MAGIC,
    SECURITYFS_MAGIC,   CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC, BPF_FS_MAGIC,
    DEVPTS_SUPER_MAGIC, EFIVARFS_MAGIC,     PSTOREFS_MAGIC,      BINFMTFS_MAGIC,
    SELINUX_MAGIC,      SMACK_MAGIC,
  };
  struct statfs info;

  if (fstatfs (fd, &info) != 0)
    return TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if ((guint32)info.f_type == kinds[i])
      return TRUE;
  return FALSE;
}

static int
refuse (GError **error, const char *path, const char *why)
{
  flam_error_set (error, FLAM_ERROR_SYSTEM, "%s: %s", path, why);
  return -1;
}

#define OPEN_FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

/* Returns `fd` if it is such a file; otherwise closes it and returns -1. */
static int
check_regular (int fd, const char *path, struct stat *info, GError **error)
{
  if (fd < 0 || fstat (fd, info) != 0)
    refuse (error, path, g_strerror (errno));
  else if (!S_ISREG (info->st_mode))
    refuse (error, path, N_ ("not a regular file"));
  else if (is_kernels (fd))
    refuse (error, path, N_ ("not a file on a disk"));
  else
    return fd;
  if (fd >= 0)
    close (fd);
  return -1;
}

int
flam_path_access_open_regular (const char *path,
                               struct stat *info,
                               GError **error)
{
  return check_regular (open (path, OPEN_FLAGS), path, info, error);
}

/* Without support by the kernel (before 5.6, or with a system call filter):
 * component by component, without following links. */
static int
walk_beneath (int folder, const char *rest)
{
  g_auto (GStrv) parts = g_strsplit (rest, "/", -1);
  int at = fcntl (folder, F_DUPFD_CLOEXEC, 0);

  for (guint i = 0; parts[i] != NULL && at >= 0; i++)
    {
      int flags =
          parts[i + 1] != NULL ? O_PATH | O_DIRECTORY | O_CLOEXEC : OPEN_FLAGS;
      int above = at;

      if (*parts[i] == '\0' || strcmp (parts[i], ".") == 0)
        continue;
      errno = EXDEV;
      at = strcmp (parts[i], "..") != 0
               ? openat (above, parts[i], flags | O_NOFOLLOW)
               : -1;
      close (above);
    }
  return at;
}

/* `resolve`: what a link that leads out of it means. */
static int
open_beneath (int folder, const char *rest, guint64 resolve)
{
  struct open_how how = { .flags = OPEN_FLAGS,
                          .resolve = resolve | RESOLVE_NO_MAGICLINKS };
  int fd = (int)syscall (SYS_openat2, folder, rest, &how, sizeof how);

  if (fd < 0 && (errno == ENOSYS || errno == EPERM))
    return walk_beneath (folder, rest);
  return fd;
}

static int
open_in_root (const char *root, const char *rest)
{
  int folder = open (root, O_PATH | O_DIRECTORY | O_CLOEXEC), fd;

  if (folder < 0)
    return -1;
  fd = open_beneath (folder, rest, RESOLVE_IN_ROOT);
  close (folder);
  return fd;
}

int
flam_path_access_open (const char *path, struct stat *info, GError **error)
{
  const char *why, *rest;
  g_autofree char *root = root_of (path, &rest);

  if (root != NULL)
    return check_regular (open_in_root (root, rest), path, info, error);
  if (!flam_path_access_check (path, &why))
    return refuse (error, path, why);
  return flam_path_access_open_regular (path, info, error);
}

int
flam_path_access_open_beneath (const char *folder,
                               const char *path,
                               struct stat *info,
                               GError **error)
{
  const char *rest = path + strlen (folder);
  const char *why;
  int fd, root;

  g_assert (g_str_has_prefix (path, folder));
  if (!flam_path_access_check (path, &why))
    return refuse (error, path, why);
  root = open (folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (root < 0)
    return refuse (error, folder, g_strerror (errno));
  fd = open_beneath (root, rest + strspn (rest, "/"), RESOLVE_BENEATH);
  close (root);
  if (fd < 0 && (errno == EXDEV || errno == ELOOP))
    return refuse (error, path, N_ ("a link leads out of the folder"));
  return check_regular (fd, path, info, error);
}

/* Reads `most` + 1 bytes if there are as many. NULL with errno set. */
static GString *
read_up_to (int fd, gsize most)
{
  g_autoptr (GString) text = g_string_new (NULL);
  char piece[1 << 14];
  gssize n = 1;

  while (n != 0 && text->len <= most)
    {
      n = read (fd, piece, MIN (sizeof piece, most + 1 - text->len));
      if (n > 0)
        g_string_append_len (text, piece, n);
      else if (n < 0 && errno != EINTR)
        return NULL;
    }
  return g_steal_pointer (&text);
}

/* Closes `fd` and returns -1; the error is set. */
static char *
read_all (int fd, const char *path, gsize most, gsize *size, GError **error)
{
  g_autoptr (GString) text = NULL;

  if (fd < 0)
    return NULL;
  text = read_up_to (fd, most);
  if (text == NULL)
    refuse (error, path, g_strerror (errno));
  close (fd);
  if (text == NULL)
    return NULL;
  if (text->len > most)
    return flam_error_null (error,
                            FLAM_ERROR_TOO_LARGE,
                            N_ ("%s: larger than %zu bytes"),
                            path,
                            most);
  *size = text->len;
  return g_string_free (g_steal_pointer (&text), FALSE);
}

char *
flam_path_access_read (const char *path,
                       gsize most,
                       gsize *size,
                       GError **error)
{
  struct stat info;

  return read_all (
      flam_path_access_open (path, &info, error), path, most, size, error);
}

char *
flam_path_access_read_beneath (const char *folder,
                               const char *path,
                               gsize most,
                               gsize *size,
                               GError **error)
{
  struct stat info;

  return read_all (flam_path_access_open_beneath (folder, path, &info, error),
                   path,
                   most,
                   size,
                   error);
}
