/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_CODE_FILE_H
#define FLAM_CODE_FILE_H

/* A function's machine code with the text of its source lines: the work of a
 * job, and the rows for a list. */

#include "flam-disassembly.h"
#include "flam-source-names.h"
#include "flam-view-data.h"

#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct
{
  FlamViewData *view_data;
  FlamNodeId node;
  gboolean whole;   /* the function in all stacks, not only in the node's */
  FlamViewData *of; /* whose tree's node `merged` is chosen, with `node` as one
                       of its paths; or NULL */
  FlamNodeId merged;
  FlamSyntax syntax;
  char **binaries;
  char *folder; /* the capture's folder: sources are searched below it, too */
  FlamSourceNames *names; /* below it */
  GVariant *mappings;
} FlamCodeRequest;

FlamCodeRequest *flam_code_request_new (FlamViewData *view_data,
                                        FlamNodeId node,
                                        gboolean whole,
                                        const char *capture,
                                        FlamSourceNames *names);
void flam_code_request_free (gpointer request);

typedef struct
{
  gatomicrefcount references;
  FlamViewData *view_data;
  gboolean whole;
  FlamDisassembly
      *code; /* NULL if there is code; otherwise the reason why there is none */
  char *why;
  gboolean missing;   /* the program or library was not found */
  FlamArrows *arrows; /* one per instruction */
  GHashTable *texts;  /* path as recorded -> char **, the file's lines */
  gint64 top;         /* the greatest self of an instruction */
} FlamCodeFile;

/* FlamJobWork. */
gpointer flam_code_file_work (gpointer request,
                              const FlamProgress *progress,
                              GError **error);
void flam_code_file_unref (gpointer file);

/* An instruction, or the source line before it. */
#define FLAM_TYPE_CODE_ROW (flam_code_row_get_type ())
G_DECLARE_FINAL_TYPE (FlamCodeRow, flam_code_row, FLAM, CODE_ROW, GObject)

FlamCodeFile *flam_code_row_get_file (FlamCodeRow *row);
guint flam_code_row_get_index (FlamCodeRow *row);
gboolean flam_code_row_is_line (FlamCodeRow *row);
/* The text in the column of instructions; g_free. */
char *flam_code_row_get_text (FlamCodeRow *row);

/* Of FlamCodeRow, in order. `hottest`: position of the greatest self. */
GListModel *flam_code_file_rows (FlamCodeFile *file, guint *hottest);

G_END_DECLS

#endif
