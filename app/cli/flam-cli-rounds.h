/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_CLI_ROUNDS_H
#define FLAM_CLI_ROUNDS_H

/* record --push: captures that go to a server, of one recording or (--every) of
 * a short one now and then, for services that run all the time. The recorder is
 * a process of its own for each. */

#include "flam-cli.h"
#include "flam-record-options.h"

int flam_cli_rounds (const FlamRecordOptions *options);

#endif
