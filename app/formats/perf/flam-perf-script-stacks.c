/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-perf-script-stacks.h"

/* Marks a row of `chains`, several frames, in place of a frame. */
#define IS_CHAIN 0x80000000u

/* Lines of a chain that are looked up together: they may be anywhere in the
 * table, and the data of each is prefetched before the first is looked up. */
#define BATCH 64

typedef struct
{
  FlamSlice text; /* with its source line */
  FlamFingerprint print;
} Line;

/* A line seen before: the frames that it added, and the data that lines inlined
 * into it need. It is identified by its fingerprint, since its text is
 * elsewhere in memory, usually outside the processor's cache. */
typedef struct
{
  FlamFingerprint print;
  FlamId context; /* the frame it is inlined into, or FLAM_NONE */
  guint64 address;
  FlamFrameId frame;
  FlamModuleId module;
  guint16 depth;
  guint8 kind; /* FlamFunctionKind */
  gboolean bad;
} Place;

/* --- frames into the builder --------------------------------------------- */

static FlamId
find_module_id (FlamScriptStacks *stacks,
                FlamSlice module,
                FlamFunctionKind kind)
{
  gboolean is_new;
  FlamId row;

  if (module.length == 0)
    return FLAM_NONE;
  row = flam_pieces_find (
      &stacks->modules, module.text, module.length, FLAM_NONE, &is_new);
  if (is_new)
    {
      g_autofree char *path = g_strndup (module.text, module.length);
      *flam_pieces_value (&stacks->modules, row) = flam_builder_module (
          stacks->builder,
          path,
          "",
          kind == FLAM_KIND_NATIVE ? FLAM_ADDRESS_FILE_OFFSET
                                   : FLAM_ADDRESS_ABSOLUTE);
    }
  return *flam_pieces_value (&stacks->modules, row);
}

static FlamFrameId
make_frame (FlamScriptStacks *stacks,
            const FlamScriptFrame *frame,
            FlamSlice symbol,
            const Place *place)
{
  FlamFunction function = { .module = place->module, .kind = place->kind };

  if (symbol.length > 0)
    {
      function.name =
          flam_builder_string (stacks->builder, symbol.text, symbol.length);
      if (frame->file.length > 0)
        function.file = flam_builder_string (
            stacks->builder, frame->file.text, frame->file.length);
      if (place->module != FLAM_NONE)
        flam_builder_set_module_symbols (
            stacks->builder, place->module, FLAM_SYMBOLS_CAPTURE, "");
    }
  return flam_builder_frame_of (stacks->builder,
                                &function,
                                place->module != FLAM_NONE ? frame->address : 0,
                                frame->line,
                                place->depth);
}

/* Java agents write inlined methods as "caller->callee". */
static FlamFrameId
make_frames (FlamScriptStacks *stacks,
             const FlamScriptFrame *frame,
             Place *place)
{
  FlamSlice symbol = frame->symbol;
  const char *end = symbol.text + symbol.length;
  const char *arrow;
  FlamId row;

  if (place->kind != FLAM_KIND_JIT ||
      memmem (symbol.text, symbol.length, "->", 2) == NULL)
    return make_frame (stacks, frame, symbol, place);
  row = stacks->chains.n;
  flam_column_append (&stacks->chains, FlamId, 0);
  for (const char *p = symbol.text; p < end; p = arrow + 2)
    {
      FlamId id;
      arrow = memmem (p, end - p, "->", 2);
      if (arrow == NULL)
        arrow = end;
      id = make_frame (stacks, frame, (FlamSlice){ p, arrow - p }, place);
      flam_column_append (&stacks->chains, FlamId, id);
      flam_column_at (&stacks->chains, FlamId, row)++;
      if (place->depth < G_MAXUINT16)
        place->depth++;
    }
  return IS_CHAIN | row;
}

/* The place, the fingerprint and the context are set. */
static void
make_place (FlamScriptStacks *stacks,
            FlamSlice text,
            const Place *caller,
            Place *place)
{
  FlamScriptFrame frame;

  place->frame = FLAM_NONE;
  place->module = FLAM_NONE;
  if (!flam_script_parse_frame (text, &frame))
    {
      place->bad = !flam_script_is_detail (text.text, text.text + text.length);
      return;
    }
  place->address = frame.address;
  /* perf may omit the frame that it was inlined into. */
  if (frame.inlined && caller->frame != FLAM_NONE &&
      caller->address == frame.address)
    {
      place->module = caller->module;
      place->kind = caller->kind;
      place->depth = caller->depth;
      if (place->depth < G_MAXUINT16)
        place->depth++;
    }
  else
    {
      place->kind = flam_script_module_kind (frame.module);
      place->module = find_module_id (stacks, frame.module, place->kind);
    }
  place->frame = make_frames (stacks, &frame, place);
}

static void
push_frames (FlamScriptStacks *stacks, FlamFrameId frame)
{
  const FlamId *chain;

  if ((frame & IS_CHAIN) == 0)
    {
      flam_column_append (&stacks->path, FlamId, frame);
      return;
    }
  chain = &flam_column_at (&stacks->chains, FlamId, frame & ~IS_CHAIN);
  for (FlamId i = 1; i <= chain[0]; i++)
    flam_column_append (&stacks->path, FlamId, chain[i]);
}

void
flam_script_stacks_bad (FlamScriptStacks *stacks, const char *text)
{
  if (stacks->bad++ == 0)
    stacks->first_bad = text;
}

static guint32
hash_place (const FlamFingerprint *print, FlamId context)
{
  return (guint32)print->a + context * 0x9e3779b1u;
}

static gboolean
place_equal (gconstpointer table, FlamId row, gconstpointer key)
{
  const Place *a = (const Place *)table + row;
  const Place *b = key;

  return a->print.a == b->print.a && a->print.b == b->print.b &&
         a->context == b->context;
}

static Place
find_place (FlamScriptStacks *stacks, const Line *line, const Place *caller)
{
  Place place = { .print = line->print, .context = FLAM_NONE };
  guint32 hash;
  FlamSlot *slot;

  if (flam_slice_ends (line->text, "(inlined)"))
    place.context = caller->frame;
  hash = hash_place (&place.print, place.context);
  slot = flam_interner_find (
      &stacks->places_interner, hash, place_equal, stacks->places.data, &place);
  if (slot->id != FLAM_NONE)
    return flam_column_at (&stacks->places, Place, slot->id);
  *slot = (FlamSlot){ hash, stacks->places.n };
  stacks->places_interner.used++;
  make_place (stacks, line->text, caller, &place);
  flam_column_append (&stacks->places, Place, place);
  return place;
}

/* Adds a line of the call chain, towards the leaf. */
static void
push_line (FlamScriptStacks *stacks, const Line *line, Place *caller)
{
  FlamSlice text = line->text;
  Place place = find_place (stacks, line, caller);

  if (place.bad)
    {
      flam_script_stacks_bad (stacks, text.text);
      return;
    }
  if (place.frame == FLAM_NONE)
    return;
  push_frames (stacks, place.frame);
  *caller = place;
}

static void
push_lines (FlamScriptStacks *stacks, const Line *lines, guint n, Place *caller)
{
  for (guint i = 0; i < n; i++)
    flam_interner_prefetch_row (&stacks->places_interner,
                                hash_place (&lines[i].print, FLAM_NONE),
                                &stacks->places);
  for (guint i = 0; i < n; i++)
    push_line (stacks, &lines[i], caller);
}

/* --- call chains --------------------------------------------------------- */

/* Takes up to BATCH lines off the end of [text, *rest), the last one first. */
static guint
take_lines (FlamScriptStacks *stacks,
            const char *text,
            const char **rest,
            Line *lines)
{
  const char *end = *rest;
  const char *piece_end = NULL; /* a source line came without its frame yet */
  guint n = 0;

  while (end > text && n < BATCH)
    {
      const char *line_end = end[-1] == '\n' ? end - 1 : end;
      const char *newline = memrchr (text, '\n', line_end - text);
      const char *start = newline != NULL ? newline + 1 : text;
      Line *line = &lines[n];

      end = start;
      if (line_end > start && line_end[-1] == '\r')
        line_end--;
      if (piece_end == NULL && flam_script_is_source_line (start, line_end))
        {
          piece_end = line_end;
          continue;
        }
      if (piece_end != NULL)
        line_end = piece_end;
      piece_end = NULL;
      if (flam_slice_trim (start, line_end).length == 0)
        continue;
      line->text = (FlamSlice){ start, line_end - start };
      line->print = flam_fingerprint (stacks->key, start, line_end - start);
      flam_interner_prefetch (&stacks->places_interner,
                              hash_place (&line->print, FLAM_NONE));
      n++;
    }
  *rest = end;
  return n;
}

/* Adds the lines from the last one, the root, to the first. */
FlamId
flam_script_stacks_make (FlamScriptStacks *stacks, FlamSlice block)
{
  Place caller = { .frame = FLAM_NONE, .module = FLAM_NONE };
  Line lines[BATCH];
  const char *rest = block.text + block.length;
  gsize n;

  stacks->path.n = 0;
  while (rest > block.text)
    {
      guint taken = take_lines (stacks, block.text, &rest, lines);
      push_lines (stacks, lines, taken, &caller);
    }
  n = stacks->path.n;
  if (n == 0)
    return FLAM_NONE;
  flam_column_reserve (&stacks->ids, n);
  flam_builder_stack_path (
      stacks->builder, FLAM_NONE, stacks->path.data, n, stacks->ids.data);
  return flam_column_at (&stacks->ids, FlamId, n - 1);
}

static gboolean
block_equal (gconstpointer table, FlamId row, gconstpointer key)
{
  return flam_fingerprint_equal (&((const FlamScriptBlock *)table + row)->print,
                                 key);
}

gboolean
flam_script_stacks_begin_find (FlamScriptStacks *stacks,
                               FlamSlice block,
                               FlamScriptBlock *wanted)
{
  *wanted = (FlamScriptBlock){ .text = block, .stack = FLAM_NONE };
  if (block.length == 0 || block.length > G_MAXUINT32)
    return FALSE;
  wanted->print = flam_fingerprint (stacks->key, block.text, block.length);
  flam_interner_prefetch (&stacks->interner, (guint32)wanted->print.a);
  return TRUE;
}

void
flam_script_stacks_prefetch (const FlamScriptStacks *stacks,
                             const FlamScriptBlock *wanted)
{
  flam_interner_prefetch_row (
      &stacks->interner, (guint32)wanted->print.a, &stacks->blocks);
}

FlamId
flam_script_stacks_find (FlamScriptStacks *stacks,
                         const FlamScriptBlock *wanted)
{
  FlamScriptBlock fresh = *wanted;
  FlamSlot *slot = flam_interner_find (&stacks->interner,
                                       (guint32)fresh.print.a,
                                       block_equal,
                                       stacks->blocks.data,
                                       &fresh.print);

  if (slot->id == FLAM_NONE)
    {
      *slot = (FlamSlot){ (guint32)fresh.print.a, stacks->blocks.n };
      stacks->interner.used++;
      if (!stacks->later)
        fresh.stack = flam_script_stacks_make (stacks, fresh.text);
      flam_column_append (&stacks->blocks, FlamScriptBlock, fresh);
    }
  return slot->id;
}

void
flam_script_stacks_init (FlamScriptStacks *stacks,
                         FlamBuilder *builder,
                         const FlamFingerprintKey *key,
                         gboolean later)
{
  memset (stacks, 0, sizeof *stacks);
  stacks->builder = builder;
  stacks->key = key;
  stacks->later = later;
  flam_column_init (&stacks->blocks, sizeof (FlamScriptBlock));
  flam_interner_init (&stacks->interner);
  flam_interner_init (&stacks->places_interner);
  flam_pieces_init (&stacks->modules);
  flam_column_init (&stacks->places, sizeof (Place));
  flam_column_init (&stacks->chains, sizeof (FlamId));
  flam_column_init (&stacks->path, sizeof (FlamId));
  flam_column_init (&stacks->ids, sizeof (FlamId));
}

void
flam_script_stacks_clear (FlamScriptStacks *stacks)
{
  flam_column_clear (&stacks->blocks);
  flam_interner_clear (&stacks->interner);
  flam_interner_clear (&stacks->places_interner);
  flam_pieces_clear (&stacks->modules);
  flam_column_clear (&stacks->places);
  flam_column_clear (&stacks->chains);
  flam_column_clear (&stacks->path);
  flam_column_clear (&stacks->ids);
}
