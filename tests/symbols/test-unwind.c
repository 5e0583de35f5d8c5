/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The unwinder against libdwfl on the same snapshots: of this program itself,
 * deep in recursion and in a signal handler, and of other programs. And its
 * parts alone: mappings, ends of stacks, hostile tables. */

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unwind-snapshot.h"

#define LIMIT 4096

/* --- children that show something ---------------------------------------- */

static int ready_fd;
static volatile unsigned sink;
static volatile gboolean done;

__attribute__ ((noinline)) static void
wait_here (void)
{
  if (write (ready_fd, "", 1) != 1)
    _exit (1);
  while (!done)
    sink++;
}

__attribute__ ((noinline)) static unsigned
recurse (unsigned depth)
{
  unsigned result;

  if (depth == 0)
    {
      wait_here ();
      return 0;
    }
  result = recurse (depth - 1) + depth;
  sink += result;
  return result;
}

static void
on_signal (int number)
{
  wait_here ();
}

static int
compare_and_wait (const void *a, const void *b)
{
  wait_here ();
  return 0;
}

static void
show_recursion (void)
{
  sink += recurse (300);
}

static void
show_signal (void)
{
  struct sigaction action = { .sa_handler = on_signal };

  sigaction (SIGUSR1, &action, NULL);
  raise (SIGUSR1);
}

static void
show_callback (void)
{
  int numbers[] = { 3, 1, 2 };

  qsort (numbers, 3, sizeof *numbers, compare_and_wait);
}

/* --- stopping ------------------------------------------------------------ */

/* Forked, seized and stopped while in `show`. */
static pid_t
start_child (void (*show) (void))
{
  int fds[2], status;
  char byte;
  pid_t pid;

  g_assert_cmpint (pipe (fds), ==, 0);
  pid = fork ();
  if (pid == 0)
    {
      prctl (PR_SET_PDEATHSIG, SIGKILL);
      ready_fd = fds[1];
      show ();
      _exit (0);
    }
  close (fds[1]);
  g_assert_cmpint (read (fds[0], &byte, 1), ==, 1);
  close (fds[0]);
  g_assert_cmpint (ptrace (PTRACE_SEIZE, pid, NULL, NULL), ==, 0);
  g_assert_cmpint (ptrace (PTRACE_INTERRUPT, pid, NULL, NULL), ==, 0);
  g_assert_cmpint (waitpid (pid, &status, __WALL), ==, pid);
  return pid;
}

static void
end_child (pid_t pid)
{
  kill (pid, SIGKILL);
  waitpid (pid, NULL, __WALL);
}

static void
test_against_libdwfl (gconstpointer data)
{
  pid_t pid = start_child ((void (*) (void))data);
  Ours *ours = ours_new (pid);
  Oracle *oracle = oracle_new (pid);
  Snapshot snapshot;
  guint64 mine[LIMIT], theirs[LIMIT];
  guint n_mine, n_theirs;
  FlamUnwindEnd end;

  g_assert_true (snapshot_take (&snapshot, pid, 256 * 1024));
  n_theirs = oracle_unwind (oracle, &snapshot, theirs, LIMIT);
  /* Twice: through the table and through the cache. */
  for (guint round = 0; round < 2; round++)
    {
      n_mine = ours_unwind (ours, &snapshot, mine, LIMIT, &end);
      g_assert_cmpint (end, ==, FLAM_UNWIND_ROOT);
      g_assert_cmpuint (n_mine, >, 5);
      g_assert_cmpmem (
          mine, n_mine * sizeof *mine, theirs, n_theirs * sizeof *theirs);
    }
  snapshot_clear (&snapshot);
  oracle_free (oracle);
  ours_free (ours);
  end_child (pid);
}

static void
test_ends (void)
{
  pid_t pid = start_child (show_recursion);
  Ours *ours = ours_new (pid);
  Snapshot snapshot;
  guint64 pcs[LIMIT];
  FlamUnwindEnd end;
  guint all, some;

  g_assert_true (snapshot_take (&snapshot, pid, 256 * 1024));
  all = ours_unwind (ours, &snapshot, pcs, LIMIT, &end);
  g_assert_cmpint (end, ==, FLAM_UNWIND_ROOT);

  some = ours_unwind (ours, &snapshot, pcs, 10, &end);
  g_assert_cmpuint (some, ==, 10);
  g_assert_cmpint (end, ==, FLAM_UNWIND_LIMIT);

  snapshot.size = 1000;
  some = ours_unwind (ours, &snapshot, pcs, LIMIT, &end);
  g_assert_cmpint (end, ==, FLAM_UNWIND_TRUNCATED);
  g_assert_cmpuint (some, <, all);
  g_assert_cmpuint (some, >, 1); /* frames are large under ASan */

  memset (snapshot.stack, 0x5a, snapshot.size);
  some = ours_unwind (ours, &snapshot, pcs, LIMIT, &end);
  g_assert_cmpint (end, ==, FLAM_UNWIND_BAD);
  g_assert_cmpuint (some, <=, 2);

  snapshot_clear (&snapshot);
  ours_free (ours);
  end_child (pid);
}

/* At least 99 % of the stacks of foreign programs are the same. */
static void
test_program (gconstpointer name)
{
  g_auto (GStrv) argv = snapshot_command (name);
  g_autoptr (GArray) snapshots = NULL;
  Agreement agreement;
  Oracle *oracle;
  Ours *ours;
  pid_t pid;

  if (!argv)
    {
      g_test_skip ("not on this machine");
      return;
    }
  snapshots =
      snapshot_program ((const char *const *)argv, 300, 1000, 64 * 1024, &pid);
  if (snapshots->len < 100)
    {
      snapshot_kill (pid);
      g_test_skip ("it ended too early");
      return;
    }
  ours = ours_new (pid);
  oracle = oracle_new (pid);
  agreement = snapshots_compare (ours, oracle, snapshots);
  g_test_message ("%u stacks, %u differ, %u where libdwfl stops short, "
                  "%u where it leaves out a caller",
                  agreement.n,
                  agreement.differ,
                  agreement.longer,
                  agreement.missed);
  g_assert_cmpuint (agreement.differ * 100, <=, agreement.n);
  oracle_free (oracle);
  ours_free (ours);
  snapshot_kill (pid);
}

/* --- parts --------------------------------------------------------------- */

static void
test_space (void)
{
  FlamUnwindSpace *space = flam_unwind_space_new (), *copy;
  const FlamUnwindMap *map;

  g_assert_null (flam_unwind_space_find (space, 0x1000));
  g_assert_true (
      flam_unwind_space_add (space, 0x1000, 0x9000, 0, NULL, (void *)1));
  g_assert_true (
      flam_unwind_space_add (space, 0x3000, 0x4000, 0, NULL, (void *)2));
  g_assert_cmpuint (flam_unwind_space_size (space), ==, 3);
  map = flam_unwind_space_find (space, 0x4000);
  g_assert_true (map->user == (void *)1);
  g_assert_cmphex (map->offset, ==, 0x3000);
  copy = flam_unwind_space_copy (space);
  g_assert_true (
      flam_unwind_space_add (space, 0x2000, 0x8000, 0, NULL, (void *)3));
  g_assert_cmpuint (flam_unwind_space_size (space), ==, 3);
  g_assert_cmphex (flam_unwind_space_find (space, 0x1000)->end, ==, 0x2000);
  g_assert_cmphex (flam_unwind_space_find (space, 0x8000)->offset, ==, 0x7000);
  flam_unwind_space_remove (space, 0, 0x7000);
  g_assert_cmpuint (flam_unwind_space_size (space), ==, 2);
  g_assert_cmphex (flam_unwind_space_find (space, 0x7000)->start, ==, 0x7000);
  g_assert_false (flam_unwind_space_add (space, 5, 5, 0, NULL, NULL));
  g_assert_true (flam_unwind_space_claim (space, 0x7800, 0x8800, space, false));
  g_assert_cmpuint (flam_unwind_space_size (space), ==, 4);
  g_assert_null (flam_unwind_space_find (space, 0x77ff)->managed);
  g_assert_true (flam_unwind_space_find (space, 0x7800)->managed == space);
  g_assert_true (flam_unwind_space_find (space, 0x87ff)->managed == space);
  map = flam_unwind_space_find (space, 0x8800);
  g_assert_null (map->managed);
  g_assert_cmphex (map->start, ==, 0x8800);
  g_assert_cmphex (map->offset, ==, 0x7800);
  flam_unwind_space_clear (space);
  g_assert_null (flam_unwind_space_find (space, 0x8000));
  g_assert_nonnull (flam_unwind_space_find (copy, 0x8000));
  flam_unwind_space_free (copy);
  flam_unwind_space_free (space);
}

/* Two frames made by hand, with frame pointers and without a table. */
static void
test_frame_pointer (void)
{
  FlamUnwindSpace *space = flam_unwind_space_new ();
  FlamUnwindCache *cache = flam_unwind_cache_new ();
  guint64 stack[] = { 7, 0x8010 + 24, 0x1200, 9, 9, 9, 0, 0 };
  FlamUnwindMemory memory = { stack, 0x8010, sizeof stack };
  FlamUnwindRegs regs = { .pc = 0x1100, .sp = 0x8010, .bp = 0x8018 };
  FlamUnwindRegs blind = { .pc = 0x1100, .sp = 0x8010, .bp_unknown = true };
  guint64 pcs[8];
  FlamUnwindEnd end;

  stack[1] = 0x8010 + 6 * 8;
  flam_unwind_space_add (space, 0x1000, 0x2000, 0, NULL, NULL);
  g_assert_cmpuint (
      flam_unwind_walk (space, cache, &memory, &regs, pcs, NULL, 8, &end),
      ==,
      2);
  g_assert_cmpint (end, ==, FLAM_UNWIND_ROOT);
  g_assert_cmphex (pcs[1], ==, 0x11ff);
  g_assert_cmpuint (
      flam_unwind_walk (space, cache, &memory, &blind, pcs, NULL, 8, &end),
      ==,
      1);
  g_assert_cmpint (end, ==, FLAM_UNWIND_NEEDS_BP);
  flam_unwind_cache_free (cache);
  flam_unwind_space_free (space);
}

/* Whether flam_unwind_table_find() stays within it. */
static gboolean
is_sound (const FlamUnwindTable *table)
{
  const guint32 *index;
  guint64 need;
  guint32 i;

  if (table->magic != FLAM_UNWIND_MAGIC ||
      table->version != FLAM_UNWIND_VERSION || table->machine != EM_X86_64)
    return FALSE;
  need = sizeof *table + (guint64)table->n_rows * sizeof (FlamUnwindRow) +
         (guint64)table->n_rules * sizeof (FlamUnwindRule) +
         (guint64)table->n_index * sizeof (guint32);
  if (table->size != need || table->n_rows == 0 || table->shift > 31 ||
      table->end <= table->first ||
      table->n_index < ((table->end - table->first - 1) >> table->shift) + 2)
    return FALSE;
  index = flam_unwind_table_index (table);
  for (i = 0; i < table->n_index; i++)
    if (index[i] >= table->n_rows || (i > 0 && index[i] < index[i - 1]))
      return FALSE;
  for (i = 0; i < table->n_rows; i++)
    {
      const FlamUnwindRow *row = &flam_unwind_table_rows (table)[i];
      if ((row->how & 7) == FLAM_UNWIND_KIND_RULE && row->cfa >= table->n_rules)
        return FALSE;
    }
  return TRUE;
}

/* Every table made from damaged bytes is refused or passes the check. */
static void
test_hostile (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *bytes = NULL;
  gsize size;
  GRand *random = g_rand_new_with_seed (1);

  g_file_get_contents ("/proc/self/exe", &bytes, &size, &error);
  g_assert_no_error (error);
  for (guint round = 0; round < 300; round++)
    {
      g_autofree char *copy = g_memdup2 (bytes, size);
      gsize n =
          round % 3 ? size : (gsize)g_rand_int_range (random, 0, (gint32)size);
      g_autofree char *cut = NULL;
      FlamUnwindTable *table;
      const char *why;

      for (guint i = 0; i < 200; i++)
        copy[g_rand_int_range (random, 0, (gint32)(i & 1 ? size : 4096))] ^=
            (char)(1 << g_rand_int_range (random, 0, 8));
      memcpy (copy, bytes, round & 1 ? 64 : 1024); /* headers stay */
      cut = g_memdup2 (copy, n);
      table = round & 4 ? flam_unwind_table_new_memory (cut, n, &why)
                        : flam_unwind_table_new_file (cut, n, &why);
      if (table)
        {
          g_assert_true (is_sound (table));
          for (guint64 pc = 0; pc < size; pc += 61)
            flam_unwind_table_find (table, pc);
        }
      else
        g_assert_nonnull (why);
      flam_unwind_table_free (table);
    }
  g_rand_free (random);
}

/* .eh_frame of a loaded image, with the pointer to it in each encoding that
 * linkers use. */
static void
test_eh_frame_pointer (void)
{
  enum
  {
    BASE = 0x10000,
    HEADER = 0x100,
    FRAMES = 0x120,
    CODE = 0x200,
    SIZE = 0x300
  };
  static const struct
  {
    guint8 encoding;
    gint64 pointer;
    guint size;
    gboolean good;
  } rows[] = {
    { 0x1b, FRAMES - HEADER - 4, 4, TRUE }, /* relative to itself */
    { 0x1c, FRAMES - HEADER - 4, 8, TRUE }, { 0x03, BASE + FRAMES, 4, TRUE },
    { 0x0b, BASE + FRAMES, 4, TRUE },       { 0x00, BASE + FRAMES, 8, TRUE },
    { 0x04, BASE + FRAMES, 8, TRUE },       { 0x0c, BASE + FRAMES, 8, TRUE },
    { 0x3b, FRAMES - HEADER, 4, FALSE },    { 0x02, BASE + FRAMES, 4, FALSE },
  };
  /* A common entry: code 1, data -8, return address 16, "zR", sdata4 relative
   * to itself; CFA = rsp + 8. And that of a function. */
  static const guint8 frames[] = {
    20,   0,  0, 0, 0,    0, 0, 0, 1,  'z', 'R', 0, 1,  0x78, 16, 1,
    0x1b, 12, 7, 8, 0x90, 1, 0, 0, 16, 0,   0,   0, 28, 0,    0,  0,
    0,    0,  0, 0, 16,   0, 0, 0, 0,  0,   0,   0, 0,  0,    0,  0,
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree guint64 *image = g_malloc0 (SIZE);
      guint8 *bytes = (guint8 *)image;
      gint32 pc = CODE - (FRAMES + 32);
      Elf64_Ehdr header = {
        .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
        .e_machine = EM_X86_64,
        .e_phoff = sizeof header,
        .e_phentsize = sizeof (Elf64_Phdr),
        .e_phnum = 2,
      };
      const Elf64_Phdr segments[] = {
        { .p_type = PT_LOAD,
          .p_flags = PF_R | PF_X,
          .p_vaddr = BASE,
          .p_filesz = SIZE,
          .p_memsz = SIZE },
        { .p_type = PT_GNU_EH_FRAME,
          .p_flags = PF_R,
          .p_offset = HEADER,
          .p_vaddr = BASE + HEADER,
          .p_filesz = 12,
          .p_memsz = 12 },
      };
      const guint8 begin[] = { 1, rows[i].encoding, 0xff, 0xff };
      const FlamUnwindRow *row;
      FlamUnwindTable *table;
      const char *why;

      g_test_message ("%u", i);
      memcpy (bytes, &header, sizeof header);
      memcpy (bytes + sizeof header, segments, sizeof segments);
      memcpy (bytes + HEADER, begin, sizeof begin);
      memcpy (bytes + HEADER + 4, &rows[i].pointer, rows[i].size);
      memcpy (bytes + FRAMES, frames, sizeof frames);
      memcpy (bytes + FRAMES + 32, &pc, sizeof pc);
      memset (bytes + CODE, 0x90, 16);
      table = flam_unwind_table_new_memory (image, SIZE, &why);
      row = table != NULL ? flam_unwind_table_find (table, CODE + 4) : NULL;
      g_assert_cmpint (row != NULL && (row->how & 7) == FLAM_UNWIND_KIND_SP &&
                           row->cfa == 1,
                       ==,
                       rows[i].good);
      flam_unwind_table_free (table);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func (
      "/unwind/recursion", show_recursion, test_against_libdwfl);
  g_test_add_data_func ("/unwind/signal", show_signal, test_against_libdwfl);
  g_test_add_data_func (
      "/unwind/callback", show_callback, test_against_libdwfl);
  g_test_add_func ("/unwind/ends", test_ends);
  g_test_add_data_func ("/unwind/cc1plus", "cc1plus", test_program);
  g_test_add_data_func ("/unwind/python3", "python3", test_program);
  g_test_add_data_func ("/unwind/node", "node", test_program);
  g_test_add_func ("/unwind/space", test_space);
  g_test_add_func ("/unwind/frame-pointer", test_frame_pointer);
  g_test_add_func ("/unwind/hostile", test_hostile);
  g_test_add_func ("/unwind/eh-frame-pointer", test_eh_frame_pointer);
  return g_test_run ();
}
