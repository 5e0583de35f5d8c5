/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The text of `perf script`: samples, each a header and its call chain, leaf
 * first, up to an empty line.
 *
 *    V8 Worker 24636/25607 [000]  94564.109216:     104345 cycles:u:
 *    comm      pid/tid     cpu    time              period event
 *            ffffffff8103ce3b native_safe_halt+0xb ([kernel.kallsyms])
 *                      12b3 mix1+0x43 (inlined)
 *                      12b3 spin_light+0x43 (/opt/bin/nest)
 *      nest.c:13
 *            address   symbol+offset (module), then its source line
 *
 * Everything in the header but the name and one number is optional; a name may
 * hold spaces and numbers; `pid/tid` may be the tid alone. A sample without a
 * call chain has its one frame behind the event, or none. Source: perf's
 * builtin-script.c and the files of public collections; what they hold is
 * counted as FlameGraph's stackcollapse-perf.pl counts it, but for every event
 * and not the first alone.
 *
 * Call chains repeat: a whole chain is looked up by its text, else each line
 * (with its source line) by its own. An inlined line means another frame in
 * another caller, which is therefore part of its key. */

#include "flam-formats.h"

#include "flam-perf-script.h"

#define PROGRESS_BYTES (1 << 20)
#define MAX_EVENTS G_MAXUINT16
/* In place of a frame: a row of `chains`, several frames. */
#define IS_CHAIN 0x80000000u

/* A line seen before: what it put on the stack, and what lines inlined into
 * it need to know of it. */
typedef struct
{
  guint64 address;
  FlamId frame;
  FlamId module;
  guint16 depth;
  guint8 kind; /* FlamFunctionKind */
  gboolean bad;
} Place;

/* A measure, with the same index. */
typedef struct
{
  FlamSlice name;
  guint64 samples;
  gboolean is_time; /* its periods are ns */
} Event;

typedef struct
{
  FlamBuilder *builder;
  const FlamSource *source;
  FlamPieces threads;
  FlamPieces blocks;
  FlamPieces lines;
  FlamColumn places; /* Place, a row of `lines` each */
  FlamPieces modules;
  FlamColumn chains; /* FlamId: count, then so many frames */
  FlamColumn events; /* Event */
  GHashTable *named; /* pids of processes that have a name */
  gboolean memory;
  gboolean has_times;
  guint64 samples;
  guint64 bad;
  const char *first_bad;
} Script;

/* --- frames into the builder --------------------------------------------- */

static FlamId
find_module_id (Script *script, FlamSlice module, FlamFunctionKind kind)
{
  gboolean is_new;
  FlamId row;

  if (module.length == 0)
    return FLAM_NONE;
  row = flam_pieces_find (
      &script->modules, module.text, module.length, FLAM_NONE, &is_new);
  if (is_new)
    {
      g_autofree char *path = g_strndup (module.text, module.length);
      *flam_pieces_value (&script->modules, row) = flam_builder_module (
          script->builder,
          path,
          "",
          kind == FLAM_KIND_NATIVE ? FLAM_ADDRESS_FILE_OFFSET
                                   : FLAM_ADDRESS_ABSOLUTE);
    }
  return *flam_pieces_value (&script->modules, row);
}

static FlamId
make_frame (Script *script,
            const FlamScriptFrame *frame,
            FlamSlice symbol,
            const Place *place)
{
  FlamFunction function = { .module = place->module, .kind = place->kind };
  FlamId id;

  if (symbol.length == 0)
    id = flam_builder_function_unresolved (script->builder, place->module);
  else
    {
      function.name =
          flam_builder_string (script->builder, symbol.text, symbol.length);
      if (frame->file.length > 0)
        function.file = flam_builder_string (
            script->builder, frame->file.text, frame->file.length);
      id = flam_builder_function (script->builder, &function);
      if (place->module != FLAM_NONE)
        flam_builder_set_module_symbols (
            script->builder, place->module, FLAM_SYMBOLS_CAPTURE, "");
    }
  return flam_builder_frame (script->builder,
                             id,
                             place->module != FLAM_NONE ? frame->address : 0,
                             frame->line,
                             place->depth);
}

/* Java agents write what was inlined as "caller->callee". */
static FlamId
make_frames (Script *script, const FlamScriptFrame *frame, Place *place)
{
  FlamSlice symbol = frame->symbol;
  const char *end = symbol.text + symbol.length;
  const char *arrow;
  FlamId row;

  if (place->kind != FLAM_KIND_JIT ||
      memmem (symbol.text, symbol.length, "->", 2) == NULL)
    return make_frame (script, frame, symbol, place);
  row = script->chains.n;
  flam_column_append (&script->chains, FlamId, 0);
  for (const char *p = symbol.text; p < end; p = arrow + 2)
    {
      FlamId id;
      arrow = memmem (p, end - p, "->", 2);
      if (arrow == NULL)
        arrow = end;
      id = make_frame (script, frame, (FlamSlice){ p, arrow - p }, place);
      flam_column_append (&script->chains, FlamId, id);
      flam_column_at (&script->chains, FlamId, row)++;
      if (place->depth < G_MAXUINT16)
        place->depth++;
    }
  return IS_CHAIN | row;
}

static void
make_place (Script *script, FlamSlice text, const Place *caller, Place *place)
{
  FlamScriptFrame frame;

  memset (place, 0, sizeof *place);
  place->frame = FLAM_NONE;
  place->module = FLAM_NONE;
  place->bad = !flam_script_parse_frame (text, &frame);
  if (place->bad)
    return;
  place->address = frame.address;
  /* perf may lose the frame that it was inlined into. */
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
      place->module = find_module_id (script, frame.module, place->kind);
    }
  place->frame = make_frames (script, &frame, place);
}

static FlamId
push_frames (Script *script, FlamId stack, FlamId frame)
{
  const FlamId *chain;

  if ((frame & IS_CHAIN) == 0)
    return flam_builder_stack (script->builder, stack, frame);
  chain = &flam_column_at (&script->chains, FlamId, frame & ~IS_CHAIN);
  for (FlamId i = 1; i <= chain[0]; i++)
    stack = flam_builder_stack (script->builder, stack, chain[i]);
  return stack;
}

static void
bad_line (Script *script, const char *text)
{
  if (script->bad++ == 0)
    script->first_bad = text;
}

/* One line of the call chain (its source line with it), towards the leaf. */
static void
push_line (Script *script, FlamSlice text, Place *caller, FlamId *stack)
{
  FlamId context =
      flam_slice_ends (text, "(inlined)") ? caller->frame : FLAM_NONE;
  gboolean is_new;
  FlamId row = flam_pieces_find (
      &script->lines, text.text, text.length, context, &is_new);
  Place place;

  if (is_new)
    {
      make_place (script, text, caller, &place);
      flam_column_append (&script->places, Place, place);
    }
  else
    place = flam_column_at (&script->places, Place, row);
  if (place.bad)
    {
      bad_line (script, text.text);
      return;
    }
  *stack = push_frames (script, *stack, place.frame);
  *caller = place;
}

/* --- call chains --------------------------------------------------------- */

/* Behind the last line that starts with a space. */
static const char *
block_end (const char *p, const char *end)
{
  while (p < end && flam_text_is_space (*p))
    {
      const char *newline = memchr (p, '\n', end - p);
      p = newline != NULL ? newline + 1 : end;
    }
  return p;
}

/* From the last line, the root, up to the first. */
static FlamId
make_stack (Script *script, FlamSlice block)
{
  Place caller = { .frame = FLAM_NONE, .module = FLAM_NONE };
  FlamId stack = FLAM_NONE;
  const char *end = block.text + block.length;
  const char *piece_end = NULL; /* of a source line seen, its frame not yet */

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
            script, (FlamSlice){ start, line_end - start }, &caller, &stack);
    }
  return stack;
}

static FlamId
find_stack (Script *script, FlamSlice block)
{
  gboolean is_new;
  FlamId row;

  if (block.length == 0 || block.length > G_MAXUINT32)
    return FLAM_NONE;
  row = flam_pieces_find (
      &script->blocks, block.text, block.length, FLAM_NONE, &is_new);
  if (is_new)
    *flam_pieces_value (&script->blocks, row) = make_stack (script, block);
  return *flam_pieces_value (&script->blocks, row);
}

/* --- samples ------------------------------------------------------------- */

static FlamId
make_thread (Script *script, const FlamScriptHeader *header)
{
  g_autofree char *comm = g_strndup (header->comm.text, header->comm.length);
  FlamId process = flam_builder_process (script->builder, header->pid, 0);
  FlamId thread =
      flam_builder_thread (script->builder, process, header->tid, 0);

  flam_builder_set_thread_name (script->builder, thread, comm);
  if (header->pid >= 0 &&
      (g_hash_table_add (script->named, GINT_TO_POINTER (header->pid)) ||
       header->pid == header->tid))
    flam_builder_set_process_name (script->builder, process, comm);
  return thread;
}

static FlamId
find_thread (Script *script, const FlamScriptHeader *header)
{
  gboolean is_new;
  FlamId row = flam_pieces_find (&script->threads,
                                 header->who.text,
                                 header->who.length,
                                 FLAM_NONE,
                                 &is_new);

  if (is_new)
    *flam_pieces_value (&script->threads, row) = make_thread (script, header);
  return *flam_pieces_value (&script->threads, row);
}

static guint
add_event (Script *script, const FlamScriptHeader *header)
{
  g_autofree char *name = g_strndup (header->event.text, header->event.length);
  Event event = { .name = header->event };
  guint index = script->events.n;

  event.is_time = header->has_period && (g_str_has_prefix (name, "cpu-clock") ||
                                         g_str_has_prefix (name, "task-clock"));
  flam_builder_add_measure (script->builder,
                            name,
                            name,
                            script->memory  ? FLAM_UNIT_BYTES
                            : event.is_time ? FLAM_UNIT_NS
                                            : FLAM_UNIT_COUNT,
                            script->memory ? FLAM_MEASURE_ALLOC
                                           : FLAM_MEASURE_CPU,
                            0,
                            index);
  flam_column_append (&script->events, Event, event);
  return index;
}

static guint
find_event (Script *script, const FlamScriptHeader *header)
{
  const Event *events = script->events.data;

  for (guint i = 0; i < script->events.n; i++)
    if (events[i].name.length == header->event.length &&
        memcmp (
            events[i].name.text, header->event.text, header->event.length) == 0)
      return i;
  return add_event (script, header);
}

static void
add_sample (Script *script, const FlamScriptHeader *header, FlamSlice block)
{
  FlamSample sample = { .time = MAX (header->time, 0) };
  gint64 weight = header->has_period && header->period > 0 ? header->period : 1;

  if (block.length == 0 && header->rest.length > 0)
    {
      FlamScriptFrame frame;
      if (flam_script_parse_frame (header->rest, &frame))
        block = header->rest;
    }
  if (header->time >= 0 && !script->has_times)
    {
      script->has_times = TRUE;
      flam_builder_set_has_times (script->builder);
    }
  sample.event = find_event (script, header);
  sample.thread = find_thread (script, header);
  sample.stack = find_stack (script, block);
  flam_builder_add_sample (script->builder, &sample, &weight);
  script->samples++;
}

static void
read_comment (Script *script, FlamSlice line)
{
  static const char key[] = "# cmdline :";
  FlamSlice command;
  const char *program;
  g_autofree char *text = NULL;

  if (line.length <= strlen (key) || memcmp (line.text, key, strlen (key)) != 0)
    return;
  command = flam_slice_trim (line.text + strlen (key), line.text + line.length);
  text = g_strndup (command.text, command.length);
  program = strstr (text, " -- ");
  flam_builder_set_command (script->builder,
                            program != NULL ? program + strlen (" -- ") : text);
}

/* perf's own records, printed among the samples with --show-*-events. */
static gboolean
is_record (const FlamScriptHeader *header)
{
  return header->event.length > 12 &&
         memcmp (header->event.text, "PERF_RECORD_", 12) == 0;
}

static gboolean
read_samples (Script *script, const FlamProgress *progress, GError **error)
{
  FlamText all;
  const char *line;
  const char *next_step;
  gsize length;

  flam_text_init (&all, script->source);
  next_step = all.at;
  while (flam_text_next (&all, &line, &length))
    {
      FlamScriptHeader header;
      FlamSlice block;

      if (all.at >= next_step)
        {
          next_step = all.at + PROGRESS_BYTES;
          if (!flam_progress_step (progress, flam_text_fraction (&all), error))
            return FALSE;
        }
      if (length == 0)
        continue;
      if (*line == '#')
        {
          read_comment (script, (FlamSlice){ line, length });
          continue;
        }
      block.text = all.at;
      do
        all.at = block_end (block.text, all.end);
      while (all.at == all.end && flam_text_more (&all));
      block.length = all.at - block.text;
      if (all.at == all.end && flam_source_is_truncated (script->source))
        break;
      if (!flam_script_parse_header (line, length, &header) ||
          script->events.n >= MAX_EVENTS)
        bad_line (script, line);
      else if (!is_record (&header))
        add_sample (script, &header, block);
    }
  return TRUE;
}

static guint64
line_number (const Script *script, const char *at)
{
  const char *p = (const char *)script->source->data;
  guint64 n = 1;

  while ((p = memchr (p, '\n', at - p)) != NULL)
    {
      p++;
      n++;
    }
  return n;
}

static gboolean
check (const Script *script, GError **error)
{
  if (script->samples == 0)
    {
      flam_source_error (script->source,
                         error,
                         FLAM_ERROR_INVALID,
                         FLAM_NO_OFFSET,
                         "there are no samples in this output of perf script");
      return FALSE;
    }
  if (script->bad > 0)
    flam_builder_warn (script->builder,
                       "%" G_GUINT64_FORMAT
                       " lines make no sense as output of perf script and "
                       "were left out; the first is line %" G_GUINT64_FORMAT,
                       script->bad,
                       line_number (script, script->first_bad));
  return TRUE;
}

static gboolean
load (const FlamSource *source,
      FlamBuilder *builder,
      const FlamLoadOptions *options,
      GError **error)
{
  Script script = { .builder = builder, .source = source };
  gboolean ok;

  script.memory = options->weights_as == FLAM_WEIGHTS_BYTES;
  script.named = g_hash_table_new (NULL, NULL);
  flam_pieces_init (&script.threads);
  flam_pieces_init (&script.blocks);
  flam_pieces_init (&script.lines);
  flam_pieces_init (&script.modules);
  flam_column_init (&script.places, sizeof (Place));
  flam_column_init (&script.chains, sizeof (FlamId));
  flam_column_init (&script.events, sizeof (Event));
  flam_builder_add_column (builder);
  ok = read_samples (&script, options->progress, error) &&
       check (&script, error);
  flam_pieces_clear (&script.threads);
  flam_pieces_clear (&script.blocks);
  flam_pieces_clear (&script.lines);
  flam_pieces_clear (&script.modules);
  flam_column_clear (&script.places);
  flam_column_clear (&script.chains);
  flam_column_clear (&script.events);
  g_hash_table_unref (script.named);
  return ok;
}

/* --- probe --------------------------------------------------------------- */

/* The first sample's header, and what may follow one. */
static guint
probe (const FlamSource *source)
{
  FlamText head = flam_text_head (source);
  gboolean of_perf = FALSE;
  const char *line;
  gsize length;
  FlamScriptHeader header;
  FlamScriptFrame frame;

  if (!flam_text_is_text (&head))
    return 0;
  while (flam_text_next (&head, &line, &length))
    {
      if (length == 0)
        continue;
      if (*line == '#')
        {
          of_perf |= memmem (line, length, "perf version :", 14) != NULL;
          continue;
        }
      if (!flam_script_parse_header (line, length, &header))
        return 0;
      if (header.time >= 0 && !flam_slice_is (header.event, "samples"))
        return 90;
      if (!flam_text_next (&head, &line, &length))
        return of_perf ? 60 : 0;
      return flam_text_is_space (*line) &&
                     flam_script_parse_frame ((FlamSlice){ line, length },
                                              &frame)
                 ? 80
                 : 0;
    }
  return of_perf ? 60 : 0;
}

static const char *const suffixes[] = {
  ".script", ".script.txt", ".perf", NULL
};
static const char *const mime_types[] = { "text/plain", NULL };

const FlamImporter flam_import_perf_script = {
  .id = "perf-script",
  .label = "perf script text",
  .suffixes = suffixes,
  .mime_types = mime_types,
  .probe = probe,
  .load = load,
  .streams = TRUE,
};
