/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Our answers beside those of libdwfl, nm and addr2line, on real programs.
 * Agreement is printed, and must be at least 99 %. Known to differ:
 *  - of several names for one address libdwfl takes another than perf does
 *    (ours: perf's rule), so symbols are compared by where they start;
 *  - functions inlined where the compiler left no linkage name are named by
 *    libdwfl without their scope, so names are compared by their ends;
 *  - addr2line takes a DIE's plain name where there is a linkage name for the
 *    constructor in general (C4, D4), so those are compared demangled. */

#include "symbols-oracle.h"

#include "flam-debug-files.h"
#include "flam-demangle.h"
#include "flam-dwarf-index.h"
#include "flam-symbol-module.h"

#include <stdlib.h>
#include <string.h>

#define ADDRESSES 150

typedef struct
{
  const char *what;
  guint asked;
  guint agreed;
} Score;

static void
report (const Score *score, const char *path)
{
  g_test_message (
      "%s: %s: %u of %u agree", path, score->what, score->agreed, score->asked);
  if (score->agreed * 100 < score->asked * 99)
    g_error ("%s: %s: only %u of %u agree",
             path,
             score->what,
             score->agreed,
             score->asked);
}

static void
note (Score *score, gboolean agrees, guint64 vaddr)
{
  score->asked++;
  score->agreed += agrees;
  if (!agrees)
    g_test_message (
        "%s differs at %" G_GINT64_MODIFIER "x", score->what, vaddr);
}

static void
compare_symbols (const char *path)
{
  g_autoptr (FlamElf) elf = flam_elf_open (path, NULL);
  g_autoptr (FlamElf) debug = flam_debug_file_find (elf, NULL, NULL);
  g_autoptr (FlamSymbolTable) table = flam_symbol_table_new (elf, debug);
  g_autofree guint64 *addresses = flam_oracle_addresses (path, ADDRESSES, 1);
  Score score = { "symbols" };
  FlamOracle oracle;

  g_assert_true (flam_oracle_open (&oracle, path));
  for (guint i = 0; i < ADDRESSES; i++)
    {
      const FlamSymbol *mine = flam_symbol_table_find (table, addresses[i]);
      guint64 start = 0;
      const char *theirs = flam_oracle_symbol (&oracle, addresses[i], &start);

      if (theirs)
        note (&score, mine && mine->start == start, addresses[i]);
    }
  flam_oracle_close (&oracle);
  report (&score, path);
}

static gboolean
same_chain (GArray *mine, GArray *theirs, gboolean lines)
{
  if (mine->len != theirs->len)
    return FALSE;
  for (guint i = 0; i < mine->len; i++)
    {
      const FlamDwarfFrame *a = &g_array_index (mine, FlamDwarfFrame, i);
      const FlamOracleFrame *b = &g_array_index (theirs, FlamOracleFrame, i);
      g_autofree char *shown = a->linkage ? flam_demangle (a->name) : NULL;
      g_autofree char *other = flam_demangle (b->name);

      if (lines ? (int)a->line != b->line
                : !a->name || !g_str_has_suffix (shown ? shown : a->name,
                                                 other ? other : b->name))
        return FALSE;
    }
  return TRUE;
}

static void
compare_chains (const char *path)
{
  g_autoptr (FlamElf) elf = flam_elf_open (path, NULL);
  g_autoptr (FlamElf) debug = flam_debug_file_find (elf, NULL, NULL);
  g_autoptr (FlamDwarfIndex) index =
      flam_dwarf_index_new (debug ? debug : elf, elf, NULL);
  g_autofree guint64 *addresses = flam_oracle_addresses (path, ADDRESSES, 2);
  g_autoptr (GArray) mine = g_array_new (FALSE, FALSE, sizeof (FlamDwarfFrame));
  g_autoptr (GArray) theirs =
      g_array_new (FALSE, FALSE, sizeof (FlamOracleFrame));
  Score names = { "inline chains" };
  Score lines = { "lines of chains" };
  FlamOracle oracle;

  if (!index)
    return;
  g_assert_true (flam_oracle_open (&oracle, path));
  for (guint i = 0; i < ADDRESSES; i++)
    {
      g_array_set_size (mine, 0);
      g_array_set_size (theirs, 0);
      flam_dwarf_index_lookup (index, addresses[i], mine);
      flam_oracle_chain (&oracle, addresses[i], theirs);
      if (theirs->len == 0)
        continue;
      note (&lines, same_chain (mine, theirs, TRUE), addresses[i]);
      /* If code of two functions was folded into one, the oracle takes the
       * first and we the last, so the outermost is the symbol table's. */
      g_array_remove_index (theirs, 0);
      if (mine->len > 0)
        g_array_remove_index (mine, 0);
      note (&names, same_chain (mine, theirs, FALSE), addresses[i]);
    }
  flam_oracle_close (&oracle);
  report (&names, path);
  report (&lines, path);
}

static char *
run (const char *const *argv)
{
  char *output = NULL;
  int status = 0;

  if (!g_spawn_sync (NULL,
                     (char **)argv,
                     NULL,
                     G_SPAWN_SEARCH_PATH | G_SPAWN_STDERR_TO_DEV_NULL,
                     NULL,
                     NULL,
                     &output,
                     NULL,
                     &status,
                     NULL) ||
      !g_spawn_check_wait_status (status, NULL))
    g_clear_pointer (&output, g_free);
  return output;
}

/* nm has every symbol that we name, at the same address. */
static void
compare_nm (const char *path)
{
  const char *argv[] = { "nm", "--defined-only", path, NULL };
  g_autofree char *text = run (argv);
  g_auto (GStrv) lines = g_strsplit (text ? text : "", "\n", -1);
  g_autoptr (GHashTable) known =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (FlamElf) elf = flam_elf_open (path, NULL);
  g_autoptr (FlamSymbolTable) table = flam_symbol_table_new (elf, NULL);
  const FlamSymbol *symbols;
  Score score = { "names in nm" };
  guint32 n;

  for (guint i = 0; lines[i]; i++)
    if (strlen (lines[i]) > 19)
      g_hash_table_add (known,
                        g_strdup_printf ("%" G_GINT64_MODIFIER "x %s",
                                         g_ascii_strtoull (lines[i], NULL, 16),
                                         lines[i] + 19));
  if (g_hash_table_size (known) == 0)
    return;
  symbols = flam_symbol_table_get (table, &n);
  for (guint32 i = 0; i < n; i++)
    {
      g_autofree char *key = g_strdup_printf (
          "%" G_GINT64_MODIFIER "x %s", symbols[i].start, symbols[i].name);

      if (!g_str_has_suffix (key, "@plt"))
        note (&score,
              g_hash_table_contains (known, key) ||
                  strchr (symbols[i].name, '@') != NULL,
              symbols[i].start);
    }
  report (&score, path);
}

/* addr2line's output for one address: "FUNCTION\nFILE:LINE\n" for each frame,
 * innermost first. For members that the compiler generated itself, binutils'
 * addr2line prints the unit's file with a line of the header: with_files
 * FALSE. */
static gboolean
agrees_with_lines (const FlamSymbolChain *chain,
                   char **lines,
                   guint n,
                   gboolean with_files)
{
  if (chain->n * 2 != n)
    return FALSE;
  for (guint i = 0; i < chain->n; i++)
    {
      const FlamSymbolFrame *frame = &chain->frames[chain->n - 1 - i];
      const char *place = lines[2 * i + 1];
      const char *colon = strrchr (place, ':');
      guint64 line = colon ? g_ascii_strtoull (colon + 1, NULL, 10) : 0;
      const char *file = frame->line_file ? frame->line_file : frame->file;
      g_autofree char *ours = g_path_get_basename (file);
      g_autofree char *path = g_strndup (place, colon ? colon - place : 0);
      g_autofree char *theirs = g_path_get_basename (path);

      if (line != frame->line ||
          (with_files && line != 0 && strcmp (ours, theirs) != 0))
        {
          g_test_message ("%s:%u, by the other %s", file, frame->line, place);
          return FALSE;
        }
    }
  return TRUE;
}

static void
compare_tool (const char *tool, const char *path)
{
  g_autoptr (FlamSymbolModule) module =
      flam_symbol_module_open (path, NULL, NULL);
  g_autofree guint64 *addresses = flam_oracle_addresses (path, ADDRESSES, 3);
  g_autoptr (GPtrArray) argv = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;
  Score score = { tool };
  gboolean is_llvm = strstr (tool, "llvm") != NULL;
  guint at = 0;

  g_ptr_array_add (argv, g_strdup (tool));
  g_ptr_array_add (argv, g_strdup ("-afie"));
  g_ptr_array_add (argv, g_strdup (path));
  for (guint i = 0; i < ADDRESSES; i++)
    g_ptr_array_add (argv,
                     g_strdup_printf ("%" G_GINT64_MODIFIER "x", addresses[i]));
  g_ptr_array_add (argv, NULL);
  text = run ((const char *const *)argv->pdata);
  lines = g_strsplit (text ? text : "", "\n", -1);
  for (guint i = 0; i < ADDRESSES && lines[at]; i++)
    {
      guint first = ++at;
      FlamSymbolChain chain;

      while (lines[at] && *lines[at] && !g_str_has_prefix (lines[at], "0x"))
        at++;
      if (flam_symbol_module_lookup (module, addresses[i], &chain) &&
          chain.state == FLAM_SYMBOLS_DWARF && strcmp (lines[first], "??"))
        note (&score,
              agrees_with_lines (&chain, lines + first, at - first, is_llvm),
              addresses[i]);
    }
  report (&score, path);
}

/* addr2line does not read the ranges that clang refers to by index, so it
 * leaves out functions inlined as several pieces of code; LLVM's does not. */
static void
compare_addr2line (const char *path)
{
  g_autoptr (FlamElf) elf = flam_elf_open (path, NULL);

  if (!flam_elf_has_section (elf, ".debug_addr"))
    compare_tool ("addr2line", path);
}

static void
compare_llvm (const char *path)
{
  g_autofree char *tool = g_find_program_in_path ("llvm-addr2line");

  if (!tool)
    tool = g_find_program_in_path ("llvm-addr2line-14");
  if (tool)
    compare_tool (tool, path);
}

/* clang writes neither .debug_aranges, without which libdwfl finds nothing, nor
 * DW_AT_sibling. */
static void
test_clang (void)
{
  static const char source[] =
      "#include <map>\n"
      "#include <string>\n"
      "#include <vector>\n"
      "static std::map<std::string, std::vector<int>> table;\n"
      "__attribute__ ((noinline)) void add (const std::string &key, int "
      "value)\n"
      "{ table[key].push_back (value); }\n"
      "int main (int argc, char **argv)\n"
      "{ for (int i = 0; i < argc; i++)\n"
      "    add (argv[i] + std::to_string (i), i);\n"
      "  return (int) table.size (); }\n";
  g_autofree char *folder = g_dir_make_tmp ("flam-clang-XXXXXX", NULL);
  g_autofree char *file = g_build_filename (folder, "program.cc", NULL);
  g_autofree char *program = g_build_filename (folder, "program", NULL);
  const char *compile[] = { "clang++", "-O2", "-g", "-o", program, file, NULL };
  const char *tidy[] = { "rm", "-r", folder, NULL };
  g_autofree char *said = NULL;
  g_autofree char *tidied = NULL;

  g_assert_true (g_file_set_contents (file, source, -1, NULL));
  said = run (compile);
  if (said)
    compare_llvm (program);
  else
    g_test_skip ("clang++ is not installed");
  tidied = run (tidy);
}

typedef void (*Comparison) (const char *path);

static void
on_each (gconstpointer data)
{
  const Comparison *compare = data;
  g_auto (GStrv) files = flam_oracle_files ();

  for (guint i = 0; files[i]; i++)
    (*compare) (files[i]);
}

/* nm and addr2line read a file's own debug information. */
static void
on_each_with_symbols (gconstpointer data)
{
  const Comparison *compare = data;
  g_auto (GStrv) files = flam_oracle_files ();

  for (guint i = 0; files[i]; i++)
    {
      g_autoptr (FlamElf) elf = flam_elf_open (files[i], NULL);

      if (flam_elf_has_section (elf, ".debug_info"))
        (*compare) (files[i]);
    }
}

static const Comparison symbols = compare_symbols;
static const Comparison chains = compare_chains;
static const Comparison nm = compare_nm;
static const Comparison addr2line = compare_addr2line;
static const Comparison llvm = compare_llvm;

/* Lines of other files than the function's: from a generator's #line, and from
 * X macros. All of a function's cost may be there. */
static void
test_included (void)
{
  static const char source[] =
      "int sum;\n"
      "int parse (int n)\n"
      "{\n"
      "#line 100 \"grammar.y\"\n"
      "  for (int i = 0; i < n; i++)\n"
      "    sum += i * n;\n"
      "  return sum;\n"
      "}\n"
      "#line 9 \"program.c\"\n"
      "int opcodes (int code)\n"
      "{\n"
      "  switch (code)\n"
      "    {\n"
      "#define OPCODE(n) case n: sum = sum * n + code; break;\n"
      "#include \"opcodes.def\"\n"
      "    }\n"
      "  return sum;\n"
      "}\n"
      "int main (int argc, char **argv)\n"
      "{ return parse (argc) + opcodes (argc); }\n";
  static const char opcodes[] = "OPCODE (1)\nOPCODE (7)\nOPCODE (19)\n";
  g_autofree char *folder = g_dir_make_tmp ("flam-included-XXXXXX", NULL);
  g_autofree char *file = g_build_filename (folder, "program.c", NULL);
  g_autofree char *def = g_build_filename (folder, "opcodes.def", NULL);
  g_autofree char *program = g_build_filename (folder, "program", NULL);
  const char *compile[] = { "cc", "-O1", "-g", "-o", program, file, NULL };
  const char *tidy[] = { "rm", "-r", folder, NULL };
  g_autoptr (FlamSymbolModule) module = NULL;
  g_autoptr (FlamSymbolTable) table = NULL;
  g_autofree char *said = NULL;
  g_autofree char *tidied = NULL;
  const FlamSymbol *all;
  guint32 n;
  guint of_grammar = 0, of_opcodes = 0;

  g_assert_true (g_file_set_contents (file, source, -1, NULL));
  g_assert_true (g_file_set_contents (def, opcodes, -1, NULL));
  said = run (compile);
  g_assert_nonnull (said);
  compare_tool ("addr2line", program);
  compare_llvm (program);
  module = flam_symbol_module_open (program, NULL, NULL);
  table = flam_symbol_table_new (flam_symbol_module_get_elf (module), NULL);
  all = flam_symbol_table_get (table, &n);
  for (guint32 i = 0; i < n; i++)
    for (guint64 at = all[i].start; at < all[i].end; at++)
      {
        FlamSymbolChain chain;
        const char *line_file;

        if (!flam_symbol_module_lookup (module, at, &chain) ||
            chain.frames[chain.n - 1].line_file == NULL)
          continue;
        line_file = chain.frames[chain.n - 1].line_file;
        of_grammar += g_str_has_suffix (line_file, "grammar.y");
        of_opcodes += g_str_has_suffix (line_file, "opcodes.def");
      }
  g_test_message (
      "%u bytes of grammar.y, %u of opcodes.def", of_grammar, of_opcodes);
  g_assert_cmpuint (of_grammar, >, 8);
  g_assert_cmpuint (of_opcodes, >, 8);
  tidied = run (tidy);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  if (!g_getenv ("FLAM_CAPTURES") ||
      !g_file_test (g_getenv ("FLAM_CAPTURES"), G_FILE_TEST_IS_DIR))
    g_test_message ("no captures at FLAM_CAPTURES: asking about this program "
                    "and the system's libraries alone");
  g_test_add_data_func ("/oracle/symbols", &symbols, on_each);
  g_test_add_data_func ("/oracle/chains", &chains, on_each);
  g_test_add_data_func ("/oracle/nm", &nm, on_each_with_symbols);
  g_test_add_data_func ("/oracle/addr2line", &addr2line, on_each_with_symbols);
  g_test_add_data_func ("/oracle/llvm", &llvm, on_each_with_symbols);
  g_test_add_func ("/oracle/clang", test_clang);
  g_test_add_func ("/oracle/included", test_included);
  return g_test_run ();
}
