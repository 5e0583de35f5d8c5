/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-rank-waits.h"

#include "flam-profile-private.h"

#include <string.h>

/* The functions of MPI's standard that return only when others have done their
 * part, or may wait for that. "*" stands for any ending: reductions, and their
 * versions for vectors, neighbors and large counts. */
static const char *const calls[] = {
  "wait*",        "send",
  "send_c",       "bsend*",
  "ssend*",       "rsend*",
  "recv",         "recv_c",
  "mrecv*",       "sendrecv*",
  "probe",        "mprobe",
  "barrier",      "bcast*",
  "gather*",      "scatter*",
  "allgather*",   "alltoall*",
  "reduce",       "reduce_c",
  "allreduce*",   "reduce_scatter*",
  "scan*",        "exscan*",
  "neighbor_*",   "win_fence",
  "win_complete", "win_wait",
  "win_lock*",    "win_unlock*",
  "win_flush*",   "win_create*",
  "win_free",     "comm_dup",
  "comm_split*",  "comm_create*",
  "comm_free",    "comm_accept",
  "comm_connect", "comm_disconnect",
  "comm_spawn*",  "file_open",
  "file_close",   "file_sync",
  "finalize",
};

/* "MPI_Wait" as "wait"; Fortran's names end with underscores. NULL: not a
 * function of MPI, or with a name that is too long. */
static char *
plain_name (const char *function, char *to, gsize size)
{
  gsize n;

  if (*function == 'P' || *function == 'p')
    function++;
  if (g_ascii_strncasecmp (function, "MPI_", 4) != 0)
    return NULL;
  n = strlen (function + 4);
  while (n > 0 && function[4 + n - 1] == '_')
    n--;
  if (n >= size)
    return NULL;
  for (gsize i = 0; i < n; i++)
    to[i] = g_ascii_tolower (function[4 + i]);
  to[n] = '\0';
  /* Of the module mpi_f08. */
  if (g_str_has_suffix (to, "_f08"))
    to[n - 4] = '\0';
  return to;
}

gboolean
flam_rank_waits_in (const char *function)
{
  char text[32];
  const char *name = plain_name (function, text, sizeof text);

  for (guint i = 0; name != NULL && i < G_N_ELEMENTS (calls); i++)
    {
      gsize n = strlen (calls[i]);

      if (calls[i][n - 1] == '*' ? strncmp (name, calls[i], n - 1) == 0
                                 : strcmp (name, calls[i]) == 0)
        return TRUE;
    }
  return FALSE;
}

/* Per stack: whether it waits; NULL: none does. */
static gboolean *
find_stacks (const FlamProfile *profile)
{
  const FlamStacks *stacks = &profile->stacks;
  g_autofree gboolean *functions = g_new0 (gboolean, profile->functions.n + 1);
  g_autofree gboolean *waits = g_new0 (gboolean, (gsize)stacks->n + 1);
  gboolean any = FALSE;

  for (FlamId i = 0; i < profile->functions.n; i++)
    {
      functions[i] =
          flam_rank_waits_in (flam_profile_function_name (profile, i));
      any |= functions[i];
    }
  if (!any)
    return NULL;
  for (FlamId s = 0; s < stacks->n; s++)
    waits[s] = functions[profile->frames.function[stacks->frame[s]]] ||
               (stacks->prefix[s] != FLAM_NONE && waits[stacks->prefix[s]]);
  return g_steal_pointer (&waits);
}

static gboolean
has_ranks (const FlamProfile *profile)
{
  for (FlamId i = 0; i < profile->processes.n; i++)
    if (profile->processes.rank[i] != 0)
      return TRUE;
  return FALSE;
}

static guint
fill (const FlamProfile *profile, const gboolean *waits, guint8 *states)
{
  const FlamThreads *threads = &profile->threads;
  const FlamSamples *samples = &profile->samples;
  guint known = 0;

  for (FlamId t = 0; t < threads->n; t++)
    for (guint32 k = 0; k < threads->n_samples[t]; k++)
      {
        guint32 i = threads->first_sample[t] + k;

        states[i] =
            samples->state != NULL ? samples->state[i] : FLAM_STATE_RUNNING;
        if (profile->processes.rank[threads->process[t]] != 0 &&
            samples->stack[i] != FLAM_NONE && waits[samples->stack[i]])
          states[i] = FLAM_STATE_MPI;
        known |= 1u << states[i];
      }
  return known;
}

FlamProfile *
flam_rank_waits_new (const FlamProfile *profile)
{
  const FlamProfileBox *whole = (const FlamProfileBox *)profile;
  g_autofree gboolean *waits = NULL;
  g_autofree guint8 *states = NULL;
  FlamProfileBox *box;
  guint known;

  /* Snapshots of a growing capture extend one another. */
  if (whole->lineage != 0 || !has_ranks (profile) ||
      (waits = find_stacks (profile)) == NULL)
    return flam_profile_ref (profile);
  states = g_new0 (guint8, (gsize)flam_profile_sample_cells (profile) + 1);
  known = fill (profile, waits, states);
  if (known == profile->samples.states && !(known & (1u << FLAM_STATE_MPI)))
    return flam_profile_ref (profile);
  box = flam_profile_box_new ();
  box->tables = *profile;
  box->tables.samples.state = states;
  box->tables.samples.states = known;
  box->strings = whole->strings;
  box->borrows = TRUE;
  box->base = flam_profile_ref (profile);
  g_ptr_array_add (box->owned, g_steal_pointer (&states));
  return &box->tables;
}
