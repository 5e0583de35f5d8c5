/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_TEST_SYMBOLS_ORACLE_H
#define FLAM_TEST_SYMBOLS_ORACLE_H

/* libdwfl's results for an address, by its own calls only: the oracle of the
 * tests, and the peer of the benchmark. */

#include <elfutils/libdwfl.h>
#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  Dwfl *dwfl;
  Dwfl_Module *module;
  GElf_Addr bias;
} FlamOracle;

typedef struct
{
  const char *name; /* linkage name, else name; "" for none */
  int line;
} FlamOracleFrame;

/* FALSE if libdwfl cannot open it. */
gboolean flam_oracle_open (FlamOracle *oracle, const char *path);
void flam_oracle_close (FlamOracle *oracle);

/* dwfl_module_addrinfo: the symbol's name, or NULL, and its start. */
const char *
flam_oracle_symbol (FlamOracle *oracle, guint64 vaddr, guint64 *start);
/* dwfl_module_getsrc + dwfl_module_addrdie + dwarf_getscopes: FlamOracleFrames,
 * outermost first. */
void flam_oracle_chain (FlamOracle *oracle, guint64 vaddr, GArray *frames);

/* The benchmark's peer: only the calls addrinfo, getsrc, addrdie and getscopes
 * for one address. */
void flam_oracle_calls (FlamOracle *oracle, guint64 vaddr);

/* `n` vaddrs in the module's code, the same for the same seed. */
guint64 *flam_oracle_addresses (const char *path, guint n, guint32 seed);

/* Existing paths of the examined files: captures/bin, the C and C++ libraries,
 * the program itself. */
char **flam_oracle_files (void);
/* A library with megabytes of DWARF ($FLAM_BIG_LIBRARY, or one that is found),
 * or NULL. */
char *flam_oracle_big_library (void);

G_END_DECLS

#endif
