/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_DRAGGED_FILE_H
#define FLAM_DRAGGED_FILE_H

/* A document as a file that can be dragged out of the window. The file is
 * written into a folder of the user's cache when the receiving program requests
 * it, and is kept until this program ends, since the other one may copy it
 * later. */

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define FLAM_TYPE_DRAGGED_FILE (flam_dragged_file_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamDraggedFile, flam_dragged_file, FLAM, DRAGGED_FILE, GdkContentProvider)

/* `name`: the file name, without a folder. */
GdkContentProvider *flam_dragged_file_new (const char *name, GBytes *document);

/* Removes the written files. Call at the end of the program. */
void flam_dragged_file_remove_all (void);

G_END_DECLS

#endif
