/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-symbolizer.h"

#include "flam-symbol-source.h"

#include <stdlib.h>

#define STEP_US 10000

/* A frame without a name. */
typedef struct
{
  FlamModuleId module;
  FlamFrameId frame;
  guint64 address;
} Query;

typedef struct
{
  const FlamProfile *profile;
  const FlamSymbolOptions *options;
  const FlamProgress *progress;
  FlamBuilder *builder;
  FlamSymbolContext sources;
  GArray *queries;
  guint done;
  double told; /* the last reported fraction, which never decreases */
  gint64 last_step;
  GArray *chain; /* FlamId */
} Run;

/* The frames of one module. */
typedef struct
{
  FlamId id;
  const Query *queries;
  guint n;
} Job;

static gboolean
tell (Run *run, double done, GError **error)
{
  run->told = MAX (run->told, done / MAX (run->queries->len, 1));
  return flam_progress_step (run->progress, run->told, error);
}

static gboolean
step (Run *run, GError **error)
{
  gint64 now = g_get_monotonic_time ();

  if (now - run->last_step < STEP_US)
    return TRUE;
  run->last_step = now;
  return tell (run, run->done, error);
}

/* --- queries -------------------------------------------------------------- */

static gboolean
is_asked_for (const Run *run, FlamModuleId module)
{
  for (guint i = 0; i < run->options->n_modules; i++)
    if (run->options->modules[i] == module)
      return TRUE;
  return run->options->n_modules == 0;
}

/* Whether an importer named the generated code after its location: "[jit]". */
static gboolean
is_unnamed_jit (const FlamProfile *profile, FlamFunctionId function)
{
  return profile->functions.kind[function] == FLAM_KIND_JIT &&
         g_str_equal (flam_profile_function_name (profile, function), "[jit]");
}

static gboolean
wants_name (const Run *run, FlamFrameId frame)
{
  const FlamProfile *profile = run->profile;
  FlamFunctionId function = profile->frames.function[frame];
  FlamModuleId module = profile->functions.module[function];

  if (module == FLAM_NONE || profile->frames.address[frame] == 0 ||
      !is_asked_for (run, module))
    return FALSE;
  if (profile->functions.kind[function] == FLAM_KIND_UNRESOLVED ||
      is_unnamed_jit (profile, function))
    return TRUE;
  return run->options->detail == FLAM_SYMBOL_DETAIL_FULL &&
         profile->functions.kind[function] == FLAM_KIND_NATIVE &&
         (profile->modules.symbols[module] == FLAM_SYMBOLS_SYMTAB ||
          profile->modules.symbols[module] == FLAM_SYMBOLS_DYNSYM) &&
         profile->frames.inline_depth[frame] == 0 &&
         profile->frames.line[frame] == 0;
}

static int
compare_queries (gconstpointer a, gconstpointer b)
{
  const Query *x = a;
  const Query *y = b;

  if (x->module != y->module)
    return x->module < y->module ? -1 : 1;
  if (x->address != y->address)
    return x->address < y->address ? -1 : 1;
  return x->frame < y->frame ? -1 : x->frame > y->frame;
}

/* Replaced frames stay in the table; no stack refers to them. */
static guint8 *
find_used (const FlamProfile *profile)
{
  guint8 *used = g_new0 (guint8, MAX (profile->frames.n, 1));

  for (FlamId i = 0; i < profile->stacks.n; i++)
    used[profile->stacks.frame[i]] = TRUE;
  return used;
}

/* Sorted by module and address: one module is open at a time, and its units are
 * walked in order. */
static void
collect (Run *run)
{
  const FlamProfile *profile = run->profile;
  g_autofree guint8 *used = find_used (profile);

  run->queries = g_array_new (FALSE, FALSE, sizeof (Query));
  for (FlamId i = 0; i < profile->frames.n; i++)
    if (used[i] && wants_name (run, i))
      {
        Query query = {
          .module = profile->functions.module[profile->frames.function[i]],
          .frame = i,
          .address = profile->frames.address[i],
        };
        g_array_append_val (run->queries, query);
      }
  if (run->queries->len > 1)
    qsort (
        run->queries->data, run->queries->len, sizeof (Query), compare_queries);
}

/* --- answers ------------------------------------------------------------- */

static FlamFunctionId
add_function (Run *run,
              FlamModuleId module,
              const FlamSymbolFrame *frame,
              FlamFunctionKind kind)
{
  FlamBuilder *builder = run->builder;
  FlamFunction function = {
    .name = flam_builder_string (builder, frame->name, -1),
    .file = flam_builder_string (builder, frame->file, -1),
    .module = module,
    .line = frame->first_line,
    .kind = kind,
    .flags = frame->flags,
  };

  if (frame->system_name != frame->name)
    function.system_name =
        flam_builder_string (builder, frame->system_name, -1);
  return flam_builder_function (builder, &function);
}

static void
answer (Run *run,
        const Job *job,
        const Query *query,
        const FlamSymbolChain *chain)
{
  g_array_set_size (run->chain, 0);
  for (guint i = 0; i < chain->n; i++)
    {
      const FlamSymbolFrame *frame = &chain->frames[i];
      FlamId id = flam_builder_frame_in (
          run->builder,
          add_function (run, job->id, frame, chain->kind),
          query->address,
          flam_builder_string (run->builder,
                               frame->line_file ? frame->line_file
                                                : frame->file,
                               -1),
          frame->line,
          i);
      g_array_append_val (run->chain, id);
    }
  flam_builder_replace_frame (run->builder,
                              query->frame,
                              (const FlamId *)run->chain->data,
                              run->chain->len);
}

/* The frame keeps the name for unknown functions, but may be hidden. */
static void
flag_unnamed (Run *run, const Query *query, guint flags)
{
  const FlamFunctions *functions = &run->profile->functions;
  FlamId old = run->profile->frames.function[query->frame];
  FlamFunction function = {
    .name = flam_builder_string (
        run->builder, flam_profile_function_name (run->profile, old), -1),
    .module = query->module,
    .kind = functions->kind[old],
    .flags = functions->flags[old] | flags,
  };
  FlamFrameId frame;

  if (flags == 0 || functions->kind[old] != FLAM_KIND_UNRESOLVED)
    return;
  frame = flam_builder_frame (run->builder,
                              flam_builder_function (run->builder, &function),
                              query->address,
                              0,
                              0);
  flam_builder_replace_frame (run->builder, query->frame, &frame, 1);
}

/* --- the run ------------------------------------------------------------- */

static FlamSymbolTarget
describe (const FlamProfile *profile, FlamId id)
{
  const FlamModules *modules = &profile->modules;

  return (FlamSymbolTarget){
    .path = flam_profile_string (profile, modules->path[id]),
    .name = flam_profile_string (profile, modules->name[id]),
    .build_id = flam_profile_string (profile, modules->build_id[id]),
    .addressing = modules->addressing[id],
  };
}

static void
give_up (Run *run, const Job *job, const char *why)
{
  run->done += job->n;
  if (run->profile->modules.symbols[job->id] == FLAM_SYMBOLS_UNTRIED ||
      run->profile->modules.symbols[job->id] == FLAM_SYMBOLS_NONE)
    flam_builder_set_module_symbols (
        run->builder, job->id, FLAM_SYMBOLS_NONE, why);
}

static gboolean
ask_all (Run *run, const Job *job, FlamSymbols *symbols, GError **error)
{
  FlamSymbolState state;
  const char *why;

  for (guint i = 0; i < job->n; i++, run->done++)
    {
      const Query *query = &job->queries[i];
      FlamSymbolChain chain;

      if (!step (run, error))
        return FALSE;
      if (flam_symbols_look_up (symbols, query->address, G_MAXUINT64, &chain))
        answer (run, job, query, &chain);
      else
        flag_unnamed (run, query, chain.flags);
    }
  state = flam_symbols_get_state (symbols, &why);
  flam_builder_set_module_symbols (run->builder, job->id, state, why);
  return TRUE;
}

typedef struct
{
  Run *run;
  const Job *job;
} Opening;

/* A module's download is its whole share of the work: reading the file takes
 * little time in comparison. */
static gboolean
report_opening (gpointer data, double fraction)
{
  const Opening *opening = data;

  return tell (
      opening->run, opening->run->done + fraction * opening->job->n, NULL);
}

static gboolean
do_job (Run *run, const Job *job, GError **error)
{
  FlamSymbolTarget target = describe (run->profile, job->id);
  Opening opening = { run, job };
  FlamProgress progress = { report_opening, &opening };
  g_autoptr (GError) local = NULL;
  g_autoptr (FlamSymbols) symbols = NULL;

  run->sources.progress = &progress;
  symbols = flam_symbols_open (&run->sources, &target, &local);
  if (symbols)
    return ask_all (run, job, symbols, error);
  if (g_error_matches (local, FLAM_ERROR, FLAM_ERROR_CANCELLED))
    {
      g_propagate_error (error, g_steal_pointer (&local));
      return FALSE;
    }
  give_up (run, job, local->message);
  return TRUE;
}

static gboolean
do_all (Run *run, GError **error)
{
  const Query *queries = (const Query *)run->queries->data;

  for (guint first = 0, end; first < run->queries->len; first = end)
    {
      FlamId id = queries[first].module;
      Job job = { .id = id, .queries = queries + first };

      for (end = first; end < run->queries->len && queries[end].module == id;)
        end++;
      job.n = end - first;
      if (!step (run, error) || !do_job (run, &job, error))
        return FALSE;
    }
  return TRUE;
}

/* The time at which the programs were still the recorded ones. */
static gint64
known_unix_ns (const Run *run)
{
  gint64 start = run->profile->facts.start_unix_ns;
  const char *capture = run->options->capture;
  struct stat status;

  if (start > 0 || capture == NULL || stat (capture, &status) != 0 ||
      !S_ISREG (status.st_mode))
    return start;
  return flam_symbol_context_written (&status);
}

static void
open_sources (Run *run)
{
  const FlamSymbolOptions *options = run->options;

  run->sources = (FlamSymbolContext){
    .detail = options->detail,
    .binaries = options->binaries,
    .root = options->root,
    .this_boot = options->this_boot,
    .debuginfod = options->debuginfod,
    .start_unix_ns = run->profile->facts.start_unix_ns,
    .known_unix_ns = known_unix_ns (run),
    .warnings = g_ptr_array_new_with_free_func (g_free),
  };
}

static void
clear (Run *run)
{
  flam_builder_free (run->builder);
  flam_symbol_context_clear (&run->sources);
  g_array_free (run->queries, TRUE);
  g_array_free (run->chain, TRUE);
}

FlamProfile *
flam_symbolize (const FlamProfile *profile,
                const FlamSymbolOptions *options,
                const FlamProgress *progress,
                GError **error)
{
  static const FlamSymbolOptions plain = { 0 };
  Run run = {
    .profile = profile,
    .options = options ? options : &plain,
    .progress = progress,
  };
  g_autoptr (FlamProfile) result = NULL;

  collect (&run);
  if (run.queries->len == 0)
    {
      g_array_free (run.queries, TRUE);
      return flam_profile_ref (profile);
    }
  run.builder = flam_builder_new_edit (profile);
  run.chain = g_array_new (FALSE, FALSE, sizeof (FlamId));
  open_sources (&run);
  if (do_all (&run, error))
    {
      for (guint i = 0; i < run.sources.warnings->len; i++)
        flam_builder_warn (
            run.builder, "%s", (char *)run.sources.warnings->pdata[i]);
      result = flam_builder_finish (run.builder, error);
    }
  clear (&run);
  /* Now that functions have names. */
  return result != NULL ? flam_rank_waits_new (result) : NULL;
}
