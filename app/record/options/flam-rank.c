/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-rank.h"

#include "flam-core-profile.h"

#include <string.h>

static const char *const rank_names[] = {
  "OMPI_COMM_WORLD_RANK",
  "PMIX_RANK",
  "PMI_RANK",
  "SLURM_PROCID",
};
static const char *const size_names[] = {
  "OMPI_COMM_WORLD_SIZE",
  "PMI_SIZE",
  "SLURM_STEP_NUM_TASKS",
  "SLURM_NTASKS",
};
static const char *const job_names[] = {
  "SLURM_JOB_ID", "PBS_JOBID",      "LSB_JOBID", "JOB_ID",
  "FLUX_JOB_ID",  "PMIX_NAMESPACE", "PMI_JOBID", "PRTE_JOB_FAMILY",
};

static const char *
find (const char *const *names, guint n)
{
  for (guint i = 0; i < n; i++)
    {
      const char *value = g_getenv (names[i]);

      if (value != NULL && *value != '\0')
        return value;
    }
  return NULL;
}

static const char *
find_number (const char *const *names, guint n)
{
  for (guint i = 0; i < n; i++)
    {
      const char *value = g_getenv (names[i]);

      if (value != NULL &&
          g_ascii_string_to_unsigned (value, 10, 0, FLAM_RANK_MAX, NULL, NULL))
        return value;
    }
  return NULL;
}

FlamRank
flam_rank_get (void)
{
  const char *rank = find_number (rank_names, G_N_ELEMENTS (rank_names));

  if (rank == NULL)
    return (FlamRank){ NULL };
  return (FlamRank){
    rank,
    find_number (size_names, G_N_ELEMENTS (size_names)),
    find (job_names, G_N_ELEMENTS (job_names)),
  };
}

static const char *
value_of (char letter, FlamRank rank, GError **error)
{
  if (letter == 'h')
    return g_get_host_name ();
  if (letter == 'r' && rank.rank == NULL)
    return flam_error_null (
        error,
        FLAM_ERROR_INVALID,
        N_ ("--output: %%r is the rank in a job, and this process has none: "
            "start it with srun or mpirun"));
  if (letter == 'j' && rank.job == NULL)
    return flam_error_null (
        error,
        FLAM_ERROR_INVALID,
        N_ ("--output: %%j is the job, and this process belongs to none"));
  return letter == 'r' ? rank.rank : rank.job;
}

char *
flam_rank_expand (const char *output, GError **error)
{
  g_autoptr (GString) text = g_string_new (NULL);
  FlamRank rank = flam_rank_get ();

  for (const char *p = output; *p != '\0'; p++)
    {
      g_autofree char *plain = NULL;

      if (*p != '%' || p[1] == '\0' || strchr ("rhj%", p[1]) == NULL)
        {
          g_string_append_c (text, *p);
          continue;
        }
      p++;
      if (*p == '%')
        {
          g_string_append_c (text, '%');
          continue;
        }
      plain = g_strdup (value_of (*p, rank, error));
      if (plain == NULL)
        return NULL;
      /* It is a part of a name. */
      g_string_append (text, g_strdelimit (plain, "/", '-'));
    }
  return g_string_free (g_steal_pointer (&text), FALSE);
}
