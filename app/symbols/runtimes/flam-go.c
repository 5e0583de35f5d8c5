/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-go.h"

#include <string.h>

#include "flam-thread-data.h"

#define LABELS_MAX 32
#define BUCKETS_MAX 64
/* Of a g and an m. */
#define G_M 48
#define M_G0 0
/* Of a map and its buckets of eight pairs of texts. */
#define MAP_SIZE 48
#define MAP_COUNT 0
#define MAP_LOG2_BUCKETS 9
#define MAP_BUCKETS 16
#define MAP_OLD_BUCKETS 24
#define BUCKET_PAIRS 8
#define BUCKET_KEYS 8
#define BUCKET_VALUES (BUCKET_KEYS + 16 * BUCKET_PAIRS)
#define BUCKET_NEXT (BUCKET_VALUES + 16 * BUCKET_PAIRS)
#define BUCKET_SIZE (BUCKET_NEXT + 8)
#define LEAST_HASH 5 /* smaller: the place is empty, or was moved */
/* Of a list of pairs. */
#define LIST_SIZE 24
#define PAIR_SIZE 32
#define PAIRS_SEEN 3

static const struct
{
  guint minor;
  guint16 labels;
  guint16 curg;
} versions[] = {
  { 18, 360, 192 }, { 19, 360, 192 }, { 20, 360, 192 },
  { 21, 344, 192 }, { 22, 344, 192 }, { 23, 352, 192 },
  { 24, 352, 192 }, { 25, 344, 184 }, { 26, 352, 184 },
};
#define FIRST_WITH_LIST 24

/* --- the file ------------------------------------------------------------ */

/* "go1.19.8": 19; 0: another one, or unknown. Since 1.18 the version is in the
 * section itself. */
static guint
minor_of (const FlamElf *elf, int fd)
{
  static const char magic[] = "\xff Go buildinf:";
  FlamElfSection section;
  char text[64] = "";

  if (!flam_elf_get_section (elf, ".go.buildinfo", &section) ||
      flam_runtime_file_read (elf, fd, section.vaddr, text, sizeof text - 1) <
          sizeof text - 1 ||
      memcmp (text, magic, sizeof magic - 1) != 0 || !(text[15] & 2) ||
      strncmp (text + 33, "go1.", 4) != 0)
    return 0;
  return (guint)g_ascii_strtoull (text + 37, NULL, 10);
}

gboolean
flam_go_find (const FlamElf *elf,
              int fd,
              const char *path,
              FlamRuntimeFile *file)
{
  FlamThreadVariable variable = { 0 };
  guint minor = minor_of (elf, fd);
  FlamGo go = { .g = -8 };

  (void)path;
  for (guint i = 0; i < G_N_ELEMENTS (versions); i++)
    if (versions[i].minor == minor)
      {
        go.labels = versions[i].labels;
        go.curg = versions[i].curg;
      }
  if (go.labels == 0)
    return FALSE;
  /* In a program with thread-local variables of C, it is one of these. */
  if (flam_thread_variable_find (elf, "runtime.tlsg", NULL, &variable) &&
      variable.kind == FLAM_THREAD_VARIABLE_FIXED)
    go.g = variable.offset;
  go.list = minor >= FIRST_WITH_LIST;
  g_snprintf (file->version, sizeof file->version, "1.%u", minor);
  file->facts = g_memdup2 (&go, sizeof go);
  return TRUE;
}

/* --- labels -------------------------------------------------------------- */

static guint64
word_at (const FlamRuntimeMemory *memory, guint64 address)
{
  guint64 value;

  return flam_runtime_read_u64 (memory, address, &value) ? value : 0;
}

/* On the stack of the system (g0), the goroutine is m.curg. */
guint64
flam_go_labels (const FlamGo *go,
                const FlamRuntimeMemory *memory,
                guint64 fs_base)
{
  guint64 g = word_at (memory, fs_base + (guint64)go->g);
  guint64 m = g != 0 ? word_at (memory, g + G_M) : 0;
  guint64 current = m != 0 ? word_at (memory, m + go->curg) : 0;

  if (current == 0 || (g != current && g != word_at (memory, m + M_G0)))
    return 0;
  return word_at (memory, current + go->labels);
}

guint32
flam_go_first_size (const FlamGo *go)
{
  return go->list ? LIST_SIZE : 8;
}

guint32
flam_go_second (const FlamGo *go, const guint8 *first, guint64 *second)
{
  *second = flam_runtime_u64 (first, 0);
  return go->list ? PAIR_SIZE *
                        (guint32)MIN (flam_runtime_u64 (first, 8), PAIRS_SEEN)
                  : MAP_SIZE;
}

static gboolean
add_label (const FlamRuntimeMemory *memory,
           const guint8 *key,
           const guint8 *value,
           FlamRuntimeName *name)
{
  FlamRuntimeNamed *named = flam_runtime_name_add (name);
  const char *key_text = flam_runtime_name_read (
      name, memory, flam_runtime_u64 (key, 0), flam_runtime_u64 (key, 8));
  const char *value_text = flam_runtime_name_read (
      name, memory, flam_runtime_u64 (value, 0), flam_runtime_u64 (value, 8));

  if (key_text == NULL || value_text == NULL)
    return FALSE;
  named->file = key_text;
  named->function = value_text;
  named->hidden = TRUE;
  return TRUE;
}

static gboolean
name_list (const FlamRuntimeMemory *memory,
           const guint8 *first,
           FlamRuntimeName *name)
{
  guint64 list = flam_runtime_u64 (first, 0);
  guint64 n = MIN (flam_runtime_u64 (first, 8), LABELS_MAX);

  for (guint64 i = 0; i < n; i++)
    {
      guint8 pair[PAIR_SIZE];

      if (!flam_runtime_read (
              memory, list + i * PAIR_SIZE, pair, sizeof pair) ||
          !add_label (memory, pair, pair + 16, name))
        return FALSE;
    }
  return n > 0;
}

/* A bucket and those that follow it; `left` limits their number. */
static gboolean
name_bucket (const FlamRuntimeMemory *memory,
             guint64 bucket,
             guint *left,
             FlamRuntimeName *name)
{
  while (bucket != 0 && *left > 0)
    {
      guint8 bytes[BUCKET_SIZE];

      (*left)--;
      if (!flam_runtime_read (memory, bucket, bytes, sizeof bytes))
        return FALSE;
      for (guint i = 0; i < BUCKET_PAIRS && name->n < LABELS_MAX; i++)
        if (bytes[i] >= LEAST_HASH &&
            !add_label (memory,
                        bytes + BUCKET_KEYS + 16 * i,
                        bytes + BUCKET_VALUES + 16 * i,
                        name))
          return FALSE;
      bucket = flam_runtime_u64 (bytes, BUCKET_NEXT);
    }
  return TRUE;
}

/* While a map grows, entries that have not been moved yet are in its old
 * buckets. */
static gboolean
name_map (const FlamRuntimeMemory *memory, guint64 map, FlamRuntimeName *name)
{
  guint8 head[MAP_SIZE];
  guint64 buckets, old;
  guint left = BUCKETS_MAX, log2;

  if (!flam_runtime_read (memory, map, head, sizeof head))
    return FALSE;
  buckets = flam_runtime_u64 (head, MAP_BUCKETS);
  old = flam_runtime_u64 (head, MAP_OLD_BUCKETS);
  log2 = MIN (head[MAP_LOG2_BUCKETS], 6);
  for (guint i = 0; i < 1u << log2; i++)
    if (!name_bucket (memory, buckets + i * BUCKET_SIZE, &left, name))
      return FALSE;
  for (guint i = 0; old != 0 && i < 1u << (log2 - (log2 > 0)); i++)
    if (!name_bucket (memory, old + i * BUCKET_SIZE, &left, name))
      return FALSE;
  return name->n == MIN (flam_runtime_u64 (head, MAP_COUNT), LABELS_MAX) &&
         name->n > 0;
}

gboolean
flam_go_name (const FlamGo *go,
              const guint8 *first,
              const FlamRuntimeMemory *memory,
              FlamRuntimeName *name)
{
  return go->list ? name_list (memory, first, name)
                  : name_map (memory, flam_runtime_u64 (first, 0), name);
}
