/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-view.h"

#include <string.h>

#include "flam-proc.h"

#define EVERY (100 * 1000000ll) /* ns */

static const FlamUnwindTable *
load_table (void *data, const FlamUnwindMap *map)
{
  return map->user != NULL ? flam_code_get_table (map->user) : NULL;
}

/* Of several interpreters in one process, the last is taken. */
static void
set_python (FlamView *view, const FlamPythonPlace *place)
{
  for (guint i = 0; i < view->pythons->len; i++)
    {
      const FlamPythonPlace *known = view->pythons->pdata[i];
      if (known->layout == place->layout && known->runtime == place->runtime)
        {
          view->python = known;
          return;
        }
    }
  view->python = g_memdup2 (place, sizeof *place);
  g_ptr_array_add (view->pythons, (gpointer)view->python);
}

FlamView *
flam_view_new (pid_t pid, const FlamView *parent)
{
  FlamView *view = g_new0 (FlamView, 1);

  view->pid = view->tid = pid;
  view->process = FLAM_NONE;
  view->read_at = -1;
  view->every = EVERY;
  view->mappings = g_array_new (FALSE, FALSE, sizeof (FlamMapping));
  view->places = g_hash_table_new (NULL, NULL);
  view->roots = g_hash_table_new (NULL, NULL);
  view->space = parent != NULL ? flam_unwind_space_copy (parent->space)
                               : flam_unwind_space_new ();
  flam_unwind_space_set_load (view->space, load_table, view);
  view->pythons = g_ptr_array_new_with_free_func (g_free);
  if (parent != NULL && parent->python != NULL)
    set_python (view, parent->python);
  return view;
}

void
flam_view_free (FlamView *view)
{
  flam_unwind_space_free (view->space);
  g_array_unref (view->mappings);
  g_free (view->maps);
  g_hash_table_unref (view->places);
  g_hash_table_unref (view->roots);
  g_ptr_array_unref (view->pythons);
  g_free (view);
}

void
flam_view_reset (FlamView *view)
{
  flam_unwind_space_clear (view->space);
  g_array_set_size (view->mappings, 0);
  g_hash_table_remove_all (view->places);
  g_hash_table_remove_all (view->roots);
  view->python = NULL;
  view->read_at = -1;
  view->pause = 0;
  view->program++;
}

/* Code alone; the paths end in NULs in the text. */
static GArray *
parse_maps (char *text)
{
  GArray *mappings = g_array_new (FALSE, FALSE, sizeof (FlamMapping));
  const char *at = text, *end = text + strlen (text);
  FlamMapping mapping;

  while (flam_mapping_next (&at, end, &mapping))
    if (mapping.executable)
      {
        text[mapping.path + mapping.length - text] = '\0';
        if (strcmp (mapping.path, "[vsyscall]") != 0)
          g_array_append_val (mappings, mapping);
      }
  return mappings;
}

static gboolean
mappings_equal (const GArray *a, const GArray *b)
{
  if (a->len != b->len)
    return FALSE;
  for (guint i = 0; i < a->len; i++)
    {
      const FlamMapping *x = &g_array_index (a, FlamMapping, i);
      const FlamMapping *y = &g_array_index (b, FlamMapping, i);
      if (x->start != y->start || x->end != y->end || x->offset != y->offset ||
          x->inode != y->inode || strcmp (x->path, y->path) != 0)
        return FALSE;
    }
  return TRUE;
}

static void
note_python (FlamView *view, const FlamMapping *mapping, const FlamCode *code)
{
  if (code->python != NULL && code->python->why == NULL)
    set_python (view,
                &(FlamPythonPlace){ &code->python->layout,
                                    mapping->start - mapping->offset +
                                        code->python->runtime });
}

static void
fill_space (FlamView *view, FlamCodes *codes)
{
  flam_unwind_space_clear (view->space);
  g_hash_table_remove_all (view->places);
  g_hash_table_remove_all (view->roots);
  view->python = NULL;
  for (guint i = 0; i < view->mappings->len; i++)
    {
      FlamMapping *mapping = &g_array_index (view->mappings, FlamMapping, i);
      FlamCode *code = flam_codes_get (codes, view->pid, view->tid, mapping);
      flam_unwind_space_add (view->space,
                             mapping->start,
                             mapping->end,
                             mapping->offset,
                             code->table,
                             code);
      note_python (view, mapping, code);
    }
}

gboolean
flam_view_set_maps (FlamView *view,
                    FlamCodes *codes,
                    const char *text,
                    gint64 now)
{
  g_autofree char *copy = g_strdup (text);
  g_autoptr (GArray) mappings = parse_maps (copy);

  view->read_at = now;
  if (mappings->len == 0 || mappings_equal (mappings, view->mappings))
    return FALSE;
  g_array_unref (view->mappings);
  g_free (view->maps);
  view->mappings = g_steal_pointer (&mappings);
  view->maps = g_steal_pointer (&copy);
  fill_space (view, codes);
  return TRUE;
}

/* It may be another program by now, whose maps say nothing of this one's
 * stacks. */
static gboolean
is_same_program (const FlamView *view)
{
  return view->hint_program == NULL ||
         (guint)g_atomic_int_get (view->hint_program) == view->program;
}

gboolean
flam_view_refresh (FlamView *view, FlamCodes *codes, gint64 now)
{
  gint64 began = g_get_monotonic_time ();
  g_autofree char *text = is_same_program (view)
                              ? flam_proc_text (view->pid, view->tid, "maps")
                              : NULL;
  gboolean changed;

  view->read_at = now;
  view->gone = text == NULL || !is_same_program (view);
  changed = !view->gone && flam_view_set_maps (view, codes, text, now);
  view->every = MAX (EVERY, 100 * 1000 * (g_get_monotonic_time () - began));
  return changed;
}

FlamId
flam_view_frame (FlamView *view, FlamCaptureWriter *writer, guint64 pc)
{
  FlamCaptureFrame frame = {
    .file = FLAM_NONE, .module = FLAM_NONE, .address = pc, .function = FLAM_NONE
  };
  gpointer found = g_hash_table_lookup (view->places, GSIZE_TO_POINTER (pc));
  const FlamUnwindMap *map;
  FlamId id;

  if (found != NULL)
    return GPOINTER_TO_UINT (found) - 1;
  map = flam_unwind_space_find (view->space, pc);
  if (map != NULL && map->user != NULL)
    {
      const FlamCode *code = map->user;
      frame.module = code->id;
      if (code->kind != FLAM_CODE_ANONYMOUS)
        frame.address = pc - map->start + map->offset;
    }
  id = flam_capture_writer_frame (writer, &frame);
  g_hash_table_insert (
      view->places, GSIZE_TO_POINTER (pc), GUINT_TO_POINTER (id + 1));
  return id;
}
