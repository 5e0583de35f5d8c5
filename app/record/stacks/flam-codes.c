/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-codes.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "flam-elf.h"
#include "flam-proc.h"
#include "flam-file-map.h"
#include "flam-stops.h"

#define IMAGE_MAX (64u << 20)

struct _FlamCodes
{
  FlamCaptureWriter *writer;
  gboolean python;    /* interpreters are looked for */
  GHashTable *by_key; /* "inode path" -> FlamCode */
  GPtrArray *list;
};

static void
code_free (gpointer data)
{
  FlamCode *code = data;

  if (code->fd >= 0)
    close (code->fd);
  flam_unwind_table_free (code->table);
  g_free (code->image);
  g_free (code->build_id);
  g_free (code->python);
  g_free (code->path);
  g_free (code);
}

FlamCodes *
flam_codes_new (FlamCaptureWriter *writer, gboolean python)
{
  FlamCodes *codes = g_new0 (FlamCodes, 1);

  codes->writer = writer;
  codes->python = python;
  codes->by_key = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  codes->list = g_ptr_array_new_with_free_func (code_free);
  return codes;
}

void
flam_codes_free (FlamCodes *codes)
{
  g_hash_table_unref (codes->by_key);
  g_ptr_array_unref (codes->list);
  g_free (codes);
}

guint
flam_codes_n (const FlamCodes *codes)
{
  return codes->list->len;
}

FlamCode *
flam_codes_at (const FlamCodes *codes, guint i)
{
  return g_ptr_array_index (codes->list, i);
}

/* --- the file ------------------------------------------------------------ */

/* Device numbers in maps differ from stat()'s on btrfs and overlays, so the
 * inode alone is compared. -1 unless it is that very file. */
static int
open_same (const char *path, guint64 inode)
{
  struct stat st;
  int fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

  if (fd < 0)
    flam_proc_note_error (errno);
  if (fd >= 0 && (fstat (fd, &st) != 0 || !S_ISREG (st.st_mode) ||
                  (guint64)st.st_ino != inode))
    {
      close (fd);
      fd = -1;
    }
  return fd;
}

static void
open_file (FlamCode *code, pid_t tid, const FlamMapping *mapping)
{
  char own[64];
  g_autofree char *rooted =
      g_strdup_printf ("/proc/%d/root%s", (int)tid, code->path);

  code->fd = open_same (code->path, mapping->inode);
  code->same_path = code->fd >= 0;
  if (code->fd < 0)
    code->fd = open_same (rooted, mapping->inode);
  g_snprintf (own, sizeof own, "/proc/%d/exe", (int)tid);
  if (code->fd < 0)
    code->fd = open_same (own, mapping->inode);
  g_snprintf (own,
              sizeof own,
              "/proc/%d/map_files/%" G_GINT64_MODIFIER "x-%" G_GINT64_MODIFIER
              "x",
              (int)tid,
              mapping->start,
              mapping->end);
  if (code->fd < 0)
    code->fd = open_same (own, mapping->inode);
}

static void
warn_of_python (FlamCodes *codes, const FlamCode *code)
{
  g_autofree char *text =
      g_strdup_printf ("%s: its Python functions cannot be shown: %s",
                       code->path,
                       code->python->why);

  flam_capture_writer_warning (codes->writer, text);
}

/* What its ELF file says. */
static void
inspect (FlamCodes *codes, FlamCode *code)
{
  g_autofree char *own = g_strdup_printf ("/proc/self/fd/%d", code->fd);
  g_autoptr (FlamElf) elf = NULL;
  FlamPythonElf python;

  if (code->image != NULL)
    elf = flam_elf_new_from_data (
        code->path, code->image, code->image_size, NULL);
  else if (code->fd >= 0)
    elf = flam_elf_open (own, NULL);
  code->build_id = g_strdup (elf != NULL ? flam_elf_get_build_id (elf) : "");
  if (elf == NULL || code->fd < 0 || !codes->python ||
      !flam_python_find (elf, code->fd, code->path, &python))
    return;
  code->python = g_memdup2 (&python, sizeof python);
  if (python.why != NULL)
    warn_of_python (codes, code);
}

/* The vdso, and files that are gone and cannot be opened: what is mapped. */
static void
copy_image (FlamCode *code, pid_t tid, const FlamMapping *mapping)
{
  gsize size = MIN (mapping->end - mapping->start, IMAGE_MAX);

  code->image = g_malloc (size);
  code->image_size = flam_read_memory (tid, mapping->start, code->image, size);
  code->image_offset = mapping->offset;
  if (code->image_size == 0)
    g_clear_pointer (&code->image, g_free);
}

static FlamCodeKind
kind_of (const char *path)
{
  if (strcmp (path, "[vdso]") == 0)
    return FLAM_CODE_VDSO;
  return path[0] == '/' && !g_str_has_prefix (path, "/memfd:") &&
                 !g_str_has_prefix (path, "/dev/") &&
                 !g_str_has_prefix (path, "/SYSV")
             ? FLAM_CODE_FILE
             : FLAM_CODE_ANONYMOUS;
}

static FlamCode *
code_new (FlamCodes *codes, pid_t tid, const FlamMapping *mapping)
{
  FlamCode *code = g_new0 (FlamCode, 1);

  code->fd = -1;
  code->kind = kind_of (mapping->path);
  code->path = g_strdup (mapping->path);
  code->deleted = g_str_has_suffix (code->path, " (deleted)");
  if (code->deleted)
    code->path[strlen (code->path) - strlen (" (deleted)")] = '\0';
  if (code->kind == FLAM_CODE_FILE)
    open_file (code, tid, mapping);
  else if (code->kind == FLAM_CODE_VDSO)
    copy_image (code, tid, mapping);
  inspect (codes, code);
  code->id = flam_capture_writer_module (codes->writer,
                                         code->path,
                                         code->build_id,
                                         code->kind == FLAM_CODE_ANONYMOUS
                                             ? FLAM_ADDRESS_ABSOLUTE
                                             : FLAM_ADDRESS_FILE_OFFSET);
  g_ptr_array_add (codes->list, code);
  return code;
}

FlamCode *
flam_codes_get (FlamCodes *codes,
                pid_t pid,
                pid_t tid,
                const FlamMapping *mapping)
{
  gboolean anonymous = kind_of (mapping->path) == FLAM_CODE_ANONYMOUS;
  g_autofree char *name =
      anonymous ? g_strdup_printf ("[generated code of process %d]", (int)pid)
                : g_strdup (mapping->path);
  FlamMapping shown = *mapping;
  g_autofree char *key = g_strdup_printf (
      "%" G_GUINT64_FORMAT " %s", anonymous ? 0 : mapping->inode, name);
  FlamCode *code = g_hash_table_lookup (codes->by_key, key);

  if (code != NULL)
    return code;
  shown.path = name;
  code = code_new (codes, tid, &shown);
  g_hash_table_insert (codes->by_key, g_steal_pointer (&key), code);
  return code;
}

/* --- its unwind table ---------------------------------------------------- */

static FlamUnwindTable *
table_of_file (int fd)
{
  struct stat st;
  const char *why;
  g_autoptr (FlamFileMap) file = NULL;

  if (fd < 0 || fstat (fd, &st) != 0 || st.st_size <= 0)
    return NULL;
  file = flam_file_map_new (fd, (gsize)st.st_size);
  return file ? flam_unwind_table_new_file (file->data, file->size, &why)
              : NULL;
}

const FlamUnwindTable *
flam_code_get_table (FlamCode *code)
{
  const char *why;

  if (code->table_tried)
    return code->table;
  code->table_tried = TRUE;
  if (code->image != NULL)
    code->table =
        flam_unwind_table_new_memory (code->image, code->image_size, &why);
  else
    code->table = table_of_file (code->fd);
  return code->table;
}
