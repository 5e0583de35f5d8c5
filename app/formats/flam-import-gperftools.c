/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-formats.h"
#include "flam-text.h"

#include <math.h>

/* The profiles gperftools (and programs that took after it) write without
 * protocol buffers. All have addresses of the process and end in a copy of
 * /proc/PID/maps, after a line "MAPPED_LIBRARIES:" in those that are text.
 *
 * CPU, binary, words of 4 or 8 bytes of either order:
 *
 *    0  0      12  period (µs)      then records: count, n, n addresses (leaf
 *    1  3      16  0                first), the last of them 0, 1, 0
 *    2  0
 *
 * heap and growth, text: blocks and bytes alive, and [allocated in all]
 *
 *    heap profile:   1044:   189120 [921662: 136069270] @ heapprofile
 *        40:   163840 [    40:   163840] @ 0x55e24f1f0335 0x55e24f1f0955 …
 *
 * After "@ heap_v2/524288" values are samples, taken every so many bytes on
 * average, and are scaled up to what they stand for; "heap/1048576" has twice
 * that number.
 *
 * contention: cycles waited and times
 *
 *    --- contentionz 1 ---
 *    cycles/second = 3201000000
 *    sampling period = 100
 *      19490304       27 @ 0xbccc97 0xc61202 …
 *
 * counts of anything: "threadcreate profile: total 7", then "1 @ 0x44cb3 …".
 *
 * What "pprof --raw" writes has names before the profile, the outermost of a
 * chain of inlined functions first:
 *
 *    --- symbol
 *    binary=/bin/program
 *    0x000055f227aee3ce run_sort(int)<00000000000041f0>--to_string(int)
 *    ---
 *    --- profile
 *
 * Addresses but the leaf's in CPU profiles are those behind calls: one less is
 * the call. Nearly the same second frame in all CPU samples is the signal
 * handler's, and goes. Source of facts: gperftools' documentation, google/pprof
 * profile/legacy_profile.go. */

typedef struct
{
  guint64 start, limit, offset;
  FlamId module;
} Mapping;

typedef struct
{
  guint first; /* of its addresses, leaf first */
  guint n;
  gint64 values[4];
} Sample;

typedef struct
{
  const FlamSource *source;
  FlamBuilder *builder;
  GArray *addresses; /* guint64 */
  GArray *samples;   /* Sample */
  GArray *mappings;  /* Mapping, ascending */
  GHashTable *names; /* guint64 -> text of a line; may be NULL */
  guint n_values;
  guint64 bad_lines;
  guint64 first_bad;
} Reader;

/* --- the map ------------------------------------------------------------- */

/* "7fa0-7fb0 r-xp 00027000 00:00 332383  /usr/lib/libc.so.6" */
static void
read_mapping (Reader *reader, const char *line, gsize length)
{
  const char *p = line, *end = line + length;
  Mapping mapping = { 0 };
  g_autofree char *path = NULL;

  if (!flam_text_hex (&p, end, &mapping.start) || p == end || *p++ != '-' ||
      !flam_text_hex (&p, end, &mapping.limit) || end - p < 6 || p[0] != ' ' ||
      p[3] != 'x')
    return;
  p += 6;
  if (!flam_text_hex (&p, end, &mapping.offset))
    return;
  for (guint field = 0; field < 2; field++)
    {
      while (p < end && *p == ' ')
        p++;
      while (p < end && *p != ' ')
        p++;
    }
  while (p < end && flam_text_is_space (*p))
    p++;
  path = g_strndup (p, end - p);
  if (*path == '\0')
    return;
  mapping.module =
      flam_builder_module (reader->builder, path, "", FLAM_ADDRESS_FILE_OFFSET);
  g_array_append_val (reader->mappings, mapping);
}

static int
compare_mappings (gconstpointer a, gconstpointer b)
{
  const Mapping *x = a;
  const Mapping *y = b;

  return (x->start > y->start) - (x->start < y->start);
}

static void
read_map (Reader *reader, FlamText *text)
{
  const char *line;
  gsize length;

  while (flam_text_next (text, &line, &length))
    read_mapping (reader, line, length);
  g_array_sort (reader->mappings, compare_mappings);
}

static const Mapping *
find_mapping (const Reader *reader, guint64 address)
{
  guint low = 0, high = reader->mappings->len;

  while (low < high)
    {
      guint middle = (low + high) / 2;
      const Mapping *m = &g_array_index (reader->mappings, Mapping, middle);

      if (address < m->start)
        high = middle;
      else if (address >= m->limit)
        low = middle + 1;
      else
        return m;
    }
  return NULL;
}

static FlamId
make_frame (Reader *reader, guint64 address)
{
  const Mapping *mapping = find_mapping (reader, address);
  FlamId module = mapping != NULL ? mapping->module : FLAM_NONE;

  return flam_builder_frame (
      reader->builder,
      flam_builder_function_unresolved (reader->builder, module),
      mapping != NULL ? address - mapping->start + mapping->offset : address,
      0,
      0);
}

/* --- samples ------------------------------------------------------------- */

static guint64
get_address (const Reader *reader, const Sample *sample, guint i)
{
  return g_array_index (reader->addresses, guint64, sample->first + i);
}

/* "f(int)<00000000000041f0>": with where it begins, which nobody needs. */
static FlamId
named_frame (Reader *reader, const char *name, gsize length, guint depth)
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

/* The address' own names, outermost first, or what stands for it. */
static FlamId
push_address (Reader *reader, FlamId stack, guint64 address)
{
  const char *names = reader->names != NULL
                          ? g_hash_table_lookup (reader->names, &address)
                          : NULL;
  guint depth = 0;

  if (names == NULL)
    return flam_builder_stack (
        reader->builder, stack, make_frame (reader, address));
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

static void
add_samples (Reader *reader)
{
  FlamId thread = flam_builder_thread (
      reader->builder, flam_builder_process (reader->builder, -1, 0), -1, 0);

  for (guint i = 0; i < reader->samples->len; i++)
    {
      const Sample *sample = &g_array_index (reader->samples, Sample, i);
      FlamSample out = { .thread = thread, .stack = FLAM_NONE };

      for (guint k = sample->n; k-- > 0;)
        out.stack =
            push_address (reader, out.stack, get_address (reader, sample, k));
      flam_builder_add_sample (reader->builder, &out, sample->values);
    }
}

static void
add_measure (Reader *reader,
             const char *id,
             const char *name,
             FlamUnit unit,
             FlamMeasureKind kind,
             guint column)
{
  while (reader->n_values <= column)
    reader->n_values = flam_builder_add_column (reader->builder) + 1;
  flam_builder_add_measure (
      reader->builder, id, name, unit, kind, column, FLAM_NONE);
}

/* --- CPU ----------------------------------------------------------------- */

typedef struct
{
  const guint8 *at, *end;
  guint size;
  gboolean big;
} Words;

static gboolean
next_word (Words *words, guint64 *value)
{
  if ((gsize)(words->end - words->at) < words->size)
    return FALSE;
  *value = 0;
  for (guint i = 0; i < words->size; i++)
    *value |= (guint64)words->at[i]
              << 8 * (words->big ? words->size - 1 - i : i);
  words->at += words->size;
  return TRUE;
}

/* The words' size and order, and the period; FALSE: no such file. */
static gboolean
find_words (const FlamSource *source, Words *words, guint64 *period)
{
  for (guint i = 0; i < 4; i++)
    {
      guint64 header[5];
      guint n = 0;

      *words = (Words){ .at = source->data,
                        .end = source->data + source->size,
                        .size = i < 2 ? 8 : 4,
                        .big = i % 2 };
      while (n < 5 && next_word (words, &header[n]))
        n++;
      *period = n == 5 ? header[3] : 0;
      if (n == 5 && header[0] == 0 && header[1] == 3 && header[2] == 0 &&
          header[3] > 0 && header[3] < 1000000000 && header[4] == 0)
        return TRUE;
    }
  return FALSE;
}

/* What stands second in (nearly) all samples, twice over. */
static void
drop_signal_frames (Reader *reader)
{
  guint n = reader->samples->len;

  for (guint round = 0; round < 2; round++)
    {
      g_autoptr (GHashTable) counts =
          g_hash_table_new (g_int64_hash, g_int64_equal);
      guint64 common = 0;

      for (guint i = 0; i < n; i++)
        {
          const Sample *sample = &g_array_index (reader->samples, Sample, i);
          guint64 *address;
          guint count;

          if (sample->n < 2)
            continue;
          address =
              &g_array_index (reader->addresses, guint64, sample->first + 1);
          count = GPOINTER_TO_UINT (g_hash_table_lookup (counts, address)) + 1;
          g_hash_table_insert (counts, address, GUINT_TO_POINTER (count));
          if (count >= n - n / 32)
            common = *address;
        }
      for (guint i = 0; common != 0 && i < n; i++)
        {
          Sample *sample = &g_array_index (reader->samples, Sample, i);
          guint64 *addresses =
              &g_array_index (reader->addresses, guint64, sample->first);

          if (sample->n < 2 || addresses[1] != common)
            continue;
          addresses[1] = addresses[0];
          sample->first++;
          sample->n--;
        }
    }
}

/* The leaf may come twice: from the signal, and from the stack, one less. */
static void
drop_double_leaves (Reader *reader)
{
  for (guint i = 0; i < reader->samples->len; i++)
    {
      Sample *sample = &g_array_index (reader->samples, Sample, i);
      guint64 *addresses =
          &g_array_index (reader->addresses, guint64, sample->first);

      if (sample->n < 2 || addresses[0] != addresses[1] + 1)
        continue;
      addresses[1] = addresses[0];
      sample->first++;
      sample->n--;
    }
}

/* FALSE: it ends before its last record. */
static gboolean
read_records (Reader *reader, Words *words, guint64 period)
{
  guint64 count, n, address;

  while (next_word (words, &count) && next_word (words, &n))
    {
      Sample sample = { .first = reader->addresses->len };

      if (n > (gsize)(words->end - words->at) / words->size)
        return FALSE;
      for (guint64 i = 0; i < n; i++)
        {
          next_word (words, &address);
          if (i > 0)
            address--;
          g_array_append_val (reader->addresses, address);
        }
      if (count == 0 && n == 1 && address == 0)
        return TRUE;
      sample.n = n;
      if (count > G_MAXINT64 / 1000 / period ||
          sample.first + n > G_MAXUINT32 / 2)
        return FALSE;
      sample.values[0] = count * period * 1000;
      sample.values[1] = count;
      g_array_append_val (reader->samples, sample);
    }
  return FALSE;
}

static gboolean
load_cpu (Reader *reader, Words *words, guint64 period)
{
  FlamText text;

  add_measure (reader, "cpu", "CPU time", FLAM_UNIT_NS, FLAM_MEASURE_CPU, 0);
  add_measure (
      reader, "samples", "Samples", FLAM_UNIT_COUNT, FLAM_MEASURE_CPU, 1);
  if (!read_records (reader, words, period))
    {
      flam_builder_set_partial (reader->builder,
                                (double)(words->at - reader->source->data) /
                                    reader->source->size);
      flam_builder_warn (reader->builder,
                         "the samples end early or make no sense after byte "
                         "%" G_GSIZE_FORMAT,
                         (gsize)(words->at - reader->source->data));
    }
  drop_signal_frames (reader);
  drop_double_leaves (reader);
  flam_text_init (&text, reader->source);
  text.at = (const char *)words->at;
  read_map (reader, &text);
  add_samples (reader);
  return TRUE;
}

/* --- text ---------------------------------------------------------------- */

static void
skip_spaces (const char **p, const char *end)
{
  while (*p < end && flam_text_is_space (**p))
    ++*p;
}

/* A number, with the spaces before and `after` behind it. */
static gboolean
next_number (const char **p, const char *end, char after, gint64 *value)
{
  skip_spaces (p, end);
  if (!flam_text_number (p, end, value))
    return FALSE;
  skip_spaces (p, end);
  if (after == '\0')
    return TRUE;
  if (*p == end || **p != after)
    return FALSE;
  ++*p;
  return TRUE;
}

/* "@ 0x1 0x2 …" or only the addresses, up to the end of the line. */
static gboolean
read_addresses (Reader *reader, const char *p, const char *end, Sample *sample)
{
  sample->first = reader->addresses->len;
  for (;;)
    {
      guint64 address;

      skip_spaces (&p, end);
      if (p == end)
        break;
      if (end - p < 3 || p[0] != '0' || p[1] != 'x')
        return FALSE;
      p += 2;
      if (!flam_text_hex (&p, end, &address))
        return FALSE;
      address--;
      g_array_append_val (reader->addresses, address);
    }
  sample->n = reader->addresses->len - sample->first;
  return TRUE;
}

static gint64
clamp_value (double value)
{
  return value >= 9e18 ? G_MAXINT64 / 2 : value <= 0 ? 0 : (gint64)value;
}

/* Blocks are sampled by their bytes: large ones nearly always, small ones
 * seldom. Poisson: a block of size s is met with 1 - exp (-s / period). */
static void
unsample (gint64 *count, gint64 *bytes, gint64 period)
{
  double scale;

  if (*count <= 0 || *bytes <= 0)
    {
      *count = *bytes = 0;
      return;
    }
  if (period <= 1)
    return;
  scale = 1 / (1 - exp (-((double)*bytes / *count) / period));
  *count = clamp_value (*count * scale);
  *bytes = clamp_value (*bytes * scale);
}

static gboolean
is_map_heading (const char *line, gsize length)
{
  return (length >= 17 && memcmp (line, "MAPPED_LIBRARIES:", 17) == 0) ||
         memmem (line, length, "--- Memory map: ---", 19) != NULL;
}

typedef struct
{
  enum
  {
    HEAP,
    CONTENTION,
    COUNTS,
  } kind;
  gint64 period;
  gint64 hz;
} Text;

static gboolean
read_heap_line (Reader *reader,
                const Text *text,
                const char *p,
                const char *end,
                Sample *sample)
{
  gint64 *v = sample->values;

  if (!next_number (&p, end, ':', &v[1]) ||
      !next_number (&p, end, '[', &v[0]) ||
      !next_number (&p, end, ':', &v[3]) || !next_number (&p, end, ']', &v[2]))
    return FALSE;
  skip_spaces (&p, end);
  if (p == end || *p++ != '@')
    return FALSE;
  unsample (&v[1], &v[0], text->period);
  unsample (&v[3], &v[2], text->period);
  return read_addresses (reader, p, end, sample);
}

static gboolean
read_contention_line (Reader *reader,
                      const Text *text,
                      const char *p,
                      const char *end,
                      Sample *sample)
{
  gint64 cycles, times;

  if (!next_number (&p, end, '\0', &cycles) ||
      !next_number (&p, end, '@', &times))
    return FALSE;
  sample->values[0] = clamp_value (
      text->hz > 0 ? cycles * (double)text->period / (text->hz / 1e9) : cycles);
  sample->values[1] = clamp_value ((double)times * text->period);
  return read_addresses (reader, p, end, sample);
}

static gboolean
read_count_line (Reader *reader, const char *p, const char *end, Sample *sample)
{
  return next_number (&p, end, '@', &sample->values[0]) &&
         read_addresses (reader, p, end, sample);
}

/* "sampling period = 100" and the like, before the samples. */
static gboolean
read_attribute (Text *text, const char *line, const char *end)
{
  const char *equals = memchr (line, '=', end - line);
  const char *p = equals + 1;
  gint64 value;

  if (equals == NULL)
    return FALSE;
  if (!next_number (&p, end, '\0', &value))
    return TRUE;
  if (g_str_has_prefix (line, "cycles/second"))
    text->hz = value;
  else if (g_str_has_prefix (line, "sampling period"))
    text->period = MAX (value, 1);
  return TRUE;
}

static gboolean
read_text_line (Reader *reader, Text *text, const char *line, gsize length)
{
  const char *p = line, *end = line + length;
  Sample sample = { 0 };
  gboolean good;

  skip_spaces (&p, end);
  if (p == end || *p == '#')
    return TRUE;
  if (text->kind == CONTENTION && reader->samples->len == 0 &&
      read_attribute (text, p, end))
    return TRUE;
  if (text->kind == HEAP)
    good = read_heap_line (reader, text, p, end, &sample);
  else if (text->kind == CONTENTION)
    good = read_contention_line (reader, text, p, end, &sample);
  else
    good = read_count_line (reader, p, end, &sample);
  if (good)
    g_array_append_val (reader->samples, sample);
  return good;
}

/* The period behind the '@' of the first line: 1 where nothing is sampled. */
static gint64
heap_period (const char *line, const char *end)
{
  const char *at = memchr (line, '@', end - line);
  const char *slash = at != NULL ? memchr (at, '/', end - at) : NULL;
  gint64 period = 1;

  if (slash == NULL)
    return 1;
  slash++;
  if (!flam_text_number (&slash, end, &period))
    return 1;
  return memmem (at, end - at, "heap/", 5) != NULL ? period / 2 : period;
}

static void
begin_text (Reader *reader, Text *text, const char *line, gsize length)
{
  *text = (Text){ .period = 1 };
  if (g_str_has_prefix (line, "heap profile:"))
    {
      text->kind = HEAP;
      text->period = heap_period (line, line + length);
      add_measure (reader,
                   "inuse_space",
                   "Memory in use",
                   FLAM_UNIT_BYTES,
                   FLAM_MEASURE_ALLOC,
                   0);
      add_measure (reader,
                   "inuse_objects",
                   "Blocks in use",
                   FLAM_UNIT_COUNT,
                   FLAM_MEASURE_ALLOC,
                   1);
      add_measure (reader,
                   "alloc_space",
                   "Allocated memory",
                   FLAM_UNIT_BYTES,
                   FLAM_MEASURE_ALLOC,
                   2);
      add_measure (reader,
                   "alloc_objects",
                   "Allocations",
                   FLAM_UNIT_COUNT,
                   FLAM_MEASURE_ALLOC,
                   3);
    }
  else if (g_str_has_prefix (line, "---"))
    {
      text->kind = CONTENTION;
      add_measure (reader, "delay", "Delay", FLAM_UNIT_NS, FLAM_MEASURE_CPU, 0);
      add_measure (reader,
                   "contentions",
                   "Contentions",
                   FLAM_UNIT_COUNT,
                   FLAM_MEASURE_CPU,
                   1);
    }
  else
    {
      g_autofree char *name = g_strndup (line, strcspn (line, " "));
      text->kind = COUNTS;
      add_measure (reader, name, name, FLAM_UNIT_COUNT, FLAM_MEASURE_CPU, 0);
    }
}

static gboolean
load_text (Reader *reader, const FlamProgress *progress, GError **error)
{
  FlamText lines;
  Text text;
  const char *line;
  gsize length;

  flam_text_init (&lines, reader->source);
  if (!flam_text_next (&lines, &line, &length))
    return TRUE;
  begin_text (reader, &text, line, length);
  while (flam_text_next (&lines, &line, &length))
    {
      if (is_map_heading (line, length))
        break;
      if (!read_text_line (reader, &text, line, length) &&
          reader->bad_lines++ == 0)
        reader->first_bad = lines.line;
      if (lines.line % 4096 == 0 &&
          !flam_progress_step (progress, flam_text_fraction (&lines), error))
        return FALSE;
    }
  if (reader->bad_lines > 0)
    flam_builder_warn (reader->builder,
                       "%" G_GUINT64_FORMAT " lines make no sense and were "
                       "left out (the first is line %" G_GUINT64_FORMAT ")",
                       reader->bad_lines,
                       reader->first_bad);
  read_map (reader, &lines);
  add_samples (reader);
  return TRUE;
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
  Words words;
  guint64 period;

  if (find_words (source, &words, &period) ||
      (g_str_has_prefix (data, "--- symbol\n") && newline != NULL))
    return 90;
  if (newline == NULL)
    return 0;
  if (g_str_has_prefix (data, "heap profile: ") &&
      memchr (data, '@', newline - data) != NULL)
    return 95;
  if (g_str_has_prefix (data, "--- contention") ||
      g_str_has_prefix (data, "--- mutex:"))
    return memmem (data, MIN (source->size, 200), "format =", 8) ? 0 : 90;
  return is_count_heading (data, newline - data) ? 80 : 0;
}

static const char symbol_heading[] = "--- symbol\n";

/* Takes the names off: `inner` is what follows the line that ends them, and
 * the heading of the profile. */
static GHashTable *
read_names (const FlamSource *source, FlamSource *inner)
{
  GHashTable *names =
      g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, g_free);
  FlamText text;
  const char *line;
  gsize length;

  flam_text_init (&text, source);
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
  *inner = *source;
  inner->data = (const guint8 *)text.at;
  inner->size = text.end - text.at;
  return names;
}

static gboolean
load (const FlamSource *source,
      FlamBuilder *builder,
      const FlamLoadOptions *options,
      GError **error)
{
  g_autoptr (GArray) addresses = g_array_new (FALSE, FALSE, sizeof (guint64));
  g_autoptr (GArray) samples = g_array_new (FALSE, FALSE, sizeof (Sample));
  g_autoptr (GArray) mappings = g_array_new (FALSE, FALSE, sizeof (Mapping));
  Reader reader = { .source = source,
                    .builder = builder,
                    .addresses = addresses,
                    .samples = samples,
                    .mappings = mappings };
  g_autoptr (GHashTable) names = NULL;
  FlamSource inner;
  Words words;
  guint64 period;

  if (g_str_has_prefix ((const char *)source->data, symbol_heading))
    {
      reader.names = names = read_names (source, &inner);
      reader.source = source = &inner;
    }
  if (find_words (source, &words, &period))
    return load_cpu (&reader, &words, period);
  if (memchr (source->data, '\n', source->size) != NULL)
    return load_text (&reader, options->progress, error);
  flam_source_error (source,
                     error,
                     FLAM_ERROR_INVALID,
                     FLAM_NO_OFFSET,
                     "not a profile of gperftools");
  return FALSE;
}

static const char *const suffixes[] = { ".heap", ".prof", NULL };
static const char *const mime_types[] = { "application/x-gperftools", NULL };

const FlamImporter flam_import_gperftools = {
  .id = "gperftools",
  .label = "gperftools",
  .suffixes = suffixes,
  .mime_types = mime_types,
  .probe = probe,
  .load = load,
};
