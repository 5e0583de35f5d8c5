/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-trace-cmd-file.h"

#include "flam-stack-text.h"

#include <gio/gio.h>
#include <zstd.h>

#define MAGIC 10
/* Of one packed piece, unpacked. */
#define MOST_UNPACKED (64 << 20)
#define MOST_CPUS 65536
#define MOST_SECTIONS 64

/* A part of the file, or an unpacked section. */
typedef struct
{
  const FlamTraceFile *file;
  const guint8 *at, *end;
  gboolean bad; /* it ended too early */
} Reader;

enum
{
  OPTION_DONE = 0,
  OPTION_BUFFER = 3,
  OPTION_HEADER = 16,
  OPTION_FTRACE,
  OPTION_EVENTS,
  OPTION_KALLSYMS,
  OPTION_PRINTK,
  OPTION_CMDLINES,
};

static guint64
get (Reader *reader, guint size)
{
  guint64 value;

  if ((gsize)(reader->end - reader->at) < size)
    {
      reader->bad = TRUE;
      reader->at = reader->end;
      return 0;
    }
  value = flam_trace_get (reader->file, reader->at, size);
  reader->at += size;
  return value;
}

static FlamSlice
get_bytes (Reader *reader, guint64 size)
{
  FlamSlice slice = { (const char *)reader->at, size };

  if (size > (guint64)(reader->end - reader->at))
    {
      reader->bad = TRUE;
      slice.length = 0;
      reader->at = reader->end;
    }
  else
    reader->at += size;
  return slice;
}

static FlamSlice
get_string (Reader *reader)
{
  const guint8 *nul = memchr (reader->at, 0, reader->end - reader->at);
  FlamSlice slice;

  if (nul == NULL)
    return get_bytes (reader, G_MAXUINT64);
  slice = get_bytes (reader, nul - reader->at);
  reader->at++;
  return slice;
}

/* --- packed sections ----------------------------------------------------- */

static gboolean
unpack_zlib (const guint8 *packed, gsize n, guint8 *into, gsize size)
{
  g_autoptr (GConverter) zlib =
      G_CONVERTER (g_zlib_decompressor_new (G_ZLIB_COMPRESSOR_FORMAT_ZLIB));
  gsize read, written;

  return g_converter_convert (zlib,
                              packed,
                              n,
                              into,
                              size,
                              G_CONVERTER_INPUT_AT_END,
                              &read,
                              &written,
                              NULL) != G_CONVERTER_ERROR &&
         written == size;
}

static gboolean
unpack_into (FlamTracePacking packing,
             const guint8 *packed,
             gsize n,
             guint8 *into,
             gsize size)
{
  if (packing == FLAM_TRACE_ZSTD)
    return ZSTD_decompress (into, size, packed, n) == size;
  return packing == FLAM_TRACE_ZLIB && unpack_zlib (packed, n, into, size);
}

guint8 *
flam_trace_file_unpack (const FlamTraceFile *file,
                        const guint8 **at,
                        const guint8 *end,
                        gsize *size)
{
  Reader reader = { file, *at, end, FALSE };
  guint64 packed = get (&reader, 4), unpacked = get (&reader, 4);
  FlamSlice data = get_bytes (&reader, packed);
  guint8 *into;

  *at = reader.at;
  if (reader.bad || unpacked == 0 || unpacked > MOST_UNPACKED)
    return NULL;
  into = g_malloc (unpacked);
  if (!unpack_into (file->packing,
                    (const guint8 *)data.text,
                    data.length,
                    into,
                    unpacked))
    g_clear_pointer (&into, g_free);
  *size = unpacked;
  return into;
}

/* --- formats of events --------------------------------------------------- */

static const struct
{
  const char *name;
  FlamTraceKind kind;
  const char *fields[FLAM_TRACE_MOST_FIELDS];
} known[] = {
  { "funcgraph_entry", FLAM_TRACE_ENTRY, { "func" } },
  { "funcgraph_exit", FLAM_TRACE_EXIT, { "func", "calltime", "rettime" } },
  { "function", FLAM_TRACE_FUNCTION, { "ip", "parent_ip" } },
  { "kernel_stack", FLAM_TRACE_STACK, { "caller" } },
  { "user_stack", FLAM_TRACE_USER, { NULL } },
  { "sched_switch",
    FLAM_TRACE_SWITCH,
    { "prev_pid", "prev_state", "next_pid", "prev_comm", "next_comm" } },
};

/* "	field:unsigned long caller[8];	offset:16;	size:64;
 * signed:0;" */
static gboolean
parse_field (FlamSlice line, FlamSlice *name, FlamTraceField *field)
{
  gsize start = flam_slice_find (line, "field:");
  gsize end = flam_slice_find (line, ";");
  gint64 offset = flam_slice_number_after (line, "\toffset:");
  gint64 size = flam_slice_number_after (line, "\tsize:");
  gsize space, bracket;

  if (start >= end || end == line.length || offset < 0 || size < 0 ||
      offset > G_MAXINT16 || size > G_MAXINT16)
    return FALSE;
  *name = (FlamSlice){ line.text + start, end - start };
  bracket = flam_slice_find (*name, "[");
  name->length = bracket;
  *name = flam_slice_strip (*name);
  space = flam_slice_find_last (*name, " ");
  if (space == name->length)
    return FALSE;
  *name = flam_slice_from (*name, space + 1);
  /* An array of unknown length has the size 0. */
  *field = (FlamTraceField){ (guint32)offset, (guint32)MAX (size, 1) };
  return TRUE;
}

static void
set_field (FlamTraceFormat *format, FlamSlice name, FlamTraceField field)
{
  if (flam_slice_is (name, "common_type"))
    format->type = field;
  else if (flam_slice_is (name, "common_pid"))
    format->pid = field;
  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    for (guint j = 0; known[i].kind == format->kind &&
                      j < FLAM_TRACE_MOST_FIELDS && known[i].fields[j] != NULL;
         j++)
      if (flam_slice_is (name, known[i].fields[j]))
        format->fields[j] = field;
}

static void
free_format (gpointer data)
{
  g_free (((FlamTraceFormat *)data)->name);
  g_free (data);
}

/* "name: sched_switch\nID: 314\nformat:\n\tfield:…" */
static void
read_format (FlamTraceFile *file, FlamSlice system, FlamSlice text)
{
  FlamTraceFormat *format = g_new0 (FlamTraceFormat, 1);
  FlamText lines = { .start = text.text,
                     .at = text.text,
                     .end = text.text + text.length,
                     .tell_at = (const char *)G_MAXSIZE };
  gint64 id = -1;
  FlamSlice line;

  while (flam_text_next (&lines, &line.text, &line.length))
    {
      FlamSlice name;
      FlamTraceField field;

      if (flam_slice_begins (line, "name: "))
        {
          name = flam_slice_from (line, strlen ("name: "));
          g_free (format->name);
          format->name = g_strdup_printf ("%.*s:%.*s",
                                          (int)MIN (system.length, 200),
                                          system.text,
                                          (int)MIN (name.length, 200),
                                          name.text);
          for (guint i = 0; i < G_N_ELEMENTS (known); i++)
            if (flam_slice_is (name, known[i].name))
              format->kind = known[i].kind;
        }
      else if (flam_slice_begins (line, "ID: "))
        id = flam_slice_number_after (line, "ID: ");
      else if (parse_field (line, &name, &field))
        set_field (format, name, field);
    }
  if (id < 0 || id > G_MAXUINT16 || format->name == NULL)
    {
      free_format (format);
      return;
    }
  g_hash_table_replace (file->formats, GINT_TO_POINTER ((int)id), format);
}

static void
read_formats (FlamTraceFile *file, Reader *reader, FlamSlice system)
{
  guint64 n = get (reader, 4);

  for (guint64 i = 0; i < n && !reader->bad; i++)
    {
      FlamSlice text = get_bytes (reader, get (reader, 8));

      if (!reader->bad)
        read_format (file, system, text);
    }
}

/* --- sections ------------------------------------------------------------ */

/* The size of the kernel's long is that of the field "commit". */
static void
read_header (FlamTraceFile *file, Reader *reader)
{
  FlamText lines;
  FlamSlice text, line, name;
  FlamTraceField field;

  get_string (reader);
  text = get_bytes (reader, get (reader, 8));
  lines = (FlamText){ .start = text.text,
                      .at = text.text,
                      .end = text.text + text.length,
                      .tell_at = (const char *)G_MAXSIZE };
  while (!reader->bad && flam_text_next (&lines, &line.text, &line.length))
    if (parse_field (line, &name, &field) && flam_slice_is (name, "commit") &&
        (field.size == 4 || field.size == 8))
      file->long_size = field.size;
  get_string (reader);
  get_bytes (reader, get (reader, 8));
}

static void
read_systems (FlamTraceFile *file, Reader *reader)
{
  guint64 n = get (reader, 4);

  for (guint64 i = 0; i < n && !reader->bad; i++)
    {
      FlamSlice system = get_string (reader);

      read_formats (file, reader, system);
    }
}

static void
read_kallsyms (FlamTraceFile *file, Reader *reader)
{
  FlamSlice text = get_bytes (reader, get (reader, 4));

  if (!reader->bad && text.length > 0 && file->symbols == NULL)
    file->symbols = flam_arena_keep (file->load,
                                     flam_kallsyms_new (text.text, text.length),
                                     flam_kallsyms_free);
}

/* "4711 cook\n" */
static void
read_names (FlamTraceFile *file, Reader *reader)
{
  FlamSlice text = get_bytes (reader, get (reader, 8)), line;
  FlamText lines = { .start = text.text,
                     .at = text.text,
                     .end = text.text + text.length,
                     .tell_at = (const char *)G_MAXSIZE };

  while (!reader->bad && flam_text_next (&lines, &line.text, &line.length))
    {
      const char *at = line.text, *end = at + line.length;
      gint64 pid;

      if (flam_text_number (&at, end, &pid) && at < end && *at == ' ' &&
          pid <= G_MAXINT32)
        g_hash_table_replace (file->names,
                              GINT_TO_POINTER ((int)pid),
                              g_strndup (at + 1, end - at - 1));
    }
}

static void
add_cpu (FlamTraceFile *file, const FlamTraceCpu *cpu)
{
  const FlamSource *source = file->load->source;
  FlamTraceCpu inside = *cpu;

  if (cpu->offset >= source->size || cpu->size == 0 ||
      file->cpus.n >= MOST_CPUS)
    return;
  inside.size = MIN (cpu->size, source->size - cpu->offset);
  if (inside.size < cpu->size)
    flam_load_partial (file->load,
                       source->data + source->size,
                       N_ ("the file ends within the events of a CPU"));
  flam_column_append (&file->cpus, FlamTraceCpu, inside);
}

/* --- version 6 ----------------------------------------------------------- */

static void
read_cpus (FlamTraceFile *file, Reader *reader, guint64 n)
{
  for (guint64 i = 0; i < n && !reader->bad; i++)
    {
      FlamTraceCpu cpu = { .cpu = (guint32)i, .page = file->page };

      cpu.offset = get (reader, 8);
      cpu.size = get (reader, 8);
      if (!reader->bad)
        add_cpu (file, &cpu);
    }
}

static gboolean
read_old (FlamTraceFile *file, Reader *reader, GError **error)
{
  FlamSlice word;
  guint64 n;

  read_header (file, reader);
  read_formats (file, reader, (FlamSlice){ "ftrace", 6 });
  read_systems (file, reader);
  read_kallsyms (file, reader);
  get_bytes (reader, get (reader, 4));
  read_names (file, reader);
  n = get (reader, 4);
  word = get_bytes (reader, MAGIC);
  if (flam_slice_begins (word, "options"))
    {
      while (!reader->bad && get (reader, 2) != OPTION_DONE)
        get_bytes (reader, get (reader, 4));
      word = get_bytes (reader, MAGIC);
    }
  if (flam_slice_begins (word, "latency"))
    return flam_source_error (file->load->source,
                              error,
                              FLAM_ERROR_UNSUPPORTED,
                              FLAM_NO_OFFSET,
                              N_ ("this trace-cmd file contains the text of a "
                                  "latency tracer, which has no stacks"));
  if (flam_slice_begins (word, "flyrecord"))
    read_cpus (file, reader, n);
  return TRUE;
}

/* --- version 7 ----------------------------------------------------------- */

/* The content of the section there; FALSE: it is damaged. */
static gboolean
open_section (FlamTraceFile *file, guint64 offset, Reader *reader)
{
  const FlamSource *source = file->load->source;
  Reader head = { file, source->data, source->data + source->size, FALSE };
  guint64 flags;
  FlamSlice bytes;
  gsize size;

  get_bytes (&head, offset);
  get (&head, 2);
  flags = get (&head, 2);
  get (&head, 4);
  bytes = get_bytes (&head, get (&head, 8));
  *reader = (Reader){ file,
                      (const guint8 *)bytes.text,
                      (const guint8 *)bytes.text + bytes.length,
                      FALSE };
  if (head.bad)
    return FALSE;
  if (flags & 1)
    {
      const guint8 *at = reader->at;
      guint8 *unpacked = flam_trace_file_unpack (file, &at, reader->end, &size);

      if (unpacked == NULL)
        return FALSE;
      flam_arena_keep (file->load, unpacked, g_free);
      reader->at = unpacked;
      reader->end = unpacked + size;
    }
  return TRUE;
}

static void
read_section (FlamTraceFile *file, guint64 id, guint64 offset)
{
  Reader reader;

  if (!open_section (file, offset, &reader))
    {
      flam_builder_warn (file->load->builder,
                         N_ ("a section of trace-cmd's file is damaged"));
      return;
    }
  switch (id)
    {
    case OPTION_HEADER:
      read_header (file, &reader);
      break;
    case OPTION_FTRACE:
      read_formats (file, &reader, (FlamSlice){ "ftrace", 6 });
      break;
    case OPTION_EVENTS:
      read_systems (file, &reader);
      break;
    case OPTION_KALLSYMS:
      read_kallsyms (file, &reader);
      break;
    case OPTION_CMDLINES:
      read_names (file, &reader);
      break;
    default:
      break;
    }
}

/* {offset of the section, name, clock, page, n, n of {cpu, offset, size}} */
static void
read_buffer (FlamTraceFile *file, Reader option)
{
  const FlamSource *source = file->load->source;
  guint64 offset = get (&option, 8), n, flags = 0;
  guint32 page;

  if (source->size > 4 && offset < source->size - 4)
    flags = flam_trace_get (file, source->data + offset + 2, 2);
  get_string (&option);
  get_string (&option);
  page = (guint32)get (&option, 4);
  n = get (&option, 4);
  for (guint64 i = 0; i < n && !option.bad; i++)
    {
      FlamTraceCpu cpu = { .page = page, .packed = flags & 1 };

      cpu.cpu = (guint32)get (&option, 4);
      cpu.offset = get (&option, 8);
      cpu.size = get (&option, 8);
      if (!option.bad)
        add_cpu (file, &cpu);
    }
}

/* Returns the offset of the next options; 0: there are no more. */
static guint64
read_options (FlamTraceFile *file, guint64 offset)
{
  Reader reader;

  if (!open_section (file, offset, &reader))
    {
      flam_load_partial (
          file->load, NULL, N_ ("the list of its sections is damaged"));
      return 0;
    }
  while (!reader.bad && reader.at < reader.end)
    {
      guint64 id = get (&reader, 2);
      FlamSlice bytes = get_bytes (&reader, get (&reader, 4));
      Reader option = { file,
                        (const guint8 *)bytes.text,
                        (const guint8 *)bytes.text + bytes.length,
                        FALSE };

      if (reader.bad)
        break;
      if (id == OPTION_DONE)
        return get (&option, 8);
      if (id == OPTION_BUFFER)
        read_buffer (file, option);
      else if (id >= OPTION_HEADER && id <= OPTION_CMDLINES)
        read_section (file, id, get (&option, 8));
    }
  return 0;
}

static gboolean
read_new (FlamTraceFile *file, Reader *reader, GError **error)
{
  FlamSlice packing = get_string (reader);
  guint64 offset;

  get_string (reader);
  offset = get (reader, 8);
  if (flam_slice_is (packing, "zlib"))
    file->packing = FLAM_TRACE_ZLIB;
  else if (flam_slice_is (packing, "zstd"))
    file->packing = FLAM_TRACE_ZSTD;
  else if (!flam_slice_is (packing, "none"))
    {
      g_autofree char *name =
          g_strndup (packing.text, MIN (packing.length, 40));

      return flam_source_error (file->load->source,
                                error,
                                FLAM_ERROR_UNSUPPORTED,
                                FLAM_NO_OFFSET,
                                N_ ("it is compressed in an unknown way (%s)"),
                                name);
    }
  for (guint i = 0; offset != 0 && i < MOST_SECTIONS; i++)
    offset = read_options (file, offset);
  return TRUE;
}

/* --- both ---------------------------------------------------------------- */

static void
find_any_format (FlamTraceFile *file)
{
  GHashTableIter each;
  gpointer format;

  g_hash_table_iter_init (&each, file->formats);
  while (g_hash_table_iter_next (&each, NULL, &format))
    if (((FlamTraceFormat *)format)->type.size == 2 &&
        ((FlamTraceFormat *)format)->pid.size == 4)
      file->any = format;
}

gboolean
flam_trace_file_read (FlamTraceFile *file, FlamLoad *load, GError **error)
{
  const FlamSource *source = load->source;
  Reader reader = { file, source->data, source->data + source->size, FALSE };
  FlamSlice version;
  gboolean read;

  *file = (FlamTraceFile){ .load = load, .long_size = 8 };
  file->formats = flam_arena_table (load, FLAM_KEY_DIRECT, free_format);
  file->names = flam_arena_table (load, FLAM_KEY_DIRECT, g_free);
  flam_arena_column (load, &file->cpus, FlamTraceCpu);
  get_bytes (&reader, MAGIC);
  version = get_string (&reader);
  file->big = get (&reader, 1) == 1;
  get (&reader, 1);
  file->page = (guint32)get (&reader, 4);
  if (flam_slice_is (version, "6"))
    read = read_old (file, &reader, error);
  else if (flam_slice_is (version, "7"))
    read = read_new (file, &reader, error);
  else
    return flam_source_error (
        source,
        error,
        FLAM_ERROR_UNSUPPORTED,
        MAGIC,
        N_ ("only versions 6 and 7 of trace-cmd files can be read"));
  if (!read)
    return FALSE;
  find_any_format (file);
  if (file->any == NULL || file->cpus.n == 0)
    return flam_source_error (source,
                              error,
                              FLAM_ERROR_TRUNCATED,
                              source->size,
                              N_ ("the file has no events"));
  return TRUE;
}
