/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "python-recording.h"

#include <math.h>
#include <string.h>

char *
script (void)
{
  return g_test_build_filename (
      G_TEST_DIST, "record", "targets", "frames.py", NULL);
}

static gboolean
is_of_memory (const char *name)
{
  return strcmp (name, "memory") == 0 || strcmp (name, "small") == 0;
}

Recording *
record_case (const char *python,
             const char *option,
             const char *name,
             const char *seconds,
             const char *file)
{
  g_autofree char *path = script ();
  const char *arguments[16];
  guint n = 0;

  if (option != NULL)
    arguments[n++] = option;
  if (strcmp (name, "small") == 0)
    arguments[n++] = "--python-malloc";
  arguments[n++] = "--mode";
  arguments[n++] = strcmp (name, "sleep") == 0 ? "wall"
                   : is_of_memory (name)       ? "alloc"
                                               : "cpu";
  arguments[n++] = "--rate";
  arguments[n++] = "1000";
  arguments[n++] = "--";
  if (g_str_has_suffix (python, ".so.1.0"))
    {
      g_autofree char *embed = target_path ("embed");
      arguments[n++] = g_intern_string (embed);
    }
  arguments[n++] = python;
  arguments[n++] = path;
  arguments[n++] = name;
  arguments[n++] = seconds;
  arguments[n++] = file;
  arguments[n] = NULL;
  return record (arguments);
}

FlamId
function_of (const FlamProfile *profile, FlamStackId stack)
{
  return profile->frames.function[profile->stacks.frame[stack]];
}

gboolean
is_python (const FlamProfile *profile, FlamStackId stack)
{
  return profile->functions.kind[function_of (profile, stack)] ==
         FLAM_KIND_INTERPRETED;
}

const char *
name_of (const FlamProfile *profile, FlamStackId stack)
{
  return flam_profile_function_name (profile, function_of (profile, stack));
}

char *
python_stack (const FlamProfile *profile, FlamStackId stack)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (; stack != FLAM_NONE; stack = profile->stacks.prefix[stack])
    if (is_python (profile, stack))
      {
        g_autofree char *place = g_strdup_printf (
            "%s%s:%u",
            text->len > 0 || profile->stacks.prefix[stack] != FLAM_NONE ? "\n"
                                                                        : "",
            name_of (profile, stack),
            profile->frames.line[profile->stacks.frame[stack]]);
        g_string_prepend (text, place);
      }
  return g_strdup (g_strchug (text->str));
}

void
assert_lines (const FlamProfile *profile, const char *const *called)
{
  g_autofree char *path = script ();
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;

  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  lines = g_strsplit (text, "\n", -1);
  for (FlamId i = 0; i < profile->stacks.n; i++)
    for (guint c = 0; called[c] != NULL; c++)
      {
        g_autofree char *mark = g_strdup_printf ("# calls %s", called[c]);
        FlamId caller = profile->stacks.prefix[i];
        guint32 line;

        if (!is_python (profile, i) ||
            strcmp (name_of (profile, i), called[c]) != 0)
          continue;
        while (caller != FLAM_NONE && !is_python (profile, caller))
          caller = profile->stacks.prefix[caller];
        g_assert_true (caller != FLAM_NONE);
        line = profile->frames.line[profile->stacks.frame[caller]];
        if (line == 0 || line > g_strv_length (lines) ||
            !g_str_has_suffix (lines[line - 1], mark))
          g_error ("%s is called from %s:%u",
                   called[c],
                   name_of (profile, caller),
                   line);
      }
}

void
assert_stack (const Recording *recording, const char *leaf, const char *pattern)
{
  g_autofree char *stack = stack_text (recording->profile, leaf);

  if (!g_regex_match_simple (pattern, stack, 0, 0))
    g_error ("%s", stack);
}

void
assert_part (const Recording *recording,
             const char *function,
             const char *of,
             double share)
{
  const FlamProfile *profile = recording->profile;
  gint64 part = weight_of (profile, "cpu-time", function, FALSE);
  gint64 whole = weight_of (profile, "cpu-time", of, FALSE);
  gint64 total = total_of (profile, "cpu-time");

  g_assert_cmpint (whole, >, 0);
  assert_share (part,
                whole,
                share,
                sampling_error (profile) * sqrt ((double)total / whole));
}
