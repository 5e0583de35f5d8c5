/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "flam-formats.h"

/* Out and in again, the total is that of the selection; what a form cannot be
 * made of is refused. */
void check_exporter (const FlamProfile *profile,
                     const FlamSelection *selection,
                     const FlamExporter *exporter);
