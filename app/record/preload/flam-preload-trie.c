/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Stacks as a trie, in the file: a node is a caller's node and a location. */

#include "flam-preload-python.h"

/* (parent, pc) -> node. Read without a lock; a slot is filled after its node
 * is. A full table is replaced by one twice as large; the old one is kept for
 * threads that are still reading it. */
typedef struct
{
  uint32_t mask;
  _Atomic uint32_t slots[];
} Index;

typedef struct
{
  uint64_t pc;
  uint32_t parent;
} Key;

static Index *_Atomic trie_index;
static Key *keys; /* per node */
static uint32_t index_epoch;
static atomic_flag trie_lock = ATOMIC_FLAG_INIT;

static uint32_t
hash_key (uint64_t pc, uint32_t parent)
{
  __uint128_t product = (__uint128_t)(pc ^ 0x9e3779b97f4a7c15ull) *
                        (parent ^ 0xe7037ed1a0b428dbull);

  return (uint32_t)((uint64_t)product ^ (uint64_t)(product >> 64));
}

static uint32_t
trie_find (const Index *table, uint64_t pc, uint32_t parent, uint32_t *at)
{
  uint32_t i = hash_key (pc, parent) & table->mask;

  for (;; i = (i + 1) & table->mask)
    {
      uint32_t node =
          atomic_load_explicit (&table->slots[i], memory_order_acquire);

      *at = i;
      if (node == 0 || (keys[node].pc == pc && keys[node].parent == parent))
        return node;
    }
}

static Index *
new_index (uint32_t size)
{
  Index *table = preload_pages (sizeof *table + (size_t)size * 4);

  if (table != NULL)
    table->mask = size - 1;
  return table;
}

static Index *
grown_index (const Index *old, uint32_t n_nodes, uint32_t first)
{
  Index *table = new_index ((old->mask + 1) * 2);
  uint32_t at;

  for (uint32_t node = first; table != NULL && node < n_nodes; node++)
    {
      trie_find (table, keys[node].pc, keys[node].parent, &at);
      table->slots[at] = node;
    }
  return table;
}

/* Nodes below this number may refer to code that has been unloaded. */
static uint32_t first_node = 1;

static bool
prepare_index (void)
{
  if (keys == NULL)
    keys = preload_pages (sizeof *keys * (size_t)FLAM_ALLOC_MAX_NODES);
  if (trie_index == NULL || index_epoch != preload_code_epoch)
    {
      index_epoch = preload_code_epoch;
      first_node = preload_header->n_nodes;
      atomic_store (&trie_index, new_index (1 << 14));
    }
  return keys != NULL && trie_index != NULL;
}

static uint64_t
location_of (uint64_t pc)
{
  const PreloadModule *module;

  if (preload_is_python (pc))
    return pc;
  module = preload_module_at (pc);
  return module ? FLAM_ALLOC_LOCATION (module->id, pc - module->bias)
                : FLAM_ALLOC_LOCATION (0, pc);
}

static uint32_t
trie_insert (uint64_t pc, uint32_t parent, uint64_t location)
{
  FlamAllocHeader *header = preload_header;
  FlamAllocNode *nodes =
      (FlamAllocNode *)((char *)header + FLAM_ALLOC_NODES_AT);
  uint32_t node, at;

  if (!prepare_index ())
    return 0;
  node = trie_find (trie_index, pc, parent, &at);
  if (node != 0 || header->n_nodes == FLAM_ALLOC_MAX_NODES)
    return node;
  node = header->n_nodes;
  if (!preload_room (&nodes[node], sizeof *nodes))
    return 0;
  if ((node - first_node) * 2 > trie_index->mask)
    {
      Index *larger = grown_index (trie_index, node, first_node);

      if (larger == NULL)
        return 0;
      atomic_store (&trie_index, larger);
      trie_find (larger, pc, parent, &at);
    }
  nodes[node] = (FlamAllocNode){ parent, 0, location };
  keys[node] = (Key){ pc, parent };
  __atomic_store_n (&header->n_nodes, node + 1, __ATOMIC_RELEASE);
  atomic_store_explicit (&trie_index->slots[at], node, memory_order_release);
  return node;
}

uint32_t
preload_trie_node (uint64_t pc, uint32_t parent)
{
  Index *table = atomic_load (&trie_index);
  uint32_t at;
  uint32_t node = 0;
  uint64_t location;

  if (table != NULL && index_epoch == preload_code_epoch)
    node = trie_find (table, pc, parent, &at);
  if (LIKELY (node != 0))
    return node;
  location = location_of (pc);
  while (atomic_flag_test_and_set_explicit (&trie_lock, memory_order_acquire))
    preload_pause ();
  node = trie_insert (pc, parent, location);
  atomic_flag_clear_explicit (&trie_lock, memory_order_release);
  return node;
}

void
preload_trie_reset (void)
{
  atomic_store (&trie_index, NULL);
  atomic_flag_clear (&trie_lock);
  first_node = 1;
}
