/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_SESSION_H
#define FLAM_SESSION_H

/* The state of one capture's views: the single source of truth for them.
 *
 *   open ──load──▶ profile ──┬─draw──▶ view data (selection) ──▶ every view
 *                            └─symbolize──▶ profile' ──draw──▶ view data'
 *
 * A view never changes another view. It calls the session (select, set_zoom,
 * set_current, set_search) and follows the notify signals. Everything returned
 * is immutable and stays valid until the next notify of its property; take a
 * reference to keep it longer. */

#include "flam-baseline.h"
#include "flam-formats.h"
#include "flam-job.h"
#include "flam-note.h"
#include "flam-source-names.h"
#include "flam-view-data.h"

#include <gio/gio.h>

G_BEGIN_DECLS

#define FLAM_TYPE_SESSION (flam_session_get_type ())
G_DECLARE_FINAL_TYPE (FlamSession, flam_session, FLAM, SESSION, GObject)

/* The session's current activity. */
typedef enum
{
  FLAM_ACTIVITY_NONE,
  FLAM_ACTIVITY_LOADING,
  FLAM_ACTIVITY_SYMBOLIZING,
  FLAM_ACTIVITY_DRAWING,
} FlamActivity;

FlamSession *flam_session_new (void);

/* --- one file ------------------------------------------------------------- */

/* Emits "opened", or "failed" (GError); of a large file "begun" before that,
 * with each picture of its beginning; "symbolized" with every picture for
 * which symbolizing is complete, "downloaded" after the results of
 * flam_session_download() were applied. Action signals: "open-in-editor"
 * opens the current frame's source in an editor, "show-callers" shows the
 * page with its callers, "show-changes" the table with before and now of each
 * function. */
void flam_session_open (FlamSession *session, const char *path);
/* Sets the path of a capture that is still being written; nothing is shown
 * until a flam_session_reload() finds data in it. */
void
flam_session_follow (FlamSession *session, const char *path, const char *title);
/* Loads the same path again and keeps the selection, the zoom and the current
 * frame. Used to follow a growing capture. Errors are ignored if `live`. */
void flam_session_reload (FlamSession *session, gboolean live);
/* Searches for symbols again, after folders were added. */
void flam_session_symbolize_again (FlamSession *session);
/* Queries the debuginfod servers for these modules in the background; the
 * result replaces the current picture. The job's "busy" and "fraction" are the
 * progress. Call only at the user's request. */
void flam_session_download (FlamSession *session,
                            const FlamModuleId *modules,
                            guint n);
FlamJob *flam_session_get_download (FlamSession *session);
/* Reads a text again, with another meaning of its weights. */
void flam_session_set_weights_as (FlamSession *session,
                                  FlamWeightsAs weights_as);
FlamWeightsAs flam_session_get_weights_as (FlamSession *session);
/* Stops the current activity; if nothing is loaded yet, emits "failed". The
 * beginning of a file that is shown while the rest is read remains. */
void flam_session_cancel (FlamSession *session);
const char *flam_session_get_path (FlamSession *session);
/* The names below its folder and below those that the user has chosen, read
 * once for each capture that is opened or loaded again. */
FlamSourceNames *flam_session_get_source_names (FlamSession *session);
/* The base name, for titles. */
const char *flam_session_get_title (FlamSession *session);
gboolean flam_session_is_live (FlamSession *session);
/* The profile is the beginning of a file whose rest is being read. */
gboolean flam_session_is_growing (FlamSession *session);

/* The baseline of the comparison, owned by the session. Opening another file
 * clears it. */
FlamBaseline *flam_session_get_baseline (FlamSession *session);

/* --- shown data ----------------------------------------------------------- */

/* Notifies again of all there is, for a view that was created after the capture
 * was read. */
void flam_session_repeat (FlamSession *session);

/* All are NULL until "opened". Properties "profile" and "view-data". */
const FlamProfile *flam_session_get_profile (FlamSession *session);
const FlamSelection *flam_session_get_selection (FlamSession *session);
FlamViewData *flam_session_get_view_data (FlamSession *session);
const FlamTree *flam_session_get_tree (FlamSession *session);

/* Takes ownership of the selection; the previous one goes on the undo stack. */
void flam_session_select (FlamSession *session, FlamSelection *selection);
/* Whether the capture was opened with a stored selection of part of it. */
gboolean flam_session_is_restored (FlamSession *session);
/* The selection that undo would restore; NULL: none. */
const FlamSelection *flam_session_get_undo (FlamSession *session);
void flam_session_undo (FlamSession *session);
/* Adds a transform that matches `node` by its exact name. */
void flam_session_transform_node (FlamSession *session,
                                  FlamTransformKind kind,
                                  FlamNodeId node);
/* Removes threads, times and transforms; the measure stays. */
void flam_session_reset_selection (FlamSession *session);
void flam_session_set_measure (FlamSession *session, guint measure);
void flam_session_set_order (FlamSession *session, FlamTreeOrder order);

/* --- position ------------------------------------------------------------- */

/* Nodes of the view data's tree. Properties "zoom" and "current"; the root, 0,
 * stands for "all" and "nothing in particular". */
FlamNodeId flam_session_get_zoom (FlamSession *session);
void flam_session_set_zoom (FlamSession *session, FlamNodeId node);
FlamId flam_session_get_current (FlamSession *session);
void flam_session_set_current (FlamSession *session, FlamNodeId node);
/* The same, with a source line other than the node's hottest one. With `whole`,
 * the node represents its function in all stacks, as chosen from a list of
 * functions; the root, what has no stack. Both are dropped when the node
 * changes. */
void flam_session_set_current_at (FlamSession *session,
                                  FlamNodeId node,
                                  const char *file,
                                  guint32 line,
                                  gboolean whole);
gboolean flam_session_is_current_whole (FlamSession *session);
/* The same, for a node of another tree of the selection in which several paths
 * are one, as callers and callees are: `node` is one of them (0: the session's
 * tree has none), and the figures are those of `merged`. This is dropped when
 * the node changes or the picture is made anew. */
void flam_session_set_current_of (FlamSession *session,
                                  FlamNodeId node,
                                  FlamViewData *of,
                                  FlamNodeId merged);
/* NULL: the current frame is not one of these. */
FlamViewData *flam_session_get_current_of (FlamSession *session,
                                           FlamNodeId *merged);
/* 0 and "": the node's own. */
guint32 flam_session_get_current_line (FlamSession *session, const char **file);
/* The source line of a node of the tree: for the current one, the line that was
 * chosen with it, otherwise flam_tree_source_line(). */
guint32 flam_session_get_source_line (FlamSession *session,
                                      FlamNodeId node,
                                      const char **file);

/* Property "moving": a zoom animation is running. Each frame costs a layout and
 * a drawing of the changes, so other effects of a click (its path, its source)
 * are shown with the last picture, not before it. */
gboolean flam_session_is_moving (FlamSession *session);
void flam_session_set_moving (FlamSession *session, gboolean moving);

/* Property "page": the id of the visible page; "": the first. */
const char *flam_session_get_page (FlamSession *session);
void flam_session_set_page (FlamSession *session, const char *id);

/* Property "search"; the regex is NULL for "". Text that is not a regular
 * expression, or should not be taken as one, is searched for literally. */
typedef enum
{
  FLAM_SEARCH_REGEX = 1 << 0,
  FLAM_SEARCH_CASE = 1 << 1,
} FlamSearchFlags;

void flam_session_set_search_flags (FlamSession *session,
                                    FlamSearchFlags flags);
const char *flam_session_get_search (FlamSession *session);
void flam_session_set_search (FlamSession *session, const char *text);
FlamRegex *flam_session_get_search_regex (FlamSession *session);

/* Of FlamNote; may be added to and removed from; kept with the capture. */
GListStore *flam_session_get_notes (FlamSession *session);

/* --- progress ------------------------------------------------------------- */

/* Property "activity", and "fraction" while there is one. Only slow work counts
 * as an activity, to avoid flicker. */
FlamActivity flam_session_get_activity (FlamSession *session);
double flam_session_get_fraction (FlamSession *session);

G_END_DECLS

#endif
