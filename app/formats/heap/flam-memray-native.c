/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-memray.h"

#include <string.h>

/* The native frames of a capture made with --native: a tree of calls, to whose
 * nodes the blocks refer, and the mappings.
 *
 *    node   caller  ip                  segments
 *    1      0       python3 (main)        python3     400000 .. 500000
 *    2      1       python3 (eval)        numpy.so    7f0000 .. 7f8000
 *    3      2       numpy.so              libc.so     7fa000 .. 7fc000
 *    4      3       libc.so (malloc)
 *
 * From a block's node on (4), the frames outside of the interpreter (4, 3) were
 * called by the innermost of Python's frames, and are shown above it. Those
 * below the first frame of the interpreter itself (2) correspond to Python's
 * own frames, which are there already; C code further down, which called back
 * into Python, could only be placed with the interpreter's symbols, and is not
 * shown. */

typedef struct
{
  guint64 ip;
  guint64 caller; /* node, from 1; 0: none */
} Node;

/* Python's stack, and a block's node -> the stack of both. */
typedef struct
{
  FlamId python;
  guint64 node;
  FlamStackId stack;
} Made;

#define FRAMES_MAX 256 /* Memray keeps 128 */

struct _FlamMemrayNative
{
  FlamBuilder *builder;
  GArray *nodes;        /* Node */
  FlamRanges *segments; /* value: module; offset: the file's own address */
  GHashTable *made;     /* Made */
  FlamModuleId module;  /* of the segments that follow */
  gboolean interpreter;
  guint64 bias;
};

static guint
made_hash (gconstpointer data)
{
  const Made *made = data;

  return flam_hash_pair (made->python, made->node);
}

static gboolean
made_equal (gconstpointer a, gconstpointer b)
{
  const Made *x = a;
  const Made *y = b;

  return x->python == y->python && x->node == y->node;
}

FlamMemrayNative *
flam_memray_native_new (FlamLoad *load)
{
  FlamMemrayNative *native = flam_arena_new (load, FlamMemrayNative);

  native->builder = load->builder;
  native->module = FLAM_NONE;
  native->nodes = flam_arena_array (load, Node);
  native->segments =
      flam_arena_keep (load, flam_ranges_new (), flam_ranges_free);
  native->made = flam_arena_keep (
      load,
      g_hash_table_new_full (made_hash, made_equal, g_free, NULL),
      g_hash_table_unref);
  return native;
}

void
flam_memray_native_call (FlamMemrayNative *native, guint64 ip, guint64 caller)
{
  Node node = { ip, caller };

  g_array_append_val (native->nodes, node);
}

/* A new list of all mappings follows. */
void
flam_memray_native_begin_maps (FlamMemrayNative *native)
{
  flam_ranges_remove (native->segments, 0, G_MAXUINT64);
}

void
flam_memray_native_map (FlamMemrayNative *native,
                        const char *file,
                        guint64 address)
{
  g_autofree char *name = g_path_get_basename (file);

  native->module =
      flam_builder_module (native->builder, file, "", FLAM_ADDRESS_VADDR);
  native->bias = address;
  native->interpreter =
      g_str_has_prefix (name, "python") || g_str_has_prefix (name, "libpython");
}

void
flam_memray_native_segment (FlamMemrayNative *native,
                            guint64 address,
                            guint64 size)
{
  FlamRange segment = { .offset = address, .value = native->module };

  if (native->module == FLAM_NONE ||
      __builtin_add_overflow (native->bias, address, &segment.start) ||
      __builtin_add_overflow (segment.start, size, &segment.end))
    return;
  if (native->interpreter)
    segment.value = FLAM_NONE;
  flam_ranges_add (native->segments, &segment);
}

static FlamStackId
make_stack (FlamMemrayNative *native, FlamStackId stack, guint64 node)
{
  g_autoptr (GArray) frames = g_array_new (FALSE, FALSE, sizeof (FlamId));

  while (node > 0 && node <= native->nodes->len && frames->len < FRAMES_MAX)
    {
      const Node *call = &g_array_index (native->nodes, Node, node - 1);
      const FlamRange *segment = flam_ranges_find (native->segments, call->ip);
      FlamFrameId frame;

      if (segment == NULL || segment->value == FLAM_NONE)
        break;
      frame = flam_builder_frame_of (
          native->builder,
          &(FlamFunction){ .module = segment->value },
          call->ip - 1 - segment->start + segment->offset,
          0,
          0);
      g_array_append_val (frames, frame);
      /* A caller precedes its callees; otherwise there might be a loop. */
      if (call->caller >= node)
        break;
      node = call->caller;
    }
  for (guint i = frames->len; i-- > 0;)
    stack = flam_builder_stack (
        native->builder, stack, g_array_index (frames, FlamId, i));
  return stack;
}

FlamStackId
flam_memray_native_stack (FlamMemrayNative *native,
                          FlamStackId stack,
                          guint64 node)
{
  Made key = { .python = stack, .node = node };
  Made *made = g_hash_table_lookup (native->made, &key);

  if (made == NULL)
    {
      made = g_memdup2 (&key, sizeof key);
      made->stack = make_stack (native, stack, node);
      g_hash_table_add (native->made, made);
    }
  return made->stack;
}
