/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* A session's inside: flam-session.c draws and tells, flam-session-load.c has
 * the profile, flam-session-view.c what a person has chosen, and
 * flam-session-keep.c keeps that for the next time. */

#include "flam-follow.h"
#include "flam-session.h"

G_BEGIN_DECLS

#define FLAM_SESSION_UNDO_MAX 100

/* What is still to be done once the picture is there: the names of functions
 * come fast, inlined functions and lines take longer. */
typedef enum
{
  STAGE_DONE,
  STAGE_FULL,
  STAGE_SYMTAB,
} SymbolStage;

/* What undo goes back to. */
typedef struct
{
  FlamSelection *selection;
  char **zoom; /* paths of names */
  char **current;
  gboolean waits; /* until these names are there, or the last have come */
} FlamStep;

struct _FlamSession
{
  GObject parent_instance;

  char *path;
  char *title;
  FlamFollow *follow; /* of a recording that is being written, or NULL */
  FlamWeightsAs weights_as;
  FlamProfile *profile;
  FlamSelection *selection;
  GPtrArray *undo;   /* FlamStep, the latest last */
  FlamStep *restore; /* where to be in the next view_data; NULL: as now */
  FlamTreeOrder order;
  FlamViewData *view_data;
  FlamId zoom;
  FlamId current;
  guint32 line; /* of the current frame's source; 0: its own */
  char *file;   /* of `line`, or NULL */
  char *page;
  char *search;
  FlamSearchFlags search_flags;
  GRegex *search_regex;

  char *kept_file; /* where it is kept (flam-kept.h); NULL: nowhere */
  char *kept_page;
  guint keep_id;
  GListStore *notes; /* FlamNote */

  char *cache_file; /* of what is being read (flam-cache.h); NULL: none */
  gint64 load_began;

  FlamJob *load;
  FlamJob *keep; /* writes that file */
  FlamJob *symbolize;
  FlamJob *draw;
  FlamJob *download;
  FlamBaseline *baseline;
  FlamActivity activity;
  guint opened : 1; /* the first picture of this path was shown */
  guint live : 1;
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
  FLAM_SESSION_PROP_PAGE,
  FLAM_SESSION_PROP_SEARCH,
  FLAM_SESSION_PROP_ACTIVITY,
  FLAM_SESSION_PROP_FRACTION,
  FLAM_SESSION_N_PROPS
} FlamSessionProperty;

void flam_session_changed (FlamSession *session, guint property);
void flam_session_fail (FlamSession *session, const GError *error);
/* What a capture is looked at with until a person chooses otherwise. */
FlamSelection *flam_session_first_selection (void);
void flam_step_free (gpointer step);
/* Goes on to the names that are still to come, if any. */
void flam_session_symbolize_more (FlamSession *session);
/* What is kept for the next time: see flam-session-keep.c. The selection and
 * the place of a capture that was just read, and its page; something of it has
 * changed; it is about to go. */
void flam_session_keep_restore (FlamSession *session);
void flam_session_keep_restore_page (FlamSession *session);
void flam_session_keep_queue (FlamSession *session);
void flam_session_keep_flush (FlamSession *session);
/* Nothing is open. */
void flam_session_forget (FlamSession *session);
/* Makes the view data of the selection anew. */
void flam_session_draw (FlamSession *session);

G_END_DECLS
