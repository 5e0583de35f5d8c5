/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-perf-script-part.h"

#include <string.h>

static FlamThreadId
find_thread (FlamScriptPart *part, const FlamScriptHeader *header)
{
  gboolean is_new;
  FlamId row = flam_pieces_find (
      &part->threads, header->who.text, header->who.length, FLAM_NONE, &is_new);
  FlamScriptWho who = { header->comm, header->pid, header->tid };

  if (is_new)
    {
      flam_column_append (&part->whos, FlamScriptWho, who);
      *flam_pieces_value (&part->threads, row) = flam_builder_thread (
          part->builder,
          flam_builder_process (part->builder, header->pid, 0),
          header->tid,
          0);
    }
  return *flam_pieces_value (&part->threads, row);
}

guint
flam_script_find_event (FlamColumn *events, const FlamScriptEvent *event)
{
  for (guint i = 0; i < events->n; i++)
    {
      FlamSlice name = flam_column_at (events, FlamScriptEvent, i).name;

      if (name.length == event->name.length &&
          memcmp (name.text, event->name.text, name.length) == 0)
        return i;
    }
  flam_column_append (events, FlamScriptEvent, *event);
  return (guint)events->n - 1;
}

static guint
find_event (FlamScriptPart *part, const FlamScriptHeader *header)
{
  FlamScriptEvent event = { .name = header->event };

  event.is_time =
      header->has_period && (flam_slice_begins (header->event, "cpu-clock") ||
                             flam_slice_begins (header->event, "task-clock"));
  event.is_bytes = header->bytes >= 0;
  return flam_script_find_event (&part->events, &event);
}

/* Otherwise the block is perf's output below the single frame after the
 * header. */
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
find_waiting (FlamScriptPart *part)
{
  for (guint i = 0; i < part->n_waiting; i++)
    flam_script_stacks_prefetch (&part->stacks, &part->waiting[i].block);
  for (guint i = 0; i < part->n_waiting; i++)
    {
      const FlamScriptWaiting *waiting = &part->waiting[i];

      flam_column_at (&part->samples, FlamScriptSample, waiting->sample).block =
          flam_script_stacks_find (&part->stacks, &waiting->block);
    }
  part->n_waiting = 0;
}

static void
find_block (FlamScriptPart *part, FlamSlice block)
{
  FlamScriptWaiting *waiting = &part->waiting[part->n_waiting];

  if (!flam_script_stacks_begin_find (&part->stacks, block, &waiting->block))
    return;
  waiting->sample = (FlamId)part->samples.n - 1;
  if (++part->n_waiting == FLAM_SCRIPT_WAITING)
    find_waiting (part);
}

/* Invalid lines are counted in their order. */
static void
add_bad (FlamScriptPart *part, const char *line)
{
  find_waiting (part);
  flam_script_stacks_bad (&part->stacks, line);
}

static void
add_sample (FlamScriptPart *part,
            const FlamScriptHeader *header,
            FlamSlice block)
{
  FlamScriptSample sample = { .block = FLAM_NONE,
                              .time = MAX (header->time, 0) };

  sample.weight = header->bytes >= 0                         ? header->bytes
                  : header->has_period && header->period > 0 ? header->period
                                                             : 1;
  if (header->leaf.length > 0 && !has_frames (block))
    block = (FlamSlice){ header->leaf.text,
                         block.text + block.length - header->leaf.text };
  part->has_times |= header->time >= 0;
  sample.event = find_event (part, header);
  sample.thread = find_thread (part, header);
  flam_column_append (&part->samples, FlamScriptSample, sample);
  find_block (part, block);
}

static void
read_comment (FlamScriptPart *part, FlamSlice line)
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
  g_free (part->command);
  part->command = g_strdup (program != NULL ? program + strlen (" -- ") : text);
}

/* A line with only a name is a header if no header of the file has more and a
 * call chain follows. */
static gboolean
starts_sample (FlamScriptPart *part,
               const FlamScriptHeader *header,
               FlamSlice block)
{
  const char *end = memchr (block.text, '\n', block.length);

  if (end == NULL)
    end = block.text + block.length;
  part->has_facts |= header->time >= 0 || header->has_period;
  if (header->certain || header->tid >= 0)
    return TRUE;
  if (!flam_script_is_chain_line (block.text, end))
    return FALSE;
  part->guessed |= !header->has_period && !part->has_facts;
  return header->has_period || !part->has_facts;
}

static gboolean
parse_header (FlamScriptPart *part,
              const char *line,
              gsize length,
              FlamScriptHeader *header)
{
  gboolean good = flam_script_parse_header (line, length, header);

  if (good)
    flam_script_remember (&part->last, line, length, header);
  return good;
}

/* Reads a header with its call chain, or only a call chain: with -F ip,sym
 * there are no headers. */
static void
read_sample (FlamScriptPart *part,
             FlamText *all,
             const char *line,
             gsize length)
{
  FlamScriptHeader header = { .pid = -1, .tid = -1, .time = -1, .bytes = -1 };
  gboolean bare = flam_script_is_chain_line (line, line + length);
  FlamSlice block = { bare ? line : all->at, 0 };
  gboolean cut, good = TRUE;
  guint64 lost;
  gboolean like =
      !bare && flam_script_parse_like_last (&part->last, line, length, &header);
  gboolean record = !like && flam_script_parse_record (line, length, &lost);

  do
    {
      cut = FALSE;
      all->at = flam_script_chain_end (block.text, all->end, &cut);
    }
  while (cut && flam_text_more (all));
  block.length = all->at - block.text;
  if (cut && flam_source_is_truncated (part->source))
    {
      all->at = all->end;
      return;
    }
  if (bare || record)
    {
      header.comm = header.who = (FlamSlice){ line, 0 };
      header.event = (FlamSlice){ "samples", strlen ("samples") };
    }
  else
    good = (like || parse_header (part, line, length, &header)) &&
           starts_sample (part, &header, block);
  if (record)
    part->lost += lost;
  else if (good && part->events.n < FLAM_SCRIPT_MAX_EVENTS)
    add_sample (part, &header, block);
  else
    add_bad (part, line);
}

gboolean
flam_script_part_read (FlamScriptPart *part,
                       const FlamProgress *progress,
                       GError **error)
{
  FlamText *all = &part->text;
  const char *line;
  gsize length;

  flam_text_reopen (all, progress);
  while (flam_text_next (all, &line, &length))
    if (*line == '#')
      read_comment (part, (FlamSlice){ line, length });
    else if (flam_slice_trim (line, line + length).length > 0)
      read_sample (part, all, line, length);
  find_waiting (part);
  return flam_text_close (all, error);
}

void
flam_script_part_init (FlamScriptPart *part,
                       const FlamSource *source,
                       const FlamText *text,
                       FlamBuilder *builder,
                       const FlamFingerprintKey *key,
                       gboolean later)
{
  *part =
      (FlamScriptPart){ .builder = builder, .source = source, .text = *text };
  flam_script_stacks_init (&part->stacks, builder, key, later);
  flam_pieces_init (&part->threads);
  flam_column_init (&part->whos, sizeof (FlamScriptWho));
  flam_column_init (&part->events, sizeof (FlamScriptEvent));
  flam_column_init (&part->samples, sizeof (FlamScriptSample));
}

void
flam_script_part_clear (FlamScriptPart *part)
{
  flam_script_stacks_clear (&part->stacks);
  flam_pieces_clear (&part->threads);
  flam_column_clear (&part->whos);
  flam_column_clear (&part->events);
  flam_column_clear (&part->samples);
  g_free (part->command);
}
