/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* A recorder that runs: a process of its own, spoken with over a socket pair
 * in lines (app/record/tracer/flam-control.h has the words). The capture it
 * writes is read like any other file. */

#include <gio/gio.h>

G_BEGIN_DECLS

typedef enum
{
  FLAM_RECORD_MODE_CPU,
  FLAM_RECORD_MODE_WALL,
  FLAM_RECORD_MODE_ALLOC,
  FLAM_RECORD_MODE_BOTH,
} FlamRecordMode;

typedef struct
{
  char **argv; /* to launch; NULL: attach */
  int pid;     /* to attach to */
  char *name;  /* of the process that is attached to */
  char *cwd;   /* NULL: ours */
  char **envp; /* whole environment; NULL: ours */
  char **env;  /* NAME=VALUE on top of it; or NULL */
  FlamRecordMode mode;
  guint rate;
  guint64 sample_bytes; /* 0: every allocation */
  gboolean follow;
  gboolean python;
  gboolean python_malloc; /* Python's small blocks one by one */
} FlamRecordOptions;

/* "cpu", "wall", "alloc", "both": as the recorder and the settings say it. */
const char *flam_record_mode_name (FlamRecordMode mode);
/* As the settings have them. */
FlamRecordOptions *flam_record_options_new (void);
void flam_record_options_free (FlamRecordOptions *options);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamRecordOptions, flam_record_options_free)

typedef enum
{
  FLAM_RECORDING_STARTING,
  FLAM_RECORDING_RUNNING,
  FLAM_RECORDING_PAUSED,
  FLAM_RECORDING_FINISHING, /* symbols are resolved */
  FLAM_RECORDING_DONE,
} FlamRecordingState;

#define FLAM_TYPE_RECORDING (flam_recording_get_type ())
G_DECLARE_FINAL_TYPE (FlamRecording, flam_recording, FLAM, RECORDING, GObject)

/* Signals: "changed"; "finished" (GError or NULL), once. */
FlamRecording *flam_recording_start (const FlamRecordOptions *options,
                                     GError **error);
void flam_recording_stop (FlamRecording *recording);
void flam_recording_set_paused (FlamRecording *recording, gboolean paused);

FlamRecordingState flam_recording_get_state (FlamRecording *recording);
const char *flam_recording_get_path (FlamRecording *recording);
/* "nest 100", or the name of the process. */
const char *flam_recording_get_title (FlamRecording *recording);
gint64 flam_recording_get_elapsed_ms (FlamRecording *recording);
guint64 flam_recording_get_samples (FlamRecording *recording);

G_END_DECLS
