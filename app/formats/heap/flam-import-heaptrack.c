/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-core-query.h"
#include "flam-formats.h"
#include "flam-heaptrack-tables.h"

/* heaptrack's files: lines of a letter and hexadecimal numbers.
 *
 *    v 10400 3            heaptrack's version, the file's (absent: 0 or 1)
 *    X ./program 5        the command
 *    I 1000 5e298d        page size, pages of the machine
 *    s i t m              tables: see flam-heaptrack-tables.h
 *    a 18 9               allocation infos, numbered from 0: size, trace
 *    + 1                  a block of that info is allocated
 *    - 1                  one is released
 *    c 10                 it is now that many ms after the start
 *    R 8f2                resident pages
 *    A                    attached: what was allocated before is unknown
 *    S leak:PATTERN       a suppression the program itself brought
 *    #                    comment
 *
 * From version 3 on strings begin with their length. In files of version 0 and
 * in the raw stream (which has x and m lines and was not interpreted yet) the
 * events are "+ size trace address" and "- address".
 *
 * The figures are those of heaptrack_print, which makes two assumptions. A
 * release is "temporary" if it refers to the info of the allocation right
 * before it, or to info 0 right after another release; a few of those are of
 * another block. And leaks below functions that leak by design (in the C
 * library, the linker, GLib) do not count; here they live to the end and are
 * counted in a warning. Source of facts: heaptrack 1.4's reader. */

#define CHUNK (8 << 20)
#define MAX_SIZE (G_GINT64_CONSTANT (1) << 56)
#define MAX_MS (G_GINT64_CONSTANT (1) << 43)

typedef struct
{
  const FlamLoad *load;
  FlamBuilder *builder;
  FlamLedger *ledger;
  FlamHeaptrackTables tables;
  FlamSuppressions *suppressions;
  guint version;
  gboolean by_address; /* events refer to addresses, not infos */
  guint64 last;        /* info or address of the last event, if it was a + */
  gint64 page_size;
  gint64 now; /* ms */
  guint heap_counter;
  guint rss_counter;
  guint64 bad_lines;
  gsize first_bad;
  guint64 unknown_releases;
  const char *exe; /* raw: the module "x" */
  gsize exe_length;
} Reader;

static guint
probe (const FlamSource *source)
{
  const char *p = (const char *)source->data;
  const char *newline = memchr (p, '\n', MIN (source->size, 64));

  if (newline == NULL || strncmp (p, "v ", 2) != 0)
    return 0;
  for (const char *c = p + 2; c < newline; c++)
    if (!g_ascii_isxdigit (*c) && !g_ascii_isspace (*c))
      return 0;
  return strchr ("xXI#sAScmt+a", newline[1]) != NULL && newline[1] != '\0' ? 95
                                                                           : 0;
}

static void
bad_line (Reader *reader, const guint8 *line)
{
  if (reader->bad_lines++ == 0)
    reader->first_bad = flam_source_offset (reader->load->source, line);
}

/* --- events -------------------------------------------------------------- */

/* The stack is the trace's number until the end. */
static inline FlamSiteKey
site_key (guint64 size, guint64 trace)
{
  return (FlamSiteKey){
    (gint64)size, (FlamId)trace, FLAM_NONE, 1, FLAM_ALLOCATOR_MALLOC
  };
}

static gboolean
allocate_at (Reader *reader, const guint8 *p)
{
  guint64 size, trace, address;
  FlamSiteKey key;

  if ((p = flam_heaptrack_hex (p, &size)) == NULL ||
      (p = flam_heaptrack_hex (p, &trace)) == NULL ||
      flam_heaptrack_hex (p, &address) == NULL || size > MAX_SIZE ||
      trace > reader->tables.traces.n || address == 0)
    return FALSE;
  key = site_key (size, trace);
  flam_ledger_allocate_at (
      reader->ledger, flam_ledger_find_site (reader->ledger, &key), address);
  reader->last = address;
  return TRUE;
}

static gboolean
release_at (Reader *reader, const guint8 *p)
{
  guint64 address;
  int distance;

  if (flam_heaptrack_hex (p, &address) == NULL)
    return FALSE;
  distance = address == reader->last ? 0 : FLAM_LEDGER_FAR;
  reader->last = 0;
  if (flam_ledger_release_at (reader->ledger, address, distance) == FLAM_NONE)
    reader->unknown_releases++;
  return TRUE;
}

static inline gboolean
allocate (Reader *reader, guint64 info)
{
  if (G_UNLIKELY (info >= reader->ledger->heap.sites.n))
    return FALSE;
  flam_ledger_allocate (reader->ledger, (guint32)info);
  reader->last = info;
  return TRUE;
}

static inline gboolean
release (Reader *reader, guint64 info)
{
  gboolean temporary = reader->last == info;

  if (G_UNLIKELY (info >= reader->ledger->heap.sites.n))
    return FALSE;
  reader->last = 0;
  if (G_UNLIKELY (!flam_ledger_release_youngest (
          reader->ledger, (guint32)info, temporary)))
    reader->unknown_releases++;
  return TRUE;
}

/* --- the other lines ----------------------------------------------------- */

static gboolean
read_version (Reader *reader, const guint8 *p, GError **error)
{
  guint64 program = 0, file = 0;

  p = flam_heaptrack_hex (p, &program);
  if (p == NULL || flam_heaptrack_hex (p, &file) == NULL)
    file = program == 0x10200 ? 1 : 0;
  if (file > 3)
    return flam_source_error (
        reader->load->source,
        error,
        FLAM_ERROR_UNSUPPORTED,
        FLAM_NO_OFFSET,
        N_ ("written by a newer heaptrack in version %" PRIu64
            " of its format; versions 0 to 3 are supported"),
        file);
  reader->version = file;
  reader->by_address = file == 0;
  return TRUE;
}

/* A text up to the end of the line, with its length before it in files of
 * version 3. */
static const char *
read_text (Reader *reader,
           const guint8 *p,
           const guint8 *newline,
           gsize *length)
{
  guint64 size;

  *length = newline - p;
  if (reader->version >= 3)
    {
      p = flam_heaptrack_hex (p, &size);
      if (p == NULL || size > (gsize)(newline - p))
        return NULL;
      *length = size;
    }
  return (const char *)p;
}

static gboolean
read_string (Reader *reader, const guint8 *p, const guint8 *newline)
{
  gsize length;
  const char *text = read_text (reader, p, newline, &length);

  /* Its number must not be another's, even if it is invalid. */
  flam_heaptrack_tables_string (
      &reader->tables, text != NULL ? text : "", text != NULL ? length : 0);
  return text != NULL;
}

static gboolean
read_info (Reader *reader, const guint8 *p)
{
  guint64 size = 0, trace = 0;
  gboolean good = (p = flam_heaptrack_hex (p, &size)) != NULL &&
                  flam_heaptrack_hex (p, &trace) != NULL && size <= MAX_SIZE &&
                  trace <= reader->tables.traces.n;
  FlamSiteKey key = site_key (good ? size : 0, good ? trace : 0);

  flam_ledger_add_site (reader->ledger, &key);
  return good;
}

static gboolean
read_ip (Reader *reader, const guint8 *p)
{
  static const guint8 nothing[] = "\n";
  guint64 address = 0, module = 0;
  gboolean good = (p = flam_heaptrack_hex (p, &address)) != NULL &&
                  (p = flam_heaptrack_hex (p, &module)) != NULL &&
                  module <= G_MAXUINT32;

  flam_heaptrack_tables_ip (
      &reader->tables, address, good ? module : 0, good ? p : nothing);
  return good;
}

static gboolean
read_trace (Reader *reader, const guint8 *p)
{
  guint64 ip = 0, parent = 0;
  gboolean good = (p = flam_heaptrack_hex (p, &ip)) != NULL &&
                  flam_heaptrack_hex (p, &parent) != NULL;

  return flam_heaptrack_tables_trace (&reader->tables, ip, parent) && good;
}

static gboolean
read_module (Reader *reader, const guint8 *p, const guint8 *newline)
{
  gsize length;
  const char *path = read_text (reader, p, newline, &length);
  guint64 bias, address, size;

  if (path == NULL)
    return FALSE;
  if (reader->version < 3)
    {
      const char *space = memchr (path, ' ', length);
      length = space != NULL ? (gsize)(space - path) : length;
    }
  if (length == 1 && *path == '-')
    {
      flam_heaptrack_tables_unmap_all (&reader->tables);
      return TRUE;
    }
  p = (const guint8 *)path + length;
  p = flam_heaptrack_hex (p + (*p == ' '), &bias);
  if (length == 1 && *path == 'x' && reader->exe != NULL)
    {
      path = reader->exe;
      length = reader->exe_length;
    }
  while (p != NULL && (p = flam_heaptrack_hex (p, &address)) != NULL &&
         (p = flam_heaptrack_hex (p, &size)) != NULL)
    flam_heaptrack_tables_map (
        &reader->tables, path, length, bias, address, size);
  return TRUE;
}

static gboolean
read_time (Reader *reader, const guint8 *p)
{
  guint64 ms;

  if (flam_heaptrack_hex (p, &ms) == NULL || ms > MAX_MS ||
      (gint64)ms < reader->now)
    return FALSE;
  flam_builder_add_counter_value (reader->builder,
                                  reader->heap_counter,
                                  reader->now * 1000000,
                                  reader->ledger->tick_peak);
  reader->now = (gint64)ms;
  flam_ledger_set_time (reader->ledger, reader->now * 1000000);
  return TRUE;
}

static gboolean
read_resident (Reader *reader, const guint8 *p)
{
  guint64 pages;

  if (flam_heaptrack_hex (p, &pages) == NULL || pages > MAX_SIZE >> 12)
    return FALSE;
  flam_builder_add_counter_value (reader->builder,
                                  reader->rss_counter,
                                  reader->now * 1000000,
                                  pages * reader->page_size);
  return TRUE;
}

static gboolean
read_system (Reader *reader, const guint8 *p)
{
  guint64 page_size;

  if (flam_heaptrack_hex (p, &page_size) == NULL || page_size > 1 << 30)
    return FALSE;
  reader->page_size = page_size;
  return TRUE;
}

/* FALSE: the file cannot be read at all. */
static gboolean
read_line (Reader *reader,
           const guint8 *line,
           const guint8 *newline,
           GError **error)
{
  const guint8 *p;
  gboolean good = TRUE;

  newline -= newline > line && newline[-1] == '\r';
  p = newline - line > 2 ? line + 2 : newline;
  switch (*line)
    {
    case 'v':
      return read_version (reader, p, error);
    case 'x':
      reader->exe = read_text (reader, p, newline, &reader->exe_length);
      G_GNUC_FALLTHROUGH;
    case 'm':
      reader->tables.raw = reader->by_address = TRUE;
      if (*line == 'm')
        good = read_module (reader, p, newline);
      break;
    case 'X':
      {
        g_autofree char *command = g_strndup ((const char *)p, newline - p);
        flam_builder_set_command (reader->builder, command);
        break;
      }
    case 's':
      good = read_string (reader, p, newline);
      break;
    case 'i':
      good = read_ip (reader, p);
      break;
    case 't':
      good = read_trace (reader, p);
      break;
    case 'a':
      good = read_info (reader, p);
      break;
    case 'c':
      good = read_time (reader, p);
      break;
    case 'R':
      good = read_resident (reader, p);
      break;
    case 'I':
      good = read_system (reader, p);
      break;
    case 'A':
      flam_builder_warn (reader->builder,
                         N_ ("heaptrack was attached to the running program: "
                             "earlier allocations are not in this capture"));
      break;
    case 'S':
      good = flam_suppressions_parse (
          reader->suppressions, (const char *)p, newline - p, NULL);
      break;
    case '+':
      good = reader->by_address && allocate_at (reader, p);
      break;
    case '-':
      good = reader->by_address && release_at (reader, p);
      break;
    case '#':
    case '\n':
    case '\r':
      break;
    default:
      good = FALSE;
    }
  if (!good)
    bad_line (reader, line);
  return TRUE;
}

/* Reads an event or a trace: byte by byte, without a search for the line's end.
 * Returns the text after it, or NULL for any other line. */
static inline const guint8 *
read_short_line (Reader *reader, const guint8 *line)
{
  guint64 first, second;
  const guint8 *p = flam_heaptrack_hex (line + 2, &first);

  if (G_UNLIKELY (p == NULL || line[1] != ' '))
    return NULL;
  if (*line == 't')
    {
      p = flam_heaptrack_hex (p, &second);
      if (p == NULL || *p != '\n')
        return NULL;
      if (!flam_heaptrack_tables_trace (&reader->tables, first, second))
        bad_line (reader, line);
      return p + 1;
    }
  if (G_UNLIKELY (*p != '\n' || reader->by_address))
    return NULL;
  return (*line == '+' ? allocate (reader, first) : release (reader, first))
             ? p + 1
             : NULL;
}

/* Complete lines; nearly every one is short. */
static const guint8 *
read_chunk (Reader *reader, const guint8 *p, const guint8 *end, GError **error)
{
  while (p < end)
    {
      const guint8 *next = NULL;

      if (*p == '+' || *p == '-' || *p == 't')
        next = read_short_line (reader, p);
      if (G_UNLIKELY (next == NULL))
        {
          const guint8 *newline = memchr (p, '\n', end - p);
          if (!read_line (reader, p, newline, error))
            return NULL;
          next = newline + 1;
        }
      p = next;
    }
  return p;
}

static gboolean
read_lines (Reader *reader, GError **error)
{
  const guint8 *data = reader->load->source->data;
  const guint8 *p = data;
  const guint8 *known = data; /* no complete line is left before it */
  gsize size;

  while ((size = flam_source_more (reader->load->source, known - data)) >
         (gsize)(known - data))
    {
      gsize n = MIN (data + size - known, CHUNK);
      const guint8 *last = memrchr (known, '\n', n);

      known += n;
      if (last == NULL)
        continue;
      p = read_chunk (reader, p, last + 1, error);
      if (p == NULL || !flam_load_step (reader->load, p, error))
        return FALSE;
    }
  if (p != known && !flam_source_is_truncated (reader->load->source))
    flam_load_partial (
        reader->load, NULL, N_ ("the file ends in the middle of a line"));
  return TRUE;
}

/* --- the end ------------------------------------------------------------- */

static void
mark_suppressed (Reader *reader, const guint8 *used)
{
  g_autofree guint8 *suppressed = flam_heaptrack_tables_suppressed (
      &reader->tables, used, reader->suppressions);
  guint64 blocks = 0, bytes = 0;

  for (gsize i = 0; i < reader->ledger->heap.sites.n; i++)
    {
      FlamSite *site = flam_ledger_get_site (reader->ledger, i);

      if (!suppressed[site->heap.key.stack])
        continue;
      site->not_leaked = TRUE;
      blocks += site->heap.live;
      bytes += site->heap.live * site->heap.key.size;
    }
  if (blocks > 0)
    flam_builder_warn (reader->builder,
                       N_ ("%" PRIu64 " bytes in %" PRIu64
                           " blocks that live at the end are not counted as "
                           "leaked: heaptrack's rules or the program's "
                           "suppress them (as heaptrack_print does)"),
                       bytes,
                       blocks);
}

/* The traces with allocations become stacks. */
static FlamId *
make_stacks (Reader *reader)
{
  g_autofree guint8 *used = g_new0 (guint8, reader->tables.traces.n + 1);
  FlamStackId *stacks;

  for (gsize i = 0; i < reader->ledger->heap.sites.n; i++)
    used[flam_ledger_get_site (reader->ledger, i)->heap.key.stack] = TRUE;
  stacks = flam_heaptrack_tables_stacks (&reader->tables, used);
  if (!reader->tables.raw)
    mark_suppressed (reader, used);
  return stacks;
}

static void
say_what_was_wrong (Reader *reader)
{
  if (reader->bad_lines > 0)
    flam_builder_warn (
        reader->builder,
        FLAM_PLURAL (
            reader->bad_lines,
            "%" PRIu64 " line is invalid and was left out (at byte %zu)",
            "%" PRIu64
            " lines are invalid and were left out (the first at byte %zu)"),
        reader->bad_lines,
        reader->first_bad);
  flam_builder_warn_count (
      reader->builder,
      reader->unknown_releases,
      "%" PRIu64 " release of a block whose allocation is not "
      "in the file was left out",
      "%" PRIu64 " releases of blocks whose allocation is not "
      "in the file were left out");
}

static void
drop_ledger (gpointer data)
{
  Reader *reader = data;

  g_clear_pointer (&reader->ledger, flam_ledger_free);
}

static gboolean
finish (Reader *reader, GError **error)
{
  gint64 end = (reader->now + 1) * 1000000;
  g_autofree FlamStackId *stacks = make_stacks (reader);

  flam_builder_add_counter_value (reader->builder,
                                  reader->heap_counter,
                                  reader->now * 1000000,
                                  reader->ledger->tick_peak);
  say_what_was_wrong (reader);
  flam_builder_facts (reader->builder)->duration_ns = end;
  if (!flam_ledger_finish (reader->ledger, end, error))
    return FALSE;
  /* The rows of allocations are written into their memory. */
  drop_ledger (reader);
  flam_heaptrack_tables_drop (&reader->tables);
  flam_builder_map_blocks (reader->builder, stacks);
  flam_builder_fold_memory (reader->builder);
  return TRUE;
}

static gboolean
load (FlamLoad *load, GError **error)
{
  FlamBuilder *builder = load->builder;
  Reader *reader = flam_arena_new (load, Reader);

  reader->load = load;
  reader->builder = builder;
  reader->page_size = 4096;
  reader->ledger = flam_ledger_new (builder);
  flam_arena_keep (load, reader, drop_ledger);
  reader->suppressions = flam_arena_keep (
      load, flam_heaptrack_suppressions_new (), flam_suppressions_unref);
  flam_builder_set_has_times (builder);
  flam_builder_set_origin (builder, 0);
  flam_builder_add_allocation_measures (builder);
  reader->heap_counter =
      flam_builder_add_counter (builder, "heap", FLAM_UNIT_BYTES);
  reader->rss_counter =
      flam_builder_add_counter (builder, "rss", FLAM_UNIT_BYTES);
  flam_heaptrack_tables_init (&reader->tables, load);
  return read_lines (reader, error) && finish (reader, error);
}

const FlamImporter flam_import_heaptrack = {
  .id = "heaptrack",
  .label = "heaptrack",
  .written_by = "heaptrack",
  .suffixes = FLAM_LIST ("heaptrack", ".raw"),
  .mime = { .type = "application/x-heaptrack",
            .name = "heaptrack capture",
            .globs = FLAM_LIST ("heaptrack.*.gz",
                                "heaptrack.*.zst",
                                "*.heaptrack",
                                "*.heaptrack.gz",
                                "*.heaptrack.zst") },
  .probe = probe,
  .load = load,
  .streams = TRUE,
};
