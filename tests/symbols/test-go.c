/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Go's own table of functions in programs without symbols, as Go links them:
 * against the symbols of the same program, the lines of `go tool addr2line`,
 * and the inlined functions that LLVM reads from its DWARF. */

#include "flam-go-table.h"
#include "flam-symbol-table.h"
#include "flam-unwind-rows.h"

#include "compiled.h"
#include "go-damage.h"

#include <string.h>

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

/* Go's tool looks up addresses of position-independent programs in the wrong
 * place (Go 1.19). */
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

/* The name in the symbol table also shows how assembler code is called. */
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
  /* Several functions with the same address have one of their names. */
  g_assert_cmpuint (same, >, n - n / 100);
}

/* The start of each function and three addresses in it. */
static GArray *
list_addresses (const FlamGoTable *go)
{
  GArray *addresses = g_array_new (FALSE, FALSE, sizeof (guint64));
  guint32 n;
  const FlamGoFunction *functions = flam_go_table_get (go, &n);

  for (guint32 i = 0; i < n; i++)
    for (guint part = 0; part < 4; part++)
      {
        guint64 at = functions[i].start +
                     part * (functions[i].end - functions[i].start) / 4;

        g_array_append_val (addresses, at);
      }
  return addresses;
}

/* The lines that `oracle` prints. */
static char **
ask (const char *oracle, const char *name, const GArray *addresses)
{
  g_autofree char *script =
      g_strdup_printf ("%s %s <addresses >answers\n", oracle, name);
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

/* How the two tools print an address without a line (Go 1.24 gives negative
 * lines to markers in the code), and a file without a folder. */
static char *
plain_answer (const char *answer)
{
  if (g_str_has_suffix (answer, ":?") || strcmp (answer, "?:0") == 0 ||
      strcmp (answer, "??:0") == 0 || g_str_has_prefix (answer, ":-"))
    return g_strdup (":-1");
  if (g_str_has_prefix (answer, "./"))
    answer += 2;
  return g_strndup (answer, strcspn (answer, " "));
}

/* Code that Go's compiler generates by itself has the first line of a
 * nonexistent file; addr2line of Binutils 2.44 leaves that line out. */
static gboolean
is_same_line (const char *ours, const char *theirs)
{
  return strcmp (ours, theirs) == 0 ||
         (strcmp (theirs, ":-1") == 0 &&
          strcmp (ours, "<autogenerated>:1") == 0);
}

static void
assert_lines (const Linked *row, const FlamGoTable *go)
{
  g_autoptr (GArray) addresses = list_addresses (go);
  g_auto (GStrv) answers = ask (row->oracle, row->name, addresses);
  guint32 same = 0;

  g_assert_nonnull (answers);
  g_assert_cmpuint (g_strv_length (answers), >=, 2 * addresses->len);
  for (guint i = 0; i < addresses->len; i++)
    {
      g_autofree char *theirs = plain_answer (answers[2 * i + 1]);
      g_autofree char *ours = NULL;
      FlamGoFrame frames[FLAM_GO_FRAMES_MAX];

      ours =
          flam_go_table_look_up (
              go, g_array_index (addresses, guint64, i), frames) > 0
              ? g_strdup_printf ("%s:%u", frames[0].line_file, frames[0].line)
              : g_strdup (":-1"); /* the space after its code */
      if (!is_same_line (ours, theirs))
        g_test_message ("%s %s: %s", answers[2 * i], theirs, ours);
      same += is_same_line (ours, theirs);
    }
  g_test_message ("%u of %u lines", same, addresses->len);
  g_assert_cmpuint (same, ==, addresses->len);
}

/* "outer file:line;inner file:line", by DWARF; `at` moves to the next
 * address. */
static char *
describe_answer (char **answers, guint *at)
{
  GString *text = g_string_new (NULL);

  for ((*at)++; answers[*at] != NULL && answers[*at + 1] != NULL &&
                !g_str_has_prefix (answers[*at], "0x");
       *at += 2)
    {
      g_autofree char *position = plain_answer (answers[*at + 1]);
      g_autofree char *frame =
          g_strdup_printf (";%s %s", answers[*at], position);

      g_string_prepend (text, frame);
    }
  return g_string_free (text, FALSE);
}

static char *
describe_frames (const FlamGoTable *go, guint64 vaddr)
{
  FlamGoFrame frames[FLAM_GO_FRAMES_MAX];
  GString *text = g_string_new (NULL);

  for (guint i = flam_go_table_look_up (go, vaddr, frames); i-- > 0;)
    g_string_append_printf (
        text, ";%s %s:%u", frames[i].name, frames[i].line_file, frames[i].line);
  return g_string_free (text, FALSE);
}

static void
assert_inlined (const Linked *row, const FlamGoTable *go)
{
  g_autoptr (GArray) addresses = list_addresses (go);
  g_auto (GStrv) answers =
      ask ("llvm-addr2line -a -f -i -e", row->name, addresses);
  guint n = 0, same = 0, at = 0;

  g_assert_nonnull (answers);
  for (guint i = 0; i < addresses->len; i++)
    {
      g_autofree char *theirs = describe_answer (answers, &at);
      g_autofree char *ours =
          describe_frames (go, g_array_index (addresses, guint64, i));

      if (strchr (ours + (*ours != '\0'), ';') == NULL &&
          strchr (theirs + (*theirs != '\0'), ';') == NULL)
        continue;
      n++;
      same += strcmp (ours, theirs) == 0;
      if (strcmp (ours, theirs) != 0)
        g_test_message ("%s\n  %s", theirs, ours);
    }
  g_test_message ("%u of %u with inlined functions", same, n);
  g_assert_cmpuint (n, >, 100);
  g_assert_cmpuint (same, >=, n - n / 50);
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
  g_assert_true (flam_go_table_has_inlined (go));
  assert_inlined (row, go);
}

/* --- stacks --------------------------------------------------------------- */

static FlamUnwindTable *
read_table (const char *path, GMappedFile **file)
{
  const char *why;

  *file = g_mapped_file_new (path, FALSE, NULL);
  g_assert_nonnull (*file);
  return flam_unwind_table_new_file (g_mapped_file_get_contents (*file),
                                     g_mapped_file_get_length (*file),
                                     &why);
}

static guint
kind_at (const FlamUnwindTable *table, guint64 offset, guint *cfa)
{
  const FlamUnwindRow *row = flam_unwind_table_find (table, offset);

  *cfa = row != NULL ? row->cfa : 0;
  return row != NULL ? row->how & 7 : FLAM_UNWIND_KIND_NONE;
}

/* At every instruction, the depth that Go's linker wrote as DWARF into the same
 * program; but functions that set rsp end a stack in Go, which DWARF does not
 * show. */
static void
test_depths (gconstpointer data)
{
  const Linked *row = data;
  Linked plain = *row;
  g_autofree char *flags =
      g_strconcat (row->flags, "-ldflags=-compressdwarf=false ", NULL);
  g_autofree char *whole_path = in_folder (row->name);
  g_autofree char *bare_path = g_strconcat (whole_path, "-bare", NULL);
  g_autoptr (GMappedFile) whole_file = NULL;
  g_autoptr (GMappedFile) bare_file = NULL;
  FlamUnwindTable *whole, *bare;
  g_autoptr (FlamElf) elf = NULL;
  g_autoptr (FlamGoTable) go = NULL;
  const FlamGoFunction *functions;
  guint32 n, same = 0, unlike = 0, without = 0, roots = 0;

  plain.flags = flags;
  if (!build_linked (&plain))
    {
      g_test_skip ("go (golang-go) does not build this here");
      return;
    }
  whole = read_table (whole_path, &whole_file);
  bare = read_table (bare_path, &bare_file);
  elf = flam_elf_open (bare_path, NULL);
  go = flam_go_table_new (elf);
  g_assert_true (whole != NULL && bare != NULL && go != NULL);
  functions = flam_go_table_get (go, &n);
  for (guint32 i = 0; i < n; i++)
    for (guint64 at = functions[i].start; at < functions[i].end; at++)
      {
        guint64 offset;
        guint ours, wanted, kind;

        g_assert_true (flam_elf_vaddr_to_offset (elf, at, &offset));
        if (kind_at (whole, offset, &wanted) != FLAM_UNWIND_KIND_SP)
          continue;
        kind = kind_at (bare, offset, &ours);
        roots += kind == FLAM_UNWIND_KIND_END;
        without += kind == FLAM_UNWIND_KIND_NONE;
        same += kind == FLAM_UNWIND_KIND_SP && ours == wanted;
        unlike += kind == FLAM_UNWIND_KIND_SP && ours != wanted;
      }
  g_test_message ("%u bytes of code alike, %u not, %u without, %u of roots",
                  same,
                  unlike,
                  without,
                  roots);
  g_assert_cmpuint (unlike, ==, 0);
  g_assert_cmpuint (roots, >, 0);
  g_assert_cmpuint (without, >, 0);
  g_assert_cmpuint (without + roots, <, same / 50);
  flam_unwind_table_free (whole);
  flam_unwind_table_free (bare);
}

/* Damages what a linker makes: the table, and the trees of calls. */
static void
test_damaged_linked (void)
{
  static const char *const sections[] = { ".gopclntab",
                                          ".rodata",
                                          ".noptrdata" };
  g_autofree char *path = in_folder ("own-linker-bare");
  g_autofree char *bytes = NULL;
  g_autoptr (FlamElf) elf = NULL;
  gsize size;

  if (!build_linked (&linked[0]))
    {
      g_test_skip ("go (golang-go) does not build this here");
      return;
    }
  g_assert_true (g_file_get_contents (path, &bytes, &size, NULL));
  elf = flam_elf_new_from_data ("whole", bytes, size, NULL);
  for (guint round = 0; round < 60; round++)
    {
      g_autofree char *copy = g_memdup2 (bytes, size);
      FlamElfSection section;
      guint64 at;

      g_assert_true (flam_elf_get_section (elf, sections[round % 3], &section));
      g_assert_true (flam_elf_vaddr_to_offset (elf, section.vaddr, &at));
      for (guint k = 0; k < 2000; k++)
        copy[at + (guint64)g_test_rand_int_range (0, (gint32)section.size)] =
            (char)g_test_rand_int_range (-3, 4);
      /* The header is small and would rarely be hit. */
      if (round % 3 == 0 && round % 2 > 0)
        copy[at + (guint64)g_test_rand_int_range (0, 72)] ^= 1;
      read_all_of_go (copy, size);
    }
}

/* A user's view of a program without symbols. */
static void
test_module (void)
{
  g_autofree char *path = in_folder ("own-linker-bare");
  g_autoptr (FlamSymbolModule) module = NULL;
  g_autoptr (FlamSymbolTable) table = NULL;
  const FlamSymbol *symbols;
  guint32 n, found = 0;

  if (!build_linked (&linked[0]))
    {
      g_test_skip ("go (golang-go) does not build this here");
      return;
    }
  module = flam_symbol_module_open (path, NULL, NULL);
  table = flam_symbol_table_new (flam_symbol_module_get_elf (module), NULL);
  symbols = flam_symbol_table_get (table, &n);
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
  g_assert_cmpstr (flam_symbol_module_get_why (module), ==, "");
}

int
main (int argc, char **argv)
{
  g_autofree char *cache = NULL;
  int status;

  g_test_init (&argc, &argv, NULL);
  /* Nothing is downloaded; Go's own compiled library is kept for the next
   * run. */
  cache = g_test_build_filename (G_TEST_BUILT, "symbols", "go-cache", NULL);
  g_setenv ("GOCACHE", cache, TRUE);
  g_setenv ("GOPATH", cache, TRUE);
  g_setenv ("GOPROXY", "off", TRUE);
  g_setenv ("GOTOOLCHAIN", "local", TRUE);
  g_setenv ("GOFLAGS", "-mod=mod", TRUE);
  compiled_begin ();
  for (guint i = 0; i < G_N_ELEMENTS (linked); i++)
    {
      g_autofree char *path =
          g_strconcat ("/symbols-go/", linked[i].name, NULL);

      g_test_add_data_func (path, &linked[i], test_linked);
    }
  g_test_add_data_func (
      "/symbols-go/depths/own-linker", &linked[0], test_depths);
  g_test_add_data_func ("/symbols-go/depths/c-linker", &linked[2], test_depths);
  g_test_add_func ("/symbols-go/damaged-linked", test_damaged_linked);
  g_test_add_func ("/symbols-go/module", test_module);
  status = g_test_run ();
  compiled_end ();
  return status;
}
