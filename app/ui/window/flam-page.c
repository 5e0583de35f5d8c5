/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-page.h"

#include "flam-widget.h"

#include <glib/gi18n.h>

typedef struct
{
  FlamSession *session;
  FlamJob *job;
  gboolean stale;
} FlamPagePrivate;

enum
{
  PROP_0,
  PROP_SESSION,
};

G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE (FlamPage, flam_page, GTK_TYPE_WIDGET)

FlamSession *
flam_page_get_session (FlamPage *self)
{
  FlamPagePrivate *private = flam_page_get_instance_private (self);

  g_return_val_if_fail (FLAM_IS_PAGE (self), NULL);
  return private->session;
}

/* --- filling -------------------------------------------------------------- */

static void
fill (FlamPage *self)
{
  FlamPagePrivate *private = flam_page_get_instance_private (self);

  private->stale = FALSE;
  flam_job_cancel (private->job);
  FLAM_PAGE_GET_CLASS (self)->fill (self);
}

void
flam_page_queue_fill (FlamPage *self)
{
  FlamPagePrivate *private = flam_page_get_instance_private (self);

  g_return_if_fail (FLAM_IS_PAGE (self));
  private->stale = TRUE;
  if (gtk_widget_get_mapped (GTK_WIDGET (self)))
    fill (self);
}

gboolean
flam_page_is_stale (FlamPage *self)
{
  FlamPagePrivate *private = flam_page_get_instance_private (self);

  g_return_val_if_fail (FLAM_IS_PAGE (self), FALSE);
  return private->stale;
}

void
flam_page_start (FlamPage *self,
                 FlamJobWork work,
                 gpointer input,
                 GDestroyNotify input_free,
                 GDestroyNotify result_free,
                 FlamJobDone done)
{
  FlamPagePrivate *private = flam_page_get_instance_private (self);

  g_return_if_fail (FLAM_IS_PAGE (self));
  flam_job_start (
      private->job, work, input, input_free, result_free, done, self);
}

static void
flam_page_map (GtkWidget *widget)
{
  FlamPage *self = FLAM_PAGE (widget);

  if (flam_page_is_stale (self))
    fill (self);
  GTK_WIDGET_CLASS (flam_page_parent_class)->map (widget);
}

void
flam_page_follow (FlamPage *self,
                  gpointer object,
                  const char *signal,
                  GCallback callback)
{
  g_signal_connect_object (object, signal, callback, self, G_CONNECT_SWAPPED);
}

/* --- focus ---------------------------------------------------------------- */

gboolean
flam_page_begin (FlamPage *self)
{
  GtkWidget *widget = GTK_WIDGET (self);
  FlamPageClass *klass = FLAM_PAGE_GET_CLASS (self);
  GtkRoot *root = gtk_widget_get_root (widget);
  GtkWidget *focus = root != NULL ? gtk_root_get_focus (root) : NULL;

  g_return_val_if_fail (FLAM_IS_PAGE (self), FALSE);
  if (focus != NULL && gtk_widget_is_ancestor (focus, widget))
    return FALSE;
  return klass->begin != NULL && klass->begin (widget);
}

/* --- object --------------------------------------------------------------- */

static void
flam_page_constructed (GObject *object)
{
  FlamPage *self = FLAM_PAGE (object);
  FlamSession *session = flam_page_get_session (self);

  G_OBJECT_CLASS (flam_page_parent_class)->constructed (object);
  if (FLAM_PAGE_GET_CLASS (self)->fill == NULL)
    return;
  flam_page_follow (
      self, session, "notify::view-data", G_CALLBACK (flam_page_queue_fill));
  if (flam_session_get_view_data (session) != NULL)
    flam_page_queue_fill (self);
}

static void
flam_page_get_property (GObject *object,
                        guint prop_id,
                        GValue *value,
                        GParamSpec *pspec)
{
  if (prop_id == PROP_SESSION)
    g_value_set_object (value, flam_page_get_session (FLAM_PAGE (object)));
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
}

static void
flam_page_set_property (GObject *object,
                        guint prop_id,
                        const GValue *value,
                        GParamSpec *pspec)
{
  FlamPagePrivate *private =
      flam_page_get_instance_private (FLAM_PAGE (object));

  if (prop_id == PROP_SESSION)
  private->session = g_value_dup_object (value);
  else G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
}

static void
flam_page_dispose (GObject *object)
{
  FlamPagePrivate *private =
      flam_page_get_instance_private (FLAM_PAGE (object));

  flam_job_cancel (private->job);
  flam_widget_dispose_template (GTK_WIDGET (object), G_OBJECT_TYPE (object));
  g_clear_object (&private->session);
  G_OBJECT_CLASS (flam_page_parent_class)->dispose (object);
}

static void
flam_page_finalize (GObject *object)
{
  FlamPagePrivate *private =
      flam_page_get_instance_private (FLAM_PAGE (object));

  g_object_unref (private->job);
  G_OBJECT_CLASS (flam_page_parent_class)->finalize (object);
}

static void
flam_page_class_init (FlamPageClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->constructed = flam_page_constructed;
  object_class->dispose = flam_page_dispose;
  object_class->finalize = flam_page_finalize;
  object_class->get_property = flam_page_get_property;
  object_class->set_property = flam_page_set_property;
  GTK_WIDGET_CLASS (klass)->map = flam_page_map;
  g_object_class_install_property (
      object_class,
      PROP_SESSION,
      g_param_spec_object ("session",
                           NULL,
                           NULL,
                           FLAM_TYPE_SESSION,
                           G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY |
                               G_PARAM_STATIC_STRINGS));
}

static void
flam_page_init (FlamPage *self)
{
  FlamPagePrivate *private = flam_page_get_instance_private (self);

  private->job = flam_job_new ();
}
