/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-formats.h"
#include "flam-otlp-who.h"
#include "flam-pprof.h"

#include <string.h>

/* Profiles of OpenTelemetry (OTLP), as its eBPF profiler, async-profiler and
 * the Collector's exporters write them: Protocol Buffers or JSON, one message
 * or many. flam-otlp.h has the layout.
 *
 * The file is read twice: first the measures, then the samples. A profile has
 * one type of values (up to 1.7: several); profiles of the same type are one
 * measure. The eBPF profiler counts samples and records the length of a period:
 * together they give CPU time, as in pprof, unless the file contains that, too.
 * flam-otlp-who.h determines the processes and threads. */

#define MAX_TYPES FLAM_PPROF_MAX_TYPES

typedef struct
{
  char *name, *unit;
  FlamUnit as;
  gint64 scale;
  gboolean derived;
  guint column;
} Type;

typedef struct
{
  FlamBuilder *builder;
  FlamOtlp otlp;
  FlamOtlpWho who;
  const FlamOtlpNumbers *numbers;
  GArray *types; /* Type */

  /* of the profile */
  GArray *locations;        /* guint64: the samples' stacks are slices */
  guint columns[MAX_TYPES]; /* the column of each value */
  gint64 scales[MAX_TYPES]; /* and its unit */
  guint n_columns;
  guint derived; /* column, or FLAM_NONE */
  gint64 period; /* of the derived one */
  gint64 time;

  GArray *values, *times; /* scratch: guint64 */
  gboolean has_times;
  gint64 start, end; /* ns since 1970; start G_MAXINT64: unknown */
  guint64 beyond, bad, samples;
} Reader;

static void
clear_type (Type *type)
{
  g_free (type->name);
  g_free (type->unit);
}

/* --- measures ------------------------------------------------------------- */

/* The row of a type; FLAM_NONE: there are too many. */
static guint
find_type (Reader *reader, FlamProto message, gboolean derived)
{
  guint64 said[3] = { 0 };
  Type type = { .derived = derived };

  flam_proto_read (message, said, G_N_ELEMENTS (said));
  type.name = flam_otlp_text (&reader->otlp, said[1]);
  type.unit = flam_otlp_text (&reader->otlp, said[2]);
  for (guint i = 0; i < reader->types->len; i++)
    {
      Type *known = &g_array_index (reader->types, Type, i);
      if (strcmp (known->name, type.name) == 0 &&
          strcmp (known->unit, type.unit) == 0)
        {
          known->derived &= derived;
          clear_type (&type);
          return i;
        }
    }
  if (reader->types->len >= MAX_TYPES)
    {
      clear_type (&type);
      return FLAM_NONE;
    }
  type.as = flam_pprof_unit (type.unit, &type.scale);
  g_array_append_val (reader->types, type);
  return reader->types->len - 1;
}

typedef struct
{
  FlamProto types[MAX_TYPES];
  guint n;
  FlamProto period_type;
  gint64 period;
  guint64 time, duration;
} Head;

/* All but the samples. */
static void
read_head (Reader *reader, FlamProto profile, Head *head)
{
  *head = (Head){ .n = 0 };
  g_array_set_size (reader->locations, 0);
  while (flam_proto_next (&profile))
    if (profile.number == 1 && profile.wire == 2)
      {
        if (head->n < MAX_TYPES)
          head->types[head->n++] = flam_proto_inner (&profile);
      }
    else if (profile.number == reader->numbers->profile.time)
      head->time = profile.value;
    else if (profile.number == reader->numbers->profile.duration)
      head->duration = profile.value;
    else if (profile.number == reader->numbers->profile.period_type)
      head->period_type = flam_proto_inner (&profile);
    else if (profile.number == reader->numbers->profile.period)
      head->period = (gint64)profile.value;
    else if (profile.number == reader->numbers->profile.locations)
      flam_proto_numbers (&profile, reader->locations);
  if (head->n == 0)
    head->types[head->n++] = flam_proto_init ((const guint8 *)"", 0);
}

/* The type of the time that the counted samples of a profile represent. */
static guint
find_period (Reader *reader, const Head *head)
{
  guint64 said[3] = { 0 };
  g_autofree char *unit = NULL;
  gint64 scale;
  guint type;

  flam_proto_read (head->period_type, said, G_N_ELEMENTS (said));
  unit = flam_otlp_text (&reader->otlp, said[2]);
  if (head->n != 1 || head->period <= 0 ||
      flam_pprof_unit (unit, &scale) != FLAM_UNIT_NS)
    return FLAM_NONE;
  type = find_type (reader, head->types[0], FALSE);
  if (type == FLAM_NONE ||
      g_array_index (reader->types, Type, type).as != FLAM_UNIT_COUNT)
    return FLAM_NONE;
  return find_type (reader, head->period_type, TRUE);
}

static void
note_time (Reader *reader, guint64 time, guint64 duration)
{
  guint64 end;

  if (time == 0 || time > G_MAXINT64)
    return;
  reader->start = MIN (reader->start, (gint64)time);
  if (!__builtin_add_overflow (time, duration, &end) && end <= G_MAXINT64)
    reader->end = MAX (reader->end, (gint64)end);
}

static void
look_at_profile (Reader *reader, FlamProto profile)
{
  Head head;

  read_head (reader, profile, &head);
  for (guint i = 0; i < head.n; i++)
    find_type (reader, head.types[i], FALSE);
  find_period (reader, &head);
  note_time (reader, head.time, head.duration);
  while (flam_proto_next (&profile))
    if (profile.number == 2)
      {
        FlamProto sample = flam_proto_inner (&profile);

        g_array_set_size (reader->times, 0);
        while (flam_proto_next (&sample))
          if (sample.number == reader->numbers->sample.times)
            flam_otlp_times (reader->numbers, &sample, reader->times);
        reader->has_times |= reader->times->len > 0;
        for (guint i = 0; i < reader->times->len; i++)
          note_time (reader, g_array_index (reader->times, guint64, i), 0);
      }
}

static void
add_measure (Reader *reader, Type *type)
{
  g_autofree char *id = g_strdup (*type->name != '\0' ? type->name : "value");

  for (guint i = 0; i < reader->types->len; i++)
    {
      const Type *other = &g_array_index (reader->types, Type, i);
      if (other != type && strcmp (other->name, type->name) == 0 &&
          *type->unit != '\0')
        {
          g_free (id);
          id = g_strdup_printf ("%s-%s", type->name, type->unit);
          break;
        }
    }
  flam_builder_add_measure (reader->builder,
                            id,
                            *type->name != '\0' ? type->name : "value",
                            type->as,
                            flam_pprof_is_memory (type->name, type->as)
                                ? FLAM_MEASURE_ALLOC
                                : FLAM_MEASURE_CPU,
                            (int)type->column,
                            FLAM_NONE);
}

/* Times that counts represent come first, then the file's order. */
static void
add_measures (Reader *reader)
{
  for (guint i = 0; i < reader->types->len; i++)
    g_array_index (reader->types, Type, i).column =
        flam_builder_add_column (reader->builder);
  for (guint derived = 2; derived-- > 0;)
    for (guint i = 0; i < reader->types->len; i++)
      {
        Type *type = &g_array_index (reader->types, Type, i);

        if (type->derived == (gboolean)derived)
          add_measure (reader, type);
      }
}

/* --- samples -------------------------------------------------------------- */

/* The weight of a column's value. */
static void
weigh (Reader *reader, guint i, gint64 value, gint64 *weights)
{
  gint64 weight;

  if (reader->columns[i] == FLAM_NONE)
    return;
  if (value < 0)
    reader->bad++;
  else if (__builtin_mul_overflow (value, reader->scales[i], &weight))
    reader->beyond++;
  else
    weights[reader->columns[i]] = weight;
  if (reader->derived == FLAM_NONE || value <= 0)
    return;
  if (__builtin_mul_overflow (value, reader->period, &weight))
    reader->beyond++;
  else
    weights[reader->derived] = weight;
}

static gint64
sum_of (Reader *reader, const GArray *values)
{
  gint64 sum = 0;

  for (guint i = 0; i < values->len; i++)
    if (__builtin_add_overflow (
            sum, (gint64)g_array_index (values, guint64, i), &sum))
      {
        reader->beyond++;
        return 0;
      }
  return sum;
}

/* The share of one of `n` times in a value of all of them. */
static gint64
share (gint64 value, guint i, guint n)
{
  return value / n + (i == 0 ? value % n : 0);
}

static gint64
time_of (const Reader *reader, guint i)
{
  guint64 time = g_array_index (reader->times, guint64, i);

  return time <= G_MAXINT64 ? (gint64)time : reader->time;
}

/* A profile of one type has a value for each time, or none if all are 1; one of
 * several types has one for each. */
static void
add_samples (Reader *reader, FlamSample *sample)
{
  guint n = MAX (reader->times->len, 1);
  gboolean each = reader->n_columns == 1 && reader->values->len == n;
  gint64 sum = reader->values->len == 0 && reader->times->len > 0
                   ? (gint64)n
                   : sum_of (reader, reader->values);

  for (guint i = 0; i < n; i++)
    {
      gint64 weights[MAX_TYPES] = { 0 };

      if (reader->n_columns == 1)
        weigh (reader,
               0,
               each ? (gint64)g_array_index (reader->values, guint64, i)
                    : share (sum, i, n),
               weights);
      else
        for (guint k = 0; k < MIN (reader->values->len, reader->n_columns); k++)
          weigh (
              reader,
              k,
              share ((gint64)g_array_index (reader->values, guint64, k), i, n),
              weights);
      sample->time =
          reader->times->len > 0 ? time_of (reader, i) : reader->time;
      flam_builder_add_sample (reader->builder, sample, weights);
      reader->samples++;
    }
}

static void
read_sample (Reader *reader, FlamProto message)
{
  const FlamOtlpNumbers *numbers = reader->numbers;
  guint64 stack = 0, first = 0, n = 0;
  FlamSample sample = { 0 };

  g_array_set_size (reader->values, 0);
  g_array_set_size (reader->times, 0);
  flam_otlp_who_begin (&reader->who);
  while (flam_proto_next (&message))
    if (message.number == numbers->sample.values)
      flam_proto_numbers (&message, reader->values);
    else if (message.number == numbers->sample.times)
      flam_otlp_times (numbers, &message, reader->times);
    else if (message.number == numbers->sample.attributes)
      flam_otlp_who_attributes (&reader->who, &message);
    else if (message.number == numbers->sample.link)
      reader->who.link = message.value;
    else if (message.number == numbers->sample.stack)
      stack = message.value;
    else if (message.number == numbers->sample.first)
      first = message.value;
    else if (message.number == numbers->sample.n)
      n = message.value;
  if (n > 0)
    sample.stack =
        flam_otlp_stack_of (&reader->otlp, reader->locations, first, n);
  else if (numbers->sample.stack != 0)
    sample.stack = flam_otlp_stack (&reader->otlp, stack);
  else
    sample.stack = FLAM_NONE;
  flam_otlp_who (&reader->who, &sample);
  add_samples (reader, &sample);
}

static gboolean
read_profile (Reader *reader, FlamProto profile, GError **error)
{
  Head head;
  guint period;
  guint n = 0;

  read_head (reader, profile, &head);
  reader->n_columns = head.n;
  for (guint i = 0; i < head.n; i++)
    {
      guint type = find_type (reader, head.types[i], FALSE);
      const Type *row =
          type != FLAM_NONE ? &g_array_index (reader->types, Type, type) : NULL;

      reader->columns[i] = row != NULL ? row->column : FLAM_NONE;
      reader->scales[i] = row != NULL ? row->scale : 1;
    }
  period = find_period (reader, &head);
  reader->derived = FLAM_NONE;
  reader->period = 0;
  if (period != FLAM_NONE &&
      g_array_index (reader->types, Type, period).derived)
    {
      const Type *row = &g_array_index (reader->types, Type, period);

      if (__builtin_mul_overflow (head.period, row->scale, &reader->period))
        reader->beyond++;
      else
        reader->derived = row->column;
    }
  reader->time = head.time > 0 && head.time <= G_MAXINT64 ? (gint64)head.time
                 : reader->start < G_MAXINT64             ? reader->start
                                                          : 0;
  while (flam_proto_next (&profile))
    if (profile.number == 2)
      {
        read_sample (reader, flam_proto_inner (&profile));
        if (++n % 1024 == 0 && !flam_load_step (reader->otlp.load, NULL, error))
          return FALSE;
      }
  return TRUE;
}

/* --- documents ------------------------------------------------------------ */

typedef enum
{
  MEASURES,
  SAMPLES,
} Pass;

static gboolean
read_resource (Reader *reader, FlamProto resource, Pass pass, GError **error)
{
  if (pass == SAMPLES)
    flam_otlp_who_resource (&reader->who, flam_proto_message_in (resource, 1));
  while (flam_proto_next (&resource))
    if (resource.number == 2)
      {
        FlamProto scope = flam_proto_inner (&resource);

        while (flam_proto_next (&scope))
          if (scope.number != 2)
            continue;
          else if (pass == MEASURES)
            look_at_profile (reader, flam_proto_inner (&scope));
          else if (!read_profile (reader, flam_proto_inner (&scope), error))
            return FALSE;
      }
  return TRUE;
}

static gboolean
read_documents (Reader *reader,
                const GArray *documents,
                Pass pass,
                GError **error)
{
  for (guint i = 0; i < documents->len; i++)
    {
      const FlamOtlpDocument *row =
          &g_array_index (documents, FlamOtlpDocument, i);
      FlamProto proto = flam_proto_init (row->data.bytes, row->data.length);

      reader->numbers = row->numbers;
      flam_otlp_read_tables (&reader->otlp, row);
      if (pass == SAMPLES)
        flam_otlp_make_frames (&reader->otlp);
      while (flam_proto_next (&proto))
        if (proto.number == 1 &&
            !read_resource (reader, flam_proto_inner (&proto), pass, error))
          return FALSE;
    }
  return TRUE;
}

static void
set_times (Reader *reader)
{
  FlamFacts *facts = flam_builder_facts (reader->builder);

  if (reader->has_times)
    flam_builder_set_has_times (reader->builder);
  if (reader->start == G_MAXINT64)
    return;
  facts->start_unix_ns = reader->start;
  if (reader->end > reader->start)
    facts->duration_ns = reader->end - reader->start;
  if (reader->has_times)
    flam_builder_set_origin (reader->builder, reader->start);
}

static void
warn (Reader *reader)
{
  flam_builder_warn_count (reader->builder,
                           reader->beyond,
                           "%" PRIu64 " value is too large and was left out",
                           "%" PRIu64
                           " values are too large and were left out");
  flam_builder_warn_count (reader->builder,
                           reader->bad,
                           "%" PRIu64 " damaged record was left out",
                           "%" PRIu64 " damaged records were left out");
  flam_builder_warn_count (
      reader->builder,
      reader->otlp.unknown,
      "%" PRIu64
      " frame refers to a location that is not in the file and was left out",
      "%" PRIu64
      " frames refer to locations that are not in the file and were left out");
}

static gboolean
load (FlamLoad *load, GError **error)
{
  Reader *reader = flam_arena_new (load, Reader);
  GArray *documents = flam_arena_array (load, FlamOtlpDocument);

  reader->builder = load->builder;
  reader->types = flam_arena_array (load, Type);
  g_array_set_clear_func (reader->types, (GDestroyNotify)clear_type);
  reader->locations = flam_arena_array (load, guint64);
  reader->values = flam_arena_array (load, guint64);
  reader->times = flam_arena_array (load, guint64);
  reader->start = G_MAXINT64;
  flam_otlp_init (&reader->otlp, load);
  flam_otlp_who_init (&reader->who, &reader->otlp);
  if (!flam_otlp_documents (load, documents, error) ||
      !read_documents (reader, documents, MEASURES, error))
    return FALSE;
  if (reader->types->len == 0)
    return flam_source_invalid (
        load->source,
        error,
        N_ ("the profile does not state what it measures"));
  add_measures (reader);
  set_times (reader);
  if (!read_documents (reader, documents, SAMPLES, error))
    return FALSE;
  warn (reader);
  return TRUE;
}

/* --- probe ---------------------------------------------------------------- */

#define MAX_PROBED ((gsize)64 << 20)
#define MAX_PROBED_FIELDS 200000

/* The next message of that number, as far as the data contains it. */
static gboolean
next_message (FlamProto *parent, guint64 number, FlamProto *message)
{
  guint64 tag, length;

  while (parent->at < parent->end && flam_proto_varint (parent, &tag) &&
         (tag & 7) == 2 && tag >> 3 <= 8 && flam_proto_varint (parent, &length))
    {
      gsize size = MIN (length, (gsize)(parent->end - parent->at));

      *message = flam_proto_init (parent->at, size);
      parent->at += size;
      if (tag >> 3 == number)
        return TRUE;
    }
  return FALSE;
}

/* All its fields have a number of 1 to `last` and one of these wire types. */
static gboolean
has_only (FlamProto message, guint64 last, guint wires)
{
  while (flam_proto_next (&message))
    if (message.number < 1 || message.number > last ||
        (wires >> message.wire & 1) == 0)
      return FALSE;
  return !message.bad;
}

/* 1: a profile, -1: a span or a metric, by the first field that tells them
 * apart; 0 without one. */
static int
judge_profile (FlamProto profile, guint *fields)
{
  gboolean has_samples = FALSE;

  while (flam_proto_next (&profile) && ++*fields < MAX_PROBED_FIELDS)
    {
      FlamProto inner = flam_proto_inner (&profile);

      if (profile.number < 1 || (profile.number <= 2 && profile.wire != 2))
        return -1;
      if (profile.number == 1)
        return has_only (inner, 3, 1 << 0) ? 1 : -1;
      if (profile.number == 2)
        {
          if (!has_only (inner, 6, 1 << 0 | 1 << 2))
            return -1;
          has_samples = TRUE;
        }
    }
  return has_samples;
}

/* No magic number identifies OTLP, and spans and metrics are packed into
 * resources and scopes as profiles are. Only a profile has a sample type and
 * samples; fields may come in any order. */
static guint
probe (const FlamSource *source)
{
  FlamProto proto =
      flam_proto_init (source->data, MIN (source->size, MAX_PROBED));
  FlamProto resource, scope, profile;
  guint fields = 0;

  if (flam_otlp_is_json (source))
    return 0;
  if (source->size > 4 && *proto.at == 0)
    proto.at += 4;
  while (next_message (&proto, 1, &resource))
    while (next_message (&resource, 2, &scope))
      while (next_message (&scope, 2, &profile))
        {
          int is_profile = judge_profile (profile, &fields);

          if (is_profile != 0)
            return is_profile > 0 ? 75 : 0;
          if (++fields >= MAX_PROBED_FIELDS)
            return 0;
        }
  return 0;
}

const FlamImporter flam_import_otlp = {
  .id = "otlp",
  .label = "OpenTelemetry",
  .written_by = "OpenTelemetry's eBPF profiler and Collector",
  .suffixes = FLAM_LIST (".otlp", ".binpb", ".pb", ".json", ".jsonl"),
  .mime = { .type = "application/x-otlp-profiles",
            .name = "OpenTelemetry profiles",
            .globs = FLAM_LIST ("*.otlp") },
  .mime_types = FLAM_LIST ("application/json"),
  /* Protocol Buffers allow both spellings of names. */
  .signs = FLAM_SIGNS (FLAM_MEMBERS (85, "resourceProfiles[].scopeProfiles"),
                       FLAM_MEMBERS (85, "resource_profiles[].scope_profiles"),
                       FLAM_MEMBERS (85, "dictionary.stringTable"),
                       FLAM_MEMBERS (85, "dictionary.string_table")),
  .probe = probe,
  .load = load,
};
