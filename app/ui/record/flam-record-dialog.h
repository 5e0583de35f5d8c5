/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_RECORD_DIALOG_H
#define FLAM_RECORD_DIALOG_H

/* The dialog for a recording: a program to launch, or a process to attach to.
 * Emits "record" (const FlamRecordOptions *, the process's name or NULL), then
 * closes. */

#include "flam-recording.h"

#include "flam-dialog.h"

G_BEGIN_DECLS

#define FLAM_TYPE_RECORD_DIALOG (flam_record_dialog_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamRecordDialog, flam_record_dialog, FLAM, RECORD_DIALOG, FlamDialog)

FlamRecordDialog *flam_record_dialog_new (void);
/* A recording of this command line could not read the functions of these
 * runtimes; with these variables its program names them itself:
 * flam-environment.h. Nothing is offered if one of them is NULL. `chosen`: the
 * command is shown, and the offer is taken. */
void flam_record_dialog_offer (FlamRecordDialog *dialog,
                               const char *command,
                               const char *runtimes,
                               const char *variables,
                               gboolean chosen);

G_END_DECLS

#endif
