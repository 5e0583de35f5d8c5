/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-capture-quality.h"

#include "flam-core-picture.h"
#include "flam-help.h"
#include "flam-record-options.h"

#include <glib/gi18n.h>

#define MODULES_MAX 8
#define WARNINGS_MAX 20
#define MUCH 0.05 /* share of the samples or of the CPU time */
#define MUCH_UNSEEN 0.03

struct _FlamCaptureQuality
{
  GtkPopover parent_instance;

  FlamSession *session;
  GtkBox *box;
  GtkButton *help;
};

G_DEFINE_FINAL_TYPE (FlamCaptureQuality, flam_capture_quality, GTK_TYPE_POPOVER)

typedef enum
{
  ROW_READ,
  ROW_DURATION,
  ROW_SAMPLES,
  ROW_BLOCKS,
  ROW_SAMPLED,
  ROW_SINCE,
  ROW_LOST,
  ROW_LOST_OURS, /* of our recorder */
  ROW_LATE,
  ROW_TRUNCATED,
  ROW_TRUNCATED_OURS,
  ROW_SEEN,
  ROW_UNSEEN,
  ROW_OVERHEAD,
  ROW_OVERHEAD_MEMORY, /* all allocations are recorded */
  ROW_ENGINE,
  ROW_ENGINE_PERF,
  ROW_MEDIAN,
  ROW_P99,
  ROW_WAITING,
  ROW_UNCERTAIN,
  ROW_UNNAMED,
  N_ROWS
} Row;

/* The meaning of each figure, and what to do about a bad one. The help has the
 * same texts, see tests/house/check-help. */
static const struct
{
  const char *name;
  const char *meaning;
  const char *remedy;
} rows[N_ROWS] = {
  [ROW_READ] = { N_ ("Part of the File Read"),
                 N_ ("How much of the capture could be read."),
                 N_ ("Copy it again. If the recording itself was interrupted, "
                     "the rest is lost.") },
  [ROW_DURATION] = { N_ ("Duration"),
                     N_ ("How long the recording lasted."),
                     N_ ("Record longer if the results vary between runs.") },
  [ROW_SAMPLES] = { N_ ("Samples"),
                    N_ ("How many samples the capture has."),
                    N_ ("With fewer than a few hundred, shares are rough: "
                        "record longer or at a higher rate.") },
  [ROW_BLOCKS] = { N_ ("Allocation Records"),
                   N_ ("How many rows of allocations the capture has."),
                   N_ ("If rare allocations matter, record all of them.") },
  [ROW_SAMPLED] = { N_ ("Allocation Sampling"),
                    N_ ("One allocation is recorded per this many bytes. The "
                        "whole sums are counted; their split is an estimate, "
                        "shown with its error."),
                    N_ ("Record all allocations if small sums matter.") },
  [ROW_SINCE] = { N_ ("Memory Since"),
                  N_ ("Blocks that a running process had before its recording "
                      "began are not counted, and neither is their release."),
                  N_ ("Start the program with the recorder to see all of its "
                      "memory.") },
  [ROW_LOST] = { N_ ("Lost Events"),
                 N_ ("Events that the recorder was too slow to process."),
                 N_ ("Let that recorder have larger buffers (perf record "
                     "--mmap-pages), or lower its rate.") },
  [ROW_LOST_OURS] = { N_ ("Lost Events"),
                      N_ ("Samples that the recorder was too slow to take, or "
                          "for which the program had ended."),
                      N_ ("Lower the sampling rate, or leave a CPU free.") },
  [ROW_LATE] = { N_ ("Late Samples"),
                 N_ ("Samples taken a period late, or skipped for that reason, "
                     "because the machine was busy."),
                 N_ ("Lower the sampling rate, or leave a CPU free.") },
  [ROW_TRUNCATED] = { N_ ("Truncated Stacks"),
                      N_ ("Stacks whose outermost callers are missing."),
                      N_ ("Record with Flambeau, or configure the other "
                          "recorder to keep more of each stack.") },
  [ROW_TRUNCATED_OURS] = { N_ ("Truncated Stacks"),
                           N_ ("Stacks whose outermost callers are missing. "
                               "They end in code without unwind tables, or in "
                               "memory that could not be read."),
                           N_ ("Build that code with "
                               "-fasynchronous-unwind-tables or "
                               "-fno-omit-frame-pointer. The warnings below "
                               "name other causes.") },
  [ROW_SEEN] = { N_ ("CPU Time Covered by Samples"),
                 N_ ("The share of the CPU time charged by the kernel. The "
                     "rest was used between samples."),
                 N_ ("Raise the sampling rate if much is missing.") },
  [ROW_UNSEEN] = { N_ ("CPU Time Around Waits"),
                   N_ ("An upper bound of the CPU time that the kernel used, "
                       "without interruption, to put threads on a CPU and to "
                       "take them off. No sample can be taken there, so "
                       "waiting functions may show this much too little."),
                   N_ ("Only a hardware counter sees it: perf record -e "
                       "cycles.") },
  [ROW_OVERHEAD] = { N_ ("Recorder Overhead"),
                     N_ ("CPU time of the recorder as a share of the "
                         "program’s."),
                     N_ ("Lower the sampling rate.") },
  [ROW_OVERHEAD_MEMORY] = { N_ ("Recorder Overhead"),
                            N_ ("CPU time of the recorder as a share of the "
                                "program’s."),
                            N_ ("Sample allocations instead of recording all "
                                "of them.") },
  [ROW_ENGINE] = { N_ ("Clock"),
                   N_ ("The recorder took the samples and stopped threads for "
                       "them (ptrace)."),
                   N_ ("The kernel’s clock stops no thread and shows its own "
                       "functions, where the system permits it: --engine "
                       "auto.") },
  [ROW_ENGINE_PERF] = { N_ ("Clock"),
                        N_ ("The kernel took the samples (perf) and stopped no "
                            "thread for them."),
                        N_ ("The recorder’s own clock works without the "
                            "system’s permission: --engine ptrace.") },
  [ROW_MEDIAN] = { N_ ("Median Pause per Sample"),
                   N_ ("How long a thread is stopped for a sample."),
                   N_ ("Lower the sampling rate if the program must respond "
                       "quickly.") },
  [ROW_P99] = { N_ ("99th Percentile Pause"),
                N_ ("One pause in a hundred is longer."),
                N_ ("Leave a CPU free: pauses are longer on a busy machine.") },
  [ROW_WAITING] = { N_ ("Stops of Waiting Threads"),
                    N_ ("Stops that are not samples of CPU time, because the "
                        "thread was waiting for a CPU."),
                    N_ ("Leave a CPU free, or record wall time, which "
                        "includes such waits.") },
  [ROW_UNCERTAIN] = { N_ ("Uncertain Stops"),
                      N_ ("Stops for which the recorder estimated whether the "
                          "thread was running."),
                      N_ ("Record on a kernel with CONFIG_SCHED_DEBUG, whose "
                          "/proc/PID/sched answers this exactly.") },
  [ROW_UNNAMED] = { N_ ("Frames without Names"),
                    N_ ("Frames of Python, Java and other managed languages "
                        "that are named “(unreadable)”: the function was "
                        "replaced before its name was read, or its process "
                        "ended."),
                    N_ ("A few are normal. If there are many, the runtime may "
                        "be newer than Flambeau: use its option that writes a "
                        "map of its functions for perf.") },
};

static GtkWidget *
text_label (const char *text, const char *css_class)
{
  GtkWidget *label = gtk_label_new (text);

  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_wrap (GTK_LABEL (label), TRUE);
  gtk_label_set_wrap_mode (GTK_LABEL (label), PANGO_WRAP_WORD_CHAR);
  gtk_label_set_max_width_chars (GTK_LABEL (label), 48);
  gtk_label_set_selectable (GTK_LABEL (label), FALSE);
  if (css_class != NULL)
    gtk_widget_add_css_class (label, css_class);
  return label;
}

static void
add_heading (FlamCaptureQuality *self, const char *text)
{
  gtk_box_append (self->box, text_label (text, "heading"));
}

static void
add_row (FlamCaptureQuality *self,
         const char *name,
         const char *value,
         const char *explanation)
{
  GtkWidget *row = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);
  GtkWidget *label = text_label (name, NULL);
  GtkWidget *figure = gtk_label_new (value);

  gtk_widget_set_hexpand (label, TRUE);
  gtk_label_set_xalign (GTK_LABEL (figure), 1);
  gtk_label_set_ellipsize (GTK_LABEL (figure), PANGO_ELLIPSIZE_END);
  gtk_widget_add_css_class (figure, "numeric");
  gtk_widget_set_tooltip_text (row, explanation);
  if (explanation != NULL)
    gtk_accessible_update_property (GTK_ACCESSIBLE (label),
                                    GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                                    explanation,
                                    -1);
  gtk_box_append (GTK_BOX (row), label);
  gtk_box_append (GTK_BOX (row), figure);
  gtk_box_append (self->box, row);
}

static void
add_caption (FlamCaptureQuality *self, const char *text)
{
  GtkWidget *label = text_label (text, "caption");

  gtk_widget_add_css_class (label, "dim-label");
  gtk_box_append (self->box, label);
}

/* `wrong`: the figure is bad, so the remedy is shown. */
static void
add_fact (FlamCaptureQuality *self, Row row, const char *value, gboolean wrong)
{
  /* Translators: the meaning of a figure, and the remedy if it is bad */
  g_autofree char *text = g_strdup_printf (
      _ ("%s %s"), _ (rows[row].meaning), _ (rows[row].remedy));

  add_row (self, _ (rows[row].name), value, text);
  if (wrong)
    add_caption (self, _ (rows[row].remedy));
}

static void
add_count (FlamCaptureQuality *self, Row row, guint64 n, gboolean wrong)
{
  g_autofree char *text =
      flam_format_value (MIN (n, (guint64)G_MAXINT64), FLAM_UNIT_COUNT);

  add_fact (self, row, text, wrong);
}

static void
add_share (FlamCaptureQuality *self, Row row, double share, gboolean wrong)
{
  g_autofree char *text = g_strdup_printf (_ ("%.1f %%"), share * 100);

  add_fact (self, row, text, wrong);
}

static void
add_time (FlamCaptureQuality *self, Row row, gint64 ns)
{
  g_autofree char *text = ns > 0 ? flam_format_value (ns, FLAM_UNIT_NS) : NULL;

  if (text != NULL)
    add_fact (self, row, text, FALSE);
}

/* `sum`: of all allocations. */
static void
add_sampled (FlamCaptureQuality *self, gint64 every, gint64 sum)
{
  g_autofree char *distance = flam_format_power (MAX (every, 0));
  /* Translators: one allocation per this many bytes */
  g_autofree char *text = g_strdup_printf (_ ("every %s"), distance);

  if (every > 0)
    add_fact (
        self, ROW_SAMPLED, text, sum > 0 && sum / FLAM_FACTS_ROUGH < every);
}

static gboolean
is_much (double part, double whole)
{
  return part > MUCH * whole;
}

static void
add_seen (FlamCaptureQuality *self, const FlamFacts *facts)
{
  gint64 missed = facts->charged_cpu_ns - facts->recorded_cpu_ns;
  g_autofree char *recorded =
      flam_format_value (facts->recorded_cpu_ns, FLAM_UNIT_NS);
  g_autofree char *charged =
      flam_format_value (facts->charged_cpu_ns, FLAM_UNIT_NS);
  g_autofree char *text = g_strdup_printf (_ ("%s of %s"), recorded, charged);

  if (facts->charged_cpu_ns > 0)
    add_fact (self,
              ROW_SEEN,
              text,
              is_much ((double)missed, (double)facts->charged_cpu_ns));
}

/* In a short program the recorder's start dominates: its share would have no
 * meaning for a longer run. */
static void
add_overhead (FlamCaptureQuality *self, const FlamProfile *profile)
{
  const FlamFacts *facts = &profile->facts;
  Row row = profile->allocations.n > 0 && facts->sample_bytes == 0
                ? ROW_OVERHEAD_MEMORY
                : ROW_OVERHEAD;
  g_autofree char *own =
      flam_format_value (facts->recorder_cpu_ns, FLAM_UNIT_NS);
  g_autofree char *program =
      flam_format_value (facts->recorded_cpu_ns, FLAM_UNIT_NS);
  /* Translators: CPU time of the recorder, and that of the program */
  g_autofree char *text =
      g_strdup_printf (_ ("%s; the program: %s"), own, program);

  if (facts->recorder_share < 0)
    return;
  if (facts->recorder_cpu_ns > 0 && facts->recorded_cpu_ns < FLAM_SHORT_CPU)
    add_fact (self, row, text, FALSE);
  else
    add_share (
        self, row, facts->recorder_share, is_much (facts->recorder_share, 1));
}

static gint64
allocated (const FlamProfile *profile)
{
  const FlamAllocations *made = &profile->allocations;
  double sum = 0;

  for (FlamId i = 0; i < made->n; i++)
    sum += (double)made->size[i] * (double)made->count[i];
  return (gint64)MIN (sum, 0x1p62);
}

static void
add_facts (FlamCaptureQuality *self, const FlamProfile *profile)
{
  const FlamFacts *facts = &profile->facts;
  gint64 n_samples = flam_profile_count_samples (profile);
  double samples = (double)n_samples;
  gboolean ours = flam_facts_other (facts, FLAM_FACT_MODE) != NULL;

  add_heading (self, _ ("Capture Quality"));
  if (facts->complete)
    add_fact (self, ROW_READ, _ ("all of it"), FALSE);
  else
    add_share (self, ROW_READ, facts->read_fraction, TRUE);
  add_time (self, ROW_DURATION, facts->duration_ns);
  if (profile->samples.n > 0)
    add_count (self, ROW_SAMPLES, (guint64)MAX (n_samples, 0), FALSE);
  if (profile->allocations.n > 0)
    add_count (self, ROW_BLOCKS, profile->allocations.n, FALSE);
  add_sampled (self, facts->sample_bytes, allocated (profile));
  if (flam_facts_other (facts, FLAM_FACT_MEMORY_SINCE) != NULL)
    /* Translators: "memory since attaching" */
    add_fact (self, ROW_SINCE, _ ("attaching"), FALSE);
  add_count (
      self, ours ? ROW_LOST_OURS : ROW_LOST, facts->lost, facts->lost > 0);
  add_count (
      self, ROW_LATE, facts->late, is_much ((double)facts->late, samples));
  add_count (self,
             ours ? ROW_TRUNCATED_OURS : ROW_TRUNCATED,
             facts->truncated_stacks,
             is_much ((double)facts->truncated_stacks, samples));
  add_seen (self, facts);
  if (flam_facts_unseen (facts) > 0)
    add_share (self,
               ROW_UNSEEN,
               flam_facts_unseen (facts),
               flam_facts_unseen (facts) >= MUCH_UNSEEN);
  add_overhead (self, profile);
  if (facts->engine[0])
    add_fact (self,
              strcmp (facts->engine, FLAM_ENGINE_PERF) == 0 ? ROW_ENGINE_PERF
                                                            : ROW_ENGINE,
              facts->engine,
              FALSE);
  if (facts->engine_reason[0])
    {
      g_autofree char *reason = flam_message_shown (facts->engine_reason);
      add_caption (self, reason);
    }
  add_time (self, ROW_MEDIAN, facts->stop_median_ns);
  add_time (self, ROW_P99, facts->stop_p99_ns);
  if (facts->waiting_stops > 0)
    add_count (self,
               ROW_WAITING,
               (guint64)facts->waiting_stops,
               (double)facts->waiting_stops > samples);
  if (facts->uncertain_stops > 0)
    add_count (self,
               ROW_UNCERTAIN,
               (guint64)facts->uncertain_stops,
               is_much ((double)facts->uncertain_stops, samples));
  if (facts->unnamed_frames > 0)
    add_count (self,
               ROW_UNNAMED,
               (guint64)facts->unnamed_frames,
               is_much ((double)facts->unnamed_frames, samples));
}

/* The self weight of the functions of each module that have no name. */
static gint64 *
nameless_by_module (const FlamViewData *view_data)
{
  const FlamProfile *profile = view_data->profile;
  gint64 *weight = g_new0 (gint64, MAX (profile->modules.n, 1));

  for (FlamId i = 0; i < profile->stacks.n; i++)
    {
      FlamFunctionId function =
          profile->frames.function[profile->stacks.frame[i]];
      FlamModuleId module = profile->functions.module[function];
      if (module != FLAM_NONE &&
          profile->functions.kind[function] == FLAM_KIND_UNRESOLVED)
        weight[module] += view_data->weights->weight[i];
    }
  return weight;
}

static const char *
remedy (const FlamProfile *profile, FlamModuleId module)
{
  const char *path =
      flam_profile_string (profile, profile->modules.path[module]);

  if (*path == '[')
    return NULL;
  return _ ("Install its debug symbols, or add the folder with exactly this "
            "build in the preferences.");
}

static void
add_module (FlamCaptureQuality *self,
            const FlamViewData *view_data,
            FlamModuleId module,
            gint64 weight)
{
  const FlamProfile *profile = view_data->profile;
  const char *name =
      flam_profile_string (profile, profile->modules.name[module]);
  const char *why = flam_profile_string (profile, profile->modules.why[module]);
  g_autofree char *share =
      flam_format_percent (weight, view_data->weights->total);
  const char *help = remedy (profile, module);

  add_row (self, name, share, NULL);
  if (*why != '\0')
    {
      g_autofree char *shown = flam_message_shown (why);

      gtk_box_append (self->box, text_label (shown, "caption"));
    }
  if (help != NULL)
    add_caption (self, help);
}

static void
add_modules (FlamCaptureQuality *self, const FlamViewData *view_data)
{
  g_autofree gint64 *weight = nameless_by_module (view_data);

  for (guint shown = 0; shown < MODULES_MAX; shown++)
    {
      FlamId heaviest = FLAM_NONE;

      for (FlamId i = 0; i < view_data->profile->modules.n; i++)
        if (weight[i] > 0 &&
            (heaviest == FLAM_NONE || weight[i] > weight[heaviest]))
          heaviest = i;
      if (heaviest == FLAM_NONE)
        return;
      if (shown == 0)
        add_heading (self, _ ("Unresolved Code"));
      add_module (self, view_data, heaviest, weight[heaviest]);
      weight[heaviest] = 0;
    }
}

static void
add_warnings (FlamCaptureQuality *self, const FlamProfile *profile)
{
  const char *const *warnings = profile->facts.warnings;

  if (warnings == NULL || warnings[0] == NULL)
    return;
  add_heading (self, _ ("Missing Data and Warnings"));
  for (guint i = 0; warnings[i] != NULL && i < WARNINGS_MAX; i++)
    {
      g_autofree char *warning = flam_message_shown (warnings[i]);

      gtk_box_append (self->box, text_label (warning, NULL));
    }
}

static void
on_help (FlamCaptureQuality *self)
{
  gtk_popover_popdown (GTK_POPOVER (self));
  flam_help_show (GTK_WINDOW (gtk_widget_get_root (GTK_WIDGET (self))),
                  "quality");
}

static void
flam_capture_quality_show (GtkWidget *widget)
{
  FlamCaptureQuality *self = FLAM_CAPTURE_QUALITY (widget);
  FlamViewData *view_data = flam_session_get_view_data (self->session);
  GtkWidget *child;

  while ((child = gtk_widget_get_first_child (GTK_WIDGET (self->box))) != NULL)
    gtk_box_remove (self->box, child);
  if (view_data != NULL)
    {
      add_facts (self, view_data->profile);
      add_modules (self, view_data);
      add_warnings (self, view_data->profile);
    }
  GTK_WIDGET_CLASS (flam_capture_quality_parent_class)->show (widget);
}

static void
flam_capture_quality_dispose (GObject *object)
{
  FlamCaptureQuality *self = FLAM_CAPTURE_QUALITY (object);

  gtk_widget_dispose_template (GTK_WIDGET (self), FLAM_TYPE_CAPTURE_QUALITY);
  g_clear_object (&self->session);
  G_OBJECT_CLASS (flam_capture_quality_parent_class)->dispose (object);
}

static void
flam_capture_quality_class_init (FlamCaptureQualityClass *klass)
{
  GtkWidgetClass *class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = flam_capture_quality_dispose;
  class->show = flam_capture_quality_show;
  gtk_widget_class_set_template_from_resource (
      class, "/dev/flambeau/Flambeau/ui/flam-capture-quality.ui");
  gtk_widget_class_bind_template_child (class, FlamCaptureQuality, box);
  gtk_widget_class_bind_template_child (class, FlamCaptureQuality, help);
}

static void
flam_capture_quality_init (FlamCaptureQuality *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  flam_help_bind (GTK_WIDGET (self), "quality");
  g_signal_connect_swapped (self->help, "clicked", G_CALLBACK (on_help), self);
}

FlamCaptureQuality *
flam_capture_quality_new (FlamSession *session)
{
  FlamCaptureQuality *self = g_object_new (FLAM_TYPE_CAPTURE_QUALITY, NULL);

  self->session = g_object_ref (session);
  return self;
}
