/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_FILES_H
#define FLAM_FILES_H

/* Files on the desktop: choosers, recent captures, copies. */

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* The caller shows it and drops the reference when it responds. */
GtkFileChooserNative *flam_files_chooser_open (GtkWindow *parent);
GtkFileChooserNative *flam_files_chooser_save (GtkWindow *parent,
                                               const char *name);

/* Asks for a file or a folder. `chosen` is called unless that was cancelled, it
 * has no path, or `object` no longer exists. */
typedef void (*FlamFilesChosen) (const char *path, gpointer object);
void flam_files_choose (GtkWindow *parent,
                        GtkFileChooserAction action,
                        const char *title,
                        const char *accept,
                        FlamFilesChosen chosen,
                        GObject *object);

/* Asks for a folder of programs and libraries, and adds it to the setting:
 * sessions follow that, and search again. */
void flam_files_choose_binaries (GtkWidget *from);

/* Adds a capture to the recent files. */
void flam_files_remember (const char *path);
/* Recent captures that still exist, the latest first, of GtkRecentInfo. */
GPtrArray *flam_files_recent (guint max);
/* The same as a menu of win.open-uri, and win.open-location. */
GMenuModel *flam_files_recent_menu (void);

/* Copies everything or nothing; the chooser has asked about an existing
 * file. */
void flam_files_save_async (GFile *from,
                            GFile *to,
                            GAsyncReadyCallback done,
                            gpointer data);
gboolean flam_files_save_finish (GAsyncResult *result, GError **error);

G_END_DECLS

#endif
