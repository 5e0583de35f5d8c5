/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-symbolizer.h"

#include "flam-binaries.h"
#include "flam-debuginfod.h"
#include "flam-jit.h"
#include "flam-kallsyms.h"
#include "flam-vdso.h"

#include <stdlib.h>
#include <string.h>

#define STEP_US 10000

/* A frame that wants a name. */
typedef struct
{
  FlamId module;
  FlamId frame;
  guint64 address;
} Query;

typedef struct
{
  const FlamProfile *profile;
  const FlamSymbolOptions *options;
  const FlamProgress *progress;
  FlamBuilder *builder;
  FlamBinaries *binaries;
  FlamKallsyms *kallsyms;
  gboolean kallsyms_tried;
  char *kallsyms_why;
  FlamDebuginfod *debuginfod;
  gboolean debuginfod_tried;
  GArray *queries;
  guint done;
  double told; /* the fraction last reported: it only grows */
  gint64 last_step;
  GArray *chain; /* FlamId */
} Run;

/* The frames of one module. */
typedef struct
{
  FlamId id;
  const char *path;
  const char *name;
  const char *build_id;
  FlamAddressing addressing;
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

/* --- what is to be done -------------------------------------------------- */

static gboolean
is_asked_for (const Run *run, FlamId module)
{
  for (guint i = 0; i < run->options->n_modules; i++)
    if (run->options->modules[i] == module)
      return TRUE;
  return run->options->n_modules == 0;
}

/* Importers know generated code by where it lies: "[jit]". */
static gboolean
is_unnamed_jit (const FlamProfile *profile, FlamId function)
{
  return profile->functions.kind[function] == FLAM_KIND_JIT &&
         g_str_equal (flam_profile_function_name (profile, function), "[jit]");
}

static gboolean
wants_name (const Run *run, FlamId frame)
{
  const FlamProfile *profile = run->profile;
  FlamId function = profile->frames.function[frame];
  FlamId module = profile->functions.module[function];

  if (module == FLAM_NONE || profile->frames.address[frame] == 0 ||
      !is_asked_for (run, module))
    return FALSE;
  if (profile->functions.kind[function] == FLAM_KIND_UNRESOLVED ||
      is_unnamed_jit (profile, function))
    return TRUE;
  return run->options->detail == FLAM_SYMBOL_DETAIL_FULL &&
         profile->functions.kind[function] == FLAM_KIND_NATIVE &&
         profile->modules.symbols[module] == FLAM_SYMBOLS_SYMTAB &&
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

/* Frames that were replaced stay in the table; no stack leads to them. */
static guint8 *
find_used (const FlamProfile *profile)
{
  guint8 *used = g_new0 (guint8, MAX (profile->frames.n, 1));

  for (FlamId i = 0; i < profile->stacks.n; i++)
    used[profile->stacks.frame[i]] = TRUE;
  return used;
}

/* Sorted by module and address: one module is open at a time, and its units
 * are walked in order. */
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

static FlamId
add_function (Run *run,
              FlamId module,
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
        const FlamSymbolChain *chain,
        FlamFunctionKind kind)
{
  g_array_set_size (run->chain, 0);
  for (guint i = 0; i < chain->n; i++)
    {
      const FlamSymbolFrame *frame = &chain->frames[i];
      FlamId id = flam_builder_frame_in (
          run->builder,
          add_function (run, job->id, frame, kind),
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

/* It keeps the name that stands for none, but may be hidden. */
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
  FlamId frame;

  if (flags == 0 || functions->kind[old] != FLAM_KIND_UNRESOLVED)
    return;
  frame = flam_builder_frame (run->builder,
                              flam_builder_function (run->builder, &function),
                              query->address,
                              0,
                              0);
  flam_builder_replace_frame (run->builder, query->frame, &frame, 1);
}

static gboolean
ask_module (Run *run, const Job *job, FlamSymbolModule *module, GError **error)
{
  for (guint i = 0; i < job->n; i++)
    {
      const Query *query = &job->queries[i];
      FlamSymbolChain chain;

      if (!step (run, error))
        return FALSE;
      if (job->addressing == FLAM_ADDRESS_FILE_OFFSET
              ? flam_symbol_module_lookup_offset (
                    module, query->address, &chain)
              : flam_symbol_module_lookup (module, query->address, &chain))
        answer (run, job, query, &chain, FLAM_KIND_NATIVE);
      else
        flag_unnamed (
            run, query, flam_symbol_module_get_unnamed_flags (module));
      run->done++;
    }
  flam_builder_set_module_symbols (run->builder,
                                   job->id,
                                   flam_symbol_module_get_state (module),
                                   flam_symbol_module_get_why (module));
  return TRUE;
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

/* --- the kernel ---------------------------------------------------------- */

static gboolean
is_kernel (const Job *job)
{
  return g_str_has_prefix (job->name, "[kernel") ||
         g_str_has_prefix (job->path, "[kernel") ||
         (job->addressing == FLAM_ADDRESS_ABSOLUTE &&
          g_str_has_prefix (job->path, "/lib/modules/"));
}

static gboolean
kernel_may_be_asked (const Run *run, const Job *job, char **why)
{
  g_autofree char *own = flam_kernel_build_id ();

  if (*job->build_id && strcmp (job->build_id, own) != 0 &&
      !g_str_has_prefix (job->path, "/lib/modules/"))
    {
      *why = g_strdup_printf ("build id differs: recorded %s, the running "
                              "kernel has %s",
                              job->build_id,
                              *own ? own : "none");
      return FALSE;
    }
  if (!run->options->this_boot &&
      !flam_kernel_is_same_boot (run->profile->facts.start_unix_ns))
    {
      *why = g_strdup (
          run->profile->facts.start_unix_ns > 0
              ? "recorded on another boot: kernel addresses have moved"
              : "nothing says that it was recorded on this boot, and kernel "
                "addresses move");
      return FALSE;
    }
  return TRUE;
}

static void
open_kallsyms (Run *run)
{
  g_autoptr (GError) error = NULL;

  if (run->kallsyms_tried)
    return;
  run->kallsyms_tried = TRUE;
  run->kallsyms = flam_kallsyms_open (NULL, &error);
  if (!run->kallsyms)
    run->kallsyms_why = g_strdup (error->message);
}

static gboolean
ask_kernel (Run *run, const Job *job, GError **error)
{
  g_autofree char *why = NULL;

  if (!kernel_may_be_asked (run, job, &why))
    {
      give_up (run, job, why);
      return TRUE;
    }
  open_kallsyms (run);
  if (!run->kallsyms)
    {
      give_up (run, job, run->kallsyms_why);
      return TRUE;
    }
  for (guint i = 0; i < job->n; i++, run->done++)
    {
      const char *name =
          flam_kallsyms_find (run->kallsyms, job->queries[i].address);
      FlamSymbolFrame frame = { .name = name, .system_name = name, .file = "" };
      FlamSymbolChain chain = { 1, &frame, FLAM_SYMBOLS_SYMTAB };

      if (!step (run, error))
        return FALSE;
      if (name)
        answer (run, job, &job->queries[i], &chain, FLAM_KIND_KERNEL);
    }
  flam_builder_set_module_symbols (
      run->builder, job->id, FLAM_SYMBOLS_SYMTAB, NULL);
  return TRUE;
}

/* --- generated code ------------------------------------------------------ */

static gboolean
ask_jit (Run *run, const Job *job, gint32 pid, GError **error)
{
  g_autoptr (GError) local = NULL;
  gint64 start = run->profile->facts.start_unix_ns;
  gboolean here =
      start <= 0 || run->options->this_boot || flam_kernel_is_same_boot (start);
  g_autoptr (FlamJit) jit =
      here ? flam_jit_open_process (pid, NULL, start, &local) : NULL;

  if (!jit)
    {
      give_up (run,
               job,
               here ? local->message
                    : "recorded on another boot: what the process wrote of "
                      "its generated code is gone");
      return TRUE;
    }
  for (guint i = 0; i < job->n; i++, run->done++)
    {
      FlamJitFrame found;
      FlamSymbolFrame frame = { 0 };
      FlamSymbolChain chain = { 1, &frame, FLAM_SYMBOLS_SYMTAB };

      if (!step (run, error))
        return FALSE;
      if (!flam_jit_find (jit, job->queries[i].address, G_MAXUINT64, &found))
        continue;
      frame = (FlamSymbolFrame){ .name = found.name,
                                 .system_name = found.name,
                                 .file = found.file,
                                 .first_line = found.first_line,
                                 .line = found.line };
      answer (run, job, &job->queries[i], &chain, found.kind);
    }
  flam_builder_set_module_symbols (
      run->builder, job->id, FLAM_SYMBOLS_SYMTAB, NULL);
  return TRUE;
}

/* --- files --------------------------------------------------------------- */

/* "[stack]", "//anon", "/memfd:x": memory, not a file. */
static gboolean
is_memory (const char *path)
{
  return path[0] != '/' || g_str_has_prefix (path, "//") ||
         g_str_has_prefix (path, "/memfd:") ||
         g_str_has_prefix (path, "/SYSV") || g_str_has_prefix (path, "/dev/");
}

static FlamDebuginfod *
open_debuginfod (Run *run)
{
  g_autoptr (GError) error = NULL;

  if (!run->options->debuginfod || run->debuginfod_tried)
    return run->debuginfod;
  run->debuginfod_tried = TRUE;
  run->debuginfod = flam_debuginfod_new (&error);
  if (!run->debuginfod)
    flam_builder_warn (run->builder, "%s", error->message);
  return run->debuginfod;
}

typedef struct
{
  Run *run;
  const Job *job;
} Download;

/* A module's download is its whole share of the work: reading what came takes
 * no time beside it. */
static gboolean
report_download (gpointer data, double fraction)
{
  const Download *download = data;

  return tell (
      download->run, download->run->done + fraction * download->job->n, NULL);
}

/* FALSE only when cancelled. */
static gboolean
download (
    Run *run, const Job *job, gboolean executable, char **path, GError **error)
{
  FlamDebuginfod *debuginfod = *job->build_id ? open_debuginfod (run) : NULL;
  Download this = { run, job };
  FlamProgress progress = { report_download, &this };
  g_autoptr (GError) local = NULL;

  if (!debuginfod)
    return TRUE;
  *path = executable ? flam_debuginfod_find_executable (
                           debuginfod, job->build_id, &progress, &local)
                     : flam_debuginfod_find_debuginfo (
                           debuginfod, job->build_id, &progress, &local);
  if (!g_error_matches (local, FLAM_ERROR, FLAM_ERROR_CANCELLED))
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&local));
  return FALSE;
}

static FlamSymbolModule *
open_file (Run *run,
           const Job *job,
           const char *path,
           const char *debug_path,
           GError **error)
{
  FlamSymbolModuleOptions options = {
    .build_id = job->build_id,
    .debug_directories = run->options->binaries,
    .debug_path = debug_path,
    .detail = run->options->detail,
  };

  return flam_symbol_module_open (path, &options, error);
}

static gboolean
ask_file (Run *run, const Job *job, GError **error)
{
  g_autofree char *why = NULL;
  g_autofree char *path =
      flam_binaries_find (run->binaries, job->path, job->build_id, &why);
  g_autofree char *debug_path = NULL;
  g_autoptr (FlamSymbolModule) module = NULL;
  g_autoptr (GError) local = NULL;

  if (!path && !download (run, job, TRUE, &path, error))
    return FALSE;
  if (!path)
    {
      give_up (run, job, why);
      return TRUE;
    }
  module = open_file (run, job, path, NULL, &local);
  if (!module)
    {
      give_up (run, job, local->message);
      return TRUE;
    }
  if (run->options->debuginfod &&
      run->options->detail == FLAM_SYMBOL_DETAIL_FULL &&
      flam_symbol_module_get_state (module) != FLAM_SYMBOLS_DWARF)
    {
      if (!download (run, job, FALSE, &debug_path, error))
        return FALSE;
      if (debug_path)
        {
          flam_symbol_module_free (module);
          module = open_file (run, job, path, debug_path, error);
          if (!module)
            return FALSE;
        }
    }
  return ask_module (run, job, module, error);
}

static gboolean
ask_vdso (Run *run, const Job *job, GError **error)
{
  g_autoptr (FlamSymbolModule) module = NULL;

  if (*job->build_id || run->options->this_boot ||
      flam_kernel_is_same_boot (run->profile->facts.start_unix_ns))
    module = flam_vdso_open (job->build_id);
  if (module)
    return ask_module (run, job, module, error);
  give_up (run, job, "the vdso of the recorded kernel is not at hand");
  return TRUE;
}

/* --- the run ------------------------------------------------------------- */

static gboolean
do_job (Run *run, const Job *job, GError **error)
{
  gint32 pid;

  if (strcmp (job->name, "[vdso]") == 0)
    return ask_vdso (run, job, error);
  if (is_kernel (job))
    return ask_kernel (run, job, error);
  pid = flam_jit_module_pid (job->path);
  if (pid > 0)
    return ask_jit (run, job, pid, error);
  if (job->addressing == FLAM_ADDRESS_ABSOLUTE || is_memory (job->path))
    {
      give_up (run, job, "not a file: nothing names what ran there");
      return TRUE;
    }
  return ask_file (run, job, error);
}

static gboolean
do_all (Run *run, GError **error)
{
  const FlamModules *modules = &run->profile->modules;
  const Query *queries = (const Query *)run->queries->data;

  for (guint first = 0, end; first < run->queries->len; first = end)
    {
      FlamId id = queries[first].module;
      Job job = {
        .id = id,
        .path = flam_profile_string (run->profile, modules->path[id]),
        .name = flam_profile_string (run->profile, modules->name[id]),
        .build_id = flam_profile_string (run->profile, modules->build_id[id]),
        .addressing = modules->addressing[id],
        .queries = queries + first,
      };

      for (end = first; end < run->queries->len && queries[end].module == id;)
        end++;
      job.n = end - first;
      if (!step (run, error) || !do_job (run, &job, error))
        return FALSE;
    }
  return TRUE;
}

static void
clear (Run *run)
{
  flam_builder_free (run->builder);
  flam_binaries_free (run->binaries);
  flam_kallsyms_free (run->kallsyms);
  flam_debuginfod_free (run->debuginfod);
  g_free (run->kallsyms_why);
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
  FlamProfile *result = NULL;

  collect (&run);
  if (run.queries->len == 0)
    {
      g_array_free (run.queries, TRUE);
      return flam_profile_ref (profile);
    }
  run.builder = flam_builder_new_edit (profile);
  run.binaries = flam_binaries_new (run.options->binaries, run.options->root);
  run.chain = g_array_new (FALSE, FALSE, sizeof (FlamId));
  if (do_all (&run, error))
    result = flam_builder_finish (run.builder, error);
  clear (&run);
  return result;
}
