/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_SELECTION_EXPORTS_H
#define FLAM_SELECTION_EXPORTS_H

#include "flam-formats.h"

/* After export and import, the total is that of the selection; formats that
 * cannot represent it refuse it. */
void check_exporter (const FlamProfile *profile,
                     const FlamSelection *selection,
                     const FlamExporter *exporter);

#endif
