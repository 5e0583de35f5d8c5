/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-resolve.h"

#include <stdlib.h>

#include "flam-jit.h"
#include "flam-symbol-module.h"

/* Of code at one address. */
#define GENERATIONS_MAX 4096

typedef struct
{
  guint64 address;
  FlamId frame;
} Place;

static int
compare_places (gconstpointer a, gconstpointer b)
{
  const Place *x = a;
  const Place *y = b;

  return x->address < y->address ? -1 : x->address > y->address;
}

/* The addresses that wait for a name, by module of the capture. */
static GHashTable *
places_by_module (FlamCaptureWriter *writer)
{
  GHashTable *modules =
      g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify)g_array_unref);
  guint32 n = flam_capture_writer_n_frames (writer);

  for (FlamId i = 0; i < n; i++)
    {
      FlamCaptureFrame frame;
      GArray *places;

      flam_capture_writer_get_frame (writer, i, &frame);
      if (frame.function != FLAM_NONE || frame.module == FLAM_NONE)
        continue;
      places = g_hash_table_lookup (modules, GUINT_TO_POINTER (frame.module));
      if (places == NULL)
        {
          places = g_array_new (FALSE, FALSE, sizeof (Place));
          g_hash_table_insert (
              modules, GUINT_TO_POINTER (frame.module), places);
        }
      g_array_append_vals (places, &(Place){ frame.address, i }, 1);
    }
  return modules;
}

static FlamSymbolModule *
open_module (const FlamCode *code, char **why)
{
  FlamSymbolModuleOptions options = { .build_id = code->build_id,
                                      .detail = FLAM_SYMBOL_DETAIL_LASTING };
  g_autofree char *kept = g_strdup_printf ("/proc/self/fd/%d", code->fd);
  g_autoptr (GError) error = NULL;
  FlamSymbolModule *module;

  if (code->image != NULL)
    return flam_symbol_module_new_from_data (
        code->path, code->image, code->image_size);
  if (code->fd < 0)
    {
      *why =
          g_strdup (code->deleted ? "the file was deleted while it ran"
                                  : "the file was replaced, or cannot be read");
      return NULL;
    }
  module = flam_symbol_module_open (
      code->same_path ? code->path : kept, &options, &error);
  if (module == NULL && code->same_path)
    {
      g_clear_error (&error);
      module = flam_symbol_module_open (kept, &options, &error);
    }
  if (module == NULL)
    *why = g_strdup (error->message);
  return module;
}

static void
put_chain (FlamCaptureWriter *writer,
           const FlamCode *code,
           FlamId frame,
           const FlamSymbolChain *chain)
{
  for (guint i = 0; i < chain->n; i++)
    {
      const FlamSymbolFrame *symbol = &chain->frames[i];
      FlamFunction function = {
        .name = flam_capture_writer_string (writer, symbol->name),
        .system_name = flam_capture_writer_string (
            writer,
            g_strcmp0 (symbol->system_name, symbol->name) == 0
                ? ""
                : symbol->system_name),
        .file = flam_capture_writer_string (writer, symbol->file),
        .module = code->id,
        .line = symbol->first_line,
        .kind = FLAM_KIND_NATIVE,
        .flags = symbol->flags,
      };
      flam_capture_writer_symbol (
          writer,
          frame,
          flam_capture_writer_function (writer, &function),
          symbol->line_file != NULL && symbol->line_file != symbol->file
              ? flam_capture_writer_string (writer, symbol->line_file)
              : FLAM_NONE,
          symbol->line);
    }
}

static void
resolve_code (FlamCaptureWriter *writer, const FlamCode *code, GArray *places)
{
  g_autofree char *why = NULL;
  g_autoptr (FlamSymbolModule) module = open_module (code, &why);

  if (module == NULL)
    {
      flam_capture_writer_module_symbols (
          writer, code->id, FLAM_SYMBOLS_NONE, why);
      return;
    }
  /* A stack that was set up by hand (makecontext) returns to the first byte of
   * a function; the byte before, where callers are looked up, is nobody's. */
  g_array_sort (places, compare_places);
  for (guint i = 0; i < places->len; i++)
    {
      const Place *place = &g_array_index (places, Place, i);
      FlamSymbolChain chain;

      if (flam_symbol_module_lookup_offset (module, place->address, &chain) ||
          flam_symbol_module_lookup_offset (module, place->address + 1, &chain))
        put_chain (writer, code, place->frame, &chain);
    }
  flam_capture_writer_module_symbols (writer,
                                      code->id,
                                      flam_symbol_module_get_state (module),
                                      flam_symbol_module_get_why (module));
}

/* The mapping by which a runtime tells profilers where its jitdump is. */
static const char *
find_jitdump (FlamCodes *codes, gint32 pid)
{
  g_autofree char *name = g_strdup_printf ("/jit-%d.dump", pid);

  for (guint i = 0; i < flam_codes_n (codes); i++)
    if (g_str_has_suffix (flam_codes_at (codes, i)->path, name))
      return flam_codes_at (codes, i)->path;
  return NULL;
}

/* What was at an address, the latest first; back to the recording's begin. */
static GArray *
find_generations (FlamJit *jit, guint64 address, gint64 origin)
{
  GArray *found = g_array_new (FALSE, FALSE, sizeof (FlamJitFrame));
  guint64 time = G_MAXUINT64;
  FlamJitFrame frame;

  while (found->len < GENERATIONS_MAX &&
         flam_jit_find (jit, address, time, &frame) &&
         (found->len == 0 || frame.since > 0))
    {
      g_array_append_val (found, frame);
      if (frame.since <= (guint64)origin)
        break;
      time = frame.since - 1;
    }
  return found;
}

static void
put_generations (FlamCaptureWriter *writer,
                 const FlamCode *code,
                 FlamId frame,
                 const GArray *found,
                 gint64 origin)
{
  FlamId last = FLAM_NONE;
  guint32 last_line = 0;

  for (guint i = found->len; i-- > 0;)
    {
      const FlamJitFrame *now = &g_array_index (found, FlamJitFrame, i);
      FlamFunction function = {
        .name = flam_capture_writer_string (writer, now->name),
        .file = flam_capture_writer_string (writer, now->file),
        .module = code->id,
        .line = now->first_line,
        .kind = now->kind,
      };
      FlamId id = flam_capture_writer_function (writer, &function);

      if (last == FLAM_NONE)
        flam_capture_writer_symbol (writer, frame, id, FLAM_NONE, now->line);
      else if (id != last || now->line != last_line)
        flam_capture_writer_rename (
            writer, frame, (gint64)now->since - origin, id, now->line);
      last = id;
      last_line = now->line;
    }
}

/* Generated code has the names that its process wrote into /tmp. */
static void
resolve_generated (FlamCaptureWriter *writer,
                   FlamCodes *codes,
                   const FlamCode *code,
                   GArray *places,
                   gint64 origin)
{
  gint32 pid = flam_jit_module_pid (code->path);
  g_autoptr (GError) error = NULL;
  g_autoptr (FlamJit) jit =
      flam_jit_open_process (pid, find_jitdump (codes, pid), 0, &error);

  for (guint i = 0; jit && i < places->len; i++)
    {
      const Place *place = &g_array_index (places, Place, i);
      g_autoptr (GArray) found = find_generations (jit, place->address, origin);

      put_generations (writer, code, place->frame, found, origin);
    }
  flam_capture_writer_module_symbols (writer,
                                      code->id,
                                      jit ? FLAM_SYMBOLS_SYMTAB
                                          : FLAM_SYMBOLS_NONE,
                                      jit ? "" : error->message);
}

void
flam_resolve (FlamCaptureWriter *writer, FlamCodes *codes, gint64 origin)
{
  g_autoptr (GHashTable) modules = places_by_module (writer);

  for (guint i = 0; i < flam_codes_n (codes); i++)
    {
      FlamCode *code = flam_codes_at (codes, i);
      GArray *places =
          g_hash_table_lookup (modules, GUINT_TO_POINTER (code->id));

      if (places != NULL && code->kind == FLAM_CODE_ANONYMOUS)
        resolve_generated (writer, codes, code, places, origin);
      else if (places != NULL)
        resolve_code (writer, code, places);
    }
}
