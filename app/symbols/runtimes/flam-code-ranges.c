/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-code-ranges.h"

#include <string.h>

#include "flam-unwind-cfi.h"
#include "flam-unwind-decode.h"

/* A function beyond this size is read up to it, and no more functions than this
 * are followed. */
#define CODE_MAX (1u << 20)
#define FUNCTIONS_MAX 512

#define CALL 0xe8

/* An interpreter's loop has more jumps to computed addresses. */
#define JUMPS_MIN 64

struct _FlamCodeRanges
{
  const FlamElf *elf;
  GArray *list; /* FlamCodeRange, ascending */
};

const guint8 *
flam_elf_bytes (const FlamElf *elf, guint64 vaddr, gsize *n)
{
  size_t size;
  const char *bytes = elf_rawfile (flam_elf_get_handle (elf), &size);
  guint n_segments;
  const FlamElfSegment *segments = flam_elf_get_segments (elf, &n_segments);

  for (guint i = 0; bytes != NULL && i < n_segments; i++)
    {
      guint64 at = vaddr - segments[i].vaddr;
      guint64 offset = segments[i].offset + at;

      if (at >= segments[i].file_size || offset < at || offset >= size)
        continue;
      *n = MIN (segments[i].file_size - at, size - offset);
      return (const guint8 *)bytes + offset;
    }
  *n = 0;
  return NULL;
}

static int
compare (gconstpointer a, gconstpointer b)
{
  const FlamCodeRange *x = a;
  const FlamCodeRange *y = b;

  return x->start < y->start ? -1 : x->start > y->start;
}

FlamCodeRanges *
flam_code_ranges_new (const FlamElf *elf)
{
  FlamCodeRanges *ranges = g_new0 (FlamCodeRanges, 1);
  FlamUnwindSections sections = { 0 };
  g_autofree FlamCfiReader *reader = g_new0 (FlamCfiReader, 1);
  FlamElfSection eh_frame;
  FlamUnwindBytes body;

  ranges->elf = elf;
  ranges->list = g_array_new (FALSE, FALSE, sizeof (FlamCodeRange));
  if (flam_elf_get_machine (elf) != EM_X86_64 ||
      !flam_elf_get_section (elf, ".eh_frame", &eh_frame) ||
      eh_frame.data == NULL)
    return ranges;
  sections.eh_frame =
      (FlamUnwindSection){ eh_frame.data, eh_frame.size, eh_frame.vaddr };
  flam_cfi_reader_init (reader, &sections, &sections.eh_frame);
  while (flam_cfi_next_fde (reader, &body))
    {
      FlamCodeRange range;
      guint64 size;

      if (reader->cie == NULL)
        continue;
      range.start = flam_cfi_read_range (reader, &body, &size);
      range.end = range.start + size;
      if (range.end > range.start)
        g_array_append_val (ranges->list, range);
    }
  g_array_sort (ranges->list, compare);
  return ranges;
}

void
flam_code_ranges_free (FlamCodeRanges *ranges)
{
  g_array_unref (ranges->list);
  g_free (ranges);
}

gboolean
flam_code_ranges_find (const FlamCodeRanges *ranges,
                       guint64 vaddr,
                       FlamCodeRange *range)
{
  guint low = 0, high = ranges->list->len;

  while (low < high)
    {
      guint middle = low + (high - low) / 2;

      if (g_array_index (ranges->list, FlamCodeRange, middle).start <= vaddr)
        low = middle + 1;
      else
        high = middle;
    }
  if (low == 0)
    return FALSE;
  *range = g_array_index (ranges->list, FlamCodeRange, low - 1);
  return vaddr < range->end;
}

/* The instructions of a function, one after another. */
typedef struct
{
  const guint8 *code;
  gsize n;
  gsize at; /* the end of the instruction */
  FlamInstruction instruction;
} Reader;

static Reader
read_function (const FlamCodeRanges *ranges, const FlamCodeRange *range)
{
  Reader reader = { 0 };

  reader.code = flam_elf_bytes (ranges->elf, range->start, &reader.n);
  reader.n = MIN (MIN (reader.n, CODE_MAX), range->end - range->start);
  return reader;
}

static gboolean
read_next (Reader *reader)
{
  if (reader->at >= reader->n || !flam_unwind_decode (reader->code + reader->at,
                                                      reader->n - reader->at,
                                                      &reader->instruction))
    return FALSE;
  reader->at += reader->instruction.length;
  return TRUE;
}

/* Whether the last instruction is a direct call. */
static gboolean
is_call (const Reader *reader)
{
  return reader->instruction.length >= 5 &&
         reader->code[reader->at - 5] == CALL;
}

/* Where the last instruction, a direct call or a branch, leads to. */
static guint64
get_target (const Reader *reader, const FlamCodeRange *range)
{
  gint32 target = reader->instruction.target;

  if (is_call (reader))
    memcpy (&target, reader->code + reader->at - 4, sizeof target);
  return range->start + reader->at + (guint64)(gint64)target;
}

/* Whether the last instruction jumps to an address from a register, or from
 * memory that is not at a fixed place as the slots of other libraries are:
 * ff /4. */
static gboolean
is_computed_jump (const Reader *reader)
{
  const guint8 *end = reader->code + reader->at;
  const guint8 *byte = end - reader->instruction.length;

  if (!reader->instruction.indirect)
    return FALSE;
  while (end - byte > 2 && *byte != 0xff)
    byte++;
  return *byte == 0xff && (byte[1] & 0x38) == 0x20 && (byte[1] & 0xc7) != 0x05;
}

/* Appends the functions that the one in `range` calls or jumps to. */
static void
add_callees (const FlamCodeRanges *ranges,
             const FlamCodeRange *range,
             GArray *found,
             GHashTable *seen)
{
  Reader reader = read_function (ranges, range);

  while (read_next (&reader))
    {
      FlamCodeRange callee;
      guint64 target;

      if (!is_call (&reader) && !reader.instruction.branches)
        continue;
      target = get_target (&reader, range);
      if (!flam_code_ranges_find (ranges, target, &callee) ||
          callee.start != target || found->len >= FUNCTIONS_MAX ||
          !g_hash_table_add (seen, GSIZE_TO_POINTER (target)))
        continue;
      g_array_append_val (found, callee);
    }
}

gboolean
flam_code_ranges_largest_callee (const FlamCodeRanges *ranges,
                                 guint64 vaddr,
                                 guint depth,
                                 FlamCodeRange *range)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  g_autoptr (GArray) found = g_array_new (FALSE, FALSE, sizeof (FlamCodeRange));
  FlamCodeRange one;
  guint done = 0;

  if (!flam_code_ranges_find (ranges, vaddr, &one))
    return FALSE;
  g_hash_table_add (seen, GSIZE_TO_POINTER (one.start));
  g_array_append_val (found, one);
  while (depth-- > 0)
    for (guint end = found->len; done < end; done++)
      {
        one = g_array_index (found, FlamCodeRange, done);
        add_callees (ranges, &one, found, seen);
      }
  if (found->len < 2)
    return FALSE;
  *range = g_array_index (found, FlamCodeRange, 1);
  for (guint i = 2; i < found->len; i++)
    {
      one = g_array_index (found, FlamCodeRange, i);
      if (one.end - one.start > range->end - range->start)
        *range = one;
    }
  return TRUE;
}

gboolean
flam_code_ranges_dispatcher (const FlamCodeRanges *ranges, FlamCodeRange *range)
{
  guint most = 0, next = 0;

  for (guint i = 0; i < ranges->list->len; i++)
    {
      const FlamCodeRange *one =
          &g_array_index (ranges->list, FlamCodeRange, i);
      Reader reader = read_function (ranges, one);
      guint jumps = 0;

      while (read_next (&reader))
        jumps += is_computed_jump (&reader);
      if (jumps > most)
        *range = *one;
      next = MAX (next, MIN (jumps, most));
      most = MAX (jumps, most);
    }
  return most >= JUMPS_MIN && most >= 2 * next;
}

gboolean
flam_code_ranges_caller (const FlamCodeRanges *ranges,
                         guint64 vaddr,
                         FlamCodeRange *range)
{
  guint most = 1;

  for (guint i = 0; i < ranges->list->len; i++)
    {
      const FlamCodeRange *one =
          &g_array_index (ranges->list, FlamCodeRange, i);
      Reader reader = read_function (ranges, one);
      guint calls = 0;

      while (read_next (&reader))
        calls += is_call (&reader) && get_target (&reader, one) == vaddr;
      if (calls > most)
        {
          most = calls;
          *range = *one;
        }
    }
  return most > 1;
}
