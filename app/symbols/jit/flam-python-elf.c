/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-python.h"

#include "flam-python-chain.h"
#include "flam-symbol-table.h"

#define SECTION ".PyRuntime"

static guint32
version_of (const FlamElf *elf, int fd)
{
  guint64 vaddr, size, version = 0;

  if (!flam_elf_find_symbol (elf, "Py_Version", &vaddr, &size) ||
      flam_runtime_file_read (elf, fd, vaddr, &version, sizeof version) !=
          sizeof version)
    return 0;
  return (guint32)version;
}

/* _PyRuntime is alone in a section of its own, which stripped binaries have,
 * too. */
gboolean
flam_python_is_in (const FlamElf *elf)
{
  return flam_elf_has_section (elf, SECTION);
}

/* Up to 3.9 there is no such section. The file's name is checked first, as the
 * search for a symbol takes long in large programs. */
static gboolean
is_old (const FlamElf *elf, const char *path)
{
  g_autofree char *name = g_path_get_basename (path);
  guint64 vaddr, size;

  return (g_str_has_prefix (name, "python") ||
          g_str_has_prefix (name, "libpython")) &&
         flam_elf_find_symbol (elf, "PyEval_EvalFrameEx", &vaddr, &size);
}

gboolean
flam_python_find (const FlamElf *elf,
                  int fd,
                  const char *path,
                  FlamPythonElf *python)
{
  guint8 offsets[FLAM_PYTHON_DEBUG_OFFSETS_SIZE];
  FlamElfSection section;
  gsize n;

  *python = (FlamPythonElf){ 0 };
  if (flam_elf_get_machine (elf) != EM_X86_64 ||
      flam_python_chain_is_named (path))
    return FALSE;
  if (!flam_elf_get_section (elf, SECTION, &section))
    {
      python->why = flam_python_layout_init (&python->layout, 0, offsets, 0);
      return is_old (elf, path);
    }
  python->runtime = section.vaddr;
  n = flam_runtime_file_read (elf, fd, section.vaddr, offsets, sizeof offsets);
  python->version = version_of (elf, fd);
  python->why =
      flam_python_layout_init (&python->layout, python->version, offsets, n);
  return TRUE;
}
