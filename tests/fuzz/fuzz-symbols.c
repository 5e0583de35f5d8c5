/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Hostile bytes as other sources of names than programs: perf maps, jitdumps,
 * mangled names, and rules that suppress leaks. Any process may write the first
 * two. */

#include "flam-core-query.h"
#include "flam-demangle.h"
#include "flam-jitdump.h"
#include "flam-perf-map.h"

#include "fuzz-driver.h"

#include <glib/gstdio.h>
#include <unistd.h>

#define ADDRESSES 64

static void
read_perf_map (const char *text, gsize size)
{
  g_autofree char *path = g_strdup_printf ("/tmp/perf-%d.map", getpid ());
  g_autoptr (FlamPerfMap) map = NULL;

  g_assert_true (g_file_set_contents (path, text, (gssize)size, NULL));
  map = flam_perf_map_open_process (getpid (), NULL);
  g_assert_no_errno (g_remove (path));
  for (guint i = 0; i < ADDRESSES; i++)
    {
      const char *name = flam_perf_map_find (map, (guint64)i << (i % 48));
      g_autofree char *function = NULL;
      g_autofree char *file = NULL;
      g_autofree char *script = NULL;
      guint32 line;

      if (name == NULL)
        continue;
      flam_perf_map_split_python (name, &function, &file);
      flam_perf_map_split_v8 (name, &script, &line);
    }
}

static void
read_jitdump (const guint8 *data, gsize size)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FlamJitdump) jitdump =
      flam_jitdump_new_from_data ("fuzz", data, size, &error);
  FlamJitSymbol symbol;

  g_assert_true ((jitdump == NULL) == (error != NULL));
  if (jitdump == NULL)
    return;
  for (guint i = 0; i < ADDRESSES; i++)
    if (flam_jitdump_find (
            jitdump, (guint64)i << (i % 48), G_MAXUINT64, &symbol))
      g_assert_nonnull (symbol.file);
}

static void
read_rules (const char *text, gsize size)
{
  g_autoptr (FlamSuppressions) rules = flam_suppressions_new ();
  g_autoptr (GError) error = NULL;
  const char *newline = memchr (text, '\n', size);
  gsize first = newline != NULL ? (gsize)(newline - text) : size;

  g_assert_true (flam_suppressions_parse (rules, text, size, &error) ==
                 (error == NULL));
  flam_suppressions_match (rules, text, first);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  /* With a terminating NUL, like the callers' data. */
  g_autofree char *text = g_strndup ((const char *)data, size);

  g_free (flam_demangle (text));
  read_perf_map ((const char *)data, size);
  read_jitdump (data, size);
  read_rules ((const char *)data, size);
  return 0;
}
