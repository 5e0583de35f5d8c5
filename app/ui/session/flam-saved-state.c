/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-saved-state.h"

#include "flam-core-query.h"
#include "flam-kept-files.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define CAPTURE "Capture"
#define SELECTION "Selection"
#define PLACE "Place"
#define TABS "Tabs"
#define SUFFIX ".ini"

#define END_SIZE 65536 /* bytes of each end of a capture that are hashed */
#define FILE_MAX (1024 * 1024) /* a larger file was not written by Flambeau */
#define NAMES_MAX 1000         /* in a path */
#define THREADS_MAX 100000     /* in a selection */

/* --- the folder ----------------------------------------------------------- */

static char *
folder_path (void)
{
  return g_build_filename (
      g_get_user_state_dir (), "flambeau", "captures", NULL);
}

static gboolean
add_end (GChecksum *sum, int fd, off_t at)
{
  g_autofree guint8 *bytes = g_malloc (END_SIZE);
  ssize_t n = pread (fd, bytes, END_SIZE, at);

  if (n < 0)
    return FALSE;
  g_checksum_update (sum, bytes, n);
  return TRUE;
}

char *
flam_saved_state_file (const char *path)
{
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);
  g_autofree char *whole = g_canonicalize_filename (path, NULL);
  g_autofree char *folder = folder_path ();
  g_autofree char *name = NULL;
  int fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat at;
  gboolean good;

  if (fd < 0)
    return NULL;
  good = fstat (fd, &at) == 0 && S_ISREG (at.st_mode);
  if (good)
    {
      gint64 size = GINT64_TO_LE ((gint64)at.st_size);

      g_checksum_update (
          sum, (const guchar *)whole, (gssize)strlen (whole) + 1);
      g_checksum_update (sum, (const guchar *)&size, sizeof size);
      good = add_end (sum, fd, 0) &&
             add_end (sum, fd, MAX (at.st_size - END_SIZE, 0));
    }
  close (fd);
  if (!good)
    return NULL;
  name = g_strconcat (g_checksum_get_string (sum), SUFFIX, NULL);
  return g_build_filename (folder, name, NULL);
}

static void
remove_from (guint first)
{
  g_autofree char *folder = folder_path ();
  g_autoptr (GArray) list = flam_kept_files (folder, SUFFIX);

  for (guint i = first; i < list->len; i++)
    g_unlink (g_array_index (list, FlamKeptFile, i).path);
}

/* --- the last window ------------------------------------------------------ */

static char *
tabs_path (void)
{
  return g_build_filename (
      g_get_user_state_dir (), "flambeau", "tabs.ini", NULL);
}

void
flam_saved_state_set_tabs (const char *const *uris, guint n)
{
  g_autofree char *path = tabs_path ();
  g_autoptr (GKeyFile) kept = g_key_file_new ();

  if (n > 0)
    g_key_file_set_string_list (
        kept, TABS, "Files", uris, MIN (n, FLAM_SAVED_STATES_MAX));
  flam_saved_state_save (path, kept, NULL);
}

char **
flam_saved_state_get_tabs (void)
{
  g_autofree char *path = tabs_path ();
  g_autoptr (GKeyFile) kept = flam_saved_state_load (path);
  g_auto (GStrv) uris =
      g_key_file_get_string_list (kept, TABS, "Files", NULL, NULL);
  g_autoptr (GStrvBuilder) there = g_strv_builder_new ();

  for (guint i = 0;
       uris != NULL && uris[i] != NULL && i < FLAM_SAVED_STATES_MAX;
       i++)
    {
      g_autofree char *file = g_filename_from_uri (uris[i], NULL, NULL);

      if (file != NULL && g_file_test (file, G_FILE_TEST_IS_REGULAR))
        g_strv_builder_add (there, uris[i]);
    }
  return g_strv_builder_end (there);
}

void
flam_saved_state_forget (void)
{
  remove_from (0);
  flam_saved_state_set_tabs (NULL, 0);
}

/* --- a file --------------------------------------------------------------- */

GKeyFile *
flam_saved_state_load (const char *file)
{
  GKeyFile *kept = g_key_file_new ();
  GStatBuf at;

  if (g_stat (file, &at) == 0 && at.st_size <= FILE_MAX)
    g_key_file_load_from_file (kept, file, G_KEY_FILE_NONE, NULL);
  return kept;
}

gboolean
flam_saved_state_save (const char *file, GKeyFile *kept, GError **error)
{
  g_autofree char *folder = g_path_get_dirname (file);
  gsize length;
  g_autofree char *text = g_key_file_to_data (kept, &length, NULL);

  if (length == 0)
    {
      g_unlink (file);
      return TRUE;
    }
  if (g_mkdir_with_parents (folder, 0700) != 0)
    {
      int failed = errno;

      g_set_error (error,
                   G_FILE_ERROR,
                   g_file_error_from_errno (failed),
                   "%s: %s",
                   folder,
                   g_strerror (failed));
      return FALSE;
    }
  if (!g_file_set_contents_full (file,
                                 text,
                                 (gssize)length,
                                 G_FILE_SET_CONTENTS_CONSISTENT,
                                 0600,
                                 error))
    return FALSE;
  remove_from (FLAM_SAVED_STATES_MAX);
  return TRUE;
}

/* --- the selection -------------------------------------------------------- */

/* Members that are a single number, with their limits. */
static const struct
{
  const char *key;
  gsize offset;
  guint end;
} numbers[] = {
  { "States", G_STRUCT_OFFSET (FlamSelection, states), FLAM_STATES_ALL + 1 },
  { "Allocators",
    G_STRUCT_OFFSET (FlamSelection, allocators),
    FLAM_ALLOCATORS_ALL + 1 },
  { "TemporaryDistance",
    G_STRUCT_OFFSET (FlamSelection, temporary_distance),
    G_MAXINT },
  { "Recursion",
    G_STRUCT_OFFSET (FlamSelection, recursion),
    FLAM_RECURSION_COLLAPSE + 1 },
  { "By", G_STRUCT_OFFSET (FlamSelection, by), FLAM_N_BY },
  { "Count", G_STRUCT_OFFSET (FlamSelection, count), 2 },
  { "Invert", G_STRUCT_OFFSET (FlamSelection, invert), 2 },
  { "NoNative", G_STRUCT_OFFSET (FlamSelection, no_native), 2 },
  { "NoInlines", G_STRUCT_OFFSET (FlamSelection, no_inlines), 2 },
  { "NoRepl", G_STRUCT_OFFSET (FlamSelection, no_repl), 2 },
};

static const char *const transform_words[] = {
  [FLAM_TRANSFORM_FOCUS] = "focus",
  [FLAM_TRANSFORM_IGNORE] = "ignore",
  [FLAM_TRANSFORM_FILTER] = "filter",
  [FLAM_TRANSFORM_HIDE] = "hide",
  [FLAM_TRANSFORM_COLLAPSE] = "collapse",
  [FLAM_TRANSFORM_STOP_AT] = "stop-at",
  [FLAM_TRANSFORM_PRUNE] = "prune",
  [FLAM_TRANSFORM_BRANCHES] = "branches",
};

/* The words of what transforms match; functions have none. */
static const char *const place_words[] = {
  [FLAM_BY_FUNCTION] = "",
  [FLAM_BY_MODULE] = "-module",
  [FLAM_BY_FILE] = "-file",
};

static void
set_threads (GKeyFile *kept, const FlamProfile *profile, const GArray *threads)
{
  g_autoptr (GArray) list = NULL;

  if (threads == NULL || threads->len > THREADS_MAX)
    return;
  /* An empty selection of threads is valid, too: then the list is not NULL. */
  list = g_array_sized_new (FALSE, FALSE, sizeof (int), threads->len + 1);
  for (guint i = 0; i < threads->len; i++)
    {
      int id = (int)g_array_index (threads, FlamId, i);

      g_array_append_val (list, id);
    }
  g_key_file_set_integer_list (
      kept, SELECTION, "Threads", (int *)(void *)list->data, list->len);
  g_key_file_set_integer (
      kept, SELECTION, "OfThreads", (int)profile->threads.n);
}

static gboolean
get_threads (GKeyFile *kept, const FlamProfile *profile, FlamSelection *to)
{
  gsize n;
  g_autofree int *list =
      g_key_file_get_integer_list (kept, SELECTION, "Threads", &n, NULL);

  if (!g_key_file_has_key (kept, SELECTION, "Threads", NULL))
    return TRUE;
  /* Thread numbers are useless if the threads differ. */
  if (g_key_file_get_integer (kept, SELECTION, "OfThreads", NULL) !=
      (int)profile->threads.n)
    return FALSE;
  flam_selection_no_threads (to);
  for (gsize i = 0; list != NULL && i < n; i++)
    {
      if (list[i] < 0 || (guint)list[i] >= profile->threads.n)
        return FALSE;
      flam_selection_add_thread (to, (FlamId)list[i]);
    }
  return TRUE;
}

static void
set_labels (GKeyFile *kept, const FlamSelection *selection)
{
  if (selection->labels != NULL && selection->labels->len > 0)
    g_key_file_set_string_list (kept,
                                SELECTION,
                                "Labels",
                                (const char *const *)selection->labels->pdata,
                                selection->labels->len);
  if (selection->by == FLAM_BY_LABEL)
    g_key_file_set_string (kept, SELECTION, "ByLabel", selection->by_label);
}

static gboolean
get_labels (GKeyFile *kept, const FlamProfile *profile, FlamSelection *to)
{
  g_auto (GStrv) list =
      g_key_file_get_string_list (kept, SELECTION, "Labels", NULL, NULL);
  g_autofree char *by =
      g_key_file_get_string (kept, SELECTION, "ByLabel", NULL);
  gboolean known = FALSE;

  for (guint i = 0; list != NULL && list[i] != NULL; i++)
    {
      if (!flam_sample_labels_any (profile, list[i]))
        return FALSE;
      flam_selection_add_label (to, list[i]);
    }
  if (by == NULL)
    return to->by != FLAM_BY_LABEL;
  for (FlamId i = 0; i < profile->labels.n && !known; i++)
    known =
        strcmp (flam_profile_string (profile, profile->labels.key[i]), by) == 0;
  to->by = FLAM_BY_LABEL;
  to->by_label = g_intern_string (by);
  return known;
}

static void
set_transforms (GKeyFile *kept, const GPtrArray *transforms)
{
  g_autoptr (GPtrArray) list = g_ptr_array_new_with_free_func (g_free);

  if (transforms == NULL || transforms->len == 0)
    return;
  for (guint i = 0; i < transforms->len; i++)
    {
      const FlamTransform *one = transforms->pdata[i];

      g_ptr_array_add (list,
                       g_strconcat (transform_words[one->kind],
                                    place_words[one->of],
                                    " ",
                                    one->pattern,
                                    NULL));
    }
  g_key_file_set_string_list (kept,
                              SELECTION,
                              "Transforms",
                              (const char *const *)list->pdata,
                              list->len);
}

static gboolean
get_transform (const char *text, FlamSelection *to)
{
  const char *pattern = strchr (text, ' ');
  g_autofree char *word =
      pattern != NULL ? g_strndup (text, (gsize)(pattern - text)) : NULL;
  FlamBy of = FLAM_BY_FUNCTION;

  if (word == NULL)
    return FALSE;
  for (guint by = 0; by < G_N_ELEMENTS (place_words); by++)
    if (place_words[by] != NULL && *place_words[by] != '\0' &&
        g_str_has_suffix (word, place_words[by]))
      {
        of = by;
        word[strlen (word) - strlen (place_words[by])] = '\0';
      }
  for (guint kind = 0; kind < G_N_ELEMENTS (transform_words); kind++)
    if (strcmp (word, transform_words[kind]) == 0)
      return of == FLAM_BY_FUNCTION
                 ? flam_selection_add_transform (to, kind, pattern + 1, NULL)
                 : flam_selection_add_place_transform (
                       to, kind, of, pattern + 1, NULL);
  return FALSE;
}

static gboolean
get_transforms (GKeyFile *kept, FlamSelection *to)
{
  g_auto (GStrv) list =
      g_key_file_get_string_list (kept, SELECTION, "Transforms", NULL, NULL);

  for (guint i = 0; list != NULL && list[i] != NULL; i++)
    if (i == FLAM_TRANSFORMS_MAX || !get_transform (list[i], to))
      return FALSE;
  return TRUE;
}

void
flam_saved_state_set_selection (GKeyFile *kept,
                                const FlamProfile *profile,
                                const FlamSelection *first,
                                const FlamSelection *selection)
{
  if (selection->measure != first->measure &&
      selection->measure < profile->n_measures)
    g_key_file_set_string (
        kept,
        SELECTION,
        "Measure",
        flam_profile_string (profile,
                             profile->measures[selection->measure].id));
  if (selection->from != G_MININT64)
    g_key_file_set_int64 (kept, SELECTION, "From", selection->from);
  if (selection->to != G_MAXINT64)
    g_key_file_set_int64 (kept, SELECTION, "To", selection->to);
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    {
      guint now = G_STRUCT_MEMBER (guint, selection, numbers[i].offset);

      if (now != G_STRUCT_MEMBER (guint, first, numbers[i].offset))
        g_key_file_set_integer (kept, SELECTION, numbers[i].key, (int)now);
    }
  if (first->suppressions != NULL && selection->suppressions == NULL)
    g_key_file_set_boolean (kept, SELECTION, "AllLeaks", TRUE);
  set_threads (kept, profile, selection->threads);
  set_labels (kept, selection);
  set_transforms (kept, selection->transforms);
}

static gboolean
get_numbers (GKeyFile *kept, FlamSelection *to)
{
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    {
      g_autoptr (GError) error = NULL;
      int value =
          g_key_file_get_integer (kept, SELECTION, numbers[i].key, &error);

      if (error == NULL && value >= 0 && (guint)value < numbers[i].end)
        G_STRUCT_MEMBER (guint, to, numbers[i].offset) = (guint)value;
      else if (g_key_file_has_key (kept, SELECTION, numbers[i].key, NULL))
        return FALSE;
    }
  return TRUE;
}

static gboolean
get_range (GKeyFile *kept, const FlamProfile *profile, FlamSelection *to)
{
  if (g_key_file_has_key (kept, SELECTION, "From", NULL))
    to->from = g_key_file_get_int64 (kept, SELECTION, "From", NULL);
  if (g_key_file_has_key (kept, SELECTION, "To", NULL))
    to->to = g_key_file_get_int64 (kept, SELECTION, "To", NULL);
  return to->from < to->to && to->from <= profile->facts.duration_ns &&
         to->to >= 0;
}

gboolean
flam_saved_state_get_selection (GKeyFile *kept,
                                const FlamProfile *profile,
                                FlamSelection *selection)
{
  g_autofree char *id =
      g_key_file_get_string (kept, SELECTION, "Measure", NULL);
  int measure = id != NULL ? flam_profile_find_measure (profile, id) : -1;

  if (measure >= 0)
    selection->measure = (guint)measure;
  else if (id != NULL)
    return FALSE;
  /* The files of suppressions are a setting; that none applies is not. */
  if (g_key_file_get_boolean (kept, SELECTION, "AllLeaks", NULL))
    g_clear_pointer (&selection->suppressions, flam_suppressions_unref);
  return get_range (kept, profile, selection) &&
         get_numbers (kept, selection) &&
         get_threads (kept, profile, selection) &&
         get_labels (kept, profile, selection) &&
         get_transforms (kept, selection);
}

/* --- places --------------------------------------------------------------- */

void
flam_saved_state_set_path (GKeyFile *kept, const char *key, char *const *names)
{
  guint n = g_strv_length ((char **)names);

  if (n > 0 && n <= NAMES_MAX)
    g_key_file_set_string_list (
        kept, PLACE, key, (const char *const *)names, n);
}

char **
flam_saved_state_get_path (GKeyFile *kept, const char *key)
{
  char **names = g_key_file_get_string_list (kept, PLACE, key, NULL, NULL);

  return names != NULL ? names : g_new0 (char *, 1);
}
