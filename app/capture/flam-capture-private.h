/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <zstd.h>

#include "flam-capture-reader.h"

struct _FlamCaptureReader
{
  char *name;
  guint64 offset;
  guint64 total_unpacked;
  guint8 *unpacked;
  ZSTD_DCtx *zstd;
  FlamCaptureRows tables[FLAM_CAPTURE_N_TABLES];
};
