/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_RELAY_H
#define FLAM_RELAY_H

/* The recorder's end of the connection on the target's machine (flam-wire.h).
 * It starts the recorder as a process of its own, which writes into a file
 * there, and sends on what is new in the file and what the program prints.
 *
 * If the connection is lost, the recording goes on and the relay waits for
 * another one, which a second process hands over to it (flam-relay-join.h). If
 * none comes in time, or the recorder on the other side was killed, the
 * recording ends, the capture is completed and remains there, and the program
 * goes on: its output is read until it has ended. */

#include "flam-record-options.h"

/* FLAM_RELAY_OPTION NAME SECONDS: the recording's name, and how long to wait
 * for another connection. */
#define FLAM_RELAY_OPTION "--relay"

/* Returns in the recorder's process alone, with its options; the relay itself
 * exits. `own`: the path of this program, which is in the folder of a
 * FlamParcel. NULL with an error: in the recorder's process, too. */
FlamRecordOptions *flam_relay_start (const char *own,
                                     const char *name,
                                     const char *seconds,
                                     GError **error);

#endif
