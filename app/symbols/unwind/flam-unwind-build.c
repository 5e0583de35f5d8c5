/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* .eh_frame, .debug_frame and Go's table of functions -> table. Rows are
 * written FDE by FDE in the section's order, then put together in the order of
 * their pcs: if FDEs overlap, the first in the file is used. A gap is read
 * instruction by instruction (flam-unwind-scan.h). */

#include "flam-unwind-cfi.h"
#include "flam-unwind-go.h"
#include "flam-unwind-scan.h"

#include <stdlib.h>
#include <string.h>

/* Marks a text for translation (flam-types.h); there is no GLib here. */
#define N_(String) (String)

/* A smaller gap is padding between two functions; the signal trampoline of an
 * AArch64 kernel has 12 bytes. */
#define PADDING (FLAM_UNWIND_ELF_MACHINE == EM_X86_64 ? 16 : 12)
#define SEARCHED 512 /* newest rules to compare with */
#define SEARCHED_SCANNED 16
#define MOST_SCANNED 4096       /* rules of one table */
#define LARGEST_GAP (32u << 20) /* bytes; read at about 100 MB/s */

typedef struct
{
  void *data;
  size_t n;
  size_t allocated;
} Vector;

typedef struct
{
  uint32_t start;
  uint32_t end;
  uint32_t first_row;
  uint32_t n_rows;
} Fde;

typedef struct
{
  const FlamUnwindSections *sections;
  FlamCfiReader reader; /* of the section being read */
  Vector rows;          /* FlamUnwindRow, by FDE */
  Vector fdes;          /* Fde */
  Vector rules;         /* FlamUnwindRule */
  Vector scanned;       /* FlamUnwindRow: of the gaps, ascending */
  uint32_t n_skipped;
  uint32_t n_scanned_rules;
  bool no_memory;
  const FlamUnwindStarts *starts; /* NULL: most code has CFI */
  /* The FDE being run. */
  uint64_t pc_bias; /* pc - offset in the file */
  uint64_t pc_end;
} Builder;

static void *
push (Builder *builder, Vector *vector, size_t element)
{
  if (vector->n == vector->allocated)
    {
      size_t allocated = vector->allocated * 2 + 256;
      void *data = realloc (vector->data, allocated * element);
      if (!data)
        {
          builder->no_memory = true;
          return NULL;
        }
      vector->data = data;
      vector->allocated = allocated;
    }
  return (char *)vector->data + vector->n++ * element;
}

static const FlamUnwindSegment *
find_segment (const FlamUnwindSections *sections, uint64_t vaddr, uint64_t size)
{
  for (unsigned i = 0; i < sections->n_segments; i++)
    {
      const FlamUnwindSegment *segment = &sections->segments[i];
      if (vaddr >= segment->vaddr && vaddr - segment->vaddr < segment->size &&
          size <= segment->size - (vaddr - segment->vaddr))
        return segment;
    }
  return NULL;
}

static bool
same_rule (const FlamUnwindRow *a, const FlamUnwindRow *b)
{
  return a->cfa == b->cfa && a->bp == b->bp && a->how == b->how;
}

/* A module has a few dozen distinct rules, so a search from the newest is fast
 * enough; it is bounded for hostile input. */
static bool
intern_rule (Builder *builder,
             const FlamUnwindRule *rule,
             size_t search,
             uint16_t *number)
{
  const FlamUnwindRule *rules = builder->rules.data;
  FlamUnwindRule *added;
  size_t n = builder->rules.n;

  for (size_t i = 0; i < n && i < search; i++)
    if (memcmp (&rules[n - 1 - i], rule, sizeof *rule) == 0)
      {
        *number = (uint16_t)(n - 1 - i);
        return true;
      }
  if (n > UINT16_MAX)
    return false;
  added = push (builder, &builder->rules, sizeof *added);
  if (!added)
    return false;
  *added = *rule;
  *number = (uint16_t)n;
  return true;
}

static bool
add_row (Builder *builder, uint64_t pc, FlamUnwindRow row)
{
  Fde *fde = (Fde *)builder->fdes.data + builder->fdes.n - 1;
  FlamUnwindRow *last = NULL;

  row.pc = (uint32_t)(pc - builder->pc_bias);
  if (fde->n_rows)
    last = (FlamUnwindRow *)builder->rows.data + builder->rows.n - 1;
  if (last && last->pc == row.pc)
    *last = row;
  else if (last && same_rule (last, &row))
    return true;
  else
    {
      FlamUnwindRow *added = push (builder, &builder->rows, sizeof *added);
      if (!added)
        return false;
      *added = row;
      fde->n_rows++;
    }
  return true;
}

static bool
emit_row (void *data, uint64_t pc, const FlamCfiState *state)
{
  Builder *builder = data;
  FlamUnwindRow row;
  FlamUnwindRule rule;

  if (pc >= builder->pc_end)
    return true;
  flam_cfi_compress (state, builder->reader.cie->signal_frame, &row, &rule);
  if ((row.how & 7) == FLAM_UNWIND_KIND_RULE &&
      !intern_rule (builder, &rule, SEARCHED, &row.cfa))
    row = (FlamUnwindRow){ 0 };
  return add_row (builder, pc, row);
}

/* Rows of code at [pc, pc + size) follow. */
static bool
begin_fde (Builder *builder, uint64_t pc, uint64_t size)
{
  const FlamUnwindSegment *segment = find_segment (builder->sections, pc, size);
  uint64_t offset;
  Fde *fde;

  if (!segment)
    return false;
  offset = pc - segment->vaddr + segment->offset;
  if (offset > UINT32_MAX || size > UINT32_MAX - offset ||
      builder->rows.n >= UINT32_MAX / 2)
    return false;
  fde = push (builder, &builder->fdes, sizeof *fde);
  if (!fde)
    return false;
  *fde = (Fde){
    .start = (uint32_t)offset,
    .end = (uint32_t)(offset + size),
    .first_row = (uint32_t)builder->rows.n,
  };
  builder->pc_bias = pc - offset;
  builder->pc_end = pc + size;
  return true;
}

static bool
read_fde (Builder *builder, FlamUnwindBytes in)
{
  const FlamCfiCie *cie = builder->reader.cie;
  FlamCfiState state = cie->initial;
  uint64_t size, pc = flam_cfi_read_range (&builder->reader, &in, &size);
  const Fde *fde;

  if (in.bad || size == 0 || !begin_fde (builder, pc, size))
    return false;
  if (flam_cfi_run (cie,
                    &cie->initial,
                    in,
                    pc,
                    &state,
                    &builder->reader.budget,
                    emit_row,
                    builder))
    return true;
  /* The rows before the bad instruction cannot be trusted either. */
  fde = (Fde *)builder->fdes.data + builder->fdes.n - 1;
  builder->rows.n = fde->first_row;
  builder->fdes.n--;
  return false;
}

static void
read_section (Builder *builder, const FlamUnwindSection *section)
{
  FlamCfiReader *reader = &builder->reader;
  FlamUnwindBytes body;

  if (!section->data)
    return;
  flam_cfi_reader_init (reader, builder->sections, section);
  while (!builder->no_memory && flam_cfi_next_fde (reader, &body))
    if (!reader->cie || !read_fde (builder, body))
      builder->n_skipped++;
}

static bool
begin_go (void *data, uint64_t start, uint64_t end)
{
  return begin_fde (data, start, end - start);
}

static bool
add_go_row (void *data, uint64_t vaddr, int32_t depth)
{
  FlamUnwindRow row = { 0 };

  if (depth == FLAM_UNWIND_GO_ROOT)
    row.how = FLAM_UNWIND_KIND_END;
  else if (depth >= 0 && depth % 8 == 0 && depth / 8 < UINT16_MAX)
    row = (FlamUnwindRow){ .cfa = (uint16_t)(depth / 8 + 1),
                           .bp = depth > 0 ? 2 : 0,
                           .how = FLAM_UNWIND_KIND_SP | FLAM_UNWIND_BX_UNKNOWN
                                                            << 3 };
  return add_row (data, vaddr, row);
}

static int
compare_fdes (const void *a, const void *b)
{
  const Fde *x = a, *y = b;

  if (x->start != y->start)
    return x->start < y->start ? -1 : 1;
  return x->first_row < y->first_row ? -1 : x->first_row > y->first_row;
}

static void
sort_fdes (Vector *fdes)
{
  const Fde *fde = fdes->data;

  for (size_t i = 1; i < fdes->n; i++)
    if (compare_fdes (&fde[i - 1], &fde[i]) > 0)
      {
        qsort (fdes->data, fdes->n, sizeof *fde, compare_fdes);
        return;
      }
}

/* Adds one row, unless it is equal to the row before. */
static uint32_t
join_row (FlamUnwindRow *rows, uint32_t n, FlamUnwindRow row)
{
  if (n > 0 && same_rule (&rows[n - 1], &row))
    return n;
  if (n > 0 && rows[n - 1].pc == row.pc)
    {
      rows[n - 1] = row;
      return n;
    }
  rows[n] = row;
  return n + 1;
}

/* Hostile code could have a rule for each of its bytes. */
static bool
intern_scanned (Builder *builder, const FlamUnwindRule *rule, uint16_t *number)
{
  size_t n = builder->rules.n;

  if (builder->n_scanned_rules == MOST_SCANNED ||
      !intern_rule (builder, rule, SEARCHED_SCANNED, number))
    return false;
  builder->n_scanned_rules += (uint32_t)(builder->rules.n - n);
  return true;
}

static void
add_scanned (void *data, FlamUnwindRow row, const FlamUnwindRule *rule)
{
  Builder *builder = data;
  FlamUnwindRow *place;

  if (rule && !intern_scanned (builder, rule, &row.cfa))
    row = (FlamUnwindRow){ .pc = row.pc };
  place = push (builder, &builder->scanned, sizeof (FlamUnwindRow));
  if (place)
    *place = row;
}

/* The end of the code that contains `offset`; `offset` if none does. */
static uint32_t
end_of_code (const Builder *builder, uint32_t offset)
{
  for (unsigned i = 0; i < builder->sections->n_segments; i++)
    {
      const FlamUnwindSegment *segment = &builder->sections->segments[i];

      if (segment->code && offset >= segment->offset &&
          offset - segment->offset < segment->size &&
          segment->offset + segment->size <= UINT32_MAX)
        return (uint32_t)(segment->offset + segment->size);
    }
  return offset;
}

/* Its beginning, likewise. */
static uint32_t
start_of_code (const Builder *builder, uint32_t offset)
{
  for (unsigned i = 0; i < builder->sections->n_segments; i++)
    {
      const FlamUnwindSegment *segment = &builder->sections->segments[i];

      if (segment->code && offset >= segment->offset &&
          offset - segment->offset < segment->size)
        return (uint32_t)segment->offset;
    }
  return offset;
}

/* Most of the code has no CFI: it was compiled without, like musl. */
static bool
has_few_tables (const Builder *builder)
{
  const Fde *fdes = builder->fdes.data;
  uint64_t covered = 0, all = 0;

  for (size_t i = 0; i < builder->fdes.n; i++)
    covered += fdes[i].end > fdes[i].start ? fdes[i].end - fdes[i].start : 0;
  for (unsigned i = 0; i < builder->sections->n_segments; i++)
    all += builder->sections->segments[i].size;
  return covered < all / 2;
}

/* Reads a gap, unless it is padding or too large to be read for every program
 * that contains it. */
static void
scan_gap (Builder *builder, uint32_t start, uint32_t end)
{
  if (end > start && end - start >= PADDING && end - start <= LARGEST_GAP)
    flam_unwind_scan (
        builder->sections, start, end, builder->starts, add_scanned, builder);
}

/* Reads the gaps before, between and after the FDEs; all code if there are no
 * FDEs. Returns the maximum number of rows that join_rows() makes. */
static size_t
scan_gaps (Builder *builder)
{
  const FlamUnwindSections *sections = builder->sections;
  const Fde *fdes = builder->fdes.data;
  FlamUnwindStarts starts = { 0 };
  uint32_t covered = 0;

  if (has_few_tables (builder))
    {
      flam_unwind_starts_init (&starts, sections);
      builder->starts = &starts;
    }
  for (size_t i = 0; i < builder->fdes.n; i++)
    {
      if (fdes[i].end <= covered || fdes[i].n_rows == 0)
        continue;
      scan_gap (builder,
                covered > 0 ? covered : start_of_code (builder, fdes[i].start),
                fdes[i].start);
      covered = fdes[i].end;
    }
  if (covered > 0)
    scan_gap (builder, covered, end_of_code (builder, covered - 1));
  for (unsigned i = 0; builder->rows.n == 0 && i < sections->n_segments; i++)
    if (sections->segments[i].offset >= covered &&
        sections->segments[i].offset <= UINT32_MAX)
      {
        uint32_t start = (uint32_t)sections->segments[i].offset;

        covered = end_of_code (builder, start);
        scan_gap (builder, start, covered);
      }
  builder->starts = NULL;
  flam_unwind_starts_clear (&starts);
  return builder->rows.n + builder->fdes.n + builder->scanned.n + 1;
}

/* Adds the rows of the gap [start, end). The row behind the code of an earlier
 * gap may be at the first byte of an FDE, which has a row of its own. */
static uint32_t
join_scanned (const Builder *builder,
              FlamUnwindRow *out,
              uint32_t n,
              size_t *next,
              uint32_t start,
              uint32_t end)
{
  const FlamUnwindRow *scanned = builder->scanned.data;

  for (; *next < builder->scanned.n && scanned[*next].pc < end; (*next)++)
    if (scanned[*next].pc >= start)
      n = join_row (out, n, scanned[*next]);
  return n;
}

/* Returns the number of rows. */
static uint32_t
join_rows (const Builder *builder, FlamUnwindRow *out, uint32_t *covered_end)
{
  const Fde *fdes = builder->fdes.data;
  const FlamUnwindRow *rows = builder->rows.data;
  uint32_t n = 0, covered = 0;
  size_t next_scanned = 0;

  for (size_t i = 0; i < builder->fdes.n; i++)
    {
      const Fde *fde = &fdes[i];
      const FlamUnwindRow *row = rows + fde->first_row;

      if (fde->end <= covered || fde->n_rows == 0)
        continue;
      if (covered > 0 && fde->start - covered >= PADDING &&
          fde->start > covered)
        n = join_row (out, n, (FlamUnwindRow){ .pc = covered });
      n = join_scanned (builder, out, n, &next_scanned, covered, fde->start);
      for (uint32_t k = 0; k < fde->n_rows; k++)
        {
          FlamUnwindRow next = row[k];
          if (k + 1 < fde->n_rows && row[k + 1].pc <= covered)
            continue;
          if (next.pc < covered)
            next.pc = covered;
          n = join_row (out, n, next);
        }
      covered = fde->end;
    }
  if (next_scanned < builder->scanned.n)
    {
      const FlamUnwindRow *last = builder->scanned.data;

      last += builder->scanned.n - 1;
      if (n > 0)
        n = join_row (out, n, (FlamUnwindRow){ .pc = covered });
      n = join_scanned (builder, out, n, &next_scanned, covered, UINT32_MAX);
      covered = end_of_code (builder, last->pc);
    }
  *covered_end = covered;
  return n;
}

static void
fill_index (FlamUnwindTable *table)
{
  const FlamUnwindRow *rows = flam_unwind_table_rows (table);
  uint32_t *index = (uint32_t *)flam_unwind_table_index (table);
  uint32_t row = 0;

  for (uint32_t i = 0; i < table->n_index; i++)
    {
      uint64_t pc = table->first + ((uint64_t)i << table->shift);
      while (row + 1 < table->n_rows && rows[row + 1].pc <= pc)
        row++;
      index[i] = row;
    }
}

static FlamUnwindTable *
assemble (Builder *builder, const char **why)
{
  size_t room;
  FlamUnwindRow *rows;
  FlamUnwindTable *table = NULL,
                  header = { .magic = FLAM_UNWIND_MAGIC,
                             .version = FLAM_UNWIND_VERSION,
                             .machine = FLAM_UNWIND_ELF_MACHINE };

  *why = N_ ("not enough memory");
  sort_fdes (&builder->fdes);
  room = scan_gaps (builder);
  if (!builder->no_memory && builder->rows.n + builder->scanned.n == 0)
    {
      *why = N_ ("no call frame information");
      return NULL;
    }
  rows = builder->no_memory ? NULL : malloc (room * sizeof *rows);
  if (!rows)
    return NULL;
  header.n_rows = join_rows (builder, rows, &header.end);
  header.n_rules = (uint32_t)builder->rules.n;
  header.n_fdes = (uint32_t)builder->fdes.n;
  header.n_skipped = builder->n_skipped;
  header.first = rows[0].pc;
  header.shift = 4;
  while ((header.end - header.first) >> header.shift > header.n_rows / 4 + 1)
    header.shift++;
  header.n_index = ((header.end - header.first) >> header.shift) + 2;
  header.size = sizeof header +
                (uint64_t)header.n_rows * sizeof (FlamUnwindRow) +
                (uint64_t)header.n_rules * sizeof (FlamUnwindRule) +
                (uint64_t)header.n_index * sizeof (uint32_t);
  table = malloc (header.size);
  if (table)
    {
      *table = header;
      memcpy (table + 1, rows, header.n_rows * sizeof *rows);
      if (header.n_rules)
        memcpy ((void *)flam_unwind_table_rules (table),
                builder->rules.data,
                header.n_rules * sizeof (FlamUnwindRule));
      fill_index (table);
      *why = NULL;
    }
  free (rows);
  return table;
}

FlamUnwindTable *
flam_unwind_table_new (const FlamUnwindSections *sections, const char **why)
{
  FlamUnwindTable *table = NULL;
  Builder *builder = calloc (1, sizeof *builder);

  *why = N_ ("not enough memory");
  if (!builder)
    return NULL;
  builder->sections = sections;
  read_section (builder, &sections->eh_frame);
  read_section (builder, &sections->debug_frame);
  /* Elsewhere, Go's functions are followed by their frame pointers. */
  if (!sections->debug_frame.data && FLAM_UNWIND_ELF_MACHINE == EM_X86_64)
    flam_unwind_go_read (
        &sections->go_table,
        &(FlamUnwindGoReader){ .begin = begin_go, .depth = add_go_row },
        builder);
  if (!builder->no_memory)
    table = assemble (builder, why);
  free (builder->rows.data);
  free (builder->fdes.data);
  free (builder->rules.data);
  free (builder->scanned.data);
  free (builder);
  return table;
}

void
flam_unwind_table_free (FlamUnwindTable *table)
{
  free (table);
}
