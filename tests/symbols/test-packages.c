/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Split debug information that is only in a package: for each compiler and
 * each packer, it must give the same results as the same program without
 * splitting. */

#include "flam-debug-files.h"

#include "compiled.h"

#include <glib/gstdio.h>
#include <string.h>

static gboolean
build_pair (const char *compiler, const char *name, const char *flags)
{
  return run ("%s -O2 -g %s -c -o %s-1.o program.cc", compiler, flags, name) &&
         run ("%s -O2 -g %s -c -o %s-2.o second.cc", compiler, flags, name) &&
         run ("%s -Wl,--build-id -o %s %s-1.o %s-2.o",
              compiler,
              name,
              name,
              name);
}

/* The split units of two sources, only in a package, against the same without
 * splitting. FALSE: the tools are missing. */
static gboolean
pack_pair (const char *compiler,
           const char *packer,
           const char *version,
           const char *name)
{
  g_autofree char *flags = g_strconcat (version, " -gsplit-dwarf", NULL);
  g_autofree char *whole = g_strconcat (name, "-whole", NULL);

  return build_pair (compiler, whole, version) &&
         build_pair (compiler, name, flags) &&
         run ("%s -e %s -o %s.dwp", packer, name, name) &&
         run ("rm %s-1.dwo %s-2.dwo", name, name);
}

static void
assert_packed (const char *path,
               const FlamSymbolModuleOptions *options,
               const char *whole_name)
{
  g_autofree char *whole = in_folder (whole_name);
  g_autofree char *wanted = describe (whole, NULL, FALSE);
  g_autofree char *text = describe (path, options, FALSE);

  g_assert_nonnull (strstr (wanted, " poured:second.cc:13 twice:second.cc:3"));
  assert_same (text, wanted);
}

typedef struct
{
  const char *name;
  const char *compiler;
  const char *packer;
  const char *version;
} Package;

/* LLVM 14's packer does not terminate for some of gcc's units. */
static const Package packages[] = {
  { "gcc-dwp-4", "g++", "dwp", "-gdwarf-4" },
  { "gcc-llvm-4", "g++", "timeout 20 llvm-dwp", "-gdwarf-4" },
  { "gcc-llvm-5", "g++", "timeout 20 llvm-dwp", "-gdwarf-5" },
  { "gcc-sections-5",
    "g++ -ffunction-sections",
    "timeout 20 llvm-dwp",
    "-gdwarf-5" },
  { "gcc-types-4", "g++ -fdebug-types-section", "dwp", "-gdwarf-4" },
  { "gcc-types-5",
    "g++ -fdebug-types-section",
    "timeout 20 llvm-dwp",
    "-gdwarf-5" },
  { "clang-dwp-4", "clang++", "dwp", "-gdwarf-4" },
  { "clang-llvm-5", "clang++", "timeout 20 llvm-dwp", "-gdwarf-5" },
  { "clang-sections-5",
    "clang++ -ffunction-sections",
    "timeout 20 llvm-dwp",
    "-gdwarf-5" },
  { "clang-types-5",
    "clang++ -fdebug-types-section",
    "timeout 20 llvm-dwp",
    "-gdwarf-5" },
};

static void
test_package (gconstpointer data)
{
  const Package *package = data;
  g_autofree char *path = in_folder (package->name);
  g_autofree char *whole = g_strconcat (package->name, "-whole", NULL);

  if (!pack_pair (
          package->compiler, package->packer, package->version, package->name))
    g_test_skip ("a compiler or a packer is not installed");
  else
    assert_packed (path, NULL, whole);
}

/* The same package, in every place where debuggers look for one. */
static void
test_package_places (void)
{
  g_autofree char *root = in_folder ("package-root");
  g_autofree char *path = in_folder ("placed");
  g_autofree char *bare = in_folder ("placed-bare");
  g_autofree char *by_id = NULL;
  g_autofree char *parent = NULL;
  const char *directories[] = { root, NULL };
  FlamSymbolModuleOptions options = { .debug_directories = directories };
  g_autoptr (FlamElf) elf = NULL;

  if (!pack_pair ("g++", "dwp", "-gdwarf-4", "placed"))
    {
      g_test_skip ("dwp is not installed");
      return;
    }
  assert_packed (path, NULL, "placed-whole");
  g_assert_true (
      run ("objcopy --compress-debug-sections placed.dwp placed.dwp"));
  assert_packed (path, NULL, "placed-whole");

  elf = flam_elf_open (path, NULL);
  by_id = flam_debug_file_path (root, flam_elf_get_build_id (elf), ".dwp");
  parent = g_path_get_dirname (by_id);
  g_assert_no_errno (g_mkdir_with_parents (parent, 0700));
  g_assert_true (run ("mv placed.dwp %s", by_id));
  assert_packed (path, &options, "placed-whole");

  g_assert_true (run ("mv %s placed-bare.dwp", by_id) &&
                 run ("objcopy --only-keep-debug placed placed.debug") &&
                 run ("objcopy --strip-all --add-gnu-debuglink=placed.debug "
                      "placed placed-bare"));
  assert_packed (bare, NULL, "placed-whole");
  g_assert_true (run ("mv placed-bare.dwp placed.debug.dwp"));
  assert_packed (bare, NULL, "placed-whole");
}

/* Only the lines are left if the package belongs to another build. */
static void
test_package_of_another (void)
{
  g_autofree char *path = in_folder ("stranger");
  g_autofree char *text = NULL;

  if (!pack_pair ("g++", "dwp", "-gdwarf-4", "stranger") ||
      !pack_pair ("g++ -DOTHER -O1", "dwp", "-gdwarf-4", "other-build") ||
      !run ("mv other-build.dwp stranger.dwp"))
    {
      g_test_skip ("dwp is not installed");
      return;
    }
  text = describe (path, NULL, FALSE);
  g_assert_nonnull (strstr (text, " geo::Point::norm:program.cc:"));
  g_assert_null (strstr (text, " geo::sum:"));
}

int
main (int argc, char **argv)
{
  int result;

  g_test_init (&argc, &argv, NULL);
  compiled_begin ();
  for (gsize i = 0; i < G_N_ELEMENTS (packages); i++)
    {
      g_autofree char *name =
          g_strconcat ("/packages/", packages[i].name, NULL);

      g_test_add_data_func (name, &packages[i], test_package);
    }
  g_test_add_func ("/packages/places", test_package_places);
  g_test_add_func ("/packages/of-another", test_package_of_another);
  result = g_test_run ();
  compiled_end ();
  return result;
}
