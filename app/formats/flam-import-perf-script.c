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

#include "flam-text.h"

#define PROGRESS_BYTES (1 << 20)
#define MAX_EVENTS G_MAXUINT16
/* In place of a frame: a row of `chains`, several frames. */
#define IS_CHAIN 0x80000000u

typedef struct
{
  const char *text;
  gsize length;
} Slice;

typedef struct
{
  Slice comm;
  Slice who;  /* name and ids, as they stand */
  gint32 pid; /* -1 unknown */
  gint32 tid;
  gint64 time; /* ns; -1 none */
  gint64 period;
  gboolean has_period;
  Slice event;
  Slice rest; /* what stands behind the event */
} Header;

typedef struct
{
  guint64 address;
  Slice symbol; /* empty: unknown */
  Slice module; /* empty: none was printed, or it is unknown */
  gboolean inlined;
  Slice file;
  gint64 line;
} Frame;

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
  Slice name;
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

static gboolean
slice_is (Slice slice, const char *text)
{
  return slice.length == strlen (text) &&
         memcmp (slice.text, text, slice.length) == 0;
}

static gboolean
slice_ends (Slice slice, const char *text)
{
  gsize length = strlen (text);

  return slice.length >= length &&
         memcmp (slice.text + slice.length - length, text, length) == 0;
}

static Slice
slice_trim (const char *start, const char *end)
{
  while (start < end && flam_text_is_space (*start))
    start++;
  while (end > start && (flam_text_is_space (end[-1]) || end[-1] == '\r'))
    end--;
  return (Slice){ start, end - start };
}

/* --- the header ---------------------------------------------------------- */

static const char *
skip_space (const char *p, const char *end)
{
  while (p < end && flam_text_is_space (*p))
    p++;
  return p;
}

static const char *
token_end (const char *p, const char *end)
{
  while (p < end && !flam_text_is_space (*p))
    p++;
  return p;
}

static gboolean
parse_id (const char **p, const char *end, gint32 *id)
{
  gboolean negative = *p < end && **p == '-';
  gint64 value;

  *p += negative;
  if (!flam_text_number (p, end, &value) || value > G_MAXINT32)
    return FALSE;
  *id = negative ? -1 : value;
  return TRUE;
}

/* "12688/12764", or "12764", the whole token. */
static gboolean
parse_ids (const char *p, const char *end, Header *header)
{
  if (!parse_id (&p, end, &header->tid))
    return FALSE;
  header->pid = -1;
  if (p < end && *p == '/')
    {
      header->pid = header->tid;
      p++;
      if (!parse_id (&p, end, &header->tid))
        return FALSE;
    }
  return p == end;
}

/* "94564.109216:" in ns. */
static gboolean
parse_time (const char *p, const char *end, gint64 *time)
{
  gint64 seconds, scale = 100000000;
  gint64 ns = 0;

  if (!flam_text_number (&p, end, &seconds) || p == end || *p++ != '.' ||
      seconds > G_MAXINT64 / 1000000000 - 1)
    return FALSE;
  for (; p < end && flam_text_is_digit (*p); p++, scale /= 10)
    ns += (*p - '0') * scale;
  if (p + 1 != end || *p != ':')
    return FALSE;
  *time = seconds * 1000000000 + ns;
  return TRUE;
}

/* What follows the ids, up to and with the event. Something must be there that
 * only stands there: else the number before was part of the name. */
static gboolean
parse_facts (const char *p, const char *end, Header *header)
{
  gboolean first = TRUE;

  header->time = -1;
  header->has_period = FALSE;
  header->event = (Slice){ "samples", strlen ("samples") };
  for (p = skip_space (p, end); p < end; p = skip_space (p, end))
    {
      const char *stop = token_end (p, end);
      const char *digits = p;
      gint64 number;

      if (header->time < 0 && parse_time (p, stop, &header->time))
        first = FALSE;
      else if (*p == '[' && stop[-1] == ']')
        first = FALSE;
      else if (flam_text_number (&digits, stop, &number) && digits == stop)
        {
          header->period = number;
          header->has_period = TRUE;
        }
      else if (stop[-1] == ':' && stop - p > 1)
        {
          header->event = (Slice){ p, stop - p - 1 };
          header->rest = slice_trim (stop, end);
          return TRUE;
        }
      else if (first)
        return FALSE;
      p = stop;
    }
  header->rest = (Slice){ end, 0 };
  return header->time >= 0 || first;
}

static gboolean
parse_header (const char *text, gsize length, Header *header)
{
  const char *end = text + length;
  const char *p = text;

  if (length == 0 || flam_text_is_space (*text))
    return FALSE;
  while ((p = token_end (p, end)) < end)
    {
      const char *comm_end = p;
      const char *stop;

      p = skip_space (p, end);
      stop = token_end (p, end);
      if (p == stop || !parse_ids (p, stop, header) ||
          !parse_facts (stop, end, header))
        continue;
      header->comm = (Slice){ text, comm_end - text };
      header->who = (Slice){ text, stop - text };
      return TRUE;
    }
  return FALSE;
}

/* --- a line of the call chain -------------------------------------------- */

static const char *
find_module (const char *start, const char *end)
{
  const char *stop = end;

  if (slice_ends ((Slice){ start, end - start }, " (deleted))"))
    stop = end - strlen (" (deleted))");
  for (const char *p = stop; p > start; p--)
    if (p[-1] == '(' && (p - 1 == start || flam_text_is_space (p[-2])))
      return p;
  return NULL;
}

static Slice
strip_offset (Slice symbol)
{
  const char *end = symbol.text + symbol.length;
  const char *p = end;

  while (p > symbol.text && g_ascii_isxdigit (p[-1]))
    p--;
  if (p < end && p - symbol.text >= 3 && memcmp (p - 3, "+0x", 3) == 0)
    symbol.length = p - 3 - symbol.text;
  return symbol;
}

/* "nest.c:13", "nest.c:9 (inlined)", "libc.so.6[27b25]" (no line is known). */
static void
parse_source_line (Slice text, Frame *frame)
{
  const char *end;
  const char *p;
  gint64 line;

  if (slice_ends (text, " (inlined)"))
    {
      frame->inlined = TRUE;
      text.length -= strlen (" (inlined)");
    }
  end = memchr (text.text, ' ', text.length); /* "(discriminator 2)" */
  if (end == NULL)
    end = text.text + text.length;
  for (p = end; p > text.text && flam_text_is_digit (p[-1]); p--)
    ;
  if (p == end || p - text.text < 2 || p[-1] != ':')
    return;
  frame->file = (Slice){ text.text, p - 1 - text.text };
  if (flam_text_number (&p, end, &line) && line <= G_MAXUINT32)
    frame->line = line;
}

static gboolean
parse_frame (Slice text, Frame *frame)
{
  const char *end = text.text + text.length;
  const char *first_end = memchr (text.text, '\n', text.length);
  const char *line_end = first_end != NULL ? first_end : end;
  const char *p = skip_space (text.text, line_end);
  Slice rest;

  memset (frame, 0, sizeof *frame);
  if (!flam_text_hex (&p, line_end, &frame->address) || p == line_end ||
      !flam_text_is_space (*p))
    return FALSE;
  rest = slice_trim (p, line_end);
  if (slice_ends (rest, "(inlined)"))
    {
      frame->inlined = TRUE;
      rest = slice_trim (rest.text,
                         rest.text + rest.length - strlen ("(inlined)"));
    }
  else if (rest.length > 0 && rest.text[rest.length - 1] == ')')
    {
      const char *close = rest.text + rest.length - 1;
      const char *open = find_module (rest.text, close + 1);
      if (open != NULL)
        {
          frame->module = (Slice){ open, close - open };
          rest = slice_trim (rest.text, open - 1);
        }
    }
  else
    {
      /* A line that was cut in its module's path. */
      const char *open = memmem (rest.text, rest.length, " (/", 3);
      if (open != NULL)
        rest = slice_trim (rest.text, open);
    }
  frame->symbol = strip_offset (rest);
  if (slice_is (frame->symbol, "[unknown]"))
    frame->symbol.length = 0;
  if (slice_is (frame->module, "[unknown]"))
    frame->module.length = 0;
  if (first_end != NULL)
    parse_source_line (slice_trim (first_end + 1, end), frame);
  return TRUE;
}

/* Two spaces and no address: belongs to the frame above it. */
static gboolean
is_source_line (const char *text, const char *end)
{
  const char *p = text + 2;
  guint64 address;

  if (end - text < 3 || text[0] != ' ' || text[1] != ' ' || text[2] == ' ')
    return FALSE;
  return !flam_text_hex (&p, end, &address) || p == end ||
         !flam_text_is_space (*p);
}

/* --- frames into the builder --------------------------------------------- */

static gboolean
is_jit (Slice module)
{
  if (module.length == 0)
    return FALSE;
  if (slice_ends (module, ".map"))
    {
      const char *p = module.text + module.length - strlen (".map");

      while (p > module.text && flam_text_is_digit (p[-1]))
        p--;
      return slice_ends ((Slice){ module.text, p - module.text }, "/perf-");
    }
  return (module.length > 5 && memcmp (module.text, "[JIT]", 5) == 0) ||
         memmem (module.text, module.length, "/jitted-", 8) != NULL;
}

static gboolean
is_kernel (Slice module)
{
  static const char *const user[] = { "[vdso]",  "[vsyscall]", "[heap]",
                                      "[stack]", "[anon]",     "[uprobes]" };

  if (module.length == 0)
    return FALSE;
  if (module.text[0] == '[' && module.text[module.length - 1] == ']')
    {
      for (guint i = 0; i < G_N_ELEMENTS (user); i++)
        if (slice_is (module, user[i]))
          return FALSE;
      return TRUE;
    }
  return slice_ends (module, "vmlinux") || slice_ends (module, ".ko") ||
         slice_ends (module, ".ko.xz") || slice_ends (module, ".ko.gz") ||
         slice_ends (module, ".ko.zst") ||
         (module.length > 17 &&
          memcmp (module.text, "[kernel.kallsyms]", 17) == 0);
}

static FlamFunctionKind
kind_of (Slice module)
{
  return is_jit (module)      ? FLAM_KIND_JIT
         : is_kernel (module) ? FLAM_KIND_KERNEL
                              : FLAM_KIND_NATIVE;
}

static FlamId
find_module_id (Script *script, Slice module, FlamFunctionKind kind)
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
            const Frame *frame,
            Slice symbol,
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
make_frames (Script *script, const Frame *frame, Place *place)
{
  Slice symbol = frame->symbol;
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
      id = make_frame (script, frame, (Slice){ p, arrow - p }, place);
      flam_column_append (&script->chains, FlamId, id);
      flam_column_at (&script->chains, FlamId, row)++;
      if (place->depth < G_MAXUINT16)
        place->depth++;
    }
  return IS_CHAIN | row;
}

static void
make_place (Script *script, Slice text, const Place *caller, Place *place)
{
  Frame frame;

  memset (place, 0, sizeof *place);
  place->frame = FLAM_NONE;
  place->module = FLAM_NONE;
  place->bad = !parse_frame (text, &frame);
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
      place->kind = kind_of (frame.module);
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
push_line (Script *script, Slice text, Place *caller, FlamId *stack)
{
  FlamId context = slice_ends (text, "(inlined)") ? caller->frame : FLAM_NONE;
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
make_stack (Script *script, Slice block)
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
      if (piece_end == NULL && is_source_line (start, line_end))
        {
          piece_end = line_end;
          continue;
        }
      if (piece_end != NULL)
        line_end = piece_end;
      piece_end = NULL;
      if (slice_trim (start, line_end).length > 0)
        push_line (script, (Slice){ start, line_end - start }, &caller, &stack);
    }
  return stack;
}

static FlamId
find_stack (Script *script, Slice block)
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
make_thread (Script *script, const Header *header)
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
find_thread (Script *script, const Header *header)
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
add_event (Script *script, const Header *header)
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
find_event (Script *script, const Header *header)
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
add_sample (Script *script, const Header *header, Slice block)
{
  FlamSample sample = { .time = MAX (header->time, 0) };
  gint64 weight = header->has_period && header->period > 0 ? header->period : 1;

  if (block.length == 0 && header->rest.length > 0)
    {
      Frame frame;
      if (parse_frame (header->rest, &frame))
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
read_comment (Script *script, Slice line)
{
  static const char key[] = "# cmdline :";
  Slice command;
  const char *program;
  g_autofree char *text = NULL;

  if (line.length <= strlen (key) || memcmp (line.text, key, strlen (key)) != 0)
    return;
  command = slice_trim (line.text + strlen (key), line.text + line.length);
  text = g_strndup (command.text, command.length);
  program = strstr (text, " -- ");
  flam_builder_set_command (script->builder,
                            program != NULL ? program + strlen (" -- ") : text);
}

/* perf's own records, printed among the samples with --show-*-events. */
static gboolean
is_record (const Header *header)
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
      Header header;
      Slice block;

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
          read_comment (script, (Slice){ line, length });
          continue;
        }
      block.text = all.at;
      all.at = block_end (all.at, all.end);
      block.length = all.at - block.text;
      if (script->source->truncated && all.at == all.end)
        break;
      if (!parse_header (line, length, &header) ||
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

  script.memory =
      options->has_force_kind && options->force_kind == FLAM_MEASURE_ALLOC;
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
  Header header;
  Frame frame;

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
      if (!parse_header (line, length, &header))
        return 0;
      if (header.time >= 0 && !slice_is (header.event, "samples"))
        return 90;
      if (!flam_text_next (&head, &line, &length))
        return of_perf ? 60 : 0;
      return flam_text_is_space (*line) &&
                     parse_frame ((Slice){ line, length }, &frame)
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
};
