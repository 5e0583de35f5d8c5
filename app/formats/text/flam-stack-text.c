/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-stack-text.h"

#include "flam-weights-as.h"

#define MAX_EVENTS 1000
#define MAX_EVENT_NAME 1000

const char *const flam_stack_text_mime_types[] = { "text/plain", NULL };

/* --- pieces of lines ----------------------------------------------------- */

gboolean
flam_slice_number (FlamSlice slice, gint64 *value)
{
  const char *p = slice.text;

  return flam_text_number (&p, slice.text + slice.length, value) &&
         p == slice.text + slice.length;
}

gint64
flam_slice_number_after (FlamSlice slice, const char *text)
{
  gsize at = flam_slice_find (slice, text);
  const char *p = slice.text + at + strlen (text);
  gint64 value;

  if (at == slice.length ||
      !flam_text_number (&p, slice.text + slice.length, &value))
    return -1;
  return value;
}

/* Cuts ":12" off the end. */
static gboolean
cut_number (FlamSlice *slice, gint64 *value)
{
  gsize n = slice->length;

  while (n > 0 && flam_text_is_digit (slice->text[n - 1]))
    n--;
  if (n == slice->length || n < 2 || slice->text[n - 1] != ':' ||
      !flam_slice_number (flam_slice_from (*slice, n), value))
    return FALSE;
  slice->length = n - 1;
  return TRUE;
}

void
flam_slice_location (FlamSlice place, FlamSlice *file, gint64 *line)
{
  gint64 second;

  *line = 0;
  if (cut_number (&place, line) && cut_number (&place, &second))
    *line = second;
  *file = place;
}

/* --- frames and threads -------------------------------------------------- */

static FlamModuleId
find_module (FlamBuilder *builder, FlamSlice name)
{
  g_autofree char *path = NULL;
  FlamModuleId module;

  if (name.length == 0)
    return FLAM_NONE;
  path = g_strndup (name.text, name.length);
  module = flam_builder_module (builder, path, "", FLAM_ADDRESS_ABSOLUTE);
  flam_builder_set_module_symbols (builder, module, FLAM_SYMBOLS_CAPTURE, "");
  return module;
}

FlamFrameId
flam_text_frame_make (FlamBuilder *builder, const FlamTextFrame *frame)
{
  FlamFunction function = { .kind = frame->kind, .flags = frame->flags };

  function.module = find_module (builder, frame->module);
  function.name =
      flam_builder_string (builder, frame->name.text, frame->name.length);
  function.file =
      flam_builder_string (builder, frame->file.text, frame->file.length);
  return flam_builder_frame_of (
      builder, &function, 0, CLAMP (frame->line, 0, G_MAXINT32), 0);
}

static FlamFrameId
find_frame (FlamStackText *text, FlamSlice frame, FlamSlice place)
{
  FlamTextFrame parsed = { .name = { "", 0 },
                           .module = { "", 0 },
                           .file = { "", 0 },
                           .kind = text->dialect->kind };

  text->dialect->parse_frame (frame, &parsed);
  if (place.length > 0)
    flam_slice_location (place, &parsed.file, &parsed.line);
  return flam_text_frame_make (text->builder, &parsed);
}

static FlamFrameId
intern_frame (FlamStackText *text, FlamSlice frame)
{
  gboolean is_new;
  FlamId row, id;

  frame.length = MIN (frame.length, (gsize)G_MAXINT32);
  row = flam_pieces_find (
      &text->frames, frame.text, frame.length, FLAM_NONE, &is_new);
  if (is_new)
    {
      id = find_frame (text, frame, (FlamSlice){ "", 0 });
      *flam_pieces_value (&text->frames, row) = id;
    }
  return *flam_pieces_value (&text->frames, row);
}

void
flam_stack_text_frame (FlamStackText *text, FlamSlice frame)
{
  FlamId id = intern_frame (text, frame);

  g_array_append_val (text->stack, id);
}

void
flam_stack_text_source (FlamStackText *text, FlamSlice frame, FlamSlice place)
{
  if (text->stack->len > 0)
    g_array_index (text->stack, FlamId, text->stack->len - 1) =
        find_frame (text, frame, place);
}

static FlamThreadId
make_thread (FlamStackText *text,
             FlamSlice name,
             gint64 pid,
             gint64 tid,
             guint generation)
{
  gint32 process_id = pid >= 0 && pid <= G_MAXINT32 ? pid : -1;
  gint32 thread_id = tid >= 0 && tid <= G_MAXINT32 ? tid : -1;
  FlamProcessId process = flam_builder_process (text->builder, process_id, 0);
  FlamThreadId thread = flam_builder_thread (
      text->builder, process, thread_id, thread_id >= 0 ? 0 : generation);

  if (name.length > 0)
    {
      g_autofree char *copy = g_strndup (name.text, name.length);
      flam_builder_set_thread_name (text->builder, thread, copy);
      if (process_id >= 0 && (thread_id < 0 || thread_id == process_id))
        flam_builder_set_process_name (text->builder, process, copy);
    }
  return thread;
}

/* Ids are repeated in each dump; a name alone distinguishes threads, too. */
void
flam_stack_text_thread (FlamStackText *text,
                        FlamSlice name,
                        gint64 pid,
                        gint64 tid)
{
  gboolean is_new = FALSE;
  FlamId row = FLAM_NONE;

  name.length = MIN (name.length, (gsize)G_MAXINT32);
  if (tid < 0 && name.length > 0)
    row = flam_pieces_find (
        &text->threads, name.text, name.length, (FlamId)pid, &is_new);
  if (row != FLAM_NONE && !is_new)
    {
      text->thread = *flam_pieces_value (&text->threads, row);
      return;
    }
  text->thread =
      make_thread (text, name, pid, tid, row != FLAM_NONE ? row + 1 : 0);
  if (row != FLAM_NONE)
    *flam_pieces_value (&text->threads, row) = text->thread;
}

/* --- blocks -------------------------------------------------------------- */

void
flam_stack_text_drop (FlamStackText *text)
{
  g_array_set_size (text->stack, 0);
}

static void
become (FlamStackText *text, FlamWeightsAs as)
{
  if (!text->told && text->samples == 0)
    text->weights_as = as;
}

void
flam_stack_text_are_times (FlamStackText *text)
{
  become (text, FLAM_WEIGHTS_TIME);
}

void
flam_stack_text_are_bytes (FlamStackText *text)
{
  become (text, FLAM_WEIGHTS_BYTES);
}

/* The last one stands for all beyond the limit. */
static guint16
find_event (FlamStackText *text)
{
  gboolean is_new;
  FlamId row;

  if (text->events.pieces.n >= MAX_EVENTS)
    return MAX_EVENTS - 1;
  row = flam_pieces_find (&text->events,
                          text->event.text,
                          MIN (text->event.length, MAX_EVENT_NAME),
                          FLAM_NONE,
                          &is_new);
  if (is_new)
    {
      g_autofree char *name = g_strndup (
          text->event.text, MIN (text->event.length, MAX_EVENT_NAME));
      if (row == 0)
        flam_builder_add_column (text->builder);
      flam_weights_as_add_event (text->weights_as, text->builder, name, row);
    }
  return row;
}

void
flam_stack_text_add (FlamStackText *text, guint16 event, const gint64 *weights)
{
  FlamSample sample = { .state = text->state, .event = event };

  if (text->thread == FLAM_NONE)
    flam_stack_text_thread (text, (FlamSlice){ "", 0 }, -1, -1);
  sample.thread = text->thread;
  sample.stack = flam_load_stack (text->builder, text->stack);
  flam_builder_add_sample (text->builder, &sample, weights);
  text->samples++;
  flam_stack_text_drop (text);
}

void
flam_stack_text_end (FlamStackText *text, gint64 weight)
{
  guint16 event;

  if (text->stack->len == 0)
    return;
  event = find_event (text);
  weight = flam_weights_as_scale (text->weights_as, weight);
  flam_stack_text_add (text, event, &weight);
}

/* --- trees --------------------------------------------------------------- */

void
flam_stack_text_add_row (FlamStackText *text,
                         guint depth,
                         FlamFrameId frame,
                         gint64 weight)
{
  if (text->thread == FLAM_NONE)
    flam_stack_text_thread (text, (FlamSlice){ "", 0 }, -1, -1);
  flam_outline_add_at (&text->outline, depth, text->thread, frame, weight);
}

void
flam_stack_text_row (FlamStackText *text,
                     guint depth,
                     FlamSlice frame,
                     gint64 weight)
{
  flam_stack_text_add_row (text,
                           depth,
                           frame.length > 0 ? intern_frame (text, frame)
                                            : FLAM_NONE,
                           weight);
}

void
flam_stack_text_count (FlamStackText *text, gint64 count)
{
  FlamOutline *outline = &text->outline;

  if (outline->counts == NULL)
    outline->counts = flam_arena_zeroed (text->load, gint64);
  g_array_set_size (outline->counts, outline->rows->len);
  g_array_index (outline->counts, gint64, outline->rows->len - 1) = count;
}

static void
add_rows (FlamStackText *text)
{
  static const FlamMeasureRow counts = { "allocations",
                                         N_ ("Allocations"),
                                         FLAM_OF_BLOCKS };

  if (text->outline.rows->len == 0)
    return;
  find_event (text);
  if (text->outline.counts != NULL)
    flam_load_measure (text->builder,
                       &counts,
                       (int)flam_builder_add_column (text->builder),
                       FLAM_NONE);
  flam_outline_finish (&text->outline, text->builder);
  text->samples += text->outline.rows->len;
  flam_builder_warn_count (text->builder,
                           text->outline.excess,
                           "%" PRIu64 " function has less than its callees",
                           "%" PRIu64
                           " functions have less than their callees");
}

/* --- the whole ----------------------------------------------------------- */

static gboolean
read_line (gpointer text, FlamSlice line)
{
  return ((FlamStackText *)text)->dialect->read_line (text, line);
}

gboolean
flam_stack_text_load (FlamLoad *load, GError **error)
{
  const FlamDialect *dialect = load->form;
  FlamStackText *text = flam_arena_new (load, FlamStackText);
  gboolean whole;

  text->dialect = dialect;
  text->load = load;
  text->source = load->source;
  text->builder = load->builder;
  text->stack = flam_arena_array (load, FlamId);
  text->thread = FLAM_NONE;
  text->event.text = "";
  text->pid = -1;
  text->weights_as = flam_weights_as_of (load->source, load->options);
  text->told = load->options->weights_as != FLAM_WEIGHTS_GUESS;
  flam_arena_pieces (load, &text->frames);
  flam_arena_pieces (load, &text->threads);
  flam_arena_pieces (load, &text->events);
  flam_arena_outline (load, &text->outline, dialect->own);
  whole = flam_text_read (&text->lines, load, read_line, text, NULL, error);
  if (dialect->finish != NULL)
    dialect->finish (text);
  add_rows (text);
  if (!whole)
    return FALSE;
  if (text->samples == 0)
    return flam_source_invalid (
        load->source, error, N_ ("this %s has no stacks"), dialect->what);
  if (text->stack->len > 0)
    flam_load_partial (
        load, NULL, N_ ("the text ends within a stack, which is left out"));
  flam_text_warn_bad (&text->lines, load->builder, dialect->what);
  return TRUE;
}
