/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-alloc-session.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static gboolean
has_interpreter (int fd, const Elf64_Ehdr *header)
{
  for (guint i = 0; i < header->e_phnum; i++)
    {
      Elf64_Phdr segment;

      if (pread (fd,
                 &segment,
                 sizeof segment,
                 (off_t)(header->e_phoff + i * sizeof segment)) !=
          (ssize_t)sizeof segment)
        return TRUE;
      if (segment.p_type == PT_INTERP)
        return TRUE;
    }
  return FALSE;
}

char *
flam_alloc_obstacle (const char *program)
{
  int fd = open (program, O_RDONLY | O_CLOEXEC);
  char *why = NULL;
  Elf64_Ehdr header;
  struct stat st;

  if (fd < 0)
    return NULL;
  if (fstat (fd, &st) == 0 && (st.st_mode & (S_ISUID | S_ISGID)) &&
      geteuid () != 0)
    why = g_strdup_printf ("%s: runs with privileges, so that no library can "
                           "be loaded into it to see its allocations",
                           program);
  else if (pread (fd, &header, sizeof header, 0) == (ssize_t)sizeof header &&
           memcmp (header.e_ident, ELFMAG, SELFMAG) == 0 &&
           !has_interpreter (fd, &header))
    why = g_strdup_printf ("%s: is statically linked, so that no library can "
                           "be loaded into it to see its allocations",
                           program);
  close (fd);
  return why;
}
