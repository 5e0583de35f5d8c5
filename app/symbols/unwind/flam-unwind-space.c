/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "flam-unwind-space.h"

#include "flam-unwind-loop.h"

#include <stdlib.h>
#include <string.h>

#define CACHE_BITS 12
#define CACHE_SIZE (1u << CACHE_BITS)

struct _FlamUnwindSpace
{
  FlamUnwindMap *maps; /* ascending, not overlapping */
  size_t n;
  size_t allocated;
  uint64_t generation; /* unique among all states of all spaces */
  FlamUnwindLoad load;
  void *data;
  FlamUnwindManaged step;
  void *step_data;
};

/* `pc` is the pc that was looked up, so a return address and the same address
 * as a leaf have separate entries. code.row.pc, which is not used here,
 * contains the low half of the generation of the space for which the entry was
 * made: a cache may be used with several spaces, and a change of a space costs
 * nothing. */
typedef struct
{
  uint64_t pc;
  FlamUnwindCode code;
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
      for (size_t i = 0; i < copy->n; i++)
        copy->maps[i].managed = NULL;
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

void
flam_unwind_space_set_managed (FlamUnwindSpace *space,
                               FlamUnwindManaged step,
                               void *data)
{
  space->step = step;
  space->step_data = data;
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

/* Inserts `n` unused places at `at`. */
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
  FlamUnwindMap *map;

  space->generation = next_generation ();
  if (first >= space->n)
    return true;
  map = space->maps + first;
  if (map->start < start && map->end > end)
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
  if (map->start < start)
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

/* Makes `address` a boundary, if it is in a mapping. */
static bool
split (FlamUnwindSpace *space, uint64_t address)
{
  size_t i = lower_bound (space, address);
  FlamUnwindMap *map;

  if (i >= space->n || space->maps[i].start >= address)
    return true;
  if (!open_gap (space, i + 1, 1))
    return false;
  map = space->maps + i;
  map[1] = map[0];
  map[1].start = address;
  map[1].offset += address - map[0].start;
  map[0].end = address;
  return true;
}

bool
flam_unwind_space_claim (FlamUnwindSpace *space,
                         uint64_t start,
                         uint64_t end,
                         void *managed,
                         bool uncovered)
{
  space->generation = next_generation ();
  if (start >= end || !split (space, start) || !split (space, end))
    return start >= end;
  for (size_t i = lower_bound (space, start);
       i < space->n && space->maps[i].end <= end;
       i++)
    {
      space->maps[i].managed = managed;
      space->maps[i].uncovered = uncovered;
    }
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

static const Entry *
set_managed (const FlamUnwindSpace *space, Entry *entry, uint64_t pc)
{
  entry->pc = pc;
  entry->code = (FlamUnwindCode){ { .how = FLAM_UNWIND_KIND_MANAGED }, NULL };
  entry->code.row.pc = (uint32_t)space->generation;
  return entry;
}

/* NULL: no code there. */
static const Entry *
look_up_slowly (FlamUnwindSpace *space, Entry *entry, uint64_t pc)
{
  size_t i = lower_bound (space, pc);
  FlamUnwindMap *map;
  const FlamUnwindRow *row = NULL;
  const FlamUnwindRule *rules;

  if (i >= space->n || space->maps[i].start > pc)
    return NULL;
  map = space->maps + i;
  if (map->managed && !map->uncovered)
    return set_managed (space, entry, pc);
  if (!map->table && !map->loaded && space->load)
    {
      map->loaded = true;
      map->table = space->load (space->data, map);
    }
  if (map->table)
    row = flam_unwind_table_find (map->table, pc - map->start + map->offset);
  rules = map->table ? flam_unwind_table_rules (map->table) : NULL;
  if (map->managed && (!row || (row->how & 7) == FLAM_UNWIND_KIND_NONE ||
                       flam_unwind_is_guess (row, rules)))
    return set_managed (space, entry, pc);
  entry->pc = pc;
  entry->code.row = row ? *row : (FlamUnwindRow){ 0 };
  entry->code.row.pc = (uint32_t)space->generation;
  entry->code.rules = rules;
  return entry;
}

static inline const Entry *
look_up (FlamUnwindSpace *space, FlamUnwindCache *cache, uint64_t pc)
{
  uint32_t slot = (uint32_t)((pc * 0x9e3779b97f4a7c15ull) >> 32);
  Entry *entry = &cache->entries[slot >> (32 - CACHE_BITS)];

  if (entry->pc == pc && entry->code.row.pc == (uint32_t)space->generation)
    return entry;
  return look_up_slowly (space, entry, pc);
}

typedef struct
{
  FlamUnwindSpace *space;
  FlamUnwindCache *cache;
  uint64_t *pcs;
  uint64_t *sps;
  size_t n;
  size_t limit;
} Walk;

static inline const FlamUnwindCode *
find (void *data, uint64_t pc)
{
  Walk *walk = data;
  const Entry *entry = look_up (walk->space, walk->cache, pc);

  return entry ? &entry->code : NULL;
}

static inline bool
enter (void *data, const FlamUnwindRegs *regs, uint64_t pc)
{
  Walk *walk = data;

  if (walk->n == walk->limit)
    return false;
  if (walk->sps)
    walk->sps[walk->n] = regs->sp;
  walk->pcs[walk->n++] = pc;
  return true;
}

/* Toward the root; or it leaves managed code that runs in a frame of other
 * code, as PHP's does in execute_ex(). */
static bool
gets_on (const FlamUnwindSpace *space, uint64_t sp, const FlamUnwindRegs *regs)
{
  const FlamUnwindMap *map;

  if (regs->sp != sp)
    return regs->sp > sp;
  map = flam_unwind_space_find (space, regs->pc - regs->caller);
  return map != NULL && !map->managed;
}

static FlamUnwindEnd
step_managed (void *data, const FlamUnwindMemory *memory, FlamUnwindRegs *regs)
{
  const Walk *walk = data;
  const FlamUnwindSpace *space = walk->space;
  const FlamUnwindMap *map =
      flam_unwind_space_find (space, walk->pcs[walk->n - 1]);
  uint64_t sp = regs->sp;
  FlamUnwindEnd end;

  if (!space->step || !map || !map->managed)
    return flam_unwind_step (NULL, NULL, memory, regs);
  end = space->step (space->step_data, map->managed, memory, walk->n - 1, regs);
  return end == FLAM_UNWIND_OK && !gets_on (space, sp, regs) ? FLAM_UNWIND_BAD
                                                             : end;
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
  static const FlamUnwindWalker walker = { .find = find,
                                           .enter = enter,
                                           .step = step_managed };
  Walk walk = { space, cache, pcs, sps, 0, limit };

  *end = flam_unwind_loop (&walker, &walk, memory, regs);
  return walk.n;
}
