/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-binary-table.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "flam-elf.h"
#include "flam-environment.h"
#include "flam-proc.h"
#include "flam-file-map.h"
#include "flam-jit.h"
#include "flam-kallsyms.h"
#include "flam-path-access.h"
#include "flam-runtime-table.h"
#include "flam-stops.h"

#define IMAGE_MAX (64u << 20)
#define SEGMENTS_MAX 64
#define GAPS_MAX 8
#define PAGE_MASK ((guint64)4095)

/* The root folder of processes in a container. It stays open, since /proc/PID
 * ends with the process. */
typedef struct
{
  char *mounts; /* the mount namespace, as its link shows it */
  struct stat st;
  int fd;
  char *path; /* by which it is reached, through the descriptor */
} Root;

struct _FlamBinaryTable
{
  FlamBuilder *builder;
  const FlamRecordOptions *options;
  gboolean warned_of_leak_check;
  GHashTable *by_key; /* "device inode path" -> FlamBinary; for generated code,
                       * with the process's number before it */
  GPtrArray *roots;   /* Root */
  GPtrArray *list;
  FlamBinary *kernel;        /* NULL: no stack ended in it */
  GHashTable *kernel_frames; /* address -> row + 1 */
};

static void
binary_free (gpointer data)
{
  FlamBinary *binary = data;

  if (binary->fd >= 0)
    close (binary->fd);
  flam_unwind_table_free (binary->table);
  g_free (binary->image);
  g_free (binary->build_id);
  g_free (binary->in_root);
  g_clear_pointer (&binary->runtimes, g_ptr_array_unref);
  g_free (binary->path);
  g_free (binary);
}

static void
root_free (gpointer data)
{
  Root *root = data;

  close (root->fd);
  g_free (root->mounts);
  g_free (root->path);
  g_free (root);
}

FlamBinaryTable *
flam_binary_table_new (FlamBuilder *builder, const FlamRecordOptions *options)
{
  FlamBinaryTable *binaries = g_new0 (FlamBinaryTable, 1);

  binaries->builder = builder;
  binaries->options = options;
  binaries->by_key =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  binaries->list = g_ptr_array_new_with_free_func (binary_free);
  binaries->roots = g_ptr_array_new_with_free_func (root_free);
  binaries->kernel_frames = g_hash_table_new (NULL, NULL);
  return binaries;
}

void
flam_binary_table_free (FlamBinaryTable *binaries)
{
  g_hash_table_unref (binaries->by_key);
  g_ptr_array_unref (binaries->list);
  g_ptr_array_unref (binaries->roots);
  g_hash_table_unref (binaries->kernel_frames);
  g_free (binaries);
}

guint
flam_binary_table_n (const FlamBinaryTable *binaries)
{
  return binaries->list->len;
}

FlamBinary *
flam_binary_table_at (const FlamBinaryTable *binaries, guint i)
{
  return g_ptr_array_index (binaries->list, i);
}

/* --- the file ------------------------------------------------------------ */

/* Device numbers in maps differ from stat()'s on btrfs and overlays, so the
 * inode alone is compared. -1 unless it is the same file. */
static int
open_same (const char *path, guint64 inode)
{
  struct stat st;
  int fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

  if (fd < 0)
    flam_proc_note_error (errno);
  if (fd >= 0 && (fstat (fd, &st) != 0 || !S_ISREG (st.st_mode) ||
                  (guint64)st.st_ino != inode))
    {
      close (fd);
      fd = -1;
    }
  return fd;
}

static gboolean
is_root (const Root *root, const char *mounts, const struct stat *st)
{
  return strcmp (root->mounts, mounts) == 0 && root->st.st_dev == st->st_dev &&
         root->st.st_ino == st->st_ino;
}

/* NULL: it has this process's files. */
static const char *
root_of (FlamBinaryTable *binaries, pid_t tid)
{
  g_autofree char *path = g_strdup_printf ("/proc/%d/root", (int)tid);
  g_autofree char *link = g_strdup_printf ("/proc/%d/ns/mnt", (int)tid);
  g_autofree char *mounts = g_file_read_link (link, NULL);
  g_autofree char *own_mounts = g_file_read_link ("/proc/self/ns/mnt", NULL);
  Root own = { .mounts = own_mounts };
  struct stat st;
  Root *root;
  int fd;

  if (mounts == NULL || own_mounts == NULL || stat (path, &st) != 0 ||
      stat ("/", &own.st) != 0 || is_root (&own, mounts, &st))
    return NULL;
  for (guint i = 0; i < binaries->roots->len; i++)
    if (is_root (g_ptr_array_index (binaries->roots, i), mounts, &st))
      return ((Root *)g_ptr_array_index (binaries->roots, i))->path;
  fd = open (path, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return NULL;
  root = g_new0 (Root, 1);
  root->mounts = g_steal_pointer (&mounts);
  root->st = st;
  root->fd = fd;
  root->path = g_strdup_printf ("/proc/self/fd/%d", fd);
  g_ptr_array_add (binaries->roots, root);
  flam_path_access_grant_root (root->path);
  return root->path;
}

/* The path of a mapping begins at the root of the mounts, which chroot() does
 * not change. */
static char *
path_in_root (const char *path, pid_t tid)
{
  g_autofree char *link = g_strdup_printf ("/proc/%d/root", (int)tid);
  g_autofree char *folder = g_file_read_link (link, NULL);
  gsize n = folder != NULL && strcmp (folder, "/") != 0 ? strlen (folder) : 0;

  return g_strdup (strncmp (path, folder != NULL ? folder : "", n) == 0 &&
                           path[n] == '/'
                       ? path + n
                       : path);
}

/* Another file in a container may have the same path and the same inode here,
 * since both were made from the same packages. */
static void
open_in_root (FlamBinaryTable *binaries,
              FlamBinary *binary,
              pid_t tid,
              const FlamMapping *mapping)
{
  const char *root = root_of (binaries, tid);
  g_autofree char *inside = path_in_root (binary->path, tid);
  g_autofree char *path = NULL;

  if (root == NULL)
    return;
  path = g_strconcat (root, inside, NULL);
  binary->fd = open_same (path, mapping->inode);
  if (binary->fd < 0)
    return;
  binary->root = root;
  binary->in_root = g_steal_pointer (&path);
}

static int
open_mapped (pid_t tid, const FlamMapping *mapping)
{
  g_autofree char *path = g_strdup_printf (
      "/proc/%d/map_files/%" G_GINT64_MODIFIER "x-%" G_GINT64_MODIFIER "x",
      (int)tid,
      mapping->start,
      mapping->end);

  return open_same (path, mapping->inode);
}

static void
open_file (FlamBinaryTable *binaries,
           FlamBinary *binary,
           pid_t tid,
           const FlamMapping *mapping)
{
  char own[64];

  open_in_root (binaries, binary, tid, mapping);
  if (binary->fd < 0)
    {
      binary->fd = open_same (binary->path, mapping->inode);
      binary->same_path = binary->fd >= 0;
    }
  g_snprintf (own, sizeof own, "/proc/%d/exe", (int)tid);
  if (binary->fd < 0)
    binary->fd = open_same (own, mapping->inode);
  if (binary->fd < 0)
    binary->fd = open_mapped (tid, mapping);
}

/* A file without a path, such as a plugin that the program has unpacked into
 * memory: as it is mapped, which needs privileges, or as the program has it
 * open. -1: it cannot be opened. */
static int
open_nameless (pid_t tid, const FlamMapping *mapping)
{
  g_autofree char *folder = g_strdup_printf ("/proc/%d/fd", (int)tid);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;
  int fd = open_mapped (tid, mapping);

  while (fd < 0 && dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);
      g_autofree char *link = g_file_read_link (path, NULL);

      if (g_strcmp0 (link, mapping->path) == 0)
        fd = open_same (path, mapping->inode);
    }
  return fd;
}

/* --- as it is loaded ----------------------------------------------------- */

/* An ELF file in the memory of a process. */
typedef struct
{
  guint64 base;   /* where its first page is */
  guint64 lowest; /* the address of this page in the file */
  guint64 end;    /* of what is loaded of it, likewise */
  Elf64_Ehdr header;
  Elf64_Phdr segments[SEGMENTS_MAX];
} Loaded;

static gboolean
read_loaded (pid_t tid, guint64 base, Loaded *loaded)
{
  Elf64_Ehdr *header = &loaded->header;
  gsize size;

  *loaded = (Loaded){ .base = base, .lowest = G_MAXUINT64 };
  if (flam_read_memory (tid, base, header, sizeof *header) != sizeof *header ||
      memcmp (header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64 ||
      header->e_phentsize != sizeof loaded->segments[0] ||
      header->e_phnum > SEGMENTS_MAX || header->e_phoff > IMAGE_MAX)
    return FALSE;
  size = header->e_phnum * sizeof loaded->segments[0];
  if (flam_read_memory (tid, base + header->e_phoff, loaded->segments, size) !=
      size)
    return FALSE;
  for (guint i = 0; i < header->e_phnum; i++)
    {
      const Elf64_Phdr *segment = &loaded->segments[i];

      if (segment->p_type != PT_LOAD)
        continue;
      loaded->lowest = MIN (loaded->lowest, segment->p_vaddr & ~PAGE_MASK);
      loaded->end = MAX (loaded->end, segment->p_vaddr + segment->p_filesz);
    }
  return loaded->end > loaded->lowest;
}

static gboolean
contains (const Loaded *loaded, const FlamMapping *mapping)
{
  for (guint i = 0; i < loaded->header.e_phnum; i++)
    {
      const Elf64_Phdr *segment = &loaded->segments[i];
      guint64 page = segment->p_vaddr & ~PAGE_MASK;

      if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X) &&
          loaded->base + page - loaded->lowest == mapping->start &&
          (segment->p_offset & ~PAGE_MASK) == mapping->offset)
        return TRUE;
    }
  return FALSE;
}

/* Some linkers leave a gap of a page between two segments. FALSE: the mapping
 * is not code of an ELF file whose header is loaded, too. */
static gboolean
find_loaded (pid_t tid, const FlamMapping *mapping, Loaded *loaded)
{
  for (guint gaps = 0; gaps < GAPS_MAX; gaps++)
    if (read_loaded (tid,
                     mapping->start - mapping->offset - gaps * (PAGE_MASK + 1),
                     loaded) &&
        contains (loaded, mapping))
      return TRUE;
  return FALSE;
}

/* A file that cannot be opened: deleted, or replaced by a new version, while
 * the process runs on. Its sections are not loaded. */
static void
copy_loaded (FlamBinary *binary, pid_t tid, const FlamMapping *mapping)
{
  Loaded loaded;

  if (!find_loaded (tid, mapping, &loaded) ||
      loaded.end - loaded.lowest > IMAGE_MAX ||
      loaded.end - loaded.lowest < sizeof loaded.header)
    return;
  binary->image_size = loaded.end - loaded.lowest;
  binary->image = g_malloc0 (binary->image_size);
  for (guint i = 0; i < loaded.header.e_phnum; i++)
    {
      const Elf64_Phdr *segment = &loaded.segments[i];
      guint64 at = segment->p_vaddr - loaded.lowest;

      if (segment->p_type == PT_LOAD && at < binary->image_size)
        flam_read_memory (tid,
                          loaded.base + at,
                          binary->image + at,
                          MIN (segment->p_filesz, binary->image_size - at));
    }
  loaded.header.e_shoff = 0;
  loaded.header.e_shnum = loaded.header.e_shstrndx = 0;
  memcpy (binary->image, &loaded.header, sizeof loaded.header);
}

/* Whether environment variables make the target write its functions' names
 * itself. */
static gboolean
names_itself (const FlamBinaryTable *binaries, const char *variable)
{
  const FlamRecordOptions *options = binaries->options;
  g_auto (GStrv) environment = NULL;

  if (variable == NULL || flam_record_options_attaches (options))
    return FALSE;
  environment = g_get_environ ();
  return flam_environment_has ((const char *const *)environment, variable) ||
         flam_environment_has ((const char *const *)options->environment,
                               variable);
}

/* Adds a word to a fact that is a list of them. */
static void
note_in_list (FlamBuilder *builder,
              const char *fact,
              const char *joint,
              const char *word)
{
  const char *list = flam_builder_noted (builder, fact);
  g_autofree char *longer =
      list != NULL ? g_strconcat (list, joint, word, NULL) : g_strdup (word);

  if (list == NULL || strstr (list, word) == NULL)
    flam_builder_note_fact (builder, fact, longer);
}

void
flam_binary_table_refuse (gpointer data,
                          const FlamRuntime *runtime,
                          const char *path,
                          const FlamRuntimeFile *file,
                          const char *why,
                          const char *help)
{
  FlamBinaryTable *binaries = data;
  g_autofree char *label = g_strdup_printf ("%s%s%s",
                                            runtime->label,
                                            file->version[0] != '\0' ? " " : "",
                                            file->version);

  if (help != NULL && names_itself (binaries, file->variable))
    return;
  if (help == NULL)
    {
      flam_builder_note_warning (
          binaries->builder,
          N_ ("%s: its %s functions cannot be shown: %s"),
          path,
          label,
          why);
      return;
    }
  flam_builder_note_warning (
      binaries->builder,
      N_ ("%s: its %s functions cannot be shown: %s; %s"),
      path,
      label,
      why,
      help);
  if (file->variable != NULL)
    {
      g_autofree char *word = g_shell_quote (file->variable);

      note_in_list (binaries->builder, FLAM_FACT_UNREAD, ", ", label);
      note_in_list (binaries->builder, FLAM_FACT_UNREAD_VARIABLES, " ", word);
    }
}

static void
runtime_free (gpointer data)
{
  FlamRuntimeBinary *found = data;

  flam_runtime_file_clear (&found->file);
  g_free (found);
}

static gboolean
is_wanted (const FlamBinaryTable *binaries, const FlamRuntime *runtime)
{
  return binaries->options->python || strcmp (runtime->label, "Python") != 0;
}

static void
find_runtimes (FlamBinaryTable *binaries, FlamBinary *binary, FlamElf *elf)
{
  const FlamRuntime *const *table = flam_runtime_table ();

  if (flam_elf_get_machine (elf) != FLAM_UNWIND_ELF_MACHINE)
    return;
  for (guint i = 0; table[i] != NULL; i++)
    {
      FlamRuntimeBinary found = { .runtime = table[i], .path = binary->path };

      if (!is_wanted (binaries, table[i]) ||
          !table[i]->find (elf, binary->fd, binary->path, &found.file))
        continue;
      /* The readers find the registers and the code of x86-64. */
      if (FLAM_UNWIND_ELF_MACHINE != EM_X86_64)
        {
          flam_binary_table_refuse (binaries,
                                    found.runtime,
                                    binary->path,
                                    &found.file,
                                    N_ ("they can only be read on x86-64"),
                                    NULL);
          flam_runtime_file_clear (&found.file);
          continue;
        }
      if (binary->runtimes == NULL)
        binary->runtimes = g_ptr_array_new_with_free_func (runtime_free);
      g_ptr_array_add (binary->runtimes, g_memdup2 (&found, sizeof found));
      if (found.file.why != NULL)
        flam_binary_table_refuse (binaries,
                                  found.runtime,
                                  binary->path,
                                  &found.file,
                                  found.file.why,
                                  found.file.help);
    }
}

/* LeakSanitizer looks for leaks at a program's end with ptrace, which only one
 * process at a time may use on another: its runtime, in a library or in the
 * program itself, refers to this function for the user to define. */
static gboolean
checks_leaks (const FlamElf *elf)
{
  static const char name[] = "\0__lsan_default_suppressions";
  FlamElfSection names;

  return flam_elf_get_section (elf, ".dynstr", &names) && names.data != NULL &&
         memmem (names.data, names.size, name, sizeof name) != NULL;
}

static void
warn_of_leak_check (FlamBinaryTable *binaries, const FlamBinary *binary)
{
  if (!binaries->warned_of_leak_check)
    flam_builder_note_warning (
        binaries->builder,
        N_ ("%s checks for leaks when the program ends; while it is recorded, "
            "this check fails and changes the exit status: "
            "ASAN_OPTIONS=detect_leaks=0 or LSAN_OPTIONS=detect_leaks=0 turns "
            "it off"),
        binary->path);
  binaries->warned_of_leak_check = TRUE;
}

static guint64
code_bias (const FlamElf *elf)
{
  guint n;
  const FlamElfSegment *segments = flam_elf_get_segments (elf, &n);

  for (guint i = 0; i < n; i++)
    if (segments[i].executable)
      return segments[i].vaddr - segments[i].offset;
  return 0;
}

/* Reads the binary's ELF file. */
static void
inspect (FlamBinaryTable *binaries, FlamBinary *binary)
{
  g_autofree char *own = g_strdup_printf ("/proc/self/fd/%d", binary->fd);
  g_autoptr (FlamElf) elf = NULL;

  if (binary->image != NULL)
    elf = flam_elf_new_from_data (
        binary->path, binary->image, binary->image_size, NULL);
  else if (binary->fd >= 0)
    elf = flam_elf_open (own, NULL);
  binary->build_id = g_strdup (elf != NULL ? flam_elf_get_build_id (elf) : "");
  binary->code_bias = elf != NULL ? code_bias (elf) : 0;
  if (elf != NULL && checks_leaks (elf))
    warn_of_leak_check (binaries, binary);
  if (elf != NULL && binary->fd >= 0 && binaries->options->runtimes)
    find_runtimes (binaries, binary, elf);
}

static void
copy_vdso (FlamBinary *binary, pid_t tid, const FlamMapping *mapping)
{
  gsize size = MIN (mapping->end - mapping->start, IMAGE_MAX);

  binary->image = g_malloc (size);
  binary->image_size =
      flam_read_memory (tid, mapping->start, binary->image, size);
  if (binary->image_size == 0)
    g_clear_pointer (&binary->image, g_free);
}

static FlamBinaryKind
kind_of (const char *path)
{
  if (strcmp (path, "[vdso]") == 0)
    return FLAM_BINARY_VDSO;
  return path[0] == '/' && !g_str_has_prefix (path, "/memfd:") &&
                 !g_str_has_prefix (path, "/dev/") &&
                 !g_str_has_prefix (path, "/SYSV")
             ? FLAM_BINARY_FILE
             : FLAM_BINARY_ANONYMOUS;
}

static FlamBinary *
binary_new (FlamBinaryTable *binaries,
            pid_t tid,
            const FlamMapping *mapping,
            FlamBinaryKind kind)
{
  FlamBinary *binary = g_new0 (FlamBinary, 1);

  binary->fd = -1;
  binary->kind = kind;
  binary->path = g_strdup (mapping->path);
  binary->deleted = g_str_has_suffix (binary->path, " (deleted)");
  if (binary->deleted)
    binary->path[strlen (binary->path) - strlen (" (deleted)")] = '\0';
  if (kind == FLAM_BINARY_VDSO)
    copy_vdso (binary, tid, mapping);
  else if (kind_of (mapping->path) == FLAM_BINARY_FILE)
    open_file (binaries, binary, tid, mapping);
  else if (kind == FLAM_BINARY_FILE)
    binary->fd = open_nameless (tid, mapping);
  if (kind == FLAM_BINARY_FILE && binary->fd < 0)
    copy_loaded (binary, tid, mapping);
  inspect (binaries, binary);
  binary->id = flam_builder_module (binaries->builder,
                                    binary->path,
                                    binary->build_id,
                                    binary->kind == FLAM_BINARY_ANONYMOUS
                                        ? FLAM_ADDRESS_ABSOLUTE
                                        : FLAM_ADDRESS_FILE_OFFSET);
  g_ptr_array_add (binaries->list, binary);
  return binary;
}

/* One for all of a process. */
static FlamBinary *
generated_code (FlamBinaryTable *binaries,
                pid_t pid,
                pid_t tid,
                const FlamMapping *mapping)
{
  g_autofree char *name = flam_jit_module_path (pid);
  FlamBinary *binary = g_hash_table_lookup (binaries->by_key, name);
  FlamMapping shown = *mapping;

  if (binary != NULL)
    return binary;
  shown.path = name;
  binary = binary_new (binaries, tid, &shown, FLAM_BINARY_ANONYMOUS);
  g_hash_table_insert (binaries->by_key, g_steal_pointer (&name), binary);
  return binary;
}

FlamBinary *
flam_binary_table_get (FlamBinaryTable *binaries,
                       pid_t pid,
                       pid_t tid,
                       const FlamMapping *mapping)
{
  g_autofree char *key =
      g_strdup_printf ("%" G_GINT64_MODIFIER "x %" G_GUINT64_FORMAT " %s",
                       mapping->device,
                       mapping->inode,
                       mapping->path);
  g_autofree char *generated = g_strdup_printf ("%d %s", (int)pid, key);
  FlamBinary *binary = g_hash_table_lookup (binaries->by_key, key);
  FlamBinaryKind kind = kind_of (mapping->path);
  Loaded loaded;

  if (binary == NULL)
    binary = g_hash_table_lookup (binaries->by_key, generated);
  if (binary != NULL)
    return binary;
  if (kind == FLAM_BINARY_ANONYMOUS && mapping->inode != 0 &&
      find_loaded (tid, mapping, &loaded))
    kind = FLAM_BINARY_FILE;
  if (kind != FLAM_BINARY_ANONYMOUS)
    binary = binary_new (binaries, tid, mapping, kind);
  else
    {
      binary = generated_code (binaries, pid, tid, mapping);
      g_free (key);
      key = g_steal_pointer (&generated);
    }
  g_hash_table_insert (binaries->by_key, g_steal_pointer (&key), binary);
  return binary;
}

/* --- the kernel ---------------------------------------------------------- */

static FlamBinary *
kernel_new (FlamBinaryTable *binaries)
{
  FlamBinary *binary = g_new0 (FlamBinary, 1);

  binary->fd = -1;
  binary->kind = FLAM_BINARY_KERNEL;
  binary->path = g_strdup ("[kernel.kallsyms]");
  binary->build_id = flam_kernel_build_id ();
  binary->id = flam_builder_module (
      binaries->builder, binary->path, binary->build_id, FLAM_ADDRESS_ABSOLUTE);
  g_ptr_array_add (binaries->list, binary);
  return binary;
}

FlamFrameId
flam_binary_table_kernel_frame (FlamBinaryTable *binaries, guint64 address)
{
  gpointer key = GSIZE_TO_POINTER (address);
  guint row =
      GPOINTER_TO_UINT (g_hash_table_lookup (binaries->kernel_frames, key));
  FlamRecordedFrame frame = { .file = FLAM_NONE,
                              .address = address,
                              .function = FLAM_NONE };

  if (row > 0)
    return row - 1;
  if (binaries->kernel == NULL)
    binaries->kernel = kernel_new (binaries);
  frame.module = binaries->kernel->id;
  row = flam_builder_recorded_frame (binaries->builder, &frame);
  g_hash_table_insert (
      binaries->kernel_frames, key, GUINT_TO_POINTER (row + 1));
  return row;
}

/* --- its unwind table ---------------------------------------------------- */

static FlamUnwindTable *
table_of_file (int fd)
{
  struct stat st;
  const char *why;
  g_autoptr (FlamFileMap) file = NULL;

  if (fd < 0 || fstat (fd, &st) != 0 || st.st_size <= 0)
    return NULL;
  file = flam_file_map_new (fd, (gsize)st.st_size);
  return file ? flam_unwind_table_new_file (file->data, file->size, &why)
              : NULL;
}

const FlamUnwindTable *
flam_binary_get_unwind_table (FlamBinary *binary)
{
  const char *why;

  if (binary->table_tried)
    return binary->table;
  binary->table_tried = TRUE;
  if (binary->image != NULL)
    binary->table =
        flam_unwind_table_new_memory (binary->image, binary->image_size, &why);
  else
    binary->table = table_of_file (binary->fd);
  return binary->table;
}
