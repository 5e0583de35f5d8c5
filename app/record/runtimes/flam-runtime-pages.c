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
/* A longer stack is copied only by its user. */
#define STACK_MAX (64u << 10)
/* A page that this many walks in turn did not need is not copied any more: a
 * page too many takes a tenth of the time of a call for one that is missing. */
#define UNUSED_MAX 8

typedef struct
{
  guint64 address;
  FlamRuntimePart valid;
  FlamRuntimePart used;        /* to 0: none */
  const FlamRuntimeHint *hint; /* NULL: it was not in the hints */
} Page;

struct _FlamRuntimePages
{
  pid_t tid;
  const FlamRuntimeHints *hints; /* not copied yet; NULL: they were */
  guint n;
  guint next; /* the slot that is filled next */
  guint last; /* the page that was read last */
  guint64 sp;
  gsize n_wanted; /* bytes of the stack */
  gsize n_stack;  /* the copied ones */
  Page pages[PAGES_MAX];
  guint8 stack[STACK_MAX];
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
                          const FlamRuntimeHints *hints,
                          guint64 sp,
                          gsize n_stack)
{
  pages->tid = tid;
  pages->hints = hints;
  pages->n = pages->next = pages->last = 0;
  pages->sp = sp;
  pages->n_wanted = n_stack <= STACK_MAX ? n_stack : 0;
  pages->n_stack = 0;
}

static FlamRuntimePart
part_of_both (FlamRuntimePart a, FlamRuntimePart b)
{
  return (FlamRuntimePart){ MIN (a.from, b.from), MAX (a.to, b.to) };
}

/* The stack, and the hints from `from` on; returns how many hints were copied.
 * Unreadable memory ends the copy. */
static guint
copy_some (FlamRuntimePages *pages, guint from, gsize n_wanted)
{
  const FlamRuntimeHints *hints = pages->hints;
  struct iovec local[1 + FLAM_RUNTIME_PAGES_HINTS];
  struct iovec remote[1 + FLAM_RUNTIME_PAGES_HINTS];
  guint n = 0, copied = 0;
  gsize left;
  ssize_t all;

  if (n_wanted > 0)
    {
      local[n] = (struct iovec){ pages->stack, n_wanted };
      remote[n++] = (struct iovec){ GSIZE_TO_POINTER (pages->sp), n_wanted };
    }
  for (guint i = from; i < hints->n; i++)
    {
      const FlamRuntimeHint *hint = &hints->hints[i];
      gsize size = (gsize)hint->part.to - hint->part.from;

      local[n] =
          (struct iovec){ pages->data[pages->n + i - from] + hint->part.from,
                          size };
      remote[n++] =
          (struct iovec){ GSIZE_TO_POINTER (hint->page + hint->part.from),
                          size };
    }
  if (n == 0)
    return 0;
  all = process_vm_readv (pages->tid, local, n, remote, n, 0);
  left = all > 0 ? (gsize)all : 0;
  if (n_wanted > 0)
    pages->n_stack = MIN (left, n_wanted);
  left -= MIN (left, n_wanted);
  for (guint i = n_wanted > 0; i < n && left >= local[i].iov_len; i++)
    {
      const FlamRuntimeHint *hint = &hints->hints[from + copied++];

      pages->pages[pages->n++] =
          (Page){ hint->page, hint->part, { 0, 0 }, hint };
      left -= local[i].iov_len;
    }
  return copied;
}

/* A page that is not mapped any more is left out. */
static void
copy_hinted (FlamRuntimePages *pages)
{
  guint n = pages->hints->n, at = 0;

  if (pages->n_wanted > 0)
    at = copy_some (pages, 0, pages->n_wanted);
  if (at > 0)
    at++;
  while (at < n)
    at += copy_some (pages, at, 0) + 1;
  pages->next = pages->n;
  pages->hints = NULL;
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
    pages->pages[pages->next++] =
        (Page){ .address = address - i * PAGE_SIZE, .valid = { 0, PAGE_SIZE } };
  pages->n = MAX (pages->n, pages->next);
  return TRUE;
}

/* The rest of a partly copied page. */
static gboolean
complete_page (FlamRuntimePages *pages, guint i)
{
  struct iovec local = { pages->data[i], PAGE_SIZE };
  struct iovec remote = { GSIZE_TO_POINTER (pages->pages[i].address),
                          PAGE_SIZE };

  if (process_vm_readv (pages->tid, &local, 1, &remote, 1, 0) !=
      (ssize_t)PAGE_SIZE)
    return FALSE;
  pages->pages[i].valid = (FlamRuntimePart){ 0, PAGE_SIZE };
  return TRUE;
}

static const guint8 *
find_part (FlamRuntimePages *pages, guint64 address, FlamRuntimePart part)
{
  Page *page;

  if (pages->last >= pages->n || pages->pages[pages->last].address != address)
    {
      guint i = pages->n;

      while (i > 0 && pages->pages[i - 1].address != address)
        i--;
      if (i > 0)
        pages->last = i - 1;
      else if (!add_page (pages, address))
        return NULL;
    }
  page = &pages->pages[pages->last];
  if ((part.from < page->valid.from || part.to > page->valid.to) &&
      !complete_page (pages, pages->last))
    return NULL;
  page->used = page->used.to > 0 ? part_of_both (page->used, part) : part;
  return pages->data[pages->last] + part.from;
}

bool
flam_runtime_pages_read (gpointer data,
                         guint64 address,
                         gpointer to,
                         gsize size)
{
  FlamRuntimePages *pages = data;
  guint8 *out = to;

  if (pages->hints != NULL)
    copy_hinted (pages);
  while (size > 0)
    {
      gsize within = address % PAGE_SIZE;
      gsize n = MIN (size, PAGE_SIZE - within);
      const guint8 *from;

      if (address - pages->sp < pages->n_stack)
        {
          n = MIN (n, pages->n_stack - (address - pages->sp));
          from = pages->stack + (address - pages->sp);
        }
      else
        from = find_part (
            pages,
            address - within,
            (FlamRuntimePart){ (guint16)within, (guint16)(within + n) });
      if (from == NULL)
        return false;
      memcpy (out, from, n);
      out += n;
      address += n;
      size -= n;
    }
  return true;
}

gconstpointer
flam_runtime_pages_stack (const FlamRuntimePages *pages, gsize *size)
{
  *size = pages->n_stack;
  return pages->n_stack > 0 ? pages->stack : NULL;
}

/* A part that varies is copied as far as the last two walks needed it. */
static FlamRuntimeHint
make_hint (const Page *page)
{
  const FlamRuntimeHint *before = page->hint;

  if (page->used.to == 0)
    return (FlamRuntimeHint){
      page->address, before->part, before->last, before->unused + 1
    };
  return (FlamRuntimeHint){ page->address,
                            before != NULL
                                ? part_of_both (before->last, page->used)
                                : page->used,
                            page->used,
                            0 };
}

/* Used pages come first. */
void
flam_runtime_pages_end (FlamRuntimePages *pages, FlamRuntimeHints *hints)
{
  FlamRuntimeHints made = { 0 };

  if (pages->hints != NULL)
    return;
  for (guint round = 0; round < 2; round++)
    for (guint i = 0; i < pages->n && made.n < FLAM_RUNTIME_PAGES_HINTS; i++)
      {
        const Page *page = &pages->pages[i];
        gboolean used = page->used.to > 0;
        gboolean kept = page->hint != NULL && page->hint->unused < UNUSED_MAX;

        if (round == 0 ? used : !used && kept)
          made.hints[made.n++] = make_hint (page);
      }
  *hints = made;
}
