/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-symbolizer.h"

#include "flam-debuginfod.h"
#include "flam-kallsyms.h"
#include "flam-kernel-names.h"

#include <glib/gstdio.h>
#include <link.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The program looks up itself: `here` returns into code of `inner` that was
 * inlined into `outer`. */
static __attribute__ ((noinline)) guint64
here (void)
{
  return (guint64)__builtin_extract_return_addr (__builtin_return_address (0));
}

static volatile guint sink;
enum
{
  INNER_LINE = __LINE__ + 6
};
static inline __attribute__ ((always_inline)) guint64
inner (void)
{
  guint64 address;
  address = here ();
  sink += (guint)address;
  return address;
}

enum
{
  OUTER_LINE = __LINE__ + 5
};
static __attribute__ ((noinline)) guint64
outer (void)
{
  guint64 address = inner ();
  sink++;
  return address;
}

/* A separate function: no other extends to the byte before it. */
extern const char flam_test_by_hand[];
__asm__(".pushsection .text\n"
        ".type flam_test_before, %function\n"
        "flam_test_before:\n"
        ".skip 16, 0xcc\n"
        ".size flam_test_before, .-flam_test_before\n"
        ".skip 64, 0xcc\n"
        ".globl flam_test_by_hand\n"
        ".hidden flam_test_by_hand\n"
        ".type flam_test_by_hand, %function\n"
        "flam_test_by_hand:\n"
        ".skip 64, 0xcc\n"
        ".size flam_test_by_hand, .-flam_test_by_hand\n"
        ".popsection\n");

static int
keep_bias (struct dl_phdr_info *info, size_t size, void *data)
{
  *(guint64 *)data = info->dlpi_addr;
  return 1; /* the first is the program */
}

static guint64
own_bias (void)
{
  guint64 bias = 0;

  dl_iterate_phdr (keep_bias, &bias);
  return bias;
}

static char *
own_path (void)
{
  return g_file_read_link ("/proc/self/exe", NULL);
}

static FlamProfile *
make (const char *path,
      const char *build_id,
      FlamAddressing addressing,
      guint64 address)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  g_autoptr (GError) error = NULL;
  FlamModuleId module =
      flam_builder_module (builder, path, build_id, addressing);
  FlamProcessId process = flam_builder_process (builder, 1, 0);
  FlamSample sample = { .thread =
                            flam_builder_thread (builder, process, 1, 0) };
  FlamProfile *profile;

  sample.stack = flam_builder_stack (
      builder,
      FLAM_NONE,
      flam_builder_frame (builder,
                          flam_builder_function_unresolved (builder, module),
                          address,
                          0,
                          0));
  flam_builder_add_measure (builder,
                            "samples",
                            "Samples",
                            FLAM_UNIT_COUNT,
                            FLAM_MEASURE_CPU,
                            -1,
                            FLAM_NONE);
  flam_builder_add_sample (builder, &sample, NULL);
  profile = flam_builder_finish (builder, &error);
  g_assert_no_error (error);
  return profile;
}

/* "outer:31 inner:25", root first. */
static char *
stack_text (const FlamProfile *profile, gboolean lines)
{
  GString *text = g_string_new (NULL);

  for (FlamStackId stack = profile->samples.stack[0]; stack != FLAM_NONE;
       stack = profile->stacks.prefix[stack])
    {
      FlamFrameId frame = profile->stacks.frame[stack];
      g_autofree char *part = g_strdup_printf (
          "%s:%u ",
          flam_profile_function_name (profile, profile->frames.function[frame]),
          lines ? profile->frames.line[frame] : 0);

      g_string_prepend (text, part);
    }
  return g_string_free (text, FALSE);
}

static void
assert_stack (const FlamProfile *profile, gboolean lines, const char *wanted)
{
  g_autofree char *text = stack_text (profile, lines);
  g_assert_cmpstr (text, ==, wanted);
}

static FlamProfile *
symbolize (const FlamProfile *profile, const FlamSymbolOptions *options)
{
  g_autoptr (GError) error = NULL;
  FlamProfile *result = flam_symbolize (profile, options, NULL, &error);

  g_assert_no_error (error);
  return result;
}

static const char *
why (const FlamProfile *profile)
{
  return flam_profile_string (profile, profile->modules.why[0]);
}

static void
test_steps (void)
{
  guint64 address = outer () - 1 - own_bias ();
  FlamSymbolOptions names = { .detail = FLAM_SYMBOL_DETAIL_SYMTAB };
  g_autofree char *path = own_path ();
  g_autofree char *full =
      g_strdup_printf ("outer:%d inner:%d ", OUTER_LINE, INNER_LINE);
  g_autoptr (FlamProfile) plain = make (path, "", FLAM_ADDRESS_VADDR, address);
  g_autoptr (FlamProfile) first = symbolize (plain, &names);
  g_autoptr (FlamProfile) second = symbolize (first, NULL);
  g_autoptr (FlamProfile) at_once = symbolize (plain, NULL);
  g_autoptr (FlamProfile) again = symbolize (second, NULL);

  assert_stack (first, TRUE, "outer:0 ");
  g_assert_cmpuint (first->modules.symbols[0], ==, FLAM_SYMBOLS_SYMTAB);
  assert_stack (second, TRUE, full);
  g_assert_cmpuint (second->modules.symbols[0], ==, FLAM_SYMBOLS_DWARF);
  assert_stack (at_once, TRUE, full);
  assert_stack (again, TRUE, full);
  g_assert_true (again == second);
}

/* In a manually constructed stack, as with makecontext(), the caller's address
 * is the byte before a function: the function it returns to is meant. */
static void
test_by_hand (void)
{
  static const char *const wanted[] = { "flam_test_by_hand:0 ",
                                        "flam_test_by_hand:0 ",
                                        "[test-symbolizer]:0 " };
  g_autofree char *path = own_path ();

  for (guint i = 0; i < G_N_ELEMENTS (wanted); i++)
    {
      g_autoptr (FlamProfile) plain =
          make (path,
                "",
                FLAM_ADDRESS_VADDR,
                (gsize)flam_test_by_hand - own_bias () - i);
      g_autoptr (FlamProfile) named = symbolize (plain, NULL);

      assert_stack (named, FALSE, wanted[i]);
    }
}

static void
test_file_offset (void)
{
  guint64 vaddr = outer () - 1 - own_bias ();
  g_autofree char *path = own_path ();
  g_autoptr (FlamElf) elf = flam_elf_open (path, NULL);
  g_autoptr (FlamProfile) plain = NULL;
  g_autoptr (FlamProfile) named = NULL;
  guint64 offset = 0;
  guint64 back = 0;

  g_assert_true (flam_elf_vaddr_to_offset (elf, vaddr, &offset));
  g_assert_true (flam_elf_offset_to_vaddr (elf, offset, &back));
  g_assert_cmpuint (back, ==, vaddr);
  plain = make (
      path, flam_elf_get_build_id (elf), FLAM_ADDRESS_FILE_OFFSET, offset);
  named = symbolize (plain, NULL);
  assert_stack (named, FALSE, "outer:0 inner:0 ");
}

static void
test_reasons (void)
{
  g_autofree char *path = own_path ();
  g_autoptr (FlamProfile) gone =
      make ("/nonexistent/program", "", FLAM_ADDRESS_VADDR, 0x1000);
  g_autoptr (FlamProfile) other = make (
      path, "00112233445566778899aabbccddeeff", FLAM_ADDRESS_VADDR, 0x1000);
  g_autoptr (FlamProfile) memory =
      make ("[heap]", "", FLAM_ADDRESS_VADDR, 0x1000);
  g_autoptr (FlamProfile) kernel =
      make ("[kernel.kallsyms]", "", FLAM_ADDRESS_ABSOLUTE, 0xffffffff81000010);
  g_autoptr (FlamProfile) gone_2 = symbolize (gone, NULL);
  g_autoptr (FlamProfile) other_2 = symbolize (other, NULL);
  g_autoptr (FlamProfile) memory_2 = symbolize (memory, NULL);
  g_autoptr (FlamProfile) kernel_2 = symbolize (kernel, NULL);

  g_assert_cmpstr (why (gone_2), ==, "file not found: /nonexistent/program");
  g_assert_cmpuint (gone_2->modules.symbols[0], ==, FLAM_SYMBOLS_NONE);
  assert_stack (gone_2, TRUE, "[program]:0 ");
  g_assert_true (g_str_has_prefix (
      why (other_2),
      "build ID differs: recorded 00112233445566778899aabbccddeeff, "));
  g_assert_true (g_str_has_prefix (why (memory_2), "not a file"));
  g_assert_true (
      g_str_has_prefix (why (kernel_2), "the capture may be from before"));
}

/* The number of warnings when a program with this build ID in the capture is
 * named, and the capture was last written at `capture_s`. */
static guint
count_warnings (const char *path, const char *build_id, gint64 capture_s)
{
  g_autofree char *capture = NULL;
  int fd = g_file_open_tmp ("flam-XXXXXX", &capture, NULL);
  struct timespec times[] = { { .tv_sec = capture_s },
                              { .tv_sec = capture_s } };
  FlamSymbolOptions options = { .capture = capture };
  g_autoptr (FlamProfile) profile =
      make (path, build_id, FLAM_ADDRESS_VADDR, outer () - 1 - own_bias ());
  g_autoptr (FlamProfile) named = NULL;

  g_assert_cmpint (fd, >=, 0);
  g_assert_cmpint (futimens (fd, times), ==, 0);
  close (fd);
  named = symbolize (profile, &options);
  g_unlink (capture);
  assert_stack (named, FALSE, "outer:0 inner:0 ");
  return g_strv_length ((char **)named->facts.warnings);
}

/* A program written after the capture is not the recorded one, unless its build
 * ID proves it. */
static void
test_written_later (void)
{
  g_autofree char *path = own_path ();
  struct stat status;

  g_assert_cmpint (stat (path, &status), ==, 0);
  g_assert_cmpuint (count_warnings (path, "", status.st_mtime - 1), ==, 1);
  g_assert_cmpuint (count_warnings (path, "", status.st_mtime + 1), ==, 0);
}

/* Found by build id under another name in a nested folder. */
static void
test_binaries (void)
{
  guint64 address = outer () - 1 - own_bias ();
  g_autofree char *path = own_path ();
  g_autoptr (FlamElf) elf = flam_elf_open (path, NULL);
  g_autofree char *root = g_dir_make_tmp ("flam-binaries-XXXXXX", NULL);
  g_autofree char *below = g_build_filename (root, "below", NULL);
  g_autofree char *copy = g_build_filename (below, "renamed", NULL);
  const char *directories[] = { root, NULL };
  FlamSymbolOptions options = { .binaries = directories };
  g_autoptr (FlamProfile) plain = NULL;
  g_autoptr (FlamProfile) named = NULL;
  g_autofree char *bytes = NULL;
  gsize size;

  if (!*flam_elf_get_build_id (elf))
    {
      g_test_skip ("this toolchain writes no build ids");
      return;
    }
  g_assert_true (g_file_get_contents (path, &bytes, &size, NULL));
  g_assert_no_errno (g_mkdir (below, 0700));
  g_assert_true (g_file_set_contents (copy, bytes, (gssize)size, NULL));
  plain = make ("/opt/elsewhere/test-symbolizer",
                flam_elf_get_build_id (elf),
                FLAM_ADDRESS_VADDR,
                address);
  named = symbolize (plain, &options);
  assert_stack (named, FALSE, "outer:0 inner:0 ");
  g_assert_no_errno (g_remove (copy));
  g_assert_no_errno (g_rmdir (below));
  g_assert_no_errno (g_rmdir (root));
}

/* The program is there, but stripped; its debug file has any name in a folder
 * that was chosen, and the program does not refer to it. */
static void
test_debug_in_binaries (void)
{
  guint64 address = outer () - 1 - own_bias ();
  g_autofree char *path = own_path ();
  g_autoptr (FlamElf) elf = flam_elf_open (path, NULL);
  g_autofree char *root = g_dir_make_tmp ("flam-debug-XXXXXX", NULL);
  g_autofree char *chosen = g_build_filename (root, "chosen", NULL);
  g_autofree char *program = g_build_filename (root, "program", NULL);
  g_autofree char *command = g_strdup_printf (
      "mkdir %s && objcopy --only-keep-debug %s %s/any && objcopy -S %s %s",
      chosen,
      path,
      chosen,
      path,
      program);
  g_autofree char *remove = g_strdup_printf ("rm -r %s", root);
  const char *directories[] = { chosen, NULL };
  FlamSymbolOptions options = { .binaries = directories };
  g_autoptr (FlamProfile) plain =
      make (program, flam_elf_get_build_id (elf), FLAM_ADDRESS_VADDR, address);
  g_autoptr (FlamProfile) named = NULL;

  if (!*flam_elf_get_build_id (elf) || system (command) != 0)
    {
      g_test_skip ("no objcopy, or no build id");
      return;
    }
  named = symbolize (plain, &options);
  assert_stack (named, FALSE, "outer:0 inner:0 ");
  g_assert_cmpint (system (remove), ==, 0);
}

static void
test_only (void)
{
  guint64 address = outer () - 1 - own_bias ();
  g_autofree char *path = own_path ();
  g_autoptr (FlamProfile) plain = make (path, "", FLAM_ADDRESS_VADDR, address);
  FlamId other = 1000;
  FlamId own = 0;
  FlamSymbolOptions none = { .modules = &other, .n_modules = 1 };
  FlamSymbolOptions one = { .modules = &own, .n_modules = 1 };
  g_autoptr (FlamProfile) untouched = symbolize (plain, &none);
  g_autoptr (FlamProfile) named = symbolize (plain, &one);

  g_assert_true (untouched == plain);
  assert_stack (named, FALSE, "outer:0 inner:0 ");
}

/* A server is a folder here; nothing is sent over a network. */
static void
test_debuginfod (void)
{
  guint64 address = outer () - 1 - own_bias ();
  g_autofree char *path = own_path ();
  g_autofree char *root = g_dir_make_tmp ("flam-server-XXXXXX", NULL);
  g_autofree char *cache = g_build_filename (root, "cache", NULL);
  g_autofree char *url = g_strconcat ("file://", root, "/", NULL);
  g_autofree char *folder = NULL;
  g_autofree char *served = NULL;
  g_autofree char *bytes = NULL;
  g_autofree char *command = g_strconcat ("rm -r ", root, NULL);
  g_autoptr (FlamElf) elf = flam_elf_open (path, NULL);
  g_autoptr (FlamDebuginfod) debuginfod = NULL;
  g_autoptr (FlamProfile) plain = NULL;
  g_autoptr (FlamProfile) unasked = NULL;
  g_autoptr (FlamProfile) named = NULL;
  FlamSymbolOptions options = { .debuginfod = TRUE };
  gsize size;

  g_setenv ("DEBUGINFOD_URLS", url, TRUE);
  g_setenv ("DEBUGINFOD_CACHE_PATH", cache, TRUE);
  debuginfod = flam_debuginfod_new (NULL);
  if (!debuginfod || !*flam_elf_get_build_id (elf))
    {
      g_test_skip ("no libdebuginfod.so.1, or no build id");
      return;
    }
  folder =
      g_build_filename (root, "buildid", flam_elf_get_build_id (elf), NULL);
  served = g_build_filename (folder, "executable", NULL);
  g_assert_no_errno (g_mkdir_with_parents (folder, 0700));
  g_assert_true (g_file_get_contents (path, &bytes, &size, NULL));
  g_assert_true (g_file_set_contents (served, bytes, (gssize)size, NULL));
  plain = make ("/opt/elsewhere/program",
                flam_elf_get_build_id (elf),
                FLAM_ADDRESS_VADDR,
                address);
  unasked = symbolize (plain, NULL);
  assert_stack (unasked, FALSE, "[program]:0 ");
  named = symbolize (plain, &options);
  assert_stack (named, FALSE, "outer:0 inner:0 ");
  g_assert_true (g_spawn_command_line_sync (command, NULL, NULL, NULL, NULL));
}

static gboolean
refuse (gpointer data, double fraction)
{
  return FALSE;
}

static void
test_cancel (void)
{
  guint64 address = outer () - 1 - own_bias ();
  g_autofree char *path = own_path ();
  g_autoptr (FlamProfile) plain = make (path, "", FLAM_ADDRESS_VADDR, address);
  FlamProgress progress = { refuse, NULL };
  g_autoptr (GError) error = NULL;

  g_assert_null (flam_symbolize (plain, NULL, &progress, &error));
  g_assert_error (error, FLAM_ERROR, FLAM_ERROR_CANCELLED);
}

static void
test_kallsyms (void)
{
  g_autofree char *path = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (FlamKallsyms) kallsyms = NULL;
  g_autoptr (FlamKallsyms) hidden = NULL;
  static const char text[] = "ffffffff81000000 T startup_64\n"
                             "ffffffff81000000 t _stext\n"
                             "ffffffff81000100 D data\n"
                             "ffffffff81000200 t local\t[mod]\n"
                             "nonsense\n";
  static const char zeros[] = "0000000000000000 T startup_64\n";
  int fd = g_file_open_tmp ("flam-kallsyms-XXXXXX", &path, NULL);

  g_assert_cmpint (fd, >=, 0);
  g_close (fd, NULL);
  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  kallsyms = flam_kallsyms_open (path, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (
      flam_kallsyms_find (kallsyms, 0xffffffff81000000), ==, "startup_64");
  g_assert_cmpstr (
      flam_kallsyms_find (kallsyms, 0xffffffff810001ff), ==, "startup_64");
  g_assert_cmpstr (
      flam_kallsyms_find (kallsyms, 0xffffffff81000203), ==, "local");
  g_assert_null (flam_kallsyms_find (kallsyms, 0xffffffff80ffffff));
  g_assert_null (flam_kallsyms_find (kallsyms, 0xffffffffc0000000));

  g_assert_true (g_file_set_contents (path, zeros, -1, NULL));
  hidden = flam_kallsyms_open (path, &error);
  g_assert_null (hidden);
  g_assert_error (error, FLAM_ERROR, FLAM_ERROR_SYSTEM);
  g_assert_no_errno (g_remove (path));
}

/* Every 50th function of the running kernel: more than are asked for one by
 * one. Of functions at the same address, any name is right. */
static void
test_kernel_names (void)
{
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (FlamKernelNames) names = flam_kernel_names_new (&error);
  g_autoptr (FlamKallsyms) all = flam_kallsyms_open (NULL, NULL);
  g_auto (GStrv) lines = NULL;
  guint n = 0, n_lines, wanted = 0;

  if (names == NULL || all == NULL)
    {
      g_assert_error (error, FLAM_ERROR, FLAM_ERROR_SYSTEM);
      g_test_skip ("the kernel hides its addresses");
      return;
    }
  g_assert_true (g_file_get_contents ("/proc/kallsyms", &text, NULL, NULL));
  g_assert_null (flam_kernel_names_find (names, 16));
  lines = g_strsplit_set (text, "\n", -1);
  n_lines = g_strv_length (lines);
  for (guint i = 1; i + 1 < n_lines; i += 50)
    {
      guint64 address = g_ascii_strtoull (lines[i], NULL, 16);
      g_auto (GStrv) words = g_strsplit_set (lines[i], " \t", -1);
      const char *found;

      if (!strchr ("tT", words[1][0]) ||
          strncmp (lines[i], lines[i - 1], 16) == 0 ||
          strncmp (lines[i], lines[i + 1], 16) == 0 ||
          g_strcmp0 (flam_kallsyms_find (all, address), words[2]) != 0)
        continue;
      found = flam_kernel_names_find (names, address);
      /* What is loaded for a moment, and the end of sections. */
      if (found != NULL)
        g_assert_cmpstr (found, ==, words[2]);
      n += found != NULL;
      wanted++;
    }
  g_assert_cmpuint (n, >, wanted - wanted / 100);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/symbolizer/steps", test_steps);
  g_test_add_func ("/symbolizer/by-hand", test_by_hand);
  g_test_add_func ("/symbolizer/file-offset", test_file_offset);
  g_test_add_func ("/symbolizer/reasons", test_reasons);
  g_test_add_func ("/symbolizer/written-later", test_written_later);
  g_test_add_func ("/symbolizer/binaries", test_binaries);
  g_test_add_func ("/symbolizer/debug-in-binaries", test_debug_in_binaries);
  g_test_add_func ("/symbolizer/only", test_only);
  g_test_add_func ("/symbolizer/debuginfod", test_debuginfod);
  g_test_add_func ("/symbolizer/cancel", test_cancel);
  g_test_add_func ("/symbolizer/kallsyms", test_kallsyms);
  g_test_add_func ("/symbolizer/kernel-names", test_kernel_names);
  return g_test_run ();
}
