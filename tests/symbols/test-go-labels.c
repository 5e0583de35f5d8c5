/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The labels of goroutines of Go 1.19 (a map) and 1.24 (a list), in memory made
 * by hand and in memory that lies. */

#include "flam-go.h"

#include <glib.h>
#include <string.h>

#define BASE 0x10000ull
#define SIZE 0x4000u

#include "fake-memory.h"

#define THREAD (BASE + 0x100)
#define G (BASE + 0x400)
#define G0 (BASE + 0x600)
#define M (BASE + 0x800)
#define LABELS (BASE + 0xa00)
#define MAP (BASE + 0xb00)
#define BUCKET (BASE + 0xc00)
#define NEXT (BASE + 0xe00)
#define LIST (BASE + 0x1000)
#define TEXTS (BASE + 0x2000)

static const FlamGo versions[] = {
  { .g = -8, .labels = 360, .curg = 192 },
  { .g = -16, .labels = 352, .curg = 192, .list = TRUE },
};

static void
put_text (Fake *fake, guint64 address, const char *text)
{
  guint64 place = TEXTS + 0x40 * fake->texts++;

  put (fake, address, place);
  put (fake, address + 8, strlen (text));
  memcpy (fake->bytes + (place - BASE), text, strlen (text));
}

static void
fill (Fake *fake, const FlamGo *go)
{
  put (fake, THREAD + (guint64)go->g, G);
  put (fake, G + 48, M);
  put (fake, M, G0);
  put (fake, M + go->curg, G);
  put (fake, G + go->labels, LABELS);
  if (go->list)
    {
      put (fake, LABELS, LIST);
      put (fake, LABELS + 8, 2);
      put_text (fake, LIST, "part");
      put_text (fake, LIST + 16, "heavy");
      put_text (fake, LIST + 32, "site");
      put_text (fake, LIST + 48, "größer");
      return;
    }
  put (fake, LABELS, MAP);
  put (fake, MAP, 2);
  put (fake, MAP + 16, BUCKET);
  fake->bytes[BUCKET - BASE + 3] = 77;
  put_text (fake, BUCKET + 8 + 3 * 16, "part");
  put_text (fake, BUCKET + 136 + 3 * 16, "heavy");
  put (fake, BUCKET + 264, NEXT);
  fake->bytes[NEXT - BASE] = 5;
  fake->bytes[NEXT - BASE + 1] = 4; /* moved */
  put_text (fake, NEXT + 8, "site");
  put_text (fake, NEXT + 136, "größer");
}

/* "key=value, ..."; "": none. */
static char *
labels_in (Fake *fake, const FlamGo *go)
{
  FlamRuntimeMemory memory = { read_fake, fake };
  g_autofree FlamRuntimeName *name = flam_runtime_name_new ();
  GString *text = g_string_new (NULL);
  guint8 first[128];
  guint64 labels, second;

  fake->reads = 0;
  labels = flam_go_labels (go, &memory, THREAD);
  flam_runtime_name_clear (name);
  if (labels != 0 &&
      flam_runtime_read (&memory, labels, first, flam_go_first_size (go)) &&
      flam_go_name (go, first, &memory, name))
    for (guint i = 0; i < name->n; i++)
      {
        g_assert_true (name->frames[i].hidden);
        g_assert_true (g_utf8_validate (name->frames[i].function, -1, NULL));
        g_string_append_printf (
            text, "%s=%s, ", name->frames[i].file, name->frames[i].function);
      }
  if (labels != 0)
    g_assert_cmpuint (
        flam_go_first_size (go) + flam_go_second (go, first, &second), <=, 128);
  g_assert_cmpuint (name->n, <=, 32);
  g_assert_cmpuint (fake->reads, <, 400);
  return g_string_free (text, FALSE);
}

static void
test_labels (gconstpointer go)
{
  g_autofree Fake *fake = g_new0 (Fake, 1);
  g_autofree char *own = NULL;
  g_autofree char *system = NULL;
  g_autofree char *other = NULL;

  fill (fake, go);
  own = labels_in (fake, go);
  g_assert_cmpstr (own, ==, "part=heavy, site=größer, ");
  /* On the system's stack the labels are the goroutine's. */
  put (fake, THREAD + (guint64)((const FlamGo *)go)->g, G0);
  put (fake, G0 + 48, M);
  system = labels_in (fake, go);
  g_assert_cmpstr (system, ==, own);
  /* The g there does not belong to this m. */
  put (fake, M, BASE);
  other = labels_in (fake, go);
  g_assert_cmpstr (other, ==, "");
}

static void
test_lies (gconstpointer go)
{
  static const guint64 lies[] = { 0,      1,   G_MAXUINT64, 0xffffffff,
                                  BUCKET, MAP, LIST - 1 };
  g_autofree Fake *truth = g_new0 (Fake, 1);
  g_autofree Fake *fake = g_new0 (Fake, 1);

  fill (truth, go);
  for (guint i = 0; i < SIZE / 8; i++)
    for (guint j = 0; j < G_N_ELEMENTS (lies); j++)
      {
        memcpy (fake, truth, sizeof *fake);
        put (fake, BASE + 8 * i, lies[j]);
        g_free (labels_in (fake, go));
      }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/go-labels/map", &versions[0], test_labels);
  g_test_add_data_func ("/go-labels/map/lies", &versions[0], test_lies);
  g_test_add_data_func ("/go-labels/list", &versions[1], test_labels);
  g_test_add_data_func ("/go-labels/list/lies", &versions[1], test_lies);
  return g_test_run ();
}
