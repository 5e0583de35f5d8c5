/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-inject.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "flam-alloc-shared.h"
#include "flam-launch.h"
#include "flam-machine.h"
#include "flam-stops.h"

#define PRELOAD "LD_PRELOAD="
#define IMAGE_MIN (64u << 10)
#define IMAGE_MAX (64u << 20) /* arguments and environment */
#define INTERPRETER_MAX 256

/* --- the program --------------------------------------------------------- */

static gboolean
is_loader (const char *path)
{
  g_autofree char *name = g_path_get_basename (path);

  return g_str_has_prefix (name, FLAM_MACHINE_LOADER) ||
         g_str_has_prefix (name, "ld-2.");
}

/* The text of PT_INTERP; NULL: none. */
static char *
read_interpreter (int fd, const Elf64_Ehdr *header)
{
  for (guint i = 0; i < header->e_phnum; i++)
    {
      Elf64_Phdr segment;
      char text[INTERPRETER_MAX] = "";

      if (pread (fd,
                 &segment,
                 sizeof segment,
                 (off_t)(header->e_phoff + i * sizeof segment)) !=
          (ssize_t)sizeof segment)
        break;
      if (segment.p_type != PT_INTERP)
        continue;
      if (pread (fd,
                 text,
                 MIN (segment.p_filesz, sizeof text - 1),
                 (off_t)segment.p_offset) < 0)
        break;
      return g_strdup (text);
    }
  return NULL;
}

static const char *
check_elf (int fd, const char *path)
{
  Elf64_Ehdr header = { 0 };
  g_autofree char *interpreter = NULL;

  if (pread (fd, &header, sizeof header, 0) < EI_NIDENT ||
      memcmp (header.e_ident, ELFMAG, SELFMAG) != 0)
    return NULL;
  if (header.e_ident[EI_CLASS] != ELFCLASS64)
    return N_ ("is a 32-bit program");
  if (header.e_machine != FLAM_UNWIND_ELF_MACHINE)
    return N_ ("is a program for another processor");
  interpreter = read_interpreter (fd, &header);
  /* The loader itself may be started, with a program as its argument. */
  if (interpreter == NULL && !is_loader (path))
    return N_ ("is statically linked");
  if (interpreter != NULL && !is_loader (interpreter))
    return N_ ("is not loaded by the GNU C library");
  return NULL;
}

static const char *
check_file (const char *open_as, const char *path)
{
  int fd = open (open_as, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  const char *why = NULL;
  struct stat st;

  if (fd < 0)
    return NULL;
  if (fstat (fd, &st) == 0 && S_ISREG (st.st_mode))
    why = (st.st_mode & (S_ISUID | S_ISGID)) && geteuid () != 0
              ? N_ ("runs with privileges")
              : check_elf (fd, path);
  close (fd);
  return why;
}

const char *
flam_preload_check (const char *program)
{
  return check_file (program, program);
}

static const char *
check_running (pid_t tid)
{
  g_autofree char *link = g_strdup_printf ("/proc/%d/exe", (int)tid);
  g_autofree char *path = g_file_read_link (link, NULL);

  return check_file (link, path != NULL ? path : "");
}

/* Whether the program sees the same file at this path. */
static gboolean
is_in_sight (pid_t tid, const char *path)
{
  g_autofree char *there = g_strdup_printf ("/proc/%d/root%s", (int)tid, path);
  struct stat here, seen;

  return stat (path, &here) == 0 && stat (there, &seen) == 0 &&
         here.st_ino == seen.st_ino;
}

/* Another user's process gets the folder: it has to write there. */
static gboolean
hand_over (const FlamInjection *injection, pid_t pid)
{
  gint64 user = flam_proc_status (pid, "Uid");
  gint64 group = flam_proc_status (pid, "Gid");
  g_autofree char *control =
      g_build_filename (injection->directory, "control", NULL);

  return user == (gint64)geteuid () ||
         (user >= 0 && group >= 0 &&
          chown (injection->directory, (uid_t)user, (gid_t)group) == 0 &&
          chown (control, (uid_t)user, (gid_t)group) == 0);
}

const char *
flam_inject_check_process (const FlamInjection *injection, pid_t pid)
{
  const char *why = check_running (pid);

  if (why != NULL)
    return why;
  return is_in_sight (pid, injection->library) &&
                 is_in_sight (pid, injection->directory) &&
                 hand_over (injection, pid)
             ? NULL
             : N_ ("does not see the files of this system");
}

/* --- its stack ----------------------------------------------------------- */

/* From the stack pointer to the stack's end. */
typedef struct
{
  guint64 sp;
  gsize size; /* bytes */
  char *data;
  gsize env;   /* where the environment begins in it ... */
  gsize auxv;  /* ... and ends, behind its 0 */
  gsize words; /* and the auxiliary vector, which strings follow */
} Image;

static guint64
word_at (const Image *image, gsize at)
{
  guint64 word;

  memcpy (&word, image->data + at, sizeof word);
  return word;
}

static gboolean
read_image (Image *image, pid_t tid)
{
  gsize room = IMAGE_MIN / 4;

  do
    {
      room *= 4;
      image->data = g_realloc (image->data, room);
      image->size = flam_read_memory (tid, image->sp, image->data, room);
    }
  while (image->size == room && room < IMAGE_MAX);
  return image->size > 0 && image->size < room;
}

static gboolean
skip_words (const Image *image, gsize *at)
{
  while (*at + 8 <= image->size)
    {
      *at += 8;
      if (word_at (image, *at - 8) == 0)
        return TRUE;
    }
  return FALSE;
}

/* AT_SECURE tells whether the loader ignores such libraries. */
static gboolean
parse_image (Image *image, gboolean *privileged)
{
  gsize at = 8;

  if (!skip_words (image, &at))
    return FALSE;
  image->env = at;
  if (!skip_words (image, &at))
    return FALSE;
  image->auxv = at;
  for (; at + 16 <= image->size; at += 16)
    if (word_at (image, at) == AT_NULL)
      {
        image->words = at + 16;
        return TRUE;
      }
    else if (word_at (image, at) == AT_SECURE)
      *privileged = word_at (image, at + 8) != 0;
  return FALSE;
}

/* The last value of LD_PRELOAD, which is the effective one; NULL: none. */
static const char *
inherited (const Image *image)
{
  const char *found = NULL;

  for (gsize at = image->env; at + 8 < image->auxv; at += 8)
    {
      guint64 offset = word_at (image, at) - image->sp;
      const char *text = image->data + offset;

      if (offset < image->size &&
          memchr (text, 0, image->size - offset) != NULL &&
          g_str_has_prefix (text, PRELOAD))
        found = text + strlen (PRELOAD);
    }
  return found != NULL && *found != '\0' ? found : NULL;
}

/* The new words, followed by the new strings, for the address `sp`. */
static GByteArray *
compose (const Image *image, const char *preload, const char *folder, gsize sp)
{
  GByteArray *block = g_byte_array_new ();
  gsize n_words = image->words + 2 * 8;
  guint64 ours[] = { sp + n_words, sp + n_words + strlen (preload) + 1, 0 };

  g_byte_array_append (
      block, (const guint8 *)image->data, (guint)image->auxv - 8);
  g_byte_array_append (block, (const guint8 *)ours, sizeof ours);
  g_byte_array_append (block,
                       (const guint8 *)image->data + image->auxv,
                       (guint)(image->words - image->auxv));
  g_byte_array_append (
      block, (const guint8 *)preload, (guint)strlen (preload) + 1);
  g_byte_array_append (
      block, (const guint8 *)folder, (guint)strlen (folder) + 1);
  return block;
}

/* For many arguments the pages below are not mapped yet; a write through this
 * file makes the stack grow, a process_vm_writev() does not. */
static gboolean
write_memory (pid_t tid, guint64 address, const GByteArray *block)
{
  g_autofree char *path = g_strdup_printf ("/proc/%d/mem", (int)tid);
  int fd = open (path, O_WRONLY | O_CLOEXEC);
  gsize done = 0;
  gssize n = 1;

  while (fd >= 0 && done < block->len && n > 0)
    {
      n = pwrite (
          fd, block->data + done, block->len - done, (off_t)(address + done));
      done += (gsize)MAX (n, 0);
    }
  if (fd >= 0)
    close (fd);
  return done == block->len;
}

static gboolean
write_block (pid_t tid, guint64 sp, const GByteArray *block)
{
  return write_memory (tid, sp, block) && flam_machine_set_sp (tid, sp);
}

/* The old content moves down by at least the length of the strings, so that
 * these lie where it ended. */
static gboolean
put_variables (const FlamInjection *injection, pid_t tid, const Image *image)
{
  const char *others = inherited (image);
  g_autofree char *preload = g_strconcat (PRELOAD,
                                          injection->library,
                                          others != NULL ? ":" : "",
                                          others != NULL ? others : "",
                                          NULL);
  g_autofree char *folder =
      g_strconcat (FLAM_ALLOC_ENV_DIR "=", injection->directory, NULL);
  gsize more = 2 * 8 + strlen (preload) + 1 + strlen (folder) + 1;
  guint64 sp = (image->sp - more) & ~(guint64)15;
  g_autoptr (GByteArray) block = compose (image, preload, folder, sp);

  return write_block (tid, sp, block);
}

const char *
flam_inject (const FlamInjection *injection, pid_t tid)
{
  const char *why = check_running (tid);
  g_autofree char *data = NULL;
  gboolean privileged = FALSE;
  Image image = { 0 };

  if (why != NULL)
    return why;
  if (!is_in_sight (tid, injection->library) ||
      !is_in_sight (tid, injection->directory))
    return N_ ("does not see the files of this system");
  image.sp = flam_machine_get_sp (tid);
  if (!read_image (&image, tid) || !parse_image (&image, &privileged))
    why = N_ ("has a stack that cannot be read");
  else if (privileged)
    why = N_ ("runs with privileges");
  else if (!put_variables (injection, tid, &image))
    why = N_ ("has a stack that cannot be written");
  data = image.data;
  return why;
}
