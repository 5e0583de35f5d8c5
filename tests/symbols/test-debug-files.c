/* SPDX-License-Identifier: GPL-3.0-or-later */

/* One program with its debug information stored in every possible way: each
 * must give the same chains as the plain build, for each byte of its code. */

#include "flam-debug-files.h"
#include "flam-symbol-table.h"

#include "compiled.h"

#include <dlfcn.h>
#include <glib/gstdio.h>
#include <string.h>

static char *expected;

static void
assert_described (const char *name, const char *const *directories)
{
  FlamSymbolModuleOptions options = { .debug_directories = directories };
  g_autofree char *path = in_folder (name);
  g_autofree char *text = describe (path, &options, FALSE);

  assert_same (text, expected);
}

static void
test_plain (void)
{
  g_assert_nonnull (strstr (expected,
                            " geo::Point::norm:program.cc:12"
                            " geo::sum:program.cc:8"
                            " geo::square:program.cc:5\n"));
  g_assert_nonnull (strstr (expected, " hidden:program.cc:"));
  g_assert_nonnull (
      strstr (expected, "main::{lambda}::operator():program.cc:"));
}

static void
variant (const char *name, const char *flags)
{
  g_autofree char *object = g_strconcat (name, ".o", NULL);

  /* In two steps: a .dwo has the object's name. */
  if (!run ("g++ -O1 %s -c -o %s program.cc", flags, object) ||
      !run ("g++ %s -Wl,--build-id -o %s %s", flags, name, object))
    {
      g_test_skip ("the compiler cannot do this");
      return;
    }
  assert_described (name, NULL);
}

static void
test_dwarf_4 (void)
{
  variant ("dwarf4", "-g -gdwarf-4");
}

static void
test_dwarf_5 (void)
{
  variant ("dwarf5", "-g -gdwarf-5");
}

static void
test_compressed (void)
{
  variant ("compressed", "-g -gz");
}

/* A section of zeros that takes a thousandth of its size. */
static void
test_bomb (void)
{
  g_autofree char *path = in_folder ("bomb");
  g_autofree char *program = in_folder ("compressed");
  g_autoptr (FlamElf) whole = flam_elf_open (program, NULL);
  g_autoptr (FlamElf) elf = NULL;
  g_autoptr (GError) error = NULL;

  if (!run ("truncate -s 300M zeros") ||
      !run ("objcopy --add-section .debug_junk=zeros compressed grown") ||
      !run ("objcopy --compress-debug-sections=zlib grown bomb") ||
      !run ("rm zeros grown"))
    {
      g_test_skip ("objcopy cannot do this");
      return;
    }
  g_assert_nonnull (whole);
  elf = flam_elf_open (path, &error);
  g_assert_null (elf);
  g_assert_error (error, FLAM_ERROR, FLAM_ERROR_TOO_LARGE);
}

static void
test_split_4 (void)
{
  variant ("split4", "-g -gdwarf-4 -gsplit-dwarf");
}

static void
test_split_5 (void)
{
  variant ("split5", "-g -gdwarf-5 -gsplit-dwarf");
}

/* No ranges for functions that the linker removed. */
static void
test_split_missing (void)
{
  g_autofree char *path = in_folder ("lost");
  g_autofree char *text = NULL;
  g_autoptr (FlamSymbolModule) module = NULL;
  FlamElfSection code;
  FlamSymbolChain chain;

  if (!run ("g++ -O1 -g -gsplit-dwarf -c -o lost.o program.cc") ||
      !run ("g++ -Wl,--build-id -o lost lost.o") || !run ("rm lost.dwo"))
    {
      g_test_skip ("the compiler cannot do this");
      return;
    }
  module = flam_symbol_module_open (path, NULL, NULL);
  g_assert_true (flam_elf_get_section (
      flam_symbol_module_get_elf (module), ".text", &code));
  for (guint64 i = 0; i < code.size; i++)
    flam_symbol_module_lookup (module, code.vaddr + i, &chain);
  g_assert_nonnull (strstr (flam_symbol_module_get_why (module), ".dwo"));
  text = describe (path, NULL, FALSE);
  g_assert_nonnull (strstr (text, " geo::Point::norm:program.cc:"));
}

static void
test_sections (void)
{
  if (run ("g++ -O1 -g -ffunction-sections -Wl,--gc-sections -o gc "
           "program.cc"))
    {
      g_autofree char *path = in_folder ("gc");
      g_autofree char *text = describe (path, NULL, FALSE);

      g_assert_nonnull (strstr (text,
                                " geo::Point::norm:program.cc:12"
                                " geo::sum:program.cc:8"
                                " geo::square:program.cc:5\n"));
    }
  else
    g_test_skip ("the compiler cannot do this");
}

/* clang writes no DW_AT_sibling, and other code: only the structure is
 * known. */
static void
test_clang (void)
{
  g_autofree char *path = in_folder ("clang");
  g_autofree char *text = NULL;

  if (!run ("clang++ -O1 -g -o clang program.cc"))
    {
      g_test_skip ("clang is not installed");
      return;
    }
  text = describe (path, NULL, FALSE);
  g_assert_nonnull (strstr (text, " geo::square:program.cc:5\n"));
}

static gboolean
strip_into (const char *name, const char *debug)
{
  return run ("objcopy --only-keep-debug plain %s", debug) &&
         run ("objcopy --strip-all --add-gnu-debuglink=%s plain %s",
              debug,
              name);
}

static void
test_beside (void)
{
  g_assert_true (strip_into ("stripped", "stripped.debug"));
  assert_described ("stripped", NULL);
}

static void
test_hidden_folder (void)
{
  g_autofree char *hidden = in_folder (".debug");
  g_autofree char *from = in_folder ("hidden.debug");
  g_autofree char *to = in_folder (".debug/hidden.debug");

  g_assert_true (strip_into ("hidden", "hidden.debug"));
  g_assert_no_errno (g_mkdir (hidden, 0700));
  g_assert_no_errno (g_rename (from, to));
  assert_described ("hidden", NULL);
}

static void
test_by_build_id (void)
{
  g_autofree char *from = in_folder ("by-id.debug");
  g_autofree char *root = in_folder ("debug-root");
  g_autofree char *path = in_folder ("by-id");
  g_autofree char *to = NULL;
  g_autofree char *parent = NULL;
  const char *directories[] = { root, NULL };
  g_autoptr (FlamElf) elf = NULL;

  g_assert_true (strip_into ("by-id", "by-id.debug"));
  elf = flam_elf_open (path, NULL);
  to = flam_debug_file_path (root, flam_elf_get_build_id (elf), ".debug");
  g_assert_nonnull (to);
  parent = g_path_get_dirname (to);
  g_assert_no_errno (g_mkdir_with_parents (parent, 0700));
  g_assert_no_errno (g_rename (from, to));
  assert_described ("by-id", directories);
}

/* A debug file of another build is not used. */
static void
test_wrong_build (void)
{
  g_autofree char *path = in_folder ("wrong");
  g_autoptr (FlamSymbolModule) module = NULL;

  g_assert_true (strip_into ("wrong", "wrong.debug"));
  g_assert_true (run ("g++ -O0 -g -Wl,--build-id -o other program.cc") &&
                 run ("objcopy --only-keep-debug other wrong.debug"));
  module = flam_symbol_module_open (path, NULL, NULL);
  g_assert_cmpint (
      flam_symbol_module_get_state (module), !=, FLAM_SYMBOLS_DWARF);
}

/* Without build ids, the checksum in .gnu_debuglink decides. */
static void
test_checksum (void)
{
  g_autofree char *path = in_folder ("noid");
  g_autofree char *debug = in_folder ("noid.debug");
  g_autofree char *bytes = NULL;
  gsize size;

  g_assert_true (
      run ("g++ -O1 -g -Wl,--build-id=none -o noid-plain program.cc") &&
      run ("objcopy --only-keep-debug noid-plain noid.debug") &&
      run ("objcopy --strip-all --add-gnu-debuglink=noid.debug noid-plain "
           "noid"));
  {
    g_autoptr (FlamSymbolModule) module =
        flam_symbol_module_open (path, NULL, NULL);
    g_assert_cmpint (
        flam_symbol_module_get_state (module), ==, FLAM_SYMBOLS_DWARF);
  }
  g_assert_true (g_file_get_contents (debug, &bytes, &size, NULL));
  bytes[size - 1] ^= 1;
  g_assert_true (g_file_set_contents (debug, bytes, (gssize)size, NULL));
  {
    g_autoptr (FlamSymbolModule) module =
        flam_symbol_module_open (path, NULL, NULL);
    g_assert_cmpint (
        flam_symbol_module_get_state (module), !=, FLAM_SYMBOLS_DWARF);
  }
}

/* Whether the address `offset` bytes after "first", which has no size, has a
 * name. */
static gboolean
reaches (const char *name, guint64 offset)
{
  g_autofree char *path = in_folder (name);
  g_autoptr (FlamElf) elf = flam_elf_open (path, NULL);
  g_autoptr (FlamSymbolTable) table = flam_symbol_table_new (elf, NULL);
  guint64 address = 0, size = 0;

  g_assert_true (flam_elf_find_symbol (elf, "first", &address, &size));
  g_assert_cmpuint (size, ==, 0);
  return flam_symbol_table_find (table, address + offset) != NULL;
}

/* As in libraries with assembler code: all code after the only exported label
 * belongs to functions whose names are not in .dynsym. */
static void
test_without_size (void)
{
  static const char code[] = ".text\n.balign 16\n.globl first\n"
                             "first: xor %eax, %eax\n"
                             " jz 1f\n ret\n1: add %ebx, %ebx\n ret\n"
                             ".balign 16, 0x90\n"
                             "second: mov %edi, %eax\n ret\n"
                             ".fill 64, 1, 0x90\n ret\n"
                             ".section .note.GNU-stack, \"\", @progbits\n";
  g_autofree char *source = in_folder ("sizes.s");

  g_assert_true (g_file_set_contents (source, code, -1, NULL));
  g_assert_true (run ("gcc -shared -nostdlib -o sizes.so sizes.s"));
  g_assert_true (run ("objcopy --strip-all sizes.so exported.so"));
  g_assert_true (reaches ("exported.so", 0));
  g_assert_true (reaches ("exported.so", 7));
  g_assert_false (reaches ("exported.so", 16));
  g_assert_true (reaches ("sizes.so", 16));
}

/* A function that ends with a return at the end of its 16 bytes needs no
 * padding. */
static void
test_whole_lines (void)
{
  static const char code[] = ".text\n.balign 16\n.globl first\n"
                             "first: .fill 15, 1, 0x40\n ret\n"
                             "second: push %rbp\n pop %rbp\n ret\n"
                             ".fill 64, 1, 0x90\n"
                             ".section .note.GNU-stack, \"\", @progbits\n";
  g_autofree char *source = in_folder ("lines.s");

  g_assert_true (g_file_set_contents (source, code, -1, NULL));
  g_assert_true (run ("gcc -shared -nostdlib -o lines.so lines.s"));
  g_assert_true (run ("objcopy --strip-all lines.so whole-lines.so"));
  g_assert_true (reaches ("whole-lines.so", 15));
  g_assert_false (reaches ("whole-lines.so", 16));
}

static void
assert_nameless (FlamSymbolModule *module, guint64 vaddr, const char *name)
{
  FlamSymbolChain chain;

  g_assert_cmpint (
      flam_symbol_module_lookup (module, vaddr, &chain), ==, name != NULL);
  g_assert_cmpint (chain.state, ==, FLAM_SYMBOLS_NONE);
  if (name == NULL)
    return;
  g_assert_cmpint (chain.kind, ==, FLAM_KIND_UNRESOLVED);
  g_assert_cmpint (chain.n, ==, 1);
  g_assert_cmpstr (chain.frames[0].name, ==, name);
}

/* A stripped program's functions are told apart by their call frame
 * information, and named by their addresses; code without any has no name. */
static void
test_nameless (void)
{
  static const char code[] =
      ".text\n.globl _start\n"
      "_start: .cfi_startproc\n call first\n hlt\n .cfi_endproc\n"
      ".balign 16\nfirst: .cfi_startproc\n .fill 31, 1, 0x90\n ret\n"
      " .cfi_endproc\n"
      "second: .cfi_startproc\n .fill 15, 1, 0x90\n ret\n .cfi_endproc\n"
      "third: .fill 15, 1, 0x90\n ret\n"
      ".section .note.GNU-stack, \"\", @progbits\n";
  g_autofree char *source = in_folder ("nameless.s");
  g_autofree char *path = in_folder ("nameless");
  g_autoptr (FlamSymbolModule) module = NULL;
  g_autoptr (FlamSymbolModule) recorded = NULL;
  FlamSymbolModuleOptions options = { .name = "/usr/sbin/server" };
  guint64 start, end;

  g_assert_true (g_file_set_contents (source, code, -1, NULL));
  g_assert_true (run ("gcc -static -nostdlib -Wl,-Ttext=0x10000 -o nameless "
                      "nameless.s"));
  g_assert_true (run ("objcopy --strip-all nameless"));
  module = flam_symbol_module_open (path, NULL, NULL);
  assert_nameless (module, 0x10000, "nameless+0x10000");
  assert_nameless (module, 0x10008, NULL);
  assert_nameless (module, 0x10010, "nameless+0x10010");
  assert_nameless (module, 0x1002f, "nameless+0x10010");
  assert_nameless (module, 0x10030, "nameless+0x10030");
  assert_nameless (module, 0x1003f, "nameless+0x10030");
  assert_nameless (module, 0x10040, NULL);
  g_assert_true (
      flam_symbol_module_find_bounds (module, 0x10020, &start, &end));
  g_assert_cmphex (start, ==, 0x10010);
  g_assert_cmphex (end, ==, 0x10030);
  recorded = flam_symbol_module_open (path, &options, NULL);
  assert_nameless (recorded, 0x10010, "server+0x10010");
}

static void
test_minidebug (void)
{
  g_autofree char *path = in_folder ("mini");
  g_autofree char *text = NULL;
  g_autoptr (FlamSymbolModule) module = NULL;

  if (!run ("objcopy -S --remove-section=.comment --keep-symbol=_ZL6hiddeni "
            "--keep-symbol=_ZNK3geo5Point4normEv --keep-symbol=main plain "
            "mini.syms") ||
      !run ("xz -k mini.syms") ||
      !run ("objcopy --strip-all --add-section "
            ".gnu_debugdata=mini.syms.xz plain mini"))
    {
      g_test_skip ("objcopy or xz is not installed");
      return;
    }
  text = describe (path, NULL, TRUE);
  g_assert_nonnull (strstr (text, " hidden\n"));
  g_assert_nonnull (strstr (text, " geo::Point::norm\n"));
  module = flam_symbol_module_open (path, NULL, NULL);
  g_assert_cmpint (
      flam_symbol_module_get_state (module), ==, FLAM_SYMBOLS_SYMTAB);
}

/* dwz only moves data that two files share, so there must be a lot of it. */
static void
test_dwz (void)
{
  static const char *const names[] = { "dwz1", "dwz2" };
  static const char more[] = "#include <map>\n"
                             "#include <string>\n"
                             "std::map<std::string, int> table;\n"
                             "int find (const char *key)\n"
                             "{ return ++table[key]; }\n"
                             "#include \"program.cc\"\n";
  g_autofree char *program = in_folder ("big.cc");
  g_autofree char *big = in_folder ("big");
  g_autofree char *text = NULL;

  g_assert_true (g_file_set_contents (program, more, -1, NULL));
  if (!run ("g++ -O1 -g -Wl,--build-id -o big big.cc") ||
      !run ("cp big dwz1") || !run ("cp big dwz2") ||
      !run ("dwz -m common.debug dwz1 dwz2"))
    {
      g_test_skip ("dwz is not installed");
      return;
    }
  text = describe (big, NULL, FALSE);
  for (guint i = 0; i < 2; i++)
    {
      g_autofree char *path = in_folder (names[i]);
      g_autofree char *packed = describe (path, NULL, FALSE);

      assert_same (packed, text);
    }
}

static void
test_stub_names (void)
{
  static const char puts_source[] = "#include <stdio.h>\n#include <stdlib.h>\n"
                                    "int main (int c, char **v)\n"
                                    "{ puts (v[0]); return rand (); }\n";
  static const char *const flags[] = {
    "", "-fcf-protection=full -Wl,-z,ibtplt", "-Wl,-z,now", "-no-pie"
  };
  g_autofree char *program = in_folder ("stubs.c");

  g_assert_true (g_file_set_contents (program, puts_source, -1, NULL));
  for (gsize i = 0; i < G_N_ELEMENTS (flags); i++)
    {
      g_autofree char *path = in_folder ("stubs");
      g_autoptr (FlamElf) elf = NULL;
      g_autoptr (FlamSymbolTable) table = NULL;
      const FlamSymbol *symbols;
      guint found = 0;
      guint32 n;

      if (!run ("gcc -O1 -o stubs stubs.c%s%s", *flags[i] ? " " : "", flags[i]))
        continue;
      elf = flam_elf_open (path, NULL);
      table = flam_symbol_table_new (elf, NULL);
      symbols = flam_symbol_table_get (table, &n);
      for (guint32 j = 0; j < n; j++)
        found += strcmp (symbols[j].name, "puts@plt") == 0 ||
                 strcmp (symbols[j].name, "rand@plt") == 0;
      g_assert_cmpuint (found, ==, 2);
    }
}

/* The first frame's file and line of a function of the C library, if its debug
 * file is where packages install it; NULL: it is not. */
static char *
describe_libc (FlamSymbolDetail detail)
{
  FlamSymbolModuleOptions options = { .detail = detail };
  g_autoptr (FlamSymbolModule) module = NULL;
  g_autoptr (FlamElf) debug = NULL;
  FlamSymbolChain chain;
  Dl_info libc;

  g_assert_true (dladdr ((gpointer)qsort, &libc) != 0);
  module = flam_symbol_module_open (libc.dli_fname, &options, NULL);
  g_assert_nonnull (module);
  debug =
      flam_debug_file_find (flam_symbol_module_get_elf (module), NULL, NULL);
  if (debug == NULL || !flam_debug_file_is_installed (debug))
    return NULL;
  flam_symbol_module_lookup (
      module,
      (guint64)((const char *)qsort - (const char *)libc.dli_fbase),
      &chain);
  g_assert_cmpuint (chain.n, >, 0);
  return g_strdup_printf ("%s %s:%u",
                          chain.frames[0].name,
                          chain.frames[0].file,
                          chain.frames[0].line);
}

/* The data that a recording stores: everything that may disappear later, but
 * not the contents of a package's debug file. */
static void
test_lasting (void)
{
  FlamSymbolModuleOptions options = { .detail = FLAM_SYMBOL_DETAIL_LASTING };
  g_autofree char *plain = in_folder ("plain");
  g_autofree char *base_lines = in_folder ("lasting");
  g_autofree char *own = NULL;
  g_autofree char *other = NULL;
  g_autofree char *full = NULL;
  g_autofree char *lasting = NULL;

  g_assert_true (strip_into ("lasting", "lasting.debug"));
  own = describe (plain, &options, FALSE);
  other = describe (base_lines, &options, FALSE);
  assert_same (own, expected);
  assert_same (other, expected);

  full = describe_libc (FLAM_SYMBOL_DETAIL_FULL);
  lasting = describe_libc (FLAM_SYMBOL_DETAIL_LASTING);
  if (full == NULL)
    {
      g_test_skip ("the C library's debug file is not installed");
      return;
    }
  g_assert_nonnull (strstr (full, ".c:"));
  g_assert_true (g_str_has_suffix (lasting, " :0"));
}

/* --- files of another build ------------------------------------------------
 */

static gboolean
make_given (const char *name, const char *flags)
{
  return run ("g++ -g %s -Wl,--build-id -o %s program.cc", flags, name) &&
         run ("objcopy --only-keep-debug %s %s.debug", name, name) &&
         run ("strip -o %s.stripped %s", name, name);
}

/* A given debug file must belong to the program's own build. */
static void
test_given (void)
{
  static const struct
  {
    const char *debug;
    FlamSymbolState state;
  } rows[] = { { "one.debug", FLAM_SYMBOLS_DWARF },
               { "other.debug", FLAM_SYMBOLS_NONE },
               { "absent.debug", FLAM_SYMBOLS_NONE } };
  g_autofree char *program = in_folder ("one.stripped");

  if (!make_given ("one", "-O1") || !make_given ("other", "-O0"))
    {
      g_test_skip ("the compiler cannot do this");
      return;
    }
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *debug = in_folder (rows[i].debug);
      FlamSymbolModuleOptions options = { .debug_path = debug };
      g_autoptr (FlamSymbolModule) module =
          flam_symbol_module_open (program, &options, NULL);

      g_assert_nonnull (module);
      g_assert_cmpint (flam_symbol_module_get_state (module) ==
                           FLAM_SYMBOLS_DWARF,
                       ==,
                       rows[i].state == FLAM_SYMBOLS_DWARF);
    }
}

/* A program that was rebuilt since is not the recorded one. */
static void
test_build_id (void)
{
  g_autofree char *program = in_folder ("plain");
  g_autoptr (FlamElf) elf = flam_elf_open (program, NULL);
  g_autofree char *right = g_strdup (flam_elf_get_build_id (elf));
  g_autofree char *wrong = g_strdup (right);
  const char *const taken[] = { right, "", NULL };
  g_autoptr (GError) error = NULL;
  FlamSymbolModuleOptions options = { 0 };

  g_assert_cmpuint (strlen (right), ==, 40);
  for (guint i = 0; i < G_N_ELEMENTS (taken); i++)
    {
      g_autoptr (FlamSymbolModule) module = NULL;

      options.build_id = taken[i];
      module = flam_symbol_module_open (program, &options, &error);
      g_assert_no_error (error);
      g_assert_nonnull (module);
    }
  wrong[39] = wrong[39] == '0' ? '1' : '0';
  options.build_id = wrong;
  g_assert_null (flam_symbol_module_open (program, &options, &error));
  g_assert_error (error, FLAM_ERROR, FLAM_ERROR_INVALID);
  g_assert_nonnull (strstr (error->message, "build ID differs"));
}

/* --- versions of symbols ----------------------------------------------------
 */

/* The linker's "name@VERSION" and "name@@VERSION" are the function `name`. */
static void
test_versions (void)
{
  static const char source[] =
      "__asm__ (\".symver old_thing, thing@V_1\\n\"\n"
      "         \".symver new_thing, thing@@V_2\");\n"
      "__attribute__ ((used)) int old_thing (void) { return 1; }\n"
      "__attribute__ ((used)) int new_thing (void) { return 2; }\n";
  static const char script[] =
      "V_1 { local: old_thing; new_thing; };\nV_2 { } V_1;\n";
  g_autofree char *code = in_folder ("versions.c");
  g_autofree char *map = in_folder ("versions.map");
  g_autofree char *path = in_folder ("versions.so");
  FlamSymbolModuleOptions options = { 0 };
  g_autofree char *text = NULL;

  g_assert_true (g_file_set_contents (code, source, -1, NULL));
  g_assert_true (g_file_set_contents (map, script, -1, NULL));
  if (!run ("gcc -O1 -shared -fPIC -Wl,--version-script=versions.map "
            "-o versions.so versions.c"))
    {
      g_test_skip ("the compiler cannot do this");
      return;
    }
  text = describe (path, &options, TRUE);
  g_assert_nonnull (strstr (text, " thing"));
  g_assert_null (strstr (text, "thing@"));
}

#define ALIASES(kind, better, other, size)                                     \
  ".globl " better "\\n" kind " " other "\\n"                                  \
  ".type " better ", @function\\n.type " other ", @function\\n" other          \
  ":\\n" better ":\\n nop\\n ret\\n.size " better ", .-" better "\\n" size

/* Of several names for one address, the better one is shown: not weak, not
 * local, without leading underscores, with a size, and the longer one. */
static void
test_aliases (void)
{
  static const char source[] = "__asm__ (\".text\\n" ALIASES (
      ".weak",
      "strong_1",
      "weaker_longer_1",
      ".size weaker_longer_1, .-weaker_longer_1\\n")
      ALIASES (".local",
               "global_2",
               "local_longer_2",
               ".size local_longer_2, .-local_longer_2\\n")
          ALIASES (".globl",
                   "plain_3",
                   "__underscored_3",
                   ".size __underscored_3, .-__underscored_3\\n")
              ALIASES (".globl",
                       "longer_name_4",
                       "short_4",
                       ".size short_4, .-short_4\\n")
                  ALIASES (
                      ".globl", "sized_5", "sizeless_longer_5", "") "\");\n";
  static const char *const shown[] = {
    " strong_1", " global_2", " plain_3", " longer_name_4", " sized_5"
  };
  static const char *const hidden[] = {
    "weaker_", "local_longer", "underscored", "short_4", "sizeless"
  };
  g_autofree char *code = in_folder ("aliases.c");
  g_autofree char *path = in_folder ("aliases.so");
  FlamSymbolModuleOptions options = { 0 };
  g_autofree char *text = NULL;

  g_assert_true (g_file_set_contents (code, source, -1, NULL));
  if (!run ("gcc -shared -fPIC -o aliases.so aliases.c"))
    {
      g_test_skip ("the compiler cannot do this");
      return;
    }
  text = describe (path, &options, TRUE);
  for (guint i = 0; i < G_N_ELEMENTS (shown); i++)
    {
      g_test_message ("%s", shown[i]);
      g_assert_nonnull (strstr (text, shown[i]));
      g_assert_null (strstr (text, hidden[i]));
    }
}

int
main (int argc, char **argv)
{
  g_autofree char *plain = NULL;
  int result;

  g_test_init (&argc, &argv, NULL);
  compiled_begin ();
  plain = in_folder ("plain");
  if (!run ("g++ -O1 -g -Wl,--build-id -o plain program.cc") ||
      !run ("objcopy --only-keep-debug plain plain.debug"))
    {
      g_print ("1..0 # SKIP g++ and objcopy are not installed\n");
      compiled_end ();
      return 0;
    }
  expected = describe (plain, NULL, FALSE);
  g_test_add_func ("/debug-files/plain", test_plain);
  g_test_add_func ("/debug-files/dwarf-4", test_dwarf_4);
  g_test_add_func ("/debug-files/dwarf-5", test_dwarf_5);
  g_test_add_func ("/debug-files/compressed", test_compressed);
  g_test_add_func ("/debug-files/bomb", test_bomb);
  g_test_add_func ("/debug-files/split-4", test_split_4);
  g_test_add_func ("/debug-files/split-5", test_split_5);
  g_test_add_func ("/debug-files/split-missing", test_split_missing);
  g_test_add_func ("/debug-files/sections", test_sections);
  g_test_add_func ("/debug-files/clang", test_clang);
  g_test_add_func ("/debug-files/beside", test_beside);
  g_test_add_func ("/debug-files/hidden-folder", test_hidden_folder);
  g_test_add_func ("/debug-files/by-build-id", test_by_build_id);
  g_test_add_func ("/debug-files/wrong-build", test_wrong_build);
  g_test_add_func ("/debug-files/checksum", test_checksum);
  g_test_add_func ("/debug-files/without-size", test_without_size);
  g_test_add_func ("/debug-files/whole-lines", test_whole_lines);
  g_test_add_func ("/debug-files/nameless", test_nameless);
  g_test_add_func ("/debug-files/minidebug", test_minidebug);
  g_test_add_func ("/debug-files/dwz", test_dwz);
  g_test_add_func ("/debug-files/stub-names", test_stub_names);
  g_test_add_func ("/debug-files/lasting", test_lasting);
  g_test_add_func ("/debug-files/given", test_given);
  g_test_add_func ("/debug-files/build-id", test_build_id);
  g_test_add_func ("/debug-files/versions", test_versions);
  g_test_add_func ("/debug-files/aliases", test_aliases);
  result = g_test_run ();
  compiled_end ();
  g_free (expected);
  return result;
}
