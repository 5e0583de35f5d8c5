/* SPDX-License-Identifier: GPL-3.0-or-later */

/* On processors for which flam-remote.c cannot call functions in a running
 * program: allocations are recorded of programs that are launched. */

#include "flam-alloc-attach.h"
#include "flam-core-profile.h"

const char *
flam_alloc_attach_obstacle (const FlamInjection *injection, pid_t pid)
{
  return N_ ("is already running, and on this processor allocations can only "
             "be recorded from the start of a program");
}

FlamAllocAttached *
flam_alloc_attach (const FlamInjection *injection,
                   const FlamTracing *tracing,
                   pid_t pid,
                   char **why)
{
  *why = g_strdup (flam_alloc_attach_obstacle (injection, pid));
  return NULL;
}

FlamAllocAttached *
flam_alloc_attached_copy (const FlamAllocAttached *parent, pid_t pid)
{
  return NULL;
}

gboolean
flam_alloc_detach (FlamAllocAttached *attached, const FlamTracing *tracing)
{
  return FALSE;
}

void
flam_alloc_attached_free (FlamAllocAttached *attached)
{
}
