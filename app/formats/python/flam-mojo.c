/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-austin.h"
#include "flam-core-profile.h"

#include <string.h>

/* MOJO, Austin's binary form: "MOJ", the version, and events.
 *
 *    1 metadata  key, value        2 stack  pid, interpreter (3 on), tid
 *    3 frame     key, file, function, line, and (2 on) the place's other ends
 *    4 a frame that could not be read      5 frame  key of one
 *    6 frame of the kernel  name   7 garbage is collected   8 idle
 *    9 time      µs               10 memory  bytes
 *   11 string    key, text        12 string  key of one
 *   13 (4 on) below what came so far are the frames of the thread's stack
 *      before, without the native ones at its top
 *
 * Texts end with a NUL; numbers have 6 bits in their first byte, whose second
 * bit is the sign, 7 in the others, the lowest first. Keys are local to the
 * process. File and function are keys of strings; 1 is unknown. */

enum
{
  METADATA = 1,
  STACK,
  FRAME,
  FRAME_INVALID,
  FRAME_REF,
  FRAME_KERNEL,
  GC,
  IDLE,
  TIME,
  MEMORY,
  STRING,
  STRING_REF,
  STACK_REPEAT,
};

typedef struct
{
  gint64 pid, key;
  FlamId value;
  gboolean python; /* a frame: of Python */
} Entry;

typedef struct
{
  FlamInterner index;
  FlamColumn entries;
} Table;

typedef struct
{
  FlamFrameId frame;
  gboolean python;
} Frame;

typedef struct
{
  FlamAustin *austin;
  FlamLoad *load;
  const guint8 *at, *end;
  gint64 version;
  gint64 pid;
  Table strings, frames;
  gboolean open; /* a sample is being read */
  gboolean repeat;
  FlamAustinSample sample;
  GArray *stack; /* Frame */
} Reader;

static gboolean
read_int (Reader *reader, gint64 *value)
{
  guint64 rest = 0;
  gint64 n;
  guint8 byte;

  if (reader->at == reader->end)
    return FALSE;
  byte = *reader->at++;
  if (byte & 0x80 && (!flam_varint_get (&reader->at, reader->end, &rest) ||
                      rest > G_MAXINT64 >> 6))
    return FALSE;
  n = (gint64)(rest << 6 | (byte & 0x3f));
  *value = byte & 0x40 ? -n : n;
  return TRUE;
}

static gboolean
read_text (Reader *reader, const char **text, gsize *length)
{
  const guint8 *nul = memchr (reader->at, 0, reader->end - reader->at);

  if (nul == NULL)
    return FALSE;
  *text = (const char *)reader->at;
  *length = nul - reader->at;
  reader->at = nul + 1;
  return TRUE;
}

/* --- keys ---------------------------------------------------------------- */

static gboolean
entry_equal (gconstpointer table, FlamId row, gconstpointer key)
{
  const Entry *a = (const Entry *)table + row;
  const Entry *b = key;

  return a->pid == b->pid && a->key == b->key;
}

static FlamSlot *
find_slot (Table *table, const Entry *entry, guint32 *hash)
{
  *hash = flam_hash_pair (entry->pid, entry->key);
  return flam_interner_find (
      &table->index, *hash, entry_equal, table->entries.data, entry);
}

static void
set_entry (Table *table, Entry entry)
{
  guint32 hash;
  FlamSlot *slot = find_slot (table, &entry, &hash);

  if (slot->id != FLAM_NONE)
    {
      flam_column_at (&table->entries, Entry, slot->id) = entry;
      return;
    }
  *slot = (FlamSlot){ hash, table->entries.n };
  table->index.used++;
  flam_column_append (&table->entries, Entry, entry);
}

static const Entry *
get_entry (Reader *reader, Table *table, gint64 key)
{
  Entry entry = { .pid = reader->pid, .key = key };
  guint32 hash;
  FlamSlot *slot = find_slot (table, &entry, &hash);

  return slot->id != FLAM_NONE
             ? &flam_column_at (&table->entries, Entry, slot->id)
             : NULL;
}

/* A copy: the builder's texts move as it grows. */
static char *
get_string (Reader *reader, gint64 key)
{
  const Entry *entry = get_entry (reader, &reader->strings, key);

  return g_strdup (entry != NULL ? flam_builder_get_string (
                                       reader->austin->builder, entry->value)
                                 : "");
}

/* --- samples ------------------------------------------------------------- */

static void
end_sample (Reader *reader)
{
  FlamAustinThread *thread;
  FlamStackId stack, base;

  if (!reader->open)
    return;
  thread = flam_austin_state (reader->austin, reader->sample.thread);
  stack = base = reader->repeat ? thread->base : FLAM_NONE;
  for (guint i = 0; i < reader->stack->len; i++)
    {
      const Frame *frame = &g_array_index (reader->stack, Frame, i);

      stack = flam_builder_stack (reader->austin->builder, stack, frame->frame);
      if (frame->python)
        base = stack;
    }
  thread->base = base;
  reader->sample.stack = stack;
  flam_austin_add (reader->austin, &reader->sample);
  reader->open = FALSE;
}

static gboolean
begin_sample (Reader *reader)
{
  gint64 interpreter = 0;
  const char *tid;
  gsize length;

  end_sample (reader);
  if (!read_int (reader, &reader->pid) ||
      (reader->version >= 3 && !read_int (reader, &interpreter)) ||
      !read_text (reader, &tid, &length))
    return FALSE;
  reader->sample = (FlamAustinSample){
    .thread = flam_austin_thread (
        reader->austin, reader->pid, interpreter, tid, length, 16),
  };
  reader->open = TRUE;
  reader->repeat = FALSE;
  g_array_set_size (reader->stack, 0);
  return TRUE;
}

static void
push_frame (Reader *reader, const char *file, const char *name, gsize length)
{
  Frame frame;

  frame.frame = flam_austin_frame (
      reader->austin, file, strlen (file), name, length, 0, &frame.python);
  g_array_append_val (reader->stack, frame);
}

static gboolean
read_frame (Reader *reader)
{
  gint64 key, file, name, line, ignored;
  g_autofree char *path = NULL;
  g_autofree char *function = NULL;
  Entry entry;

  if (!read_int (reader, &key) || !read_int (reader, &file) ||
      !read_int (reader, &name) || !read_int (reader, &line))
    return FALSE;
  for (guint i = 0; i < 3 && reader->version >= 2; i++)
    if (!read_int (reader, &ignored))
      return FALSE;
  path = get_string (reader, file);
  function = get_string (reader, name);
  entry = (Entry){ .pid = reader->pid, .key = key };
  entry.value = flam_austin_frame (reader->austin,
                                   path,
                                   strlen (path),
                                   function,
                                   strlen (function),
                                   line,
                                   &entry.python);
  set_entry (&reader->frames, entry);
  return TRUE;
}

static gboolean
read_frame_ref (Reader *reader)
{
  gint64 key;
  const Entry *entry;
  Frame frame;

  if (!read_int (reader, &key))
    return FALSE;
  entry = get_entry (reader, &reader->frames, key);
  if (entry == NULL)
    push_frame (reader, "", "", 0);
  else
    {
      frame = (Frame){ entry->value, entry->python };
      g_array_append_val (reader->stack, frame);
    }
  return TRUE;
}

static gboolean
read_string (Reader *reader)
{
  Entry entry = { .pid = reader->pid };
  const char *text;
  gsize length;

  if (!read_int (reader, &entry.key) || !read_text (reader, &text, &length))
    return FALSE;
  entry.value = flam_builder_string (reader->austin->builder, text, length);
  set_entry (&reader->strings, entry);
  return TRUE;
}

static gboolean
read_metadata (Reader *reader)
{
  const char *key, *value;
  gsize key_length, length;

  if (!read_text (reader, &key, &key_length) ||
      !read_text (reader, &value, &length))
    return FALSE;
  flam_austin_tell (reader->austin, key, key_length, value, length);
  return TRUE;
}

static gboolean
read_event (Reader *reader)
{
  const char *text;
  gsize length;
  gint64 ignored;

  switch (*reader->at++)
    {
    case METADATA:
      return read_metadata (reader);
    case STACK:
      return begin_sample (reader);
    case FRAME:
      return read_frame (reader);
    case FRAME_INVALID:
      push_frame (reader, "", "INVALID", 7);
      return TRUE;
    case FRAME_REF:
      return read_frame_ref (reader);
    case FRAME_KERNEL:
      if (!read_text (reader, &text, &length))
        return FALSE;
      push_frame (reader, "kernel", text, length);
      return TRUE;
    case GC:
      push_frame (reader, "", "GC", 2);
      return TRUE;
    case IDLE:
      reader->sample.idle = TRUE;
      return TRUE;
    case TIME:
      return read_int (reader, &reader->sample.time);
    case MEMORY:
      return read_int (reader, &reader->sample.memory);
    case STRING:
      return read_string (reader);
    case STRING_REF:
      return read_int (reader, &ignored);
    case STACK_REPEAT:
      reader->repeat = TRUE;
      return TRUE;
    default:
      reader->at--;
      return FALSE;
    }
}

static gboolean
read_events (Reader *reader, GError **error)
{
  guint64 events = 0;

  while (reader->at < reader->end && read_event (reader))
    if (++events % 65536 == 0 &&
        !flam_load_step (reader->load, reader->at, error))
      return FALSE;
  return TRUE;
}

static gboolean
check_end (Reader *reader, GError **error)
{
  guint64 offset = reader->at - reader->load->source->data;
  gboolean cut = reader->at == reader->end;

  end_sample (reader);
  if (cut && reader->austin->samples > 0)
    return TRUE;
  if (reader->austin->samples == 0)
    return flam_source_error (
        reader->load->source,
        error,
        cut ? FLAM_ERROR_TRUNCATED : FLAM_ERROR_INVALID,
        offset,
        cut ? N_ ("it ends before its first sample")
            : N_ ("this is not the beginning of an Austin event"));
  flam_load_partial (reader->load,
                     reader->at,
                     N_ ("byte %" PRIu64 " is not the beginning of an Austin "
                         "event: the part before it is shown"),
                     offset);
  return TRUE;
}

gboolean
flam_mojo_read (FlamAustin *austin, FlamLoad *load, GError **error)
{
  const FlamSource *source = load->source;
  Reader *reader = flam_arena_new (load, Reader);

  reader->austin = austin;
  reader->load = load;
  reader->at = source->data + MIN (source->size, 3);
  reader->end = source->data + source->size;
  reader->stack = flam_arena_array (load, Frame);
  flam_arena_interner (load, &reader->strings.index);
  flam_arena_column (load, &reader->strings.entries, Entry);
  flam_arena_interner (load, &reader->frames.index);
  flam_arena_column (load, &reader->frames.entries, Entry);
  read_int (reader, &reader->version);
  return read_events (reader, error) && check_end (reader, error);
}
