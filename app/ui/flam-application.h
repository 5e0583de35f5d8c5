/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_APPLICATION_H
#define FLAM_APPLICATION_H

/* The process: command line, accelerators, one window per capture. */

#include <adwaita.h>

G_BEGIN_DECLS

#define FLAM_TYPE_APPLICATION (flam_application_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamApplication, flam_application, FLAM, APPLICATION, AdwApplication)

FlamApplication *flam_application_new (void);

/* The signal that made the application quit, which the process should end by;
 * 0: none. */
int flam_application_get_signal (FlamApplication *application);

/* Opens it in `window` if that shows no capture yet, otherwise in a new one. */
void flam_application_open_file (FlamApplication *application,
                                 GtkWindow *window,
                                 GFile *file);

/* The same for several: the captures of a job's ranks are opened as one. */
void flam_application_open_files (FlamApplication *application,
                                  GtkWindow *window,
                                  GListModel *files);

G_END_DECLS

#endif
