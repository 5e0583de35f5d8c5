/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-perf-script-stacks.h"

/* Marks a row of `chains`, several frames, in place of a frame. */
#define IS_CHAIN 0x80000000u

/* A line seen before: the frames that it added, and what lines inlined into it
 * need of it. */
typedef struct
{
  guint64 address;
  FlamId frame;
  FlamId module;
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

static FlamId
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
static FlamId
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

static void
make_place (FlamScriptStacks *stacks,
            FlamSlice text,
            const Place *caller,
            Place *place)
{
  FlamScriptFrame frame;

  memset (place, 0, sizeof *place);
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
      *place = *caller;
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

static FlamId
push_frames (FlamScriptStacks *stacks, FlamId stack, FlamId frame)
{
  const FlamId *chain;

  if ((frame & IS_CHAIN) == 0)
    return flam_builder_stack (stacks->builder, stack, frame);
  chain = &flam_column_at (&stacks->chains, FlamId, frame & ~IS_CHAIN);
  for (FlamId i = 1; i <= chain[0]; i++)
    stack = flam_builder_stack (stacks->builder, stack, chain[i]);
  return stack;
}

void
flam_script_stacks_bad (FlamScriptStacks *stacks, const char *text)
{
  if (stacks->bad++ == 0)
    stacks->first_bad = text;
}

/* Adds a line of the call chain (with its source line), towards the leaf. */
static void
push_line (FlamScriptStacks *stacks,
           FlamSlice text,
           Place *caller,
           FlamId *stack)
{
  FlamId context =
      flam_slice_ends (text, "(inlined)") ? caller->frame : FLAM_NONE;
  gboolean is_new;
  FlamId row = flam_pieces_find (
      &stacks->lines, text.text, text.length, context, &is_new);
  Place place;

  if (is_new)
    {
      make_place (stacks, text, caller, &place);
      flam_column_append (&stacks->places, Place, place);
    }
  else
    place = flam_column_at (&stacks->places, Place, row);
  if (place.bad)
    {
      flam_script_stacks_bad (stacks, text.text);
      return;
    }
  if (place.frame == FLAM_NONE)
    return;
  *stack = push_frames (stacks, *stack, place.frame);
  *caller = place;
}

/* --- call chains --------------------------------------------------------- */

/* Adds the lines from the last one, the root, to the first. */
static FlamId
make_stack (FlamScriptStacks *stacks, FlamSlice block)
{
  Place caller = { .frame = FLAM_NONE, .module = FLAM_NONE };
  FlamId stack = FLAM_NONE;
  const char *end = block.text + block.length;
  const char *piece_end = NULL; /* a source line came without its frame yet */

  while (end > block.text)
    {
      const char *line_end = end[-1] == '\n' ? end - 1 : end;
      const char *newline = memrchr (block.text, '\n', line_end - block.text);
      const char *start = newline != NULL ? newline + 1 : block.text;

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
      if (flam_slice_trim (start, line_end).length > 0)
        push_line (
            stacks, (FlamSlice){ start, line_end - start }, &caller, &stack);
    }
  return stack;
}

static gboolean
block_equal (gconstpointer table, FlamId row, gconstpointer key)
{
  const FlamFingerprint *a = &((const FlamScriptBlock *)table + row)->print;
  const FlamFingerprint *b = key;

  return a->a == b->a && a->b == b->b;
}

FlamId
flam_script_stacks_find (FlamScriptStacks *stacks, FlamSlice block)
{
  FlamScriptBlock fresh;
  FlamSlot *slot;

  if (block.length == 0 || block.length > G_MAXUINT32)
    return FLAM_NONE;
  fresh.print = flam_fingerprint (&stacks->key, block.text, block.length);
  slot = flam_interner_find (&stacks->interner,
                             (guint32)fresh.print.a,
                             block_equal,
                             stacks->blocks.data,
                             &fresh.print);
  if (slot->id == FLAM_NONE)
    {
      *slot = (FlamSlot){ (guint32)fresh.print.a, stacks->blocks.n };
      stacks->interner.used++;
      fresh.stack = make_stack (stacks, block);
      flam_column_append (&stacks->blocks, FlamScriptBlock, fresh);
      return fresh.stack;
    }
  return flam_column_at (&stacks->blocks, FlamScriptBlock, slot->id).stack;
}

void
flam_script_stacks_init (FlamScriptStacks *stacks, FlamBuilder *builder)
{
  memset (stacks, 0, sizeof *stacks);
  stacks->builder = builder;
  flam_fingerprint_key_init (&stacks->key);
  flam_column_init (&stacks->blocks, sizeof (FlamScriptBlock));
  flam_interner_init (&stacks->interner);
  flam_pieces_init (&stacks->lines);
  flam_pieces_copy (&stacks->lines);
  flam_pieces_init (&stacks->modules);
  flam_column_init (&stacks->places, sizeof (Place));
  flam_column_init (&stacks->chains, sizeof (FlamId));
}

void
flam_script_stacks_clear (FlamScriptStacks *stacks)
{
  flam_column_clear (&stacks->blocks);
  flam_interner_clear (&stacks->interner);
  flam_pieces_clear (&stacks->lines);
  flam_pieces_clear (&stacks->modules);
  flam_column_clear (&stacks->places);
  flam_column_clear (&stacks->chains);
}
