/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-frame-names.h"

#include "flam-core-profile.h"
#include "flam-symbol-source.h"

#include <stdlib.h>

#define OPEN_MAX 64

/* A frame without a name. */
typedef struct
{
  FlamModuleId module;
  FlamFrameId frame;
  guint64 address;
} Query;

/* A module for which opening was tried. */
typedef struct
{
  char *path;
  char *name;
  char *build_id;
  FlamSymbols *symbols; /* NULL: cannot be opened */
} Opened;

struct _FlamFrameNames
{
  char **binaries;
  FlamSymbolContext context;
  GHashTable *opened; /* module -> Opened */
  guint32 n_frames;   /* seen so far */
};

static void
opened_free (gpointer data)
{
  Opened *opened = data;

  flam_symbols_close (opened->symbols);
  g_free (opened->path);
  g_free (opened->name);
  g_free (opened->build_id);
  g_free (opened);
}

FlamFrameNames *
flam_frame_names_new (const char *const *binaries)
{
  FlamFrameNames *names = g_new0 (FlamFrameNames, 1);

  names->binaries = g_strdupv ((char **)binaries);
  names->context = (FlamSymbolContext){
    .detail = FLAM_SYMBOL_DETAIL_FULL,
    .binaries = (const char *const *)names->binaries,
    .this_boot = TRUE,
  };
  names->opened = g_hash_table_new_full (NULL, NULL, NULL, opened_free);
  return names;
}

void
flam_frame_names_free (FlamFrameNames *names)
{
  g_hash_table_unref (names->opened);
  flam_symbol_context_clear (&names->context);
  g_strfreev (names->binaries);
  g_free (names);
}

const char *const *
flam_frame_names_binaries (const FlamFrameNames *names)
{
  return (const char *const *)names->binaries;
}

static int
compare_queries (gconstpointer a, gconstpointer b)
{
  const Query *x = a, *y = b;

  if (x->module != y->module)
    return x->module < y->module ? -1 : 1;
  if (x->address != y->address)
    return x->address < y->address ? -1 : 1;
  return x->frame < y->frame ? -1 : x->frame > y->frame;
}

static GArray *
collect (FlamFrameNames *names, FlamBuilder *builder)
{
  GArray *queries = g_array_new (FALSE, FALSE, sizeof (Query));
  guint32 n = flam_builder_n_frames (builder);

  for (FlamId i = names->n_frames; i < n; i++)
    {
      FlamRecordedFrame frame;
      Query query;

      flam_builder_get_recorded_frame (builder, i, &frame);
      query = (Query){ frame.module, i, frame.address };
      if (frame.function == FLAM_NONE && frame.module != FLAM_NONE &&
          frame.address != 0)
        g_array_append_val (queries, query);
    }
  names->n_frames = n;
  /* For an empty array the pointer is NULL. */
  if (queries->len > 0)
    qsort (queries->data, queries->len, sizeof (Query), compare_queries);
  return queries;
}

static FlamSymbols *
open_module (FlamFrameNames *names, FlamBuilder *builder, FlamModuleId module)
{
  const FlamModules *modules = &flam_builder_tables (builder)->profile.modules;
  Opened *opened =
      g_hash_table_lookup (names->opened, GUINT_TO_POINTER (module));
  FlamSymbolTarget target;
  g_autoptr (GError) error = NULL;

  if (opened != NULL)
    return opened->symbols;
  if (g_hash_table_size (names->opened) >= OPEN_MAX)
    g_hash_table_remove_all (names->opened);
  opened = g_new0 (Opened, 1);
  opened->path =
      g_strdup (flam_builder_get_string (builder, modules->path[module]));
  opened->name =
      g_strdup (flam_builder_get_string (builder, modules->name[module]));
  opened->build_id =
      g_strdup (flam_builder_get_string (builder, modules->build_id[module]));
  target = (FlamSymbolTarget){
    .path = opened->path,
    .name = opened->name,
    .build_id = opened->build_id,
    .addressing = modules->addressing[module],
  };
  opened->symbols = flam_symbols_open (&names->context, &target, &error);
  if (opened->symbols == NULL)
    flam_builder_set_module_symbols (
        builder, module, FLAM_SYMBOLS_NONE, error->message);
  g_hash_table_insert (names->opened, GUINT_TO_POINTER (module), opened);
  return opened->symbols;
}

static void
note_chain (FlamBuilder *builder,
            const Query *query,
            const FlamSymbolChain *chain)
{
  for (guint i = 0; i < chain->n; i++)
    {
      const FlamSymbolFrame *frame = &chain->frames[i];
      FlamFunction function = {
        .name = flam_builder_string (builder, frame->name, -1),
        .file = flam_builder_string (builder, frame->file, -1),
        .module = query->module,
        .line = frame->first_line,
        .kind = chain->kind,
        .flags = frame->flags,
      };
      FlamStringId file =
          frame->line_file != NULL
              ? flam_builder_string (builder, frame->line_file, -1)
              : FLAM_NONE;

      if (frame->system_name != frame->name)
        function.system_name =
            flam_builder_string (builder, frame->system_name, -1);
      flam_builder_note_symbol (builder,
                                query->frame,
                                flam_builder_function (builder, &function),
                                file,
                                frame->line);
    }
}

/* The frame keeps the name for unknown functions, but may be hidden. */
static void
note_flags (FlamBuilder *builder, const Query *query, guint flags)
{
  FlamId unnamed = flam_builder_function_unresolved (builder, query->module);
  const FlamTables *tables = flam_builder_tables (builder);
  FlamFunction function = {
    .name = tables->profile.functions.name[unnamed],
    .module = query->module,
    .kind = FLAM_KIND_UNRESOLVED,
    .flags = flags,
  };

  flam_builder_note_symbol (builder,
                            query->frame,
                            flam_builder_function (builder, &function),
                            FLAM_NONE,
                            0);
}

static void
name_module (FlamFrameNames *names,
             FlamBuilder *builder,
             const Query *queries,
             guint n)
{
  FlamModuleId module = queries[0].module;
  FlamSymbols *symbols = open_module (names, builder, module);
  FlamSymbolState state;
  const char *why;

  if (symbols == NULL)
    return;
  for (guint i = 0; i < n; i++)
    {
      FlamSymbolChain chain;

      if (flam_symbols_look_up (
              symbols, queries[i].address, G_MAXUINT64, &chain))
        note_chain (builder, &queries[i], &chain);
      else if (chain.flags != 0)
        note_flags (builder, &queries[i], chain.flags);
    }
  state = flam_symbols_get_state (symbols, &why);
  flam_builder_set_module_symbols (builder, module, state, why);
  if (flam_symbols_grow (symbols))
    g_hash_table_remove (names->opened, GUINT_TO_POINTER (module));
}

void
flam_frame_names_add (FlamFrameNames *names, FlamBuilder *builder)
{
  g_autoptr (GArray) queries = collect (names, builder);
  const Query *query = (const Query *)(gconstpointer)queries->data;

  for (guint first = 0, end; first < queries->len; first = end)
    {
      for (end = first + 1;
           end < queries->len && query[end].module == query[first].module;)
        end++;
      name_module (names, builder, query + first, end - first);
    }
}
