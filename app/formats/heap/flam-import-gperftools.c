/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-formats.h"
#include "flam-gperftools.h"
#include "flam-mapping.h"

#include <string.h>

/* The profiles of gperftools (and programs with its formats, jemalloc among
 * them) without protocol buffers: flam-gperftools-cpu.c and
 * flam-gperftools-text.c. All have addresses of the process and end with a copy
 * of /proc/PID/maps, after a line "MAPPED_LIBRARIES:" in those that are text;
 * or, after "--- Memory map: ---", with a short one of code alone, which may
 * contain variables:
 *
 *      source=/home
 *      00400000-00fcb000: $source/program
 *
 * The output of "pprof --raw" has names before the profile, the outermost of a
 * chain of inlined functions first:
 *
 *    --- symbol
 *    binary=/bin/program
 *    0x000055f227aee3ce run_sort(int)<00000000000041f0>--to_string(int)
 *    ---
 *    --- profile
 *
 * Source of facts: gperftools' documentation, google/pprof
 * profile/legacy_profile.go, jeprof of jemalloc 5.3. */

/* --- the map ------------------------------------------------------------- */

static const char *
skip_word (const char *p, const char *end)
{
  while (p < end && !flam_text_is_space (*p))
    p++;
  return p;
}

/* Expands "$word/program" with the value of "word=/home". */
static char *
expand_path (GHashTable *words, const char *path, gsize length)
{
  const char *slash = memchr (path, '/', length);
  gsize n = slash != NULL ? (gsize)(slash - path) : length;
  g_autofree char *word = g_strndup (path, n);
  const char *value = g_hash_table_lookup (words, word);

  return value == NULL
             ? g_strndup (path, length)
             : g_strdup_printf ("%s%.*s", value, (int)(length - n), path + n);
}

static void
read_word (GHashTable *words, const char *p, const char *end)
{
  const char *equals = memchr (p, '=', end - p);

  if (equals != NULL)
    g_hash_table_insert (words,
                         g_strdup_printf ("$%.*s", (int)(equals - p), p),
                         g_strndup (equals + 1, end - equals - 1));
}

/* "7fa0-7fb0 r-xp 00027000 00:00 332383  /usr/lib/libc.so.6"
 * "7fa0-7fb0: /usr/lib/libc.so.6" */
static void
read_mapping (FlamGperftools *reader,
              GHashTable *words,
              const char *line,
              gsize length)
{
  const char *end = line + length, *start = flam_gperftools_skip (line, end);
  const char *p = start;
  FlamMapping mapping = { 0 };
  FlamRange range;
  g_autofree char *path = NULL;

  if (flam_mapping_parse (start, end, &mapping))
    p = mapping.executable ? mapping.path : end;
  else if (flam_text_hex (&p, end, &mapping.start) && p < end && *p++ == '-' &&
           flam_text_hex (&p, end, &mapping.end))
    {
      p = p < end && *p == ':' ? flam_gperftools_skip (p + 1, end) : end;
      end = skip_word (p, end);
    }
  else
    {
      read_word (words, start, end);
      return;
    }
  path = expand_path (words, p, end - p);
  if (*path == '\0')
    return;
  range = (FlamRange){
    mapping.start,
    mapping.end,
    mapping.offset,
    flam_builder_module (reader->builder, path, "", FLAM_ADDRESS_FILE_OFFSET),
  };
  flam_ranges_add (reader->mappings, &range);
  if (reader->jemalloc && strstr (path, "/libjemalloc.") != NULL)
    reader->allocator = range.value;
}

static void
read_map (FlamGperftools *reader, FlamText *text)
{
  g_autoptr (GHashTable) words =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  const char *line;
  gsize length;

  while (flam_text_next (text, &line, &length))
    read_mapping (reader, words, line, length);
}

/* " 0x0000002b name (File.java:12)", after Java's samples. */
static void
read_java_names (FlamGperftools *reader, FlamText *text)
{
  const char *line;
  gsize length;

  while (flam_text_next (text, &line, &length))
    {
      const char *end = line + length, *p = flam_gperftools_skip (line, end);
      guint64 address;

      if (end - p < 3 || memcmp (p, "0x", 2) != 0)
        continue;
      p += 2;
      if (!flam_text_hex (&p, end, &address))
        continue;
      p = flam_gperftools_skip (p, end);
      g_hash_table_insert (reader->names,
                           g_memdup2 (&address, sizeof address),
                           g_strndup (p, end - p));
    }
}

static FlamFrameId
java_frame (FlamGperftools *reader, const char *name)
{
  FlamFunction function = { .module = FLAM_NONE, .kind = FLAM_KIND_JIT };
  const char *open = strrchr (name, '(');
  const char *colon = open != NULL ? strrchr (open, ':') : NULL;
  gint64 line = 0;

  function.name = flam_builder_string (
      reader->builder,
      name,
      open != NULL && open > name && open[-1] == ' ' ? open - 1 - name : -1);
  if (colon != NULL)
    {
      function.file =
          flam_builder_string (reader->builder, open + 1, colon - open - 1);
      line = CLAMP (g_ascii_strtoll (colon + 1, NULL, 10), 0, G_MAXINT32);
    }
  return flam_builder_frame_of (reader->builder, &function, 0, line, 0);
}

static FlamFrameId
make_frame (FlamGperftools *reader, guint64 address)
{
  const FlamRange *mapping = flam_ranges_find (reader->mappings, address);
  FlamModuleId module = mapping != NULL ? mapping->value : FLAM_NONE;

  return flam_builder_frame_of (
      reader->builder,
      &(FlamFunction){ .module = module },
      mapping != NULL ? address - mapping->start + mapping->offset : address,
      0,
      0);
}

/* --- samples ------------------------------------------------------------- */

static guint64
get_address (const FlamGperftools *reader,
             const FlamGperftoolsSample *sample,
             guint i)
{
  return g_array_index (reader->addresses, guint64, sample->first + i);
}

/* "f(int)<00000000000041f0>": with its start, which is not used. */
static FlamFrameId
named_frame (FlamGperftools *reader,
             const char *name,
             gsize length,
             guint depth)
{
  FlamFunction function = { .module = FLAM_NONE, .kind = FLAM_KIND_NATIVE };
  const char *open = length > 2 && name[length - 1] == '>'
                         ? memrchr (name, '<', length)
                         : NULL;

  if (open != NULL && open > name && name + length - open == 18)
    length = open - name;
  function.name = flam_builder_string (reader->builder, name, length);
  return flam_builder_frame (reader->builder,
                             flam_builder_function (reader->builder, &function),
                             0,
                             0,
                             depth);
}

/* The address' own names, outermost first, or a substitute. */
static FlamId
push_address (FlamGperftools *reader, FlamStackId stack, guint64 address)
{
  const char *names = reader->names != NULL
                          ? g_hash_table_lookup (reader->names, &address)
                          : NULL;
  const FlamGperftoolsFrames *frames =
      g_hash_table_lookup (reader->frames, &address);
  guint depth = 0;

  if (frames != NULL)
    {
      for (guint i = frames->n; i-- > 0;)
        stack = flam_builder_stack (reader->builder, stack, frames->frame[i]);
      return stack;
    }
  if (names == NULL)
    return flam_builder_stack (
        reader->builder, stack, make_frame (reader, address));
  if (reader->java)
    return flam_builder_stack (
        reader->builder, stack, java_frame (reader, names));
  while (depth < 256)
    {
      const char *end = strstr (names, "--");
      gsize length = end != NULL ? (gsize)(end - names) : strlen (names);

      stack = flam_builder_stack (
          reader->builder, stack, named_frame (reader, names, length, depth++));
      if (end == NULL)
        break;
      names = end + 2;
    }
  return stack;
}

/* The first frame that is not the allocator's own. */
static guint
skip_allocator (const FlamGperftools *reader,
                const FlamGperftoolsSample *sample)
{
  guint k = 0;

  while (reader->allocator != FLAM_NONE && k + 1 < sample->n)
    {
      const FlamRange *mapping =
          flam_ranges_find (reader->mappings, get_address (reader, sample, k));

      if (mapping == NULL || mapping->value != reader->allocator)
        break;
      k++;
    }
  return k;
}

static void
add_samples (FlamGperftools *reader)
{
  FlamThreadId thread = flam_builder_lone_thread (reader->builder);

  for (guint i = 0; i < reader->samples->len; i++)
    {
      const FlamGperftoolsSample *sample =
          &g_array_index (reader->samples, FlamGperftoolsSample, i);
      FlamSample out = { .thread = thread, .stack = FLAM_NONE };
      guint first = skip_allocator (reader, sample);

      for (guint k = sample->n; k-- > first;)
        out.stack =
            push_address (reader, out.stack, get_address (reader, sample, k));
      flam_builder_add_sample (reader->builder, &out, sample->values);
    }
}

/* --- the importer -------------------------------------------------------- */

/* "threadcreate profile: total 7" */
static gboolean
is_count_heading (const char *line, gsize length)
{
  return length < 200 && memmem (line, length, " profile: total ", 16) != NULL;
}

static guint
probe (const FlamSource *source)
{
  const char *data = (const char *)source->data;
  const char *newline = memchr (data, '\n', MIN (source->size, 200));

  if (flam_gperftools_is_cpu (source) ||
      (g_str_has_prefix (data, "--- symbol\n") && newline != NULL))
    return 90;
  if (newline == NULL)
    return 0;
  if (g_str_has_prefix (data, "heap profile: ") &&
      memchr (data, '@', newline - data) != NULL)
    return 95;
  if (g_str_has_prefix (data, "heap_v2/") && g_ascii_isdigit (data[8]))
    return 95;
  if (g_str_has_prefix (data, "--- contention") ||
      g_str_has_prefix (data, "--- mutex:") ||
      g_str_has_prefix (data, "--- threadz "))
    return 90;
  if (g_str_has_prefix (data, "--- heapz ") &&
      flam_source_head_has (source, 200, "format = java"))
    return 90;
  return is_count_heading (data, newline - data) ? 80 : 0;
}

static const char symbol_heading[] = "--- symbol\n";

/* Reads the names: `inner` is the text after the line that ends them, and after
 * the heading of the profile. */
static GHashTable *
read_names (FlamLoad *load, FlamSource *inner)
{
  GHashTable *names = flam_arena_table (load, FLAM_KEY_NUMBER, g_free);
  FlamText text;
  const char *line;
  gsize length;

  flam_text_init (&text, load->source);
  while (flam_text_next (&text, &line, &length))
    {
      const char *p = line + 2, *end = line + length;
      guint64 address;

      if (length >= 11 && memcmp (line, "--- ", 4) == 0 && text.line > 1)
        break;
      if (length > 3 && memcmp (line, "0x", 2) == 0 &&
          flam_text_hex (&p, end, &address) && end - p > 1 && *p == ' ')
        g_hash_table_insert (names,
                             g_memdup2 (&address, sizeof address),
                             g_strndup (p + 1, end - p - 1));
    }
  *inner = *load->source;
  inner->data = (const guint8 *)text.at;
  inner->size = text.end - text.at;
  inner->before = flam_source_offset (load->source, text.at);
  inner->lines_before += text.line;
  return names;
}

static gboolean
load (FlamLoad *load, GError **error)
{
  FlamGperftools reader = {
    .source = load->source,
    .load = load,
    .builder = load->builder,
    .addresses = flam_arena_array (load, guint64),
    .samples = flam_arena_array (load, FlamGperftoolsSample),
    .comments = flam_arena_array (load, FlamGperftoolsComment),
    .frames = flam_arena_table (load, FLAM_KEY_NUMBER, g_free),
    .mappings = flam_arena_keep (load, flam_ranges_new (), flam_ranges_free),
    .allocator = FLAM_NONE,
  };
  FlamSource inner;
  FlamText text;

  if (g_str_has_prefix ((const char *)load->source->data, symbol_heading))
    {
      reader.names = read_names (load, &inner);
      reader.source = &inner;
    }
  if (flam_gperftools_is_cpu (reader.source))
    flam_gperftools_read_cpu (&reader, &text);
  else if (memchr (reader.source->data, '\n', reader.source->size) == NULL)
    return flam_source_invalid (
        reader.source, error, N_ ("not a profile of gperftools"));
  else if (!flam_gperftools_read_text (&reader, &text, error))
    return FALSE;
  if (!reader.java)
    read_map (&reader, &text);
  else
    {
      if (reader.names == NULL)
        reader.names = flam_arena_table (load, FLAM_KEY_NUMBER, g_free);
      read_java_names (&reader, &text);
    }
  add_samples (&reader);
  return TRUE;
}

const FlamImporter flam_import_gperftools = {
  .id = "gperftools",
  .label = "gperftools, jemalloc, legacy pprof",
  .written_by = "gperftools, jemalloc, older Go programs",
  .suffixes = FLAM_LIST (".heap", ".prof"),
  .mime = { .type = "application/x-gperftools",
            .name = "gperftools or jemalloc profile",
            .magics = FLAM_MAGICS (FLAM_BYTES (0, "heap profile:"),
                                   FLAM_BYTES (0, "heap_v2/"),
                                   FLAM_BYTES (0, "--- contention")) },
  .probe = probe,
  .load = load,
};
