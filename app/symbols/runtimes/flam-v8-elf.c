/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-v8-elf.h"

#include "flam-symbol-table.h"

#include <string.h>

#define PREFIX "v8dbg_"
#define HELP N_ ("start it with --perf-basic-prof")
#define HELP_CHROMIUM N_ ("start it with --js-flags=--perf-basic-prof")

/* Some names, all values of which are known after one pass over the tables. */
typedef struct
{
  const FlamElf *elf;
  int fd;
  GHashTable *symbols; /* name -> GElf_Sym */
} Symbols;

#define LENGTHS "_ZN2v88internal11interpreter9Bytecodes14kBytecodeSizesE"
#define TABLE "_ZN2v88internal17ExternalReference25js_dispatch_table_addressEv"

#define ALLOCATE "_ZN4node27AllocateEnvironmentThreadIdEv"
#define WORKER_MAX 0x800 /* bytes of its code */
#define POOL "worker"

/* What threads are started with; a prefix, since argument types change. The
 * last one is the constructor of Worker. */
static const char *const starts[] = {
  [FLAM_V8_START_WORKER] = "_ZZN4node6worker6Worker11StartThreadERKN2v820"
                           "FunctionCallbackInfoINS2_5ValueEEEENUlPvE_4_FUNE",
  [FLAM_V8_START_PLATFORM] = "_ZN4node12_GLOBAL__N_1L20PlatformWorkerThreadEPv",
  [FLAM_V8_START_DELAYED] = "_ZZN4node23WorkerThreadsTaskRunner20"
                            "DelayedTaskScheduler5StartEvENUlPvE_4_FUNE",
  [FLAM_V8_START_INSPECTOR] = "_ZN4node9inspector12_GLOBAL__N_117"
                              "StartIoThreadMainEPv",
  [FLAM_V8_START_POOL] = POOL,
  [FLAM_V8_N_STARTS] = "_ZN4node6worker6WorkerC2E",
};

/* The one that a name begins with; NULL: none. */
static const char *
start_of (const char *name)
{
  if (strcmp (name, POOL) == 0)
    return starts[FLAM_V8_START_POOL];
  if (!g_str_has_prefix (name, "_Z") || strstr (name, ".cold") != NULL)
    return NULL;
  for (guint i = 0; i < G_N_ELEMENTS (starts); i++)
    if (i != FLAM_V8_START_POOL && g_str_has_prefix (name, starts[i]))
      return starts[i];
  return NULL;
}

static gboolean
is_wanted (const char *name)
{
  if (name[0] == 'v' && name[1] == '8')
    return g_str_has_prefix (name, PREFIX) ||
           g_str_has_prefix (name, "v8_Default_embedded_blob_");
  if (strcmp (name, ALLOCATE) == 0)
    return TRUE;
  return g_str_has_prefix (name, "_ZN2v88internal") &&
         (g_str_has_prefix (name, "_ZN2v88internal7Version6") ||
          strcmp (name, LENGTHS) == 0 || strcmp (name, TABLE) == 0);
}

static gboolean
take_symbol (gpointer data, const char *name, const GElf_Sym *symbol)
{
  Symbols *symbols = data;
  const char *start =
      GELF_ST_TYPE (symbol->st_info) == STT_FUNC ? start_of (name) : NULL;

  if (start != NULL || is_wanted (name))
    g_hash_table_insert (symbols->symbols,
                         g_strdup (start != NULL ? start : name),
                         g_memdup2 (symbol, sizeof *symbol));
  return FALSE;
}

static void
take_symbols (Symbols *symbols)
{
  symbols->symbols =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  flam_elf_foreach_symbol (symbols->elf, take_symbol, symbols);
}

static const GElf_Sym *
symbol_of (const Symbols *symbols, const char *name)
{
  return g_hash_table_lookup (symbols->symbols, name);
}

/* Zeros have no bytes in the file. */
static gboolean
int_of (const Symbols *symbols, const char *name, gint32 *value)
{
  const GElf_Sym *symbol = symbol_of (symbols, name);

  if (symbol == NULL)
    return FALSE;
  if (flam_runtime_file_read (
          symbols->elf, symbols->fd, symbol->st_value, value, sizeof *value) !=
      sizeof *value)
    *value = 0;
  return TRUE;
}

static bool
find_value (gpointer data, const char *name, gint32 *value)
{
  g_autofree char *whole = g_strconcat (PREFIX, name, NULL);

  return int_of (data, whole, value);
}

#define MAJOR "_ZN2v88internal7Version6major_E"

static guint32
version_of (const Symbols *symbols, char *text, gsize size)
{
  gint32 major, minor, build;

  if (!int_of (symbols, MAJOR, &major) ||
      !int_of (symbols, "_ZN2v88internal7Version6minor_E", &minor) ||
      !int_of (symbols, "_ZN2v88internal7Version6build_E", &build))
    return 0;
  g_snprintf (text, size, "%d.%d.%d", major, minor, build);
  return FLAM_V8_VERSION (
      major & 255, minor & 255, CLAMP (build, 0, G_MAXUINT16));
}

/* V8 10.4 on; from 8.5 on the first name is that of a pointer; before that,
 * code and data of the builtins were one. */
static void
find_builtins (const Symbols *symbols, FlamV8File *v8)
{
  const GElf_Sym *code =
      symbol_of (symbols, "v8_Default_embedded_blob_code_data_");
  gint32 size;

  if (code == NULL)
    code = symbol_of (symbols, "v8_Default_embedded_blob_code_");
  if (code == NULL)
    code = symbol_of (symbols, "v8_Default_embedded_blob_data_");
  if (code != NULL &&
      (int_of (symbols, "v8_Default_embedded_blob_code_size_", &size) ||
       int_of (symbols, "v8_Default_embedded_blob_size_", &size)) &&
      size > 0)
    v8->builtins =
        (FlamRuntimeRange){ code->st_value, code->st_value + (guint32)size };
}

static void
find_native (const FlamElf *elf, FlamV8File *v8)
{
  guint n;
  const FlamElfSegment *segments = flam_elf_get_segments (elf, &n);

  for (guint i = 0; i < n; i++)
    if (segments[i].executable)
      {
        guint64 end = segments[i].vaddr + segments[i].memory_size;

        if (v8->native.end == 0)
          v8->native.start = segments[i].vaddr;
        v8->native.start = MIN (v8->native.start, segments[i].vaddr);
        v8->native.end = MAX (v8->native.end, end);
      }
}

/* The function that returns the address of the dispatch table loads the address
 * of an object, "mov rax, [rip + x]", and a field of it, "mov rax, [rax + y]".
 */
static void
find_dispatch_table (const Symbols *symbols, FlamV8File *v8)
{
  const GElf_Sym *symbol = symbol_of (symbols, TABLE);
  guint8 code[14];
  gint32 there, field;

  if (symbol == NULL ||
      flam_runtime_file_read (
          symbols->elf, symbols->fd, symbol->st_value, code, sizeof code) !=
          sizeof code ||
      memcmp (code, "\x48\x8b\x05", 3) != 0 ||
      memcmp (code + 7, "\x48\x8b\x80", 3) != 0)
    return;
  memcpy (&there, code + 3, sizeof there);
  memcpy (&field, code + 10, sizeof field);
  v8->table_owner = symbol->st_value + 7 + (guint64)(gint64)there;
  v8->table_offset = field > 0 ? (guint32)field : 0;
}

static void
find_bytecode_lengths (const Symbols *symbols, FlamV8File *v8)
{
  const GElf_Sym *symbol = symbol_of (symbols, LENGTHS);

  if (symbol == NULL || symbol->st_size % 3 != 0 || symbol->st_size / 3 > 256)
    return;
  v8->bytecode_lengths = symbol->st_value;
  v8->n_bytecodes = (guint32)(symbol->st_size / 3);
}

static void
find_threads (const Symbols *symbols, FlamV8Threads *threads)
{
  const GElf_Sym *allocate = symbol_of (symbols, ALLOCATE);
  const GElf_Sym *worker = symbol_of (symbols, starts[FLAM_V8_N_STARTS]);
  guint8 code[WORKER_MAX];
  gsize n;

  for (guint i = 0; i < FLAM_V8_N_STARTS; i++)
    {
      const GElf_Sym *symbol = symbol_of (symbols, starts[i]);

      threads->starts[i] = symbol != NULL ? symbol->st_value : 0;
    }
  if (allocate == NULL || worker == NULL)
    return;
  n = flam_runtime_file_read (symbols->elf,
                              symbols->fd,
                              worker->st_value,
                              code,
                              MIN (sizeof code, worker->st_size));
  threads->number = flam_v8_threads_find_number (
      code, n, worker->st_value, allocate->st_value);
}

/* The names of the values for debuggers are in the table of dynamic names. */
static gboolean
may_be_in (const FlamElf *elf)
{
  static const char name[] = "\0" PREFIX "SmiTag";
  FlamElfSection names;

  return flam_elf_get_section (elf, ".dynstr", &names) && names.data != NULL &&
         memmem (names.data, names.size, name, sizeof name) != NULL;
}

/* Programs based on Chromium keep V8's state at its start in a file beside
 * them; they export nothing. */
static gboolean
is_chromium (const FlamElf *elf, const char *path)
{
  g_autofree char *folder = g_path_get_dirname (path);
  g_autofree char *snapshot =
      g_build_filename (folder, "v8_context_snapshot.bin", NULL);

  return flam_elf_has_section (elf, ".interp") &&
         g_file_test (snapshot, G_FILE_TEST_EXISTS);
}

static gboolean
refuse_chromium (FlamRuntimeFile *file)
{
  file->why = N_ ("it compresses pointers, as Chrome and Electron do");
  file->help = HELP_CHROMIUM;
  return TRUE;
}

gboolean
flam_v8_find (const FlamElf *elf,
              int fd,
              const char *path,
              FlamRuntimeFile *file)
{
  Symbols symbols = { .elf = elf, .fd = fd };
  FlamV8File v8 = { 0 };
  guint32 version;

  if (flam_elf_get_machine (elf) != EM_X86_64)
    return FALSE;
  if (is_chromium (elf, path))
    return refuse_chromium (file);
  if (!may_be_in (elf))
    return FALSE;
  take_symbols (&symbols);
  version = version_of (&symbols, file->version, sizeof file->version);
  file->why = flam_v8_layout_init (&v8.layout, version, find_value, &symbols);
  file->help = file->why != NULL ? HELP : NULL;
  file->variable = "NODE_OPTIONS=--perf-basic-prof";
  if (version != 0)
    v8.major = symbol_of (&symbols, MAJOR)->st_value;
  find_native (elf, &v8);
  find_builtins (&symbols, &v8);
  find_bytecode_lengths (&symbols, &v8);
  find_threads (&symbols, &v8.threads);
  if (v8.layout.function_has_handle)
    find_dispatch_table (&symbols, &v8);
  g_hash_table_unref (symbols.symbols);
  file->facts = g_memdup2 (&v8, sizeof v8);
  return TRUE;
}
