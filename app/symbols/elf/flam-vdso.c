/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-vdso.h"

#include "flam-mapping.h"

#include <string.h>
#include <sys/auxv.h>

#define VDSO_MAX (1 << 20)

/* The mapped size, according to /proc/self/maps; reading beyond would fault. */
static gsize
mapped_size (gsize start)
{
  g_autofree char *maps = NULL;
  const char *at;
  gsize size;
  FlamMapping mapping;

  if (!g_file_get_contents ("/proc/self/maps", &maps, &size, NULL))
    return 0;
  at = maps;
  while (flam_mapping_next (&at, maps + size, &mapping))
    if (mapping.start == start && mapping.end > start)
      return (gsize)MIN (mapping.end - start, VDSO_MAX);
  return 0;
}

FlamSymbolModule *
flam_vdso_open (const char *build_id)
{
  gsize start = (gsize)getauxval (AT_SYSINFO_EHDR);
  gsize size = start ? mapped_size (start) : 0;
  g_autoptr (FlamSymbolModule) module = NULL;

  if (size == 0)
    return NULL;
  module = flam_symbol_module_new_from_data (
      "[vdso]", GSIZE_TO_POINTER (start), size);
  if (module && *build_id &&
      strcmp (build_id,
              flam_elf_get_build_id (flam_symbol_module_get_elf (module))) != 0)
    return NULL;
  return g_steal_pointer (&module);
}
