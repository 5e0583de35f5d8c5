/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-perfetto.h"

#include <string.h>

/* The frames of a callstack; deeper ones are truncated. */
#define MAX_FRAMES (1 << 16)

typedef struct
{
  guint64 iid;
  guint32 sequence;
  guint32 kind;
} Key;

static guint
hash_key (gconstpointer data)
{
  const Key *key = data;
  guint64 hash = key->iid * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15) +
                 key->sequence * 0x85ebca6bu + key->kind;

  return hash ^ hash >> 32;
}

static gboolean
equal_keys (gconstpointer a, gconstpointer b)
{
  const Key *x = a;
  const Key *y = b;

  return x->iid == y->iid && x->sequence == y->sequence && x->kind == y->kind;
}

void
flam_perfetto_names_init (FlamPerfettoNames *names, FlamLoad *load)
{
  names->builder = load->builder;
  names->ids = flam_arena_keep (
      load,
      g_hash_table_new_full (hash_key, equal_keys, g_free, NULL),
      g_hash_table_unref);
  names->numbers = flam_arena_array (load, guint64);
  names->locations = flam_arena_array (load, FlamPerfettoLocation);
}

FlamId
flam_perfetto_names_find (const FlamPerfettoNames *names,
                          guint32 sequence,
                          FlamPerfettoKind kind,
                          guint64 iid)
{
  Key key = { iid, sequence, kind };
  gpointer value;

  return g_hash_table_lookup_extended (names->ids, &key, NULL, &value)
             ? GPOINTER_TO_UINT (value)
             : FLAM_NONE;
}

static void
insert (FlamPerfettoNames *names,
        guint32 sequence,
        FlamPerfettoKind kind,
        guint64 iid,
        FlamId id)
{
  Key *key = g_new (Key, 1);

  *key = (Key){ iid, sequence, kind };
  g_hash_table_insert (names->ids, key, GUINT_TO_POINTER (id));
}

/* InternedString and EventName: 1 its number, 2 the text. */
static void
read_string (FlamPerfettoNames *names,
             guint32 sequence,
             FlamPerfettoKind kind,
             FlamProto proto)
{
  guint64 iid = 0;
  FlamId id = 0;

  while (flam_proto_next (&proto))
    if (proto.number == 1)
      iid = proto.value;
    else if (proto.number == 2 && proto.wire == 2)
      {
        if (kind == FLAM_PERFETTO_BUILD_ID) /* bytes */
          {
            GString *hex = g_string_new (NULL);
            for (gsize i = 0;
                 i < MIN (proto.length, (gsize)FLAM_BUILD_ID_MAX / 2);
                 i++)
              g_string_append_printf (hex, "%02x", proto.bytes[i]);
            id = flam_builder_string (names->builder, hex->str, hex->len);
            g_string_free (hex, TRUE);
          }
        else
          id = flam_builder_string (
              names->builder, (const char *)proto.bytes, proto.length);
      }
  insert (names, sequence, kind, iid, id);
}

const char *
flam_perfetto_names_text (const FlamPerfettoNames *names,
                          guint32 sequence,
                          FlamPerfettoKind kind,
                          guint64 iid)
{
  FlamId id = flam_perfetto_names_find (names, sequence, kind, iid);

  return id != FLAM_NONE ? flam_builder_get_string (names->builder, id) : "";
}

/* Mapping: 1 its number, 2 build id, 7 the parts of its path. */
static void
read_mapping (FlamPerfettoNames *names, guint32 sequence, FlamProto proto)
{
  g_autoptr (GString) path = g_string_new (NULL);
  g_autofree char *build_id = NULL;
  guint64 iid = 0, build = 0;

  g_array_set_size (names->numbers, 0);
  while (flam_proto_next (&proto))
    if (proto.number == 1)
      iid = proto.value;
    else if (proto.number == 2)
      build = proto.value;
    else if (proto.number == 7)
      flam_proto_numbers (&proto, names->numbers);
  for (guint i = 0; i < MIN (names->numbers->len, 256u); i++)
    {
      const char *part =
          flam_perfetto_names_text (names,
                                    sequence,
                                    FLAM_PERFETTO_MAPPING_PATH,
                                    g_array_index (names->numbers, guint64, i));
      if (*part != '/' && *part != '[' && *part != '\0')
        g_string_append_c (path, '/');
      g_string_append (path, part);
    }
  if (path->len == 0)
    return;
  build_id = g_strdup (flam_perfetto_names_text (
      names, sequence, FLAM_PERFETTO_BUILD_ID, build));
  insert (names,
          sequence,
          FLAM_PERFETTO_MAPPING,
          iid,
          flam_builder_module (
              names->builder, path->str, build_id, FLAM_ADDRESS_VADDR));
}

/* Frame: 1 its number, 2 function name, 3 mapping, 4 address, 5 and 6 source
 * path and line. */
static void
read_frame (FlamPerfettoNames *names, guint32 sequence, FlamProto proto)
{
  FlamFunction function = { .kind = FLAM_KIND_NATIVE };
  guint64 said[7] = { 0 };
  FlamStringId file, id;

  flam_proto_read (proto, said, G_N_ELEMENTS (said));
  function.module = flam_perfetto_names_find (
      names, sequence, FLAM_PERFETTO_MAPPING, said[3]);
  id = flam_perfetto_names_find (
      names, sequence, FLAM_PERFETTO_FUNCTION_NAME, said[2]);
  file = flam_perfetto_names_find (
      names, sequence, FLAM_PERFETTO_SOURCE_PATH, said[5]);
  function.name = id != FLAM_NONE ? id : 0;
  function.file = file != FLAM_NONE ? file : 0;
  insert (names,
          sequence,
          FLAM_PERFETTO_FRAME,
          said[1],
          flam_builder_frame_of (names->builder,
                                 &function,
                                 function.module != FLAM_NONE ? said[4] : 0,
                                 MIN (said[6], (guint64)G_MAXINT32),
                                 0));
}

/* SourceLocation: 1 its number, 2 file, 3 function, 4 line. */
FlamPerfettoLocation
flam_perfetto_names_location (FlamPerfettoNames *names, FlamProto proto)
{
  FlamPerfettoLocation location = { 0 };

  while (flam_proto_next (&proto))
    if (proto.number == 4)
      location.line = MIN (proto.value, (guint64)G_MAXINT32);
    else if (proto.wire == 2 && (proto.number == 2 || proto.number == 3))
      *(proto.number == 2 ? &location.file : &location.function) =
          flam_builder_string (
              names->builder, (const char *)proto.bytes, proto.length);
  return location;
}

static void
read_location (FlamPerfettoNames *names, guint32 sequence, FlamProto proto)
{
  FlamPerfettoLocation location = flam_perfetto_names_location (names, proto);

  insert (names,
          sequence,
          FLAM_PERFETTO_LOCATION,
          flam_proto_number_in (proto, 1),
          names->locations->len);
  g_array_append_val (names->locations, location);
}

/* Callstack: 1 its number, 2 its frames, root first. */
static void
read_callstack (FlamPerfettoNames *names, guint32 sequence, FlamProto proto)
{
  FlamStackId stack = FLAM_NONE;
  guint64 iid = 0;

  g_array_set_size (names->numbers, 0);
  while (flam_proto_next (&proto))
    if (proto.number == 1)
      iid = proto.value;
    else if (proto.number == 2)
      flam_proto_numbers (&proto, names->numbers);
  for (guint i = 0; i < MIN (names->numbers->len, (guint)MAX_FRAMES); i++)
    {
      FlamFrameId frame =
          flam_perfetto_names_find (names,
                                    sequence,
                                    FLAM_PERFETTO_FRAME,
                                    g_array_index (names->numbers, guint64, i));
      if (frame != FLAM_NONE)
        stack = flam_builder_stack (names->builder, stack, frame);
    }
  insert (names, sequence, FLAM_PERFETTO_CALLSTACK, iid, stack);
}

typedef struct
{
  guint64 number; /* of the field */
  FlamPerfettoKind kind;
} Field;

/* Referenced data is read first, whatever its order in the message. */
static void
read_fields (FlamPerfettoNames *names,
             guint32 sequence,
             FlamProto data,
             const Field *fields,
             guint n)
{
  for (guint i = 0; i < n; i++)
    {
      FlamProto all = data;
      while (flam_proto_next (&all))
        {
          if (all.number != fields[i].number || all.wire != 2)
            continue;
          if (fields[i].kind == FLAM_PERFETTO_MAPPING)
            read_mapping (names, sequence, flam_proto_inner (&all));
          else if (fields[i].kind == FLAM_PERFETTO_FRAME)
            read_frame (names, sequence, flam_proto_inner (&all));
          else if (fields[i].kind == FLAM_PERFETTO_LOCATION)
            read_location (names, sequence, flam_proto_inner (&all));
          else if (fields[i].kind == FLAM_PERFETTO_CALLSTACK)
            read_callstack (names, sequence, flam_proto_inner (&all));
          else
            read_string (
                names, sequence, fields[i].kind, flam_proto_inner (&all));
        }
    }
}

void
flam_perfetto_names_read (FlamPerfettoNames *names,
                          guint32 sequence,
                          FlamProto data)
{
  static const Field fields[] = {
    { 1, FLAM_PERFETTO_CATEGORY },     { 2, FLAM_PERFETTO_EVENT_NAME },
    { 4, FLAM_PERFETTO_LOCATION },     { 5, FLAM_PERFETTO_FUNCTION_NAME },
    { 16, FLAM_PERFETTO_BUILD_ID },    { 17, FLAM_PERFETTO_MAPPING_PATH },
    { 18, FLAM_PERFETTO_SOURCE_PATH }, { 19, FLAM_PERFETTO_MAPPING },
    { 6, FLAM_PERFETTO_FRAME },        { 7, FLAM_PERFETTO_CALLSTACK },
  };

  read_fields (names, sequence, data, fields, G_N_ELEMENTS (fields));
}

/* One list of strings for all uses. */
void
flam_perfetto_names_read_profile (FlamPerfettoNames *names,
                                  guint32 sequence,
                                  FlamProto packet)
{
  static const Field fields[] = {
    { 1, FLAM_PERFETTO_FUNCTION_NAME }, { 1, FLAM_PERFETTO_MAPPING_PATH },
    { 1, FLAM_PERFETTO_BUILD_ID },      { 4, FLAM_PERFETTO_MAPPING },
    { 2, FLAM_PERFETTO_FRAME },         { 3, FLAM_PERFETTO_CALLSTACK },
  };

  read_fields (names, sequence, packet, fields, G_N_ELEMENTS (fields));
}
