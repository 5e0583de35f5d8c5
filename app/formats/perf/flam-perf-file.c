/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-perf-file.h"
#include "flam-perf-records.h"

/* The first bytes, by the order of bytes. */
#define LITTLE "PERFILE2"
#define BIG "2ELIFREP"
#define MAX_EVENTS 4096
#define HEADER_SIZE 104
#define ATTR_SIZE_V0 64
#define TRACEPOINT 2        /* type of an event */
#define MAX_TRACEPOINTS 256 /* of kmem and sched; there are about 40 */

/* Bits of the header, and ids of HEADER_FEATURE records. */
enum
{
  FEATURE_TRACING_DATA = 1,
  FEATURE_BUILD_ID = 2,
  FEATURE_HOSTNAME = 3,
  FEATURE_OSRELEASE = 4,
  FEATURE_ARCH = 6,
  FEATURE_COMMAND = 11,
  FEATURE_EVENT_DESC = 12,
  FEATURE_STAT = 19,
  FEATURE_DIR_FORMAT = 24,
  FEATURE_CLOCK_DATA = 29,
  N_FEATURES = 256,
};

static FlamPerfBytes
bytes_of (const FlamPerfFile *file, guint64 offset, guint64 size)
{
  const FlamSource *source = file->source;
  FlamPerfBytes bytes = { source->data, source->data, FALSE, file->swap };

  if (offset > source->size || size > source->size - offset)
    {
      bytes.bad = TRUE;
      return bytes;
    }
  bytes.p += offset;
  bytes.end = bytes.p + size;
  return bytes;
}

static void
event_free (gpointer data)
{
  FlamPerfEvent *event = data;

  g_free (event->name);
  g_free (event);
}

void
flam_perf_file_free (FlamPerfFile *file)
{
  if (!file)
    return;
  g_ptr_array_unref (file->parts);
  g_ptr_array_unref (file->events);
  g_hash_table_unref (file->ids);
  g_hash_table_unref (file->build_ids);
  g_free (file->host);
  g_free (file->release);
  g_free (file->command);
  g_free (file->arch);
  g_free (file);
}

/* --- names --------------------------------------------------------------- */

/* enum perf_type_id, perf_hw_id and perf_sw_ids. */
static char *
name_of (guint32 type, guint64 config)
{
  static const char *const hardware[] = {
    "cycles",
    "instructions",
    "cache-references",
    "cache-misses",
    "branches",
    "branch-misses",
    "bus-cycles",
    "stalled-cycles-frontend",
    "stalled-cycles-backend",
    "ref-cycles",
  };
  static const char *const software[] = {
    "cpu-clock",        "task-clock",   "page-faults",  "context-switches",
    "cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
    "emulation-faults", "dummy",        "bpf-output",   "cgroup-switches",
  };

  if (type == 0 && (config & 0xffffffff) < G_N_ELEMENTS (hardware))
    return g_strdup (hardware[config & 0xffffffff]);
  if (type == 1 && config < G_N_ELEMENTS (software))
    return g_strdup (software[config]);
  if (type == 4)
    return g_strdup_printf ("raw 0x%" G_GINT64_MODIFIER "x", config);
  return g_strdup_printf ("event %u:0x%" G_GINT64_MODIFIER "x", type, config);
}

/* perf_header_string: a length and that many bytes, NUL-terminated within. */
static char *
read_string (FlamPerfBytes *bytes)
{
  guint32 size = flam_perf_read_u32 (bytes);
  const guint8 *text = flam_perf_read_bytes (bytes, size);

  return text ? g_strndup ((const char *)text, size) : NULL;
}

/* --- events -------------------------------------------------------------- */

/* Bit fields of a big-endian machine begin with the highest bit of each byte.
 */
static guint64
read_flags (FlamPerfBytes *in)
{
  guint64 flags = 0;
  const guint8 *bytes;

  if (!in->swap)
    return flam_perf_read_u64 (in);
  bytes = flam_perf_read_bytes (in, 8);
  for (guint bit = 0; bytes != NULL && bit < 64; bit++)
    flags |= (guint64)(bytes[bit / 8] >> (7 - bit % 8) & 1) << bit;
  return flags;
}

static FlamPerfEvent *
add_event (FlamPerfFile *file, FlamPerfBytes in)
{
  FlamPerfEvent *event;

  if (flam_perf_left (&in) < ATTR_SIZE_V0 || file->events->len >= MAX_EVENTS)
    return NULL;
  event = g_new0 (FlamPerfEvent, 1);
  event->type = flam_perf_read_u32 (&in);
  flam_perf_read_u32 (&in);
  event->config = flam_perf_read_u64 (&in);
  event->period = flam_perf_read_u64 (&in);
  event->sample_type = flam_perf_read_u64 (&in);
  event->read_format = flam_perf_read_u64 (&in);
  event->flags = read_flags (&in);
  flam_perf_read_bytes (&in, 24);
  if (flam_perf_left (&in) >= 8)
    event->branch_type = flam_perf_read_u64 (&in);
  if (flam_perf_left (&in) >= 12)
    {
      event->regs_user = flam_perf_read_u64 (&in);
      event->stack_user = flam_perf_read_u32 (&in);
    }
  if (event->flags & FLAM_PERF_FLAG_CLOCKID)
    event->monotonic = flam_perf_read_u32 (&in) == 1;
  event->name = name_of (event->type, event->config);
  g_ptr_array_add (file->events, event);
  return event;
}

static void
add_ids (FlamPerfFile *file, FlamPerfBytes in, guint event)
{
  while (flam_perf_left (&in) >= 8)
    {
      guint64 id = flam_perf_read_u64 (&in);
      g_hash_table_replace (
          file->ids, g_memdup2 (&id, sizeof id), GUINT_TO_POINTER (event + 1));
    }
}

static gboolean
read_attrs (FlamPerfFile *file,
            guint64 entry_size,
            guint64 offset,
            guint64 size,
            GError **error)
{
  FlamPerfBytes attrs = bytes_of (file, offset, size);

  if (attrs.bad || entry_size < ATTR_SIZE_V0 + 16 || size < entry_size)
    return flam_source_error (file->source,
                              error,
                              FLAM_ERROR_INVALID,
                              16,
                              N_ ("the table of events lies outside the file"));
  while (flam_perf_left (&attrs) >= entry_size)
    {
      FlamPerfBytes attr = attrs, section;
      guint64 ids_offset, ids_size;

      attr.end = attr.p + entry_size - 16;
      section = (FlamPerfBytes){ attr.end, attr.end + 16, FALSE, file->swap };
      ids_offset = flam_perf_read_u64 (&section);
      ids_size = flam_perf_read_u64 (&section);
      if (add_event (file, attr))
        add_ids (
            file, bytes_of (file, ids_offset, ids_size), file->events->len - 1);
      flam_perf_read_bytes (&attrs, entry_size);
    }
  return TRUE;
}

/* --- features ------------------------------------------------------------ */

char *
flam_perf_hex (const guint8 *bytes, gsize size)
{
  GString *hex = g_string_sized_new (2 * size);

  for (gsize i = 0; i < size; i++)
    g_string_append_printf (hex, "%02x", bytes[i]);
  return g_string_free (hex, FALSE);
}

/* build_id_event: record header, pid, 20 bytes, their true number and padding,
 * path. A bit of the header marks the number as valid; older files have 20. */
static void
note_build_id (FlamPerfFile *file, guint16 misc, FlamPerfBytes in)
{
  const guint8 *id;
  gsize size = 20;
  char *path;

  flam_perf_read_u32 (&in);
  id = flam_perf_read_bytes (&in, 24);
  if (!id || flam_perf_left (&in) == 0)
    return;
  if ((misc & FLAM_PERF_MISC_BUILD_ID_SIZE) && id[20] <= 20)
    size = id[20];
  path = g_strndup ((const char *)in.p, flam_perf_left (&in));
  g_hash_table_replace (file->build_ids, path, flam_perf_hex (id, size));
}

static void
read_build_ids (FlamPerfFile *file, FlamPerfBytes in)
{
  while (flam_perf_left (&in) >= 8)
    {
      FlamPerfBytes body = in;
      guint16 misc = flam_perf_u16 (in.p + 4, in.swap);
      guint16 size = flam_perf_u16 (in.p + 6, in.swap);

      in.p += 8;
      if (size < 8 || !flam_perf_read_bytes (&in, size - 8))
        return;
      body.p += 8;
      body.end = in.p;
      note_build_id (file, misc, body);
    }
}

static void
read_command (FlamPerfFile *file, FlamPerfBytes in)
{
  guint32 n = flam_perf_read_u32 (&in);
  g_autoptr (GString) command = g_string_new (NULL);

  for (guint32 i = 0; i < n && !in.bad && flam_perf_left (&in) > 0; i++)
    {
      g_autofree char *word = read_string (&in);
      if (!word)
        break;
      if (command->len)
        g_string_append_c (command, ' ');
      g_string_append (command, word);
    }
  g_free (file->command);
  file->command = g_string_free (g_steal_pointer (&command), FALSE);
}

/* Names of every event, in the order of attrs. */
static void
read_descriptions (FlamPerfFile *file, FlamPerfBytes in)
{
  guint32 n = flam_perf_read_u32 (&in);
  guint32 attr_size = flam_perf_read_u32 (&in);

  for (guint32 i = 0; i < n && !in.bad && flam_perf_left (&in) > 0; i++)
    {
      FlamPerfBytes ids = in;
      guint32 n_ids;
      g_autofree char *name = NULL;
      guint event = i;

      flam_perf_read_bytes (&in, attr_size);
      n_ids = flam_perf_read_u32 (&in);
      name = read_string (&in);
      ids.p = in.p;
      if (!flam_perf_read_bytes (&in, (guint64)n_ids * 8) || !name)
        return;
      ids.end = in.p;
      if (n_ids > 0)
        {
          int found =
              flam_perf_file_find_event (file, flam_perf_read_u64 (&ids));
          if (found >= 0)
            event = found;
        }
      if (event < file->events->len && *name)
        {
          FlamPerfEvent *known = g_ptr_array_index (file->events, event);
          g_free (known->name);
          known->name = g_steal_pointer (&name);
        }
    }
}

static void
read_clock (FlamPerfFile *file, FlamPerfBytes in)
{
  guint64 wall, clock;

  flam_perf_read_u64 (&in); /* version, clockid */
  wall = flam_perf_read_u64 (&in);
  clock = flam_perf_read_u64 (&in);
  if (in.bad)
    return;
  file->wall_clock = wall;
  file->clock = clock;
}

/* --- tracepoints --------------------------------------------------------- */

/* Up to a NUL, which is skipped; NULL: there is none. */
static const char *
read_name (FlamPerfBytes *bytes)
{
  const guint8 *start = bytes->p;
  const guint8 *end = memchr (start, '\0', flam_perf_left (bytes));

  if (end == NULL)
    bytes->bad = TRUE;
  bytes->p = end != NULL ? end + 1 : bytes->end;
  return end != NULL ? (const char *)start : NULL;
}

/* The number after the first `key` in a text; -1: none. */
static gint64
number_after (const char *text, const char *key)
{
  const char *at = text != NULL ? strstr (text, key) : NULL;

  return at != NULL ? (gint64)g_ascii_strtoull (at + strlen (key), NULL, 10)
                    : -1;
}

/* The offset of a field of this name and size; 0: there is none. */
static guint32
offset_of (const char *text, const char *name, gint64 size)
{
  g_autofree char *words = g_strdup_printf (" %s;", name);
  const char *field = strstr (text, words);
  gint64 offset = number_after (field, "offset:");

  return offset > 0 && offset <= G_MAXUINT16 &&
                 number_after (field, "size:") == size
             ? (guint32)offset
             : 0;
}

/* kmem's kmalloc, kmem_cache_alloc and their variants for a node have the bytes
 * that the allocator gave, which is what "perf kmem stat" adds up. */
static void
note_tracepoint (FlamPerfFile *file, FlamPerfBytes in)
{
  g_autofree char *text = g_strndup ((const char *)in.p, flam_perf_left (&in));
  gint64 id = number_after (text, "\nID: ");

  for (guint i = 0; id >= 0 && i < file->events->len; i++)
    {
      FlamPerfEvent *event = g_ptr_array_index (file->events, i);

      if (event->type != TRACEPOINT || event->config != (guint64)id)
        continue;
      event->bytes_at = offset_of (text, "bytes_alloc", 8);
      event->state_at = offset_of (text, "prev_state", 8);
      event->next_at = offset_of (text, "next_pid", 4);
    }
}

static FlamPerfBytes
read_text (FlamPerfBytes *in)
{
  guint64 size = flam_perf_read_u64 (in);
  const guint8 *text = flam_perf_read_bytes (in, size);

  return text != NULL ? (FlamPerfBytes){ text, text + size, FALSE, in->swap }
                      : (FlamPerfBytes){ in->end, in->end, TRUE, in->swap };
}

static void
read_tracing (FlamPerfFile *file, FlamPerfBytes in)
{
  static const char magic[] = "\027\010Dtracing";
  const guint8 *start = flam_perf_read_bytes (&in, strlen (magic));
  guint n_noted = 0;
  guint32 n;

  if (start == NULL || memcmp (start, magic, strlen (magic)) != 0)
    return;
  read_name (&in);
  flam_perf_read_bytes (&in, 6);
  for (guint i = 0; i < 2; i++)
    {
      read_name (&in);
      read_text (&in);
    }
  n = flam_perf_read_u32 (&in);
  for (guint32 i = 0; i < n && !in.bad; i++)
    read_text (&in);
  n = flam_perf_read_u32 (&in);
  for (guint32 i = 0; i < n && !in.bad; i++)
    {
      const char *system = read_name (&in);
      guint32 n_texts = flam_perf_read_u32 (&in);

      for (guint32 j = 0; j < n_texts && !in.bad; j++)
        {
          FlamPerfBytes text = read_text (&in);

          if (!in.bad &&
              (strcmp (system, "kmem") == 0 || strcmp (system, "sched") == 0) &&
              n_noted++ < MAX_TRACEPOINTS)
            note_tracepoint (file, text);
        }
    }
}

/* The output of each of the recorder's threads, beside this file. */
static gboolean
open_parts (FlamPerfFile *file, const FlamProgress *progress, GError **error)
{
  g_autofree char *folder = g_path_get_dirname (file->source->path);

  for (guint i = 0;; i++)
    {
      g_autofree char *name = g_strdup_printf ("data.%u", i);
      g_autofree char *path = g_build_filename (folder, name, NULL);
      FlamSource *part;

      if (!g_file_test (path, G_FILE_TEST_IS_REGULAR))
        break;
      part = flam_source_open (path, progress, error);
      if (part == NULL)
        return FALSE;
      g_ptr_array_add (file->parts, part);
      file->whole_size += part->size;
    }
  file->parts_missing = file->parts->len == 0;
  return TRUE;
}

static void
read_feature (FlamPerfFile *file, guint64 feature, FlamPerfBytes in)
{
  switch (feature)
    {
    case FEATURE_TRACING_DATA:
      if (!file->pipe) /* a pipe has a record for it */
        read_tracing (file, in);
      break;
    case FEATURE_BUILD_ID:
      read_build_ids (file, in);
      break;
    case FEATURE_HOSTNAME:
      g_free (file->host);
      file->host = read_string (&in);
      break;
    case FEATURE_OSRELEASE:
      g_free (file->release);
      file->release = read_string (&in);
      break;
    case FEATURE_ARCH:
      g_free (file->arch);
      file->arch = read_string (&in);
      break;
    case FEATURE_COMMAND:
      read_command (file, in);
      break;
    case FEATURE_STAT:
      file->counts = TRUE;
      break;
    case FEATURE_EVENT_DESC:
      read_descriptions (file, in);
      break;
    case FEATURE_CLOCK_DATA:
      read_clock (file, in);
      break;
    default:
      break;
    }
}

static gboolean
has_bit (const FlamPerfFile *file,
         const guint8 *bits,
         guint bit,
         gboolean narrow)
{
  guint64 word;

  if (narrow)
    word = flam_perf_u32 (bits + bit / 32 * 4, file->swap);
  else
    word = flam_perf_u64 (bits + bit / 64 * 8, file->swap);
  return (word >> (narrow ? bit % 32 : bit % 64) & 1) != 0;
}

/* The words have the width of the recording machine's, which matters if it is
 * big-endian. Every recorder sets the bit of its host's name, from which perf,
 * too, derives the width. */
static gboolean
has_feature (const FlamPerfFile *file, const guint8 *bits, guint feature)
{
  gboolean narrow = file->swap &&
                    !has_bit (file, bits, FEATURE_HOSTNAME, FALSE) &&
                    has_bit (file, bits, FEATURE_HOSTNAME, TRUE);

  return has_bit (file, bits, feature, narrow);
}

static void
read_features (FlamPerfFile *file, const guint8 *bits)
{
  FlamPerfBytes table =
      bytes_of (file, file->data_end, file->source->size - file->data_end);

  for (guint bit = 0; bit < N_FEATURES; bit++)
    {
      guint64 offset, size;

      if (!has_feature (file, bits, bit))
        continue;
      offset = flam_perf_read_u64 (&table);
      size = flam_perf_read_u64 (&table);
      if (table.bad)
        return;
      read_feature (file, bit, bytes_of (file, offset, size));
    }
}

/* --- pipe mode ----------------------------------------------------------- */

/* EVENT_UPDATE: the kind (2: name), id, text. */
static void
note_update (FlamPerfFile *file, FlamPerfBytes in)
{
  guint64 kind = flam_perf_read_u64 (&in);
  int event = flam_perf_file_find_event (file, flam_perf_read_u64 (&in));
  FlamPerfEvent *known;

  if (kind != 2 || event < 0 || in.bad || flam_perf_left (&in) == 0)
    return;
  known = g_ptr_array_index (file->events, event);
  g_free (known->name);
  known->name = g_strndup ((const char *)in.p, flam_perf_left (&in));
}

static void
note_attr (FlamPerfFile *file, FlamPerfBytes in)
{
  FlamPerfBytes attr = in, ids = in;
  guint32 size;

  if (flam_perf_left (&in) < ATTR_SIZE_V0)
    return;
  size = flam_perf_u32 (in.p + 4, in.swap);
  if (size < ATTR_SIZE_V0 || !flam_perf_read_bytes (&in, size))
    return;
  attr.end = ids.p = in.p;
  if (add_event (file, attr))
    add_ids (file, ids, file->events->len - 1);
}

void
flam_perf_file_note (FlamPerfFile *file,
                     guint32 type,
                     guint16 misc,
                     FlamPerfBytes body)
{
  switch (type)
    {
    case FLAM_PERF_HEADER_ATTR:
      note_attr (file, body);
      break;
    case FLAM_PERF_EVENT_UPDATE:
      note_update (file, body);
      break;
    case FLAM_PERF_TRACING_DATA:
      read_tracing (file, body);
      break;
    case FLAM_PERF_HEADER_BUILD_ID:
      note_build_id (file, misc, body);
      break;
    case FLAM_PERF_HEADER_FEATURE:
      {
        guint64 feature = flam_perf_read_u64 (&body);
        read_feature (file, feature, body);
        break;
      }
    default:
      break;
    }
}

/* --- opening ------------------------------------------------------------- */

static gboolean
begins_with (const FlamSource *source, const char *magic)
{
  return source->size >= 8 && memcmp (source->data, magic, 8) == 0;
}

gboolean
flam_perf_file_probe (const FlamSource *source)
{
  return begins_with (source, LITTLE) || begins_with (source, BIG) ||
         begins_with (source, "PERFFILE");
}

static gboolean
check_magic (const FlamSource *source, GError **error)
{
  if (begins_with (source, "PERFFILE"))
    flam_source_error (source,
                       error,
                       FLAM_ERROR_UNSUPPORTED,
                       0,
                       N_ ("this is the perf.data format from before Linux 3.5 "
                           "(version 1), which is not supported"));
  else if (!begins_with (source, LITTLE) && !begins_with (source, BIG))
    flam_source_error (
        source, error, FLAM_ERROR_INVALID, 0, N_ ("not a perf.data file"));
  else if (source->size < 16)
    flam_source_error (source,
                       error,
                       FLAM_ERROR_TRUNCATED,
                       source->size,
                       N_ ("the file ends within its header"));
  else
    return TRUE;
  return FALSE;
}

static gboolean
read_header (FlamPerfFile *file, const FlamProgress *progress, GError **error)
{
  FlamPerfBytes in = bytes_of (file, 0, file->source->size);
  guint64 size, entry_size, attrs, attrs_size, data_size, left;
  const guint8 *bits;

  flam_perf_read_u64 (&in);
  size = flam_perf_read_u64 (&in);
  if (size == 16)
    {
      file->pipe = TRUE;
      file->data_offset = 16;
      file->data_end = file->whole_size = file->source->size;
      return TRUE;
    }
  entry_size = flam_perf_read_u64 (&in);
  attrs = flam_perf_read_u64 (&in);
  attrs_size = flam_perf_read_u64 (&in);
  file->data_offset = flam_perf_read_u64 (&in);
  data_size = flam_perf_read_u64 (&in);
  flam_perf_read_bytes (&in, 16);
  bits = flam_perf_read_bytes (&in, N_FEATURES / 8);
  if (!bits || size < HEADER_SIZE || file->data_offset > file->source->size)
    return flam_source_error (file->source,
                              error,
                              FLAM_ERROR_TRUNCATED,
                              file->source->size,
                              N_ ("the file ends before its data begins"));
  left = file->source->size - file->data_offset;
  file->interrupted = data_size == 0 || data_size > left;
  if (file->interrupted)
    file->data_end = file->source->size;
  else
    file->data_end = file->data_offset + data_size;
  file->whole_size = file->source->size;
  if (data_size > left && data_size <= G_MAXUINT64 - file->data_offset)
    file->whole_size = file->data_offset + data_size;
  if (!read_attrs (file, entry_size, attrs, attrs_size, error))
    return FALSE;
  if (file->interrupted)
    return TRUE;
  read_features (file, bits);
  return !has_feature (file, bits, FEATURE_DIR_FORMAT) ||
         open_parts (file, progress, error);
}

FlamPerfFile *
flam_perf_file_new (const FlamSource *source,
                    const FlamProgress *progress,
                    GError **error)
{
  g_autoptr (FlamPerfFile) file = NULL;

  if (!check_magic (source, error))
    return NULL;
  file = g_new0 (FlamPerfFile, 1);
  file->source = source;
  file->swap =
      begins_with (source, G_BYTE_ORDER == G_LITTLE_ENDIAN ? BIG : LITTLE);
  file->parts =
      g_ptr_array_new_with_free_func ((GDestroyNotify)flam_source_free);
  file->events = g_ptr_array_new_with_free_func (event_free);
  file->ids =
      g_hash_table_new_full (flam_hash_int64, g_int64_equal, g_free, NULL);
  file->build_ids =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  if (!read_header (file, progress, error))
    return NULL;
  return g_steal_pointer (&file);
}
