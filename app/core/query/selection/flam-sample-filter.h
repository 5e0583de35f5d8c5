/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_SAMPLE_FILTER_H
#define FLAM_SAMPLE_FILTER_H

/* Which samples a selection takes, beside their time, thread and stack: those
 * of the measure's event, in the chosen states, with the chosen labels. Also
 * the existing labels. */

#include "flam-selection.h"

G_BEGIN_DECLS

typedef struct
{
  const FlamSamples *samples;
  FlamId event; /* FLAM_NONE: all */
  guint states;
  guint32 n_sets;
  gboolean *sets; /* n_sets + 1: whether a set is selected, 0 is that of samples
                     without labels; NULL: all are */
} FlamSampleFilter;

/* `event` FLAM_NONE: all. */
void flam_sample_filter_init (FlamSampleFilter *filter,
                              const FlamProfile *profile,
                              const FlamSelection *selection,
                              FlamId event);
void flam_sample_filter_clear (FlamSampleFilter *filter);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (FlamSampleFilter, flam_sample_filter_clear)

/* A set that is not in the profile has no labels. */
static inline guint32
flam_sample_label_set (const FlamSamples *samples, guint32 n_sets, guint32 i)
{
  guint32 set = samples->labels != NULL ? samples->labels[i] : 0;

  return set <= n_sets ? set : 0;
}

static inline gboolean
flam_sample_filter_has (const FlamSampleFilter *filter, guint32 i)
{
  const FlamSamples *samples = filter->samples;
  guint state = samples->state != NULL ? samples->state[i] : FLAM_STATE_RUNNING;

  return (filter->event == FLAM_NONE ||
          (samples->event != NULL ? samples->event[i] : 0) == filter->event) &&
         (filter->states & 1u << state) != 0 &&
         (filter->sets == NULL ||
          filter->sets[flam_sample_label_set (samples, filter->n_sets, i)]);
}

/* --- labels --------------------------------------------------------------- */

guint32 flam_sample_labels_n_sets (const FlamProfile *profile);
/* The keys that occur, as strings, in the order of the table; FlamId,
 * g_array_unref. */
GArray *flam_sample_labels_keys (const FlamProfile *profile);
/* The value that each set has for a key (the first, if there are several),
 * FLAM_NONE for none; n_sets + 1 strings, g_free. */
FlamId *flam_sample_labels_values (const FlamProfile *profile, const char *key);
/* Whether any of the sets has such a label. KEY=VALUE: the value as shown; for
 * a number also a number with a unit ("4kb"), or a range of them, both ends
 * included: "1kb:4kb", ":4kb", "1kb:". */
gboolean flam_sample_labels_any (const FlamProfile *profile,
                                 const char *condition);
/* A number with its unit in the form in which a label's value is shown: "4096
 * bytes", "7"; g_free. */
char *flam_sample_labels_number_text (gint64 number, const char *unit);

G_END_DECLS

#endif
