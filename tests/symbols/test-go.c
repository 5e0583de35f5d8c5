/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Go's own table of functions: each layout by hand, damaged ones, and programs
 * without symbols as Go links them, against the symbols of the same program and
 * against what `go tool addr2line` says of its lines. */

#include "flam-go-table.h"
#include "flam-symbol-table.h"

#include "compiled.h"

#include <string.h>

/* --- each layout, by hand ------------------------------------------------- */

/* alpha: line 10, from its fifth byte on 12; beta: 30, then 25. */
static const char table_source[] =
    "#if WORD == 8\n"
    "# define W .quad\n"
    "#else\n"
    "# define W .long\n"
    "#endif\n"
    "#if LAYOUT == 2\n"
    "# define MAGIC 0xfffffffb\n"
    "# define FILE_NUMBER 4\n"
    "#else\n"
    "# define FILE_NUMBER 2\n"
    "#endif\n"
    "#if LAYOUT == 16\n"
    "# define MAGIC 0xfffffffa\n"
    "#elif LAYOUT == 18\n"
    "# define MAGIC 0xfffffff0\n"
    "#elif LAYOUT == 20\n"
    "# define MAGIC 0xfffffff1\n"
    "#endif\n"
    " .text\n"
    " .globl _start\n"
    " .fill 32, 1, 0x90\n"
    "begin:\n"
    "alpha: .fill 16, 1, 0x90\n"
    "beta: .fill 16, 1, 0x90\n"
    "end:\n"
    "_start: .fill 16, 1, 0x90\n"
    " .section .note.go.buildid, \"a\", @note\n"
    " .long 4, 4, 4, 0x6f47, 0\n"
    " .section SECTION\n"
    " .balign 32\n"
    "table: .long MAGIC\n"
    " .byte 0, 0, 1, WORD\n"
    "#if LAYOUT == 2\n"
    " W 2\n"
    "entries: W alpha, record_a - table, beta, record_b - table, end\n"
    " .long files - table\n"
    "record_a: W alpha\n"
    " .long name_a - table, 0, 0, 0, file_a - table, line_a - table\n"
    "record_b: W beta\n"
    " .long name_b - table, 0, 0, 0, file_a - table, line_b - table\n"
    "files: .long 2, path - table\n"
    "#else\n"
    " W 2, 1\n"
    "# if LAYOUT >= 18\n"
    " W TEXT\n"
    "# endif\n"
    " W names - table, units - table, files - table, steps - table\n"
    " W entries - table\n"
    "# if LAYOUT == 16\n"
    "entries: W alpha, record_a - entries, beta, record_b - entries, end\n"
    "record_a: W alpha\n"
    "# else\n"
    "entries: .long alpha - begin, record_a - entries\n"
    " .long beta - begin, record_b - entries, end - begin\n"
    "record_a: .long alpha - begin\n"
    "# endif\n"
    " .long name_a - names, 0, 0, 0, file_a - steps, line_a - steps, 0, 1, 9\n"
    "# if LAYOUT == 16\n"
    "record_b: W beta\n"
    "# else\n"
    "record_b: .long beta - begin\n"
    "# endif\n"
    " .long name_b - names, 0, 0, 0, file_a - steps, line_b - steps, 0, 1, 29\n"
    "units: .long 0xffffffff, path - files\n"
    "files: .byte 0\n"
    "#endif\n"
    "path: .asciz \"/src/oven.go\"\n"
    "names: .byte 0\n"
    "name_a: .asciz \"main.alpha\"\n"
    "name_b: .asciz \"main.beta\"\n"
    "steps: .byte 0\n"
    "file_a: .byte FILE_NUMBER, 16, 0\n"
    "line_a: .byte 22, 4, 4, 12, 0\n"
    "line_b: .byte 62, 8, 9, 8, 0\n";

typedef struct
{
  const char *name;
  const char *flags;
  gboolean has_first; /* the line of the definition is there */
  gboolean absent;    /* the table must not be read */
} ByHand;

#define PLAIN " -DSECTION=.gopclntab,\"a\""
#define PIE " -pie -DSECTION=.data.rel.ro,\"aw\""

static const ByHand by_hand[] = {
  { "2", "-no-pie -DLAYOUT=2 -DWORD=8" PLAIN },
  { "2-short", "-no-pie -DLAYOUT=2 -DWORD=4" PLAIN },
  { "16", "-no-pie -DLAYOUT=16 -DWORD=8" PLAIN },
  { "18", "-no-pie -DLAYOUT=18 -DWORD=8 -DTEXT=begin" PLAIN },
  { "18-pie", "-DLAYOUT=18 -DWORD=8 -DTEXT=begin -Wl,-z,noseparate-code" PIE },
  { "20", "-no-pie -DLAYOUT=20 -DWORD=8 -DTEXT=begin" PLAIN, TRUE },
  { "20-short", "-no-pie -DLAYOUT=20 -DWORD=4 -DTEXT=begin" PLAIN, TRUE },
  /* The address of the text is not in the header, and .text begins with code
   * that is not Go's. */
  { "20-unknown",
    "-no-pie -DLAYOUT=20 -DWORD=8 -DTEXT=0" PLAIN,
    .absent = TRUE },
};

static char *
build_by_hand (const ByHand *row)
{
  g_autofree char *source = in_folder ("table.S");
  g_autofree char *path = in_folder (row->name);

  g_assert_true (g_file_set_contents (source, table_source, -1, NULL));
  if (!run ("cc -nostdlib -Wl,--build-id=none %s -o %s table.S",
            row->flags,
            row->name) ||
      !run ("strip %s", row->name))
    return NULL;
  return g_steal_pointer (&path);
}

static void
assert_line (const FlamGoTable *table,
             guint64 vaddr,
             guint32 line,
             guint32 first)
{
  FlamGoLine found;

  g_assert_true (flam_go_table_find_line (table, vaddr, &found));
  g_assert_cmpstr (found.file, ==, "/src/oven.go");
  g_assert_cmpstr (found.function_file, ==, "/src/oven.go");
  g_assert_cmpuint (found.line, ==, line);
  g_assert_cmpuint (found.first_line, ==, first);
}

static void
test_by_hand (gconstpointer data)
{
  const ByHand *row = data;
  g_autofree char *path = build_by_hand (row);
  g_autoptr (FlamElf) elf = NULL;
  g_autoptr (FlamGoTable) table = NULL;
  g_autoptr (FlamSymbolTable) symbols = NULL;
  const FlamGoFunction *functions;
  FlamGoLine line;
  guint32 n;

  if (path == NULL)
    {
      g_test_skip ("no compiler for this");
      return;
    }
  elf = flam_elf_open (path, NULL);
  table = flam_go_table_new (elf);
  if (row->absent)
    {
      g_assert_null (table);
      return;
    }
  g_assert_nonnull (table);
  functions = flam_go_table_get (table, &n);
  g_assert_cmpuint (n, ==, 2);
  g_assert_cmpstr (functions[0].name, ==, "main.alpha");
  g_assert_cmpstr (functions[1].name, ==, "main.beta");
  g_assert_cmpuint (functions[0].end - functions[0].start, ==, 16);
  g_assert_cmpuint (functions[1].start, ==, functions[0].end);
  assert_line (table, functions[0].start, 10, row->has_first ? 9 : 0);
  assert_line (table, functions[0].start + 3, 10, row->has_first ? 9 : 0);
  assert_line (table, functions[0].start + 4, 12, row->has_first ? 9 : 0);
  assert_line (table, functions[1].start + 7, 30, row->has_first ? 29 : 0);
  assert_line (table, functions[1].end - 1, 25, row->has_first ? 29 : 0);
  g_assert_false (flam_go_table_find_line (table, functions[1].end, &line));
  g_assert_false (
      flam_go_table_find_line (table, functions[0].start - 1, &line));
  symbols = flam_symbol_table_new (elf, NULL);
  g_assert_cmpstr (flam_symbol_table_find (symbols, functions[1].end - 1)->name,
                   ==,
                   "main.beta");
}

/* Whatever the bytes are, what is read of them is text and code of the file. */
static void
test_damaged (void)
{
  static const guint rows[] = { 0, 2, 4, 5 };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *path = build_by_hand (&by_hand[rows[i]]);
      g_autofree char *bytes = NULL;
      gsize size;
      const char *at;

      if (path == NULL)
        {
          g_test_skip ("no compiler for this");
          return;
        }
      g_assert_true (g_file_get_contents (path, &bytes, &size, NULL));
      at = memmem (bytes, size, "/src/oven.go", 12);
      g_assert_nonnull (at);
      for (guint round = 0; round < 1500; round++)
        {
          g_autofree char *copy = g_memdup2 (bytes, size);
          g_autoptr (FlamElf) elf = NULL;
          g_autoptr (FlamGoTable) table = NULL;
          const FlamGoFunction *functions;
          guint32 n = 0;

          for (guint k = 0; k < 4; k++)
            copy[at - bytes + g_test_rand_int_range (-200, 60)] =
                (char)g_test_rand_int_range (-3, 4);
          elf = flam_elf_new_from_data ("damaged", copy, size, NULL);
          table = elf != NULL ? flam_go_table_new (elf) : NULL;
          functions = table != NULL ? flam_go_table_get (table, &n) : NULL;
          for (guint32 f = 0; f < n; f++)
            {
              FlamGoLine line;

              g_assert_cmpuint (functions[f].start, <, functions[f].end);
              g_assert_cmpuint (strlen (functions[f].name), >, 0);
              if (flam_go_table_find_line (table, functions[f].start, &line))
                g_assert_cmpuint (strlen (line.file), >, 0);
            }
        }
    }
}

/* --- programs that Go links ----------------------------------------------- */

static const char go_source[] =
    "package main\n"
    "import \"sort\"\n"
    "type shelf struct { loaves []int }\n"
    "//go:noinline\n"
    "func (s *shelf) order() int {\n"
    "\tsort.Ints(s.loaves)\n"
    "\treturn s.loaves[0] }\n"
    "func main() {\n"
    "\ts := shelf{make([]int, 99)}\n"
    "\tfor i := range s.loaves { s.loaves[i] = i * 7919 % 99 }\n"
    "\tprintln(twice(s.order())) }\n";

static const char go_twice[] = "package main\n"
                               "func twice(x int) int { return 2 * x }\n";

static const char c_twice[] =
    "package main\n"
    "// static int twice (int x) { return 2 * x; }\n"
    "import \"C\"\n"
    "func twice(x int) int { return int(C.twice(C.int(x))) }\n";

typedef struct
{
  const char *name;
  const char *flags;
  const char *twice;
  const char *oracle;
} Linked;

/* Go's tool looks for the addresses of a program that may be loaded anywhere in
 * the wrong place (Go 1.19). */
#define GO "go tool addr2line"
#define BINUTILS "addr2line -f -e"

static const Linked linked[] = {
  { "own-linker", "", go_twice, GO },
  { "own-linker-pie", "-buildmode=pie ", go_twice, BINUTILS },
  { "c-linker", "", c_twice, GO },
  { "c-linker-pie", "-buildmode=pie ", c_twice, BINUTILS },
};

static gboolean
build_linked (const Linked *row)
{
  const struct
  {
    const char *name, *text;
  } files[] = { { "go.mod", "module kitchen\n" },
                { "oven/main.go", go_source },
                { "oven/twice.go", row->twice } };
  g_autofree char *package = in_folder ("oven");

  g_mkdir_with_parents (package, 0700);
  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    {
      g_autofree char *path = in_folder (files[i].name);

      g_assert_true (g_file_set_contents (path, files[i].text, -1, NULL));
    }
  return run ("go build %s-o %s ./oven", row->flags, row->name) &&
         run ("strip -o %s-bare %s", row->name, row->name);
}

/* The name in the symbol table tells how assembler code is called, too. */
static gboolean
is_same_name (const char *symbol, const char *name)
{
  gsize length = strlen (name);

  return strncmp (symbol, name, length) == 0 &&
         (symbol[length] == '\0' || strcmp (symbol + length, ".abi0") == 0);
}

static void
assert_names (const FlamSymbolTable *symbols, const FlamGoTable *go)
{
  guint32 n, same = 0;
  const FlamGoFunction *functions = flam_go_table_get (go, &n);

  for (guint32 i = 0; i < n; i++)
    {
      const FlamSymbol *symbol =
          flam_symbol_table_find (symbols, functions[i].start);

      if (symbol == NULL || symbol->start != functions[i].start)
        continue;
      if (!is_same_name (symbol->name, functions[i].name))
        g_test_message ("%s: %s", symbol->name, functions[i].name);
      same += is_same_name (symbol->name, functions[i].name);
    }
  g_test_message ("%u of %u functions", same, n);
  g_assert_cmpuint (n, >, 800);
  /* Several functions of one address have one of their names. */
  g_assert_cmpuint (same, >, n - n / 100);
}

/* "function\nfile:line\n" for each address, in order. */
static char **
ask_addr2line (const Linked *row, const GArray *addresses)
{
  g_autofree char *script =
      g_strdup_printf ("%s %s <addresses >answers\n", row->oracle, row->name);
  g_autofree char *asked_path = in_folder ("addresses");
  g_autofree char *answer_path = in_folder ("answers");
  g_autofree char *script_path = in_folder ("ask.sh");
  g_autoptr (GString) asked = g_string_new (NULL);
  g_autofree char *answer = NULL;

  for (guint i = 0; i < addresses->len; i++)
    g_string_append_printf (asked,
                            "0x%" G_GINT64_MODIFIER "x\n",
                            g_array_index (addresses, guint64, i));
  g_assert_true (g_file_set_contents (asked_path, asked->str, -1, NULL));
  g_assert_true (g_file_set_contents (script_path, script, -1, NULL));
  if (!run ("sh ask.sh") ||
      !g_file_get_contents (answer_path, &answer, NULL, NULL))
    return NULL;
  return g_strsplit (answer, "\n", -1);
}

/* The two tools' words for an address without a line, and for a file without a
 * folder. */
static char *
plain_answer (const char *answer)
{
  if (g_str_has_suffix (answer, ":?") || strcmp (answer, "?:0") == 0 ||
      strcmp (answer, "??:0") == 0)
    return g_strdup (":-1");
  if (g_str_has_prefix (answer, "./"))
    answer += 2;
  return g_strndup (answer, strcspn (answer, " "));
}

static void
assert_lines (const Linked *row, const FlamGoTable *go)
{
  g_autoptr (GArray) addresses = g_array_new (FALSE, FALSE, sizeof (guint64));
  g_auto (GStrv) answers = NULL;
  guint32 n, same = 0;
  const FlamGoFunction *functions = flam_go_table_get (go, &n);

  for (guint32 i = 0; i < n; i++)
    for (guint part = 0; part < 4; part++)
      {
        guint64 at = functions[i].start +
                     part * (functions[i].end - functions[i].start) / 4;

        g_array_append_val (addresses, at);
      }
  answers = ask_addr2line (row, addresses);
  g_assert_nonnull (answers);
  g_assert_cmpuint (g_strv_length (answers), >=, 2 * addresses->len);
  for (guint i = 0; i < addresses->len; i++)
    {
      g_autofree char *theirs = plain_answer (answers[2 * i + 1]);
      g_autofree char *ours = NULL;
      FlamGoLine line;

      ours = flam_go_table_find_line (
                 go, g_array_index (addresses, guint64, i), &line)
                 ? g_strdup_printf ("%s:%u", line.file, line.line)
                 : g_strdup (":-1"); /* the space behind its code */
      if (strcmp (ours, theirs) != 0)
        g_test_message ("%s %s: %s", answers[2 * i], theirs, ours);
      same += strcmp (ours, theirs) == 0;
    }
  g_test_message ("%u of %u lines", same, addresses->len);
  g_assert_cmpuint (same, ==, addresses->len);
}

static void
test_linked (gconstpointer data)
{
  const Linked *row = data;
  g_autofree char *whole_path = in_folder (row->name);
  g_autofree char *bare_path = g_strconcat (whole_path, "-bare", NULL);
  g_autoptr (FlamElf) whole = NULL;
  g_autoptr (FlamElf) bare = NULL;
  g_autoptr (FlamSymbolTable) symbols = NULL;
  g_autoptr (FlamGoTable) go = NULL;

  if (!build_linked (row))
    {
      g_test_skip ("go (golang-go) does not build this here");
      return;
    }
  whole = flam_elf_open (whole_path, NULL);
  bare = flam_elf_open (bare_path, NULL);
  symbols = flam_symbol_table_new (whole, NULL);
  g_assert_null (flam_symbol_table_get_go (symbols));
  go = flam_go_table_new (bare);
  g_assert_nonnull (go);
  assert_names (symbols, go);
  assert_lines (row, go);
}

/* What a user sees of a program without symbols. */
static void
test_module (void)
{
  g_autofree char *path = in_folder ("own-linker-bare");
  g_autoptr (FlamSymbolModule) module = NULL;
  const FlamSymbol *symbols;
  guint32 n, found = 0;

  if (!build_linked (&linked[0]))
    {
      g_test_skip ("go (golang-go) does not build this here");
      return;
    }
  module = flam_symbol_module_open (path, NULL, NULL);
  symbols = flam_symbol_table_get (flam_symbol_module_get_table (module), &n);
  for (guint32 i = 0; i < n; i++)
    {
      FlamSymbolChain chain;

      if (strcmp (symbols[i].name, "main.(*shelf).order") != 0)
        continue;
      found++;
      g_assert_true (
          flam_symbol_module_lookup (module, symbols[i].start, &chain));
      g_assert_cmpuint (chain.n, ==, 1);
      g_assert_cmpstr (chain.frames[0].name, ==, "main.(*shelf).order");
      g_assert_true (g_str_has_suffix (chain.frames[0].file, "main.go"));
      g_assert_cmpuint (chain.frames[0].line, ==, 5);
    }
  g_assert_cmpuint (found, ==, 1);
  g_assert_cmpint (
      flam_symbol_module_get_state (module), ==, FLAM_SYMBOLS_SYMTAB);
  g_assert_nonnull (strstr (flam_symbol_module_get_why (module), "inlined"));
}

int
main (int argc, char **argv)
{
  g_autofree char *cache = NULL;
  int status;

  g_test_init (&argc, &argv, NULL);
  /* Nothing is fetched; what it compiles of its own library stays for the next
   * run. */
  cache = g_test_build_filename (G_TEST_BUILT, "symbols", "go-cache", NULL);
  g_setenv ("GOCACHE", cache, TRUE);
  g_setenv ("GOPATH", cache, TRUE);
  g_setenv ("GOPROXY", "off", TRUE);
  g_setenv ("GOTOOLCHAIN", "local", TRUE);
  g_setenv ("GOFLAGS", "-mod=mod", TRUE);
  compiled_begin ();
  for (guint i = 0; i < G_N_ELEMENTS (by_hand); i++)
    {
      g_autofree char *path =
          g_strconcat ("/symbols-go/by-hand/", by_hand[i].name, NULL);

      g_test_add_data_func (path, &by_hand[i], test_by_hand);
    }
  g_test_add_func ("/symbols-go/damaged", test_damaged);
  for (guint i = 0; i < G_N_ELEMENTS (linked); i++)
    {
      g_autofree char *path =
          g_strconcat ("/symbols-go/", linked[i].name, NULL);

      g_test_add_data_func (path, &linked[i], test_linked);
    }
  g_test_add_func ("/symbols-go/module", test_module);
  status = g_test_run ();
  compiled_end ();
  return status;
}
