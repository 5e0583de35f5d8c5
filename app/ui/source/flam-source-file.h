/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_SOURCE_FILE_H
#define FLAM_SOURCE_FILE_H

/* A source file of a profile: found on this machine, read, and weighed. The
 * work of a job. */

#include "flam-session.h"
#include "flam-source-costs.h"
#include "flam-source-path.h"

G_BEGIN_DECLS

typedef struct
{
  FlamViewData *view_data;
  char *recorded;          /* as in the profile */
  guint32 line;            /* the line to show, 0: the hottest */
  FlamFunctionId function; /* the frame's own */
  gboolean alone;          /* costs of the selection only: of the stacks through
                              `path`, or of the function's own frames */
  FlamNodeId path;         /* 0: the function is selected, in all stacks */
  FlamViewData *of;        /* whose tree has that node; NULL: `view_data` */
  char *known;  /* the local file that is already shown and is not read again */
  char *folder; /* the capture's folder, searched, too */
  FlamSourceNames *names;        /* below it */
  GVariant *mappings;            /* a(ss) */
  FlamBaselineCopy *base_copy;   /* the baseline; NULL: none */
  FlamBaselineLines *base_lines; /* the same, weighed; NULL: not yet */
} FlamSourceRequest;

typedef struct
{
  FlamSourceRequest *request;
  FlamSourceOrigin origin; /* of the request, and of `missing` if it is set */
  char *path;    /* on this machine, or as recorded if the capture contains its
                    text; NULL: not found */
  char **tried;  /* if it was not found */
  char *text;    /* valid UTF-8; NULL: unchanged */
  guint32 first; /* the line to show, if no frame is chosen; or 0 */
  char *missing; /* the recorded path of the user's own file that has more of
                    the cost, but was not found; NULL: none */
  gint64 missing_total;   /* of that file, or of the one that was not found */
  FlamSourceCosts *costs; /* NULL if there is no file at all */
} FlamSourceFile;

/* Whether costs can be those of the selection only: not for a file or a module
 * that was chosen from a list, since all lines are its own. */
gboolean flam_source_can_be_alone (FlamSession *session);
/* Of the session's current frame. */
FlamSourceRequest *flam_source_request_new (FlamSession *session,
                                            gboolean alone,
                                            const char *known);
/* Takes ownership of both; either may be NULL. */
void flam_source_request_compare (FlamSourceRequest *request,
                                  FlamBaselineCopy *base_copy,
                                  FlamBaselineLines *base_lines);
void flam_source_request_free (gpointer request);
void flam_source_file_free (gpointer file);

/* FlamJobWork: stores the request in the file that it returns. */
gpointer flam_source_file_work (gpointer request,
                                const FlamProgress *progress,
                                GError **error);

/* `recorded` was found somewhere below `folder`: stores the mapping of the
 * paths. */
gboolean flam_source_file_remember (const char *recorded, const char *folder);

G_END_DECLS

#endif
