/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-perf-script.h"

/* --- the header ---------------------------------------------------------- */

static const char *
skip_space (const char *p, const char *end)
{
  while (p < end && flam_text_is_space (*p))
    p++;
  return p;
}

static const char *
token_end (const char *p, const char *end)
{
  while (p < end && !flam_text_is_space (*p))
    p++;
  return p;
}

static gboolean
parse_id (const char **p, const char *end, gint32 *id)
{
  gboolean negative = *p < end && **p == '-';
  gint64 value;

  *p += negative;
  if (!flam_text_number (p, end, &value) || value > G_MAXINT32)
    return FALSE;
  *id = negative ? -1 : value;
  return TRUE;
}

/* "12688/12764", or "12764", the whole token. */
static gboolean
parse_ids (const char *p, const char *end, FlamScriptHeader *header)
{
  if (!parse_id (&p, end, &header->tid))
    return FALSE;
  header->pid = -1;
  if (p < end && *p == '/')
    {
      header->pid = header->tid;
      p++;
      if (!parse_id (&p, end, &header->tid))
        return FALSE;
    }
  return p == end;
}

/* "94564.109216:" in ns. */
static gboolean
parse_time (const char *p, const char *end, gint64 *time)
{
  gint64 seconds, scale = 100000000;
  gint64 ns = 0;

  if (!flam_text_number (&p, end, &seconds) || p == end || *p++ != '.' ||
      seconds > G_MAXINT64 / 1000000000 - 1)
    return FALSE;
  for (; p < end && flam_text_is_digit (*p); p++, scale /= 10)
    ns += (*p - '0') * scale;
  if (p + 1 != end || *p != ':')
    return FALSE;
  *time = seconds * 1000000000 + ns;
  return TRUE;
}

/* What follows the ids, up to and with the event. Something must be there that
 * only stands there: else the number before was part of the name. */
static gboolean
parse_facts (const char *p, const char *end, FlamScriptHeader *header)
{
  gboolean first = TRUE;

  header->time = -1;
  header->has_period = FALSE;
  header->event = (FlamSlice){ "samples", strlen ("samples") };
  for (p = skip_space (p, end); p < end; p = skip_space (p, end))
    {
      const char *stop = token_end (p, end);
      const char *digits = p;
      gint64 number;

      if (header->time < 0 && parse_time (p, stop, &header->time))
        first = FALSE;
      else if (*p == '[' && stop[-1] == ']')
        first = FALSE;
      else if (flam_text_number (&digits, stop, &number) && digits == stop)
        {
          header->period = number;
          header->has_period = TRUE;
        }
      else if (stop[-1] == ':' && stop - p > 1)
        {
          header->event = (FlamSlice){ p, stop - p - 1 };
          header->rest = flam_slice_trim (stop, end);
          return TRUE;
        }
      else if (first)
        return FALSE;
      p = stop;
    }
  header->rest = (FlamSlice){ end, 0 };
  return header->time >= 0 || first;
}

gboolean
flam_script_parse_header (const char *text,
                          gsize length,
                          FlamScriptHeader *header)
{
  const char *end = text + length;
  const char *p = text;

  if (length == 0 || flam_text_is_space (*text))
    return FALSE;
  while ((p = token_end (p, end)) < end)
    {
      const char *comm_end = p;
      const char *stop;

      p = skip_space (p, end);
      stop = token_end (p, end);
      if (p == stop || !parse_ids (p, stop, header) ||
          !parse_facts (stop, end, header))
        continue;
      header->comm = (FlamSlice){ text, comm_end - text };
      header->who = (FlamSlice){ text, stop - text };
      return TRUE;
    }
  return FALSE;
}

/* --- a line of the call chain -------------------------------------------- */

static const char *
find_module (const char *start, const char *end)
{
  const char *stop = end;

  if (flam_slice_ends ((FlamSlice){ start, end - start }, " (deleted))"))
    stop = end - strlen (" (deleted))");
  for (const char *p = stop; p > start; p--)
    if (p[-1] == '(' && (p - 1 == start || flam_text_is_space (p[-2])))
      return p;
  return NULL;
}

static FlamSlice
strip_offset (FlamSlice symbol)
{
  const char *end = symbol.text + symbol.length;
  const char *p = end;

  while (p > symbol.text && g_ascii_isxdigit (p[-1]))
    p--;
  if (p < end && p - symbol.text >= 3 && memcmp (p - 3, "+0x", 3) == 0)
    symbol.length = p - 3 - symbol.text;
  return symbol;
}

/* "nest.c:13", "nest.c:9 (inlined)", "libc.so.6[27b25]" (no line is known). */
static void
parse_source_line (FlamSlice text, FlamScriptFrame *frame)
{
  const char *end;
  const char *p;
  gint64 line;

  if (flam_slice_ends (text, " (inlined)"))
    {
      frame->inlined = TRUE;
      text.length -= strlen (" (inlined)");
    }
  end = memchr (text.text, ' ', text.length); /* "(discriminator 2)" */
  if (end == NULL)
    end = text.text + text.length;
  for (p = end; p > text.text && flam_text_is_digit (p[-1]); p--)
    ;
  if (p == end || p - text.text < 2 || p[-1] != ':')
    return;
  frame->file = (FlamSlice){ text.text, p - 1 - text.text };
  if (flam_text_number (&p, end, &line) && line <= G_MAXUINT32)
    frame->line = line;
}

gboolean
flam_script_parse_frame (FlamSlice text, FlamScriptFrame *frame)
{
  const char *end = text.text + text.length;
  const char *first_end = memchr (text.text, '\n', text.length);
  const char *line_end = first_end != NULL ? first_end : end;
  const char *p = skip_space (text.text, line_end);
  FlamSlice rest;

  memset (frame, 0, sizeof *frame);
  if (!flam_text_hex (&p, line_end, &frame->address) || p == line_end ||
      !flam_text_is_space (*p))
    return FALSE;
  rest = flam_slice_trim (p, line_end);
  if (flam_slice_ends (rest, "(inlined)"))
    {
      frame->inlined = TRUE;
      rest = flam_slice_trim (rest.text,
                              rest.text + rest.length - strlen ("(inlined)"));
    }
  else if (rest.length > 0 && rest.text[rest.length - 1] == ')')
    {
      const char *close = rest.text + rest.length - 1;
      const char *open = find_module (rest.text, close + 1);
      if (open != NULL)
        {
          frame->module = (FlamSlice){ open, close - open };
          rest = flam_slice_trim (rest.text, open - 1);
        }
    }
  else
    {
      /* A line that was cut in its module's path. */
      const char *open = memmem (rest.text, rest.length, " (/", 3);
      if (open != NULL)
        rest = flam_slice_trim (rest.text, open);
    }
  frame->symbol = strip_offset (rest);
  if (flam_slice_is (frame->symbol, "[unknown]"))
    frame->symbol.length = 0;
  if (flam_slice_is (frame->module, "[unknown]"))
    frame->module.length = 0;
  if (first_end != NULL)
    parse_source_line (flam_slice_trim (first_end + 1, end), frame);
  return TRUE;
}

gboolean
flam_script_is_source_line (const char *text, const char *end)
{
  const char *p = text + 2;
  guint64 address;

  if (end - text < 3 || text[0] != ' ' || text[1] != ' ' || text[2] == ' ')
    return FALSE;
  return !flam_text_hex (&p, end, &address) || p == end ||
         !flam_text_is_space (*p);
}

/* --- modules ------------------------------------------------------------- */

static gboolean
is_jit (FlamSlice module)
{
  if (module.length == 0)
    return FALSE;
  if (flam_slice_ends (module, ".map"))
    {
      const char *p = module.text + module.length - strlen (".map");

      while (p > module.text && flam_text_is_digit (p[-1]))
        p--;
      return flam_slice_ends ((FlamSlice){ module.text, p - module.text },
                              "/perf-");
    }
  return (module.length > 5 && memcmp (module.text, "[JIT]", 5) == 0) ||
         memmem (module.text, module.length, "/jitted-", 8) != NULL;
}

static gboolean
is_kernel (FlamSlice module)
{
  static const char *const user[] = { "[vdso]",  "[vsyscall]", "[heap]",
                                      "[stack]", "[anon]",     "[uprobes]" };

  if (module.length == 0)
    return FALSE;
  if (module.text[0] == '[' && module.text[module.length - 1] == ']')
    {
      for (guint i = 0; i < G_N_ELEMENTS (user); i++)
        if (flam_slice_is (module, user[i]))
          return FALSE;
      return TRUE;
    }
  return flam_slice_ends (module, "vmlinux") ||
         flam_slice_ends (module, ".ko") ||
         flam_slice_ends (module, ".ko.xz") ||
         flam_slice_ends (module, ".ko.gz") ||
         flam_slice_ends (module, ".ko.zst") ||
         (module.length > 17 &&
          memcmp (module.text, "[kernel.kallsyms]", 17) == 0);
}

FlamFunctionKind
flam_script_module_kind (FlamSlice module)
{
  return is_jit (module)      ? FLAM_KIND_JIT
         : is_kernel (module) ? FLAM_KIND_KERNEL
                              : FLAM_KIND_NATIVE;
}
