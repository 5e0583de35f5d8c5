/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_SVG_H
#define FLAM_SVG_H

/* A flame graph or a flame chart as SVG elements, for the SVG and HTML
 * exporters.
 *
 *    <g class="f"><title>name (12 samples, 3.4%)</title>
 *      <rect x y width height fill/><text x y>name</text></g>
 *
 * The picture is complete without its script; flam-svg.js reads the boxes back
 * from these elements. If the title has a rounded weight, data-weight of the
 * rect has the exact one; a call of a chart has its start, ns, as data-from. In
 * a flame graph, boxes narrower than a tenth of a pixel are left out, and the
 * picture states their weight.
 *
 * A sunburst or a treemap has no script, and cannot be mistaken for a flame
 * graph: its elements have other classes. */

#include "flam-core-picture.h"
#include "flam-sink.h"

/* Whether flamegraph.pl has that background. */
gboolean flam_svg_is_background (const char *text);

/* <svg class="flambeau">…</svg>. `chart`: draws it, in the tree's colors; NULL:
 * the tree. */
void flam_svg_append (FlamSink *out,
                      const FlamTree *tree,
                      const FlamChart *chart,
                      const FlamPictureStyle *look);
/* The same as a separate document, with the script. */
void flam_svg_append_document (FlamSink *out,
                               const FlamTree *tree,
                               const FlamChart *chart,
                               const FlamPictureStyle *look);

#endif
