/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_EXPORT_DOCUMENT_H
#define FLAM_EXPORT_DOCUMENT_H

/* The selection as a document, made in memory on a worker: a job's input, work
 * and result. */

#include "flam-core-picture.h"
#include "flam-formats.h"
#include "flam-session.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

typedef struct
{
  FlamViewData *view_data;
  const FlamExporter *exporter;
  char *title;
  GPtrArray *words; /* in the form that flam_export_options_take() accepts */
  FlamAnonymize anonymize;
  GPtrArray *notes;      /* FlamShareNote */
  FlamColorRules *rules; /* color rules; NULL: none */
  GVariant *mappings;    /* with sources; NULL: without */
} FlamExportAsked;

typedef struct
{
  GBytes *document;
  char *losses;  /* NULL: no losses */
  char *remains; /* the names that it reveals, one per line; NULL: not a capture
                  */
  GdkTexture *picture; /* NULL: not a picture, or too large to show */
} FlamExportMade;

/* From the session's current state. */
FlamExportAsked *flam_export_asked_new (FlamSession *session,
                                        const FlamExporter *exporter);
void flam_export_asked_free (gpointer asked);
void flam_export_made_free (gpointer made);

/* FlamJobWork */
gpointer
flam_export_make (gpointer asked, const FlamProgress *progress, GError **error);

G_END_DECLS

#endif
