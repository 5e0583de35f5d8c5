/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-code-file.h"

#include "flam-fetched-source.h"
#include "flam-path-access.h"
#include "flam-settings.h"
#include "flam-source-path.h"

#include <string.h>

#define SOURCE_MAX_BYTES (16 << 20)
#define SOURCES_MAX 64

FlamCodeRequest *
flam_code_request_new (FlamViewData *view_data,
                       FlamNodeId node,
                       gboolean whole,
                       const char *capture,
                       FlamSourceNames *names)
{
  FlamCodeRequest *request = g_new0 (FlamCodeRequest, 1);
  GSettings *settings = flam_settings_get ();
  g_autofree char *syntax =
      g_settings_get_string (settings, FLAM_KEY_CODE_SYNTAX);

  request->view_data = flam_view_data_ref (view_data);
  request->node = node;
  request->whole = whole;
  request->syntax =
      strcmp (syntax, "att") == 0 ? FLAM_SYNTAX_ATT : FLAM_SYNTAX_INTEL;
  request->binaries = g_settings_get_strv (settings, FLAM_KEY_BINARIES);
  request->folder = capture != NULL ? g_path_get_dirname (capture) : NULL;
  request->names = flam_source_names_ref (names);
  request->mappings = g_settings_get_value (settings, FLAM_KEY_PATH_MAPPINGS);
  return request;
}

void
flam_code_request_free (gpointer data)
{
  FlamCodeRequest *request = data;

  flam_view_data_unref (request->view_data);
  g_clear_pointer (&request->of, flam_view_data_unref);
  g_strfreev (request->binaries);
  g_free (request->folder);
  flam_source_names_unref (request->names);
  g_variant_unref (request->mappings);
  g_free (request);
}

static FlamCodeFile *
code_file_ref (FlamCodeFile *file)
{
  g_atomic_ref_count_inc (&file->references);
  return file;
}

void
flam_code_file_unref (gpointer data)
{
  FlamCodeFile *file = data;

  if (!g_atomic_ref_count_dec (&file->references))
    return;
  flam_view_data_unref (file->view_data);
  g_clear_pointer (&file->code, flam_disassembly_free);
  g_hash_table_unref (file->texts);
  g_free (file->arrows);
  g_free (file->why);
  g_free (file);
}

/* --- source lines --------------------------------------------------------- */

static char **
read_lines (FlamSourcePaths *paths, const char *recorded)
{
  g_autofree char *path = flam_source_paths_find (paths, recorded, NULL);
  g_autofree char *bytes = NULL;
  g_autofree char *text = NULL;
  gsize length;

  if (path != NULL)
    bytes = flam_path_access_read (path, SOURCE_MAX_BYTES, &length, NULL);
  if (bytes == NULL)
    return g_new0 (char *, 1);
  text = g_utf8_make_valid (bytes, (gssize)length);
  return g_strsplit (text, "\n", -1);
}

static void
read_sources (FlamCodeFile *file, const FlamCodeRequest *request)
{
  g_autoptr (FlamSourcePaths) paths =
      flam_settings_source_paths (request->mappings,
                                  request->view_data->profile,
                                  request->folder,
                                  request->names);
  const FlamViewData *view_data = request->view_data;

  flam_fetched_add_paths (paths,
                          view_data->profile,
                          flam_tree_function (view_data->tree, request->node));
  for (guint i = 0; i < file->code->n; i++)
    {
      const char *name = file->code->instructions[i].file;

      if (*name != '\0' && !g_hash_table_contains (file->texts, name) &&
          g_hash_table_size (file->texts) < SOURCES_MAX)
        g_hash_table_insert (
            file->texts, g_strdup (name), read_lines (paths, name));
    }
}

gpointer
flam_code_file_work (gpointer data,
                     const FlamProgress *progress,
                     GError **error)
{
  const FlamCodeRequest *request = data;
  const FlamViewData *view_data = request->view_data;
  FlamCodeFile *file = g_new0 (FlamCodeFile, 1);
  FlamDisassemblyOptions options = {
    .syntax = request->syntax,
    .binaries = (const char *const *)request->binaries,
  };
  g_autoptr (FlamWeights) of_path = NULL;
  GError *wrong = NULL;

  g_atomic_ref_count_init (&file->references);
  file->view_data = flam_view_data_ref (request->view_data);
  file->texts = g_hash_table_new_full (
      g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_strfreev);
  file->whole = request->whole;
  if (!request->whole)
    of_path = flam_path_weights_new (
        view_data->weights,
        view_data->selection,
        request->of != NULL ? request->of->tree : view_data->tree,
        request->of != NULL ? request->merged : request->node);
  file->code =
      flam_disassembly_new (of_path != NULL ? of_path : view_data->weights,
                            view_data->selection,
                            view_data->tree->frame[request->node],
                            &options,
                            progress,
                            &wrong);
  if (g_error_matches (wrong, FLAM_ERROR, FLAM_ERROR_CANCELLED))
    {
      flam_code_file_unref (file);
      g_propagate_error (error, wrong);
      return NULL;
    }
  if (file->code == NULL)
    {
      file->why = g_strdup (wrong->message);
      file->missing = g_error_matches (wrong, FLAM_ERROR, FLAM_ERROR_SYSTEM);
      g_error_free (wrong);
      return file;
    }
  file->arrows = flam_disassembly_arrows (file->code);
  for (guint i = 0; i < file->code->n; i++)
    file->top = MAX (file->top, file->code->instructions[i].self);
  read_sources (file, request);
  return file;
}

/* --- rows ----------------------------------------------------------------- */

struct _FlamCodeRow
{
  GObject parent_instance;
  FlamCodeFile *file;
  guint index;
  gboolean is_line;
};

G_DEFINE_FINAL_TYPE (FlamCodeRow, flam_code_row, G_TYPE_OBJECT)

static void
flam_code_row_finalize (GObject *object)
{
  flam_code_file_unref (FLAM_CODE_ROW (object)->file);
  G_OBJECT_CLASS (flam_code_row_parent_class)->finalize (object);
}

static void
flam_code_row_class_init (FlamCodeRowClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = flam_code_row_finalize;
}

static void
flam_code_row_init (FlamCodeRow *self)
{
}

static FlamCodeRow *
row_new (FlamCodeFile *file, guint index, gboolean is_line)
{
  FlamCodeRow *row = g_object_new (FLAM_TYPE_CODE_ROW, NULL);

  row->file = code_file_ref (file);
  row->index = index;
  row->is_line = is_line;
  return row;
}

FlamCodeFile *
flam_code_row_get_file (FlamCodeRow *row)
{
  return row->file;
}

guint
flam_code_row_get_index (FlamCodeRow *row)
{
  return row->index;
}

gboolean
flam_code_row_is_line (FlamCodeRow *row)
{
  return row->is_line;
}

static char *
line_text (FlamCodeFile *file, const FlamInstruction *instruction)
{
  char **lines = g_hash_table_lookup (file->texts, instruction->file);
  guint n = lines != NULL ? g_strv_length (lines) : 0;
  g_autofree char *base = g_path_get_basename (instruction->file);
  const char *text = instruction->line <= n ? lines[instruction->line - 1] : "";

  text += strspn (text, " \t");
  return g_strdup_printf ("%s:%u  %s", base, instruction->line, text);
}

char *
flam_code_row_get_text (FlamCodeRow *row)
{
  const FlamInstruction *instruction =
      &row->file->code->instructions[row->index];

  if (row->is_line)
    return line_text (row->file, instruction);
  return g_strdup_printf ("%-7s %s%s%s%s",
                          instruction->mnemonic,
                          instruction->operands,
                          instruction->callee != NULL ? "  <" : "",
                          instruction->callee != NULL ? instruction->callee
                                                      : "",
                          instruction->callee != NULL ? ">" : "");
}

GListModel *
flam_code_file_rows (FlamCodeFile *file, guint *hottest)
{
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func (g_object_unref);
  GListStore *store = g_list_store_new (FLAM_TYPE_CODE_ROW);
  gint64 most = 0;

  *hottest = 0;
  for (guint i = 0; i < file->code->n; i++)
    {
      if (flam_disassembly_is_new_line (file->code, i))
        g_ptr_array_add (rows, row_new (file, i, TRUE));
      if (file->code->instructions[i].self > most)
        {
          most = file->code->instructions[i].self;
          *hottest = rows->len;
        }
      g_ptr_array_add (rows, row_new (file, i, FALSE));
    }
  g_list_store_splice (store, 0, 0, rows->pdata, rows->len);
  return G_LIST_MODEL (store);
}
