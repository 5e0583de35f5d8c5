/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-trust.h"

#include "flam-format.h"

#include <glib/gi18n.h>

#define MODULES_MAX 8
#define WARNINGS_MAX 20

struct _FlamTrust
{
  GtkPopover parent_instance;

  FlamSession *session;
  GtkBox *box;
};

G_DEFINE_FINAL_TYPE (FlamTrust, flam_trust, GTK_TYPE_POPOVER)

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
add_heading (FlamTrust *self, const char *text)
{
  gtk_box_append (self->box, text_label (text, "heading"));
}

static void
add_row (FlamTrust *self, const char *name, const char *value)
{
  GtkWidget *row = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);
  GtkWidget *label = text_label (name, NULL);
  GtkWidget *figure = gtk_label_new (value);

  gtk_widget_set_hexpand (label, TRUE);
  gtk_label_set_xalign (GTK_LABEL (figure), 1);
  gtk_label_set_ellipsize (GTK_LABEL (figure), PANGO_ELLIPSIZE_END);
  gtk_widget_add_css_class (figure, "numeric");
  gtk_box_append (GTK_BOX (row), label);
  gtk_box_append (GTK_BOX (row), figure);
  gtk_box_append (self->box, row);
}

static void
add_count (FlamTrust *self, const char *name, guint64 n)
{
  g_autofree char *text =
      flam_format_value (MIN (n, (guint64)G_MAXINT64), FLAM_UNIT_COUNT);

  add_row (self, name, text);
}

static void
add_facts (FlamTrust *self, const FlamProfile *profile)
{
  const FlamFacts *facts = &profile->facts;
  g_autofree char *read =
      facts->complete
          ? g_strdup (_ ("all of it"))
          : g_strdup_printf (_ ("%.1f %%"), facts->read_fraction * 100);

  add_heading (self, _ ("Capture Quality"));
  add_row (self, _ ("Read of the file"), read);
  if (facts->duration_ns > 0)
    {
      g_autofree char *duration =
          flam_format_value (facts->duration_ns, FLAM_UNIT_NS);
      add_row (self, _ ("Duration"), duration);
    }
  if (profile->samples.n > 0)
    add_count (self, _ ("Samples"), profile->samples.n);
  if (profile->allocations.n > 0)
    add_count (self, _ ("Allocation records"), profile->allocations.n);
  add_count (self, _ ("Lost events"), facts->lost);
  add_count (self, _ ("Late samples"), facts->late);
  add_count (self, _ ("Truncated Stacks"), facts->truncated_stacks);
  if (facts->charged_cpu_ns > 0)
    {
      g_autofree char *recorded =
          flam_format_value (facts->recorded_cpu_ns, FLAM_UNIT_NS);
      g_autofree char *charged =
          flam_format_value (facts->charged_cpu_ns, FLAM_UNIT_NS);
      g_autofree char *text =
          g_strdup_printf (_ ("%s of %s"), recorded, charged);

      add_row (self, _ ("CPU time that samples saw"), text);
    }
  if (facts->recorder_share >= 0)
    {
      g_autofree char *share =
          g_strdup_printf (_ ("%.1f %%"), facts->recorder_share * 100);
      add_row (self, _ ("Recorder Overhead"), share);
    }
  if (facts->stop_median_ns > 0)
    {
      g_autofree char *median =
          flam_format_value (facts->stop_median_ns, FLAM_UNIT_NS);

      add_row (self, _ ("Median Pause per Sample"), median);
    }
  if (facts->stop_p99_ns > 0)
    {
      g_autofree char *p99 =
          flam_format_value (facts->stop_p99_ns, FLAM_UNIT_NS);

      add_row (self, _ ("99th Percentile Pause"), p99);
    }
}

/* --- modules -------------------------------------------------------------- */

/* What ends in functions of each module that have no name. */
static gint64 *
nameless_by_module (const FlamExcerpt *excerpt)
{
  const FlamProfile *profile = excerpt->profile;
  gint64 *weight = g_new0 (gint64, MAX (profile->modules.n, 1));

  for (FlamId i = 0; i < profile->stacks.n; i++)
    {
      FlamId function = profile->frames.function[profile->stacks.frame[i]];
      FlamId module = profile->functions.module[function];
      if (module != FLAM_NONE &&
          profile->functions.kind[function] == FLAM_KIND_UNRESOLVED)
        weight[module] += excerpt->weights->weight[i];
    }
  return weight;
}

static const char *
remedy (const FlamProfile *profile, FlamId module)
{
  const char *path =
      flam_profile_string (profile, profile->modules.path[module]);

  if (*path == '[')
    return NULL;
  return _ ("Install its debug symbols, or name the folder that holds this "
            "very build in the preferences.");
}

static void
add_module (FlamTrust *self,
            const FlamExcerpt *excerpt,
            FlamId module,
            gint64 weight)
{
  const FlamProfile *profile = excerpt->profile;
  const char *name =
      flam_profile_string (profile, profile->modules.name[module]);
  const char *why = flam_profile_string (profile, profile->modules.why[module]);
  g_autofree char *share =
      flam_format_percent (weight, excerpt->weights->total);
  const char *help = remedy (profile, module);

  add_row (self, name, share);
  if (*why != '\0')
    gtk_box_append (self->box, text_label (why, "caption"));
  if (help != NULL)
    {
      GtkWidget *label = text_label (help, "caption");
      gtk_widget_add_css_class (label, "dim-label");
      gtk_box_append (self->box, label);
    }
}

static void
add_modules (FlamTrust *self, const FlamExcerpt *excerpt)
{
  g_autofree gint64 *weight = nameless_by_module (excerpt);

  for (guint shown = 0; shown < MODULES_MAX; shown++)
    {
      FlamId heaviest = FLAM_NONE;

      for (FlamId i = 0; i < excerpt->profile->modules.n; i++)
        if (weight[i] > 0 &&
            (heaviest == FLAM_NONE || weight[i] > weight[heaviest]))
          heaviest = i;
      if (heaviest == FLAM_NONE)
        return;
      if (shown == 0)
        add_heading (self, _ ("Unresolved Code"));
      add_module (self, excerpt, heaviest, weight[heaviest]);
      weight[heaviest] = 0;
    }
}

static void
add_warnings (FlamTrust *self, const FlamProfile *profile)
{
  const char *const *warnings = profile->facts.warnings;

  if (warnings == NULL || warnings[0] == NULL)
    return;
  add_heading (self, _ ("Missing Data and Warnings"));
  for (guint i = 0; warnings[i] != NULL && i < WARNINGS_MAX; i++)
    gtk_box_append (self->box, text_label (warnings[i], NULL));
}

static void
flam_trust_show (GtkWidget *widget)
{
  FlamTrust *self = FLAM_TRUST (widget);
  FlamExcerpt *excerpt = flam_session_get_excerpt (self->session);
  GtkWidget *child;

  while ((child = gtk_widget_get_first_child (GTK_WIDGET (self->box))) != NULL)
    gtk_box_remove (self->box, child);
  if (excerpt != NULL)
    {
      add_facts (self, excerpt->profile);
      add_modules (self, excerpt);
      add_warnings (self, excerpt->profile);
    }
  GTK_WIDGET_CLASS (flam_trust_parent_class)->show (widget);
}

static void
flam_trust_dispose (GObject *object)
{
  FlamTrust *self = FLAM_TRUST (object);

  gtk_widget_dispose_template (GTK_WIDGET (self), FLAM_TYPE_TRUST);
  g_clear_object (&self->session);
  G_OBJECT_CLASS (flam_trust_parent_class)->dispose (object);
}

static void
flam_trust_class_init (FlamTrustClass *klass)
{
  GtkWidgetClass *class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = flam_trust_dispose;
  class->show = flam_trust_show;
  gtk_widget_class_set_template_from_resource (
      class, "/dev/flambeau/Flambeau/ui/flam-trust.ui");
  gtk_widget_class_bind_template_child (class, FlamTrust, box);
}

static void
flam_trust_init (FlamTrust *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
}

FlamTrust *
flam_trust_new (FlamSession *session)
{
  FlamTrust *self = g_object_new (FLAM_TYPE_TRUST, NULL);

  self->session = g_object_ref (session);
  return self;
}
