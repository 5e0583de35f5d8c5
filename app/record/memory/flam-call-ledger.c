/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-call-ledger.h"

#include "flam-alloc-heaps.h"
#include "flam-mapping.h"
#include "flam-ranges.h"

#include <string.h>

struct _FlamCallLedger
{
  FlamAllocHeaps *heaps;
  FlamRecordWhat what;
};

struct _FlamCallSpace
{
  FlamAllocSpace *space;
  GHashTable *streams; /* thread -> FlamAllocStream */
  guint64 heap_end;    /* 0: unknown */
  FlamRanges *reserved;
  guint64 descriptors_end; /* above all that were opened */
};

#define PAGE 4096

/* Where the heaps find descriptors and threads: 16 bytes for each. */
#define DESCRIPTOR_AT(number) (((guint64)(number) + 1) << 4)
#define THREAD_AT(number) ((1ull << 40 | (guint64)(number)) << 4)
/* The maximum number of descriptors of a process: fs.nr_open. */
#define DESCRIPTORS_MAX (1u << 30)

FlamCallLedger *
flam_call_ledger_new (FlamBuilder *builder, FlamRecordWhat what)
{
  FlamCallLedger *ledger = g_new0 (FlamCallLedger, 1);

  ledger->what = what;
  ledger->heaps =
      flam_alloc_heaps_new_of_calls (builder, (what & FLAM_RECORD_FAULTS) != 0);
  return ledger;
}

void
flam_call_ledger_free (FlamCallLedger *ledger)
{
  flam_alloc_heaps_free (ledger->heaps);
  g_free (ledger);
}

static void
begin (FlamCallLedger *ledger, FlamCallSpace *space)
{
  space->space = flam_alloc_heaps_add_space (ledger->heaps, FALSE);
  g_hash_table_remove_all (space->streams);
}

FlamCallSpace *
flam_call_ledger_add_space (FlamCallLedger *ledger, const FlamCallSpace *parent)
{
  FlamCallSpace *space = g_new0 (FlamCallSpace, 1);

  space->streams = g_hash_table_new (NULL, NULL);
  space->reserved = flam_ranges_new ();
  if (parent != NULL)
    {
      space->heap_end = parent->heap_end;
      flam_ranges_copy (space->reserved, parent->reserved);
    }
  begin (ledger, space);
  return space;
}

void
flam_call_ledger_end_space (FlamCallLedger *ledger, FlamCallSpace *space)
{
  flam_alloc_heaps_end_space (ledger->heaps, space->space);
  g_hash_table_unref (space->streams);
  flam_ranges_free (space->reserved);
  g_free (space);
}

void
flam_call_ledger_exec (FlamCallLedger *ledger, FlamCallSpace *space)
{
  if (!(ledger->what & FLAM_RECORD_FAULTS))
    return;
  flam_alloc_heaps_end_space (ledger->heaps, space->space);
  space->heap_end = 0;
  flam_ranges_free (space->reserved);
  space->reserved = flam_ranges_new ();
  begin (ledger, space);
}

void
flam_call_space_read (FlamCallSpace *space, const char *maps)
{
  const char *at = maps, *end = maps + strlen (maps);
  FlamMapping mapping;

  while (flam_mapping_next (&at, end, &mapping))
    if (mapping.length == strlen ("[heap]") &&
        strncmp (mapping.path, "[heap]", mapping.length) == 0)
      space->heap_end = mapping.end;
    else if (!mapping.readable && !mapping.executable && mapping.inode == 0)
      flam_ranges_add (
          space->reserved,
          &(FlamRange){ .start = mapping.start, .end = mapping.end });
}

static FlamAllocStream *
stream_of (FlamCallLedger *ledger, FlamCallSpace *space, FlamThreadId thread)
{
  FlamAllocStream *stream =
      g_hash_table_lookup (space->streams, GUINT_TO_POINTER (thread));

  if (stream != NULL)
    return stream;
  stream = flam_alloc_heaps_add_stream (ledger->heaps, space->space, thread);
  g_hash_table_insert (space->streams, GUINT_TO_POINTER (thread), stream);
  return stream;
}

/* --- memory -------------------------------------------------------------- */

/* Reserved addresses in the range become memory. */
static void
allow (FlamCallLedger *ledger,
       FlamCallSpace *space,
       FlamAllocStream *stream,
       const FlamCallEvent *event,
       FlamAllocStack *stack)
{
  guint64 end = event->at + event->size;
  const FlamRange *found;

  while ((found = flam_ranges_next (space->reserved, event->at)) != NULL &&
         found->start < end)
    {
      guint64 from = MAX (found->start, event->at);
      guint64 to = MIN (found->end, end);

      flam_ranges_remove (space->reserved, from, to);
      flam_alloc_heaps_map (ledger->heaps,
                            stream,
                            from,
                            (gint64)(to - from),
                            stack->id,
                            FLAM_ALLOCATOR_MMAP);
    }
}

/* The memory in the range becomes reserved. */
static void
forbid (FlamCallLedger *ledger,
        FlamCallSpace *space,
        FlamAllocStream *stream,
        const FlamCallEvent *event)
{
  guint64 end = event->at + event->size, from = event->at, to;

  while (flam_alloc_heaps_next_pages (space->space, &from, &to) && from < end)
    {
      FlamRange range = { .start = MAX (from, event->at),
                          .end = MIN (to, end) };

      flam_alloc_heaps_unmap (
          ledger->heaps, stream, range.start, range.end - range.start);
      flam_ranges_add (space->reserved, &range);
      from = range.end;
    }
}

/* The heap's end moved. Until it has moved once, only its place is known. */
static void
move_break (FlamCallLedger *ledger,
            FlamCallSpace *space,
            FlamAllocStream *stream,
            const FlamCallEvent *event,
            FlamAllocStack *stack)
{
  guint64 end = (event->at + PAGE - 1) & ~(guint64)(PAGE - 1);
  gint64 change = (gint64)(end - space->heap_end);
  gboolean known = space->heap_end != 0 && event->size == 0;

  space->heap_end = end;
  if (known && change != 0)
    flam_alloc_heaps_break (ledger->heaps, stream, change, stack);
}

/* --- descriptors --------------------------------------------------------- */

static void
close_all (FlamCallLedger *ledger,
           FlamCallSpace *space,
           FlamAllocStream *stream,
           const FlamCallEvent *event)
{
  guint64 end = MIN (event->at + event->size, space->descriptors_end);

  for (guint64 number = event->at; number < end; number++)
    flam_alloc_heaps_free_block (ledger->heaps, stream, DESCRIPTOR_AT (number));
}

/* --- all ----------------------------------------------------------------- */

static void
open_one (FlamCallLedger *ledger,
          FlamAllocStream *stream,
          guint64 at,
          FlamAllocStack *stack,
          FlamAllocator allocator)
{
  flam_alloc_heaps_block (ledger->heaps, stream, at, 1, 1, 0, stack, allocator);
}

void
flam_call_ledger_take (FlamCallLedger *ledger,
                       FlamCallSpace *space,
                       FlamThreadId thread,
                       gint64 time,
                       const FlamCallEvent *event,
                       FlamStackId stack)
{
  FlamAllocStream *stream = stream_of (ledger, space, thread);
  FlamAllocStack at = { stack, FLAM_NONE };

  flam_alloc_heaps_advance (ledger->heaps, time);
  switch (event->op)
    {
    case FLAM_CALL_MAP:
    case FLAM_CALL_MAP_FILE:
      flam_ranges_remove (space->reserved, event->at, event->at + event->size);
      if (event->size <= G_MAXINT64)
        flam_alloc_heaps_map (ledger->heaps,
                              stream,
                              event->at,
                              (gint64)event->size,
                              stack,
                              event->op == FLAM_CALL_MAP ? FLAM_ALLOCATOR_MMAP
                                                         : FLAM_ALLOCATOR_FILE);
      break;
    case FLAM_CALL_RESERVE:
    case FLAM_CALL_UNMAP:
      flam_alloc_heaps_unmap (ledger->heaps, stream, event->at, event->size);
      flam_ranges_remove (space->reserved, event->at, event->at + event->size);
      if (event->op == FLAM_CALL_RESERVE)
        flam_ranges_add (
            space->reserved,
            &(FlamRange){ .start = event->at, .end = event->at + event->size });
      break;
    case FLAM_CALL_ALLOW:
      allow (ledger, space, stream, event, &at);
      break;
    case FLAM_CALL_FORBID:
      forbid (ledger, space, stream, event);
      break;
    case FLAM_CALL_BREAK:
      move_break (ledger, space, stream, event, &at);
      break;
    case FLAM_CALL_OPEN:
      if (event->at >= DESCRIPTORS_MAX)
        break;
      space->descriptors_end = MAX (space->descriptors_end, event->at + 1);
      open_one (ledger,
                stream,
                DESCRIPTOR_AT (event->at),
                &at,
                FLAM_ALLOCATOR_DESCRIPTOR);
      break;
    case FLAM_CALL_CLOSE:
      close_all (ledger, space, stream, event);
      break;
    case FLAM_CALL_BEGIN_THREAD:
      open_one (
          ledger, stream, THREAD_AT (event->at), &at, FLAM_ALLOCATOR_THREAD);
      break;
    case FLAM_CALL_END_THREAD:
      flam_alloc_heaps_free_block (
          ledger->heaps, stream, THREAD_AT (event->at));
      break;
    }
}

void
flam_call_ledger_advance (FlamCallLedger *ledger, gint64 time)
{
  flam_alloc_heaps_advance (ledger->heaps, time);
}

void
flam_call_ledger_finish (FlamCallLedger *ledger, gint64 time)
{
  flam_alloc_heaps_finish (ledger->heaps, time);
}
