/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-formats.h"
#include "flam-proto.h"
#include "flam-text.h"

#include <string.h>

/* pprof's profile.proto:
 *
 *    Profile    1 sample types, 2 samples, 3 mappings, 4 locations,
 *               5 functions, 6 strings (the first is ""), 7 drop and 8 keep
 *               frames (regexes), 9 time and 10 duration (ns), 11 period type,
 *               12 period, 13 comments, 14 default sample type
 *    ValueType  1 type, 2 unit                                  (strings)
 *    Sample     1 locations, leaf first, 2 values, 3 labels
 *    Label      1 key, 2 text, 3 number, 4 unit
 *    Mapping    1 id, 2 start, 3 limit, 4 file offset, 5 path, 6 build id
 *    Location   1 id, 2 mapping, 3 address, 4 lines, innermost first
 *    Line       1 function, 2 line
 *    Function   1 id, 2 name, 3 system name, 4 file, 5 first line
 *
 * Tables may come in any order, so the file is read twice: all but the samples,
 * then those. Each sample type is a measure. A set of text labels (Go's
 * pprof.Do) becomes a thread of that name, so that it can be picked.
 * Frames that match "drop" and what they call are cut off, as pprof does.
 * Source of facts: google/pprof, proto/profile.proto and profile/prune.go. */

#define MAX_TYPES 64
#define MAX_LABEL_SETS 4096

typedef struct
{
  guint64 id;
  guint64 start, limit, offset;
  FlamId module;
} Mapping;

typedef struct
{
  guint64 id;
  FlamFunction function;
  gboolean dropped;
} Function;

typedef struct
{
  guint64 id;
  guint first; /* of its chain in `frames`, caller first */
  guint n;
  gboolean prune, prune_beneath;
} Location;

typedef struct
{
  const guint8 *text;
  gsize length;
} Text;

typedef struct
{
  gint64 type, unit; /* strings */
  FlamUnit as;
  gint64 scale;
  guint column;
} Type;

typedef struct
{
  const FlamSource *source;
  FlamBuilder *builder;
  GArray *strings;       /* Text */
  GArray *types;         /* Type */
  GArray *mappings;      /* Mapping */
  GArray *functions;     /* Function */
  GArray *raw_locations; /* Text: messages, read when all tables are known */
  GArray *locations;     /* Location */
  GArray *frames;        /* FlamId */
  GHashTable *mapping_ids, *function_ids, *location_ids; /* id -> row + 1 */
  guint64 drop, keep, default_type;
  gint64 time, duration;
  GArray *ids, *values;   /* scratch: guint64 */
  FlamPieces stacks;      /* lists of ids, as the file has them -> stack */
  GHashTable *label_sets; /* text -> thread + 1 */
  FlamId process;
  FlamId thread; /* without labels */
  guint64 negative;
  guint64 unknown;
} Reader;

/* --- tables -------------------------------------------------------------- */

static Text
get_text (const Reader *reader, guint64 string)
{
  static const Text nothing = { (const guint8 *)"", 0 };

  return string < reader->strings->len
             ? g_array_index (reader->strings, Text, string)
             : nothing;
}

static FlamId
get_string (const Reader *reader, guint64 string)
{
  Text text = get_text (reader, string);

  return flam_builder_string (
      reader->builder, (const char *)text.text, text.length);
}

static char *
dup_text (const Reader *reader, guint64 string)
{
  Text text = get_text (reader, string);

  return text.text ? g_strndup ((const char *)text.text, text.length)
                   : g_strdup ("");
}

/* Files number their rows 1, 2, 3 nearly always. */
static void
insert_id (GHashTable *table, guint64 id, guint row)
{
  if (id != row + 1)
    g_hash_table_insert (
        table, g_memdup2 (&id, sizeof id), GUINT_TO_POINTER (row + 1));
}

#define find_row(table, rows, type, wanted)                                    \
  ((wanted)-1 < (rows)->len &&                                                 \
           g_array_index (rows, type, (wanted)-1).id == (wanted)               \
       ? (guint)((wanted)-1)                                                   \
       : GPOINTER_TO_UINT (g_hash_table_lookup (table, &(wanted))) - 1)

static void
read_type (Reader *reader, FlamProto message)
{
  Type type = { 0 };

  while (flam_proto_next (&message))
    if (message.number == 1)
      type.type = message.value;
    else if (message.number == 2)
      type.unit = message.value;
  if (reader->types->len < MAX_TYPES)
    g_array_append_val (reader->types, type);
}

static void
read_mapping (Reader *reader, FlamProto message)
{
  Mapping mapping = { .module = FLAM_NONE };
  guint64 path = 0, build_id = 0;

  while (flam_proto_next (&message))
    switch (message.number)
      {
      case 1:
        mapping.id = message.value;
        break;
      case 2:
        mapping.start = message.value;
        break;
      case 3:
        mapping.limit = message.value;
        break;
      case 4:
        mapping.offset = message.value;
        break;
      case 5:
        path = message.value;
        break;
      case 6:
        build_id = message.value;
        break;
      default:
        break;
      }
  /* the strings may come later: kept in the fields until then */
  mapping.module = path;
  mapping.limit = build_id;
  insert_id (reader->mapping_ids, mapping.id, reader->mappings->len);
  g_array_append_val (reader->mappings, mapping);
}

static void
read_function (Reader *reader, FlamProto message)
{
  Function function = { .function = { .module = FLAM_NONE } };

  while (flam_proto_next (&message))
    switch (message.number)
      {
      case 1:
        function.id = message.value;
        break;
      case 2:
        function.function.name = message.value;
        break;
      case 3:
        function.function.system_name = message.value;
        break;
      case 4:
        function.function.file = message.value;
        break;
      case 5:
        function.function.line = MIN (message.value, G_MAXINT32);
        break;
      default:
        break;
      }
  insert_id (reader->function_ids, function.id, reader->functions->len);
  g_array_append_val (reader->functions, function);
}

static gboolean
read_tables (Reader *reader, GError **error)
{
  FlamProto proto =
      flam_proto_init (reader->source->data, reader->source->size);

  while (flam_proto_next (&proto))
    {
      Text text = { proto.bytes, proto.wire == 2 ? proto.length : 0 };
      switch (proto.number)
        {
        case 1:
          read_type (reader, flam_proto_inner (&proto));
          break;
        case 3:
          read_mapping (reader, flam_proto_inner (&proto));
          break;
        case 4:
          g_array_append_val (reader->raw_locations, text);
          break;
        case 5:
          read_function (reader, flam_proto_inner (&proto));
          break;
        case 6:
          g_array_append_val (reader->strings, text);
          break;
        case 7:
          reader->drop = proto.value;
          break;
        case 8:
          reader->keep = proto.value;
          break;
        case 9:
          reader->time = proto.value;
          break;
        case 10:
          reader->duration = proto.value;
          break;
        case 14:
          reader->default_type = proto.value;
          break;
        default:
          break;
        }
    }
  if (proto.bad && reader->strings->len == 0)
    {
      flam_source_error (reader->source,
                         error,
                         FLAM_ERROR_INVALID,
                         FLAM_NO_OFFSET,
                         "not a profile of pprof");
      return FALSE;
    }
  if (proto.bad)
    {
      flam_builder_set_partial (reader->builder, 1);
      flam_builder_warn (reader->builder,
                         "the file ends in the middle of a message");
    }
  return TRUE;
}

/* --- names --------------------------------------------------------------- */

static void
resolve_mappings (Reader *reader)
{
  for (guint i = 0; i < reader->mappings->len; i++)
    {
      Mapping *mapping = &g_array_index (reader->mappings, Mapping, i);
      g_autofree char *path = dup_text (reader, mapping->module);
      g_autofree char *build_id = dup_text (reader, mapping->limit);
      gboolean kernel = g_str_has_prefix (path, "[kernel");

      mapping->module = FLAM_NONE;
      if (*path == '\0')
        continue;
      mapping->module = flam_builder_module (reader->builder,
                                             path,
                                             build_id,
                                             kernel ? FLAM_ADDRESS_ABSOLUTE
                                                    : FLAM_ADDRESS_FILE_OFFSET);
    }
}

static GRegex *
frames_regex (const Reader *reader, guint64 string)
{
  g_autofree char *text = dup_text (reader, string);
  g_autofree char *whole = g_strdup_printf ("^(?:%s)$", text);
  GRegex *regex =
      *text != '\0' ? g_regex_new (whole, G_REGEX_OPTIMIZE, 0, NULL) : NULL;

  if (*text != '\0' && regex == NULL)
    flam_builder_warn (reader->builder,
                       "the rule which frames to drop makes no sense: %s",
                       text);
  return regex;
}

static void
resolve_functions (Reader *reader)
{
  g_autoptr (GRegex) drop = frames_regex (reader, reader->drop);
  g_autoptr (GRegex) keep = frames_regex (reader, reader->keep);

  for (guint i = 0; i < reader->functions->len; i++)
    {
      Function *row = &g_array_index (reader->functions, Function, i);
      FlamFunction *function = &row->function;
      const char *name;

      function->name = get_string (reader, function->name);
      function->system_name = get_string (reader, function->system_name);
      function->file = get_string (reader, function->file);
      if (function->name == 0)
        function->name = function->system_name;
      name = flam_builder_get_string (reader->builder, function->name);
      row->dropped = drop != NULL && g_regex_match (drop, name, 0, NULL) &&
                     (keep == NULL || !g_regex_match (keep, name, 0, NULL));
    }
}

typedef struct
{
  guint row; /* of functions; FLAM_NONE */
  guint32 line;
} Line;

static FlamId
line_frame (Reader *reader,
            const Line *line,
            FlamId module,
            guint64 address,
            guint depth)
{
  FlamFunction function;
  FlamId id;

  if (line->row == FLAM_NONE)
    id = flam_builder_function_unresolved (reader->builder, module);
  else
    {
      function =
          g_array_index (reader->functions, Function, line->row).function;
      function.module = module;
      id = function.name != 0
               ? flam_builder_function (reader->builder, &function)
               : flam_builder_function_unresolved (reader->builder, module);
    }
  return flam_builder_frame (reader->builder, id, address, line->line, depth);
}

static void
read_location (Reader *reader, FlamProto message, GArray *lines)
{
  Location location = { .first = reader->frames->len };
  guint64 mapping_id = 0, address = 0, function = 0;
  FlamId module = FLAM_NONE;
  guint row, matched = FLAM_NONE;

  g_array_set_size (lines, 0);
  while (flam_proto_next (&message))
    if (message.number == 1)
      location.id = message.value;
    else if (message.number == 2)
      mapping_id = message.value;
    else if (message.number == 3)
      address = message.value;
    else if (message.number == 4)
      {
        FlamProto inner = flam_proto_inner (&message);
        Line line = { 0 };
        function = 0;
        while (flam_proto_next (&inner))
          if (inner.number == 1)
            function = inner.value;
          else if (inner.number == 2)
            line.line = MIN (inner.value, G_MAXINT32);
        line.row = find_row (
            reader->function_ids, reader->functions, Function, function);
        g_array_append_val (lines, line);
      }
  row = find_row (reader->mapping_ids, reader->mappings, Mapping, mapping_id);
  if (row != FLAM_NONE)
    {
      const Mapping *mapping = &g_array_index (reader->mappings, Mapping, row);
      module = mapping->module;
      address = address - mapping->start + mapping->offset;
    }
  if (module == FLAM_NONE && lines->len > 0)
    address = 0;
  for (guint i = 0; i < lines->len; i++)
    {
      const Line *line = &g_array_index (lines, Line, i);
      if (line->row != FLAM_NONE &&
          g_array_index (reader->functions, Function, line->row).dropped)
        matched = i;
    }
  /* lines are innermost first: those up to the match go */
  location.prune = matched != FLAM_NONE && matched + 1 == lines->len;
  location.prune_beneath = matched != FLAM_NONE;
  if (matched != FLAM_NONE && !location.prune)
    g_array_remove_range (lines, 0, matched + 1);
  if (lines->len == 0)
    {
      Line line = { .row = FLAM_NONE };
      g_array_append_val (lines, line);
    }
  for (guint i = lines->len; i-- > 0;)
    {
      FlamId frame = line_frame (reader,
                                 &g_array_index (lines, Line, i),
                                 module,
                                 address,
                                 lines->len - 1 - i);
      g_array_append_val (reader->frames, frame);
    }
  location.n = lines->len;
  insert_id (reader->location_ids, location.id, reader->locations->len);
  g_array_append_val (reader->locations, location);
}

/* Where frames have names, the file brought its own symbols. */
static void
mark_modules (Reader *reader)
{
  gboolean named = reader->functions->len > 0;

  for (guint i = 0; named && i < reader->mappings->len; i++)
    {
      FlamId module = g_array_index (reader->mappings, Mapping, i).module;
      if (module != FLAM_NONE)
        flam_builder_set_module_symbols (
            reader->builder, module, FLAM_SYMBOLS_CAPTURE, NULL);
    }
}

static void
resolve (Reader *reader)
{
  g_autoptr (GArray) lines = g_array_new (FALSE, FALSE, sizeof (Line));

  resolve_mappings (reader);
  resolve_functions (reader);
  for (guint i = 0; i < reader->raw_locations->len; i++)
    {
      Text raw = g_array_index (reader->raw_locations, Text, i);
      read_location (reader, flam_proto_init (raw.text, raw.length), lines);
    }
  mark_modules (reader);
}

/* --- measures ------------------------------------------------------------ */

static const struct
{
  const char *name;
  FlamUnit as;
  gint64 scale;
} units[] = {
  { "nanoseconds", FLAM_UNIT_NS, 1 },
  { "nanosecond", FLAM_UNIT_NS, 1 },
  { "ns", FLAM_UNIT_NS, 1 },
  { "microseconds", FLAM_UNIT_NS, 1000 },
  { "us", FLAM_UNIT_NS, 1000 },
  { "milliseconds", FLAM_UNIT_NS, 1000000 },
  { "ms", FLAM_UNIT_NS, 1000000 },
  { "seconds", FLAM_UNIT_NS, 1000000000 },
  { "s", FLAM_UNIT_NS, 1000000000 },
  { "bytes", FLAM_UNIT_BYTES, 1 },
  { "byte", FLAM_UNIT_BYTES, 1 },
  { "kilobytes", FLAM_UNIT_BYTES, 1024 },
  { "megabytes", FLAM_UNIT_BYTES, 1048576 },
};

static gboolean
is_memory (const char *type, FlamUnit unit)
{
  return unit == FLAM_UNIT_BYTES || strstr (type, "objects") != NULL ||
         g_str_has_prefix (type, "alloc") || g_str_has_prefix (type, "inuse");
}

static void
add_measure (Reader *reader, guint index)
{
  Type *type = &g_array_index (reader->types, Type, index);
  g_autofree char *name = dup_text (reader, type->type);
  g_autofree char *unit = dup_text (reader, type->unit);
  g_autofree char *id = NULL;

  type->as = FLAM_UNIT_COUNT;
  type->scale = 1;
  for (guint i = 0; i < G_N_ELEMENTS (units); i++)
    if (strcmp (units[i].name, unit) == 0)
      {
        type->as = units[i].as;
        type->scale = units[i].scale;
      }
  /* an id twice in a file has its unit added */
  for (guint i = 0; i < reader->types->len; i++)
    {
      g_autofree char *other =
          dup_text (reader, g_array_index (reader->types, Type, i).type);
      if (i != index && id == NULL && strcmp (other, name) == 0)
        id = g_strdup_printf ("%s-%s", name, unit);
    }
  flam_builder_add_measure (reader->builder,
                            id != NULL      ? id
                            : *name != '\0' ? name
                                            : "value",
                            *name != '\0' ? name : "value",
                            type->as,
                            is_memory (name, type->as) ? FLAM_MEASURE_ALLOC
                                                       : FLAM_MEASURE_CPU,
                            index,
                            FLAM_NONE);
}

/* The default comes first; without one named it is the last, as in pprof. */
static gboolean
add_measures (Reader *reader, GError **error)
{
  guint first = reader->types->len - 1;

  if (reader->types->len == 0)
    {
      flam_source_error (reader->source,
                         error,
                         FLAM_ERROR_INVALID,
                         FLAM_NO_OFFSET,
                         "the profile says not what it measures");
      return FALSE;
    }
  for (guint i = 0; i < reader->types->len; i++)
    {
      flam_builder_add_column (reader->builder);
      if (reader->default_type != 0 &&
          (guint64)g_array_index (reader->types, Type, i).type ==
              reader->default_type)
        first = i;
    }
  add_measure (reader, first);
  for (guint i = 0; i < reader->types->len; i++)
    if (i != first)
      add_measure (reader, i);
  return TRUE;
}

/* --- samples ------------------------------------------------------------- */

/* Locations [0, result) of the sample are cut off: see prune.go. */
static guint
pruned (const Reader *reader)
{
  gboolean found_user = FALSE;

  for (guint i = reader->ids->len; i-- > 0;)
    {
      guint64 id = g_array_index (reader->ids, guint64, i);
      guint row =
          find_row (reader->location_ids, reader->locations, Location, id);
      const Location *location;

      if (row == FLAM_NONE)
        continue;
      location = &g_array_index (reader->locations, Location, row);
      if (!location->prune && !location->prune_beneath)
        found_user = TRUE;
      else if (found_user)
        return location->prune ? i + 1 : i;
    }
  return 0;
}

static FlamId
sample_stack (Reader *reader)
{
  FlamId stack = FLAM_NONE;
  guint last = reader->drop != 0 ? pruned (reader) : 0;

  for (guint i = reader->ids->len; i-- > last;)
    {
      guint64 id = g_array_index (reader->ids, guint64, i);
      guint row =
          find_row (reader->location_ids, reader->locations, Location, id);
      const Location *location;

      if (row == FLAM_NONE)
        {
          reader->unknown++;
          continue;
        }
      location = &g_array_index (reader->locations, Location, row);
      for (guint k = 0; k < location->n; k++)
        stack = flam_builder_stack (
            reader->builder,
            stack,
            g_array_index (reader->frames, FlamId, location->first + k));
    }
  return stack;
}

/* Samples of one stack hold the same list of locations: it is gone through
 * once, if it is in one piece and nothing was wrong with it. */
static FlamId
known_stack (Reader *reader, const guint8 *list, gsize length)
{
  guint64 unknown = reader->unknown;
  gboolean is_new;
  FlamId row;
  FlamId stack;

  if (list == NULL || length > G_MAXUINT32)
    return sample_stack (reader);
  row = flam_pieces_find (
      &reader->stacks, (const char *)list, length, 0, &is_new);
  stack = *flam_pieces_value (&reader->stacks, row);
  if (stack != FLAM_NONE)
    return stack;
  stack = sample_stack (reader);
  if (reader->unknown == unknown)
    *flam_pieces_value (&reader->stacks, row) = stack;
  return stack;
}

static int
compare_words (gconstpointer a, gconstpointer b)
{
  return strcmp (*(char *const *)a, *(char *const *)b);
}

/* The thread that stands for these labels; takes `words`. */
static FlamId
label_thread (Reader *reader, GPtrArray *words)
{
  g_autofree char *name = NULL;
  FlamId thread;
  guint n = g_hash_table_size (reader->label_sets);

  if (words == NULL)
    return reader->thread;
  g_ptr_array_sort (words, compare_words);
  g_ptr_array_add (words, NULL);
  name = g_strjoinv (" ", (char **)words->pdata);
  thread =
      GPOINTER_TO_UINT (g_hash_table_lookup (reader->label_sets, name)) - 1;
  if (thread != FLAM_NONE)
    return thread;
  if (n >= MAX_LABEL_SETS)
    {
      flam_builder_warn (reader->builder,
                         "there are more than %u sets of labels; the others "
                         "are not told apart",
                         MAX_LABEL_SETS);
      return reader->thread;
    }
  thread = flam_builder_thread (reader->builder, reader->process, -1, n + 1);
  flam_builder_set_thread_name (reader->builder, thread, name);
  g_hash_table_insert (reader->label_sets,
                       g_steal_pointer (&name),
                       GUINT_TO_POINTER (thread + 1));
  return thread;
}

static void
read_label (Reader *reader, FlamProto message, GPtrArray **words)
{
  guint64 key = 0, text = 0;

  while (flam_proto_next (&message))
    if (message.number == 1)
      key = message.value;
    else if (message.number == 2)
      text = message.value;
  if (text == 0)
    return;
  if (*words == NULL)
    *words = g_ptr_array_new_with_free_func (g_free);
  {
    g_autofree char *name = dup_text (reader, key);
    g_autofree char *value = dup_text (reader, text);
    g_ptr_array_add (*words, g_strdup_printf ("%s=%s", name, value));
  }
}

static void
read_sample (Reader *reader, FlamProto message)
{
  gint64 weights[MAX_TYPES] = { 0 };
  FlamSample sample = { 0 };
  g_autoptr (GPtrArray) words = NULL;
  const guint8 *list = NULL;
  gsize length = 0;

  g_array_set_size (reader->ids, 0);
  g_array_set_size (reader->values, 0);
  while (flam_proto_next (&message))
    if (message.number == 1)
      {
        gboolean whole = message.wire == 2 && reader->ids->len == 0;

        list = whole ? message.bytes : NULL;
        length = whole ? message.length : 0;
        flam_proto_numbers (&message, reader->ids);
      }
    else if (message.number == 2)
      flam_proto_numbers (&message, reader->values);
    else if (message.number == 3)
      read_label (reader, flam_proto_inner (&message), &words);
  for (guint i = 0; i < MIN (reader->values->len, reader->types->len); i++)
    {
      gint64 value = g_array_index (reader->values, guint64, i);
      const Type *type = &g_array_index (reader->types, Type, i);
      if (value < 0 || __builtin_mul_overflow (value, type->scale, &weights[i]))
        {
          weights[i] = 0;
          reader->negative++;
        }
    }
  sample.stack = known_stack (reader, list, length);
  sample.thread = label_thread (reader, words);
  flam_builder_add_sample (reader->builder, &sample, weights);
}

static gboolean
read_samples (Reader *reader, const FlamProgress *progress, GError **error)
{
  FlamProto proto =
      flam_proto_init (reader->source->data, reader->source->size);
  guint n = 0;

  while (flam_proto_next (&proto))
    if (proto.number == 2)
      {
        read_sample (reader, flam_proto_inner (&proto));
        if (++n % 1024 == 0 &&
            !flam_progress_step (progress,
                                 (double)(proto.at - reader->source->data) /
                                     reader->source->size,
                                 error))
          return FALSE;
      }
  if (reader->negative > 0)
    flam_builder_warn (reader->builder,
                       "%" G_GUINT64_FORMAT " values are negative (the profile "
                       "is a difference of two) and count as nothing",
                       reader->negative);
  if (reader->unknown > 0)
    flam_builder_warn (reader->builder,
                       "%" G_GUINT64_FORMAT " frames name locations that are "
                       "not in the file and were left out",
                       reader->unknown);
  return TRUE;
}

/* --- the importer -------------------------------------------------------- */

static void
reader_init (Reader *reader)
{
  reader->strings = g_array_new (FALSE, FALSE, sizeof (Text));
  reader->types = g_array_new (FALSE, FALSE, sizeof (Type));
  reader->mappings = g_array_new (FALSE, FALSE, sizeof (Mapping));
  reader->functions = g_array_new (FALSE, FALSE, sizeof (Function));
  reader->raw_locations = g_array_new (FALSE, FALSE, sizeof (Text));
  reader->locations = g_array_new (FALSE, FALSE, sizeof (Location));
  reader->frames = g_array_new (FALSE, FALSE, sizeof (FlamId));
  flam_pieces_init (&reader->stacks);
  reader->ids = g_array_new (FALSE, FALSE, sizeof (guint64));
  reader->values = g_array_new (FALSE, FALSE, sizeof (guint64));
  reader->mapping_ids =
      g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  reader->function_ids =
      g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  reader->location_ids =
      g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  reader->label_sets =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  reader->process = flam_builder_process (reader->builder, -1, 0);
  reader->thread =
      flam_builder_thread (reader->builder, reader->process, -1, 0);
}

static void
reader_clear (Reader *reader)
{
  g_array_unref (reader->strings);
  g_array_unref (reader->types);
  g_array_unref (reader->mappings);
  g_array_unref (reader->functions);
  g_array_unref (reader->raw_locations);
  g_array_unref (reader->locations);
  g_array_unref (reader->frames);
  g_array_unref (reader->ids);
  g_array_unref (reader->values);
  g_hash_table_unref (reader->mapping_ids);
  g_hash_table_unref (reader->function_ids);
  g_hash_table_unref (reader->location_ids);
  flam_pieces_clear (&reader->stacks);
  g_hash_table_unref (reader->label_sets);
}

static gboolean
load (const FlamSource *source,
      FlamBuilder *builder,
      const FlamLoadOptions *options,
      GError **error)
{
  Reader reader = { .source = source, .builder = builder };
  gboolean good;

  reader_init (&reader);
  good = read_tables (&reader, error) && add_measures (&reader, error);
  if (good)
    {
      resolve (&reader);
      if (reader.time > 0)
        flam_builder_set_start (builder, reader.time);
      if (reader.duration > 0)
        flam_builder_set_duration (builder, reader.duration);
      good = read_samples (&reader, options->progress, error);
    }
  reader_clear (&reader);
  return good;
}

/* No magic: the first fields must be those of a profile, with sense in them. */
static guint
probe (const FlamSource *source)
{
  FlamProto proto = flam_proto_init (source->data, MIN (source->size, 65536));
  guint fields = 0, samples = 0;

  while (fields < 8 && flam_proto_next (&proto))
    {
      gboolean number =
          proto.number >= 7 && proto.number != 11 && proto.number != 13;
      if (proto.number < 1 || proto.number > 15 ||
          (!number && proto.wire != 2 && proto.number != 13))
        return 0;
      if (proto.number == 1)
        {
          FlamProto inner = flam_proto_inner (&proto);
          while (flam_proto_next (&inner))
            if (inner.wire != 0 || inner.number > 2)
              return 0;
          if (inner.bad)
            return 0;
        }
      samples += proto.number == 1 || proto.number == 2;
      fields++;
    }
  return fields >= 2 && samples > 0 ? 70 : 0;
}

static const char *const suffixes[] = { ".pb", ".pprof", ".prof", NULL };
static const char *const mime_types[] = { "application/x-pprof", NULL };

const FlamImporter flam_import_pprof = {
  .id = "pprof",
  .label = "pprof",
  .suffixes = suffixes,
  .mime_types = mime_types,
  .probe = probe,
  .load = load,
};
