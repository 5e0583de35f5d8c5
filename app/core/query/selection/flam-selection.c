/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-selection.h"

static FlamTransform *
transform_new (FlamTransformKind kind,
               FlamBy of,
               const char *pattern,
               FlamRegex *regex)
{
  FlamTransform *transform = g_new (FlamTransform, 1);

  *transform = (FlamTransform){ kind, of, g_strdup (pattern), regex };
  return transform;
}

static void
transform_free (gpointer data)
{
  FlamTransform *transform = data;

  g_free (transform->pattern);
  g_clear_pointer (&transform->regex, flam_regex_unref);
  g_free (transform);
}

FlamSelection *
flam_selection_new (void)
{
  FlamSelection *selection = g_new0 (FlamSelection, 1);

  selection->from = G_MININT64;
  selection->to = G_MAXINT64;
  selection->states = FLAM_STATES_ALL;
  selection->transforms = g_ptr_array_new_with_free_func (transform_free);
  return selection;
}

FlamSelection *
flam_selection_copy (const FlamSelection *selection)
{
  FlamSelection *copy = flam_selection_new ();
  GPtrArray *transforms = copy->transforms;

  *copy = *selection;
  copy->transforms = transforms;
  if (selection->suppressions != NULL)
    flam_suppressions_ref (selection->suppressions);
  for (guint i = 0; i < selection->transforms->len; i++)
    {
      const FlamTransform *from = selection->transforms->pdata[i];
      FlamRegex *regex = from->regex ? flam_regex_ref (from->regex) : NULL;

      g_ptr_array_add (
          transforms,
          transform_new (from->kind, from->of, from->pattern, regex));
    }
  if (selection->threads != NULL)
    copy->threads = g_array_copy (selection->threads);
  copy->labels = NULL;
  for (guint i = 0; selection->labels != NULL && i < selection->labels->len;
       i++)
    flam_selection_add_label (copy, selection->labels->pdata[i]);
  return copy;
}

void
flam_selection_free (FlamSelection *selection)
{
  g_clear_pointer (&selection->threads, g_array_unref);
  g_clear_pointer (&selection->labels, g_ptr_array_unref);
  g_clear_pointer (&selection->suppressions, flam_suppressions_unref);
  g_ptr_array_unref (selection->transforms);
  g_free (selection);
}

static gboolean
transforms_equal (const GPtrArray *a, const GPtrArray *b)
{
  if (a->len != b->len)
    return FALSE;
  for (guint i = 0; i < a->len; i++)
    {
      const FlamTransform *x = a->pdata[i];
      const FlamTransform *y = b->pdata[i];

      if (x->kind != y->kind || x->of != y->of ||
          strcmp (x->pattern, y->pattern) != 0)
        return FALSE;
    }
  return TRUE;
}

static gboolean
threads_equal (const GArray *a, const GArray *b)
{
  if (a == NULL || b == NULL)
    return a == b;
  return a->len == b->len &&
         (a->len == 0 ||
          memcmp (a->data, b->data, a->len * sizeof (FlamId)) == 0);
}

static gboolean
labels_equal (const GPtrArray *a, const GPtrArray *b)
{
  guint n = a != NULL ? a->len : 0;

  if (n != (b != NULL ? b->len : 0))
    return FALSE;
  for (guint i = 0; i < n; i++)
    if (strcmp (a->pdata[i], b->pdata[i]) != 0)
      return FALSE;
  return TRUE;
}

gboolean
flam_selection_equal (const FlamSelection *a, const FlamSelection *b)
{
  return a->measure == b->measure && a->count == b->count &&
         a->from == b->from && a->to == b->to && a->states == b->states &&
         a->recursion == b->recursion && a->by == b->by &&
         a->allocators == b->allocators && a->suppressions == b->suppressions &&
         a->temporary_distance == b->temporary_distance &&
         a->invert == b->invert && a->no_native == b->no_native &&
         a->hide_irrelevant == b->hide_irrelevant &&
         a->hide_imports == b->hide_imports && a->no_inlines == b->no_inlines &&
         a->no_repl == b->no_repl &&
         g_strcmp0 (a->by_label, b->by_label) == 0 &&
         labels_equal (a->labels, b->labels) &&
         threads_equal (a->threads, b->threads) &&
         transforms_equal (a->transforms, b->transforms);
}

gboolean
flam_selection_has_same_samples (const FlamSelection *a,
                                 const FlamSelection *b,
                                 gboolean any_thread)
{
  return a->measure == b->measure && a->count == b->count &&
         a->from == b->from && a->to == b->to && a->states == b->states &&
         a->allocators == b->allocators && a->suppressions == b->suppressions &&
         a->temporary_distance == b->temporary_distance &&
         labels_equal (a->labels, b->labels) &&
         (any_thread || threads_equal (a->threads, b->threads));
}

FlamMeasure
flam_selection_measure (const FlamSelection *selection,
                        const FlamProfile *profile,
                        guint measure)
{
  FlamMeasure weighed = profile->measures[measure];

  if (selection->count && weighed.source == FLAM_FROM_SAMPLES)
    weighed.unit = FLAM_UNIT_COUNT;
  return weighed;
}

void
flam_selection_get_range (const FlamSelection *selection,
                          const FlamProfile *profile,
                          gint64 *from,
                          gint64 *to)
{
  *from = selection->from > 0 ? selection->from : G_MININT64;
  *to = selection->to < profile->facts.duration_ns ? selection->to : G_MAXINT64;
}

gint64
flam_selection_get_length (const FlamSelection *selection,
                           const FlamProfile *profile)
{
  gint64 from = MAX (selection->from, 0);
  gint64 to = MIN (selection->to, profile->facts.duration_ns);

  return MAX (to - from, 0);
}

void
flam_selection_add_thread (FlamSelection *selection, FlamThreadId thread)
{
  guint at = 0;

  if (selection->threads == NULL)
    selection->threads = g_array_new (FALSE, FALSE, sizeof (FlamId));
  while (at < selection->threads->len &&
         g_array_index (selection->threads, FlamId, at) < thread)
    at++;
  if (at == selection->threads->len ||
      g_array_index (selection->threads, FlamId, at) != thread)
    g_array_insert_val (selection->threads, at, thread);
}

void
flam_selection_all_threads (FlamSelection *selection)
{
  g_clear_pointer (&selection->threads, g_array_unref);
}

void
flam_selection_no_threads (FlamSelection *selection)
{
  flam_selection_all_threads (selection);
  selection->threads = g_array_new (FALSE, FALSE, sizeof (FlamId));
}

gboolean
flam_selection_has_thread (const FlamSelection *selection, FlamThreadId thread)
{
  if (selection->threads == NULL)
    return TRUE;
  for (guint i = 0; i < selection->threads->len; i++)
    if (g_array_index (selection->threads, FlamId, i) == thread)
      return TRUE;
  return FALSE;
}

void
flam_selection_add_label (FlamSelection *selection, const char *condition)
{
  if (selection->labels == NULL)
    selection->labels = g_ptr_array_new_with_free_func (g_free);
  g_ptr_array_add (selection->labels, g_strdup (condition));
}

static gboolean
has_room (const FlamSelection *selection, GError **error)
{
  if (selection->transforms->len >= FLAM_TRANSFORMS_MAX)
    return flam_error_set (error,
                           FLAM_ERROR_TOO_LARGE,
                           N_ ("more than %d transforms"),
                           FLAM_TRANSFORMS_MAX);
  return TRUE;
}

gboolean
flam_selection_add_place_transform (FlamSelection *selection,
                                    FlamTransformKind kind,
                                    FlamBy of,
                                    const char *name,
                                    GError **error)
{
  if (!has_room (selection, error))
    return FALSE;
  g_ptr_array_add (selection->transforms, transform_new (kind, of, name, NULL));
  return TRUE;
}

gboolean
flam_selection_add_transform (FlamSelection *selection,
                              FlamTransformKind kind,
                              const char *pattern,
                              GError **error)
{
  g_autoptr (GError) why = NULL;
  FlamRegex *regex = NULL;

  if (!has_room (selection, error))
    return FALSE;
  if (kind != FLAM_TRANSFORM_STOP_AT && kind != FLAM_TRANSFORM_PRUNE)
    regex = flam_regex_new (pattern, G_REGEX_OPTIMIZE, &why);
  if (why != NULL)
    return flam_error_set (error,
                           FLAM_ERROR_INVALID,
                           N_ ("“%s” is not a regular expression: %s"),
                           pattern,
                           why->message);
  g_ptr_array_add (selection->transforms,
                   transform_new (kind, FLAM_BY_FUNCTION, pattern, regex));
  return TRUE;
}

/* "NAME" or "NAME,FILE". */
static gboolean
is_exactly (const char *name, const char *file, const char *pattern)
{
  gsize length = strlen (name);

  if (strcmp (name, pattern) == 0)
    return TRUE;
  return strncmp (name, pattern, length) == 0 && pattern[length] == ',' &&
         g_str_has_suffix (file, pattern + length + 1);
}

static gboolean
is_of_module (const FlamTransform *transform,
              const FlamProfile *profile,
              FlamFunctionId function)
{
  const char *module = profile->functions.module[function] == FLAM_NONE
                           ? FLAM_UNKNOWN_PLACE
                           : flam_profile_module_name (profile, function);

  return strcmp (module, transform->pattern) == 0;
}

gboolean
flam_transform_matches (const FlamTransform *transform,
                        const FlamProfile *profile,
                        FlamFunctionId function)
{
  const char *name = flam_profile_function_name (profile, function);
  const char *file =
      flam_profile_string (profile, profile->functions.file[function]);
  g_autofree char *place = NULL;

  if (transform->of == FLAM_BY_MODULE)
    return is_of_module (transform, profile, function);
  /* A function has code of several files: its frames are matched. */
  if (transform->of == FLAM_BY_FILE)
    return FALSE;
  if (transform->regex == NULL)
    return is_exactly (name, file, transform->pattern);
  if (flam_regex_match (transform->regex, name))
    return TRUE;
  if (transform->kind != FLAM_TRANSFORM_BRANCHES || *file == '\0')
    return FALSE;
  place = g_strdup_printf ("%s at %s", name, file);
  return flam_regex_match (transform->regex, place);
}

gboolean
flam_selection_check (const FlamSelection *selection,
                      const FlamProfile *profile,
                      GError **error)
{
  for (guint i = 0; i < selection->transforms->len; i++)
    {
      const FlamTransform *transform = selection->transforms->pdata[i];

      if (transform->regex == NULL)
        continue;
      for (FlamId f = 0; f < profile->functions.n; f++)
        flam_transform_matches (transform, profile, f);
      if (flam_regex_get_slow (transform->regex) != NULL)
        return flam_error_set (
            error,
            FLAM_ERROR_INVALID,
            N_ ("the regular expression takes too long on “%s”"),
            flam_regex_get_slow (transform->regex));
    }
  return TRUE;
}
