/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-runtime-functions.h"

#include <string.h>

#define FUNCTIONS_MAX (1u << 20)
#define BYTES_MAX (512u << 20) /* of their names and line tables */
/* Frames at positions beyond this limit are not cached by position. */
#define POSITIONS_MAX (1u << 20)

#define UNREADABLE "(unreadable)"

struct _FlamRuntimeFunctions
{
  GHashTable *set; /* FlamRuntimeFunction, by content */
  gsize bytes;
};

static guint
function_hash (gconstpointer data)
{
  const FlamRuntimeFunction *function = data;

  return g_str_hash (function->name) ^ g_str_hash (function->file) * 31 ^
         g_bytes_hash (function->lines) * 1021 ^ function->first_line ^
         function->line * 2654435761u ^
         (guint)(GPOINTER_TO_SIZE (function->caller) >> 4);
}

static gboolean
function_equal (gconstpointer a, gconstpointer b)
{
  const FlamRuntimeFunction *x = a;
  const FlamRuntimeFunction *y = b;

  return x->runtime == y->runtime && x->first_line == y->first_line &&
         x->line == y->line && x->lines_version == y->lines_version &&
         x->caller == y->caller && x->hidden == y->hidden &&
         x->unreadable == y->unreadable && strcmp (x->name, y->name) == 0 &&
         strcmp (x->file, y->file) == 0 && g_bytes_equal (x->lines, y->lines);
}

static void
function_free (gpointer data)
{
  FlamRuntimeFunction *function = data;

  g_free (function->name);
  g_free (function->file);
  g_bytes_unref (function->lines);
  g_clear_pointer (&function->frames, g_array_unref);
  g_free (function);
}

FlamRuntimeFunctions *
flam_runtime_functions_new (void)
{
  FlamRuntimeFunctions *functions = g_new0 (FlamRuntimeFunctions, 1);

  functions->set = g_hash_table_new_full (
      function_hash, function_equal, function_free, NULL);
  return functions;
}

void
flam_runtime_functions_free (FlamRuntimeFunctions *functions)
{
  g_hash_table_unref (functions->set);
  g_free (functions);
}

static FlamRuntimeFunction *
intern (FlamRuntimeFunctions *functions, const FlamRuntimeFunction *wanted)
{
  FlamRuntimeFunction *function = g_hash_table_lookup (functions->set, wanted);
  gsize size = strlen (wanted->name) + strlen (wanted->file) +
               g_bytes_get_size (wanted->lines);

  if (function != NULL)
    return function;
  if (!wanted->unreadable &&
      (g_hash_table_size (functions->set) >= FUNCTIONS_MAX ||
       size > BYTES_MAX - functions->bytes))
    return flam_runtime_functions_unreadable (functions, wanted->runtime);
  functions->bytes += wanted->unreadable ? 0 : size;
  function = g_memdup2 (wanted, sizeof *wanted);
  function->name = g_strdup (wanted->name);
  function->file = g_strdup (wanted->file);
  g_bytes_ref (function->lines);
  function->function = FLAM_NONE;
  g_hash_table_add (functions->set, function);
  return function;
}

FlamRuntimeFunction *
flam_runtime_functions_add (FlamRuntimeFunctions *functions,
                            const FlamRuntime *runtime,
                            const FlamRuntimeNamed *named,
                            FlamRuntimeFunction *caller,
                            guint32 lines_version,
                            const guint8 *lines,
                            gsize n_lines)
{
  g_autoptr (GBytes) table = g_bytes_new (lines, n_lines);
  g_autofree char *joined =
      named->type[0] != '\0'
          ? g_strconcat (named->type, runtime->joint, named->function, NULL)
          : NULL;
  FlamRuntimeFunction wanted = {
    .runtime = runtime,
    .name = joined != NULL ? joined : (char *)named->function,
    .file = (char *)named->file,
    .first_line = named->first_line,
    .line = named->line,
    .lines_version = lines_version,
    .lines = table,
    .caller = caller,
    .hidden = named->hidden,
  };

  return intern (functions, &wanted);
}

FlamRuntimeFunction *
flam_runtime_functions_unreadable (FlamRuntimeFunctions *functions,
                                   const FlamRuntime *runtime)
{
  g_autoptr (GBytes) table = g_bytes_new (NULL, 0);
  FlamRuntimeFunction wanted = { .runtime = runtime,
                                 .name = (char *)UNREADABLE,
                                 .file = (char *)"",
                                 .lines = table,
                                 .unreadable = TRUE };

  return intern (functions, &wanted);
}

FlamRuntimeFunction *
flam_runtime_functions_get (FlamRuntimeFunctions *functions,
                            const FlamRuntime *runtime,
                            const FlamRuntimeName *name)
{
  FlamRuntimeFunction *function = NULL;

  for (guint i = name->n; i-- > 0;)
    {
      gboolean own = i + 1 == name->n;

      function = flam_runtime_functions_add (functions,
                                             runtime,
                                             &name->frames[i],
                                             function,
                                             own ? name->lines_version : 0,
                                             own ? name->lines : NULL,
                                             own ? name->n_lines : 0);
    }
  return function != NULL
             ? function
             : flam_runtime_functions_unreadable (functions, runtime);
}

/* --- frames -------------------------------------------------------------- */

static guint32
line_of (const FlamRuntimeFunction *function, guint64 at)
{
  const FlamRuntime *runtime = function->runtime;
  gsize size;
  const guint8 *lines = g_bytes_get_data (function->lines, &size);

  if (function->unreadable)
    return 0;
  if (function->caller != NULL || runtime->by_position)
    return function->line;
  if (runtime->line == NULL)
    return at <= G_MAXINT32 ? (guint32)at : 0;
  return runtime->line (
      function->lines_version, lines, size, at, function->first_line);
}

/* A function is the same whether it is interpreted or compiled at the moment,
 * so its kind is that of its runtime. */
static FlamFrameId
new_frame (FlamRuntimeFunction *function, FlamBuilder *builder, guint64 at)
{
  const FlamRuntime *runtime = function->runtime;
  const FlamRuntimeNamed named = { .function = function->name,
                                   .type = "",
                                   .file = function->file,
                                   .first_line = function->first_line };
  FlamRecordedFrame frame = { .file = FLAM_NONE, .module = FLAM_NONE };
  FlamFunction row = { .module = FLAM_NONE,
                       .line = function->first_line,
                       .kind = runtime->compiles ? FLAM_KIND_JIT
                                                 : FLAM_KIND_INTERPRETED,
                       .flags = FLAM_FUNCTION_PLAIN };

  if (function->function == FLAM_NONE)
    {
      if (runtime->flags != NULL)
        row.flags = runtime->flags (&named);
      row.name = flam_builder_string (builder, function->name, -1);
      row.system_name = flam_builder_string (builder, "", -1);
      row.file = flam_builder_string (builder, function->file, -1);
      function->function = flam_builder_function (builder, &row);
    }
  frame.function = function->function;
  frame.line = line_of (function, at);
  return flam_builder_recorded_frame (builder, &frame);
}

FlamFrameId
flam_runtime_function_frame (FlamRuntimeFunction *function,
                             FlamBuilder *builder,
                             guint64 at)
{
  const FlamId none = FLAM_NONE;
  guint64 place = at + 2; /* positions may begin at -2 */
  FlamFrameId *frame;

  if (function->caller != NULL || function->unreadable ||
      function->runtime->by_position)
    place = 0;
  if (place >= POSITIONS_MAX)
    return new_frame (function, builder, at);
  if (function->frames == NULL)
    function->frames = g_array_new (FALSE, FALSE, sizeof (FlamId));
  while (function->frames->len <= place)
    g_array_append_val (function->frames, none);
  frame = &g_array_index (function->frames, FlamId, place);
  if (*frame == FLAM_NONE)
    *frame = new_frame (function, builder, at);
  return *frame;
}

/* --- labels -------------------------------------------------------------- */

guint32
flam_runtime_function_labels (FlamRuntimeFunction *function,
                              FlamBuilder *builder)
{
  FlamSampleLabel labels[FLAM_RUNTIME_INLINED_MAX];
  guint n = 0;

  if (function->labels != 0 || function->unreadable)
    return function->labels;
  for (const FlamRuntimeFunction *label = function;
       label != NULL && n < G_N_ELEMENTS (labels);
       label = label->caller)
    labels[n++] = (FlamSampleLabel){ .key = label->file, .value = label->name };
  return function->labels = flam_builder_add_labels (builder, labels, n);
}
