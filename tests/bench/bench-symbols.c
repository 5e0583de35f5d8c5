/* SPDX-License-Identifier: GPL-3.0-or-later */

/* 5,000 addresses of a library with megabytes of DWARF -> names, inlined
 * functions, files and lines: ours, cold, beside libdwfl's own calls
 * (dwfl_module_addrinfo, dwfl_module_getsrc, dwfl_module_addrdie,
 * dwarf_getscopes), each run with a separate handle. And only names: our
 * symbol table beside dwfl_module_addrinfo. FLAM_BIG_LIBRARY selects another
 * library. */

#include "symbols-oracle.h"

#include "flam-symbol-module.h"

#include <stdio.h>

#define ADDRESSES 5000
#define ROUNDS 2

static gint64
ours (const char *path, const guint64 *addresses, FlamSymbolDetail detail)
{
  FlamSymbolModuleOptions options = { .detail = detail };
  gint64 start = g_get_monotonic_time ();
  FlamSymbolModule *module = flam_symbol_module_open (path, &options, NULL);
  guint frames = 0;

  for (guint i = 0; i < ADDRESSES; i++)
    {
      FlamSymbolChain chain;

      flam_symbol_module_lookup (module, addresses[i], &chain);
      frames += chain.n;
    }
  flam_symbol_module_free (module);
  start = g_get_monotonic_time () - start;
  fprintf (
      stderr, "# ours: %u frames in %" G_GINT64_FORMAT " us\n", frames, start);
  return start;
}

static gint64
peer (const char *path, const guint64 *addresses, gboolean full)
{
  gint64 start = g_get_monotonic_time ();
  FlamOracle oracle;

  if (!flam_oracle_open (&oracle, path))
    return 0;
  for (guint i = 0; i < ADDRESSES; i++)
    {
      guint64 where;

      if (full)
        flam_oracle_calls (&oracle, addresses[i]);
      else
        flam_oracle_symbol (&oracle, addresses[i], &where);
    }
  flam_oracle_close (&oracle);
  start = g_get_monotonic_time () - start;
  fprintf (stderr, "# libdwfl: %" G_GINT64_FORMAT " us\n", start);
  return start;
}

static void
compare (const char *path, const char *what, gboolean full, const char *target)
{
  g_autofree guint64 *addresses = flam_oracle_addresses (path, ADDRESSES, 1);
  gint64 best_ours = G_MAXINT64;
  gint64 best_peer = G_MAXINT64;

  for (guint round = 0; round < ROUNDS; round++)
    {
      best_ours = MIN (
          best_ours,
          ours (path,
                addresses,
                full ? FLAM_SYMBOL_DETAIL_FULL : FLAM_SYMBOL_DETAIL_SYMTAB));
      best_peer = MIN (best_peer, peer (path, addresses, full));
    }
  printf ("%s\t%.0f ms\t%.0f ms\t%.3f\t%s\n",
          what,
          (double)best_ours / 1000,
          (double)best_peer / 1000,
          (double)best_ours / (double)best_peer,
          target);
}

int
main (void)
{
  g_autofree char *path = flam_oracle_big_library ();

  if (!path)
    {
      fprintf (stderr, "# no library with debug information was found\n");
      return 0;
    }
  fprintf (stderr, "# %s\n", path);
  compare (
      path, "5,000 addresses, inlines and lines, cold (libdwfl)", TRUE, "0.15");
  compare (path, "5,000 addresses, names alone, cold (libdwfl)", FALSE, "0.05");
  return 0;
}
