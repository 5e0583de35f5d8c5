/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-xctrace.h"

/* --- pieces -------------------------------------------------------------- */

static const char *
shown (FlamXctrace *xctrace, FlamSlice text)
{
  flam_markup_unescape (xctrace->scratch, text);
  return xctrace->scratch->str;
}

static FlamSlice
attribute (const FlamXctraceElement *element, const char *name)
{
  FlamSlice value = { "", 0 };

  flam_tag_attribute (&element->tag, name, &value);
  return value;
}

static FlamId
string_of (FlamXctrace *xctrace, FlamSlice text)
{
  shown (xctrace, text);
  return flam_builder_string (
      xctrace->builder, xctrace->scratch->str, xctrace->scratch->len);
}

/* "0x12aa" */
static guint64
hex_of (FlamSlice text)
{
  const char *p = text.text + 2;
  guint64 value = 0;

  return flam_slice_begins (text, "0x") &&
                 flam_text_hex (&p, text.text + text.length, &value)
             ? value
             : 0;
}

/* A <sentinel/> has no text. */
static void
set_number (FlamXctrace *xctrace, FlamXctraceValue *value, FlamSlice text)
{
  text = flam_slice_strip (text);
  value->known = flam_slice_number (text, &value->a);
  xctrace->bad_numbers += !value->known && text.length > 0;
}

static gint32
small_number (const FlamXctraceValue *value)
{
  return value->known && value->a >= 0 && value->a <= G_MAXINT32
             ? (gint32)value->a
             : -1;
}

/* --- processes and threads ----------------------------------------------- */

/* "cook (581)" */
static void
end_process (FlamXctrace *xctrace,
             const FlamXctraceElement *element,
             FlamXctraceValue *value)
{
  FlamSlice title = attribute (element, "fmt");
  gsize open = flam_slice_find_last (title, " (");
  gint32 pid = small_number (&element->inner[FLAM_XCTRACE_PID]);

  if (pid < 0)
    pid = CLAMP (flam_slice_number_after (title, " ("), -1, G_MAXINT32);
  value->known = TRUE;
  value->a = flam_builder_process (xctrace->builder, pid, 0);
  title.length = open;
  if (open > 0)
    flam_builder_set_process_name (
        xctrace->builder, value->a, shown (xctrace, title));
}

/* "Main Thread 0x12aa (cook, pid: 581)", or with "(0x12aa)"; without the parts
 * that other elements have. */
static FlamSlice
thread_name (FlamSlice title)
{
  gsize hex;

  title.length = flam_slice_find_last (title, ", pid: ");
  if (title.length > 0)
    title.length = flam_slice_find_last (title, " (");
  hex = flam_slice_find_last (title, "0x");
  if (hex < title.length)
    title.length = hex;
  while (title.length > 0 && strchr (" (", title.text[title.length - 1]))
    title.length--;
  return title;
}

static void
end_thread (FlamXctrace *xctrace,
            const FlamXctraceElement *element,
            FlamXctraceValue *value)
{
  FlamSlice title = attribute (element, "fmt");
  FlamSlice name = thread_name (title);
  gint32 tid = small_number (&element->inner[FLAM_XCTRACE_TID]);
  gint64 pid = flam_slice_number_after (title, ", pid: ");
  FlamProcessId process =
      element->inner[FLAM_XCTRACE_PROCESS].known
          ? (FlamId)element->inner[FLAM_XCTRACE_PROCESS].a
          : flam_builder_process (
                xctrace->builder, CLAMP (pid, -1, G_MAXINT32), 0);

  value->known = TRUE;
  value->a = tid >= 0 ? flam_builder_thread (xctrace->builder, process, tid, 0)
                      : flam_builder_thread_keyed (xctrace->builder,
                                                   process,
                                                   string_of (xctrace, title));
  if (name.length > 0)
    flam_builder_set_thread_name (
        xctrace->builder, value->a, shown (xctrace, name));
}

static FlamState
state_of (FlamSlice text)
{
  static const struct
  {
    const char *word;
    FlamState state;
  } states[] = {
    { "Blocked", FLAM_STATE_BLOCKED },
    { "Waiting", FLAM_STATE_BLOCKED },
    { "Runnable", FLAM_STATE_RUNNABLE },
    { "Preempted", FLAM_STATE_RUNNABLE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (states); i++)
    if (flam_slice_is (text, states[i].word))
      return states[i].state;
  return FLAM_STATE_RUNNING;
}

/* --- code ---------------------------------------------------------------- */

static FlamFunctionKind
code_kind (FlamSlice path)
{
  return flam_slice_begins (path, "/System/Library/Kernels/") ||
                 flam_slice_begins (path, "/System/Library/Extensions/")
             ? FLAM_KIND_KERNEL
             : FLAM_KIND_NATIVE;
}

static void
end_binary (FlamXctrace *xctrace,
            const FlamXctraceElement *element,
            FlamXctraceValue *value)
{
  FlamSlice path = attribute (element, "path");
  g_autofree char *id = NULL;
  GString *digits = g_string_new (NULL);
  FlamSlice uuid = attribute (element, "UUID");

  for (gsize i = 0; i < MIN (uuid.length, (gsize)FLAM_BUILD_ID_MAX); i++)
    if (uuid.text[i] != '-')
      g_string_append_c (digits, g_ascii_tolower (uuid.text[i]));
  id = g_string_free (digits, FALSE);
  if (path.length == 0)
    path = attribute (element, "name");
  value->known = path.length > 0;
  value->code = code_kind (path);
  if (value->known)
    value->a = flam_builder_module (
        xctrace->builder, shown (xctrace, path), id, FLAM_ADDRESS_FILE_OFFSET);
  value->b = (gint64)hex_of (attribute (element, "load-addr"));
}

/* Without a name it is named after its address. */
static void
end_frame (FlamXctrace *xctrace,
           const FlamXctraceElement *element,
           FlamXctraceValue *value)
{
  const FlamXctraceValue *binary = &element->inner[FLAM_XCTRACE_BINARY];
  const FlamXctraceValue *source = &element->inner[FLAM_XCTRACE_SOURCE];
  FlamSlice name = attribute (element, "name");
  FlamFunction function = { .module =
                                binary->known ? (FlamId)binary->a : FLAM_NONE };
  guint64 address = hex_of (attribute (element, "addr"));

  if (address >= (guint64)binary->b)
    address -= (guint64)binary->b;
  if (!flam_slice_begins (name, "0x"))
    function.name = string_of (xctrace, name);
  function.file = source->known ? (FlamId)source->a : 0;
  function.kind = binary->known ? binary->code : FLAM_KIND_NATIVE;
  value->known = TRUE;
  value->a = flam_builder_frame_of (xctrace->builder,
                                    &function,
                                    address,
                                    source->known ? (guint32)source->b : 0,
                                    0);
}

static void
end_source (FlamXctrace *xctrace,
            const FlamXctraceElement *element,
            FlamXctraceValue *value)
{
  gint64 line = 0;

  flam_slice_number (attribute (element, "line"), &line);
  value->known = element->inner[FLAM_XCTRACE_PATH].known;
  value->a = element->inner[FLAM_XCTRACE_PATH].a;
  value->b = CLAMP (line, 0, G_MAXINT32);
}

static void
end_backtrace (FlamXctrace *xctrace,
               const FlamXctraceElement *element,
               FlamXctraceValue *value)
{
  FlamStackId stack;

  *value = element->inner[FLAM_XCTRACE_BACKTRACE];
  if (value->known)
    return;
  xctrace->addresses += element->inner[FLAM_XCTRACE_ADDRESSES].known;
  stack = flam_load_stack (xctrace->builder, xctrace->frames);
  value->known = stack != FLAM_NONE;
  value->a = stack;
}

FlamXctraceValue
flam_xctrace_value (FlamXctrace *xctrace, const FlamXctraceElement *element)
{
  FlamXctraceValue value = { .kind = element->kind };

  switch (element->kind)
    {
    case FLAM_XCTRACE_TIME:
    case FLAM_XCTRACE_WEIGHT:
    case FLAM_XCTRACE_CYCLES:
    case FLAM_XCTRACE_TID:
    case FLAM_XCTRACE_PID:
      set_number (xctrace, &value, element->text);
      break;
    case FLAM_XCTRACE_STATE:
      value.known = TRUE;
      value.a = state_of (flam_slice_strip (element->text));
      break;
    case FLAM_XCTRACE_PATH:
      value.known = TRUE;
      value.a = string_of (xctrace, element->text);
      break;
    case FLAM_XCTRACE_PROCESS:
      end_process (xctrace, element, &value);
      break;
    case FLAM_XCTRACE_THREAD:
      end_thread (xctrace, element, &value);
      break;
    case FLAM_XCTRACE_SOURCE:
      end_source (xctrace, element, &value);
      break;
    case FLAM_XCTRACE_BINARY:
      end_binary (xctrace, element, &value);
      break;
    case FLAM_XCTRACE_FRAME:
      end_frame (xctrace, element, &value);
      break;
    case FLAM_XCTRACE_BACKTRACE:
      end_backtrace (xctrace, element, &value);
      break;
    case FLAM_XCTRACE_ADDRESSES:
      value.known = TRUE;
      break;
    default:
      break;
    }
  value.kind = element->kind;
  return value;
}
