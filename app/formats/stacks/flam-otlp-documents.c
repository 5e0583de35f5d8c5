/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-json.h"
#include "flam-otlp.h"
#include "flam-proto-write.h"

#include <string.h>

/* Layout of 1.7 (May 2025): the stack of a sample is a slice of its profile's
 * list, it has one value per sample type. */
static const FlamOtlpNumbers v1_7 = {
  { .locations = 3, .time = 4, .duration = 5, .period_type = 6, .period = 7 },
  { .first = 1, .n = 2, .values = 3, .attributes = 4, .link = 5, .times = 6 },
};
/* 1.8 and 1.9 (September and October 2025): a table of stacks, one sample type,
 * one value per time. */
static const FlamOtlpNumbers v1_8 = {
  { .time = 3, .duration = 4, .period_type = 5, .period = 6 },
  { .stack = 1, .values = 2, .attributes = 3, .link = 4, .times = 5 },
};
/* 1.10 (2026): the same in another order. */
static const FlamOtlpNumbers v1_10 = {
  { .time = 3, .duration = 4, .period_type = 5, .period = 6 },
  { .stack = 1, .attributes = 2, .link = 3, .values = 4, .times = 5 },
};
/* For converting JSON: names are independent of field numbers. */
static const FlamOtlpNumbers json_numbers = {
  { .locations = 12, .time = 3, .duration = 4, .period_type = 5, .period = 6 },
  { .stack = 1,
    .attributes = 2,
    .link = 3,
    .values = 4,
    .times = 5,
    .first = 6,
    .n = 7 },
};

void
flam_otlp_times (const FlamOtlpNumbers *numbers,
                 FlamProto *field,
                 GArray *times)
{
  FlamProto all = flam_proto_inner (field);

  if (numbers == &v1_7 || field->wire != 2)
    flam_proto_numbers (field, times);
  else
    while (flam_proto_fixed (&all, sizeof (guint64)))
      g_array_append_val (times, all.value);
}

/* --- layouts -------------------------------------------------------------- */

/* The properties of a document's layout that its samples show. */
typedef struct
{
  gboolean profiles, dictionary, tables; /* tables: outside a dictionary */
  gboolean sliced;                       /* only 1.7 has that */
  gboolean third, fourth;                /* only 1.8, only 1.10 */
  gboolean second_is_row; /* all numbers in field 2 are rows of attributes */
  guint64 n_attributes;
} Layout;

static void
look_at_sample (Layout *layout, FlamProto sample)
{
  while (flam_proto_next (&sample))
    if (sample.number == 3 || sample.number == 4)
      {
        layout->third |= (sample.number == 3) == (sample.wire == 2);
        layout->fourth |= (sample.number == 4) == (sample.wire == 2);
      }
    else if (sample.number == 2 && layout->second_is_row)
      {
        FlamProto packed = flam_proto_inner (&sample);
        guint64 row = sample.wire == 2 ? 1 : sample.value;

        do
          layout->second_is_row = row > 0 && row < layout->n_attributes;
        while (layout->second_is_row && packed.at < packed.end &&
               flam_proto_varint (&packed, &row));
      }
}

static void
look_at_profile (Layout *layout, FlamProto profile)
{
  layout->profiles = TRUE;
  while (flam_proto_next (&profile))
    {
      layout->sliced |= (profile.number == 3 && profile.wire == 2) ||
                        (profile.number == 5 && profile.wire == 0) ||
                        (profile.number == 6 && profile.wire == 2);
      if (profile.number == 2)
        look_at_sample (layout, flam_proto_inner (&profile));
    }
}

static void
look_at_resource (Layout *layout, FlamProto resource)
{
  while (flam_proto_next (&resource))
    if (resource.number == 2)
      {
        FlamProto scope = flam_proto_inner (&resource);

        while (flam_proto_next (&scope))
          if (scope.number == 2)
            look_at_profile (layout, flam_proto_inner (&scope));
      }
}

static void
count_attributes (Layout *layout, FlamProto dictionary)
{
  layout->dictionary = TRUE;
  while (flam_proto_next (&dictionary))
    layout->n_attributes += dictionary.number == 6;
}

/* Numbers of fields moved between versions, and kinds of values with them. A
 * sample with only the first two fields and times can be of both 1.8 (values)
 * and 1.10 (attributes, each time counts once): if all of them are rows of a
 * table of attributes, it is 1.10. NULL: there is no dictionary. `*cut`: the
 * message is incomplete. */
static const FlamOtlpNumbers *
find_layout (FlamOtlpPiece data, gboolean *cut)
{
  FlamProto first = flam_proto_init (data.bytes, data.length);
  FlamProto proto = first;
  Layout layout = { .second_is_row = TRUE };

  while (flam_proto_next (&first))
    {
      layout.tables |= first.number > 2;
      if (first.number == 2)
        count_attributes (&layout, flam_proto_inner (&first));
    }
  *cut |= first.bad;
  while (flam_proto_next (&proto))
    if (proto.number == 1)
      look_at_resource (&layout, flam_proto_inner (&proto));
  if (layout.tables || (layout.profiles && !layout.dictionary))
    return NULL;
  if (layout.sliced)
    return &v1_7;
  if (layout.fourth != layout.third)
    return layout.fourth ? &v1_10 : &v1_8;
  return layout.second_is_row && layout.n_attributes > 1 ? &v1_10 : &v1_8;
}

/* --- JSON ----------------------------------------------------------------- */

typedef enum
{
  NUMBER,
  NUMBERS,
  FIXED,
  TEXT,
  BYTES,
  REAL,
  MESSAGE, /* also a list of them */
} Form;

typedef struct _Member Member;
struct _Member
{
  const char *name; /* without underscores, in small letters */
  guint number;
  Form form;
  const Member *inner;
};

static const Member value_[] = {
  { "stringvalue", 1, TEXT, NULL }, { "boolvalue", 2, NUMBER, NULL },
  { "intvalue", 3, NUMBER, NULL },  { "doublevalue", 4, REAL, NULL },
  { "bytesvalue", 7, BYTES, NULL }, { "stringvaluestrindex", 8, NUMBER, NULL },
  { NULL, 0, NUMBER, NULL },
};
static const Member attribute[] = {
  { "key", 1, TEXT, NULL },        { "keystrindex", 1, NUMBER, NULL },
  { "value", 2, MESSAGE, value_ }, { "unitstrindex", 3, NUMBER, NULL },
  { NULL, 0, NUMBER, NULL },
};
static const Member resource[] = {
  { "attributes", 1, MESSAGE, attribute },
  { NULL, 0, NUMBER, NULL },
};
static const Member value_type[] = {
  { "typestrindex", 1, NUMBER, NULL },
  { "unitstrindex", 2, NUMBER, NULL },
  { NULL, 0, NUMBER, NULL },
};
static const Member sample[] = {
  { "stackindex", 1, NUMBER, NULL },
  { "attributeindices", 2, NUMBERS, NULL },
  { "linkindex", 3, NUMBER, NULL },
  { "value", 4, NUMBERS, NULL },
  { "values", 4, NUMBERS, NULL },
  { "timestampsunixnano", 5, FIXED, NULL },
  { "locationsstartindex", 6, NUMBER, NULL },
  { "locationslength", 7, NUMBER, NULL },
  { NULL, 0, NUMBER, NULL },
};
static const Member profile[] = {
  { "sampletype", 1, MESSAGE, value_type },
  { "sample", 2, MESSAGE, sample },
  { "samples", 2, MESSAGE, sample },
  { "timenanos", 3, NUMBER, NULL },
  { "timeunixnano", 3, NUMBER, NULL },
  { "durationnano", 4, NUMBER, NULL },
  { "durationnanos", 4, NUMBER, NULL },
  { "periodtype", 5, MESSAGE, value_type },
  { "period", 6, NUMBER, NULL },
  { "locationindices", 12, NUMBERS, NULL },
  { NULL, 0, NUMBER, NULL },
};
static const Member scope[] = {
  { "profiles", 2, MESSAGE, profile },
  { NULL, 0, NUMBER, NULL },
};
static const Member resource_profiles[] = {
  { "resource", 1, MESSAGE, resource },
  { "scopeprofiles", 2, MESSAGE, scope },
  { NULL, 0, NUMBER, NULL },
};
static const Member mapping[] = {
  { "memorystart", 1, NUMBER, NULL },
  { "memorylimit", 2, NUMBER, NULL },
  { "fileoffset", 3, NUMBER, NULL },
  { "filenamestrindex", 4, NUMBER, NULL },
  { "attributeindices", 5, NUMBERS, NULL },
  { NULL, 0, NUMBER, NULL },
};
static const Member line[] = {
  { "functionindex", 1, NUMBER, NULL },
  { "line", 2, NUMBER, NULL },
  { NULL, 0, NUMBER, NULL },
};
static const Member location[] = {
  { "mappingindex", 1, NUMBER, NULL },
  { "address", 2, NUMBER, NULL },
  { "line", 3, MESSAGE, line },
  { "lines", 3, MESSAGE, line },
  { "attributeindices", 4, NUMBERS, NULL },
  { NULL, 0, NUMBER, NULL },
};
static const Member function[] = {
  { "namestrindex", 1, NUMBER, NULL },
  { "systemnamestrindex", 2, NUMBER, NULL },
  { "filenamestrindex", 3, NUMBER, NULL },
  { "startline", 4, NUMBER, NULL },
  { NULL, 0, NUMBER, NULL },
};
static const Member link_[] = {
  { "traceid", 1, BYTES, NULL },
  { "spanid", 2, BYTES, NULL },
  { NULL, 0, NUMBER, NULL },
};
static const Member stack[] = {
  { "locationindices", 1, NUMBERS, NULL },
  { NULL, 0, NUMBER, NULL },
};
static const Member dictionary[] = {
  { "mappingtable", 1, MESSAGE, mapping },
  { "locationtable", 2, MESSAGE, location },
  { "functiontable", 3, MESSAGE, function },
  { "linktable", 4, MESSAGE, link_ },
  { "stringtable", 5, TEXT, NULL },
  { "attributetable", 6, MESSAGE, attribute },
  { "stacktable", 7, MESSAGE, stack },
  { NULL, 0, NUMBER, NULL },
};
static const Member document[] = {
  { "resourceprofiles", 1, MESSAGE, resource_profiles },
  { "dictionary", 2, MESSAGE, dictionary },
  { NULL, 0, NUMBER, NULL },
};

/* Protocol Buffers allow both spellings of a name: "sampleType" as well as
 * "sample_type". */
static const Member *
find_member (FlamJson *json, const Member *members)
{
  gsize length;
  const char *key = flam_json_get_key (json, &length);
  char name[32];
  gsize n = 0;

  for (gsize i = 0; i < length && n < sizeof name - 1; i++)
    if (key[i] != '_')
      name[n++] = g_ascii_tolower (key[i]);
  name[n] = '\0';
  while (members->name != NULL && strcmp (members->name, name) != 0)
    members++;
  return members->name != NULL ? members : NULL;
}

/* 64-bit integers are texts in Protocol Buffers' JSON. */
static guint64
get_number (FlamJson *json)
{
  const char *text;

  if (json->token == FLAM_JSON_NUMBER && !json->negative && json->exponent == 0)
    return json->mantissa;
  if (json->token != FLAM_JSON_STRING)
    return (guint64)flam_json_get_int (json);
  text = flam_json_get_string (json, NULL);
  return *text == '-' ? (guint64)g_ascii_strtoll (text, NULL, 10)
                      : g_ascii_strtoull (text, NULL, 10);
}

static void
put_numbers (FlamJson *json, const Member *member, GString *out)
{
  g_autoptr (GString) packed = g_string_new (NULL);

  flam_json_each (json)
    {
      guint64 number = get_number (json);

      if (member->form == FIXED)
        {
          guint64 bytes = GUINT64_TO_LE (number);
          g_string_append_len (packed, (const char *)&bytes, sizeof bytes);
        }
      else
        flam_proto_put_varint (packed, number);
    }
  flam_proto_put_bytes (out, member->number, packed->str, packed->len);
}

/* Traces and spans are hexadecimal in OTLP, other bytes are Base64. */
static void
put_bytes (FlamJson *json, const Member *member, GString *out)
{
  gsize length, n = 0;
  const char *text = flam_json_get_string (json, &length);
  g_autofree guint8 *bytes = NULL;

  while (n < length && g_ascii_isxdigit (text[n]))
    n++;
  if (n < length || length % 2 == 1)
    bytes = g_base64_decode (text, &n);
  else
    {
      n = length / 2;
      bytes = g_malloc (n + 1);
      for (gsize i = 0; i < n; i++)
        bytes[i] = (guint8)(g_ascii_xdigit_value (text[2 * i]) << 4 |
                            g_ascii_xdigit_value (text[2 * i + 1]));
    }
  flam_proto_put_bytes (out, member->number, bytes, n);
}

static void
put_text (FlamJson *json, const Member *member, GString *out)
{
  gsize length;
  const char *text = flam_json_get_string (json, &length);

  flam_proto_put_bytes (out, member->number, text, length);
}

static void
put_real (FlamJson *json, const Member *member, GString *out)
{
  double number = (double)flam_json_get_scaled (json, 1000000) / 1e6;
  guint64 bits;

  memcpy (&bits, &number, sizeof bits);
  bits = GUINT64_TO_LE (bits);
  flam_proto_put_varint (out, member->number << 3 | 1);
  g_string_append_len (out, (const char *)&bits, sizeof bits);
}

static void put_message (FlamJson *json, const Member *members, GString *out);

static void
put_value (FlamJson *json, const Member *member, GString *out)
{
  g_autoptr (GString) message = NULL;

  switch (member->form)
    {
    case NUMBER:
      flam_proto_put_varint (out, member->number << 3);
      flam_proto_put_varint (out, get_number (json));
      break;
    case NUMBERS:
    case FIXED:
      put_numbers (json, member, out);
      break;
    case TEXT:
      put_text (json, member, out);
      break;
    case BYTES:
      put_bytes (json, member, out);
      break;
    case REAL:
      put_real (json, member, out);
      break;
    case MESSAGE:
      message = g_string_new (NULL);
      put_message (json, member->inner, message);
      flam_proto_put_bytes (out, member->number, message->str, message->len);
      break;
    }
}

static gboolean
is_list (FlamJson *json, const Member *member)
{
  return json->token == FLAM_JSON_ARRAY && member->form != NUMBERS &&
         member->form != FIXED;
}

/* The maximum nesting of the tables above, whatever the file contains. */
static void
put_message (FlamJson *json, const Member *members, GString *out)
{
  flam_json_each (json)
    {
      const Member *member = find_member (json, members);

      if (member == NULL || json->token == FLAM_JSON_NULL)
        continue;
      if (!is_list (json, member))
        put_value (json, member, out);
      else
        flam_json_each (json)
          put_value (json, member, out);
    }
}

static gboolean
from_json (FlamLoad *load, GArray *documents, GError **error)
{
  const guint8 *at = load->source->data;
  const guint8 *end = at + load->source->size;
  gboolean cut = FALSE;

  while (at < end)
    {
      GString *out = flam_arena_string (load);
      FlamOtlpDocument row = { .numbers = &json_numbers };
      g_auto (FlamJson) json = { 0 };
      const guint8 *start = at;

      flam_json_open (&json, at, (gsize)(end - at));
      flam_json_report (&json, load->options->progress);
      put_message (&json, document, out);
      at = json.at;
      if (json.token == FLAM_JSON_ERROR || json.cancelled != NULL)
        return flam_json_end (&json, load, documents->len > 0, error);
      row.data = (FlamOtlpPiece){ (const guint8 *)out->str, out->len };
      if (find_layout (row.data, &cut) == NULL)
        row.numbers = NULL;
      g_array_append_val (documents, row);
      while (at < end && flam_json_is_space (*at))
        at++;
      if (at == start)
        break;
    }
  return TRUE;
}

/* --- documents ------------------------------------------------------------ */

/* The collector's file exporter writes each with its length before it, in 4
 * bytes, the highest first. */
static gboolean
from_messages (FlamLoad *load, GArray *documents)
{
  const guint8 *at = load->source->data;
  const guint8 *end = at + load->source->size;
  gboolean prefixed = at < end && *at == 0;
  gboolean cut = FALSE;

  while (at < end)
    {
      FlamOtlpDocument row = { .data = { at, (gsize)(end - at) } };

      if (prefixed)
        {
          guint32 length = 0;

          for (guint i = 0; i < 4 && at < end; i++)
            length = length << 8 | *at++;
          row.data.bytes = at;
          row.data.length = MIN (length, (gsize)(end - at));
          cut |= row.data.length < length;
        }
      at += row.data.length;
      row.numbers = find_layout (row.data, &cut);
      g_array_append_val (documents, row);
    }
  return !cut;
}

gboolean
flam_otlp_is_json (const FlamSource *source)
{
  if (flam_source_first_char (source) != '{')
    return FALSE;
  for (gsize i = 0; i < MIN (source->size, 256); i++)
    if (g_ascii_iscntrl (source->data[i]) && !g_ascii_isspace (source->data[i]))
      return FALSE;
  return TRUE;
}

gboolean
flam_otlp_documents (FlamLoad *load, GArray *documents, GError **error)
{
  gboolean whole = TRUE;

  if (!flam_otlp_is_json (load->source))
    whole = from_messages (load, documents);
  else if (!from_json (load, documents, error))
    return FALSE;
  if (!whole)
    flam_load_partial (
        load, NULL, N_ ("the file ends in the middle of a message"));
  for (guint i = 0; i < documents->len; i++)
    if (g_array_index (documents, FlamOtlpDocument, i).numbers == NULL)
      return flam_source_invalid (
          load->source,
          error,
          !whole ? N_ ("the file ends in the middle of a message")
                 : N_ ("this is an early draft of OpenTelemetry's profiles, "
                       "before "
                       "version 1.7; record with a newer profiler"));
  return TRUE;
}
