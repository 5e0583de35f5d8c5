/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unwind-snapshot.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- snapshots ----------------------------------------------------------- */

/* By DWARF number. */
static void
copy_registers (guint64 *regs, const struct user_regs_struct *user)
{
  const guint64 values[FLAM_UNWIND_N_REGS] = {
    user->rax, user->rdx, user->rcx, user->rbx, user->rsi, user->rdi,
    user->rbp, user->rsp, user->r8,  user->r9,  user->r10, user->r11,
    user->r12, user->r13, user->r14, user->r15, user->rip,
  };
  memcpy (regs, values, sizeof values);
}

gboolean
snapshot_take (Snapshot *snapshot, pid_t pid, gsize max)
{
  struct user_regs_struct user;
  struct iovec local, remote;
  gssize got;

  if (ptrace (PTRACE_GETREGS, pid, NULL, &user) != 0)
    return FALSE;
  copy_registers (snapshot->regs, &user);
  snapshot->base = user.rsp;
  snapshot->stack = g_malloc (max);
  snapshot->size = 0;
  while (snapshot->size < max)
    {
      gsize step = 4096 - ((snapshot->base + snapshot->size) & 4095);
      local.iov_base = snapshot->stack + snapshot->size;
      remote.iov_base = (void *)(snapshot->base + snapshot->size);
      local.iov_len = remote.iov_len = MIN (step, max - snapshot->size);
      got = process_vm_readv (pid, &local, 1, &remote, 1, 0);
      if (got <= 0)
        break;
      snapshot->size += (gsize)got;
    }
  return TRUE;
}

void
snapshot_clear (Snapshot *snapshot)
{
  g_clear_pointer (&snapshot->stack, g_free);
}

/* --- programs ------------------------------------------------------------ */

static pid_t
start_program (const char *const *argv)
{
  pid_t pid = fork ();

  if (pid == 0)
    {
      int null = open ("/dev/null", O_RDWR);

      prctl (PR_SET_PDEATHSIG, SIGKILL);
      dup2 (null, 0);
      dup2 (null, 1);
      dup2 (null, 2);
      execvp (argv[0], (char *const *)argv);
      _exit (127);
    }
  return pid;
}

/* FALSE: it has ended. */
static gboolean
stop (pid_t pid)
{
  int status;

  for (;;)
    {
      if (waitpid (pid, &status, __WALL) != pid || WIFEXITED (status) ||
          WIFSIGNALED (status))
        return FALSE;
      if (WIFSTOPPED (status) && status >> 16 == PTRACE_EVENT_STOP)
        return TRUE;
      ptrace (PTRACE_CONT, pid, NULL, WSTOPSIG (status));
    }
}

GArray *
snapshot_program (
    const char *const *argv, guint n, guint interval_us, gsize max, pid_t *pid)
{
  GArray *snapshots = g_array_new (FALSE, FALSE, sizeof (Snapshot));

  g_array_set_clear_func (snapshots, (GDestroyNotify)snapshot_clear);
  *pid = start_program (argv);
  g_usleep (200000);
  if (ptrace (PTRACE_SEIZE, *pid, NULL, NULL) != 0)
    return snapshots;
  while (ptrace (PTRACE_INTERRUPT, *pid, NULL, NULL) == 0 && stop (*pid))
    {
      Snapshot snapshot;

      if (snapshots->len == n)
        break;
      if (snapshot_take (&snapshot, *pid, max))
        g_array_append_val (snapshots, snapshot);
      ptrace (PTRACE_CONT, *pid, NULL, NULL);
      g_usleep (interval_us);
    }
  return snapshots;
}

void
snapshot_kill (pid_t pid)
{
  kill (pid, SIGKILL);
  waitpid (pid, NULL, __WALL);
}

static char *
find_cc1plus (void)
{
  g_autofree char *output = NULL;

  if (!g_spawn_command_line_sync (
          "g++ -print-prog-name=cc1plus", &output, NULL, NULL, NULL))
    return NULL;
  g_strstrip (output);
  return g_path_is_absolute (output) ? g_steal_pointer (&output) : NULL;
}

/* Preprocessed, so that cc1plus needs no paths. */
static char *
write_source (void)
{
  g_autofree char *path =
      g_build_filename (g_get_tmp_dir (), "flambeau-unwind.cc", NULL);
  g_autofree char *output = g_strdup_printf ("%s.ii", path);
  g_autofree char *command =
      g_strdup_printf ("g++ -E -P %s -o %s", path, output);
  g_autoptr (GString) text =
      g_string_new ("#include <algorithm>\n#include <map>\n#include <regex>\n"
                    "#include <string>\n#include <vector>\n");
  int status;

  for (guint i = 0; i < 60; i++)
    g_string_append_printf (
        text,
        "struct t%u { int v; bool operator< (const t%u &o) const "
        "{ return v < o.v; } };\n"
        "int f%u (std::vector<t%u> &x, std::map<std::string, t%u> &y)\n"
        "{ std::sort (x.begin (), x.end ()); std::regex r (\"a%u+b\");\n"
        "  for (auto &p : y) if (std::regex_match (p.first, r)) "
        "x.push_back (p.second);\n  return (int) x.size (); }\n",
        i,
        i,
        i,
        i,
        i,
        i);
  if (!g_file_set_contents (path, text->str, -1, NULL) ||
      !g_spawn_command_line_sync (command, NULL, NULL, &status, NULL) ||
      !g_spawn_check_wait_status (status, NULL))
    return NULL;
  return g_steal_pointer (&output);
}

char **
snapshot_command (const char *name)
{
  static const char python[] =
      "import json, re\nwhile True:\n"
      "  d = json.loads(json.dumps([{'a': i, 'b': str(i)} for i in "
      "range(500)]))\n  s = sorted(d, key=lambda x: re.sub('1', '2', "
      "x['b']))\n";
  static const char node[] =
      "function f (n) { return n < 2 ? n : f (n - 1) + f (n - 2); }"
      "for (;;) { f (20); JSON.stringify (Array.from ({ length: 2000 }, "
      "(_, i) => ({ i, s: 'x' + i }))).replace (/1/g, c => c + '2')"
      ".split (',').sort (); }";
  g_autofree char *program = NULL;

  if (g_str_equal (name, "cc1plus"))
    {
      g_autofree char *source = write_source ();
      program = find_cc1plus ();
      if (program && source)
        return g_strdupv ((char *[]){ program,
                                      (char *)"-quiet",
                                      (char *)"-O2",
                                      source,
                                      (char *)"-o",
                                      (char *)"/dev/null",
                                      NULL });
      return NULL;
    }
  program = g_file_test ("/usr/bin/python3", G_FILE_TEST_EXISTS) &&
                    g_str_equal (name, "python3")
                ? g_strdup ("/usr/bin/python3")
                : g_find_program_in_path (name);
  if (!program)
    return NULL;
  return g_strdupv ((char *[]){
      program,
      (char *)(g_str_equal (name, "python3") ? "-c" : "-e"),
      (char *)(g_str_equal (name, "python3") ? python : node),
      NULL,
  });
}

/* --- our unwinder -------------------------------------------------------- */

static FlamUnwindTable *
load_vdso (pid_t pid, guint64 start, guint64 end)
{
  const char *why;
  FlamUnwindTable *table;
  gsize size = end - start;
  g_autofree void *image = g_malloc (size);
  struct iovec local = { image, size };
  struct iovec remote = { (void *)start, size };

  if (process_vm_readv (pid, &local, 1, &remote, 1, 0) != (gssize)size)
    return NULL;
  table = flam_unwind_table_new_memory (image, size, &why);
  return table;
}

static const FlamUnwindTable *
load_table (Ours *ours, pid_t pid, const char *path, guint64 start, guint64 end)
{
  gpointer known;
  const char *why;
  FlamUnwindTable *table = NULL;

  if (g_hash_table_lookup_extended (ours->tables, path, NULL, &known))
    return known;
  if (g_str_equal (path, "[vdso]"))
    table = load_vdso (pid, start, end);
  else if (path[0] == '/')
    {
      GMappedFile *file = g_mapped_file_new (path, FALSE, NULL);
      if (file)
        {
          table = flam_unwind_table_new_file (g_mapped_file_get_contents (file),
                                              g_mapped_file_get_length (file),
                                              &why);
          g_mapped_file_unref (file);
        }
    }
  g_hash_table_insert (ours->tables, g_strdup (path), table);
  return table;
}

Ours *
ours_new (pid_t pid)
{
  g_autofree char *name = g_strdup_printf ("/proc/%d/maps", (int)pid);
  g_autofree char *text = NULL;
  Ours *ours = g_new0 (Ours, 1);

  ours->space = flam_unwind_space_new ();
  ours->cache = flam_unwind_cache_new ();
  ours->tables = g_hash_table_new_full (
      g_str_hash, g_str_equal, g_free, (GDestroyNotify)flam_unwind_table_free);
  g_file_get_contents (name, &text, NULL, NULL);
  for (char *line = text, *next; line && *line; line = next)
    {
      guint64 start, end, offset;
      char perms[8];
      int at = 0;

      next = strchr (line, '\n');
      if (next)
        *next++ = '\0';
      if (sscanf (line,
                  "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %n",
                  &start,
                  &end,
                  perms,
                  &offset,
                  &at) != 4 ||
          perms[2] != 'x')
        continue;
      flam_unwind_space_add (
          ours->space,
          start,
          end,
          offset,
          load_table (ours, pid, at ? line + at : "", start, end),
          NULL);
    }
  return ours;
}

void
ours_free (Ours *ours)
{
  flam_unwind_space_free (ours->space);
  flam_unwind_cache_free (ours->cache);
  g_hash_table_unref (ours->tables);
  g_free (ours);
}

guint
ours_unwind (Ours *ours,
             const Snapshot *snapshot,
             guint64 *pcs,
             guint limit,
             FlamUnwindEnd *end)
{
  FlamUnwindMemory memory = { snapshot->stack, snapshot->base, snapshot->size };
  FlamUnwindRegs regs = {
    .pc = snapshot->regs[FLAM_UNWIND_PC],
    .sp = snapshot->regs[FLAM_UNWIND_SP],
    .bp = snapshot->regs[FLAM_UNWIND_FP],
    .all = snapshot->regs,
  };

  return (guint)flam_unwind_walk (
      ours->space, ours->cache, &memory, &regs, pcs, NULL, limit, end);
}

/* --- libdwfl ------------------------------------------------------------- */

struct _Oracle
{
  Dwfl *dwfl;
  pid_t pid;
  const Snapshot *snapshot;
  guint64 *pcs;
  guint n;
  guint limit;
};

static pid_t
next_thread (Dwfl *dwfl, void *data, void **thread)
{
  Oracle *oracle = data;

  if (*thread)
    return 0;
  *thread = oracle;
  return oracle->pid;
}

static bool
read_memory (Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *value, void *data)
{
  const Snapshot *snapshot = ((Oracle *)data)->snapshot;
  guint64 at = address - snapshot->base;

  if (at >= snapshot->size || snapshot->size - at < 8)
    return false;
  memcpy (value, snapshot->stack + at, 8);
  return true;
}

static bool
set_registers (Dwfl_Thread *thread, void *data)
{
  const Snapshot *snapshot = ((Oracle *)data)->snapshot;

  dwfl_thread_state_register_pc (thread, snapshot->regs[FLAM_UNWIND_PC]);
  return dwfl_thread_state_registers (thread, 0, 17, snapshot->regs);
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
  .next_thread = next_thread,
  .memory_read = read_memory,
  .set_initial_registers = set_registers,
};

static char *debuginfo_path = (char *)"";

static const Dwfl_Callbacks callbacks = {
  .find_elf = dwfl_linux_proc_find_elf,
  .find_debuginfo = dwfl_standard_find_debuginfo,
  .debuginfo_path = &debuginfo_path,
};

Oracle *
oracle_new (pid_t pid)
{
  Oracle *oracle = g_new0 (Oracle, 1);

  oracle->pid = pid;
  oracle->dwfl = dwfl_begin (&callbacks);
  if (dwfl_linux_proc_report (oracle->dwfl, pid) != 0 ||
      dwfl_report_end (oracle->dwfl, NULL, NULL) != 0 ||
      !dwfl_attach_state (oracle->dwfl, NULL, pid, &thread_callbacks, oracle))
    g_error ("libdwfl: %s", dwfl_errmsg (-1));
  return oracle;
}

void
oracle_free (Oracle *oracle)
{
  dwfl_end (oracle->dwfl);
  g_free (oracle);
}

static int
add_frame (Dwfl_Frame *frame, void *data)
{
  Oracle *oracle = data;
  Dwarf_Addr pc;
  bool activation;

  if (oracle->n == oracle->limit || !dwfl_frame_pc (frame, &pc, &activation))
    return DWARF_CB_ABORT;
  oracle->pcs[oracle->n++] = activation ? pc : pc - 1;
  return DWARF_CB_OK;
}

guint
oracle_unwind (Oracle *oracle,
               const Snapshot *snapshot,
               guint64 *pcs,
               guint limit)
{
  oracle->snapshot = snapshot;
  oracle->pcs = pcs;
  oracle->limit = limit;
  oracle->n = 0;
  dwfl_getthread_frames (oracle->dwfl, oracle->pid, add_frame, oracle);
  return oracle->n;
}

#define LIMIT 2000

Agreement
snapshots_compare (Ours *ours, Oracle *oracle, GArray *snapshots)
{
  guint64 mine[LIMIT], theirs[LIMIT];
  Agreement agreement = { .n = snapshots->len };
  FlamUnwindEnd end;

  for (guint i = 0; i < snapshots->len; i++)
    {
      const Snapshot *snapshot = &g_array_index (snapshots, Snapshot, i);
      guint n = ours_unwind (ours, snapshot, mine, LIMIT, &end);
      guint m = oracle_unwind (oracle, snapshot, theirs, LIMIT);
      guint same = 0;

      while (same < MIN (n, m) && mine[same] == theirs[same])
        same++;
      agreement.frames += n;
      if (same == m && n > m && end == FLAM_UNWIND_ROOT)
        agreement.longer++;
      else if (same > 0 && n == m + 1 &&
               memcmp (mine + same + 1,
                       theirs + same,
                       (m - same) * sizeof *theirs) == 0)
        agreement.missed++;
      else if (same != n || same != m)
        agreement.differ++;
    }
  return agreement;
}
