/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What exporters of trees share. */

#include "flam-tree.h"

G_BEGIN_DECLS

/* The distinct things (functions; with FLAM_BY_LINE, their lines) that the
 * nodes of a tree are, numbered from 0 in order of their first node. */
typedef struct
{
  FlamId *thing; /* one a node; FLAM_NONE for the root */
  GArray *first; /* FlamId: a node, one a thing */
} FlamThings;

void flam_things_init (FlamThings *things, const FlamTree *tree);
void flam_things_clear (FlamThings *things);

/* Nodes from the root's child down to `node`, as FlamId in `path`. */
void flam_export_path (const FlamTree *tree, FlamId node, GArray *path);

/* "file", and the line where the function starts or the node is. */
const char *flam_export_file (const FlamTree *tree, FlamId node, guint32 *line);
/* "" where there is none. */
const char *flam_export_module (const FlamTree *tree, FlamId node);

/* Formats that write each stack whole take the square of what a tree takes,
 * which for a deep one is more than there is room for. FALSE with the size
 * where it is past FLAM_EXPORT_MAX; `width` as in flam_dump_paths_size(). */
#define FLAM_EXPORT_MAX (G_GUINT64_CONSTANT (512) << 20)
gboolean
flam_export_check_size (const FlamTree *tree, guint width, GError **error);

/* Weights of formats that hold whole numbers: rounded. */
gint64 flam_export_whole (const FlamTree *tree, gint64 weight);

/* Quoted and escaped; invalid nowhere, not even inside <script>. */
void flam_export_json_string (GString *out, const char *text);
/* "12" or "12.5". */
void
flam_export_json_weight (GString *out, const FlamTree *tree, gint64 weight);

G_END_DECLS
