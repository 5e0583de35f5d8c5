/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Hostile bytes for every importer (FLAM_FUZZ_FORMAT: only for this one),
 * whatever its probe returns, and the result through the whole path: profile ->
 * weights -> tree. It must give a profile or an error. */

#include "flam-capture.h"
#include "flam-core-query.h"
#include "flam-formats.h"

#include "fuzz-driver.h"

static void
follow_the_path (const FlamProfile *profile)
{
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamWeights) weights = NULL;
  g_autoptr (FlamTree) tree = NULL;

  if (profile->n_measures == 0)
    return;
  weights = flam_weights_new (profile, selection, NULL, NULL);
  g_assert_nonnull (weights);
  tree = flam_tree_new (weights, selection, FLAM_ORDER_TOTAL, NULL, NULL);
  g_assert_nonnull (tree);
}

static void
load_with (const FlamImporter *importer, const FlamSource *source)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  g_autoptr (FlamProfile) profile = NULL;
  g_autoptr (GError) error = NULL;
  FlamLoadOptions options = { 0 };

  /* Half of them on several cores: what is derived from them, and their
   * reading, if the importer supports it. */
  flam_cores_set (source->size % 2 == 1 ? 3 : 1, 1);
  if (source->size % 2 == 1)
    {
      options.jobs = 3;
      options.least_part = 16;
    }
  if (flam_importer_load (importer, source, builder, &options, &error))
    profile = flam_builder_finish (builder, &error);
  g_assert_true ((profile == NULL) == (error != NULL));
  if (profile != NULL)
    follow_the_path (profile);
}

/* Our own captures have checksums, which would reject all changes: each block
 * gets the correct one. */
static void
mend_checksums (guint8 *data, gsize size)
{
  gsize at = FLAM_CAPTURE_HEADER_SIZE;

  if (size < at || memcmp (data, FLAM_CAPTURE_MAGIC, 8) != 0)
    return;
  while (size - at >= FLAM_CAPTURE_BLOCK_HEADER_SIZE)
    {
      guint8 *block = data + at;
      guint32 stored;
      guint32 crc;

      memcpy (&stored, block + 8, 4);
      stored = GUINT32_FROM_LE (stored);
      at += FLAM_CAPTURE_BLOCK_HEADER_SIZE;
      if (stored > size - at)
        return;
      crc = GUINT32_TO_LE (flam_capture_checksum (block, stored));
      memcpy (block + 16, &crc, 4);
      at += stored;
    }
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autoptr (FlamSource) source =
      flam_source_new_from_data ("fuzz", data, size);
  const char *only = g_getenv ("FLAM_FUZZ_FORMAT");

  mend_checksums ((guint8 *)source->data, size);
  flam_formats_probe (source);
  for (guint i = 0; flam_importers[i] != NULL; i++)
    if (only == NULL || strcmp (only, flam_importers[i]->id) == 0)
      load_with (flam_importers[i], source);
  return 0;
}
