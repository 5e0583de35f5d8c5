/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_SETTINGS_H
#define FLAM_SETTINGS_H

/* The application's settings, by the keys of the schema. */

#include "flam-core-picture.h"
#include "flam-source-path.h"

#include <gio/gio.h>

G_BEGIN_DECLS

#define FLAM_KEY_COLOR_SCHEME "color-scheme" /* default, light, dark */
#define FLAM_KEY_SHAPE "graph-shape"         /* flame, sunburst, treemap */
#define FLAM_KEY_DIRECTION "flame-direction" /* flame, icicle */
#define FLAM_KEY_ORDER "sibling-order"       /* total, name */
#define FLAM_KEY_COLORS "graph-colors"       /* a FlamPaletteMode's word */
#define FLAM_KEY_COLOR_STATES "color-by-state"
#define FLAM_KEY_CODE_SYNTAX "code-syntax" /* intel, att */
#define FLAM_KEY_SYSTEM_FONT "source-system-font"
#define FLAM_KEY_FONT "source-font"
#define FLAM_KEY_EDITOR "editor"                /* a command, or "" */
#define FLAM_KEY_PATH_MAPPINGS "path-mappings"  /* a(ss) */
#define FLAM_KEY_BINARIES "binaries-folders"    /* as */
#define FLAM_KEY_LEAK_RULES "leak-suppressions" /* as: files */
#define FLAM_KEY_DEBUGINFOD "debuginfod"        /* ask, always, never */
#define FLAM_KEY_DEBUGINFOD_URLS "debuginfod-urls"
#define FLAM_KEY_REMEMBER "remember-captures"       /* b */
#define FLAM_KEY_COMMANDS "command-history"         /* as */
#define FLAM_KEY_HOSTS "host-history"               /* as */
#define FLAM_KEY_LOCATIONS "location-history"       /* as */
#define FLAM_KEY_DESTINATIONS "destination-history" /* as */
#define FLAM_KEY_EXPORT "export-format"             /* the id of an exporter */
#define FLAM_KEY_WIDTH "window-width"
#define FLAM_KEY_HEIGHT "window-height"
#define FLAM_KEY_MAXIMIZED "window-maximized"
#define FLAM_KEY_SOURCE_SHOWN "source-pane-shown"
#define FLAM_KEY_SOURCE_WIDTH "source-pane-width"
#define FLAM_KEY_RECORD_MODE "record-mode"          /* of the recorder */
#define FLAM_KEY_RECORD_RATE "record-rate"          /* u */
#define FLAM_KEY_RECORD_BYTES "record-sample-bytes" /* t, 0: all */
#define FLAM_KEY_RECORD_FOLLOW "record-follow"
#define FLAM_KEY_RECORD_PYTHON "record-python"
#define FLAM_KEY_RECORD_PYTHON_MALLOC "record-python-malloc"

#define FLAM_KEY_NOTIFY_AFTER "notify-after" /* u: seconds */
#define FLAM_KEY_TIPS "tips"                 /* as: tips not shown yet */

#define FLAM_KEY_IRRELEVANT "show-irrelevant" /* b */
#define FLAM_KEY_IMPORTS "show-imports"       /* b */

/* The one object for the whole process. */
GSettings *flam_settings_get (void);

FlamShape flam_settings_get_shape (void);
/* The user's choice, if the tree has the data for it. */
FlamPaletteMode flam_settings_get_palette (const FlamTree *tree);
/* For charts, which have no tree: calls in time. By function, unless the user
 * chooses: most calls of a thread are of one module. */
FlamPaletteMode flam_settings_get_chart_palette (void);

/* Hides the frames that the user has chosen to hide. */
void flam_settings_apply_frames (FlamSelection *selection);

/* The latest first, without duplicates, at most `max`. */
void flam_settings_push_string (const char *key, const char *text, guint max);

/* Where sources of `profile` are searched: `mappings`, a(ss) of
 * FLAM_KEY_PATH_MAPPINGS, its working folders, and below `folder`, which may be
 * NULL, as may the names that are known already. flam_source_paths_free. */
FlamSourcePaths *flam_settings_source_paths (GVariant *mappings,
                                             const FlamProfile *profile,
                                             const char *folder,
                                             FlamSourceNames *names);

G_END_DECLS

#endif
