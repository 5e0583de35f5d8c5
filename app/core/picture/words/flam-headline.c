/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-headline.h"

#include "flam-format.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define NAME_MAX_CHARS 60
/* A function stands out if it has a tenth of the total. */
#define STANDS_OUT 10
/* The threads of a runtime wait all the time: the user's own code comes before
 * them if it has a hundredth of the time, and stands out within that. */
#define OWN_LEAST 100

/* Each pattern with a place, and without one. */
typedef struct
{
  const char *with_place;
  const char *alone;
} Patterns;

static const Patterns takes_self = {
  /* Translators: a function, its share, its place: "checksum takes 83 %
   * (mix.c:16)" */
  N_ ("%s takes %s (%s)"),
  N_ ("%s takes %s"),
};
static const Patterns takes_total = {
  /* Translators: a function, its share, its place */
  N_ ("%s takes %s, with the functions it calls (%s)"),
  N_ ("%s takes %s, with the functions it calls"),
};
static const Patterns spread = {
  /* Translators: a function, its share, its place */
  N_ ("No function stands out. The largest is %s with %s (%s)"),
  N_ ("No function stands out. The largest is %s with %s"),
};
/* Translators: a program, its share */
static const char one_program[] = N_ ("Of the programs, %s takes the most: %s");
/* Translators: a program, its share, in how many processes */
static const char many_processes[] =
    N_ ("Of the programs, %s takes the most: %s, in %s processes");
/* Translators: how many */
static const char too_few[] =
    N_ ("Too few samples (%s) to tell what takes the time");
/* Translators: a share */
static const char recording[] = N_ ("Recording itself takes %s");
static const Patterns unnamed = {
  /* Translators: a share, and the file of a program or library */
  N_ ("No function names for %s, most of it in %s"),
  N_ ("No function names for %s"),
};
/* Translators: a share, a function, its place: "62 % of the time waits for a
 * lock in queue_pop (queue.c:40)" */
static const Patterns waits[FLAM_N_STATES] = {
  [FLAM_STATE_LOCK] = { N_ ("%s of the time waits for a lock in %s (%s)"),
                        N_ ("%s of the time waits for a lock in %s") },
  [FLAM_STATE_IO] = { N_ ("%s of the time waits for input or output in %s "
                          "(%s)"),
                      N_ ("%s of the time waits for input or output in %s") },
  [FLAM_STATE_SLEEP] = { N_ ("%s of the time sleeps in %s (%s)"),
                         N_ ("%s of the time sleeps in %s") },
  [FLAM_STATE_BLOCKED] = { N_ ("%s of the time is off the CPU in %s (%s)"),
                           N_ ("%s of the time is off the CPU in %s") },
  [FLAM_STATE_RUNNABLE] = { N_ ("%s of the time waits for a CPU in %s (%s)"),
                            N_ ("%s of the time waits for a CPU in %s") },
  [FLAM_STATE_MPI] = { N_ ("%s of the time waits for other ranks in %s (%s)"),
                       N_ ("%s of the time waits for other ranks in %s") },
};
/* For a condition, a semaphore or the end of a thread. */
static const Patterns waits_for_thread = {
  N_ ("%s of the time waits for another thread in %s (%s)"),
  N_ ("%s of the time waits for another thread in %s"),
};
/* Such as a child that it started. */
static const Patterns waits_for_process = {
  N_ ("%s of the time waits for another process in %s (%s)"),
  N_ ("%s of the time waits for another process in %s"),
};
/* Translators: an amount of memory, a share of it, a function, its place */
static const Patterns peak = {
  N_ ("Peak %s, %s of it in %s (%s)"),
  N_ ("Peak %s, %s of it in %s"),
};
static const Patterns leaked = {
  N_ ("%s never freed, %s of it in %s (%s)"),
  N_ ("%s never freed, %s of it in %s"),
};
static const Patterns leaked_there = {
  N_ ("%s never freed, in %s (%s)"),
  N_ ("%s never freed, in %s"),
};
/* The recording ended before the program. */
static const Patterns live = {
  N_ ("%s in use at the end, %s of it in %s (%s)"),
  N_ ("%s in use at the end, %s of it in %s"),
};
static const Patterns amount = {
  /* Translators: a measure and its total, a share, a function, its place */
  N_ ("%s, %s of it in %s (%s)"),
  N_ ("%s, %s of it in %s"),
};
static const Patterns slowest_rank = {
  /* Translators: a process of a parallel job, a share, a function, its place */
  N_ ("Rank %s works %s more than the median of all ranks, most of it in %s "
      "(%s)"),
  N_ ("Rank %s works %s more than the median of all ranks, most of it in %s"),
};
/* Translators: a process of a parallel job, a share */
static const char slowest_rank_alone[] =
    N_ ("Rank %s works %s more than the median of all ranks");
static const Patterns more = {
  /* Translators: a function, a change, its place */
  N_ ("%s: %s more (%s)"),
  N_ ("%s: %s more"),
};
static const Patterns less = {
  N_ ("%s: %s less (%s)"),
  N_ ("%s: %s less"),
};

/* --- parts ---------------------------------------------------------------- */

static FlamSentence *
add_sentence (FlamHeadline *headline)
{
  g_assert (headline->n < FLAM_HEADLINE_SENTENCES);
  return &headline->sentence[headline->n++];
}

/* Takes ownership of `text`. */
static FlamHeadlinePart *
add_part (FlamSentence *sentence,
          FlamHeadlineKind kind,
          guint measure,
          FlamId function,
          char *text)
{
  FlamHeadlinePart *part = &sentence->part[sentence->n_parts++];

  *part = (FlamHeadlinePart){
    .kind = kind, .text = text, .measure = measure, .function = function
  };
  return part;
}

/* "83 %"; "9.1 %"; never 100 % for a part. */
static char *
share_text (gint64 part, gint64 whole)
{
  double percent = whole == 0 ? 0 : 100.0 * (double)part / (double)whole;
  g_autofree char *number = NULL;

  if (part == whole && whole != 0)
    return flam_format_percent_of ("100");
  if (percent >= 99.95)
    return flam_format_percent_of (">\u00a0"
                                   "99.9");
  if (percent < 9.95 || percent >= 99.5)
    return flam_format_percent (part, whole);
  number = g_strdup_printf ("%.0f", percent);
  return flam_format_percent_of (number);
}

static char *
short_name (const FlamProfile *profile, FlamId function)
{
  return flam_format_short_name (flam_profile_function_name (profile, function),
                                 NAME_MAX_CHARS);
}

/* --- costs ---------------------------------------------------------------- */

/* The weights of the shown stacks in one measure or one state of the
 * threads. */
typedef struct
{
  const FlamProfile *profile;
  const FlamShown *shown;
  const guint8 *own;
  guint measure;
  gint64 *weight; /* one per shown stack */
  gint64 total;
  FlamId recorder;    /* its function, or FLAM_NONE */
  guint8 *recorded;   /* per shown stack: in or below that function */
  gint64 recording;   /* the part of `total` there */
  gint64 needs;       /* what an own function has to be charged with */
  gboolean own_first; /* even if none has that much */
  FlamId *innermost;  /* per shown stack: the stack of its innermost own frame;
                       * none within the recorder */
  FlamId *within;     /* the same, of the function that a block is part of */
  gint64 *charged;    /* per function, by its innermost own frame */
  gint64 *self;       /* per function */
} Costs;

/* The function that stands for the library of the recorder. */
static FlamId
find_recorder (const FlamProfile *profile)
{
  for (FlamId i = 0; i < profile->functions.n; i++)
    if (strcmp (flam_profile_function_name (profile, i), FLAM_RECORDER_NAME) ==
            0 &&
        strcmp (flam_profile_module_name (profile, i), FLAM_RECORDER_LIBRARY) ==
            0)
      return i;
  return FLAM_NONE;
}

static FlamId
function_of (const Costs *costs, FlamId stack)
{
  return costs->profile->frames.function[costs->shown->frame[stack]];
}

/* Per shown stack: whether it is in the function or below it. */
static guint8 *
find_through (const Costs *costs, FlamId function)
{
  guint8 *through = g_new0 (guint8, costs->shown->n + 1);

  for (FlamId s = 0; s < costs->shown->n; s++)
    {
      FlamId prefix = costs->shown->prefix[s];

      through[s] = function_of (costs, s) == function ||
                   (prefix != FLAM_NONE && through[prefix]);
    }
  return through;
}

/* The name of the function whose text contains this one: "draw" of Ruby's
 * "block (2 levels) in draw" and "rescue in draw", and of Python's
 * "draw.<locals>.<listcomp>". NULL: it is a function of its own. */
static char *
enclosing_name (const char *name)
{
  static const char *const python[] = { ".<locals>.<listcomp>",
                                        ".<locals>.<setcomp>",
                                        ".<locals>.<dictcomp>",
                                        ".<locals>.<genexpr>" };
  const char *at = name;

  for (;;)
    {
      gulong levels;
      int read = 0;

      if (g_str_has_prefix (at, "block in "))
        read = strlen ("block in ");
      else if (g_str_has_prefix (at, "rescue in ") ||
               g_str_has_prefix (at, "ensure in "))
        read = strlen ("rescue in ");
      else if (sscanf (at, "block (%lu levels) in %n", &levels, &read) != 1)
        break;
      if (read == 0)
        break;
      at += read;
    }
  if (at != name)
    return g_strdup (at);
  for (guint i = 0; i < G_N_ELEMENTS (python); i++)
    if (g_str_has_suffix (name, python[i]))
      return g_strndup (name, strlen (name) - strlen (python[i]));
  return NULL;
}

/* The innermost own frame at `stack` or outside it that runs `name`. */
static FlamId
find_outer (const Costs *costs, FlamId stack, const char *name)
{
  while (stack != FLAM_NONE)
    {
      FlamId prefix = costs->shown->prefix[stack];

      if (strcmp (flam_profile_function_name (costs->profile,
                                              function_of (costs, stack)),
                  name) == 0)
        return stack;
      stack = prefix == FLAM_NONE ? FLAM_NONE : costs->innermost[prefix];
    }
  return FLAM_NONE;
}

/* Charges the stacks of a block to the function that it is part of: otherwise
 * what the function spends in it and around it would be two figures. */
static void
find_within (Costs *costs)
{
  const FlamShown *shown = costs->shown;
  const guint32 n = costs->profile->functions.n;
  g_autofree char **enclosing = g_new0 (char *, n + 1);

  for (FlamId i = 0; i < n; i++)
    if (costs->own[i])
      enclosing[i] =
          enclosing_name (flam_profile_function_name (costs->profile, i));
  for (FlamId s = 0; s < shown->n; s++)
    {
      FlamId at = costs->innermost[s];
      FlamId outer = FLAM_NONE;
      const char *name;

      costs->within[s] = at;
      if (at == FLAM_NONE)
        continue;
      name = enclosing[function_of (costs, at)];
      if (at != s)
        costs->within[s] = costs->within[at];
      else if (name != NULL && shown->prefix[s] != FLAM_NONE)
        outer = find_outer (costs, costs->innermost[shown->prefix[s]], name);
      if (outer != FLAM_NONE)
        costs->within[s] = outer;
    }
  for (FlamId i = 0; i < n; i++)
    g_free (enclosing[i]);
}

/* `weight` is one per stack of the profile. */
static void
costs_init (Costs *costs,
            const FlamProfile *profile,
            const FlamShown *shown,
            const guint8 *own,
            guint measure,
            const gint64 *weight,
            gint64 total)
{
  *costs = (Costs){ .profile = profile,
                    .shown = shown,
                    .own = own,
                    .measure = measure,
                    .total = total,
                    .recorder = find_recorder (profile) };
  costs->weight = flam_shown_sum (shown, profile->stacks.n, weight);
  costs->innermost = g_new (FlamId, shown->n + 1);
  costs->within = g_new (FlamId, shown->n + 1);
  costs->charged = g_new0 (gint64, profile->functions.n + 1);
  costs->self = g_new0 (gint64, profile->functions.n + 1);
  costs->recorded = flam_shown_in_recorder (shown, profile);
  for (FlamId s = 0; s < shown->n; s++)
    {
      FlamId function = function_of (costs, s);
      FlamId prefix = shown->prefix[s];

      if (costs->recorded[s])
        {
          costs->innermost[s] = FLAM_NONE;
          costs->recording += costs->weight[s];
          continue;
        }
      costs->innermost[s] = own[function]         ? s
                            : prefix == FLAM_NONE ? FLAM_NONE
                                                  : costs->innermost[prefix];
      costs->self[function] += costs->weight[s];
    }
  find_within (costs);
  for (FlamId s = 0; s < shown->n; s++)
    if (costs->within[s] != FLAM_NONE)
      costs->charged[function_of (costs, costs->within[s])] += costs->weight[s];
  costs->needs = (total - costs->recording) / STANDS_OUT;
}

static void
costs_clear (Costs *costs)
{
  g_free (costs->weight);
  g_free (costs->recorded);
  g_free (costs->innermost);
  g_free (costs->within);
  g_free (costs->charged);
  g_free (costs->self);
}

/* Code with a name; neither a thread nor an address. */
static gboolean
is_named (const FlamProfile *profile, FlamId function)
{
  FlamFunctionKind kind = profile->functions.kind[function];
  const char *name = flam_profile_function_name (profile, function);

  return kind != FLAM_KIND_UNRESOLVED && kind != FLAM_KIND_ROOT &&
         kind != FLAM_KIND_WAKER && flam_own_code_is_name (name);
}

/* The heaviest, ties by name; FLAM_NONE: none has any weight. */
static FlamId
heaviest (const Costs *costs, const gint64 *weight, gboolean of_own)
{
  const FlamProfile *profile = costs->profile;
  FlamId best = FLAM_NONE;

  for (FlamId i = 0; i < profile->functions.n; i++)
    {
      if (weight[i] <= 0 || !(of_own ? costs->own[i] : is_named (profile, i)))
        continue;
      if (best == FLAM_NONE || weight[i] > weight[best] ||
          (weight[i] == weight[best] &&
           strcmp (flam_profile_function_name (profile, i),
                   flam_profile_function_name (profile, best)) < 0))
        best = i;
    }
  return best;
}

/* Every stack counts once. */
static gint64
total_of (const Costs *costs, FlamId function)
{
  g_autofree guint8 *through = find_through (costs, function);
  gint64 total = 0;

  for (FlamId s = 0; s < costs->shown->n; s++)
    if (through[s])
      total += costs->weight[s];
  return total;
}

/* The part of it that is not the recorder's. */
static gint64
work_of (const Costs *costs, FlamId function)
{
  g_autofree guint8 *through = find_through (costs, function);
  gint64 work = 0;

  for (FlamId s = 0; s < costs->shown->n; s++)
    if (through[s] && !costs->recorded[s])
      work += costs->weight[s];
  return work;
}

/* The line of the function that is charged most, by its own cost, or including
 * the cost of other people's code that it calls. */
static void
find_line (const Costs *costs,
           FlamId function,
           gboolean by_self,
           FlamId *file,
           guint32 *line)
{
  const FlamFrames *frames = &costs->profile->frames;
  g_autoptr (GHashTable) sums =
      g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, g_free);
  gint64 most = 0;

  *file = 0;
  *line = 0;
  for (FlamId s = 0; s < costs->shown->n; s++)
    {
      FlamId at = by_self ? s : costs->innermost[s];
      FlamId of = by_self ? s : costs->within[s];
      FlamId frame;
      gint64 key, *sum;

      if (at == FLAM_NONE || costs->weight[s] == 0 ||
          function_of (costs, of) != function)
        continue;
      frame = costs->shown->frame[at];
      if (frames->line[frame] == 0 || frames->file[frame] == 0)
        continue;
      key = (gint64)((guint64)frames->file[frame] << 32 | frames->line[frame]);
      sum = g_hash_table_lookup (sums, &key);
      if (sum == NULL)
        {
          sum = g_new0 (gint64, 1);
          g_hash_table_insert (sums, g_memdup2 (&key, sizeof key), sum);
        }
      *sum += costs->weight[s];
      if (*sum > most || (*sum == most && frames->line[frame] < *line))
        {
          most = *sum;
          *file = frames->file[frame];
          *line = frames->line[frame];
        }
    }
}

/* --- sentences ------------------------------------------------------------ */

typedef struct
{
  FlamId function;
  gboolean own;
  gboolean by_self; /* `value` is its self; otherwise its total */
  gint64 value;
  FlamId file;
  guint32 line;
} Finding;

/* Which figure of an own function tells what it is charged with: its total if
 * most of that is in other people's code, or if the total is closer to it than
 * the self, by more than two percent of all. */
static gboolean
is_by_self (const Costs *costs, FlamId function)
{
  gint64 charged = costs->charged[function];
  gint64 self = costs->self[function];
  gint64 rest = charged - self;

  if (self < rest)
    return FALSE;
  return rest <= work_of (costs, function) - charged + costs->total / 50;
}

static gboolean
find (const Costs *costs, Finding *found)
{
  FlamId own = heaviest (costs, costs->charged, TRUE);
  FlamId any = heaviest (costs, costs->self, FALSE);

  *found = (Finding){ .function = FLAM_NONE };
  found->own = own != FLAM_NONE &&
               (costs->own_first || costs->charged[own] >= costs->needs);
  found->function = found->own ? own : any;
  if (found->function == FLAM_NONE)
    return FALSE;
  found->by_self = !found->own || is_by_self (costs, own);
  found->value = found->by_self ? costs->self[found->function]
                                : total_of (costs, found->function);
  find_line (
      costs, found->function, found->by_self, &found->file, &found->line);
  return TRUE;
}

/* "mix.c:16"; without a line, the module; or nothing. */
static char *
place_text (const FlamProfile *profile, const Finding *found)
{
  g_autofree char *name = NULL;
  g_autofree char *visible = NULL;

  if (found->line == 0)
    {
      const char *module = flam_profile_module_name (profile, found->function);

      return *module != '\0' ? flam_format_visible (module) : NULL;
    }
  name = g_path_get_basename (flam_profile_string (profile, found->file));
  visible = flam_format_visible (name);
  return g_strdup_printf ("%s:%u", visible, found->line);
}

static void
add_name (FlamSentence *sentence, const Costs *costs, const Finding *found)
{
  add_part (sentence,
            FLAM_HEADLINE_FUNCTION,
            costs->measure,
            found->function,
            short_name (costs->profile, found->function));
}

static void
add_share (FlamSentence *sentence,
           const Costs *costs,
           const Finding *found,
           gint64 whole)
{
  add_part (sentence,
            FLAM_HEADLINE_FUNCTION,
            costs->measure,
            found->function,
            share_text (found->value, whole));
}

/* The last part, if there is a place, and the pattern that goes with it. */
static void
end_sentence (FlamSentence *sentence,
              const Costs *costs,
              const Finding *found,
              const Patterns *patterns)
{
  char *place = place_text (costs->profile, found);
  FlamHeadlinePart *part;

  sentence->pattern = place != NULL ? patterns->with_place : patterns->alone;
  if (place == NULL)
    return;
  part = add_part (
      sentence, FLAM_HEADLINE_PLACE, costs->measure, found->function, place);
  part->file = found->line != 0 ? found->file : 0;
  part->line = found->line;
}

/* The weight of addresses without a name, and the module with most of it. */
static gint64
find_unnamed (const Costs *costs, FlamId *module)
{
  const FlamFunctions *functions = &costs->profile->functions;
  g_autofree gint64 *sums = g_new0 (gint64, costs->profile->modules.n + 1);
  gint64 sum = 0;

  *module = FLAM_NONE;
  for (FlamId i = 0; i < functions->n; i++)
    {
      FlamId in = functions->module[i];

      if (functions->kind[i] != FLAM_KIND_UNRESOLVED)
        continue;
      sum += costs->self[i];
      if (in == FLAM_NONE)
        continue;
      sums[in] += costs->self[i];
      if (*module == FLAM_NONE || sums[in] > sums[*module])
        *module = in;
    }
  return sum;
}

static gboolean
add_unnamed (FlamHeadline *headline, const Costs *costs)
{
  FlamSentence *sentence;
  FlamId module;
  gint64 sum = find_unnamed (costs, &module);
  gboolean most;

  if (sum <= (costs->total - costs->recording) / 2)
    return FALSE;
  sentence = add_sentence (headline);
  add_part (sentence,
            FLAM_HEADLINE_QUALITY,
            costs->measure,
            FLAM_NONE,
            share_text (sum, costs->total));
  most = module != FLAM_NONE;
  if (most)
    add_part (sentence,
              FLAM_HEADLINE_MODULE,
              costs->measure,
              FLAM_NONE,
              flam_format_visible (flam_profile_string (
                  costs->profile, costs->profile->modules.name[module])))
        ->what = module;
  sentence->pattern = most ? unnamed.with_place : unnamed.alone;
  return TRUE;
}

/* The weight of all code with a name. */
static gint64
named_self (const Costs *costs)
{
  gint64 sum = 0;

  for (FlamId i = 0; i < costs->profile->functions.n; i++)
    if (is_named (costs->profile, i))
      sum += costs->self[i];
  return sum;
}

/* So few samples of a clock show nothing but chance; a wait is as long as its
 * sample. */
static gboolean
add_too_few (FlamHeadline *headline,
             const FlamProfile *profile,
             const FlamSelection *selection,
             guint measure)
{
  FlamSentence *sentence;
  g_autofree gint64 *counts = NULL;

  if (*profile->facts.engine == '\0' || profile->samples.state != NULL)
    return FALSE;
  counts = flam_weights_count_samples (profile, selection);
  if (counts[profile->threads.n] >= FLAM_FACTS_FEW)
    return FALSE;
  sentence = add_sentence (headline);
  sentence->pattern = too_few;
  add_part (sentence,
            FLAM_HEADLINE_QUALITY,
            measure,
            FLAM_NONE,
            g_strdup_printf ("%" G_GINT64_FORMAT, counts[profile->threads.n]));
  return TRUE;
}

static void
add_samples (FlamHeadline *headline, const Costs *costs)
{
  FlamSentence *sentence;
  const Patterns *patterns = &takes_self;
  Finding found;
  gboolean any = find (costs, &found);
  gint64 work;

  if (!(any && found.own) && add_unnamed (headline, costs))
    return;
  if (!any)
    return;
  work = costs->total - costs->recording;
  if (found.value < (found.own ? costs->needs : work / STANDS_OUT))
    {
      if (!found.own && named_self (costs) < work / 2)
        return;
      patterns = &spread;
    }
  else if (!found.by_self)
    patterns = &takes_total;
  sentence = add_sentence (headline);
  add_name (sentence, costs, &found);
  add_share (sentence, costs, &found, costs->total);
  end_sentence (sentence, costs, &found, patterns);
}

typedef struct
{
  FlamStringId name;
  gint64 sum;
  guint n_processes;
} Program;

static int
compare_programs (gconstpointer a, gconstpointer b)
{
  const Program *one = a, *two = b;

  return one->name < two->name ? -1 : one->name > two->name;
}

/* The processes by name, each with what its processes weigh together. */
static GArray *
find_programs (const FlamProfile *profile, const FlamSelection *selection)
{
  const FlamThreads *threads = &profile->threads;
  g_autofree gint64 *by_thread = flam_weights_by_thread (profile, selection);
  g_autofree gint64 *sums = g_new0 (gint64, profile->processes.n + 1);
  GArray *programs = g_array_new (FALSE, FALSE, sizeof (Program));
  guint n = 0;

  for (FlamId t = 0; t < threads->n; t++)
    if (threads->process[t] != FLAM_NONE &&
        flam_selection_has_thread (selection, t))
      sums[threads->process[t]] += by_thread[t];
  for (FlamId p = 0; p < profile->processes.n; p++)
    if (sums[p] > 0)
      {
        Program program = { profile->processes.name[p], sums[p], 1 };

        g_array_append_val (programs, program);
      }
  g_array_sort (programs, compare_programs);
  for (guint i = 0; i < programs->len; i++)
    {
      const Program *program = &g_array_index (programs, Program, i);
      Program *last = n > 0 ? &g_array_index (programs, Program, n - 1) : NULL;

      if (last != NULL && last->name == program->name)
        {
          last->sum += program->sum;
          last->n_processes++;
        }
      else
        g_array_index (programs, Program, n++) = *program;
    }
  g_array_set_size (programs, n);
  return programs;
}

/* Where no function stands out, one of several programs may: it does if it has
 * half of the time. */
static void
add_program (FlamHeadline *headline,
             const Costs *costs,
             const FlamSelection *selection)
{
  g_autoptr (GArray) programs = NULL;
  const Program *most = NULL;
  FlamSentence *sentence;

  if (headline->n != 1 || costs->profile->processes.n < 2 ||
      (headline->sentence[0].pattern != spread.with_place &&
       headline->sentence[0].pattern != spread.alone))
    return;
  programs = find_programs (costs->profile, selection);
  for (guint i = 0; i < programs->len; i++)
    {
      const Program *program = &g_array_index (programs, Program, i);

      if (most == NULL || program->sum > most->sum)
        most = program;
    }
  if (programs->len < 2 || most->name == 0 || most->sum < costs->total / 2)
    return;
  sentence = add_sentence (headline);
  sentence->pattern = most->n_processes > 1 ? many_processes : one_program;
  add_part (
      sentence,
      FLAM_HEADLINE_PROGRAM,
      costs->measure,
      FLAM_NONE,
      flam_format_visible (flam_profile_string (costs->profile, most->name)));
  add_part (sentence,
            FLAM_HEADLINE_PROGRAM,
            costs->measure,
            FLAM_NONE,
            share_text (most->sum, costs->total));
  if (most->n_processes > 1)
    add_part (sentence,
              FLAM_HEADLINE_PROGRAM,
              costs->measure,
              FLAM_NONE,
              g_strdup_printf ("%u", most->n_processes));
  for (guint i = 0; i < sentence->n_parts; i++)
    sentence->part[i].what = most->name;
}

/* Where the recorder takes a tenth, its figure stands beside those that include
 * it. */
static void
add_recording (FlamHeadline *headline, const Costs *costs)
{
  FlamSentence *sentence;

  if (costs->recording == 0 || costs->recording < costs->total / STANDS_OUT)
    return;
  sentence = add_sentence (headline);
  sentence->pattern = recording;
  add_part (sentence,
            FLAM_HEADLINE_FUNCTION,
            costs->measure,
            costs->recorder,
            share_text (costs->recording, costs->total));
}

/* The weights of one state. */
static gint64 *
weights_of_state (const FlamWeights *weights, FlamState state)
{
  guint32 n = weights->profile->stacks.n;
  gint64 *weight = g_new0 (gint64, n + 1);

  for (FlamId s = 0; s < n; s++)
    weight[s] = weights->split[s].weight[state];
  return weight;
}

/* The state with the most weight within the user's own code, or, where that has
 * hardly any, in all code. */
static FlamState
longest_state (const FlamWeights *weights,
               const FlamShown *shown,
               const guint8 *own,
               gint64 *in_own_code)
{
  const FlamProfile *profile = weights->profile;
  g_autofree guint8 *within = g_new0 (guint8, shown->n + 1);
  gint64 all[FLAM_N_STATES] = { 0 };
  gint64 in_own[FLAM_N_STATES] = { 0 };
  gint64 own_sum = 0;
  const gint64 *sum;
  FlamState most = FLAM_STATE_RUNNING;

  for (FlamId s = 0; s < shown->n; s++)
    {
      FlamId prefix = shown->prefix[s];

      within[s] = own[profile->frames.function[shown->frame[s]]] ||
                  (prefix != FLAM_NONE && within[prefix]);
    }
  for (FlamId s = 0; s <= profile->stacks.n; s++)
    {
      FlamId to = s < profile->stacks.n ? flam_shown_of (shown, s) : FLAM_NONE;

      for (guint i = 0; i < FLAM_N_STATES; i++)
        {
          all[i] += weights->split[s].weight[i];
          if (to != FLAM_NONE && within[to])
            in_own[i] += weights->split[s].weight[i];
        }
    }
  for (guint i = 0; i < FLAM_N_STATES; i++)
    own_sum += in_own[i];
  *in_own_code = own_sum >= weights->total / OWN_LEAST ? own_sum : 0;
  sum = *in_own_code > 0 ? in_own : all;
  for (guint i = 0; i < FLAM_N_STATES; i++)
    if (sum[i] > sum[most])
      most = i;
  return most;
}

/* Whether the measure's weights are lengths of time. */
static gboolean
is_time (const FlamProfile *profile, guint measure)
{
  return profile->measures[measure].unit == FLAM_UNIT_NS;
}

/* Of code that is not the user's: the function that the thread began with is
 * named, and not the one at the end of all waits. */
static gboolean
find_thread (const Costs *costs, Finding *found)
{
  const FlamProfile *profile = costs->profile;
  const FlamShown *shown = costs->shown;
  g_autofree gint64 *charged = g_new0 (gint64, profile->functions.n + 1);
  g_autofree FlamId *first = g_new (FlamId, shown->n + 1);

  for (FlamId s = 0; s < shown->n; s++)
    {
      FlamId prefix = shown->prefix[s];
      FlamId function = function_of (costs, s);

      first[s] = prefix != FLAM_NONE ? first[prefix] : FLAM_NONE;
      if (first[s] == FLAM_NONE && is_named (profile, function) &&
          !flam_own_code_is_start (
              flam_profile_function_name (profile, function)))
        first[s] = function;
      if (first[s] != FLAM_NONE)
        charged[first[s]] += costs->weight[s];
    }
  *found = (Finding){ .function = heaviest (costs, charged, FALSE) };
  if (found->function == FLAM_NONE)
    return FALSE;
  found->value = total_of (costs, found->function);
  return TRUE;
}

/* A wait for a lock goes through a function that locks; one for a condition, a
 * semaphore, a thread's end or a time is a futex of the kernel, too. One for a
 * process has no state of its own. The outermost function that is named so
 * decides. */
typedef enum
{
  WAIT_UNKNOWN,
  WAIT_LOCK,
  WAIT_THREAD,
  WAIT_SLEEP,
  WAIT_PROCESS,
  N_WAITS
} Wait;

static Wait
wait_of_name (const char *name)
{
  static const char *const for_thread[] = {
    "cond_",     "condition", "Condition", "join",       "sem_",
    "semaphore", "Semaphore", "barrier",   "Barrier",    "Monitor::wait",
    "latch",     "Latch",     "future",    "MonitorWait"
  };
  static const char *const for_lock[] = {
    "mutex", "Mutex", "Monitor::enter", "monitorenter", "Lock"
  };
  static const char *const for_process[] = {
    "wait",      "wait3",   "wait4",   "waitpid",  "waitid", "__wait",
    "__waitpid", "__wait3", "__wait4", "__waitid", NULL,
  };

  if (g_strv_contains (for_process, name))
    return WAIT_PROCESS;
  if (strstr (name, "sleep") != NULL || strstr (name, "Sleep") != NULL)
    return WAIT_SLEEP;
  for (guint i = 0; i < G_N_ELEMENTS (for_thread); i++)
    if (strstr (name, for_thread[i]) != NULL)
      return WAIT_THREAD;
  for (guint i = 0; i < G_N_ELEMENTS (for_lock); i++)
    if (strstr (name, for_lock[i]) != NULL)
      return WAIT_LOCK;
  for (const char *at = name; (at = strstr (at, "lock")) != NULL; at++)
    if (at == name || (at[-1] != 'b' && at[-1] != 'c'))
      return WAIT_LOCK;
  return WAIT_UNKNOWN;
}

/* How most of the weight below a function waits. */
static const Patterns *
words_of_wait (const Costs *costs, FlamId function, FlamState state)
{
  const FlamShown *shown = costs->shown;
  g_autofree guint8 *through = g_new0 (guint8, shown->n + 1);
  g_autofree guint8 *wait = g_new0 (guint8, shown->n + 1);
  gint64 sum[N_WAITS] = { 0 };
  gint64 all = 0;

  for (FlamId s = 0; s < shown->n; s++)
    {
      FlamId prefix = shown->prefix[s];
      FlamId at = function_of (costs, s);
      gboolean before = prefix != FLAM_NONE && through[prefix];

      through[s] = before || at == function;
      if (before)
        wait[s] = wait[prefix];
      if (before && at != function && wait[s] == WAIT_UNKNOWN)
        wait[s] = (guint8)wait_of_name (
            flam_profile_function_name (costs->profile, at));
      if (!through[s])
        continue;
      sum[wait[s]] += costs->weight[s];
      all += costs->weight[s];
    }
  if (state == FLAM_STATE_BLOCKED)
    return sum[WAIT_PROCESS] > all / 2 ? &waits_for_process : &waits[state];
  if (state != FLAM_STATE_LOCK)
    return &waits[state];
  sum[WAIT_LOCK] += sum[WAIT_UNKNOWN];
  if (sum[WAIT_SLEEP] > MAX (sum[WAIT_LOCK], sum[WAIT_THREAD]))
    return &waits[FLAM_STATE_SLEEP];
  return sum[WAIT_THREAD] > sum[WAIT_LOCK] ? &waits_for_thread
                                           : &waits[FLAM_STATE_LOCK];
}

static void
prefer_own (Costs *costs, gint64 in_own_code)
{
  costs->own_first = in_own_code > 0;
  if (costs->own_first)
    costs->needs = in_own_code / STANDS_OUT;
}

/* FALSE: what runs is longer. `in_own_code`: the time in it; 0: hardly any. */
static gboolean
add_waiting (FlamHeadline *headline,
             const FlamWeights *weights,
             const FlamShown *shown,
             const guint8 *own,
             guint measure,
             gint64 *in_own_code)
{
  g_autofree gint64 *of_state = NULL;
  FlamSentence *sentence;
  FlamState state;
  Costs costs;
  Finding found;

  if (weights->split == NULL || !is_time (weights->profile, measure))
    return FALSE;
  state = longest_state (weights, shown, own, in_own_code);
  if (state == FLAM_STATE_RUNNING)
    return FALSE;
  of_state = weights_of_state (weights, state);
  costs_init (
      &costs, weights->profile, shown, own, measure, of_state, weights->total);
  prefer_own (&costs, *in_own_code);
  if ((*in_own_code > 0 ? find (&costs, &found)
                        : find_thread (&costs, &found)) &&
      found.value >= costs.needs)
    {
      sentence = add_sentence (headline);
      add_share (sentence, &costs, &found, weights->total);
      add_name (sentence, &costs, &found);
      end_sentence (sentence,
                    &costs,
                    &found,
                    words_of_wait (&costs, found.function, state));
    }
  costs_clear (&costs);
  return headline->n > 0;
}

/* --- memory --------------------------------------------------------------- */

/* Shares of few samples: unless these are of blocks so large that hardly any
 * are unseen. */
static gboolean
are_few (const FlamWeights *weights,
         const FlamFigure *figure,
         const FlamEstimate *estimate,
         gboolean is_bytes)
{
  double variance = is_bytes ? figure->spread.bytes : figure->spread.blocks;

  /* The capture has sums, not blocks. */
  if (weights->spread == NULL)
    return flam_estimate_is_few (estimate);
  return figure->spread.samples + 0.5 < FLAM_FACTS_FEW &&
         2 * sqrt (variance) > (double)figure->weight / STANDS_OUT;
}

/* "12.1 MB ± 3.2 MB", and whether a share of it can be relied on. */
static char *
estimated (const FlamWeights *weights,
           const FlamMeasure *measure,
           gboolean *rough,
           gboolean *few)
{
  const FlamFigure figure = flam_weights_figure (weights);
  FlamEstimate estimate =
      flam_estimate_of_figure (&weights->profile->facts, measure, figure);

  *rough = weights->profile->facts.sample_bytes > 0;
  *few =
      *rough &&
      are_few (weights, &figure, &estimate, measure->unit == FLAM_UNIT_BYTES);
  return measure->unit == FLAM_UNIT_BYTES
             ? flam_format_estimate (&estimate, weights->total, FLAM_UNIT_BYTES)
             : flam_format_weight (measure, weights->total);
}

/* Whether the program ran on after the recording. */
static gboolean
outlived (const FlamFacts *facts)
{
  return g_strcmp0 (facts->format, "flambeau") == 0 &&
         flam_facts_other (facts, FLAM_FACT_MODE) != NULL &&
         flam_facts_other (facts, FLAM_FACT_EXIT_STATUS) == NULL;
}

static void
add_amount (FlamHeadline *headline,
            const Costs *costs,
            const FlamWeights *weights,
            const FlamMeasure *measure)
{
  FlamSentence *sentence = add_sentence (headline);
  FlamMeasureSource source = measure->source;
  gboolean rough, few, there;
  g_autofree char *text = estimated (weights, measure, &rough, &few);
  Finding found;
  const Patterns *patterns = &amount;
  FlamHeadlinePart *share;

  if (source == FLAM_FROM_PEAK || source == FLAM_FROM_PEAK_USEFUL)
    patterns = &peak;
  else if (source == FLAM_FROM_LEAKED)
    patterns = outlived (&costs->profile->facts) ? &live : &leaked;
  else
    {
      g_autofree char *name = flam_format_visible (
          flam_profile_string (costs->profile, measure->name));
      char *named = g_strdup_printf ("%s: %s", name, text);

      g_free (text);
      text = named;
    }
  add_part (sentence,
            FLAM_HEADLINE_MEASURE,
            costs->measure,
            FLAM_NONE,
            g_strdup (text));
  /* Translators: an amount of memory */
  sentence->pattern = patterns == &peak     ? N_ ("Peak %s")
                      : patterns == &leaked ? N_ ("%s never freed")
                      : patterns == &live   ? N_ ("%s in use at the end")
                                            : "%s";
  if (few || !find (costs, &found) || found.value <= 0 ||
      (!found.own && found.value < costs->total / STANDS_OUT))
    return;
  there = found.value == costs->total && !rough && patterns == &leaked;
  if (there)
    patterns = &leaked_there;
  else
    {
      add_share (sentence, costs, &found, costs->total);
      share = &sentence->part[sentence->n_parts - 1];
      if (rough)
        {
          char *about = g_strconcat ("≈\u00a0", share->text, NULL);

          g_free (share->text);
          share->text = about;
        }
    }
  add_name (sentence, costs, &found);
  end_sentence (sentence, costs, &found, patterns);
}

/* One measure of memory. FALSE only when cancelled. */
static gboolean
add_memory (FlamHeadline *headline,
            const FlamProfile *profile,
            const FlamSelection *selection,
            const FlamShown *shown,
            const guint8 *own,
            guint measure,
            const FlamProgress *progress,
            GError **error)
{
  g_autoptr (FlamSelection) of = flam_selection_copy (selection);
  g_autoptr (FlamWeights) weights = NULL;
  FlamMeasure shape;
  Costs costs;

  of->measure = measure;
  weights = flam_weights_new (profile, of, progress, error);
  if (weights == NULL)
    return FALSE;
  if (weights->total <= 0)
    return TRUE;
  shape = flam_selection_measure (of, profile, measure);
  costs_init (
      &costs, profile, shown, own, measure, weights->weight, weights->total);
  add_amount (headline, &costs, weights, &shape);
  costs_clear (&costs);
  return TRUE;
}

/* --- ranks ---------------------------------------------------------------- */

/* Per stack: the work of a rank, without its waits for the others. NULL only
 * when cancelled. */
static gint64 *
weights_of_rank (const FlamProfile *profile,
                 const FlamSelection *selection,
                 guint32 rank,
                 const FlamProgress *progress,
                 GError **error)
{
  g_autoptr (FlamSelection) own = flam_selection_copy (selection);
  g_autoptr (FlamWeights) weights = NULL;
  gint64 *weight;

  flam_selection_no_threads (own);
  for (FlamId t = 0; t < profile->threads.n; t++)
    if (profile->processes.rank[profile->threads.process[t]] == rank + 1 &&
        flam_selection_has_thread (selection, t))
      flam_selection_add_thread (own, t);
  own->states &= ~(1u << FLAM_STATE_MPI);
  weights = flam_weights_new (profile, own, progress, error);
  if (weights == NULL)
    return NULL;
  weight = g_new0 (gint64, (gsize)profile->stacks.n + 1);
  for (FlamId s = 0; s < profile->stacks.n; s++)
    weight[s] = weights->weight[s];
  return weight;
}

/* The rank that is closest to the median. */
static guint
find_usual (const FlamBalance *balance, gint64 median)
{
  guint best = 0;

  for (guint i = 1; i < balance->n_ranks; i++)
    if (ABS (balance->value[i] - median) < ABS (balance->value[best] - median))
      best = i;
  return best;
}

static void
add_slowest (FlamHeadline *headline,
             const FlamBalance *balance,
             const FlamShown *shown,
             const guint8 *own,
             guint measure,
             const gint64 *extra)
{
  const FlamBalanceSpread *work = &balance->columns[0];
  gint64 lost = flam_balance_lost (work);
  FlamSentence *sentence = add_sentence (headline);
  Costs costs;
  Finding found;

  add_part (sentence,
            FLAM_HEADLINE_RANK,
            measure,
            FLAM_NONE,
            g_strdup_printf ("%u", balance->ranks[work->slowest].rank))
      ->what = balance->ranks[work->slowest].rank;
  add_part (sentence,
            FLAM_HEADLINE_BALANCE,
            measure,
            FLAM_NONE,
            share_text (lost, work->median));
  sentence->pattern = slowest_rank_alone;
  costs_init (&costs, balance->profile, shown, own, measure, extra, lost);
  if (find (&costs, &found) && found.value > lost / 2)
    {
      add_name (sentence, &costs, &found);
      end_sentence (sentence, &costs, &found, &slowest_rank);
    }
  costs_clear (&costs);
}

/* Of a job of which one rank works longer than the others: that it does, and
 * where. */
static gboolean
add_ranks (FlamHeadline *headline,
           const FlamProfile *profile,
           const FlamSelection *selection,
           const FlamShown *shown,
           const guint8 *own,
           const FlamProgress *progress,
           GError **error)
{
  const FlamBalanceWanted wanted = { .columns = 1 };
  g_autoptr (FlamBalance) balance = NULL;
  g_autofree gint64 *most = NULL;
  g_autofree gint64 *usual = NULL;
  GError *why = NULL;
  const FlamBalanceSpread *work;

  if (headline->n == 0 || headline->n == FLAM_HEADLINE_SENTENCES ||
      !is_time (profile, selection->measure))
    return TRUE;
  balance = flam_balance_new (profile, selection, &wanted, progress, &why);
  if (why != NULL)
    {
      g_propagate_error (error, why);
      return FALSE;
    }
  if (balance == NULL || balance->n_columns == 0)
    return TRUE;
  work = &balance->columns[0];
  if (work->median <= 0 || flam_balance_lost (work) < work->median / STANDS_OUT)
    return TRUE;
  most = weights_of_rank (
      profile, selection, balance->ranks[work->slowest].rank, progress, error);
  if (most == NULL)
    return FALSE;
  usual =
      weights_of_rank (profile,
                       selection,
                       balance->ranks[find_usual (balance, work->median)].rank,
                       progress,
                       error);
  if (usual == NULL)
    return FALSE;
  for (FlamId s = 0; s < profile->stacks.n; s++)
    most[s] -= usual[s];
  add_slowest (headline, balance, shown, own, selection->measure, most);
  return TRUE;
}

/* --- all ------------------------------------------------------------------ */

static gboolean
add_all (FlamHeadline *headline,
         const FlamProfile *profile,
         const FlamSelection *selection,
         const FlamShown *shown,
         const guint8 *own,
         const FlamProgress *progress,
         GError **error)
{
  guint measure = selection->measure;
  g_autoptr (FlamWeights) weights = NULL;
  gint64 in_own_code = 0;
  Costs costs;

  if (profile->measures[measure].kind == FLAM_MEASURE_ALLOC)
    {
      int at_peak = flam_profile_find_source (profile, FLAM_FROM_PEAK);
      int at_end = flam_profile_find_source (profile, FLAM_FROM_LEAKED);

      if (at_peak < 0 || profile->allocations.n == 0)
        return add_memory (
            headline, profile, selection, shown, own, measure, progress, error);
      return add_memory (headline,
                         profile,
                         selection,
                         shown,
                         own,
                         (guint)at_peak,
                         progress,
                         error) &&
             (at_end < 0 || add_memory (headline,
                                        profile,
                                        selection,
                                        shown,
                                        own,
                                        (guint)at_end,
                                        progress,
                                        error));
    }
  weights = flam_weights_new (profile, selection, progress, error);
  if (weights == NULL)
    return FALSE;
  if (weights->total <= 0 ||
      add_too_few (headline, profile, selection, measure) ||
      add_waiting (headline, weights, shown, own, measure, &in_own_code))
    return TRUE;
  costs_init (
      &costs, profile, shown, own, measure, weights->weight, weights->total);
  prefer_own (&costs, in_own_code);
  add_samples (headline, &costs);
  add_program (headline, &costs, selection);
  add_recording (headline, &costs);
  costs_clear (&costs);
  return TRUE;
}

FlamHeadline *
flam_headline_new (const FlamProfile *profile,
                   const FlamSelection *selection,
                   const FlamProgress *progress,
                   GError **error)
{
  g_autoptr (FlamHeadline) headline = g_new0 (FlamHeadline, 1);
  g_autoptr (FlamSelection) functions = flam_selection_copy (selection);
  g_autofree guint8 *own = NULL;
  g_auto (FlamShown) shown = { 0 };

  if (profile->n_measures == 0)
    return g_steal_pointer (&headline);
  functions->by = FLAM_BY_FUNCTION;
  functions->invert = FALSE;
  if (!flam_shown_init (&shown, profile, functions, progress, error))
    return NULL;
  own = flam_own_code_functions (profile);
  if (!add_all (headline, profile, functions, &shown, own, progress, error) ||
      !add_ranks (headline, profile, functions, &shown, own, progress, error))
    return NULL;
  return g_steal_pointer (&headline);
}

/* --- difference ----------------------------------------------------------- */

/* The largest change, of the user's own code if one of its changes is half as
 * large. */
static const FlamDiffRow *
find_change (const FlamTree *base,
             const FlamTree *fresh,
             const FlamDiffRow *rows,
             guint n,
             const FlamTree **tree,
             FlamId *node)
{
  g_autofree guint8 *own_base = flam_own_code_functions (base->profile);
  g_autofree guint8 *own_fresh = flam_own_code_functions (fresh->profile);
  const FlamDiffRow *largest = NULL;

  for (guint i = 0; i < n && rows[i].delta != 0; i++)
    {
      const FlamTree *in = rows[i].fresh != 0 ? fresh : base;
      FlamId at = flam_tree_find_name (in, rows[i].name);
      FlamId function =
          at != FLAM_NONE ? flam_tree_function (in, at) : FLAM_NONE;
      gboolean own;

      if (function == FLAM_NONE || !is_named (in->profile, function))
        continue;
      own = in == fresh ? own_fresh[function] : own_base[function];
      if (largest != NULL && ABS (rows[i].delta) < ABS (largest->delta) / 2)
        break;
      if (largest == NULL || own)
        {
          largest = &rows[i];
          *tree = in;
          *node = at;
        }
      if (own)
        break;
    }
  return largest;
}

FlamHeadline *
flam_headline_new_difference (const FlamTree *base,
                              const FlamTree *fresh,
                              FlamDiffScale scale,
                              const FlamTree **of)
{
  FlamHeadline *headline = g_new0 (FlamHeadline, 1);
  guint n;
  g_autofree FlamDiffRow *rows =
      flam_diff_functions (base, fresh, TRUE, scale, &n);
  const FlamTree *tree = fresh;
  FlamId node = FLAM_NONE;
  const FlamDiffRow *row = find_change (base, fresh, rows, n, &tree, &node);
  const FlamMeasure measure = flam_tree_measure (fresh);
  FlamSentence *sentence;
  Finding found = { 0 };
  const char *file;
  Costs costs = { .profile = tree->profile, .measure = fresh->measure };

  if (of != NULL)
    *of = tree;
  if (row == NULL)
    return headline;
  found.function = flam_tree_function (tree, node);
  if (flam_tree_source_line (tree, node, &file) != 0)
    {
      FlamId frame = tree->frame[node];

      found.file = tree->profile->frames.file[frame];
      found.line = tree->profile->frames.line[frame];
    }
  sentence = add_sentence (headline);
  add_name (sentence, &costs, &found);
  add_part (
      sentence,
      FLAM_HEADLINE_FUNCTION,
      costs.measure,
      found.function,
      flam_format_estimated (&row->estimate.delta, &measure, ABS (row->delta)));
  end_sentence (sentence, &costs, &found, row->delta > 0 ? &more : &less);
  return headline;
}

void
flam_headline_free (FlamHeadline *headline)
{
  if (headline == NULL)
    return;
  for (guint i = 0; i < headline->n; i++)
    for (guint k = 0; k < headline->sentence[i].n_parts; k++)
      g_free (headline->sentence[i].part[k].text);
  g_free (headline);
}

/* --- text ----------------------------------------------------------------- */

/* `pattern` has "%s" and "%1$s" only. */
static char *
fill (const char *pattern, char *const *texts, guint n)
{
  GString *out = g_string_new (NULL);
  guint next = 0;

  while (*pattern != '\0')
    {
      guint index = next;

      if (*pattern != '%')
        {
          gsize length = strcspn (pattern, "%");

          g_string_append_len (out, pattern, (gssize)length);
          pattern += length;
          continue;
        }
      pattern++;
      if (g_ascii_isdigit (*pattern) && pattern[1] == '$')
        {
          index = (guint)(*pattern - '1');
          pattern += 2;
        }
      else
        next++;
      if (*pattern == 's' && index < n)
        g_string_append (out, texts[index]);
      if (*pattern != '\0')
        pattern++;
    }
  return g_string_free (out, FALSE);
}

static char *
put_together (const FlamHeadline *headline,
              FlamHeadlineShow show,
              gpointer data,
              gboolean english)
{
  char *text[FLAM_HEADLINE_SENTENCES] = { NULL };
  char *all = NULL;

  for (guint i = 0; i < headline->n; i++)
    {
      const FlamSentence *sentence = &headline->sentence[i];
      char *parts[FLAM_HEADLINE_PARTS] = { NULL };
      const char *pattern = english || strcmp (sentence->pattern, "%s") == 0
                                ? sentence->pattern
                                : g_dgettext ("flambeau", sentence->pattern);

      for (guint k = 0; k < sentence->n_parts; k++)
        parts[k] = show != NULL ? show (&sentence->part[k], i, k, data)
                                : g_strdup (sentence->part[k].text);
      text[i] = fill (pattern, parts, sentence->n_parts);
      for (guint k = 0; k < sentence->n_parts; k++)
        g_free (parts[k]);
    }
  if (headline->n == 0)
    return g_strdup ("");
  all = text[0];
  for (guint i = 1; i < headline->n; i++)
    {
      char *two[] = { all, text[i] };

      /* Translators: two sentences, one after the other */
      all = fill (english ? "%s. %s" : g_dgettext ("flambeau", "%s. %s"),
                  two,
                  G_N_ELEMENTS (two));
      g_free (two[0]);
      g_free (two[1]);
    }
  return all;
}

char *
flam_headline_show (const FlamHeadline *headline,
                    FlamHeadlineShow show,
                    gpointer data)
{
  return put_together (headline, show, data, FALSE);
}

char *
flam_headline_to_text (const FlamHeadline *headline)
{
  return put_together (headline, NULL, NULL, FALSE);
}

char *
flam_headline_to_english (const FlamHeadline *headline)
{
  return put_together (headline, NULL, NULL, TRUE);
}

const char *
flam_headline_kind_to_string (FlamHeadlineKind kind)
{
  static const char *const names[] = { "function", "place",  "measure",
                                       "program",  "module", "rank",
                                       "balance",  "quality" };

  return names[kind];
}
