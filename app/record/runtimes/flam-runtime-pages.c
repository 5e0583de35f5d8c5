/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-runtime-pages.h"

#include <string.h>
#include <sys/uio.h>

#define PAGE_SIZE 4096u
#define PAGES_MAX 256
/* A chain that needs this many pages is deep: each frame's caller is below it,
 * so the pages below are read in the same call. */
#define PAGES_DEEP 64
#define PAGES_AHEAD 16

struct _FlamRuntimePages
{
  pid_t tid;
  FlamRuntimeHints hints; /* not copied yet; n 0: none */
  guint n;
  guint next; /* the slot that is filled next */
  guint last; /* the page that was read last */
  guint64 addresses[PAGES_MAX];
  gboolean used[PAGES_MAX];
  guint8 data[PAGES_MAX][PAGE_SIZE];
};

FlamRuntimePages *
flam_runtime_pages_new (void)
{
  return g_new0 (FlamRuntimePages, 1);
}

void
flam_runtime_pages_free (FlamRuntimePages *pages)
{
  g_free (pages);
}

void
flam_runtime_pages_begin (FlamRuntimePages *pages,
                          pid_t tid,
                          const FlamRuntimeHints *hints)
{
  pages->tid = tid;
  pages->hints.n = hints->n;
  memcpy (pages->hints.pages, hints->pages, hints->n * sizeof *hints->pages);
  pages->n = pages->next = pages->last = 0;
}

static void
copy_hinted (FlamRuntimePages *pages)
{
  guint n_hints = pages->hints.n;
  struct iovec local = { pages->data, (gsize)n_hints * PAGE_SIZE };
  struct iovec remote[FLAM_RUNTIME_PAGES_HINTS];
  ssize_t n;

  for (guint i = 0; i < n_hints; i++)
    remote[i] =
        (struct iovec){ GSIZE_TO_POINTER (pages->hints.pages[i]), PAGE_SIZE };
  n = process_vm_readv (pages->tid, &local, 1, remote, n_hints, 0);
  /* A page that is not mapped ends the copy. */
  pages->n = n > 0 ? (guint)n / PAGE_SIZE : 0;
  pages->next = pages->n;
  for (guint i = 0; i < pages->n; i++)
    {
      pages->addresses[i] = pages->hints.pages[i];
      pages->used[i] = FALSE;
    }
  pages->hints.n = 0;
}

/* Slots are reused, except the first ones: their pages will be needed the next
 * time. */
static gboolean
add_page (FlamRuntimePages *pages, guint64 address)
{
  guint wanted = pages->n < PAGES_DEEP ? 1 : PAGES_AHEAD;
  struct iovec remote[PAGES_AHEAD];
  struct iovec local;
  ssize_t n;

  if (pages->next + wanted > PAGES_MAX)
    pages->next = PAGES_DEEP;
  local = (struct iovec){ pages->data[pages->next], wanted * PAGE_SIZE };
  for (guint i = 0; i < wanted; i++)
    remote[i] =
        (struct iovec){ GSIZE_TO_POINTER (address - i * PAGE_SIZE), PAGE_SIZE };
  n = process_vm_readv (pages->tid, &local, 1, remote, wanted, 0);
  if (n < (ssize_t)PAGE_SIZE)
    return FALSE;
  pages->last = pages->next;
  for (guint i = 0; i < (gsize)n / PAGE_SIZE; i++)
    {
      pages->addresses[pages->next] = address - i * PAGE_SIZE;
      pages->used[pages->next++] = FALSE;
    }
  pages->n = MAX (pages->n, pages->next);
  return TRUE;
}

static const guint8 *
find_page (FlamRuntimePages *pages, guint64 address)
{
  if (pages->hints.n > 0)
    copy_hinted (pages);
  if (pages->last >= pages->n || pages->addresses[pages->last] != address)
    {
      guint i = pages->n;

      while (i > 0 && pages->addresses[i - 1] != address)
        i--;
      if (i > 0)
        pages->last = i - 1;
      else if (!add_page (pages, address))
        return NULL;
    }
  pages->used[pages->last] = TRUE;
  return pages->data[pages->last];
}

bool
flam_runtime_pages_read (gpointer data,
                         guint64 address,
                         gpointer to,
                         gsize size)
{
  FlamRuntimePages *pages = data;
  guint8 *out = to;

  while (size > 0)
    {
      gsize within = address % PAGE_SIZE;
      gsize n = MIN (size, PAGE_SIZE - within);
      const guint8 *page = find_page (pages, address - within);

      if (page == NULL)
        return false;
      memcpy (out, page + within, n);
      out += n;
      address += n;
      size -= n;
    }
  return true;
}

void
flam_runtime_pages_end (FlamRuntimePages *pages, FlamRuntimeHints *hints)
{
  hints->n = 0;
  for (guint i = 0; i < pages->n && hints->n < FLAM_RUNTIME_PAGES_HINTS; i++)
    if (pages->used[i])
      hints->pages[hints->n++] = pages->addresses[i];
}
