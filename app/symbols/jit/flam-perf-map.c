/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-perf-map.h"

#include "flam-intervals.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX ((goffset)1 << 30)
#define PIECE ((gsize)1 << 20)

struct _FlamPerfMap
{
  char *text;    /* the file, names terminated in place */
  GArray *names; /* guint32 offsets into text */
  FlamIntervals map;
  gint64 time;
};

/* "HEX HEX name"; leaves `line` at the name. */
static gboolean
parse_line (char **line, guint64 *start, guint64 *size)
{
  char *end;

  if (!g_ascii_isxdigit (**line))
    return FALSE;
  *start = g_ascii_strtoull (*line, &end, 16);
  if (*end != ' ' || !g_ascii_isxdigit (end[1]))
    return FALSE;
  *size = g_ascii_strtoull (end + 1, &end, 16);
  if (*end != ' ' || !end[1] || *size > G_MAXUINT64 - *start)
    return FALSE;
  *line = end + 1;
  return TRUE;
}

static void
parse (FlamPerfMap *map)
{
  g_autoptr (GArray) ranges = g_array_new (FALSE, FALSE, sizeof (FlamInterval));

  for (char *line = map->text, *next; *line; line = next)
    {
      guint64 start, size;

      next = line + strcspn (line, "\n");
      if (*next)
        *next++ = '\0';
      if (parse_line (&line, &start, &size))
        {
          FlamInterval range = { start, start + size, map->names->len };
          guint32 name = (guint32)(line - map->text);

          line[strcspn (line, "\r")] = '\0';
          g_array_append_val (ranges, range);
          g_array_append_val (map->names, name);
        }
    }
  flam_intervals_init_latest (
      &map->map, (FlamInterval *)ranges->data, ranges->len);
}

/* Reads up to the first NUL: a hole in the file, which takes no space on the
 * disk, takes no memory either. */
static char *
read_all (int fd, gsize size)
{
  GString *text = g_string_new (NULL);
  g_autofree char *piece = g_malloc (PIECE);
  gboolean more = TRUE;

  while (more && text->len < size)
    {
      ssize_t n = read (fd, piece, MIN (PIECE, size - text->len));

      if (n < 0 && errno == EINTR)
        continue;
      more = n > 0 && memchr (piece, '\0', (gsize)n) == NULL;
      if (n > 0)
        g_string_append_len (text, piece, n);
    }
  return g_string_free (text, FALSE);
}

static FlamPerfMap *
open_owned (const char *path, uid_t owner, GError **error)
{
  int fd = open (path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  const char *wrong = NULL;
  FlamPerfMap *map = NULL;
  struct stat info;

  if (fd < 0 || fstat (fd, &info) != 0)
    wrong = g_strerror (errno);
  else if (!S_ISREG (info.st_mode))
    wrong = N_ ("not a regular file");
  else if (info.st_size > FILE_MAX)
    wrong = N_ ("larger than 1 GiB");
  else if (info.st_uid != owner && info.st_uid != 0)
    wrong =
        N_ ("belongs to a different user than the process, so it is ignored");
  else
    {
      map = g_new0 (FlamPerfMap, 1);
      map->text = read_all (fd, (gsize)info.st_size);
      map->names = g_array_new (FALSE, FALSE, sizeof (guint32));
      map->time = info.st_mtime;
      parse (map);
    }
  if (!map)
    flam_error_set (error, FLAM_ERROR_SYSTEM, "%s: %s", path, wrong);
  if (fd >= 0)
    close (fd);
  return map;
}

/* The pid in the process's own namespace, which its runtime uses in the name:
 * the last one in the line "NSpid:". */
static gint64
inner_pid (gint32 pid)
{
  g_autofree char *path = g_strdup_printf ("/proc/%d/status", pid);
  g_autofree char *text = NULL;
  const char *line;
  gint64 inner = pid;

  if (!g_file_get_contents (path, &text, NULL, NULL))
    return pid;
  line = strstr (text, "\nNSpid:");
  for (line = line ? line + 7 : ""; *line == '\t' || *line == ' ';)
    {
      char *end;
      gint64 value = g_ascii_strtoll (line, &end, 10);

      if (end == line)
        break;
      inner = value;
      line = end;
    }
  return inner;
}

/* Most runtimes write it only if they are started with an option for it. */
static FlamPerfMap *
open_written (const char *path, uid_t owner, GError **error)
{
  if (g_file_test (path, G_FILE_TEST_EXISTS))
    return open_owned (path, owner, error);
  return flam_error_null (error,
                          FLAM_ERROR_SYSTEM,
                          N_ ("it was generated while the program ran, which "
                              "did not write the names of its functions to "
                              "%s"),
                          path);
}

FlamPerfMap *
flam_perf_map_open_process (gint32 pid, GError **error)
{
  g_autofree char *process = g_strdup_printf ("/proc/%d", pid);
  g_autofree char *path = NULL;
  struct stat info;

  if (stat (process, &info) == 0)
    {
      path = g_strdup_printf ("%s/root/tmp/perf-%" G_GINT64_FORMAT ".map",
                              process,
                              inner_pid (pid));
      return open_written (path, info.st_uid, error);
    }
  path = g_strdup_printf ("/tmp/perf-%d.map", pid);
  return open_written (path, geteuid (), error);
}

FlamPerfMap *
flam_perf_map_open_in (const char *folder, gint32 pid)
{
  g_autofree char *name = g_strdup_printf ("perf-%d.map", pid);
  g_autofree char *path = g_build_filename (folder, name, NULL);

  return open_owned (path, geteuid (), NULL);
}

void
flam_perf_map_free (FlamPerfMap *map)
{
  if (!map)
    return;
  flam_intervals_clear (&map->map);
  g_array_free (map->names, TRUE);
  g_free (map->text);
  g_free (map);
}

gint64
flam_perf_map_get_time (const FlamPerfMap *map)
{
  return map->time;
}

const char *
flam_perf_map_find (const FlamPerfMap *map, guint64 address)
{
  guint32 row = flam_intervals_find (&map->map, address);

  if (row == FLAM_NONE)
    return NULL;
  return map->text + g_array_index (map->names, guint32, row);
}

gboolean
flam_perf_map_split_python (const char *name, char **function, char **file)
{
  const char *colon;

  if (!g_str_has_prefix (name, "py::"))
    return FALSE;
  name += 4;
  colon = strchr (name, ':');
  if (!colon || colon == name)
    return FALSE;
  *function = g_strndup (name, (gsize)(colon - name));
  *file = g_strdup (colon + 1);
  return TRUE;
}

/* The number after the last colon before `end`; sets `end` to that colon. */
static gboolean
take_number (const char *start, const char **end, guint64 *number)
{
  const char *p = *end;

  while (p > start && g_ascii_isdigit (p[-1]))
    p--;
  if (p == *end || p == start || p[-1] != ':')
    return FALSE;
  *number = g_ascii_strtoull (p, NULL, 10);
  *end = p - 1;
  return TRUE;
}

gboolean
flam_perf_map_split_v8 (const char *name, char **file, guint32 *line)
{
  static const char *const kinds[] = {
    "JS:", "LazyCompile:", "Function:", "Eval:", "Script:",
  };
  const char *location = strchr (name, ' ');
  const char *end = name + strlen (name);
  gboolean known = FALSE;
  guint64 number, column;

  for (gsize i = 0; i < G_N_ELEMENTS (kinds); i++)
    known |= g_str_has_prefix (name, kinds[i]);
  if (!known || !location || !take_number (location, &end, &column) ||
      !take_number (location, &end, &number) || end == location + 1)
    return FALSE;
  location++;
  if (g_str_has_prefix (location, "file://") && end - location > 7)
    location += 7;
  *file = g_strndup (location, (gsize)(end - location));
  *line = (guint32)MIN (number, G_MAXUINT32);
  return TRUE;
}
