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
 * name may contain spaces and numbers; `pid/tid` may be the tid alone. A sample
 * without a call chain has a single frame after the header, or none. perf's own
 * records (--show-mmap-events) are between the samples. Source: perf's
 * builtin-script.c and the files of public collections; the counts are those of
 * FlameGraph's stackcollapse-perf.pl, but for every event, not only the first.
 * Allocations of the kernel (kmem:kmalloc and the like) weigh their bytes.
 *
 * perf sorts by time, so that times which descend are those of --deltatime:
 * from one sample to the next, the first of which has 0.
 *
 * An empty line ends every sample, so several cores read large files
 * (flam-parts.h), each from the end of an empty line. The meaning of a sample
 * depends on nothing else, with one exception: a lone name is a header only if
 * no header before it has more. A part that assumed this is read again if it
 * was wrong.
 *
 * The parts collect their distinct call chains. These are joined, and cut
 * again, so that no chain is converted twice:
 *
 *    samples  a b a c a|c a d a b      two cores
 *    chains   a b c    |c a d b
 *    joined   a b|c d                  two cores: stacks
 */

#include "flam-formats.h"

#include "flam-parts.h"
#include "flam-perf-script-part.h"

/* How many call chains are converted between two reports of progress. */
#define STEP 4096

typedef struct
{
  FlamBuilder *builder;
  const FlamSource *source;
  FlamFingerprintKey key;
  FlamParts texts;
  FlamScriptPart parts[FLAM_PARTS_MAX];
  FlamPartsJoin chains; /* FlamScriptBlock: the call chains of all parts */
  FlamPieces threads;   /* the threads of all parts */
  FlamColumn events;    /* FlamScriptEvent: the measures */
  GHashTable *named;    /* pids of processes that have a name */
  gboolean memory;
  gboolean deltas; /* times are relative to the previous sample */
  gint64 now;
} Script;

/* --- the parts, in their order ---------------------------------------------
 */

static void
name_thread (Script *script, const FlamScriptWho *who)
{
  g_autofree char *comm = g_strndup (who->comm.text, who->comm.length);
  FlamProcessId process = flam_builder_process (script->builder, who->pid, 0);
  FlamThreadId thread =
      flam_builder_thread (script->builder, process, who->tid, 0);

  if (*comm != '\0')
    flam_builder_set_thread_name (script->builder, thread, comm);
  if (who->pid >= 0 &&
      (g_hash_table_add (script->named, GINT_TO_POINTER (who->pid)) ||
       who->pid == who->tid))
    flam_builder_set_process_name (script->builder, process, comm);
}

static void
name_threads (Script *script, const FlamScriptPart *part)
{
  for (gsize i = 0; i < part->whos.n; i++)
    {
      const FlamPiece *text =
          &flam_column_at (&part->threads.pieces, FlamPiece, i);
      gboolean is_new;

      flam_pieces_find (
          &script->threads, text->text, text->length, FLAM_NONE, &is_new);
      if (is_new)
        name_thread (script, &flam_column_at (&part->whos, FlamScriptWho, i));
    }
}

static void
add_measure (Script *script, const FlamScriptEvent *event, guint index)
{
  g_autofree char *name = g_strndup (event->name.text, event->name.length);
  gboolean memory = script->memory || event->is_bytes;

  flam_builder_add_measure (script->builder,
                            name,
                            name,
                            memory           ? FLAM_UNIT_BYTES
                            : event->is_time ? FLAM_UNIT_NS
                                             : FLAM_UNIT_COUNT,
                            memory ? FLAM_MEASURE_ALLOC : FLAM_MEASURE_CPU,
                            0,
                            index);
}

/* The part's events as rows of all parts' events. */
static guint *
find_events (Script *script, const FlamScriptPart *part)
{
  guint *map = g_new (guint, part->events.n + 1);

  for (gsize i = 0; i < part->events.n; i++)
    {
      const FlamScriptEvent *event =
          &flam_column_at (&part->events, FlamScriptEvent, i);
      gsize had = script->events.n;

      map[i] = flam_script_find_event (&script->events, event);
      if (map[i] == had)
        add_measure (script, event, map[i]);
    }
  return map;
}

static void
add_samples (Script *script, const FlamScriptPart *part)
{
  g_autofree guint *events = find_events (script, part);
  const FlamScriptBlock *blocks = part->stacks.blocks.data;

  for (gsize i = 0; i < part->samples.n; i++)
    {
      const FlamScriptSample *row =
          &flam_column_at (&part->samples, FlamScriptSample, i);
      FlamSample sample = { .thread = row->thread,
                            .stack = FLAM_NONE,
                            .time = row->time };

      if (script->deltas &&
          __builtin_add_overflow (script->now, row->time, &script->now))
        script->now = 0;
      if (script->deltas)
        sample.time = script->now;
      sample.event = (guint16)events[row->event];
      if (row->block != FLAM_NONE)
        sample.stack = blocks[row->block].stack;
      flam_builder_add_sample (script->builder, &sample, &row->weight);
    }
  name_threads (script, part);
}

static gboolean
has_deltas (const Script *script)
{
  gboolean descend = FALSE;
  gint64 before = -1;

  for (guint i = 0; i < script->texts.n; i++)
    for (gsize k = 0; k < script->parts[i].samples.n; k++)
      {
        gint64 time =
            flam_column_at (&script->parts[i].samples, FlamScriptSample, k)
                .time;

        if (before < 0 && time != 0)
          return FALSE;
        descend |= time < before;
        before = time;
      }
  return descend;
}

static void
add_parts (Script *script)
{
  gsize n = 0;

  script->deltas = has_deltas (script);
  for (guint i = 0; i < script->texts.n; i++)
    if (script->parts[i].has_times)
      {
        flam_builder_set_has_times (script->builder);
        break;
      }
  for (guint i = 0; i < script->texts.n; i++)
    n += script->parts[i].samples.n;
  flam_builder_reserve_samples (script->builder, n);
  for (guint i = 0; i < script->texts.n; i++)
    {
      const FlamScriptPart *part = &script->parts[i];

      add_samples (script, part);
      flam_builder_facts (script->builder)->lost += part->lost;
      if (part->command != NULL)
        flam_builder_set_command (script->builder, part->command);
    }
}

static guint64
line_number (const Script *script, const char *at)
{
  const char *p = (const char *)script->source->data;
  guint64 n = 1 + script->source->lines_before;

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
  guint64 samples = 0, bad = 0;
  const char *first_bad = NULL;

  for (guint i = 0; i < script->texts.n; i++)
    {
      const FlamScriptPart *part = &script->parts[i];

      samples += part->samples.n;
      bad += part->stacks.bad;
      if (first_bad == NULL || (part->stacks.first_bad != NULL &&
                                part->stacks.first_bad < first_bad))
        first_bad = part->stacks.first_bad;
    }
  if (samples == 0)
    return flam_source_invalid (
        script->source,
        error,
        N_ ("this output of perf script has no samples"));
  if (bad > 0)
    flam_builder_warn (
        script->builder,
        FLAM_PLURAL (bad,
                     "%" PRIu64 " line is not valid output of perf script and "
                     "was left out: line %" PRIu64,
                     "%" PRIu64
                     " lines are not valid output of perf script and were left "
                     "out; the first is line %" PRIu64),
        bad,
        line_number (script, first_bad));
  return TRUE;
}

/* --- reading ---------------------------------------------------------------
 */

/* After an empty line. */
static const char *
part_start (const char *at, const char *end)
{
  for (at = flam_parts_line_start (at, end); at < end;
       at = flam_parts_line_start (at + 1, end))
    if (*at == '\n')
      return at + 1;
    else if (*at == '\r' && end - at > 1 && at[1] == '\n')
      return at + 2;
  return end;
}

static void
begin_part (Script *script, guint i)
{
  flam_script_part_init (&script->parts[i],
                         script->source,
                         &script->texts.text[i],
                         i == 0 ? script->builder : flam_builder_new (),
                         &script->key,
                         script->texts.n > 1);
}

static void
end_part (Script *script, guint i)
{
  if (i > 0)
    flam_builder_free (script->parts[i].builder);
  flam_script_part_clear (&script->parts[i]);
}

static gboolean
read_part (gpointer data, guint i, const FlamProgress *progress, GError **error)
{
  Script *script = data;

  return flam_script_part_read (&script->parts[i], progress, error);
}

/* Parts that took a lone name for a header although a part before disproves
 * it. */
static gboolean
read_again (Script *script, const FlamProgress *progress, GError **error)
{
  gboolean has_facts = FALSE;

  for (guint i = 0; i < script->texts.n; i++)
    {
      FlamScriptPart *part = &script->parts[i];

      if (has_facts && part->guessed)
        {
          end_part (script, i);
          begin_part (script, i);
          part->has_facts = TRUE;
          if (!flam_script_part_read (part, progress, error))
            return FALSE;
        }
      has_facts |= part->has_facts;
    }
  return TRUE;
}

static void
begin_parts (Script *script)
{
  for (guint i = 0; i < script->texts.n; i++)
    begin_part (script, i);
}

static void
end_parts (Script *script)
{
  for (guint i = 0; i < script->texts.n; i++)
    end_part (script, i);
}

/* More events than a profile can have, which only a fabricated file contains:
 * the first ones are kept, as if one core had read the file. The interned data
 * is the same. */
static gboolean
read_as_one (Script *script, const FlamProgress *progress, GError **error)
{
  gsize events = 0;

  for (guint i = 0; i < script->texts.n; i++)
    events += script->parts[i].events.n;
  if (script->texts.n == 1 || events <= FLAM_SCRIPT_MAX_EVENTS)
    return TRUE;
  end_parts (script);
  script->texts.n = 1;
  flam_text_init (&script->texts.text[0], script->source);
  begin_parts (script);
  return flam_script_part_read (&script->parts[0], progress, error);
}

/* --- the call chains of several parts --------------------------------------
 */

static gboolean
join_chains (Script *script, const FlamProgress *progress, GError **error)
{
  script->chains.n = script->texts.n;
  for (guint i = 0; i < script->texts.n; i++)
    script->chains.rows[i] = &script->parts[i].stacks.blocks;
  return flam_parts_join (&script->chains, progress, error);
}

/* The first of the joined chains that a part converts. */
static gsize
share_start (const Script *script, guint i)
{
  return script->chains.joined.n * i / script->texts.n;
}

static gboolean
make_stacks (gpointer data,
             guint i,
             const FlamProgress *progress,
             GError **error)
{
  Script *script = data;
  FlamScriptBlock *chains = script->chains.joined.data;

  for (gsize k = share_start (script, i); k < share_start (script, i + 1); k++)
    {
      if (k % STEP == 0 && !flam_progress_step (progress, 1, error))
        return FALSE;
      chains[k].stack =
          flam_script_stacks_make (&script->parts[i].stacks, chains[k].text);
    }
  return TRUE;
}

static FlamBuilderMerge *
merge_builders (Script *script, const FlamProgress *progress, GError **error)
{
  FlamBuilder *builders[FLAM_PARTS_MAX];

  for (guint i = 0; i < script->texts.n; i++)
    builders[i] = script->parts[i].builder;
  return flam_parts_merge (builders, script->texts.n, progress, error);
}

/* The stacks of a part's own chains, which any of the cores may have
 * converted. */
static void
set_stacks (Script *script, guint part)
{
  FlamColumn *blocks = &script->parts[part].stacks.blocks;
  const FlamScriptBlock *chains = script->chains.joined.data;

  for (FlamId k = 0; k < blocks->n; k++)
    flam_column_at (blocks, FlamScriptBlock, k).stack =
        chains[flam_union_id (&script->chains.ids, part, k)].stack;
}

static gboolean
merge_parts (Script *script, const FlamProgress *progress, GError **error)
{
  g_autoptr (FlamBuilderMerge) merge = NULL;
  FlamScriptBlock *chains;

  if (script->texts.n == 1)
    return TRUE;
  if (!join_chains (script, progress, error) ||
      !flam_parts_read (
          script->texts.n, make_stacks, script, progress, error) ||
      !flam_parts_leave (&script->texts, script->source, progress, error) ||
      (merge = merge_builders (script, progress, error)) == NULL)
    return FALSE;
  chains = script->chains.joined.data;
  for (guint i = 0; i < script->texts.n; i++)
    {
      FlamColumn *samples = &script->parts[i].samples;

      for (gsize k = 0; k < samples->n; k++)
        {
          FlamScriptSample *sample =
              &flam_column_at (samples, FlamScriptSample, k);
          sample->thread = flam_builder_merge_thread (merge, i, sample->thread);
        }
      for (gsize k = share_start (script, i); k < share_start (script, i + 1);
           k++)
        chains[k].stack = flam_builder_merge_stack (merge, i, chains[k].stack);
    }
  for (guint i = 0; i < script->texts.n; i++)
    set_stacks (script, i);
  return TRUE;
}

/* The parts are read to their ends; the end of the last part is the file's. */
static void
warn_if_cut (const FlamLoad *load)
{
  FlamText all;

  flam_text_init (&all, load->source);
  while (flam_text_more (&all))
    continue;
  flam_text_warn_half (&all, load);
}

static gboolean
load (FlamLoad *load, GError **error)
{
  const FlamProgress *progress = load->options->progress;
  Script *script = flam_arena_new (load, Script);
  gboolean ok;

  script->builder = load->builder;
  script->source = load->source;
  script->memory = load->options->weights_as == FLAM_WEIGHTS_BYTES;
  script->named = flam_arena_table (load, FLAM_KEY_DIRECT, NULL);
  flam_arena_pieces (load, &script->threads);
  flam_arena_column (load, &script->events, FlamScriptEvent);
  flam_builder_add_column (load->builder);
  flam_parts_cut (&script->texts, load->source, load->options, part_start);
  flam_fingerprint_key_init (&script->key);
  begin_parts (script);
  ok = flam_parts_read (script->texts.n, read_part, script, progress, error) &&
       read_again (script, progress, error) &&
       read_as_one (script, progress, error) &&
       merge_parts (script, progress, error) && check (script, error);
  if (ok)
    {
      warn_if_cut (load);
      add_parts (script);
    }
  flam_parts_join_clear (&script->chains);
  end_parts (script);
  return ok;
}

/* --- probe --------------------------------------------------------------- */

/* No code below: "total 96", "  12 -rw-r--r-- 1 me me …" comes from ls. */
#define MIN_ADDRESS 0x10000

/* The rest after the first line: a call chain, or another sample of its kind.
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
    return length == 0 ||
           flam_script_is_exact_chain_line (line, line + length) ||
           flam_script_is_source_line (line, line + length);
  if (flam_script_is_exact_chain_line (line, line + length) ||
      ((header->certain || header->tid >= 0) &&
       flam_script_parse_frame ((FlamSlice){ line, length }, &frame) &&
       (header->certain || frame.module.length > 0 ||
        frame.address >= MIN_ADDRESS) &&
       (flam_text_is_space (*line) || /* indents are lost where it was pasted */
        (header->certain && frame.module.length > 0))))
    return TRUE;
  if (header->leaf.length > 0 &&
      flam_script_is_source_line (line, line + length))
    return TRUE;
  /* "main;parse 145436305 114228456" is a folded stack with two counts. */
  return header->certain && flam_script_parse_header (line, length, &second) &&
         second.certain &&
         memchr (header->comm.text, ';', header->comm.length) == NULL;
}

/* Looks for the first sample, and checks whether any tool other than perf could
 * have printed it. */
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

const FlamImporter flam_import_perf_script = {
  .id = "perf-script",
  .label = N_ ("perf script text"),
  .written_by = "perf script",
  .suffixes = FLAM_LIST (".script", ".script.txt", ".perf"),
  .mime_types = FLAM_LIST ("text/plain"),
  .probe = probe,
  .load = load,
  .streams = TRUE,
};
