/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "flam-unwind-space.h"

#include <stdlib.h>
#include <string.h>

#define CACHE_BITS 12
#define CACHE_SIZE (1u << CACHE_BITS)

struct _FlamUnwindSpace
{
  FlamUnwindMap *maps; /* ascending, not overlapping */
  size_t n;
  size_t allocated;
  uint64_t generation; /* unlike that of any other state of any space */
  FlamUnwindLoad load;
  void *data;
};

/* `pc` is the pc looked up, so a return address and the same address as a leaf
 * have entries of their own. row.pc, which nobody needs here, holds the low
 * half of the generation of the space that the entry was made for: a cache may
 * go from space to space, and a change of a space costs nothing. */
typedef struct
{
  uint64_t pc;
  FlamUnwindRow row;
  const FlamUnwindRule *rules;
} Entry;

struct _FlamUnwindCache
{
  Entry entries[CACHE_SIZE];
};

static uint64_t
next_generation (void)
{
  static uint64_t last;

  return __atomic_add_fetch (&last, 1, __ATOMIC_RELAXED);
}

FlamUnwindSpace *
flam_unwind_space_new (void)
{
  FlamUnwindSpace *space = calloc (1, sizeof *space);
  if (space)
    space->generation = next_generation ();
  return space;
}

FlamUnwindSpace *
flam_unwind_space_copy (const FlamUnwindSpace *space)
{
  FlamUnwindSpace *copy = flam_unwind_space_new ();

  if (!copy)
    return NULL;
  copy->load = space->load;
  copy->data = space->data;
  if (space->n)
    {
      copy->maps = malloc (space->n * sizeof *copy->maps);
      if (!copy->maps)
        {
          free (copy);
          return NULL;
        }
      memcpy (copy->maps, space->maps, space->n * sizeof *copy->maps);
      copy->n = copy->allocated = space->n;
    }
  return copy;
}

void
flam_unwind_space_free (FlamUnwindSpace *space)
{
  if (space)
    free (space->maps);
  free (space);
}

void
flam_unwind_space_set_load (FlamUnwindSpace *space,
                            FlamUnwindLoad load,
                            void *data)
{
  space->load = load;
  space->data = data;
}

/* First mapping that ends after `address`. */
static size_t
lower_bound (const FlamUnwindSpace *space, uint64_t address)
{
  size_t low = 0, high = space->n;

  while (low < high)
    {
      size_t middle = low + (high - low) / 2;
      if (space->maps[middle].end <= address)
        low = middle + 1;
      else
        high = middle;
    }
  return low;
}

/* `n` unused places at `at`. */
static bool
open_gap (FlamUnwindSpace *space, size_t at, size_t n)
{
  if (space->n + n > space->allocated)
    {
      size_t allocated = space->allocated * 2 + n + 16;
      FlamUnwindMap *maps =
          realloc (space->maps, allocated * sizeof *space->maps);
      if (!maps)
        return false;
      space->maps = maps;
      space->allocated = allocated;
    }
  memmove (space->maps + at + n,
           space->maps + at,
           (space->n - at) * sizeof *space->maps);
  space->n += n;
  return true;
}

static bool
cut (FlamUnwindSpace *space, uint64_t start, uint64_t end)
{
  size_t first = lower_bound (space, start), last;
  FlamUnwindMap *map = space->maps + first;

  space->generation = next_generation ();
  if (first < space->n && map->start < start && map->end > end)
    {
      if (!open_gap (space, first + 1, 1))
        return false;
      map = space->maps + first;
      map[1] = map[0];
      map[1].start = end;
      map[1].offset += end - map[0].start;
      map[0].end = start;
      return true;
    }
  if (first < space->n && map->start < start)
    {
      map->end = start;
      first++;
    }
  for (last = first; last < space->n && space->maps[last].end <= end; last++)
    ;
  if (last < space->n && space->maps[last].start < end)
    {
      space->maps[last].offset += end - space->maps[last].start;
      space->maps[last].start = end;
    }
  if (last > first)
    memmove (space->maps + first,
             space->maps + last,
             (space->n - last) * sizeof *space->maps);
  space->n -= last - first;
  return true;
}

bool
flam_unwind_space_add (FlamUnwindSpace *space,
                       uint64_t start,
                       uint64_t end,
                       uint64_t offset,
                       const FlamUnwindTable *table,
                       void *user)
{
  size_t at;

  if (start >= end || !cut (space, start, end))
    return false;
  at = lower_bound (space, start);
  if (!open_gap (space, at, 1))
    return false;
  space->maps[at] = (FlamUnwindMap){
    .start = start,
    .end = end,
    .offset = offset,
    .table = table,
    .user = user,
    .loaded = table != NULL,
  };
  return true;
}

void
flam_unwind_space_remove (FlamUnwindSpace *space, uint64_t start, uint64_t end)
{
  if (start < end)
    cut (space, start, end);
}

void
flam_unwind_space_clear (FlamUnwindSpace *space)
{
  free (space->maps);
  space->maps = NULL;
  space->n = space->allocated = 0;
  space->generation = next_generation ();
}

const FlamUnwindMap *
flam_unwind_space_find (const FlamUnwindSpace *space, uint64_t address)
{
  size_t i = lower_bound (space, address);

  if (i < space->n && space->maps[i].start <= address)
    return &space->maps[i];
  return NULL;
}

uint64_t
flam_unwind_space_generation (const FlamUnwindSpace *space)
{
  return space->generation;
}

size_t
flam_unwind_space_size (const FlamUnwindSpace *space)
{
  return space->n;
}

FlamUnwindCache *
flam_unwind_cache_new (void)
{
  return calloc (1, sizeof (FlamUnwindCache));
}

void
flam_unwind_cache_free (FlamUnwindCache *cache)
{
  free (cache);
}

/* NULL: no code there. */
static const Entry *
look_up_slowly (FlamUnwindSpace *space, Entry *entry, uint64_t pc)
{
  size_t i = lower_bound (space, pc);
  FlamUnwindMap *map = space->maps + i;
  const FlamUnwindRow *row = NULL;

  if (i >= space->n || map->start > pc)
    return NULL;
  if (!map->table && !map->loaded && space->load)
    {
      map->loaded = true;
      map->table = space->load (space->data, map);
    }
  if (map->table)
    row = flam_unwind_table_find (map->table, pc - map->start + map->offset);
  entry->pc = pc;
  entry->row = row ? *row : (FlamUnwindRow){ 0 };
  entry->row.pc = (uint32_t)space->generation;
  entry->rules = map->table ? flam_unwind_table_rules (map->table) : NULL;
  return entry;
}

static inline const Entry *
look_up (FlamUnwindSpace *space, FlamUnwindCache *cache, uint64_t pc)
{
  uint32_t slot = (uint32_t)((pc * 0x9e3779b97f4a7c15ull) >> 32);
  Entry *entry = &cache->entries[slot >> (32 - CACHE_BITS)];

  if (entry->pc == pc && entry->row.pc == (uint32_t)space->generation)
    return entry;
  return look_up_slowly (space, entry, pc);
}

/* A handler "returns" to the first byte of the signal trampoline, which was
 * never called. */
static inline bool
is_signal_frame (const Entry *entry)
{
  return (entry->row.how & 7) == FLAM_UNWIND_KIND_RULE &&
         (entry->rules[entry->row.cfa].flags & FLAM_UNWIND_RULE_SIGNAL);
}

size_t
flam_unwind_walk (FlamUnwindSpace *space,
                  FlamUnwindCache *cache,
                  const FlamUnwindMemory *memory,
                  FlamUnwindRegs *regs,
                  uint64_t *pcs,
                  uint64_t *sps,
                  size_t limit,
                  FlamUnwindEnd *end)
{
  const Entry *entry;
  size_t n = 0;

  *end = FLAM_UNWIND_LIMIT;
  if (limit == 0)
    return 0;
  if (sps)
    sps[n] = regs->sp;
  pcs[n++] = regs->pc - regs->caller;
  entry = look_up (space, cache, regs->pc - regs->caller);
  while (entry)
    {
      const FlamUnwindRow row = entry->row;
      bool caller = regs->caller;

      *end = flam_unwind_step (&entry->row, entry->rules, memory, regs);
      if (*end != FLAM_UNWIND_OK)
        return n;
      entry = look_up (space, cache, regs->pc - regs->caller);
      if (!entry)
        {
          *end = flam_unwind_end_outside (&row, caller);
          return n;
        }
      if (n == limit)
        {
          *end = FLAM_UNWIND_LIMIT;
          return n;
        }
      if (sps)
        sps[n] = regs->sp;
      pcs[n++] = regs->pc - (regs->caller && !is_signal_frame (entry));
    }
  *end = FLAM_UNWIND_BAD;
  return n;
}
