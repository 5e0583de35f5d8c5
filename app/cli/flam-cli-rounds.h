/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_CLI_ROUNDS_H
#define FLAM_CLI_ROUNDS_H

/* record --push: sends captures to a server: that of one recording or, with
 * --every, those of short recordings at intervals, for services that run all
 * the time. The recorder is a process of its own for each. */

#include "flam-cli.h"
#include "flam-record-options.h"

int flam_cli_rounds (const FlamRecordOptions *options);

#endif
