/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The flame graph as SVG elements, for the SVG and HTML exporters.
 *
 *    <g class="f"><title>name (12 samples, 3.4%)</title>
 *      <rect x y width height fill/><text x y>name</text></g>
 *
 * The picture is whole without its script; flam-svg.js reads the boxes back
 * from these elements. Boxes narrower than a tenth of a pixel are left out,
 * and the picture says how much weight they stand for. Where the title says a
 * weight as people read it, data-weight of the rect has it whole. */

#include "flam-look.h"
#include "flam-sink.h"

G_BEGIN_DECLS

/* <svg class="flambeau">…</svg>. */
void
flam_svg_append (FlamSink *out, const FlamTree *tree, const FlamLook *look);
/* The same as a document of its own, with the script. */
void flam_svg_append_document (FlamSink *out,
                               const FlamTree *tree,
                               const FlamLook *look);

G_END_DECLS
