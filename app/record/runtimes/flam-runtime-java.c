/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-runtime-table.h"

#include <string.h>

#include "flam-hotspot.h"
#include "flam-symbol-table.h"

/* HotSpot of JDK 8 to 25: flam-hotspot.h. A function's key is the address of
 * its method, or of the compiled code; its position holds the kind of frame in
 * the upper half. */

#define KIND_SHIFT 32

/* All others that have a libjvm.so are OpenJ9. */
static void
refuse_other (FlamRuntimeFile *file)
{
  file->why = N_ ("its virtual machine is not HotSpot");
  file->help = N_ ("start java with -XX:+PerfTool if it is OpenJ9");
  file->variable = "JAVA_TOOL_OPTIONS=-XX:+PerfTool";
}

/* Addresses as in the file. */
typedef struct
{
  guint64 symbols[FLAM_HOTSPOT_SYMBOLS];
  guint n_stubs;
  FlamHotspotStub stubs[FLAM_HOTSPOT_STUBS]; /* variables with the entries */
} Facts;

static gboolean
take_stub (gpointer data, const char *symbol, const GElf_Sym *value)
{
  Facts *facts = data;
  FlamHotspotStub *stub = &facts->stubs[facts->n_stubs];

  if (facts->n_stubs == FLAM_HOTSPOT_STUBS)
    return TRUE;
  if (value->st_size == sizeof (guint64) &&
      flam_hotspot_stub_name (symbol, stub->name))
    {
      stub->entry = value->st_value;
      facts->n_stubs++;
    }
  return FALSE;
}

static gboolean
find (const FlamElf *elf, int fd, const char *path, FlamRuntimeFile *file)
{
  g_autofree char *name = g_path_get_basename (path);
  g_autofree Facts *facts = g_new0 (Facts, 1);
  guint64 size;

  (void)fd;
  if (strcmp (name, "libjvm.so") != 0 ||
      flam_elf_get_machine (elf) != EM_X86_64)
    return FALSE;
  file->variable = "JAVA_TOOL_OPTIONS=-XX:+UnlockDiagnosticVMOptions "
                   "-XX:+DumpPerfMapAtExit";
  for (guint i = 0; i < FLAM_HOTSPOT_SYMBOLS; i++)
    if (!flam_elf_find_symbol (
            elf, flam_hotspot_symbols[i], &facts->symbols[i], &size))
      refuse_other (file);
  flam_elf_foreach_symbol (elf, take_stub, facts);
  file->facts = g_steal_pointer (&facts);
  return TRUE;
}

/* They are made one after the other while the machine starts. */
static void
add_stubs (const FlamRuntimeProcess *process,
           FlamHotspot *hotspot,
           const FlamRuntimeMemory *memory)
{
  const Facts *facts = process->file->facts;

  for (guint i = 0; i < facts->n_stubs; i++)
    flam_hotspot_add_stub (hotspot,
                           memory,
                           process->base + facts->stubs[i].entry,
                           facts->stubs[i].name);
}

static FlamRuntimeOpened
open_process (FlamRuntimeProcess *process,
              const FlamRuntimeMemory *memory,
              const char **why,
              const char **help)
{
  const Facts *facts = process->file->facts;
  g_autofree FlamHotspot *hotspot = g_new (FlamHotspot, 1);
  uint64_t addresses[FLAM_HOTSPOT_SYMBOLS];

  for (guint i = 0; i < FLAM_HOTSPOT_SYMBOLS; i++)
    addresses[i] = process->base + facts->symbols[i];
  switch (flam_hotspot_open (hotspot, memory, addresses, why))
    {
    case FLAM_HOTSPOT_READY:
      add_stubs (process, hotspot, memory);
      process->cache = g_steal_pointer (&hotspot);
      return FLAM_RUNTIME_OPENED;
    case FLAM_HOTSPOT_EARLY:
      return FLAM_RUNTIME_NOT_YET;
    default:
      *help = N_ ("start java with -XX:+UnlockDiagnosticVMOptions "
                  "-XX:+DumpPerfMapAtExit");
      return FLAM_RUNTIME_UNREADABLE;
    }
}

static gboolean
claims (const FlamRuntimeProcess *process,
        guint64 start,
        guint64 end,
        const char *path)
{
  (void)path;
  return flam_hotspot_has_code (process->cache, start, end);
}

static FlamRuntimeStepped
step (const FlamRuntimeProcess *process,
      const FlamRuntimeRegs *regs,
      const FlamRuntimeMemory *memory,
      FlamRuntimeEntry *entry,
      FlamRuntimeRegs *caller)
{
  FlamHotspotFrame frame;
  FlamHotspotStep stepped;

  *caller = *regs;
  stepped = flam_hotspot_step (process->cache, memory, caller, &frame);
  *entry = (FlamRuntimeEntry){ 0 };
  if (stepped != FLAM_HOTSPOT_LOST)
    *entry = (FlamRuntimeEntry){
      .function = frame.function,
      .at = (guint64)frame.kind << KIND_SHIFT | frame.at,
      .cookie = frame.cookie,
    };
  return stepped == FLAM_HOTSPOT_STEPPED ? FLAM_RUNTIME_STEPPED
                                         : FLAM_RUNTIME_STEP_LOST;
}

static gboolean
name (const FlamRuntimeProcess *process,
      const FlamRuntimeEntry *entry,
      const guint8 *first,
      const FlamRuntimeMemory *memory,
      FlamRuntimeName *name)
{
  FlamHotspotFrame frame = {
    .function = entry->function,
    .cookie = entry->cookie,
    .at = (guint32)entry->at,
    .kind = (guint8)(entry->at >> KIND_SHIFT),
  };

  (void)first;
  if (!flam_hotspot_name (process->cache, memory, &frame, name))
    return FALSE;
  /* A method is interpreted first, and compiled if it is called often. It stays
   * one function, of the kind that recordings of Java's own have. */
  for (guint i = 0; i < name->n; i++)
    name->frames[i].compiled = TRUE;
  return TRUE;
}

static void
threads (const FlamRuntimeProcess *process,
         const FlamRuntimeMemory *memory,
         FlamRuntimeName *scratch,
         FlamRuntimeTakeThread take,
         gpointer data)
{
  add_stubs (process, process->cache, memory);
  flam_hotspot_name_threads (process->cache, memory, scratch, take, data);
}

const FlamRuntime flam_runtime_java = {
  .id = "java",
  .label = "Java",
  .compiles = TRUE,
  .find = find,
  .open = open_process,
  .naming = FLAM_RUNTIME_NAME_RESUMED,
  .by_position = TRUE,
  .name = name,
  .joint = ".",
  .claims = claims,
  .step = step,
  .threads = threads,
};
