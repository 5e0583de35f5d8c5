/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-python-chain.h"

#include <string.h>

#include "flam-python-frames.h"
#include "flam-python-threads.h"
#include "flam-symbol-table.h"
#include "flam-thread-data.h"

#define FRAME_BACK 24
#define FRAME_CODE 32
#define FRAME_SIZE 128 /* the bytes that are read of one */
#define STATE_FRAME 24
#define KEYS_MAX 1024   /* PTHREAD_KEYS_MAX */
#define ASCII_SIZE 48   /* of a PyASCIIObject */
#define COMPACT_SIZE 72 /* of a PyCompactUnicodeObject */
#define CODE_MAX 128    /* bytes of the function that has the key */

/* The offsets within the structures, and of the key in _PyRuntime. */
static const struct
{
  guint minor;
  guint16 key;
  guint16 thread_id;
  guint16 frame_last;
  guint16 first_line;
  guint16 file;
} versions[] = {
  { 6, 0, 152, 120, 36, 96 },      { 7, 0x5e0, 176, 104, 36, 96 },
  { 8, 0x570, 176, 104, 40, 104 }, { 9, 0x248, 176, 104, 40, 104 },
  { 10, 0x248, 176, 96, 40, 104 },
};

/* --- the file ------------------------------------------------------------ */

/* "libpython3.9.so.1.0", "python3.9", "libpython3.6m.so": the minor version; 0:
 * another file. */
static guint
minor_of (const char *path)
{
  g_autofree char *name = g_path_get_basename (path);
  const char *at = g_str_has_prefix (name, "lib") ? name + 3 : name;
  char *end;
  guint64 minor;

  if (!g_str_has_prefix (at, "python3."))
    return 0;
  at += strlen ("python3.");
  minor = g_ascii_strtoull (at, &end, 10);
  return end > at && minor < 100 ? (guint)minor : 0;
}

/* The address of the key in PyGILState_GetThisThreadState(): the one that it
 * loads into edi (3.6), or passes to pthread's function in rdi, relative to
 * _PyRuntime in rax or to the program counter. 0: not found. */
static guint64
decode_key (const FlamElf *elf, int fd, guint64 runtime)
{
  guint8 code[CODE_MAX];
  guint64 vaddr, size;
  gsize n;

  if (!flam_elf_find_symbol (
          elf, "PyGILState_GetThisThreadState", &vaddr, &size))
    return 0;
  n = flam_runtime_file_read (elf, fd, vaddr, code, MIN (size, sizeof code));
  for (gsize i = 0; i + 7 <= n; i++)
    {
      gint32 value;

      if (code[i] == 0x8b && code[i + 1] == 0x3d)
        {
          memcpy (&value, code + i + 2, sizeof value);
          return vaddr + i + 6 + (guint64)(gint64)value;
        }
      memcpy (&value, code + i + 3, sizeof value);
      if (code[i] == 0x48 && code[i + 1] == 0x8d && code[i + 2] == 0x3d)
        return vaddr + i + 7 + (guint64)(gint64)value;
      if (code[i] == 0x48 && code[i + 1] == 0x8d && code[i + 2] == 0xb8 &&
          runtime != 0)
        return runtime + (guint64)(gint64)value;
    }
  return 0;
}

gboolean
flam_python_chain_is_named (const char *path)
{
  guint minor = minor_of (path);

  return minor >= 6 && minor <= 10;
}

gboolean
flam_python_chain_find (const FlamElf *elf,
                        int fd,
                        const char *path,
                        FlamRuntimeFile *file)
{
  FlamPythonChain chain = { 0 };
  guint minor = minor_of (path);
  guint64 vaddr, size, runtime = 0;

  if (!flam_python_chain_is_named (path) ||
      !flam_runtime_file_add_evaluator (file, elf, "_PyEval_EvalFrameDefault"))
    return FALSE;
  flam_runtime_file_add_evaluator (file, elf, "_PyEval_EvalFrameDefault.cold");
  if (flam_elf_find_symbol (elf, "_PyRuntime", &vaddr, &size))
    runtime = vaddr;
  for (guint i = 0; i < G_N_ELEMENTS (versions); i++)
    if (versions[i].minor == minor)
      {
        chain.version = 3u << 24 | minor << 16;
        chain.key = decode_key (elf, fd, runtime);
        if (chain.key == 0 && runtime != 0 && versions[i].key != 0)
          chain.key = runtime + versions[i].key;
        chain.has_flag = minor > 6;
        chain.runtime = runtime;
        chain.thread_id = versions[i].thread_id;
        chain.frame_last = versions[i].frame_last;
        chain.first_line = versions[i].first_line;
        chain.file = versions[i].file;
        chain.name = versions[i].file + 8;
        chain.lines = versions[i].file + 16;
      }
  g_snprintf (file->version, sizeof file->version, "3.%u", minor);
  if (chain.key == 0)
    file->why = N_ ("its thread states were not found in the file");
  file->facts = g_memdup2 (&chain, sizeof chain);
  return TRUE;
}

/* --- frames -------------------------------------------------------------- */

/* The thread's PyThreadState; 0: none. glibc's pthread_t is the thread
 * pointer. */
static guint64
find_state (const FlamPythonChain *chain,
            const FlamRuntimeMemory *memory,
            guint64 base,
            guint64 fs_base)
{
  guint32 key[2] = { 1, 0 };
  guint64 state, id;

  if (!flam_runtime_read (memory,
                          base + chain->key,
                          chain->has_flag ? key : key + 1,
                          chain->has_flag ? sizeof key : sizeof *key) ||
      key[0] != 1 || key[1] >= KEYS_MAX ||
      !flam_thread_value (memory, fs_base, key[1], &state) || state == 0 ||
      !flam_runtime_read_u64 (memory, state + chain->thread_id, &id))
    return 0;
  return id == fs_base ? state : 0;
}

gsize
flam_python_chain_walk (const FlamPythonChain *chain,
                        const FlamRuntimeMemory *memory,
                        guint64 base,
                        guint64 fs_base,
                        FlamRuntimeEntry *entries,
                        gsize limit)
{
  guint64 state = find_state (chain, memory, base, fs_base);
  guint64 frame = 0, mark = 0;
  gsize n = 0, steps = 0, mark_at = 8;

  if (state == 0 ||
      !flam_runtime_read_u64 (memory, state + STATE_FRAME, &frame))
    return 0;
  while (frame != 0 && frame != mark && n + 2 <= limit)
    {
      guint8 bytes[FRAME_SIZE];
      gint32 last;
      guint64 code;

      if (!flam_runtime_read (memory, frame, bytes, sizeof bytes))
        break;
      code = flam_runtime_u64 (bytes, FRAME_CODE);
      if (code == 0)
        break;
      memcpy (&last, bytes + chain->frame_last, sizeof last);
      entries[n++] =
          (FlamRuntimeEntry){ code, (guint64)(gint64)MAX (last, -1), 0 };
      entries[n++] = (FlamRuntimeEntry){ 0, 0, 0 };
      /* A repeated frame: invalid memory. Detected by Brent's algorithm. */
      if (++steps == mark_at)
        {
          mark = frame;
          mark_at *= 2;
        }
      frame = flam_runtime_u64 (bytes, FRAME_BACK);
    }
  return n;
}

/* --- names --------------------------------------------------------------- */

guint64
flam_python_chain_piece (const FlamPythonChain *chain, guint64 code)
{
  return code + chain->first_line;
}

/* Up to the line table: what follows it in 3.6 and 3.7, a frame that is kept
 * for the next call, changes with each call. */
guint32
flam_python_chain_piece_size (const FlamPythonChain *chain)
{
  return chain->lines + 8u - chain->first_line;
}

guint64
flam_python_chain_hash (const FlamPythonChain *chain,
                        const guint8 piece[FLAM_PYTHON_CHAIN_PIECE])
{
  return flam_python_name_piece (
      flam_runtime_u64 (piece, chain->name - chain->first_line));
}

gboolean
flam_python_chain_name (const FlamPythonChain *chain,
                        const guint8 piece[FLAM_PYTHON_CHAIN_PIECE],
                        const FlamRuntimeMemory *memory,
                        FlamRuntimeName *name)
{
  const FlamPythonLayout texts = { .text_ascii = ASCII_SIZE,
                                   .text_compact = COMPACT_SIZE };
  FlamRuntimeNamed *named = flam_runtime_name_add (name);
  char text[FLAM_RUNTIME_TEXT_MAX];
  gsize at = chain->first_line;
  gint32 first_line;

  if (!flam_python_text (&texts,
                         memory,
                         flam_runtime_u64 (piece, chain->name - at),
                         text,
                         sizeof text))
    return FALSE;
  named->function = flam_runtime_name_utf8 (name, text, sizeof text);
  if (!flam_python_text (&texts,
                         memory,
                         flam_runtime_u64 (piece, chain->file - at),
                         text,
                         sizeof text))
    return FALSE;
  named->file = flam_runtime_name_utf8 (name, text, sizeof text);
  memcpy (&first_line, piece, sizeof first_line);
  named->first_line = (guint32)MAX (first_line, 0);
  name->lines_version = chain->version;
  name->n_lines =
      flam_python_bytes (memory,
                         flam_runtime_u64 (piece, chain->lines - at),
                         name->lines,
                         FLAM_RUNTIME_LINES_MAX);
  return TRUE;
}

/* --- threads ------------------------------------------------------------- */

gboolean
flam_python_chain_layout (const FlamPythonChain *chain,
                          FlamPythonLayout *layout)
{
  gboolean is_3_7 = chain->version < 0x03080000;

  *layout = (FlamPythonLayout){ .version = chain->version,
                                .runtime_interpreters = is_3_7 ? 24 : 32,
                                .interpreter_modules =
                                    is_3_7                        ? 40
                                    : chain->version < 0x03090000 ? 56
                                                                  : 856,
                                .text_ascii = ASCII_SIZE,
                                .text_compact = COMPACT_SIZE };
  return chain->runtime != 0 && chain->version >= 0x03070000;
}

void
flam_python_chain_name_threads (const FlamPythonChain *chain,
                                const FlamRuntimeMemory *memory,
                                guint64 base,
                                FlamRuntimeName *scratch,
                                void (*take) (gpointer data,
                                              guint32 tid,
                                              const char *name),
                                gpointer data)
{
  FlamPythonLayout layout;

  if (flam_python_chain_layout (chain, &layout))
    flam_python_name_threads (
        &layout, memory, base + chain->runtime, scratch, take, data);
}
