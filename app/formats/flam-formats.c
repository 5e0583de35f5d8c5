/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-formats.h"

#include "flam-begun.h"

#include "flam-core-profile.h"
#include "flam-demangle.h"
#include "flam-refused.h"
#include "flam-members.h"
#include "flam-spans.h"
#include "flam-text.h"

#include <string.h>

/* IMPORTERS (ROW) and EXPORTERS (ROW): ROW (x) for each descriptor
 * flam_import_x and flam_export_x. Made by ./make-rows. */
#include "flam-formats-rows.h"

#define DECLARE_IMPORTER(id) extern const FlamImporter flam_import_##id;
#define DECLARE_EXPORTER(id) extern const FlamExporter flam_export_##id;
#define IMPORTER(id) &flam_import_##id,
#define EXPORTER(id) &flam_export_##id,

IMPORTERS (DECLARE_IMPORTER)
EXPORTERS (DECLARE_EXPORTER)

const FlamImporter *const flam_importers[] = { IMPORTERS (IMPORTER) NULL };
const FlamExporter *const flam_exporters[] = { EXPORTERS (EXPORTER) NULL };

const FlamImporter *
flam_importer_find (const char *id)
{
  for (guint i = 0; flam_importers[i] != NULL; i++)
    if (strcmp (flam_importers[i]->id, id) == 0)
      return flam_importers[i];
  return NULL;
}

const FlamExporter *
flam_exporter_find (const char *id)
{
  for (guint i = 0; flam_exporters[i] != NULL; i++)
    if (strcmp (flam_exporters[i]->id, id) == 0)
      return flam_exporters[i];
  return NULL;
}

gboolean
flam_exporter_save (const FlamExporter *exporter,
                    const FlamProfile *profile,
                    const FlamSelection *selection,
                    const FlamExportOptions *options,
                    FlamSink *out,
                    GError **error)
{
  g_auto (FlamPart) part = { 0 };
  FlamExport export = {
    profile, selection, options, out, exporter->form, &part
  };
  gboolean saved;

  if (exporter->puts != FLAM_PUTS_TREE &&
      !flam_part_init (&part, profile, selection, error))
    return FALSE;
  if (exporter->puts == FLAM_PUTS_SPANS && !flam_spans_check (&part, error))
    return FALSE;
  flam_arena_init (&export.kept);
  saved = exporter->save (&export, error);
  flam_arena_clear (&export.kept);
  return saved;
}

static gboolean
has_suffix (const FlamImporter *importer, const char *name)
{
  gsize length = strlen (name);

  for (guint i = 0; importer->suffixes[i] != NULL; i++)
    {
      gsize n = strlen (importer->suffixes[i]);
      if (n <= length &&
          g_ascii_strcasecmp (name + length - n, importer->suffixes[i]) == 0)
        return TRUE;
    }
  return FALSE;
}

/* Bytes that are searched for words when a first look has found nothing, in
 * documents that may begin with anything (pages, texts of a known kind). */
#define WIDE_HEAD (8 << 20)
/* Below this score, later parts of the document may still fit another format
 * better. */
#define SURE 80

/* State of probing one source. */
typedef struct
{
  const FlamSource *source;
  const FlamMembers *members; /* NULL: not JSON */
  gboolean wide;
} Look;

static gboolean
has_words (const Look *look, const FlamSign *sign)
{
  gboolean wide = look->wide && (sign->magic != NULL || sign->first == '<');
  gsize head = wide ? MAX (sign->head, WIDE_HEAD) : sign->head;

  for (guint i = 0; sign->words != NULL && sign->words[i] != NULL; i++)
    if (!flam_source_head_has (look->source, head, sign->words[i]))
      return FALSE;
  return TRUE;
}

static gboolean
has_members (const Look *look, const FlamSign *sign)
{
  if (sign->members == NULL)
    return TRUE;
  if (look->members == NULL)
    return FALSE;
  for (guint i = 0; sign->members[i] != NULL; i++)
    if (!flam_members_has (look->members, sign->members[i]))
      return FALSE;
  return TRUE;
}

static gboolean
has_sign (const Look *look, const FlamSign *sign)
{
  const FlamSource *source = look->source;

  if (source->size < MAX (sign->least, sign->magic_size) ||
      (sign->magic != NULL &&
       memcmp (source->data, sign->magic, sign->magic_size) != 0) ||
      (sign->first != '\0' && flam_source_first_char (source) != sign->first))
    return FALSE;
  return has_members (look, sign) && has_words (look, sign);
}

static guint
probe (const FlamImporter *importer, const Look *look)
{
  guint score = importer->probe != NULL ? importer->probe (look->source) : 0;

  if (importer->signs == NULL)
    return score;
  for (const FlamSign *sign = importer->signs; sign->score > 0; sign++)
    if (sign->score > score && has_sign (look, sign))
      score = sign->score;
  return score;
}

static const FlamImporter *
find_best (const Look *look, gboolean *sure)
{
  const FlamImporter *best = NULL;
  guint best_score = 0;

  for (guint i = 0; flam_importers[i] != NULL; i++)
    {
      const FlamImporter *importer = flam_importers[i];
      guint score = 2 * probe (importer, look);
      if (score > 0 && has_suffix (importer, look->source->name))
        score++;
      if (score > best_score)
        {
          best = importer;
          best_score = score;
        }
    }
  *sure = best_score >= 2 * SURE;
  return best;
}

/* The paths in the signs of all formats; they are kept. */
static FlamMemberPaths *
find_paths (void)
{
  static FlamMemberPaths *paths;

  if (g_once_init_enter (&paths))
    {
      FlamMemberPaths *all = flam_member_paths_new ();

      for (guint i = 0; flam_importers[i] != NULL; i++)
        for (const FlamSign *sign = flam_importers[i]->signs;
             sign != NULL && sign->score > 0;
             sign++)
          for (guint k = 0; sign->members != NULL && sign->members[k] != NULL;
               k++)
            flam_member_paths_add (all, sign->members[k]);
      g_once_init_leave (&paths, all);
    }
  return paths;
}

/* A text with more comments at its start is probed without most of them. */
#define COMMENTS_KEPT (8 << 10)
/* More than any probe reads of a text. */
#define TEXT_PROBED (5 << 20)

/* NULL: it has not that many. */
static FlamSource *
leave_out_comments (const FlamSource *source)
{
  gsize end =
      flam_text_skip_comments ((const char *)source->data, source->size);
  const guint8 *kept;
  gsize size = MIN (source->size - end, (gsize)TEXT_PROBED);
  g_autofree guint8 *text = NULL;

  if (end <= COMMENTS_KEPT ||
      (kept = memrchr (source->data, '\n', COMMENTS_KEPT)) == NULL)
    return NULL;
  kept++;
  text = g_malloc (kept - source->data + size);
  memcpy (text, source->data, kept - source->data);
  memcpy (text + (kept - source->data), source->data + end, size);
  return flam_source_new_from_data (
      source->name, text, kept - source->data + size);
}

static const FlamImporter *
find_importer (const FlamSource *source)
{
  FlamMemberPaths *paths = find_paths ();
  g_autoptr (FlamMembers) members =
      flam_members_new (source->data, source->size, FLAM_MEMBERS_FIRST, paths);
  Look look = { source, members, FALSE };
  gboolean sure;
  const FlamImporter *best = find_best (&look, &sure);

  if (sure ||
      (members == NULL ? best != NULL : source->size <= FLAM_MEMBERS_FIRST))
    return best;
  flam_members_free (members);
  members =
      flam_members_new (source->data, source->size, FLAM_MEMBERS_MOST, paths);
  look = (Look){ source, members, TRUE };
  return find_best (&look, &sure);
}

const FlamImporter *
flam_formats_probe (const FlamSource *source)
{
  g_autoptr (FlamSource) text = leave_out_comments (source);

  return find_importer (text != NULL ? text : source);
}

gboolean
flam_importer_load (const FlamImporter *importer,
                    const FlamSource *source,
                    FlamBuilder *builder,
                    const FlamLoadOptions *options,
                    GError **error)
{
  FlamLoad load = { source, builder, options, importer->form };
  gboolean loaded;

  flam_arena_init (&load.kept);
  loaded = importer->load (&load, error);
  flam_arena_clear (&load.kept);
  return loaded;
}

static gboolean
load_all (const FlamImporter *importer,
          FlamSource *source,
          FlamBuilder *builder,
          const FlamLoadOptions *options,
          GError **error)
{
  GError *bad = NULL;
  gboolean loaded =
      flam_importer_load (importer, source, builder, options, &bad);

  /* If it could not be unpacked, that is the reason. */
  if (!g_error_matches (bad, FLAM_ERROR, FLAM_ERROR_CANCELLED) &&
      !flam_source_finish (source, options->progress, error))
    {
      g_clear_error (&bad);
      return FALSE;
    }
  if (!loaded)
    g_propagate_error (error, bad);
  return loaded;
}

static void
warn_of_limited (const FlamSource *source, FlamBuilder *builder)
{
  const FlamLimited *limited = flam_builder_limited (builder);
  const guint8 *at = limited->first;

  if (limited->n == 0)
    return;
  if (at == NULL || at < source->data || at >= source->data + source->size)
    flam_builder_warn_count (
        builder,
        limited->n,
        "%" PRIu64 " number is out of range and was limited",
        "%" PRIu64 " numbers are out of range and were limited");
  else
    flam_builder_warn (
        builder,
        FLAM_PLURAL (limited->n,
                     "%" PRIu64 " number is out of range and was limited: it "
                     "is at byte %zu",
                     "%" PRIu64 " numbers are out of range and were limited: "
                     "the first is at byte %zu"),
        limited->n,
        flam_source_offset (source, at));
}

/* Texts and tables of tools often have names in the linker's form: they are
 * demangled, as everywhere. */
static void
demangle (FlamBuilder *builder)
{
  const FlamFunctions *functions =
      &flam_builder_tables (builder)->profile.functions;

  for (FlamId i = 0; i < functions->n; i++)
    {
      const char *name = flam_builder_get_string (builder, functions->name[i]);
      g_autofree char *demangled = NULL;

      if ((functions->kind[i] != FLAM_KIND_NATIVE &&
           functions->kind[i] != FLAM_KIND_KERNEL) ||
          functions->system_name[i] != functions->name[i])
        continue;
      demangled = flam_demangle (name);
      if (demangled != NULL)
        flam_cell (functions->name, FlamId, i) =
            flam_builder_string (builder, demangled, -1);
    }
}

FlamProfile *
flam_formats_load_with (const FlamImporter *importer,
                        FlamSource *source,
                        const FlamLoadOptions *options,
                        GError **error)
{
  static const FlamLoadOptions no_options;
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  g_autoptr (FlamProfile) profile = NULL;
  GError *bad = NULL;

  if (options == NULL)
    options = &no_options;
  flam_builder_set_format (builder, importer->id);
  if (!load_all (importer, source, builder, options, error))
    return NULL;
  if (source->begun)
    flam_builder_set_partial (builder,
                              source->read_fraction,
                              N_ ("the rest of the file was not read"));
  else if (source->truncated)
    flam_builder_set_partial (builder,
                              source->read_fraction,
                              N_ ("the compressed file is damaged or "
                                  "incomplete; the readable part is shown"));
  warn_of_limited (source, builder);
  demangle (builder);
  profile = flam_builder_finish (builder, &bad);
  if (profile != NULL)
    return flam_rank_waits_new (profile);
  g_prefix_error (&bad, "%s: ", source->path);
  g_propagate_error (error, bad);
  return NULL;
}

/* The progress is that of the whole, which has not begun. */
static gboolean
go_on (gpointer data, double fraction)
{
  return flam_progress_step (data, 0, NULL);
}

void
flam_formats_load_begun (const FlamImporter *importer,
                         const FlamSource *source,
                         const FlamLoadOptions *options)
{
  FlamProgress progress = { go_on, (gpointer)options->progress };
  FlamLoadOptions own = *options;
  gsize size = options->before_begun;
  FlamSource *next;

  if (!importer->streams && !importer->grows)
    return;
  own.progress = &progress;
  own.take_begun = NULL;
  while ((next = flam_begun_next (source, importer->streams, &size)) != NULL)
    {
      g_autoptr (FlamSource) begun = next;
      g_autoptr (FlamProfile) profile =
          flam_formats_load_with (importer, begun, &own, NULL);

      if (profile == NULL)
        return;
      if (profile->samples.n > 0 || profile->allocations.n > 0)
        options->take_begun (g_steal_pointer (&profile), options->begun_data);
    }
}

FlamProfile *
flam_formats_load_source (FlamSource *source,
                          const FlamLoadOptions *options,
                          GError **error)
{
  const FlamImporter *importer = flam_formats_probe (source);

  if (importer == NULL)
    {
      const char *why = flam_refused_why (source);

      flam_source_error (
          source,
          error,
          FLAM_ERROR_UNKNOWN_FORMAT,
          FLAM_NO_OFFSET,
          "%s",
          why != NULL ? why
          : source->size == 0
              ? N_ ("the file is empty")
              : N_ ("this is not a capture that Flambeau can open"));
      return NULL;
    }
  return flam_formats_load_with (importer, source, options, error);
}

/* Whether later bytes may tell the format: those of JSON, of pages, of texts
 * that begin with comments, and of massif's files, whose first line may be
 * long. */
static gboolean
may_be_known_later (const FlamSource *source)
{
  char first = flam_source_first_char (source);

  return (first != '\0' && strchr ("{[<#", first) != NULL) ||
         (source->size > 5 && memcmp (source->data, "desc:", 5) == 0);
}

/* Finds the importer of a file that is still being unpacked, from its first
 * bytes or, failing that, from as many bytes as any probe reads. A file that no
 * importer recognizes by then is not unpacked further. `*all`: the file has no
 * more bytes. */
static const FlamImporter *
probe_begun (const FlamSource *source, gboolean *all)
{
  const FlamImporter *importer = flam_formats_probe (source);
  FlamSource more = *source;
  gsize before = source->size;

  *all = TRUE;
  if (importer != NULL)
    return importer;
  while (more.size < FLAM_MEMBERS_MOST && may_be_known_later (source) &&
         (more.size = flam_source_more (source, before)) > before)
    before = more.size;
  *all = flam_source_more (source, before) <= before;
  return before > source->size ? flam_formats_probe (&more) : NULL;
}

static FlamProfile *
load_begun (FlamSource *source, const FlamLoadOptions *options, GError **error)
{
  const FlamProgress *progress = options != NULL ? options->progress : NULL;
  gboolean all;
  const FlamImporter *importer = probe_begun (source, &all);

  if ((importer != NULL ? !importer->streams : all) &&
      !flam_source_finish (source, progress, error))
    return NULL;
  if (importer != NULL && options != NULL && options->take_begun != NULL)
    flam_formats_load_begun (importer, source, options);
  return importer != NULL && importer->streams
             ? flam_formats_load_with (importer, source, options, error)
             : flam_formats_load_source (source, options, error);
}

/* Recordings of other tools that are folders. */
static gboolean
is_refused (const char *path, GError **error)
{
  const char *why = flam_refused_folder (path);
  g_autoptr (FlamSource) source = NULL;

  if (why == NULL)
    return FALSE;
  source = flam_source_new_from_data (path, "", 0);
  flam_source_error (
      source, error, FLAM_ERROR_UNKNOWN_FORMAT, FLAM_NO_OFFSET, "%s", why);
  return TRUE;
}

/* The first file in a folder, by name, that fits a pattern; NULL. */
static char *
find_in (const char *folder, const char *pattern)
{
  const char *slash = strchr (pattern, '/');
  g_autofree char *first = slash != NULL
                               ? g_strndup (pattern, (gsize)(slash - pattern))
                               : g_strdup (pattern);
  g_autofree char *path = g_build_filename (folder, first, NULL);
  g_autoptr (GDir) dir = NULL;
  char *found = NULL;
  const char *name;

  if (slash == NULL)
    return g_file_test (path, G_FILE_TEST_IS_REGULAR) ? g_steal_pointer (&path)
                                                      : NULL;
  if (strcmp (first, "*") != 0)
    return find_in (path, slash + 1);
  dir = g_dir_open (folder, 0, NULL);
  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *inner = g_build_filename (folder, name, NULL);
      g_autofree char *file = find_in (inner, slash + 1);

      if (file != NULL && (found == NULL || strcmp (file, found) < 0))
        {
          g_free (found);
          found = g_steal_pointer (&file);
        }
    }
  return found;
}

char *
flam_formats_find_file (const char *path)
{
  for (guint i = 0; flam_importers[i] != NULL; i++)
    for (const char *const *at = flam_importers[i]->folder;
         at != NULL && *at != NULL;
         at++)
      {
        char *file = find_in (path, *at);

        if (file != NULL)
          return file;
      }
  return g_strdup (path);
}

FlamProfile *
flam_formats_load (const char *path,
                   const FlamLoadOptions *options,
                   GError **error)
{
  const FlamProgress *progress = options != NULL ? options->progress : NULL;
  g_autofree char *file = NULL;
  g_autoptr (FlamSource) source = NULL;
  g_autoptr (FlamProfile) profile = NULL;
  GError *bad = NULL;

  if (is_refused (path, error))
    return NULL;
  file = flam_formats_find_file (path);
  source = flam_source_begin (file, progress, error);
  if (source == NULL)
    return NULL;
  profile = load_begun (source, options, &bad);
  if (!g_error_matches (bad, FLAM_ERROR, FLAM_ERROR_CANCELLED) &&
      !flam_source_is_whole (source, error))
    {
      g_clear_error (&bad);
      return NULL;
    }
  if (bad != NULL)
    g_propagate_error (error, bad);
  return g_steal_pointer (&profile);
}
