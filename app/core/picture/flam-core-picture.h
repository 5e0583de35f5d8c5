/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_CORE_PICTURE_H
#define FLAM_CORE_PICTURE_H

/* Everything that is shown of a query: all of core/picture. */

#include "flam-core-query.h"

#include "flam-chart-colors.h"
#include "flam-chart.h"
#include "flam-color.h"
#include "flam-dump.h"
#include "flam-format.h"
#include "flam-function-calls.h"
#include "flam-headline.h"
#include "flam-language.h"
#include "flam-layout.h"
#include "flam-picture-style.h"
#include "flam-message.h"
#include "flam-named-color.h"
#include "flam-palette.h"
#include "flam-plot-balance.h"
#include "flam-plot-heat.h"
#include "flam-plot-range.h"
#include "flam-plot-trend.h"
#include "flam-plot.h"
#include "flam-sunburst.h"
#include "flam-ticks.h"

#endif
