/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "flam-unwind-go.h"

#include "flam-unwind-cfi.h"

#define MAGIC_1_16 0xfffffffau
#define MAGIC_1_18 0xfffffff0u
#define MAGIC_1_20 0xfffffff1u
/* The offset of the index of the depths' pc table in a record, after the
 * entry. */
#define DEPTHS_AT 12
/* The offset of the flags, likewise; Go 1.20 has one more field. */
#define FLAGS_AT 33
#define FLAG_OUTERMOST 1
#define FLAG_SETS_RSP 2
/* Maximum number of steps in pc tables, which functions may share, per byte. */
#define STEPS_PER_BYTE 4

typedef struct
{
  const FlamUnwindSection *section;
  uint64_t n;         /* functions */
  uint64_t text;      /* the base of entries; 0: they are addresses */
  uint64_t pc_tables; /* offsets in the section */
  uint64_t entries;
  unsigned entry_size;
  unsigned flags_at; /* in a record */
  unsigned quantum;
  uint64_t budget;
} Table;

static FlamUnwindBytes
bytes_at (const Table *table, uint64_t offset)
{
  const uint8_t *data = table->section->data;
  bool bad = offset > table->section->size;

  return (FlamUnwindBytes){ .p = bad ? data : data + offset,
                            .end = data + table->section->size,
                            .bad = bad };
}

static bool
read_header (Table *table)
{
  FlamUnwindBytes in = bytes_at (table, 0);
  uint32_t magic = flam_unwind_read_u32 (&in);

  flam_unwind_read_u16 (&in);
  table->quantum = flam_unwind_read_u8 (&in);
  if (flam_unwind_read_u8 (&in) != 8 || table->quantum != 1 ||
      (magic != MAGIC_1_16 && magic != MAGIC_1_18 && magic != MAGIC_1_20))
    return false;
  table->n = flam_unwind_read_u64 (&in);
  flam_unwind_read_u64 (&in); /* files */
  table->entry_size = magic == MAGIC_1_16 ? 8 : 4;
  table->flags_at =
      table->entry_size + FLAGS_AT + (magic == MAGIC_1_20 ? 4 : 0);
  if (magic != MAGIC_1_16)
    {
      table->text = flam_unwind_read_u64 (&in);
      if (table->text == 0)
        return false;
    }
  for (unsigned i = 0; i < 3; i++)
    flam_unwind_read_u64 (&in); /* names, units, paths */
  table->pc_tables = flam_unwind_read_u64 (&in);
  table->entries = flam_unwind_read_u64 (&in);
  return !in.bad && table->entries < table->section->size &&
         table->pc_tables < table->section->size &&
         table->n < table->section->size / (2 * table->entry_size);
}

static uint64_t
read_number (const Table *table, FlamUnwindBytes *in)
{
  return table->entry_size == 4 ? flam_unwind_read_u32 (in)
                                : flam_unwind_read_u64 (in);
}

/* The depths of the function at [start, end): a first value of -1, and its
 * changes, each with the length of the following code. False: stop all. */
static bool
read_depths (Table *table,
             uint64_t start,
             uint64_t end,
             FlamUnwindBytes in,
             const FlamUnwindGoReader *reader,
             void *data)
{
  uint64_t pc = start;
  uint32_t depth = UINT32_MAX;

  while (pc < end && table->budget > 0)
    {
      uint64_t change = flam_unwind_read_uleb (&in);
      uint64_t length = flam_unwind_read_uleb (&in);

      table->budget--;
      if (in.bad || (change == 0 && pc > start) || length > end - pc)
        break;
      depth += (uint32_t)(change & 1 ? ~(change >> 1) : change >> 1);
      if (length > 0 && !reader->depth (data, pc, (int32_t)depth))
        return false;
      pc += length;
    }
  return pc == end || reader->depth (data, pc, FLAM_UNWIND_GO_UNKNOWN);
}

/* False: stop all. */
static bool
read_function (Table *table,
               uint64_t start,
               uint64_t end,
               uint64_t record,
               const FlamUnwindGoReader *reader,
               void *data)
{
  FlamUnwindBytes own =
      bytes_at (table, record + table->entry_size + DEPTHS_AT);
  FlamUnwindBytes flags_in = bytes_at (table, record + table->flags_at);
  uint32_t pc_table = flam_unwind_read_u32 (&own);
  unsigned flags = flam_unwind_read_u8 (&flags_in);

  if (own.bad || flags_in.bad || pc_table == 0 || end <= start ||
      !reader->begin (data, start, end))
    return true;
  if (flags & FLAG_OUTERMOST)
    return reader->depth (data, start, FLAM_UNWIND_GO_ROOT);
  if (flags & FLAG_SETS_RSP)
    return reader->depth (data, start, FLAM_UNWIND_GO_UNKNOWN);
  return read_depths (table,
                      start,
                      end,
                      bytes_at (table, table->pc_tables + pc_table),
                      reader,
                      data);
}

void
flam_unwind_go_read (const FlamUnwindSection *section,
                     const FlamUnwindGoReader *reader,
                     void *data)
{
  Table table = { .section = section };

  if (!section->data || !read_header (&table))
    return;
  table.budget = STEPS_PER_BYTE * (uint64_t)section->size;
  for (uint64_t i = 0; i < table.n && table.budget > 0; i++)
    {
      FlamUnwindBytes in =
          bytes_at (&table, table.entries + 2 * i * table.entry_size);
      uint64_t start = table.text + read_number (&table, &in);
      uint64_t record = table.entries + read_number (&table, &in);
      uint64_t end = table.text + read_number (&table, &in);

      if (in.bad || !read_function (&table, start, end, record, reader, data))
        return;
    }
}
