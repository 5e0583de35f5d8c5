/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-resolve.h"

#include <sys/stat.h>

#include "flam-jit.h"
#include "flam-symbol-source.h"

/* Limit for the code at one address. */
#define GENERATIONS_MAX 4096
/* The debug files of a container are in its own files. */
#define DEBUG_ROOT "/usr/lib/debug"

typedef struct
{
  guint64 address;
  FlamFrameId frame;
} Query;

static int
compare_queries (gconstpointer a, gconstpointer b)
{
  const Query *x = a;
  const Query *y = b;

  return x->address < y->address ? -1 : x->address > y->address;
}

/* The addresses to be resolved, by module of the capture. */
static GHashTable *
queries_by_module (FlamBuilder *builder)
{
  GHashTable *modules =
      g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify)g_array_unref);
  guint32 n = flam_builder_n_frames (builder);

  for (FlamId i = 0; i < n; i++)
    {
      FlamRecordedFrame frame;
      GArray *queries;

      flam_builder_get_recorded_frame (builder, i, &frame);
      if (frame.function != FLAM_NONE || frame.module == FLAM_NONE)
        continue;
      queries = g_hash_table_lookup (modules, GUINT_TO_POINTER (frame.module));
      if (queries == NULL)
        {
          queries = g_array_new (FALSE, FALSE, sizeof (Query));
          g_hash_table_insert (
              modules, GUINT_TO_POINTER (frame.module), queries);
        }
      g_array_append_vals (queries, &(Query){ frame.address, i }, 1);
    }
  return modules;
}

/* The mapping of a jitdump file, made by the runtime for profilers. */
static const char *
find_jitdump (FlamBinaryTable *binaries, gint32 pid)
{
  g_autofree char *name = g_strdup_printf ("/jit-%d.dump", pid);

  for (guint i = 0; i < flam_binary_table_n (binaries); i++)
    if (g_str_has_suffix (flam_binary_table_at (binaries, i)->path, name))
      return flam_binary_table_at (binaries, i)->path;
  return NULL;
}

static FlamSymbols *
open_binary (FlamSymbolContext *context,
             FlamBinaryTable *binaries,
             const FlamBinary *binary,
             GError **error)
{
  g_autofree char *kept = g_strdup_printf ("/proc/self/fd/%d", binary->fd);
  const char *files[] = { binary->root != NULL ? binary->in_root
                          : binary->same_path  ? binary->path
                                               : kept,
                          kept,
                          NULL };
  gboolean generated = binary->kind == FLAM_BINARY_ANONYMOUS;
  gboolean kernel = binary->kind == FLAM_BINARY_KERNEL;
  FlamSymbolTarget target = {
    .path = binary->path,
    .name = binary->path,
    .build_id = binary->build_id,
    .addressing =
        generated || kernel ? FLAM_ADDRESS_ABSOLUTE : FLAM_ADDRESS_FILE_OFFSET,
    .files = files,
    .image = binary->image,
    .image_size = binary->image_size,
  };

  if (generated)
    target.jitdump =
        find_jitdump (binaries, flam_jit_module_pid (binary->path));
  else if (binary->fd < 0 && !kernel)
    target.gone = binary->deleted
                      ? N_ ("the file was deleted while the program ran")
                      : N_ ("the file was replaced, or cannot be read");
  return flam_symbols_open (context, &target, error);
}

static FlamFunctionId
put_function (FlamBuilder *builder,
              FlamModuleId module,
              const FlamSymbolFrame *symbol,
              FlamFunctionKind kind)
{
  FlamFunction function = {
    .name = flam_builder_string (builder, symbol->name, -1),
    .system_name =
        flam_builder_string (builder,
                             g_strcmp0 (symbol->system_name, symbol->name) == 0
                                 ? ""
                                 : symbol->system_name,
                             -1),
    .file = flam_builder_string (builder, symbol->file, -1),
    .module = module,
    .line = symbol->first_line,
    .kind = kind,
    .flags = symbol->flags,
  };

  return flam_builder_function (builder, &function);
}

/* The code at an address that was overwritten: functions, the latest first,
 * back to the beginning of the recording. */
typedef struct
{
  FlamFunctionId function;
  guint32 line;
  guint64 since;
} Generation;

static GArray *
find_generations (FlamBuilder *builder,
                  FlamModuleId module,
                  FlamSymbols *symbols,
                  guint64 address,
                  FlamSymbolChain chain,
                  guint64 origin)
{
  GArray *found = g_array_new (FALSE, FALSE, sizeof (Generation));

  do
    {
      Generation now = {
        put_function (builder, module, &chain.frames[0], chain.kind),
        chain.frames[0].line,
        chain.since,
      };
      g_array_append_val (found, now);
    }
  while (found->len < GENERATIONS_MAX && chain.since > origin &&
         flam_symbols_look_up (symbols, address, chain.since - 1, &chain) &&
         chain.since > 0);
  return found;
}

static void
put_generations (FlamBuilder *builder,
                 FlamFrameId frame,
                 const GArray *found,
                 gint64 origin)
{
  const Generation *last = NULL;

  for (guint i = found->len; i-- > 0;)
    {
      const Generation *now = &g_array_index (found, Generation, i);

      if (last == NULL)
        flam_builder_note_symbol (
            builder, frame, now->function, FLAM_NONE, now->line);
      else if (now->function != last->function || now->line != last->line)
        flam_builder_note_rename (builder,
                                  frame,
                                  (gint64)now->since - origin,
                                  now->function,
                                  now->line);
      last = now;
    }
}

static void
put_chain (FlamBuilder *builder,
           FlamModuleId module,
           FlamFrameId frame,
           const FlamSymbolChain *chain)
{
  for (guint i = 0; i < chain->n; i++)
    {
      const FlamSymbolFrame *symbol = &chain->frames[i];

      flam_builder_note_symbol (
          builder,
          frame,
          put_function (builder, module, symbol, chain->kind),
          symbol->line_file != NULL && symbol->line_file != symbol->file
              ? flam_builder_string (builder, symbol->line_file, -1)
              : FLAM_NONE,
          symbol->line);
    }
}

static void
resolve_query (FlamBuilder *builder,
               FlamModuleId module,
               FlamSymbols *symbols,
               const Query *query,
               gint64 origin)
{
  g_autoptr (GArray) generations = NULL;
  FlamSymbolChain chain;

  if (!flam_symbols_look_up (symbols, query->address, G_MAXUINT64, &chain))
    return;
  if (chain.since <= (guint64)origin)
    {
      put_chain (builder, module, query->frame, &chain);
      return;
    }
  generations = find_generations (
      builder, module, symbols, query->address, chain, (guint64)origin);
  put_generations (builder, query->frame, generations, origin);
}

static void
resolve_binary (FlamBuilder *builder,
                FlamSymbolContext *context,
                FlamBinaryTable *binaries,
                const FlamBinary *binary,
                GArray *queries,
                gint64 origin)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *debug = binary->root != NULL
                               ? g_strconcat (binary->root, DEBUG_ROOT, NULL)
                               : NULL;
  const char *directories[] = { debug, NULL };
  g_autoptr (FlamSymbols) symbols = NULL;
  FlamSymbolState state = FLAM_SYMBOLS_NONE;
  const char *why = "";

  context->binaries = debug != NULL ? directories : NULL;
  symbols = open_binary (context, binaries, binary, &error);
  if (symbols == NULL)
    why = error->message;
  g_array_sort (queries, compare_queries);
  for (guint i = 0; symbols != NULL && i < queries->len; i++)
    resolve_query (builder,
                   binary->id,
                   symbols,
                   &g_array_index (queries, Query, i),
                   origin);
  if (symbols != NULL)
    state = flam_symbols_get_state (symbols, &why);
  flam_builder_note_module_symbols (builder, binary->id, state, why);
  context->binaries = NULL;
}

/* Copies of a file, as in two containers of one image, have its size and
 * time. */
static gboolean
is_same_file (const FlamBinary *a, const FlamBinary *b)
{
  struct stat x, y;

  return a->fd >= 0 && b->fd >= 0 && fstat (a->fd, &x) == 0 &&
         fstat (b->fd, &y) == 0 && x.st_size == y.st_size &&
         x.st_mtim.tv_sec == y.st_mtim.tv_sec &&
         x.st_mtim.tv_nsec == y.st_mtim.tv_nsec;
}

/* Different files without a build ID, one after the other at one path, are one
 * module of the capture: which of them an address is in is unknown. */
static gboolean
is_ambiguous (FlamBinaryTable *binaries, const FlamBinary *binary)
{
  if (binary->kind != FLAM_BINARY_FILE || *binary->build_id != '\0')
    return FALSE;
  for (guint i = 0; i < flam_binary_table_n (binaries); i++)
    {
      const FlamBinary *other = flam_binary_table_at (binaries, i);

      if (other != binary && other->id == binary->id &&
          !is_same_file (binary, other))
        return TRUE;
    }
  return FALSE;
}

/* Files about generated code are accepted regardless of their age, because the
 * processes that wrote them have just run on this machine. */
void
flam_resolve (FlamBuilder *builder, FlamBinaryTable *binaries, gint64 origin)
{
  g_autoptr (GHashTable) modules = queries_by_module (builder);
  g_auto (FlamSymbolContext)
      context = { .detail = FLAM_SYMBOL_DETAIL_LASTING, .this_boot = TRUE };

  for (guint i = 0; i < flam_binary_table_n (binaries); i++)
    {
      FlamBinary *binary = flam_binary_table_at (binaries, i);
      GArray *queries =
          g_hash_table_lookup (modules, GUINT_TO_POINTER (binary->id));

      if (queries != NULL && is_ambiguous (binaries, binary))
        flam_builder_note_module_symbols (
            builder,
            binary->id,
            FLAM_SYMBOLS_NONE,
            N_ ("the file was replaced by another one while it was recorded, "
                "and they have no build IDs"));
      else if (queries != NULL)
        resolve_binary (builder, &context, binaries, binary, queries, origin);
    }
}
