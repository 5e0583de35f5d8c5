/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The output of tracers that count stacks: frames, leaf first, and their
 * number.
 *
 *    bpftrace   @[                          bcc     b'do_sys_open'
 *                   do_sys_open+1               open64
 *                   open64+22                   -                bash (4711)
 *               , bash, 4711]: 3                    3
 *
 *    DTrace         genunix`fop_open+0x20   stap  0xffffffff8103ce3b : do_sys_\
 *                   libc.so.1`open+0x7             open+0x1/0x5a [kernel]
 *                     3                            3
 *
 * The key of bpftrace's map may have other parts before and after its stacks: a
 * name is the thread's, a number its id; each map is a measure. With -f json
 * each map is a line, and its keys are the same texts. Between a
 * kernel's stack and a program's there is "," or bcc's "--". Times are µs if
 * bcc's head has that unit. Source: the tools' own manuals; FlameGraph's
 * scripts have the same counts. */

#include "flam-json.h"
#include "flam-stack-text.h"

/* --- frames -------------------------------------------------------------- */

/* "0xffffffff8103ce3b" or digits without the 0x, at least `least` of them. */
static gsize
hex_length (FlamSlice text, gint least)
{
  const char *p = text.text;
  const char *end = p + text.length;
  gboolean marked = flam_slice_begins (text, "0x");
  guint64 value;

  p += marked ? 2 : 0;
  if (!flam_text_hex (&p, end, &value) || (!marked && p - text.text < least) ||
      (p < end && !flam_text_is_space (*p)))
    return 0;
  return p - text.text;
}

static gsize
address_length (FlamSlice text)
{
  return hex_length (text, 8);
}

/* Cuts "+0x1a", "+0x1a/0x20" or "+26" off the end. */
static void
cut_offset (FlamSlice *name)
{
  gsize at = flam_slice_find_last (*name, "+");
  FlamSlice offset;

  if (at == name->length || at == 0)
    return;
  offset = flam_slice_from (*name, at + 1);
  if (offset.length == 0)
    return;
  for (gsize i = 0; i < offset.length; i++)
    if (!g_ascii_isxdigit (offset.text[i]) && offset.text[i] != '/' &&
        offset.text[i] != 'x')
      return;
  if (flam_text_is_digit (*offset.text))
    name->length = at;
}

/* Cuts " (module)" or " [module]" off the end. */
static void
cut_module (FlamSlice *name, FlamSlice *module)
{
  char close = name->length > 0 ? name->text[name->length - 1] : '\0';
  gsize at;

  if (close != ')' && close != ']')
    return;
  at = flam_slice_find_last (*name, close == ')' ? " (" : " [");
  if (at == name->length)
    return;
  *module = flam_slice_from (*name, at + 2);
  module->length--;
  name->length = at;
  *name = flam_slice_strip (*name);
}

static void
cut_annotation (FlamTextFrame *frame)
{
  static const struct
  {
    const char *text;
    FlamFunctionKind kind;
  } all[] = { { "_[k]", FLAM_KIND_KERNEL },
              { "_[j]", FLAM_KIND_JIT },
              { "_[w]", FLAM_KIND_WAKER } };

  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    if (flam_slice_ends (frame->name, all[i].text))
      {
        frame->name.length -= strlen (all[i].text);
        frame->kind = all[i].kind;
      }
}

static gboolean
is_unknown (FlamSlice name)
{
  return flam_slice_is (name, "[unknown]") ||
         (name.length > 0 && address_length (name) == name.length);
}

void
flam_stack_text_parse_traced (FlamSlice text, FlamTextFrame *frame)
{
  FlamSlice name = text;
  gsize address = hex_length (name, flam_slice_ends (name, ")") ? 4 : 8);
  gsize tick;

  if (address > 0 && address < name.length)
    {
      name = flam_slice_strip (flam_slice_from (name, address));
      if (flam_slice_begins (name, ": "))
        name = flam_slice_from (name, 2);
    }
  cut_module (&name, &frame->module);
  if (flam_slice_begins (name, "b'") && flam_slice_ends (name, "'") &&
      name.length > 3)
    name = (FlamSlice){ name.text + 2, name.length - 3 };
  cut_offset (&name);
  tick = flam_slice_find (name, "`");
  if (tick < name.length)
    {
      frame->module = (FlamSlice){ name.text, tick };
      name = flam_slice_from (name, tick + 1);
    }
  if (flam_slice_is (frame->module, "[kernel]") ||
      flam_slice_is (frame->module, "kernel") ||
      flam_slice_is (frame->module, "[kernel.kallsyms]"))
    frame->kind = FLAM_KIND_KERNEL;
  frame->name = name;
  cut_annotation (frame);
  if (is_unknown (frame->name))
    frame->name.length = 0;
}

/* --- bpftrace ------------------------------------------------------------ */

/* "bash, 4711": the parts of a key that are not stacks. */
static void
read_key (FlamStackText *text, FlamSlice key)
{
  FlamSlice name = { "", 0 };
  gint64 ids[2] = { -1, -1 };
  guint n = 0;

  while (key.length > 0)
    {
      gsize comma = flam_slice_find (key, ",");
      FlamSlice part =
          flam_slice_strip ((FlamSlice){ key.text, MIN (comma, key.length) });
      gint64 number;

      if (flam_slice_number (part, &number))
        ids[MIN (n++, 1u)] = number;
      else if (name.length == 0)
        name = part;
      key = flam_slice_from (key, MIN (comma + 1, key.length));
    }
  if (name.length > 0 || n > 0)
    flam_stack_text_thread (text, name, ids[0], n > 1 ? ids[1] : -1);
}

/* "…]: 12" or "…]: count 12, …": the text before it. */
static gboolean
take_count (FlamSlice line, FlamSlice *before, gint64 *count)
{
  gsize at = flam_slice_find_last (line, "]: ");

  if (at == line.length ||
      !flam_slice_number (flam_slice_strip (flam_slice_from (line, at + 3)),
                          count))
    return FALSE;
  *before = (FlamSlice){ line.text, at };
  return TRUE;
}

static void
end_map_row (FlamStackText *text, FlamSlice key, gint64 count)
{
  read_key (text, key);
  if (text->stack->len == 0) /* no stack from the kernel */
    flam_stack_text_frame (text, (FlamSlice){ "[unknown]", 9 });
  flam_stack_text_end (text, count);
  text->open = FALSE;
  text->thread = FLAM_NONE;
}

static gboolean
read_bpftrace_line (FlamStackText *text, FlamSlice line)
{
  FlamSlice part = flam_slice_strip (line);
  FlamSlice before;
  gint64 count;

  if (line.length > 0 && *line.text == '@')
    {
      gsize at = flam_slice_find (line, "[");
      flam_stack_text_drop (text);
      text->open = FALSE;
      if (at == line.length)
        return TRUE;
      part = flam_slice_strip (flam_slice_from (line, at + 1));
      if (flam_slice_find (part, "]:") < part.length) /* it has no stacks */
        return TRUE;
      text->open = TRUE;
      text->event = (FlamSlice){ line.text + 1, at - 1 };
      read_key (text, part);
      return TRUE;
    }
  if (!text->open)
    return TRUE;
  if (take_count (part, &before, &count))
    {
      before = flam_slice_strip (before);
      if (flam_slice_begins (before, ","))
        before = flam_slice_strip (flam_slice_from (before, 1));
      end_map_row (text, before, count);
      return TRUE;
    }
  if (flam_slice_is (part, ",") || part.length == 0)
    return TRUE;
  if (!flam_text_is_space (*line.text))
    return FALSE;
  if (flam_slice_ends (part, ","))
    part.length--;
  flam_stack_text_frame (text, part);
  return TRUE;
}

/* The key and its count as lines, as bpftrace prints them without JSON. */
static gboolean
read_map_row (FlamStackText *text, const char *map, FlamJson *json)
{
  gsize length;
  const char *key = flam_json_get_key (json, &length);
  g_autofree char *whole = NULL;
  FlamSlice rest;
  gboolean good = TRUE;

  if (json->token != FLAM_JSON_NUMBER || memchr (key, '\n', length) == NULL)
    return TRUE; /* statistics, or a key without a stack */
  if (text->kept == NULL)
    text->kept = g_string_chunk_new (4096);
  whole = g_strdup_printf (
      "%s[%s]: %" G_GINT64_FORMAT "\n", map, key, flam_json_get_int (json));
  rest.text = g_string_chunk_insert (text->kept, whole);
  rest.length = strlen (rest.text);
  while (rest.length > 0)
    {
      gsize end = flam_slice_find (rest, "\n");
      FlamSlice line = { rest.text, end };

      good &= read_bpftrace_line (text, line);
      rest = flam_slice_from (rest, MIN (end + 1, rest.length));
    }
  return good;
}

static gboolean
read_bpftrace_json (FlamStackText *text, FlamSlice line)
{
  g_auto (FlamJson) json = { 0 };
  gboolean good = TRUE;

  flam_json_open (&json, line.text, line.length);
  flam_json_each (&json)
    if (flam_json_key_is (&json, "data"))
      flam_json_each (&json)
        {
          g_autofree char *map = g_strdup (flam_json_get_key (&json, NULL));

          if (*map == '@')
            flam_json_each (&json)
              good &= read_map_row (text, map, &json);
        }
  return good && flam_json_finish (&json, text->source, NULL);
}

static gboolean
read_bpftrace (FlamStackText *text, FlamSlice line)
{
  return flam_slice_begins (line, "{\"type\"")
             ? read_bpftrace_json (text, line)
             : read_bpftrace_line (text, line);
}

static void
finish_bpftrace (FlamStackText *text)
{
  if (text->kept != NULL)
    g_string_chunk_free (g_steal_pointer (&text->kept));
}

static guint
probe_bpftrace (const FlamSource *source)
{
  FlamSlice before;
  gint64 count;
  gboolean open = FALSE;

  if (flam_source_first_char (source) == '{')
    return flam_source_head_has (
               source, 256, "{\"type\": \"attached_probes\"") ||
                   flam_source_head_has (
                       source, 256, "{\"type\": \"map\", \"data\": {\"@")
               ? 85
               : 0;
  flam_text_each_of_head (source, line)
    {
      FlamSlice part = flam_slice_strip (line);
      if (line.length > 1 && *line.text == '@' && flam_slice_ends (part, "["))
        open = TRUE;
      else if (open && take_count (part, &before, &count))
        return 85;
      else if (line.length > 1 && *line.text == '@' &&
               flam_slice_find (part, "[") < part.length)
        open |= flam_slice_ends (part, ",");
    }
  return open ? 50 : 0;
}

/* --- stacks and counts --------------------------------------------------- */

/* "-                bash (4711)" */
static gboolean
read_bcc_thread (FlamStackText *text, FlamSlice part)
{
  FlamSlice name;
  gsize at;

  if (!flam_slice_begins (part, "-  "))
    return FALSE;
  name = flam_slice_strip (flam_slice_from (part, 1));
  at = flam_slice_find_last (name, " (");
  flam_stack_text_thread (
      text,
      (FlamSlice){ name.text, at },
      flam_slice_number_after (flam_slice_from (name, at), "("),
      -1);
  return TRUE;
}

/* Ends a block with its count. FALSE: the line is not a count. */
static gboolean
read_count (FlamStackText *text, FlamSlice part)
{
  gint64 count;

  if (!flam_slice_number (part, &count))
    return FALSE;
  flam_stack_text_end (text, count);
  return TRUE;
}

/* Frames, then a count. */
static gboolean
has_counted_frames (const FlamSource *source,
                    gboolean (*is_frame) (FlamSlice line))
{
  gboolean frames = FALSE;
  gint64 count;

  flam_text_each_of_head (source, line)
    if (is_frame (line))
      frames = TRUE;
    else if (frames && flam_slice_number (flam_slice_strip (line), &count))
      return TRUE;
  return FALSE;
}

/* mallocstacks has its count, in bytes, before the frames:
 *
 *    380928 bytes allocated at:
 *            malloc+0x0
 *            main+0x4e                                                     */
#define BCC_BYTES " bytes allocated at:"

static gboolean
is_bcc_bytes (FlamSlice line, gint64 *bytes)
{
  const char *p = line.text;

  return flam_slice_ends (line, BCC_BYTES) &&
         flam_text_number (&p, line.text + line.length, bytes) &&
         p == line.text + line.length - strlen (BCC_BYTES);
}

static void
finish_bcc (FlamStackText *text)
{
  if (text->open)
    flam_stack_text_end (text, text->count);
  text->open = FALSE;
}

static gboolean
read_bcc (FlamStackText *text, FlamSlice line)
{
  FlamSlice part = flam_slice_strip (line);

  if (part.length == 0)
    finish_bcc (text);
  if (part.length == 0 || flam_slice_is (part, "--"))
    return TRUE;
  if (is_bcc_bytes (line, &text->count))
    {
      flam_stack_text_are_bytes (text);
      text->open = TRUE;
      return TRUE;
    }
  if (!flam_text_is_space (*line.text))
    {
      if (flam_slice_find (line, "(us)") < line.length)
        flam_stack_text_are_times (text);
      flam_stack_text_drop (text);
      return TRUE;
    }
  if (!read_bcc_thread (text, part) && !read_count (text, part))
    flam_stack_text_frame (text, part);
  return TRUE;
}

static guint
probe_bcc (const FlamSource *source)
{
  guint frames = 0;
  gboolean thread = FALSE, traced = FALSE;
  gint64 count;

  flam_text_each_of_head (source, line)
    {
      FlamSlice part = flam_slice_strip (line);
      traced |= flam_slice_find (line, "Hit Ctrl-C to end") < line.length;
      if (is_bcc_bytes (line, &count))
        return 85;
      if (part.length == 0 || !flam_text_is_space (*line.text))
        continue;
      if (flam_slice_begins (part, "-  ") && flam_slice_ends (part, ")"))
        thread = frames > 0;
      else if (!flam_slice_number (part, &count))
        frames++;
      else if (frames > 0 && (thread || traced))
        return thread ? 85 : 70;
    }
  return 0;
}

/* DTrace prints a head of columns, and the probe that ended the script. */
static gboolean
is_probe_line (FlamSlice part)
{
  const char *p = part.text;
  const char *end = p + part.length;
  gint64 number;

  for (guint i = 0; i < 2; i++)
    {
      if (!flam_text_number (&p, end, &number) || p == end ||
          !flam_text_is_space (*p))
        return FALSE;
      while (p < end && flam_text_is_space (*p))
        p++;
    }
  return memchr (p, ':', end - p) != NULL;
}

static gboolean
read_dtrace (FlamStackText *text, FlamSlice line)
{
  FlamSlice part = flam_slice_strip (line);
  gint64 count;

  if (part.length == 0 || flam_slice_begins (part, "CPU ") ||
      is_probe_line (part) || flam_slice_begins (line, "dtrace:"))
    return TRUE;
  /* A key of the aggregation: the program. */
  if (text->stack->len == 0 && flam_slice_find (part, "`") == part.length &&
      address_length (part) == 0 && !flam_slice_number (part, &count))
    flam_stack_text_thread (text, part, -1, -1);
  else if (!read_count (text, part))
    flam_stack_text_frame (text, part);
  return TRUE;
}

static gboolean
is_dtrace_frame (FlamSlice line)
{
  FlamSlice part = flam_slice_strip (line);
  gsize tick = flam_slice_find (part, "`");

  return tick > 0 && tick < part.length && flam_text_is_space (*line.text) &&
         memchr (part.text, ' ', tick) == NULL;
}

static guint
probe_dtrace (const FlamSource *source)
{
  return has_counted_frames (source, is_dtrace_frame) ? 80 : 0;
}

static gboolean
is_stap_frame (FlamSlice line)
{
  FlamSlice part = flam_slice_strip (line);
  gsize address = address_length (part);

  return address > 0 &&
         flam_slice_begins (flam_slice_from (part, address), " : ");
}

static gboolean
read_stap (FlamStackText *text, FlamSlice line)
{
  FlamSlice part = flam_slice_strip (line);

  if (part.length == 0 || read_count (text, part))
    return TRUE;
  if (address_length (part) == 0)
    return FALSE;
  flam_stack_text_frame (text, part);
  return TRUE;
}

static guint
probe_stap (const FlamSource *source)
{
  return has_counted_frames (source, is_stap_frame) ? 80 : 0;
}

/* --- the table ----------------------------------------------------------- */

static const FlamDialect dialect_bpftrace = { N_ ("output of bpftrace"),
                                              read_bpftrace,
                                              flam_stack_text_parse_traced,
                                              finish_bpftrace };
static const FlamDialect dialect_bcc = { N_ ("output of bcc's tools"),
                                         read_bcc,
                                         flam_stack_text_parse_traced,
                                         finish_bcc };
static const FlamDialect dialect_dtrace = { N_ ("output of DTrace"),
                                            read_dtrace,
                                            flam_stack_text_parse_traced };
static const FlamDialect dialect_stap = { N_ ("output of SystemTap"),
                                          read_stap,
                                          flam_stack_text_parse_traced };

FLAM_STACK_TEXT_IMPORTER (bpftrace,
                          "bpftrace",
                          "bpftrace",
                          "bpftrace scripts that count stacks",
                          ".bt.txt",
                          ".txt",
                          ".json")
FLAM_STACK_TEXT_IMPORTER (bcc,
                          "bcc",
                          "bcc",
                          "profile, offcputime, stackcount and others of bcc",
                          ".txt")
FLAM_STACK_TEXT_IMPORTER (dtrace,
                          "dtrace",
                          "DTrace",
                          "dtrace scripts that count stacks",
                          ".stacks",
                          ".txt")
FLAM_STACK_TEXT_IMPORTER (
    stap, "stap", "SystemTap", "SystemTap scripts that count stacks", ".txt")
