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
 * Everything in the header is optional (perf's -F), and so is the header; a
 * name may hold spaces and numbers; `pid/tid` may be the tid alone. A sample
 * without a call chain has its one frame behind the header, or none. perf's own
 * records (--show-mmap-events) stand between the samples. Source: perf's
 * builtin-script.c and the files of public collections; what they hold is
 * counted as FlameGraph's stackcollapse-perf.pl counts it, but for every event
 * and not the first alone. */

#include "flam-formats.h"

#include "flam-perf-script-stacks.h"

#define MAX_EVENTS G_MAXUINT16
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
  FlamScriptStacks stacks;
  FlamPieces threads;
  FlamColumn events; /* Event */
  GHashTable *named; /* pids of processes that have a name */
  gboolean memory;
  gboolean has_times;
  gboolean has_facts; /* a header told a time or a period */
  guint64 samples;
} Script;

/* --- samples ------------------------------------------------------------- */

static FlamId
make_thread (Script *script, const FlamScriptHeader *header)
{
  g_autofree char *comm = g_strndup (header->comm.text, header->comm.length);
  FlamId process = flam_builder_process (script->builder, header->pid, 0);
  FlamId thread =
      flam_builder_thread (script->builder, process, header->tid, 0);

  if (*comm != '\0')
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

/* Else it has what perf prints below the one frame behind the header. */
static gboolean
has_frames (FlamSlice block)
{
  const char *end = memchr (block.text, '\n', block.length);

  if (end == NULL)
    end = block.text + block.length;
  return block.length > 0 && !flam_script_is_source_line (block.text, end) &&
         !flam_script_is_detail (block.text, end);
}

static void
add_sample (Script *script, const FlamScriptHeader *header, FlamSlice block)
{
  FlamSample sample = { .time = MAX (header->time, 0) };
  gint64 weight = header->has_period && header->period > 0 ? header->period : 1;

  if (header->leaf.length > 0 && !has_frames (block))
    block = (FlamSlice){ header->leaf.text,
                         block.text + block.length - header->leaf.text };
  if (header->time >= 0 && !script->has_times)
    {
      script->has_times = TRUE;
      flam_builder_set_has_times (script->builder);
    }
  sample.event = find_event (script, header);
  sample.thread = find_thread (script, header);
  sample.stack = flam_script_stacks_find (&script->stacks, block);
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

/* A name alone is a header if no header of the file says more and a call chain
 * follows. */
static gboolean
starts_sample (Script *script, const FlamScriptHeader *header, FlamSlice block)
{
  const char *end = memchr (block.text, '\n', block.length);

  if (end == NULL)
    end = block.text + block.length;
  script->has_facts |= header->time >= 0 || header->has_period;
  return header->certain || header->tid >= 0 ||
         ((header->has_period || !script->has_facts) &&
          flam_script_is_chain_line (block.text, end));
}

/* A header with its call chain, or a call chain alone: with -F ip,sym there
 * are no headers. */
static void
read_sample (Script *script, FlamText *all, const char *line, gsize length)
{
  FlamScriptHeader header = { .pid = -1, .tid = -1, .time = -1 };
  gboolean bare = flam_script_is_chain_line (line, line + length);
  FlamSlice block = { bare ? line : all->at, 0 };
  gboolean cut, good = TRUE;
  guint64 lost;
  gboolean record = flam_script_parse_record (line, length, &lost);

  do
    {
      cut = FALSE;
      all->at = flam_script_chain_end (block.text, all->end, &cut);
    }
  while (cut && flam_text_more (all));
  block.length = all->at - block.text;
  if (cut && flam_source_is_truncated (script->source))
    {
      all->at = all->end;
      return;
    }
  header.comm = header.who = (FlamSlice){ line, 0 };
  header.event = (FlamSlice){ "samples", strlen ("samples") };
  if (!bare && !record)
    good = flam_script_parse_header (line, length, &header) &&
           starts_sample (script, &header, block);
  if (record)
    flam_builder_facts (script->builder)->lost += lost;
  else if (good && script->events.n < MAX_EVENTS)
    add_sample (script, &header, block);
  else
    flam_script_stacks_bad (&script->stacks, line);
}

static gboolean
read_samples (Script *script, const FlamProgress *progress, GError **error)
{
  FlamText all;
  const char *line;
  gsize length;

  flam_text_open (&all, script->source, progress);
  while (flam_text_next (&all, &line, &length))
    if (*line == '#')
      read_comment (script, (FlamSlice){ line, length });
    else if (flam_slice_trim (line, line + length).length > 0)
      read_sample (script, &all, line, length);
  return flam_text_close (&all, error);
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
  if (script->stacks.bad > 0)
    flam_builder_warn (script->builder,
                       "%" G_GUINT64_FORMAT
                       " lines make no sense as output of perf script and "
                       "were left out; the first is line %" G_GUINT64_FORMAT,
                       script->stacks.bad,
                       line_number (script, script->stacks.first_bad));
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
  flam_script_stacks_init (&script.stacks, builder);
  flam_column_init (&script.events, sizeof (Event));
  flam_builder_add_column (builder);
  ok = read_samples (&script, options->progress, error) &&
       check (&script, error);
  flam_pieces_clear (&script.threads);
  flam_script_stacks_clear (&script.stacks);
  flam_column_clear (&script.events);
  g_hash_table_unref (script.named);
  return ok;
}

/* --- probe --------------------------------------------------------------- */

/* What follows the first line: a call chain, or another sample of its kind.
 * `header` NULL: the first line was part of a call chain. */
static gboolean
probe_second (FlamText *head, const FlamScriptHeader *header)
{
  FlamScriptHeader second;
  const char *line;
  gsize length;
  FlamScriptFrame frame;

  if (!flam_text_next (head, &line, &length))
    return header != NULL && header->leaf.length > 0;
  if (header == NULL)
    return length == 0 || flam_script_is_exact_chain_line (line, line + length);
  if (flam_script_is_exact_chain_line (line, line + length) ||
      ((header->certain || header->tid >= 0) && flam_text_is_space (*line) &&
       flam_script_parse_frame ((FlamSlice){ line, length }, &frame)))
    return TRUE;
  if (header->leaf.length > 0 &&
      flam_script_is_source_line (line, line + length))
    return TRUE;
  return header->certain && flam_script_parse_header (line, length, &second) &&
         second.certain;
}

/* The first sample, and whether anything but perf would write it so. */
static guint
probe (const FlamSource *source)
{
  FlamText head = flam_text_plain_head (source);
  gboolean of_perf = FALSE;
  const char *line;
  gsize length;

  while (flam_text_next (&head, &line, &length))
    {
      FlamScriptHeader header;
      gboolean is_chain = flam_script_is_exact_chain_line (line, line + length);
      guint64 lost;

      if (length == 0)
        continue;
      if (*line == '#')
        {
          of_perf |= memmem (line, length, "perf version :", 14) != NULL;
          continue;
        }
      if (flam_script_parse_record (line, length, &lost))
        return 90;
      if (!is_chain && !flam_script_parse_header (line, length, &header))
        return 0;
      if (!is_chain && header.time >= 0 &&
          !flam_slice_is (header.event, "samples"))
        return 90;
      return probe_second (&head, is_chain ? NULL : &header) ? 80
             : of_perf                                       ? 60
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
