/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_SESSION_PRIVATE_H
#define FLAM_SESSION_PRIVATE_H

/* The inside of a session: flam-session.c draws and notifies, flam-session-
 * load.c loads the profile, flam-session-view.c has the user's choices, and
 * flam-session-state.c stores them for the next time. */

#include "flam-follow.h"
#include "flam-session.h"

G_BEGIN_DECLS

#define FLAM_SESSION_UNDO_MAX 100

/* The remaining steps after the picture is shown: function names are found
 * quickly, while inlined functions and lines take longer. */
typedef enum
{
  STAGE_DONE,
  STAGE_FULL,
  STAGE_SYMTAB,
} SymbolStage;

/* A state that undo can restore. */
typedef struct
{
  FlamSelection *selection;
  char **zoom; /* paths of names */
  char **current;
  gboolean waits; /* until these names are found, or the last step is done */
} FlamStep;

struct _FlamSession
{
  GObject parent_instance;

  char *path;
  FlamSourceNames *source_names;
  char *title;
  FlamFollow *follow; /* of a recording that is being written, or NULL */
  FlamWeightsAs weights_as;
  FlamProfile *profile;
  FlamSelection *selection;
  GPtrArray *undo;   /* FlamStep, the latest last */
  FlamStep *restore; /* the place in the next view data; NULL: unchanged */
  FlamTreeOrder order;
  FlamViewData *view_data;
  FlamNodeId zoom;
  FlamId current;
  gboolean whole;   /* the current frame represents its function */
  FlamViewData *of; /* whose node `merged` is the current frame, or NULL */
  FlamNodeId merged;
  guint telling; /* of "current": views that respond with the same node */
  guint32 line;  /* of the current frame's source; 0: its own */
  char *file;    /* of `line`, or NULL */
  char *page;
  char *search;
  FlamSearchFlags search_flags;
  FlamRegex *search_regex;

  char *kept_file; /* the state file (flam-saved-state.h); NULL: none */
  char *kept_page;
  gboolean begun; /* its first page was chosen */
  guint keep_id;
  GListStore *notes; /* FlamNote */

  char *cache_file; /* the cache file of the capture being read (flam-cache.h);
                       NULL: none */
  gint64 load_began;
  FlamProfile *part; /* a longer beginning of the file, for the next picture; or
                        NULL */
  guint part_id;     /* the timer between pictures of beginnings, or 0 */

  FlamJob *load;
  FlamJob *keep; /* writes that file */
  FlamJob *symbolize;
  FlamJob *draw;
  FlamJob *download;
  FlamBaseline *baseline;
  FlamActivity activity;
  guint opened : 1;      /* the first picture of this path was shown */
  guint restored : 1;    /* the selection is still the restored one */
  guint interpreted : 1; /* flam_frames_are_interpreted() */
  guint moving : 1;
  guint live : 1;
  guint growing : 1; /* flam_session_is_growing() */
  guint by_name : 1; /* not by cost: a recording keeps the order of its
                      * growing pictures */
  SymbolStage stage;
};

typedef enum
{
  FLAM_SESSION_PROP_0,
  FLAM_SESSION_PROP_PROFILE,
  FLAM_SESSION_PROP_SELECTION,
  FLAM_SESSION_PROP_VIEW_DATA,
  FLAM_SESSION_PROP_ZOOM,
  FLAM_SESSION_PROP_CURRENT,
  FLAM_SESSION_PROP_MOVING,
  FLAM_SESSION_PROP_PAGE,
  FLAM_SESSION_PROP_SEARCH,
  FLAM_SESSION_PROP_ACTIVITY,
  FLAM_SESSION_PROP_FRACTION,
  FLAM_SESSION_N_PROPS
} FlamSessionProperty;

void flam_session_changed (FlamSession *session, guint property);
void flam_session_fail (FlamSession *session, const GError *error);
/* The initial selection of a capture, until the user changes it. Native code is
 * hidden where the program is interpreted. */
FlamSelection *flam_session_first_selection (FlamSession *session);
void flam_step_free (gpointer step);
/* Starts the next step of symbolizing, if any. */
void flam_session_symbolize_more (FlamSession *session);
/* The state that is stored for the next time: see flam-session-state.c.
 * Restores the selection, the place and the page of a capture that was just
 * read; marks it as changed; writes it before the session ends. */
void flam_session_state_restore (FlamSession *session);
void flam_session_state_restore_page (FlamSession *session);
void flam_session_state_queue (FlamSession *session);
void flam_session_state_flush (FlamSession *session);
/* Resets it to the state without a capture. */
void flam_session_forget (FlamSession *session);
/* Recomputes the view data of the selection. */
void flam_session_draw (FlamSession *session);

G_END_DECLS

#endif
