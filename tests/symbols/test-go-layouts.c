/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Each layout of Go's table of functions, made by hand, valid and damaged. */

#include "flam-go-table.h"
#include "flam-symbol-table.h"

#include "compiled.h"
#include "go-damage.h"

#include <string.h>

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
  gboolean has_first; /* contains the line of the definition */
  gboolean absent;    /* the table must be refused */
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
  FlamGoFrame frames[FLAM_GO_FRAMES_MAX];

  g_assert_cmpuint (flam_go_table_look_up (table, vaddr, frames), ==, 1);
  g_assert_cmpstr (frames[0].file, ==, "/src/oven.go");
  g_assert_cmpstr (frames[0].line_file, ==, "/src/oven.go");
  g_assert_cmpuint (frames[0].line, ==, line);
  g_assert_cmpuint (frames[0].first_line, ==, first);
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
  FlamGoFrame frames[FLAM_GO_FRAMES_MAX];
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
  g_assert_false (flam_go_table_has_inlined (table));
  g_assert_cmpuint (
      flam_go_table_look_up (table, functions[1].end, frames), ==, 0);
  g_assert_cmpuint (
      flam_go_table_look_up (table, functions[0].start - 1, frames), ==, 0);
  symbols = flam_symbol_table_new (elf, NULL);
  g_assert_cmpstr (flam_symbol_table_find (symbols, functions[1].end - 1)->name,
                   ==,
                   "main.beta");
}

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

          for (guint k = 0; k < 4; k++)
            copy[at - bytes + g_test_rand_int_range (-200, 60)] =
                (char)g_test_rand_int_range (-3, 4);
          read_all_of_go (copy, size);
        }
    }
}

int
main (int argc, char **argv)
{
  int status;

  g_test_init (&argc, &argv, NULL);
  compiled_begin ();
  for (guint i = 0; i < G_N_ELEMENTS (by_hand); i++)
    {
      g_autofree char *path =
          g_strconcat ("/symbols-go-layouts/", by_hand[i].name, NULL);

      g_test_add_data_func (path, &by_hand[i], test_by_hand);
    }
  g_test_add_func ("/symbols-go-layouts/damaged", test_damaged);
  status = g_test_run ();
  compiled_end ();
  return status;
}
