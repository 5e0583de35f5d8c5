/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-regex.h"

#include "flam-types.h"

/* 10 to 50 ms; ".*" twice needs a third of it for a name of 700 letters. */
#define MOST_STEPS 1000000

struct _FlamRegex
{
  GRegex *regex;
  char *slow; /* atomic; set once */
};

/* The pattern is also compiled unchanged, so that an error's position refers to
 * it. If a pattern has several limits, the lowest applies. */
GRegex *
flam_regex_new_limited (const char *pattern,
                        GRegexCompileFlags flags,
                        guint steps,
                        GError **error)
{
  g_autoptr (GError) why = NULL;
  g_autoptr (GRegex) plain = g_regex_new (pattern, flags, 0, &why);
  g_autofree char *limited =
      g_strdup_printf ("(*LIMIT_MATCH=%u)%s", steps, pattern);
  GRegex *regex = plain != NULL ? g_regex_new (limited, flags, 0, &why) : NULL;

  if (regex == NULL)
    g_set_error_literal (error, FLAM_ERROR, FLAM_ERROR_INVALID, why->message);
  return regex;
}

FlamRegex *
flam_regex_new (const char *pattern, GRegexCompileFlags flags, GError **error)
{
  GRegex *regex = flam_regex_new_limited (pattern, flags, MOST_STEPS, error);
  FlamRegex *self;

  if (regex == NULL)
    return NULL;
  self = g_atomic_rc_box_new0 (FlamRegex);
  self->regex = regex;
  return self;
}

FlamRegex *
flam_regex_ref (FlamRegex *regex)
{
  return g_atomic_rc_box_acquire (regex);
}

static void
clear (gpointer data)
{
  FlamRegex *self = data;

  g_regex_unref (self->regex);
  g_free (self->slow);
}

void
flam_regex_unref (FlamRegex *regex)
{
  g_atomic_rc_box_release_full (regex, clear);
}

const char *
flam_regex_get_slow (const FlamRegex *regex)
{
  return g_atomic_pointer_get (&((FlamRegex *)regex)->slow);
}

/* Text that is not UTF-8 fails, too, but that is not the expression's fault. */
static void
remember_slow (FlamRegex *regex, const char *text)
{
  char *copy;

  if (!g_utf8_validate (text, -1, NULL))
    return;
  copy = g_strdup (text);
  if (!g_atomic_pointer_compare_and_exchange (&regex->slow, NULL, copy))
    g_free (copy);
}

gboolean
flam_regex_match (FlamRegex *regex, const char *text)
{
  g_autoptr (GError) why = NULL;
  gboolean found;

  if (flam_regex_get_slow (regex) != NULL)
    return FALSE;
  found = g_regex_match_full (regex->regex, text, -1, 0, 0, NULL, &why);
  if (why != NULL)
    remember_slow (regex, text);
  return found && why == NULL;
}
