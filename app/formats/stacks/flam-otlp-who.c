/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-otlp-who.h"

#include "flam-core-query.h"

#include <string.h>

#define MAX_RESOURCE_LABELS 32

typedef struct
{
  FlamThreadId thread;
  guint32 labels; /* set */
} Known;

void
flam_otlp_who_init (FlamOtlpWho *who, FlamOtlp *otlp)
{
  FlamLoad *load = otlp->load;

  *who = (FlamOtlpWho){
    .otlp = otlp,
    .process = FLAM_NONE,
    .common = flam_arena_array (load, FlamOtlpAttribute),
    .generations = flam_arena_table (load, FLAM_KEY_TEXT, NULL),
    .known = flam_arena_array (load, Known),
    .rows = flam_arena_array (load, guint64),
  };
  g_array_set_clear_func (who->common,
                          (GDestroyNotify)flam_otlp_attribute_clear);
  flam_arena_pieces (load, &who->lists);
}

/* --- resources ------------------------------------------------------------ */

static gint32
id_of (const FlamOtlpAttribute *attribute)
{
  gint64 id = attribute->is_number ? attribute->number : -1;

  if (attribute->text != NULL)
    id = g_ascii_strtoll (attribute->text, NULL, 10);
  return id > 0 && id <= G_MAXINT32 ? (gint32)id : -1;
}

static FlamProcessId
nameless_process (FlamOtlpWho *who, const char *name)
{
  guint generation =
      GPOINTER_TO_UINT (g_hash_table_lookup (who->generations, name));

  if (generation == 0)
    {
      generation = g_hash_table_size (who->generations) + 1;
      g_hash_table_insert (
          who->generations, g_strdup (name), GUINT_TO_POINTER (generation));
    }
  return flam_builder_process (who->otlp->load->builder, -1, generation - 1);
}

/* Attributes of resources that describe the process and the recorder are not
 * labels. */
static gboolean
is_label (const FlamOtlpAttribute *attribute)
{
  return *attribute->key != '\0' &&
         (attribute->text != NULL || attribute->is_number) &&
         !g_str_has_prefix (attribute->key, "telemetry.") &&
         !g_str_has_prefix (attribute->key, "process.");
}

static void
copy_text (char **into, const FlamOtlpAttribute *attribute)
{
  g_free (*into);
  *into = g_strdup (attribute->text);
}

void
flam_otlp_who_resource (FlamOtlpWho *who, FlamProto resource)
{
  FlamBuilder *builder = who->otlp->load->builder;
  g_autofree char *service = NULL;
  g_autofree char *program = NULL;
  g_autofree char *folder = NULL;
  const char *name;
  gint32 pid = -1;

  who->visit++;
  g_array_set_size (who->common, 0);
  while (flam_proto_next (&resource))
    if (resource.number == 1)
      {
        FlamOtlpAttribute attribute = { NULL };

        flam_otlp_read_attribute (
            who->otlp, flam_proto_inner (&resource), &attribute);
        if (strcmp (attribute.key, "process.pid") == 0)
          pid = id_of (&attribute);
        else if (strcmp (attribute.key, "process.executable.name") == 0)
          copy_text (&program, &attribute);
        else if (strcmp (attribute.key, "process.working_directory") == 0)
          copy_text (&folder, &attribute);
        else if (strcmp (attribute.key, "service.name") == 0)
          copy_text (&service, &attribute);
        if (is_label (&attribute) && who->common->len < MAX_RESOURCE_LABELS)
          g_array_append_val (who->common, attribute);
        else
          flam_otlp_attribute_clear (&attribute);
      }
  name = program != NULL ? program : service != NULL ? service : "";
  who->process = pid > 0 ? flam_builder_process (builder, pid, 0)
                         : nameless_process (who, name);
  if (*name != '\0')
    flam_builder_set_process_name (builder, who->process, name);
  if (folder != NULL && *folder != '\0')
    flam_builder_add_working_folder (builder, who->process, folder);
}

/* --- labels --------------------------------------------------------------- */

static void
add_labels (GArray *labels, const GArray *attributes, GPtrArray *texts)
{
  for (guint i = 0; i < attributes->len; i++)
    {
      const FlamOtlpAttribute *row =
          &g_array_index (attributes, FlamOtlpAttribute, i);
      FlamSampleLabel label = { .key = row->key, .value = row->text };

      if (row->is_number)
        {
          char *text = flam_sample_labels_number_text (row->number, row->unit);

          g_ptr_array_add (texts, text);
          label.value = text;
          label.number = row->number;
          label.unit = row->unit;
        }
      g_array_append_val (labels, label);
    }
}

/* The set of these attributes and the resource's. */
static guint32
label_set (FlamOtlpWho *who, const GArray *attributes)
{
  g_autoptr (GArray) labels =
      g_array_new (FALSE, FALSE, sizeof (FlamSampleLabel));
  g_autoptr (GPtrArray) texts = g_ptr_array_new_with_free_func (g_free);

  add_labels (labels, who->common, texts);
  add_labels (labels, attributes, texts);
  return flam_builder_add_labels (
      who->otlp->load->builder,
      (const FlamSampleLabel *)(const void *)labels->data,
      labels->len);
}

/* --- samples -------------------------------------------------------------- */

void
flam_otlp_who_begin (FlamOtlpWho *who)
{
  who->list = (FlamOtlpPiece){ (const guint8 *)"", 0 };
  who->link = 0;
  g_array_set_size (who->rows, 0);
}

void
flam_otlp_who_attributes (FlamOtlpWho *who, FlamProto *field)
{
  gboolean alone = field->wire == 2 && who->rows->len == 0;

  who->list.bytes = alone ? field->bytes : NULL;
  who->list.length = alone ? field->length : 0;
  flam_proto_numbers (field, who->rows);
}

static void
add_link (FlamOtlpWho *who, GArray *attributes)
{
  static const char *const keys[] = { NULL, "trace_id", "span_id" };
  FlamProto link;

  if (who->link >= who->otlp->links->len)
    {
      who->otlp->unknown++;
      return;
    }
  link = flam_otlp_row (who->otlp->links, who->link);
  while (flam_proto_next (&link))
    if (link.wire == 2 && link.length > 0 && link.number > 0 &&
        link.number < G_N_ELEMENTS (keys))
      {
        FlamOtlpAttribute attribute = {
          .key = g_strdup (keys[link.number]),
          .text = flam_otlp_hexadecimal (&link),
        };
        g_array_append_val (attributes, attribute);
      }
}

static FlamThreadId
find_thread (FlamOtlpWho *who, gint32 tid, const char *name)
{
  FlamBuilder *builder = who->otlp->load->builder;
  FlamThreadId thread =
      tid > 0
          ? flam_builder_thread (builder, who->process, tid, 0)
          : flam_builder_thread_keyed (
                builder,
                who->process,
                flam_builder_string (builder, name != NULL ? name : "", -1));

  if (name != NULL && *name != '\0')
    flam_builder_set_thread_name (builder, thread, name);
  return thread;
}

static Known
read_attributes (FlamOtlpWho *who)
{
  g_autoptr (GArray) others =
      g_array_new (FALSE, FALSE, sizeof (FlamOtlpAttribute));
  g_autofree char *name = NULL;
  gint32 tid = -1;

  g_array_set_clear_func (others, (GDestroyNotify)flam_otlp_attribute_clear);
  for (guint i = 0; i < who->rows->len; i++)
    {
      guint64 row = g_array_index (who->rows, guint64, i);
      FlamOtlpAttribute attribute = { NULL };

      who->otlp->unknown += row >= who->otlp->attributes->len;
      flam_otlp_read_attribute (
          who->otlp, flam_otlp_row (who->otlp->attributes, row), &attribute);
      if (strcmp (attribute.key, "thread.id") == 0)
        tid = id_of (&attribute);
      else if (strcmp (attribute.key, "thread.name") == 0)
        copy_text (&name, &attribute);
      else if (*attribute.key != '\0' &&
               (attribute.text != NULL || attribute.is_number))
        {
          g_array_append_val (others, attribute);
          continue;
        }
      flam_otlp_attribute_clear (&attribute);
    }
  if (who->link != 0)
    add_link (who, others);
  return (Known){ find_thread (who, tid, name), label_set (who, others) };
}

void
flam_otlp_who (FlamOtlpWho *who, FlamSample *sample)
{
  gboolean is_new;
  FlamId row;
  Known known;

  if (who->link != 0 || who->list.bytes == NULL ||
      who->list.length > G_MAXUINT32)
    known = read_attributes (who);
  else
    {
      row = flam_pieces_find (&who->lists,
                              (const char *)who->list.bytes,
                              (guint32)who->list.length,
                              who->visit,
                              &is_new);
      if (is_new)
        {
          known = read_attributes (who);
          *flam_pieces_value (&who->lists, row) = who->known->len;
          g_array_append_val (who->known, known);
        }
      known = g_array_index (
          who->known, Known, *flam_pieces_value (&who->lists, row));
    }
  sample->thread = known.thread;
  sample->labels = known.labels;
}
