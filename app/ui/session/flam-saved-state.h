/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_SAVED_STATE_H
#define FLAM_SAVED_STATE_H

/* The state in which the user left a capture, kept until it is opened again:
 * one small key file per capture in XDG_STATE_HOME/flambeau/captures, named
 * after the capture's path and content, so that another file at the same path
 * starts afresh. There are at most FLAM_SAVED_STATES_MAX of them, the oldest
 * are removed first; all are safe to delete.
 *
 *   [Capture]    Path                      for people who look into the folder
 *                Notes                     these stand for the capture's own
 *   [Selection]  Measure, From, To, ...    what differs from the first look
 *   [Place]      Zoom, Current, Page       nodes as paths of names
 *   [Note N]     Text, Function | From, To
 *
 * Values that cannot be read, or no longer fit the capture, are ignored. */

#include "flam-core-query.h"

G_BEGIN_DECLS

#define FLAM_SAVED_STATES_MAX 200

/* The path of the state file for the capture at `path`, whether it exists or
 * not; NULL: the capture is not a regular file. Reads both of its ends.
 * g_free. */
char *flam_saved_state_file (const char *path);
/* Empty if there is no file. */
GKeyFile *flam_saved_state_load (const char *file);
/* An empty state removes the file. */
gboolean
flam_saved_state_save (const char *file, GKeyFile *kept, GError **error);
/* Removes all of them, and the tabs. */
void flam_saved_state_forget (void);

/* The tabs of the last window, in XDG_STATE_HOME/flambeau/tabs.ini: URIs of
 * captures that still exist, never NULL; g_strfreev. */
void flam_saved_state_set_tabs (const char *const *uris, guint n);
char **flam_saved_state_get_tabs (void);

/* Stores the members of `selection` that differ from `first`. */
void flam_saved_state_set_selection (GKeyFile *kept,
                                     const FlamProfile *profile,
                                     const FlamSelection *first,
                                     const FlamSelection *selection);
/* Applies it to `selection`, the capture's first one. FALSE: part of it does
 * not fit this capture; `selection` has the rest. */
gboolean flam_saved_state_get_selection (GKeyFile *kept,
                                         const FlamProfile *profile,
                                         FlamSelection *selection);

/* Paths of names: "Zoom", "Current". The latter is never NULL. */
void
flam_saved_state_set_path (GKeyFile *kept, const char *key, char *const *names);
char **flam_saved_state_get_path (GKeyFile *kept, const char *key);

G_END_DECLS

#endif
