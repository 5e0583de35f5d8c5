/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-disassembly.h"

#include "flam-binaries.h"
#include "flam-core-profile.h"
#include "flam-disassembler.h"
#include "flam-symbol-module.h"
#include "flam-vdso.h"

#include <string.h>

#define CODE_MAX ((gsize)4 << 20) /* bytes of one function */
#define STEP_ROWS 1024
#define ARROW_MAX 4096 /* rows */

typedef struct
{
  const FlamProfile *profile;
  FlamId id; /* the profile's module */
  FlamSymbolModule *module;
  FlamDisassembly *result;
  const guint8 *code; /* of [start, end) */
} Run;

static void
run_clear (Run *run)
{
  flam_symbol_module_free (run->module);
  g_clear_pointer (&run->result, flam_disassembly_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Run, run_clear)

void
flam_disassembly_free (FlamDisassembly *disassembly)
{
  g_free (disassembly->path);
  g_free (disassembly->instructions);
  g_string_chunk_free (disassembly->strings);
  g_free (disassembly);
}

static gboolean
refuse (GError **error, FlamError code, const char *message)
{
  return flam_error_set (error, code, "%s", message);
}

/* --- the file ------------------------------------------------------------- */

static gboolean
open_file (Run *run, const FlamDisassemblyOptions *options, GError **error)
{
  const FlamModules *modules = &run->profile->modules;
  const char *path = flam_profile_string (run->profile, modules->path[run->id]);
  const char *build_id =
      flam_profile_string (run->profile, modules->build_id[run->id]);
  FlamSymbolModuleOptions how = { .build_id = build_id,
                                  .debug_directories = options->binaries };
  g_autofree char *why = NULL;

  if (strcmp (path, "[vdso]") == 0)
    {
      run->module = flam_vdso_open (build_id);
      run->result->path = g_strdup (path);
      return run->module != NULL ||
             refuse (error,
                     FLAM_ERROR_SYSTEM,
                     N_ ("the vdso of the recorded kernel is not available"));
    }
  if (modules->addressing[run->id] == FLAM_ADDRESS_ABSOLUTE || *path != '/')
    return refuse (
        error,
        FLAM_ERROR_UNSUPPORTED,
        N_ ("kernel code and code generated at run time are not in any file"));
  {
    g_autoptr (FlamBinaries) binaries =
        flam_binaries_new (options->binaries, options->root);

    run->result->path = flam_binaries_find (binaries, path, build_id, &why);
  }
  if (run->result->path == NULL)
    return refuse (error, FLAM_ERROR_SYSTEM, why);
  run->module = flam_symbol_module_open (run->result->path, &how, error);
  return run->module != NULL;
}

static gboolean
to_vaddr (const Run *run, guint64 address, guint64 *vaddr)
{
  *vaddr = address;
  return run->profile->modules.addressing[run->id] !=
             FLAM_ADDRESS_FILE_OFFSET ||
         flam_elf_offset_to_vaddr (
             flam_symbol_module_get_elf (run->module), address, vaddr);
}

/* Finds the function's bounds, and its bytes in the file. */
static gboolean
find_code (Run *run, guint64 address, GError **error)
{
  const FlamElf *elf = flam_symbol_module_get_elf (run->module);
  FlamDisassembly *result = run->result;
  guint64 vaddr, first, last;
  FlamSymbolChain chain;
  const char *image;
  gsize size;

  if (!to_vaddr (run, address, &vaddr) ||
      !flam_symbol_module_find_bounds (
          run->module, vaddr, &result->start, &result->end))
    return refuse (error,
                   FLAM_ERROR_UNSUPPORTED,
                   N_ ("no symbol gives the function's bounds"));
  if (flam_symbol_module_lookup (run->module, vaddr, &chain))
    result->function =
        g_string_chunk_insert_const (result->strings, chain.frames[0].name);
  image = elf_rawfile (flam_elf_get_handle (elf), &size);
  if (result->end - result->start > CODE_MAX)
    return refuse (
        error, FLAM_ERROR_TOO_LARGE, N_ ("the function is larger than 4 MiB"));
  if (image == NULL || !flam_elf_vaddr_to_offset (elf, result->start, &first) ||
      !flam_elf_vaddr_to_offset (elf, result->end - 1, &last) || last < first ||
      last - first != result->end - 1 - result->start || last >= size)
    return refuse (error,
                   FLAM_ERROR_INVALID,
                   N_ ("the file has no bytes for this function"));
  run->code = (const guint8 *)image + first;
  return TRUE;
}

/* --- decoding ------------------------------------------------------------- */

static const FlamDisassemblerFunctions *
find_functions (GError **error)
{
  static const FlamLibrary library = { "libflambeau-disassemble.so",
                                       "app/symbols/code",
                                       FLAM_DISASSEMBLER_SYMBOL };

  return flam_library_open (&library, error);
}

static const char *
keep (Run *run, const char *text)
{
  return g_string_chunk_insert_const (run->result->strings, text);
}

/* Adds the source line of an instruction, and the function it calls. */
static void
locate (Run *run, FlamInstruction *row)
{
  FlamSymbolChain chain;

  row->file = row->function = "";
  if (flam_symbol_module_lookup (run->module, row->address, &chain))
    {
      const FlamSymbolFrame *frame = &chain.frames[chain.n - 1];

      row->function = keep (run, frame->name);
      row->line = frame->line;
      if (frame->line != 0)
        row->file = keep (
            run, frame->line_file != NULL ? frame->line_file : frame->file);
    }
  if (row->kind == FLAM_INSTRUCTION_CALL && row->target != 0 &&
      flam_symbol_module_lookup (run->module, row->target, &chain))
    row->callee = keep (run, chain.frames[0].name);
}

/* Bytes that are not an instruction become one row each. */
static void
take_byte (Run *run, FlamCode *code, FlamInstruction *row)
{
  g_autofree char *text = g_strdup_printf ("0x%02x", *code->bytes++);

  *row = (FlamInstruction){ .address = code->address++,
                            .size = 1,
                            .mnemonic = ".byte",
                            .operands = keep (run, text) };
  code->left--;
}

static void
add_row (Run *run, GArray *rows, FlamInstruction *row)
{
  row->mnemonic = keep (run, row->mnemonic);
  row->operands = keep (run, row->operands);
  row->jump = FLAM_NONE;
  locate (run, row);
  g_array_append_val (rows, *row);
}

static gboolean
decode (Run *run, const FlamProgress *progress, GError **error)
{
  const FlamDisassemblerFunctions *functions = find_functions (error);
  FlamDisassembly *result = run->result;
  FlamCode code = { run->code, result->end - result->start, result->start };
  FlamDisassembler *disassembler;
  gboolean going = TRUE;
  GArray *rows;

  if (functions == NULL)
    return FALSE;
  disassembler = functions->open (
      flam_elf_get_machine (flam_symbol_module_get_elf (run->module)),
      result->syntax);
  if (disassembler == NULL)
    return refuse (error,
                   FLAM_ERROR_UNSUPPORTED,
                   N_ ("no disassembler for this architecture"));
  rows = g_array_new (FALSE, FALSE, sizeof (FlamInstruction));
  while (going && code.left > 0)
    {
      FlamInstruction row = { 0 };

      if (!functions->next (disassembler, &code, &row))
        take_byte (run, &code, &row);
      add_row (run, rows, &row);
      if (rows->len % STEP_ROWS == 0)
        going = flam_progress_step (progress,
                                    (double)(code.address - result->start) /
                                        (result->end - result->start),
                                    error);
    }
  functions->free (disassembler);
  result->n = rows->len;
  result->instructions = (FlamInstruction *)(void *)g_array_free (rows, FALSE);
  return going;
}

/* --- rows ----------------------------------------------------------------- */

/* The row whose bytes contain `vaddr`, or FLAM_NONE. */
static guint32
row_at (const FlamDisassembly *result, guint64 vaddr)
{
  guint32 low = 0, high = result->n;

  while (low < high)
    {
      guint32 middle = low + (high - low) / 2;
      const FlamInstruction *row = &result->instructions[middle];

      if (vaddr < row->address)
        high = middle;
      else if (vaddr >= row->address + row->size)
        low = middle + 1;
      else
        return middle;
    }
  return FLAM_NONE;
}

static void
link_jumps (FlamDisassembly *result)
{
  for (guint i = 0; i < result->n; i++)
    {
      FlamInstruction *row = &result->instructions[i];

      if (row->kind == FLAM_INSTRUCTION_JUMP)
        row->jump = row_at (result, row->target);
    }
}

static guint32
row_of_address (gpointer data, guint64 address)
{
  const Run *run = data;
  guint64 vaddr;

  return to_vaddr (run, address, &vaddr) ? row_at (run->result, vaddr)
                                         : FLAM_NONE;
}

static void
weigh (Run *run, const FlamWeights *weights, const FlamSelection *selection)
{
  FlamDisassembly *result = run->result;
  g_autofree FlamAddressCost *costs = g_new0 (FlamAddressCost, result->n + 1);

  result->total = flam_lines_weigh_addresses (
      weights, selection, run->id, row_of_address, run, costs);
  for (guint i = 0; i < result->n; i++)
    {
      result->instructions[i].self = costs[i].self;
      result->instructions[i].total = costs[i].total;
      result->self += costs[i].self;
    }
}

static void
count_jumps (Run *run)
{
  FlamDisassembly *result = run->result;
  g_autofree FlamJumpCount *counts = g_new (FlamJumpCount, result->n + 1);

  for (guint i = 0; i < result->n; i++)
    counts[i] = (FlamJumpCount){ 0, -1 };
  flam_jumps_of_addresses (run->profile, run->id, row_of_address, run, counts);
  for (guint i = 0; i < result->n; i++)
    {
      result->instructions[i].jumps = counts[i];
      result->counts_jumps |= counts[i].taken > 0 || counts[i].reached >= 0;
    }
}

FlamDisassembly *
flam_disassembly_new (const FlamWeights *weights,
                      const FlamSelection *selection,
                      FlamFrameId frame,
                      const FlamDisassemblyOptions *options,
                      const FlamProgress *progress,
                      GError **error)
{
  const FlamProfile *profile = weights->profile;
  g_auto (Run) run = { profile, FLAM_NONE };

  if (frame != FLAM_NONE && profile->frames.address[frame] != 0)
    run.id = profile->functions.module[profile->frames.function[frame]];
  if (run.id == FLAM_NONE)
    {
      refuse (error,
              FLAM_ERROR_UNSUPPORTED,
              N_ ("the capture has no addresses of this function"));
      return NULL;
    }
  run.result = g_new0 (FlamDisassembly, 1);
  run.result->strings = g_string_chunk_new (4096);
  run.result->syntax = options->syntax;
  run.result->function = "";
  if (!open_file (&run, options, error) ||
      !find_code (&run, profile->frames.address[frame], error) ||
      !decode (&run, progress, error))
    return NULL;
  link_jumps (run.result);
  weigh (&run, weights, selection);
  count_jumps (&run);
  return g_steal_pointer (&run.result);
}

gboolean
flam_disassembly_is_new_line (const FlamDisassembly *disassembly, guint row)
{
  const FlamInstruction *here = &disassembly->instructions[row];
  const FlamInstruction *before = row > 0 ? here - 1 : NULL;

  return here->line != 0 &&
         (before == NULL || here->line != before->line ||
          here->file != before->file || here->function != before->function);
}

/* --- arrows --------------------------------------------------------------- */

typedef struct
{
  guint32 from, to;
} Jump;

static guint32
length_of (const Jump *jump)
{
  return MAX (jump->from, jump->to) - MIN (jump->from, jump->to);
}

static int
compare_jumps (gconstpointer a, gconstpointer b)
{
  const Jump *x = a;
  const Jump *y = b;

  if (length_of (x) != length_of (y))
    return length_of (x) < length_of (y) ? -1 : 1;
  return (x->from > y->from) - (x->from < y->from);
}

/* The lanes that are free over the whole range, as bits. */
static guint
free_lanes (const FlamArrows *arrows, guint32 first, guint32 last)
{
  guint used = 0;

  for (guint32 i = first; i <= last; i++)
    used |= arrows[i].from | arrows[i].to | (i > first ? arrows[i].above : 0u) |
            (i < last ? arrows[i].below : 0u);
  return ~used & ((1u << FLAM_ARROW_LANES) - 1);
}

static void
draw_jump (FlamArrows *arrows, const Jump *jump)
{
  guint32 first = MIN (jump->from, jump->to);
  guint32 last = MAX (jump->from, jump->to);
  guint lanes = free_lanes (arrows, first, last);
  guint8 bit = (guint8)(lanes & (0u - lanes));

  for (guint32 i = first; i <= last; i++)
    {
      arrows[i].above |= i > first ? bit : 0;
      arrows[i].below |= i < last ? bit : 0;
    }
  arrows[jump->from].from |= bit;
  arrows[jump->to].to |= bit;
}

FlamArrows *
flam_disassembly_arrows (const FlamDisassembly *disassembly)
{
  FlamArrows *arrows = g_new0 (FlamArrows, disassembly->n + 1);
  g_autoptr (GArray) jumps = g_array_new (FALSE, FALSE, sizeof (Jump));

  for (guint i = 0; i < disassembly->n; i++)
    {
      Jump jump = { i, disassembly->instructions[i].jump };

      if (jump.to != FLAM_NONE && length_of (&jump) <= ARROW_MAX)
        g_array_append_val (jumps, jump);
    }
  g_array_sort (jumps, compare_jumps);
  for (guint i = 0; i < jumps->len; i++)
    draw_jump (arrows, &g_array_index (jumps, Jump, i));
  return arrows;
}
