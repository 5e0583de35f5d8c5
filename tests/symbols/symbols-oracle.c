/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbols-oracle.h"

#include "flam-debug-files.h"

#include <dwarf.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>

static char *debug_path;
static const Dwfl_Callbacks callbacks = {
  .find_elf = dwfl_build_id_find_elf,
  .find_debuginfo = dwfl_standard_find_debuginfo,
  .section_address = dwfl_offline_section_address,
  .debuginfo_path = &debug_path,
};

gboolean
flam_oracle_open (FlamOracle *oracle, const char *path)
{
  oracle->dwfl = dwfl_begin (&callbacks);
  oracle->module = dwfl_report_offline (oracle->dwfl, "", path, -1);
  dwfl_report_end (oracle->dwfl, NULL, NULL);
  if (oracle->module && dwfl_module_getelf (oracle->module, &oracle->bias))
    return TRUE;
  dwfl_end (oracle->dwfl);
  return FALSE;
}

void
flam_oracle_close (FlamOracle *oracle)
{
  dwfl_end (oracle->dwfl);
}

const char *
flam_oracle_symbol (FlamOracle *oracle, guint64 vaddr, guint64 *start)
{
  GElf_Off offset = 0;
  GElf_Sym symbol;
  const char *name;

  name = dwfl_module_addrinfo (
      oracle->module, vaddr + oracle->bias, &offset, &symbol, NULL, NULL, NULL);
  *start = vaddr - offset;
  return name;
}

static int
source_line (FlamOracle *oracle, guint64 vaddr)
{
  Dwfl_Line *line = dwfl_module_getsrc (oracle->module, vaddr + oracle->bias);
  int number = 0;

  if (line)
    dwfl_lineinfo (line, NULL, &number, NULL, NULL, NULL);
  return number;
}

static const char *
name_of (Dwarf_Die *die)
{
  Dwarf_Attribute attribute;
  const char *name = NULL;

  if (dwarf_attr_integrate (die, DW_AT_linkage_name, &attribute) ||
      dwarf_attr_integrate (die, DW_AT_MIPS_linkage_name, &attribute))
    name = dwarf_formstring (&attribute);
  if (!name)
    name = dwarf_diename (die);
  return name ? name : "";
}

/* dwarf_getscopes follows an inlined function into its source's scopes; the
 * scopes of the innermost function's DIE are the callers into which it was
 * inlined. */
static int
innermost_scopes (Dwarf_Die *unit, Dwarf_Addr address, Dwarf_Die **scopes)
{
  Dwarf_Die *found = NULL;
  int n = dwarf_getscopes (unit, address, &found);

  if (n > 0)
    n = dwarf_getscopes_die (&found[0], scopes);
  free (found);
  return n;
}

void
flam_oracle_chain (FlamOracle *oracle, guint64 vaddr, GArray *frames)
{
  Dwarf_Addr bias = 0;
  Dwarf_Die *unit =
      dwfl_module_addrdie (oracle->module, vaddr + oracle->bias, &bias);
  int line = source_line (oracle, vaddr);
  g_autofree Dwarf_Die *scopes = NULL;
  int n =
      unit ? innermost_scopes (unit, vaddr + oracle->bias - bias, &scopes) : 0;

  for (int i = 0; i < n; i++)
    {
      int tag = dwarf_tag (&scopes[i]);
      FlamOracleFrame frame = { .line = line };
      Dwarf_Attribute attribute;
      Dwarf_Word call = 0;

      if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram)
        continue;
      frame.name = name_of (&scopes[i]);
      g_array_prepend_val (frames, frame);
      if (tag == DW_TAG_subprogram)
        break;
      if (dwarf_attr (&scopes[i], DW_AT_call_line, &attribute))
        dwarf_formudata (&attribute, &call);
      line = (int)call;
    }
}

void
flam_oracle_calls (FlamOracle *oracle, guint64 vaddr)
{
  guint64 start;
  Dwarf_Addr bias = 0;
  Dwarf_Die *unit;
  Dwarf_Die *scopes = NULL;

  flam_oracle_symbol (oracle, vaddr, &start);
  source_line (oracle, vaddr);
  unit = dwfl_module_addrdie (oracle->module, vaddr + oracle->bias, &bias);
  if (unit && dwarf_getscopes (unit, vaddr + oracle->bias - bias, &scopes) > 0)
    free (scopes);
}

guint64 *
flam_oracle_addresses (const char *path, guint n, guint32 seed)
{
  g_autoptr (FlamElf) elf = flam_elf_open (path, NULL);
  GRand *random = g_rand_new_with_seed (seed);
  guint64 *addresses = g_new0 (guint64, n);
  FlamElfSection text;

  g_assert_true (elf && flam_elf_get_section (elf, ".text", &text));
  for (guint i = 0; i < n; i++)
    addresses[i] =
        text.vaddr + (guint64)(g_rand_double (random) * (double)text.size);
  g_rand_free (random);
  return addresses;
}

static void
add_matches (GPtrArray *files, const char *pattern)
{
  glob_t matches;

  if (glob (pattern, 0, NULL, &matches) == 0)
    for (size_t i = 0; i < matches.gl_pathc; i++)
      g_ptr_array_add (files, g_strdup (matches.gl_pathv[i]));
  globfree (&matches);
}

char **
flam_oracle_files (void)
{
  GPtrArray *files = g_ptr_array_new ();
  const char *captures = g_getenv ("FLAM_CAPTURES");
  g_autofree char *programs =
      captures ? g_build_filename (captures, "bin", "*", NULL) : NULL;

  g_ptr_array_add (files, g_file_read_link ("/proc/self/exe", NULL));
  if (programs)
    add_matches (files, programs);
  add_matches (files, "/lib/x86_64-linux-gnu/libc.so.6");
  add_matches (files, "/lib/x86_64-linux-gnu/libglib-2.0.so.0");
  add_matches (files, "/usr/lib/x86_64-linux-gnu/libstdc++.so.6");
  g_ptr_array_add (files, NULL);
  return (char **)g_ptr_array_free (files, FALSE);
}

/* pyenv's Pythons have all their debug information in one library; otherwise
 * the C library is used, whose debug information may be beside it. */
char *
flam_oracle_big_library (void)
{
  const char *asked = g_getenv ("FLAM_BIG_LIBRARY");
  g_autofree char *pyenv = g_build_filename (g_get_home_dir (),
                                             ".pyenv/versions/3.1[0-9].*/lib",
                                             "libpython3.1?.so.1.0",
                                             NULL);
  g_autoptr (GPtrArray) files = g_ptr_array_new_with_free_func (g_free);

  if (asked)
    return g_strdup (asked);
  add_matches (files, pyenv);
  add_matches (files, "/lib/x86_64-linux-gnu/libc.so.6");
  for (guint i = 0; i < files->len; i++)
    {
      g_autoptr (FlamElf) elf =
          flam_elf_open (g_ptr_array_index (files, i), NULL);
      g_autoptr (FlamElf) debug =
          elf ? flam_debug_file_find (elf, NULL, NULL) : NULL;

      if (elf && flam_elf_has_section (debug ? debug : elf, ".debug_info"))
        return g_strdup (flam_elf_get_path (elf));
    }
  return NULL;
}
