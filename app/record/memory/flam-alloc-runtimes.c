/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-alloc-runtimes.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "flam-core-profile.h"

#define SECTIONS_MAX 256
#define NAMES_MAX (64u << 10)

static const FlamAllocRuntime java = {
  N_ ("the Java heap is not part of this recording: a JFR recording has its "
      "objects (jcmd PID JFR.start, or java -XX:StartFlightRecording)"),
  N_ ("this recording contains only the memory that the virtual machine maps "
      "for the Java heap: a JFR recording has its objects (jcmd PID JFR.start, "
      "or java -XX:StartFlightRecording)"),
  "[mapped by Java]",
};

static const FlamAllocRuntime dotnet = {
  N_ ("the .NET heap is not part of this recording: dotnet-trace collect "
      "--profile gc-verbose writes a file that has its objects"),
  N_ ("this recording contains only the memory that the runtime maps for the "
      ".NET heap: dotnet-trace collect --profile gc-verbose writes a file that "
      "has its objects"),
  "[mapped by .NET]",
};

static const FlamAllocRuntime node = {
  N_ ("the JavaScript heap is not part of this recording: node --heap-prof "
      "writes a file that has its objects"),
  N_ ("this recording contains only the memory that node maps for the "
      "JavaScript heap: node --heap-prof writes a file that has its objects"),
  "[mapped by node]",
};

static const FlamAllocRuntime go = {
  N_ ("the Go heap is not part of this recording: the heap profile of "
      "runtime/pprof has its objects"),
  N_ ("this recording contains only the memory that the runtime maps for the "
      "Go heap: the heap profile of runtime/pprof has its objects"),
  "[mapped by Go]",
};

static const struct
{
  const char *name; /* name of the file, or a prefix if `begins` */
  gboolean begins;
  const FlamAllocRuntime *runtime;
} runtimes[] = {
  { "libjvm.so", FALSE, &java },
  { "libcoreclr.so", FALSE, &dotnet },
  { "node", FALSE, &node },
  { "libnode.so", TRUE, &node },
};

/* Whether the file has a section with that name. */
static gboolean
has_section (int fd, const char *name)
{
  Elf64_Ehdr header;
  Elf64_Shdr sections[SECTIONS_MAX];
  g_autofree char *names = NULL;
  gssize size;
  guint n;

  if (pread (fd, &header, sizeof header, 0) != sizeof header ||
      memcmp (header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_shentsize != sizeof *sections)
    return FALSE;
  size = pread (fd, sections, sizeof sections, (off_t)header.e_shoff);
  n = MIN (size < 0 ? 0 : (guint)size / sizeof *sections, header.e_shnum);
  if (header.e_shstrndx >= n)
    return FALSE;
  names = g_malloc0 (NAMES_MAX + 1);
  size = pread (fd,
                names,
                MIN (sections[header.e_shstrndx].sh_size, NAMES_MAX),
                (off_t)sections[header.e_shstrndx].sh_offset);
  for (guint i = 0; i < n; i++)
    if (size > 0 && sections[i].sh_name < (gsize)size &&
        strcmp (names + sections[i].sh_name, name) == 0)
      return TRUE;
  return FALSE;
}

static gboolean
is_go (const char *path)
{
  int fd =
      open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
  gboolean is;

  if (fd < 0)
    return FALSE;
  is = has_section (fd, ".go.buildinfo");
  close (fd);
  return is;
}

const FlamAllocRuntime *
flam_alloc_runtime (const char *path)
{
  g_autofree char *name = g_path_get_basename (path);

  for (guint i = 0; i < G_N_ELEMENTS (runtimes); i++)
    if (runtimes[i].begins ? g_str_has_prefix (name, runtimes[i].name)
                           : g_str_equal (name, runtimes[i].name))
      return runtimes[i].runtime;
  return is_go (path) ? &go : NULL;
}
