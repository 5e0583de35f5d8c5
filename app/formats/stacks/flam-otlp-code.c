/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-otlp.h"

#include "flam-pprof.h"

#include <string.h>

typedef struct
{
  guint64 start, offset;
  FlamModuleId module;
  gboolean named, nameless; /* it has such locations */
} Mapping;

void
flam_otlp_init (FlamOtlp *otlp, FlamLoad *load)
{
  *otlp = (FlamOtlp){
    .load = load,
    .strings = flam_arena_array (load, FlamOtlpPiece),
    .attributes = flam_arena_array (load, FlamOtlpPiece),
    .links = flam_arena_array (load, FlamOtlpPiece),
    .raw_mappings = flam_arena_array (load, FlamOtlpPiece),
    .raw_locations = flam_arena_array (load, FlamOtlpPiece),
    .raw_functions = flam_arena_array (load, FlamOtlpPiece),
    .raw_stacks = flam_arena_array (load, FlamOtlpPiece),
    .modules = flam_arena_array (load, Mapping),
    .locations = flam_arena_array (load, FlamOtlpLocation),
    .frames = flam_arena_array (load, FlamId),
    .stacks = flam_arena_zeroed (load, FlamId),
    .numbers = flam_arena_array (load, guint64),
    .left = flam_pprof_most_frames (load->source->size),
  };
}

/* --- tables --------------------------------------------------------------- */

void
flam_otlp_read_tables (FlamOtlp *otlp, const FlamOtlpDocument *document)
{
  GArray *tables[] = {
    NULL,        otlp->raw_mappings, otlp->raw_locations, otlp->raw_functions,
    otlp->links, otlp->strings,      otlp->attributes,    otlp->raw_stacks,
  };
  FlamProto proto =
      flam_proto_init (document->data.bytes, document->data.length);

  for (guint i = 1; i < G_N_ELEMENTS (tables); i++)
    g_array_set_size (tables[i], 0);
  while (flam_proto_next (&proto))
    if (proto.number == 2)
      {
        FlamProto dictionary = flam_proto_inner (&proto);

        while (flam_proto_next (&dictionary))
          if (dictionary.wire == 2 && dictionary.number > 0 &&
              dictionary.number < G_N_ELEMENTS (tables))
            {
              FlamOtlpPiece piece = { dictionary.bytes, dictionary.length };
              g_array_append_val (tables[dictionary.number], piece);
            }
      }
  g_array_set_size (otlp->stacks, 0);
  g_array_set_size (otlp->stacks, otlp->raw_stacks->len);
}

FlamProto
flam_otlp_row (const GArray *table, guint64 row)
{
  FlamOtlpPiece piece = { (const guint8 *)"", 0 };

  if (row < table->len)
    piece = g_array_index (table, FlamOtlpPiece, row);
  return flam_proto_init (piece.bytes, piece.length);
}

char *
flam_otlp_text (const FlamOtlp *otlp, guint64 string)
{
  FlamProto text = flam_otlp_row (otlp->strings, string);

  return g_strndup ((const char *)text.at, (gsize)(text.end - text.at));
}

static FlamStringId
get_string (const FlamOtlp *otlp, guint64 string)
{
  FlamProto text = flam_otlp_row (otlp->strings, string);

  return flam_builder_string (
      otlp->load->builder, (const char *)text.at, text.end - text.at);
}

/* --- attributes ----------------------------------------------------------- */

void
flam_otlp_attribute_clear (FlamOtlpAttribute *attribute)
{
  g_clear_pointer (&attribute->key, g_free);
  g_clear_pointer (&attribute->text, g_free);
  g_clear_pointer (&attribute->unit, g_free);
}

char *
flam_otlp_hexadecimal (const FlamProto *bytes)
{
  GString *text = g_string_sized_new (2 * bytes->length + 1);

  for (gsize i = 0; i < bytes->length; i++)
    g_string_append_printf (text, "%02x", bytes->bytes[i]);
  return g_string_free (text, FALSE);
}

static void
read_value (const FlamOtlp *otlp, FlamProto value, FlamOtlpAttribute *attribute)
{
  while (flam_proto_next (&value))
    {
      g_clear_pointer (&attribute->text, g_free);
      attribute->is_number = FALSE;
      if (value.number == 1 && value.wire == 2)
        attribute->text = g_strndup ((const char *)value.bytes, value.length);
      else if (value.number == 2)
        attribute->text = g_strdup (value.value != 0 ? "true" : "false");
      else if (value.number == 3)
        {
          attribute->number = (gint64)value.value;
          attribute->is_number = TRUE;
        }
      else if (value.number == 4 && value.wire == 1)
        {
          char text[G_ASCII_DTOSTR_BUF_SIZE];
          double number;

          memcpy (&number, &value.value, sizeof number);
          attribute->text =
              g_strdup (g_ascii_dtostr (text, sizeof text, number));
        }
      else if (value.number == 7 && value.wire == 2)
        attribute->text = flam_otlp_hexadecimal (&value);
      else if (value.number == 8)
        attribute->text = flam_otlp_text (otlp, value.value);
    }
}

void
flam_otlp_read_attribute (const FlamOtlp *otlp,
                          FlamProto message,
                          FlamOtlpAttribute *attribute)
{
  while (flam_proto_next (&message))
    if (message.number == 1 && attribute->key == NULL)
      attribute->key =
          message.wire == 2
              ? g_strndup ((const char *)message.bytes, message.length)
              : flam_otlp_text (otlp, message.value);
    else if (message.number == 2)
      read_value (otlp, flam_proto_inner (&message), attribute);
    else if (message.number == 3 && attribute->unit == NULL)
      attribute->unit = flam_otlp_text (otlp, message.value);
  if (attribute->key == NULL)
    attribute->key = g_strdup ("");
  if (attribute->unit == NULL)
    attribute->unit = g_strdup ("");
}

/* The text of the attribute `key` in a list of rows of the table; NULL:
 * none. */
static char *
attribute_in (FlamOtlp *otlp, const GArray *rows, const char *key)
{
  for (guint i = 0; i < rows->len; i++)
    {
      g_auto (FlamOtlpAttribute) attribute = { NULL };

      flam_otlp_read_attribute (
          otlp,
          flam_otlp_row (otlp->attributes, g_array_index (rows, guint64, i)),
          &attribute);
      if (attribute.text != NULL && strcmp (attribute.key, key) == 0)
        return g_steal_pointer (&attribute.text);
    }
  return NULL;
}

/* --- code ----------------------------------------------------------------- */

/* Kinds by the attribute profile.frame.type, as its conventions name them. */
static FlamFunctionKind
frame_kind (FlamOtlp *otlp, const GArray *attributes)
{
  static const char *const compiled[] = { "native", "go", "rust" };
  g_autofree char *type = attribute_in (otlp, attributes, "profile.frame.type");

  if (g_strcmp0 (type, "kernel") == 0)
    return FLAM_KIND_KERNEL;
  if (type == NULL || *type == '\0')
    return FLAM_KIND_NATIVE;
  for (guint i = 0; i < G_N_ELEMENTS (compiled); i++)
    if (strcmp (type, compiled[i]) == 0)
      return FLAM_KIND_NATIVE;
  return FLAM_KIND_INTERPRETED;
}

static void
read_mapping (FlamOtlp *otlp, FlamProto message)
{
  static const char *const build_ids[] = {
    "process.executable.build_id.gnu",
    "process.executable.build_id.htlhash",
  };
  Mapping mapping = { .module = FLAM_NONE };
  g_autofree char *path = NULL;
  g_autofree char *build_id = NULL;

  g_array_set_size (otlp->numbers, 0);
  while (flam_proto_next (&message))
    if (message.number == 1)
      mapping.start = message.value;
    else if (message.number == 3)
      mapping.offset = message.value;
    else if (message.number == 4 && path == NULL)
      path = flam_otlp_text (otlp, message.value);
    else if (message.number == 5)
      flam_proto_numbers (&message, otlp->numbers);
  for (guint i = 0; build_id == NULL && i < G_N_ELEMENTS (build_ids); i++)
    build_id = attribute_in (otlp, otlp->numbers, build_ids[i]);
  if (path != NULL && *path != '\0')
    mapping.module = flam_builder_module (otlp->load->builder,
                                          path,
                                          build_id != NULL ? build_id : "",
                                          g_str_has_prefix (path, "[kernel") ||
                                                  strcmp (path, "vmlinux") == 0
                                              ? FLAM_ADDRESS_ABSOLUTE
                                              : FLAM_ADDRESS_FILE_OFFSET);
  g_array_append_val (otlp->modules, mapping);
}

typedef struct
{
  guint64 function, line;
} Line;

static FlamFunction
get_function (FlamOtlp *otlp, guint64 row)
{
  guint64 said[5] = { 0 };
  FlamFunction function = { .module = FLAM_NONE };

  otlp->unknown += row != 0 && row >= otlp->raw_functions->len;
  flam_proto_read (
      flam_otlp_row (otlp->raw_functions, row), said, G_N_ELEMENTS (said));
  function.name = get_string (otlp, said[1]);
  function.system_name = get_string (otlp, said[2]);
  function.file = get_string (otlp, said[3]);
  function.line = MIN (said[4], G_MAXINT32);
  if (function.name == 0)
    function.name = function.system_name;
  return function;
}

static void
read_location (FlamOtlp *otlp, FlamProto message, GArray *lines)
{
  FlamBuilder *builder = otlp->load->builder;
  FlamOtlpLocation location = { .first = otlp->frames->len };
  guint64 mapping_row = G_MAXUINT64, address = 0;
  FlamModuleId module = FLAM_NONE;
  FlamFunctionKind kind;

  g_array_set_size (lines, 0);
  g_array_set_size (otlp->numbers, 0);
  while (flam_proto_next (&message))
    if (message.number == 1)
      mapping_row = message.value;
    else if (message.number == 2)
      address = message.value;
    else if (message.number == 3)
      {
        guint64 said[3] = { 0 };
        Line line;

        flam_proto_read (
            flam_proto_inner (&message), said, G_N_ELEMENTS (said));
        line = (Line){ said[1], MIN (said[2], G_MAXINT32) };
        g_array_append_val (lines, line);
      }
    else if ((message.number == 4 || message.number == 5) && message.wire == 2)
      flam_proto_numbers (&message, otlp->numbers);
  if (mapping_row < otlp->modules->len)
    {
      Mapping *mapping = &g_array_index (otlp->modules, Mapping, mapping_row);
      module = mapping->module;
      mapping->named |= lines->len > 0;
      mapping->nameless |= lines->len == 0;
      address = address - mapping->start + mapping->offset;
    }
  kind = frame_kind (otlp, otlp->numbers);
  if ((module == FLAM_NONE && lines->len > 0) || kind == FLAM_KIND_INTERPRETED)
    address = 0;
  if (lines->len == 0)
    g_array_set_size (lines, 1);
  location.n = lines->len;
  for (guint i = lines->len; i-- > 0;)
    {
      const Line *line = &g_array_index (lines, Line, i);
      FlamFunction function = get_function (otlp, line->function);
      FlamFrameId frame;

      function.module = module;
      function.kind = kind;
      frame = flam_builder_frame_of (
          builder, &function, address, line->line, lines->len - 1 - i);
      g_array_append_val (otlp->frames, frame);
    }
  g_array_append_val (otlp->locations, location);
}

/* If all of its locations have names, the file contains its symbols. */
static void
mark_modules (FlamOtlp *otlp)
{
  for (guint i = 0; i < otlp->modules->len; i++)
    {
      const Mapping *mapping = &g_array_index (otlp->modules, Mapping, i);

      if (mapping->module != FLAM_NONE && mapping->named && !mapping->nameless)
        flam_builder_set_module_symbols (
            otlp->load->builder, mapping->module, FLAM_SYMBOLS_CAPTURE, NULL);
    }
}

void
flam_otlp_make_frames (FlamOtlp *otlp)
{
  g_autoptr (GArray) lines = g_array_new (FALSE, TRUE, sizeof (Line));

  g_array_set_size (otlp->modules, 0);
  g_array_set_size (otlp->locations, 0);
  g_array_set_size (otlp->frames, 0);
  for (guint i = 0; i < otlp->raw_mappings->len; i++)
    read_mapping (otlp, flam_otlp_row (otlp->raw_mappings, i));
  for (guint i = 0; i < otlp->raw_locations->len; i++)
    read_location (otlp, flam_otlp_row (otlp->raw_locations, i), lines);
  mark_modules (otlp);
}

/* --- stacks --------------------------------------------------------------- */

FlamId
flam_otlp_stack_of (FlamOtlp *otlp,
                    const GArray *locations,
                    guint64 first,
                    guint64 n)
{
  FlamStackId stack = FLAM_NONE;

  if (first > locations->len || n > locations->len - first)
    {
      otlp->unknown++;
      return FLAM_NONE;
    }
  for (guint64 i = first + n; i-- > first;)
    {
      guint64 row = g_array_index (locations, guint64, i);
      const FlamOtlpLocation *location;

      if (row >= otlp->locations->len)
        {
          otlp->unknown++;
          continue;
        }
      location = &g_array_index (otlp->locations, FlamOtlpLocation, row);
      if (!flam_pprof_take_frames (otlp->load, &otlp->left, location->n))
        return stack;
      for (guint k = 0; k < location->n; k++)
        stack = flam_builder_stack (
            otlp->load->builder,
            stack,
            g_array_index (otlp->frames, FlamId, location->first + k));
    }
  return stack;
}

FlamStackId
flam_otlp_stack (FlamOtlp *otlp, guint64 row)
{
  FlamProto message = flam_otlp_row (otlp->raw_stacks, row);
  FlamStackId stack;

  if (row >= otlp->raw_stacks->len)
    {
      otlp->unknown += row != 0;
      return FLAM_NONE;
    }
  stack = g_array_index (otlp->stacks, FlamId, row);
  if (stack != 0)
    return stack == FLAM_NONE ? FLAM_NONE : stack - 1;
  g_array_set_size (otlp->numbers, 0);
  while (flam_proto_next (&message))
    if (message.number == 1)
      flam_proto_numbers (&message, otlp->numbers);
  stack = flam_otlp_stack_of (otlp, otlp->numbers, 0, otlp->numbers->len);
  g_array_index (otlp->stacks, FlamId, row) =
      stack == FLAM_NONE ? FLAM_NONE : stack + 1;
  return stack;
}
