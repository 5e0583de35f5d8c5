/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-unpacker.h"

#include <archive.h>
#include <archive_entry.h>
#include <string.h>

struct _FlamUnpacker
{
  struct archive
      *zip; /* or NULL: the archive whose only file `archive` reads */
  struct archive *archive;
  gboolean begun;
};

/* --- zip ----------------------------------------------------------------- */

/* The files that macOS adds to archives. */
static gboolean
is_file (struct archive_entry *entry)
{
  const char *name = archive_entry_pathname (entry);

  return archive_entry_filetype (entry) == AE_IFREG && name != NULL &&
         !g_str_has_prefix (name, "__MACOSX/") &&
         !g_str_has_suffix (name, ".DS_Store");
}

static struct archive *
open_zip (const guint8 *packed, gsize size)
{
  struct archive *zip = archive_read_new ();

  archive_read_support_format_zip (zip);
  archive_read_open_memory (zip, packed, size);
  return zip;
}

/* The number of the only file among the entries. */
static FlamPacked
find_only_file (const guint8 *packed, gsize size, guint *only)
{
  struct archive *zip = open_zip (packed, size);
  struct archive_entry *entry;
  gboolean of_instruments = FALSE;
  guint files = 0;

  for (guint i = 0; files < 2; i++)
    {
      if (archive_read_next_header (zip, &entry) < ARCHIVE_WARN)
        break;
      if (!is_file (entry))
        continue;
      /* perfcollect names its folders like this, too. */
      of_instruments |=
          strstr (archive_entry_pathname (entry), ".trace/") != NULL &&
          strstr (archive_entry_pathname (entry), "perfcollect.log") == NULL;
      *only = i;
      files++;
    }
  archive_read_free (zip);
  return files == 1       ? FLAM_PACKED
         : files == 0     ? FLAM_PACKED_NO_FILE
         : of_instruments ? FLAM_PACKED_INSTRUMENTS
                          : FLAM_PACKED_FILES;
}

/* The file's bytes, for the archive that unpacks these. */
static la_ssize_t
read_zip (struct archive *archive, void *data, const void **block)
{
  FlamUnpacker *unpacker = data;
  size_t n = 0;
  la_int64_t offset;

  while (n == 0)
    {
      int status = archive_read_data_block (unpacker->zip, block, &n, &offset);
      if (status == ARCHIVE_EOF)
        return 0;
      if (status < ARCHIVE_WARN)
        {
          archive_set_error (archive,
                             archive_errno (unpacker->zip),
                             "%s",
                             archive_error_string (unpacker->zip));
          return -1;
        }
    }
  return (la_ssize_t)n;
}

static FlamPacked
begin_zip (FlamUnpacker *unpacker, const guint8 *packed, gsize size)
{
  struct archive_entry *entry;
  guint only = 0;
  FlamPacked found = find_only_file (packed, size, &only);

  if (found != FLAM_PACKED)
    return found;
  unpacker->zip = open_zip (packed, size);
  for (guint i = 0; i <= only; i++)
    archive_read_next_header (unpacker->zip, &entry);
  archive_read_open (unpacker->archive, unpacker, NULL, read_zip, NULL);
  return FLAM_PACKED;
}

/* --- any wrapper ---------------------------------------------------------- */

static struct archive *
new_archive (void)
{
  struct archive *archive = archive_read_new ();

  archive_read_support_filter_gzip (archive);
  archive_read_support_filter_xz (archive);
  archive_read_support_filter_bzip2 (archive);
  archive_read_support_filter_zstd (archive);
  archive_read_support_filter_lz4 (archive);
  archive_read_support_format_raw (archive);
  archive_read_support_format_empty (archive);
  return archive;
}

static FlamPacked
begin_wrapper (FlamUnpacker *unpacker, const guint8 *packed, gsize size)
{
  int status = archive_read_open_memory (unpacker->archive, packed, size);

  /* The input in memory counts as a filter. */
  return status >= ARCHIVE_WARN && archive_filter_count (unpacker->archive) == 1
             ? FLAM_PACKED_NOT
             : FLAM_PACKED;
}

static void
unpacker_free (FlamUnpacker *unpacker)
{
  archive_read_free (unpacker->archive);
  if (unpacker->zip != NULL)
    archive_read_free (unpacker->zip);
  g_free (unpacker);
}

/* libarchive unpacks all the layers it supports at once. */
static FlamPacked
unpacker_open (const guint8 *packed,
               gsize size,
               gboolean is_zip,
               FlamUnpacker **unpacker)
{
  FlamUnpacker *made = g_new0 (FlamUnpacker, 1);
  FlamPacked found;

  made->archive = new_archive ();
  found = is_zip ? begin_zip (made, packed, size)
                 : begin_wrapper (made, packed, size);
  if (found == FLAM_PACKED)
    *unpacker = made;
  else
    unpacker_free (made);
  return found;
}

static FlamUnpackedBlock
unpacker_next (FlamUnpacker *unpacker, const void **block, gsize *n)
{
  struct archive_entry *entry;
  la_int64_t offset;
  int status = ARCHIVE_OK;

  if (!unpacker->begun)
    status = archive_read_next_header (unpacker->archive, &entry);
  unpacker->begun = TRUE;
  if (status != ARCHIVE_EOF && status >= ARCHIVE_WARN)
    status = archive_read_data_block (unpacker->archive, block, n, &offset);
  return status == ARCHIVE_EOF   ? FLAM_UNPACKED_END
         : status < ARCHIVE_WARN ? FLAM_UNPACKED_DAMAGED
                                 : FLAM_UNPACKED_BLOCK;
}

static guint64
unpacker_packed_read (FlamUnpacker *unpacker)
{
  return (guint64)archive_filter_bytes (
      unpacker->zip != NULL ? unpacker->zip : unpacker->archive, -1);
}

static const char *
unpacker_why (FlamUnpacker *unpacker)
{
  return archive_error_string (unpacker->archive);
}

extern const FlamUnpackerFunctions flam_unpacker_functions;
__attribute__ ((visibility ("default")))
const FlamUnpackerFunctions flam_unpacker_functions = {
  .open = unpacker_open,
  .next = unpacker_next,
  .packed_read = unpacker_packed_read,
  .why = unpacker_why,
  .free = unpacker_free,
};
