/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Folded stacks: a line a stack, root first, and its weight.
 *
 *    main;parse;read_[k] 12          a weight, whole or fractional
 *    main;parse;read_[k] 10 12       differential: weight before, weight now
 *
 * Endings of frames say what they are: _[k] kernel, _[j] compiled at run time,
 * _[i] inlined, _[w] the waker's stack, and async-profiler's _[0] interpreted
 * and _[1] compiled lightly. Lines that start with "# " are comments; a
 * function of JavaScript may be called "#build". Source: FlameGraph's
 * stackcollapse-*.pl, flamegraph.pl and difffolded.pl.
 *
 * Two columns or one is a fact of the file: a leaf may well be called
 * "thread 3", so it is differential only when every line reads that way.
 *
 * Most of a large file is repetition. A line whose stack was seen before costs
 * one hash of it; else what it shares with the new stack before it is taken
 * over frame by frame, and only the rest is interned:
 *
 *    last     main ; parse ; read          ends   4   10   15
 *    stacks   0      1       2
 *    line     main ; parse ; write;poll    shared ^ 11 bytes: starts at stack 1
 */

#include "flam-formats.h"

#include "flam-text.h"
#include "flam-weights-as.h"

#define PROGRESS_BYTES (1 << 20)
/* Decimal places of a weight that are kept. */
#define MAX_PLACES 6

typedef struct
{
  const char *stack; /* the text before the weights */
  gsize length;
  gint64 weight[2]; /* [0] the weight (now), [1] before; times 10^places */
  guint places;
} Line;

typedef struct
{
  FlamId stack;
  gint64 weight[2];
} Entry;

typedef struct
{
  FlamBuilder *builder;
  guint n_columns;
  FlamPieces stacks;
  FlamPieces frames;
  FlamColumn entries;     /* Entry, a row of `stacks` each */
  FlamColumn last_ends;   /* guint32: offset behind each frame of `last` */
  FlamColumn last_stacks; /* FlamId */
  const char *last;
  gsize last_length;
  guint places;
  guint64 bad;
  guint64 first_bad;
  guint64 good;
} Folded;

static const gint64 powers[MAX_PLACES + 1] = { 1,     10,     100,    1000,
                                               10000, 100000, 1000000 };

/* Takes the number off the end of [start, *end), and the space before it.
 * FALSE, and nothing taken: there is none. */
static gboolean
take_number (const char *start, const char **end, gint64 *value, guint *places)
{
  const char *stop = *end;
  const char *p;
  const char *dot = NULL;
  const char *at;
  gint64 n;

  while (stop > start && flam_text_is_space (stop[-1]))
    stop--;
  for (p = stop; p > start; p--)
    if (p[-1] == '.' && dot == NULL)
      dot = p - 1;
    else if (!flam_text_is_digit (p[-1]))
      break;
  if (p == stop || p == dot || p == start || !flam_text_is_space (p[-1]))
    return FALSE;
  at = p;
  if (!flam_text_number (&at, dot != NULL ? dot : stop, &n))
    return FALSE;
  *places = 0;
  if (dot != NULL)
    for (at = dot + 1; at < stop && *places < MAX_PLACES; at++, ++*places)
      if (__builtin_mul_overflow (n, 10, &n) ||
          __builtin_add_overflow (n, *at - '0', &n))
        return FALSE;
  *value = n;
  for (stop = p; stop > start && flam_text_is_space (stop[-1]);)
    stop--;
  *end = stop;
  return TRUE;
}

static gboolean
parse_line (const char *text, gsize length, guint n_columns, Line *line)
{
  const char *end = text + length;
  guint places[2] = { 0, 0 };

  line->weight[1] = 0;
  if (!take_number (text, &end, &line->weight[0], &places[0]))
    return FALSE;
  if (n_columns == 2 && !take_number (text, &end, &line->weight[1], &places[1]))
    return FALSE;
  while (end > text && end[-1] == ';')
    end--;
  line->stack = text;
  line->length = end - text;
  line->places = MAX (places[0], places[1]);
  for (guint i = 0; i < n_columns; i++)
    if (__builtin_mul_overflow (line->weight[i],
                                powers[line->places - places[i]],
                                &line->weight[i]))
      return FALSE;
  return TRUE;
}

static gboolean
is_skipped (const char *text, gsize length)
{
  return length == 0 ||
         (*text == '#' &&
          (length == 1 || g_ascii_isspace (text[1]) || text[1] == '!'));
}

/* --- probe --------------------------------------------------------------- */

static guint
probe (const FlamSource *source)
{
  FlamText head = flam_text_head (source);
  const char *text;
  gsize length;
  Line line;
  guint good = 0, bad = 0, deep = 0;

  if (!flam_text_is_text (&head))
    return 0;
  while (flam_text_next (&head, &text, &length))
    {
      if (is_skipped (text, length))
        continue;
      if (!parse_line (text, length, 1, &line) || line.length > G_MAXUINT32)
        {
          if (good == 0 && bad > 0)
            return 0;
          bad++;
          continue;
        }
      good++;
      if (memchr (line.stack, ';', line.length) != NULL)
        deep++;
    }
  if (good == 0 || bad * 10 > good)
    return 0;
  return deep * 2 >= good ? 50 : deep > 0 ? 30 : 10;
}

/* --- load ---------------------------------------------------------------- */

static guint
count_columns (const FlamSource *source)
{
  FlamText all;
  const char *text;
  gsize length;
  Line line;
  gboolean any = FALSE;

  flam_text_init (&all, source);
  while (flam_text_next (&all, &text, &length))
    if (!is_skipped (text, length) && parse_line (text, length, 1, &line))
      {
        if (!parse_line (text, length, 2, &line))
          return 1;
        any = TRUE;
      }
  return any ? 2 : 1;
}

static gsize
take_annotation (const char *name, gsize length, FlamFunction *function)
{
  if (length < 4 || name[length - 4] != '_' || name[length - 3] != '[' ||
      name[length - 1] != ']')
    return length;
  switch (name[length - 2])
    {
    case 'k':
      function->kind = FLAM_KIND_KERNEL;
      break;
    case 'j':
    case '1':
      function->kind = FLAM_KIND_JIT;
      break;
    case '0':
      function->kind = FLAM_KIND_INTERPRETED;
      break;
    case 'w':
      function->kind = FLAM_KIND_WAKER;
      break;
    case 'i':
      function->flags = FLAM_FUNCTION_INLINED;
      break;
    default:
      return length;
    }
  return length - 4;
}

static FlamId
make_frame (Folded *folded, const char *name, gsize length)
{
  FlamFunction function = { .module = FLAM_NONE, .kind = FLAM_KIND_NATIVE };

  length = take_annotation (name, length, &function);
  if (length == 0) /* "main;;read": there was a frame */
    {
      name = "[unknown]";
      length = strlen (name);
    }
  if (length == strlen ("[unknown]") && memcmp (name, "[unknown]", length) == 0)
    function.kind = FLAM_KIND_UNRESOLVED;
  function.name = flam_builder_string (folded->builder, name, length);
  return flam_builder_frame (folded->builder,
                             flam_builder_function (folded->builder, &function),
                             0,
                             0,
                             0);
}

static FlamId
find_frame (Folded *folded, const char *name, gsize length)
{
  gboolean is_new;
  FlamId row =
      flam_pieces_find (&folded->frames, name, length, FLAM_NONE, &is_new);

  if (is_new)
    *flam_pieces_value (&folded->frames, row) =
        make_frame (folded, name, length);
  return *flam_pieces_value (&folded->frames, row);
}

static gsize
common_length (const char *a, const char *b, gsize length)
{
  gsize i = 0;
  guint64 x, y;

  for (; i + 8 <= length; i += 8)
    {
      memcpy (&x, a + i, 8);
      memcpy (&y, b + i, 8);
      if (x != y)
        break;
    }
  while (i < length && a[i] == b[i])
    i++;
  return i;
}

/* Drops from `last` the frames that the new stack does not begin with;
 * returns where the first frame of its own starts. */
static gsize
keep_shared (Folded *folded, const char *stack, gsize length)
{
  gsize shared =
      common_length (folded->last, stack, MIN (folded->last_length, length));
  gsize n = folded->last_ends.n;

  while (n > 0 && flam_column_at (&folded->last_ends, guint32, n - 1) >= shared)
    n--;
  folded->last_ends.n = n;
  folded->last_stacks.n = n;
  folded->last = stack;
  folded->last_length = length;
  return n > 0 ? flam_column_at (&folded->last_ends, guint32, n - 1) + 1 : 0;
}

static FlamId
make_stack (Folded *folded, const char *text, gsize length)
{
  gsize at = keep_shared (folded, text, length);
  gsize n = folded->last_stacks.n;
  FlamId stack =
      n > 0 ? flam_column_at (&folded->last_stacks, FlamId, n - 1) : FLAM_NONE;

  while (at < length)
    {
      const char *stop = memchr (text + at, ';', length - at);
      gsize end = stop != NULL ? (gsize)(stop - text) : length;
      FlamId frame = find_frame (folded, text + at, end - at);
      stack = flam_builder_stack (folded->builder, stack, frame);
      flam_column_append (&folded->last_ends, guint32, end);
      flam_column_append (&folded->last_stacks, FlamId, stack);
      at = end + 1;
    }
  return stack;
}

static gboolean
raise_places (Folded *folded, guint places)
{
  gint64 factor = powers[places - folded->places];
  Entry *entries = folded->entries.data;

  for (gsize i = 0; i < folded->entries.n; i++)
    for (guint c = 0; c < 2; c++)
      if (__builtin_mul_overflow (
              entries[i].weight[c], factor, &entries[i].weight[c]))
        return FALSE;
  folded->places = places;
  return TRUE;
}

static gboolean
add_line (Folded *folded, const Line *line)
{
  gboolean is_new;
  FlamId row = flam_pieces_find (
      &folded->stacks, line->stack, line->length, FLAM_NONE, &is_new);
  Entry *entry;

  if (is_new)
    {
      FlamId stack = make_stack (folded, line->stack, line->length);
      Entry fresh = { .stack = stack };
      flam_column_append (&folded->entries, Entry, fresh);
    }
  if (line->places > folded->places && !raise_places (folded, line->places))
    return FALSE;
  entry = &flam_column_at (&folded->entries, Entry, row);
  for (guint c = 0; c < folded->n_columns; c++)
    {
      gint64 weight;
      if (__builtin_mul_overflow (line->weight[c],
                                  powers[folded->places - line->places],
                                  &weight) ||
          __builtin_add_overflow (entry->weight[c], weight, &entry->weight[c]))
        return FALSE;
    }
  return TRUE;
}

static void
bad_line (Folded *folded, guint64 number)
{
  if (folded->bad++ == 0)
    folded->first_bad = number;
}

static gboolean
read_lines (Folded *folded,
            const FlamSource *source,
            const FlamProgress *progress,
            GError **error)
{
  FlamText all;
  const char *text;
  const char *next_step;
  gsize length;
  Line line;

  flam_text_init (&all, source);
  next_step = all.at;
  while (flam_text_next (&all, &text, &length))
    {
      if (all.at >= next_step)
        {
          next_step = all.at + PROGRESS_BYTES;
          if (!flam_progress_step (progress, flam_text_fraction (&all), error))
            return FALSE;
        }
      if (is_skipped (text, length) ||
          (flam_text_is_cut (&all) && flam_source_is_truncated (source)))
        continue;
      if (!parse_line (text, length, folded->n_columns, &line) ||
          line.length > G_MAXUINT32)
        bad_line (folded, all.line);
      else if (add_line (folded, &line))
        folded->good++;
      else
        {
          flam_source_error (source,
                             error,
                             FLAM_ERROR_INVALID,
                             FLAM_NO_OFFSET,
                             "the weights add up to more than a number holds "
                             "(at line %" G_GUINT64_FORMAT ")",
                             all.line);
          return FALSE;
        }
    }
  return TRUE;
}

/* --- into the builder ---------------------------------------------------- */

static void
scale_weights (Folded *folded, FlamWeightsAs as)
{
  Entry *entries = folded->entries.data;

  for (gsize i = 0; i < folded->entries.n; i++)
    for (guint k = 0; k < 2; k++)
      entries[i].weight[k] = flam_weights_as_scale (as, entries[i].weight[k]);
}

static void
add_measures (Folded *folded, FlamWeightsAs as)
{
  for (guint i = 0; i < folded->n_columns; i++)
    flam_builder_set_denominator (
        folded->builder,
        flam_weights_as_add_measure (as,
                                     folded->builder,
                                     i > 0 ? FLAM_WEIGHTS_BEFORE
                                           : FLAM_WEIGHTS_NOW),
        powers[folded->places]);
}

static void
add_samples (Folded *folded)
{
  const Entry *entries = folded->entries.data;
  FlamSample sample = { 0 };

  sample.thread = flam_builder_thread (
      folded->builder, flam_builder_process (folded->builder, -1, 0), -1, 0);
  for (gsize i = 0; i < folded->entries.n; i++)
    {
      sample.stack = entries[i].stack;
      flam_builder_add_sample (folded->builder, &sample, entries[i].weight);
    }
}

static gboolean
check (const Folded *folded, const FlamSource *source, GError **error)
{
  if (folded->good == 0)
    {
      flam_source_error (source,
                         error,
                         FLAM_ERROR_INVALID,
                         FLAM_NO_OFFSET,
                         "no line holds a stack and its weight");
      return FALSE;
    }
  if (folded->bad > 0)
    flam_builder_warn (folded->builder,
                       "%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                       " lines hold no stack and weight and were left out; "
                       "the first is line %" G_GUINT64_FORMAT,
                       folded->bad,
                       folded->bad + folded->good,
                       folded->first_bad);
  return TRUE;
}

static gboolean
load (const FlamSource *source,
      FlamBuilder *builder,
      const FlamLoadOptions *options,
      GError **error)
{
  Folded folded = { .builder = builder, .last = "" };
  gboolean ok;

  folded.n_columns = count_columns (source);
  flam_pieces_init (&folded.stacks);
  flam_pieces_init (&folded.frames);
  flam_column_init (&folded.entries, sizeof (Entry));
  flam_column_init (&folded.last_ends, sizeof (guint32));
  flam_column_init (&folded.last_stacks, sizeof (FlamId));
  ok = read_lines (&folded, source, options->progress, error) &&
       check (&folded, source, error);
  flam_pieces_clear (&folded.stacks);
  flam_pieces_clear (&folded.frames);
  if (ok)
    {
      FlamWeightsAs as = flam_weights_as_of (source, options);

      scale_weights (&folded, as);
      add_measures (&folded, as);
      add_samples (&folded);
    }
  flam_column_clear (&folded.entries);
  flam_column_clear (&folded.last_ends);
  flam_column_clear (&folded.last_stacks);
  return ok;
}

static const char *const suffixes[] = { ".folded", ".collapsed", NULL };
static const char *const mime_types[] = { "text/plain", NULL };

const FlamImporter flam_import_folded = {
  .id = "folded",
  .label = "Folded stacks",
  .suffixes = suffixes,
  .mime_types = mime_types,
  .probe = probe,
  .load = load,
  .streams = TRUE,
};
