/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-pprof.h"

#include "flam-core-profile.h"

#include <string.h>

typedef struct
{
  guint64 id;
  guint64 start, limit, offset;
  FlamModuleId module;
} Mapping;

typedef struct
{
  guint64 id;
  FlamFunction function;
  gboolean dropped;
} Function;

#define FRAMES_A_BYTE 16
#define LEAST_FRAMES (1 << 16)

guint64
flam_pprof_most_frames (gsize size)
{
  return MAX (LEAST_FRAMES, FRAMES_A_BYTE * (guint64)size);
}

gboolean
flam_pprof_take_frames (const FlamLoad *load, guint64 *left, guint n)
{
  if (n <= *left)
    {
      *left -= n;
      return TRUE;
    }
  flam_builder_warn (load->builder,
                     N_ ("the stacks repeat their frames so often that the "
                         "last ones were left out"));
  *left = 0;
  return FALSE;
}

void
flam_pprof_init (FlamPprof *file, FlamLoad *load)
{
  *file = (FlamPprof){
    .load = load,
    .builder = load->builder,
    .strings = flam_arena_array (load, FlamPprofText),
    .types = flam_arena_array (load, FlamPprofType),
    .mappings = flam_arena_array (load, Mapping),
    .functions = flam_arena_array (load, Function),
    .raw_locations = flam_arena_array (load, FlamPprofText),
    .locations = flam_arena_array (load, FlamPprofLocation),
    .frames = flam_arena_array (load, FlamId),
    .values = flam_arena_array (load, guint64),
    .mapping_ids = flam_arena_table (load, FLAM_KEY_NUMBER, NULL),
    .function_ids = flam_arena_table (load, FLAM_KEY_NUMBER, NULL),
    .location_ids = flam_arena_table (load, FLAM_KEY_NUMBER, NULL),
  };
}

/* --- tables -------------------------------------------------------------- */

static FlamPprofText
get_text (const FlamPprof *file, guint64 string)
{
  static const FlamPprofText nothing = { (const guint8 *)"", 0 };

  return string < file->strings->len
             ? g_array_index (file->strings, FlamPprofText, string)
             : nothing;
}

static FlamStringId
get_string (const FlamPprof *file, guint64 string)
{
  FlamPprofText text = get_text (file, string);

  return flam_builder_string (
      file->builder, (const char *)text.text, text.length);
}

char *
flam_pprof_text (const FlamPprof *file, guint64 string)
{
  FlamPprofText text = get_text (file, string);

  return text.text ? g_strndup ((const char *)text.text, text.length)
                   : g_strdup ("");
}

static void
insert_id (GHashTable *table, guint64 id, guint row)
{
  if (id != row + 1)
    g_hash_table_insert (
        table, g_memdup2 (&id, sizeof id), GUINT_TO_POINTER (row + 1));
}

static void
read_type (FlamPprof *file, FlamProto message)
{
  guint64 said[3] = { 0 }; /* 1 type, 2 unit */
  FlamPprofType type = { 0 };

  flam_proto_read (message, said, G_N_ELEMENTS (said));
  type.type = said[1];
  type.unit = said[2];
  if (file->types->len < FLAM_PPROF_MAX_TYPES)
    g_array_append_val (file->types, type);
}

/* 1 id, 2 to 4 its addresses, 5 path, 6 build id. The strings may come later:
 * they are kept in other fields until then. */
static void
read_mapping (FlamPprof *file, FlamProto message)
{
  guint64 said[7] = { 0 };
  Mapping mapping;

  flam_proto_read (message, said, G_N_ELEMENTS (said));
  mapping = (Mapping){ .id = said[1],
                       .start = said[2],
                       .limit = said[6],
                       .offset = said[4],
                       .module = said[5] };
  insert_id (file->mapping_ids, mapping.id, file->mappings->len);
  g_array_append_val (file->mappings, mapping);
}

/* 1 id, 2 name, 3 the mangled name, 4 file, 5 line; strings are given by
 * number. */
static void
read_function (FlamPprof *file, FlamProto message)
{
  guint64 said[6] = { 0 };
  Function function;

  flam_proto_read (message, said, G_N_ELEMENTS (said));
  function = (Function){ .id = said[1],
                         .function = { .name = said[2],
                                       .system_name = said[3],
                                       .file = said[4],
                                       .line = MIN (said[5], G_MAXINT32),
                                       .module = FLAM_NONE } };
  insert_id (file->function_ids, function.id, file->functions->len);
  g_array_append_val (file->functions, function);
}

/* Columns come before samples, so the types with negative values are found
 * first. */
static void
find_signs (FlamPprof *file, FlamProto sample)
{
  g_array_set_size (file->values, 0);
  while (flam_proto_next (&sample))
    if (sample.number == 2)
      flam_proto_numbers (&sample, file->values);
  for (guint i = 0; i < MIN (file->values->len, FLAM_PPROF_MAX_TYPES); i++)
    if ((gint64)g_array_index (file->values, guint64, i) < 0)
      file->negative |= G_GUINT64_CONSTANT (1) << i;
}

gboolean
flam_pprof_read_tables (FlamPprof *file, GError **error)
{
  const FlamSource *source = file->load->source;
  FlamProto proto = flam_proto_init (source->data, source->size);
  const guint8 *left = source->data;
  guint64 said[15] = { 0 };
  guint64 before = 0;     /* the number of the previous field */
  gboolean again = FALSE; /* a second table of texts, whose first is empty */

  while (flam_proto_next (&proto))
    {
      FlamPprofText text = { proto.bytes, proto.wire == 2 ? proto.length : 0 };

      flam_source_leave_before (source, &left, proto.at);
      switch (proto.number)
        {
        case 1:
          read_type (file, flam_proto_inner (&proto));
          break;
        case 2:
          find_signs (file, flam_proto_inner (&proto));
          break;
        case 3:
          read_mapping (file, flam_proto_inner (&proto));
          break;
        case 4:
          g_array_append_val (file->raw_locations, text);
          break;
        case 5:
          read_function (file, flam_proto_inner (&proto));
          break;
        case 6:
          again |= text.length == 0 && file->strings->len > 0 && before != 6;
          g_array_append_val (file->strings, text);
          break;
        default:
          if (proto.number < G_N_ELEMENTS (said))
            said[proto.number] = proto.value;
        }
      before = proto.number;
    }
  file->drop = said[7];
  file->keep = said[8];
  file->time = said[9];
  file->duration = said[10];
  file->default_type = said[14];
  if (proto.bad && file->strings->len == 0)
    return flam_source_invalid (
        file->load->source, error, N_ ("not a pprof profile"));
  if (again)
    return flam_source_invalid (
        file->load->source,
        error,
        N_ ("several pprof profiles in one file; write each to its own file "
            "and add them up with “flambeau-cli merge”"));
  if (proto.bad)
    flam_load_partial (
        file->load, NULL, N_ ("the file ends in the middle of a message"));
  return TRUE;
}

/* --- names --------------------------------------------------------------- */

static void
resolve_mappings (FlamPprof *file)
{
  for (guint i = 0; i < file->mappings->len; i++)
    {
      Mapping *mapping = &g_array_index (file->mappings, Mapping, i);
      g_autofree char *path = flam_pprof_text (file, mapping->module);
      g_autofree char *build_id = flam_pprof_text (file, mapping->limit);
      gboolean kernel = g_str_has_prefix (path, "[kernel");

      mapping->module = FLAM_NONE;
      if (*path == '\0')
        continue;
      mapping->module = flam_builder_module (file->builder,
                                             path,
                                             build_id,
                                             kernel ? FLAM_ADDRESS_ABSOLUTE
                                                    : FLAM_ADDRESS_FILE_OFFSET);
    }
}

static FlamRegex *
frames_regex (const FlamPprof *file, guint64 string)
{
  g_autofree char *text = flam_pprof_text (file, string);
  g_autofree char *whole = g_strdup_printf ("^(?:%s)$", text);
  FlamRegex *regex =
      *text != '\0' ? flam_regex_new (whole, G_REGEX_OPTIMIZE, NULL) : NULL;

  if (*text != '\0' && regex == NULL)
    flam_builder_warn (file->builder,
                       N_ ("the rule for dropping frames is invalid: %s"),
                       text);
  return regex;
}

static void
warn_slow (FlamPprof *file, const FlamRegex *regex)
{
  const char *slow = regex != NULL ? flam_regex_get_slow (regex) : NULL;

  if (slow != NULL)
    flam_builder_warn (file->builder,
                       N_ ("the regular expression takes too long on “%s”"),
                       slow);
}

static void
resolve_functions (FlamPprof *file)
{
  g_autoptr (FlamRegex) drop = frames_regex (file, file->drop);
  g_autoptr (FlamRegex) keep = frames_regex (file, file->keep);

  for (guint i = 0; i < file->functions->len; i++)
    {
      Function *row = &g_array_index (file->functions, Function, i);
      FlamFunction *function = &row->function;
      const char *name;

      function->name = get_string (file, function->name);
      function->system_name = get_string (file, function->system_name);
      function->file = get_string (file, function->file);
      if (function->name == 0)
        function->name = function->system_name;
      name = flam_builder_get_string (file->builder, function->name);
      row->dropped = drop != NULL && flam_regex_match (drop, name) &&
                     (keep == NULL || !flam_regex_match (keep, name));
    }
  warn_slow (file, drop);
  warn_slow (file, keep);
}

typedef struct
{
  guint row; /* of functions; FLAM_NONE */
  guint32 line;
} Line;

static FlamFrameId
line_frame (FlamPprof *file,
            const Line *line,
            FlamModuleId module,
            guint64 address,
            guint depth)
{
  FlamFunction function = { .name = 0 };

  if (line->row != FLAM_NONE)
    function = g_array_index (file->functions, Function, line->row).function;
  function.module = module;
  return flam_builder_frame_of (
      file->builder, &function, address, line->line, depth);
}

static void
read_location (FlamPprof *file, FlamProto message, GArray *lines)
{
  FlamPprofLocation location = { .first = file->frames->len };
  guint64 mapping_id = 0, address = 0, function = 0;
  FlamModuleId module = FLAM_NONE;
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
        line.row = flam_pprof_row (
            file->function_ids, file->functions, Function, function);
        g_array_append_val (lines, line);
      }
  row = flam_pprof_row (file->mapping_ids, file->mappings, Mapping, mapping_id);
  if (row != FLAM_NONE)
    {
      const Mapping *mapping = &g_array_index (file->mappings, Mapping, row);
      module = mapping->module;
      address = address - mapping->start + mapping->offset;
    }
  if (module == FLAM_NONE && lines->len > 0)
    address = 0;
  for (guint i = 0; i < lines->len; i++)
    {
      const Line *line = &g_array_index (lines, Line, i);
      if (line->row != FLAM_NONE &&
          g_array_index (file->functions, Function, line->row).dropped)
        matched = i;
    }
  /* lines are innermost first: the ones up to the match are dropped */
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
      FlamFrameId frame = line_frame (file,
                                      &g_array_index (lines, Line, i),
                                      module,
                                      address,
                                      lines->len - 1 - i);
      g_array_append_val (file->frames, frame);
    }
  location.n = lines->len;
  insert_id (file->location_ids, location.id, file->locations->len);
  g_array_append_val (file->locations, location);
}

/* If frames have names, the file contains its symbols. */
static void
mark_modules (FlamPprof *file)
{
  gboolean named = file->functions->len > 0;

  for (guint i = 0; named && i < file->mappings->len; i++)
    {
      FlamModuleId module = g_array_index (file->mappings, Mapping, i).module;
      if (module != FLAM_NONE)
        flam_builder_set_module_symbols (
            file->builder, module, FLAM_SYMBOLS_CAPTURE, NULL);
    }
}

void
flam_pprof_make_frames (FlamPprof *file)
{
  g_autoptr (GArray) lines = g_array_new (FALSE, FALSE, sizeof (Line));

  resolve_mappings (file);
  resolve_functions (file);
  for (guint i = 0; i < file->raw_locations->len; i++)
    {
      FlamPprofText raw = g_array_index (file->raw_locations, FlamPprofText, i);
      read_location (file, flam_proto_init (raw.text, raw.length), lines);
    }
  mark_modules (file);
}
