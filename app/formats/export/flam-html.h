/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_HTML_H
#define FLAM_HTML_H

/* Self-contained pages: shared by the HTML export, the comparison of two
 * captures and the history of many. Text is escaped by these functions; literal
 * markup goes to `out` directly. */

#include "flam-core-picture.h"
#include "flam-sink.h"

/* A script or a style for documents: the text of the file. Static. */
const char *flam_html_resource (const char *name);

/* Writes the start of a page. `script`: NULL, or the name of the resource with
 * its script. The content security policy allows only this script, by its hash;
 * the page can run, load and send nothing else. */
void flam_html_put_head (FlamSink *out, const char *title, const char *script);
/* Writes that script. */
void flam_html_put_script (FlamSink *out, const char *script);

/* The script for zoom and search in flame graphs. */
#define FLAM_HTML_ZOOM "flam-svg.js"
/* The script that switches the series of a history. */
#define FLAM_HTML_SERIES "flam-history.js"

/* Writes a page with our style. */
void flam_html_begin (FlamSink *out, const char *title, const char *script);
void flam_html_end (FlamSink *out, const char *script);

/* <tag>text</tag> */
void flam_html_append (FlamSink *out, const char *tag, const char *text);
/* Adds a cell of a table; takes ownership of `text`. */
void flam_html_append_cell (FlamSink *out, char *text);
/* A cell "+1.2 s", "−0.4 s" or "0 s", colored by its sign. */
void flam_html_append_change (FlamSink *out,
                              const FlamMeasure *measure,
                              gint64 change,
                              const FlamEstimate *estimate);
/* A term and its value in a list of facts; nothing for "". */
void flam_html_append_fact (FlamSink *out, const char *term, const char *value);

/* The colors of functions for the page of a profile, of the nodes in `first`
 * (FlamId), as members of an object; if by status, also their colors at odd
 * depths, and those with a color from the user's rules. */
void flam_html_put_colors (FlamSink *out,
                           const FlamTree *tree,
                           const GArray *first,
                           const FlamColors *colors);
/* The statuses, in the order in which they determine a frame's color. */
void flam_html_put_statuses (FlamSink *out,
                             const FlamTree *tree,
                             const FlamColors *colors);

#endif
