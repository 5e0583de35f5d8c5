/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* A session's inside: flam-session.c loads and draws, flam-session-view.c
 * keeps what a person has chosen. */

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
  FlamStep *restore; /* where to be in the next excerpt; NULL: as now */
  FlamTreeOrder order;
  FlamExcerpt *excerpt;
  FlamId zoom;
  FlamId current;
  char *search;
  FlamSearchFlags search_flags;
  GRegex *search_regex;

  FlamJob *load;
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
  FLAM_SESSION_PROP_EXCERPT,
  FLAM_SESSION_PROP_ZOOM,
  FLAM_SESSION_PROP_CURRENT,
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
/* Makes the excerpt of the selection anew. */
void flam_session_draw (FlamSession *session);

G_END_DECLS
