/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-heaptrack-tables.h"

/* The limit of nested inlined frames; a program never has more. */
#define MAX_CHAIN 256

typedef struct
{
  const char *text;
  guint32 length;
  FlamId id; /* FLAM_NONE: not yet made */
} Text;

typedef struct
{
  guint64 address;
  const guint8 *rest; /* NULL in the raw stream */
  guint32 module;     /* a string; raw: a module of the builder + 1 */
  gboolean op_new;
  guint32 first_frame; /* FLAM_NONE: not made yet */
  guint32 n_frames;
} Ip;

const guint8 flam_heaptrack_digits[256] = {
  ['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,
  ['6'] = 7,  ['7'] = 8,  ['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12,
  ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
};

void
flam_heaptrack_tables_init (FlamHeaptrackTables *tables, FlamLoad *load)
{
  *tables = (FlamHeaptrackTables){ .builder = load->builder };
  flam_arena_column (load, &tables->strings, Text);
  flam_arena_column (load, &tables->ips, Ip);
  flam_arena_column (load, &tables->traces, FlamTrace);
  flam_arena_column (load, &tables->frames, FlamId);
  tables->mapped = flam_arena_keep (load, flam_ranges_new (), flam_ranges_free);
  flam_arena_interner (load, &tables->ip_index);
}

static gboolean
is_op_new (const char *text, gsize length)
{
  static const char *const names[] = {
    "operator new(unsigned long)",
    "operator new[](unsigned long)",
    "operator new(unsigned int)",
    "operator new[](unsigned int)",
  };

  if (length < 26 || length > 29 || text[0] != 'o')
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (strlen (names[i]) == length && memcmp (names[i], text, length) == 0)
      return TRUE;
  return FALSE;
}

void
flam_heaptrack_tables_string (FlamHeaptrackTables *tables,
                              const char *text,
                              gsize length)
{
  Text *string = flam_column_push (&tables->strings);

  *string = (Text){ text, MIN (length, G_MAXUINT32), FLAM_NONE };
  if (is_op_new (text, length) &&
      tables->n_op_new < G_N_ELEMENTS (tables->op_new))
    tables->op_new[tables->n_op_new++] = tables->strings.n;
}

void
flam_heaptrack_tables_ip (FlamHeaptrackTables *tables,
                          guint64 address,
                          guint32 module,
                          const guint8 *rest)
{
  Ip *ip = flam_column_push (&tables->ips);
  guint64 function;

  *ip = (Ip){
    .address = address, .rest = rest, .module = module, .first_frame = FLAM_NONE
  };
  if (tables->n_op_new > 0 && flam_heaptrack_hex (rest, &function))
    for (guint i = 0; i < tables->n_op_new; i++)
      ip->op_new |= tables->op_new[i] == function;
}

/* --- the raw stream ------------------------------------------------------ */

void
flam_heaptrack_tables_map (FlamHeaptrackTables *tables,
                           const char *path,
                           gsize length,
                           guint64 bias,
                           guint64 address,
                           guint64 size)
{
  g_autofree char *name = g_str_has_prefix (path, "linux-vdso.so")
                              ? g_strdup ("[vdso]")
                              : g_strndup (path, length);
  FlamRange range = {
    .start = bias + address,
    .end = bias + address + size,
    .offset = address,
    .value =
        flam_builder_module (tables->builder, name, "", FLAM_ADDRESS_VADDR),
  };

  flam_ranges_add (tables->mapped, &range);
}

void
flam_heaptrack_tables_unmap_all (FlamHeaptrackTables *tables)
{
  flam_ranges_remove (tables->mapped, 0, G_MAXUINT64);
}

static gboolean
ip_equal (gconstpointer table, FlamId row, gconstpointer key)
{
  const FlamColumn *ips = table;

  return flam_column_at (ips, Ip, row).address == *(const guint64 *)key;
}

/* Returns its number from 1; the mappings at the first use of an address are
 * valid for it. */
static guint32
raw_ip (FlamHeaptrackTables *tables, guint64 address)
{
  guint32 hash = flam_hash_pair (address, 0);
  FlamSlot *slot = flam_interner_find (
      &tables->ip_index, hash, ip_equal, &tables->ips, &address);

  if (slot->id == FLAM_NONE)
    {
      const FlamRange *range = flam_ranges_find (tables->mapped, address);
      Ip *ip;

      *slot = (FlamSlot){ hash, tables->ips.n };
      tables->ip_index.used++;
      ip = flam_column_push (&tables->ips);
      *ip = (Ip){ .address = address, .first_frame = FLAM_NONE };
      if (range != NULL)
        {
          FlamFrameId frame =
              flam_builder_frame_of (tables->builder,
                                     &(FlamFunction){ .module = range->value },
                                     address - range->start + range->offset,
                                     0,
                                     0);
          ip->module = range->value + 1;
          ip->first_frame = tables->frames.n;
          ip->n_frames = 1;
          flam_column_append (&tables->frames, FlamId, frame);
        }
    }
  return slot->id + 1;
}

/* --- traces -------------------------------------------------------------- */

gboolean
flam_heaptrack_tables_trace (FlamHeaptrackTables *tables,
                             guint64 ip,
                             guint64 parent)
{
  FlamTrace trace = { (guint32)ip, (guint32)parent };
  gboolean good =
      parent <= tables->traces.n && (tables->raw || ip <= tables->ips.n);

  if (G_UNLIKELY (!good))
    trace = (FlamTrace){ 0, 0 };
  else if (G_UNLIKELY (tables->raw))
    trace.ip = ip != 0 ? raw_ip (tables, ip) : 0;
  /* To heaptrack operator new is a part of the allocator: its callers allocate.
   * A trace that ends in one is an alias of its parent. */
  else if (ip != 0 && flam_column_at (&tables->ips, Ip, ip - 1).op_new)
    trace = parent > 0 ? flam_column_at (&tables->traces, FlamTrace, parent - 1)
                       : (FlamTrace){ 0, 0 };
  flam_column_append (&tables->traces, FlamTrace, trace);
  return good;
}

static FlamId
string_id (FlamHeaptrackTables *tables, guint64 number)
{
  Text *text;

  if (number == 0 || number > tables->strings.n)
    return 0;
  text = &flam_column_at (&tables->strings, Text, number - 1);
  if (text->id == FLAM_NONE)
    text->id = flam_builder_string (tables->builder, text->text, text->length);
  return text->id;
}

typedef struct
{
  guint64 function;
  guint64 file;
  guint64 line;
} Location;

static const guint8 *
next_location (const guint8 *p, Location *location)
{
  *location = (Location){ 0 };
  if (p == NULL || (p = flam_heaptrack_hex (p, &location->function)) == NULL)
    return NULL;
  if (*p == '\n')
    return p;
  if ((p = flam_heaptrack_hex (p, &location->file)) == NULL)
    return NULL;
  return flam_heaptrack_hex (p, &location->line);
}

/* The file has absolute addresses and no biases: nothing can be looked up
 * later, so frames have no address. */
static FlamId
module_of (FlamHeaptrackTables *tables, const Ip *ip)
{
  FlamStringId string = string_id (tables, ip->module);
  FlamModuleId module;

  if (string == 0)
    return FLAM_NONE;
  module =
      flam_builder_module (tables->builder,
                           flam_builder_get_string (tables->builder, string),
                           "",
                           FLAM_ADDRESS_ABSOLUTE);
  flam_builder_set_module_symbols (
      tables->builder, module, FLAM_SYMBOLS_CAPTURE, NULL);
  return module;
}

static FlamFrameId
make_frame (FlamHeaptrackTables *tables,
            FlamModuleId module,
            const Location *location,
            guint depth)
{
  FlamFunction function = {
    .name = string_id (tables, location->function),
    .file = string_id (tables, location->file),
    .module = module,
    .kind = FLAM_KIND_NATIVE,
  };

  return flam_builder_frame_of (
      tables->builder, &function, 0, MIN (location->line, G_MAXINT32), depth);
}

/* The file has the innermost first, the chain the outermost. */
static void
make_frames (FlamHeaptrackTables *tables, Ip *ip)
{
  FlamModuleId module = module_of (tables, ip);
  FlamId *chain;
  const guint8 *p = ip->rest;
  Location location;

  ip->first_frame = tables->frames.n;
  ip->n_frames = 0;
  if (p != NULL)
    while (ip->n_frames < MAX_CHAIN &&
           (p = next_location (p, &location)) != NULL)
      ip->n_frames++;
  if (ip->n_frames == 0)
    {
      location = (Location){ 0 };
      ip->n_frames = 1;
      flam_column_append (
          &tables->frames, FlamId, make_frame (tables, module, &location, 0));
      return;
    }
  flam_column_reserve (&tables->frames, tables->frames.n + ip->n_frames);
  tables->frames.n += ip->n_frames;
  chain = &flam_column_at (&tables->frames, FlamId, ip->first_frame);
  p = ip->rest;
  for (guint depth = ip->n_frames; depth-- > 0;)
    {
      p = next_location (p, &location);
      chain[depth] = make_frame (tables, module, &location, depth);
    }
}

static FlamStackId
make_stack (FlamHeaptrackTables *tables, FlamStackId prefix, guint32 number)
{
  const Ip *ip;

  if (number == 0)
    return prefix;
  ip = &flam_column_at (&tables->ips, Ip, number - 1);
  for (guint i = 0; i < ip->n_frames; i++)
    prefix = flam_builder_append_stack (
        tables->builder,
        prefix,
        flam_column_at (&tables->frames, FlamId, ip->first_frame + i));
  return prefix;
}

/* The number of stacks that a trace adds to its caller's: its frames, which are
 * made at the first use. */
static guint16
count_frames (FlamHeaptrackTables *tables, guint32 number)
{
  Ip *ip;

  if (number == 0)
    return 0;
  ip = &flam_column_at (&tables->ips, Ip, number - 1);
  if (ip->first_frame == FLAM_NONE)
    make_frames (tables, ip);
  return (guint16)ip->n_frames;
}

FlamStackId *
flam_heaptrack_tables_stacks (FlamHeaptrackTables *tables, guint8 *used)
{
  const FlamTrace *traces = tables->traces.data;
  gsize n = tables->traces.n;
  FlamStackId *stacks = g_new (FlamStackId, n + 1);
  /* The data that is read for each trace stays in the nearest cache. */
  g_autofree guint16 *lengths = g_new0 (guint16, tables->ips.n + 1);
  gsize n_stacks = 0;

  stacks[0] = FLAM_NONE;
  for (gsize i = n; i > 0; i--)
    used[traces[i - 1].parent] |= used[i];
  for (gsize i = 1; i <= n; i++)
    {
      guint16 *length = &lengths[traces[i - 1].ip];

      if (used[i] && *length == 0)
        *length = count_frames (tables, traces[i - 1].ip);
      n_stacks += used[i] ? *length : 0;
    }
  flam_builder_reserve_stacks (tables->builder, n_stacks);
  for (gsize i = 1; i <= n; i++)
    stacks[i] = used[i] ? make_stack (tables,
                                      stacks[traces[i - 1].parent],
                                      traces[i - 1].ip)
                        : FLAM_NONE;
  return stacks;
}

void
flam_heaptrack_tables_drop (FlamHeaptrackTables *tables)
{
  flam_column_clear (&tables->strings);
  flam_column_clear (&tables->ips);
  flam_column_clear (&tables->traces);
  flam_column_clear (&tables->frames);
}

/* --- suppressions -------------------------------------------------------- */

/* `memo`: 0 not looked up yet, 1 no, 2 yes. */
static gboolean
string_suppressed (FlamHeaptrackTables *tables,
                   guint64 number,
                   const FlamSuppressions *rules,
                   guint8 *memo)
{
  const Text *text;

  if (number == 0 || number > tables->strings.n)
    return FALSE;
  text = &flam_column_at (&tables->strings, Text, number - 1);
  if (memo[number] == 0)
    memo[number] =
        1 + (flam_suppressions_match (rules, text->text, text->length) >= 0);
  return memo[number] == 2;
}

static gboolean
ip_suppressed (FlamHeaptrackTables *tables,
               const Ip *ip,
               const FlamSuppressions *rules,
               guint8 *memo)
{
  const guint8 *p = ip->rest;
  Location location;

  if (p == NULL)
    return FALSE;
  if (string_suppressed (tables, ip->module, rules, memo))
    return TRUE;
  while ((p = next_location (p, &location)) != NULL)
    if (string_suppressed (tables, location.function, rules, memo) ||
        string_suppressed (tables, location.file, rules, memo))
      return TRUE;
  return FALSE;
}

guint8 *
flam_heaptrack_tables_suppressed (FlamHeaptrackTables *tables,
                                  const guint8 *used,
                                  const FlamSuppressions *rules)
{
  gsize n = tables->traces.n;
  guint8 *suppressed = g_new0 (guint8, n + 1);
  g_autofree guint8 *ips = g_new0 (guint8, tables->ips.n + 1);
  g_autofree guint8 *memo = g_new0 (guint8, tables->strings.n + 1);
  const FlamTrace *traces = tables->traces.data;

  ips[0] = 1; /* none */
  for (gsize i = 1; i <= n; i++)
    {
      FlamTrace trace = traces[i - 1];

      if (!used[i])
        continue;
      if (G_UNLIKELY (ips[trace.ip] == 0))
        ips[trace.ip] =
            1 + ip_suppressed (tables,
                               &flam_column_at (&tables->ips, Ip, trace.ip - 1),
                               rules,
                               memo);
      suppressed[i] = suppressed[trace.parent] | (ips[trace.ip] == 2);
    }
  return suppressed;
}

FlamSuppressions *
flam_heaptrack_suppressions_new (void)
{
  static const char *const functions[] = {
    "__nss_module_allocate", "__gconv_read_conf", "__new_exitfn",
    "tzset_internal",        "dl_open_worker",    "g_main_context_new",
    "g_thread_self",
  };
  FlamSuppressions *rules = flam_suppressions_new ();

  for (guint i = 0; i < G_N_ELEMENTS (functions); i++)
    flam_suppressions_add (rules, functions[i], -1);
  return rules;
}
