/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_BLOCK_HASH_H
#define FLAM_BLOCK_HASH_H

/* Which block begins at an address: a hash whose size is in proportion to its
 * blocks, whatever their addresses are. Open addressing, no tombstones: a hole
 * is filled with the entries that follow it. */

#include "flam-block-table.h"

G_BEGIN_DECLS

typedef struct
{
  guint64 address; /* 0: empty */
  FlamBlockEntry block;
} FlamBlockSlot;

typedef struct
{
  FlamBlockSlot *slots; /* NULL: none yet */
  gsize mask;
  gsize n;
} FlamBlockHash;

void flam_block_hash_clear (FlamBlockHash *hash);

/* Like the functions of FlamBlockTable; address 0 is not allowed. */
gboolean flam_block_hash_put (FlamBlockHash *hash,
                              guint64 address,
                              FlamBlockEntry block,
                              FlamBlockEntry *old);
gboolean flam_block_hash_take (FlamBlockHash *hash,
                               guint64 address,
                               FlamBlockEntry *block);
const FlamBlockEntry *flam_block_hash_find (const FlamBlockHash *hash,
                                            guint64 address);

G_END_DECLS

#endif
