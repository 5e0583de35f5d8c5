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

gboolean
flam_script_parse_time (const char *p, const char *end, gint64 *time)
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

/* perf pads numbers to a fixed width; only this distinguishes some of them from
 * a part of the name. */
#define ID_WIDTH 6
#define PERIOD_WIDTH 10
#define ADDRESS_WIDTH 17
#define CPU_WIDTH 5

/* The width of a token, including the spaces before it. */
static gsize
padded_width (const char *line, const char *p, const char *stop)
{
  while (p > line && p[-1] == ' ')
    p--;
  return stop - p;
}

static gboolean
is_number (const char *p, const char *stop, gint64 *number)
{
  return flam_text_number (&p, stop, number) && p == stop;
}

static gboolean
is_address (const char *p, const char *stop)
{
  guint64 address;

  return flam_text_hex (&p, stop, &address) && p == stop;
}

/* "[002]" */
static gboolean
is_cpu (const char *p, const char *stop)
{
  gint64 cpu;

  return stop - p > 2 && *p == '[' && stop[-1] == ']' &&
         is_number (p + 1, stop - 1, &cpu);
}

/* The mode of the CPU, and similar: "K", "UE". */
static gboolean
is_misc (const char *p, const char *stop)
{
  for (; p < stop; p++)
    if (strchr ("KUHGgMFESp", *p) == NULL)
      return FALSE;
  return TRUE;
}

/* kmem's kmalloc, kmem_cache_alloc and their variants for a node print the
 * bytes that the allocator gave, which is what "perf kmem stat" adds up. */
static gint64
find_allocated (FlamSlice event, FlamSlice fields)
{
  static const char key[] = "bytes_alloc=";
  const char *end = fields.text + fields.length;
  const char *at = memmem (fields.text, fields.length, key, strlen (key));
  gint64 bytes;

  if (!flam_slice_begins (event, "kmem:") || at == NULL)
    return -1;
  at += strlen (key);
  return flam_text_number (&at, end, &bytes) ? bytes : -1;
}

/* Parses the fields from `p` on: "[cpu] misc time: period event:", each
 * optional, in this order; FALSE if there is anything else, or no field that
 * occurs only there: then the text before was part of the name. */
static gboolean
parse_facts (const char *line,
             const char *p,
             const char *end,
             FlamScriptHeader *header)
{
  gboolean certain = FALSE;

  header->time = -1;
  header->has_period = FALSE;
  header->bytes = -1;
  header->event = (FlamSlice){ "samples", strlen ("samples") };
  for (p = skip_space (p, end); p < end; p = skip_space (p, end))
    {
      const char *stop = token_end (p, end);
      gboolean early = header->time < 0 && !header->has_period;
      gint64 number;

      if (early && flam_script_parse_time (p, stop, &header->time))
        {
          header->time_text = (FlamSlice){ p, stop - p };
          certain = TRUE;
        }
      else if (early && is_cpu (p, stop))
        certain = TRUE;
      else if (!header->has_period && is_number (p, stop, &number) &&
               (certain || padded_width (line, p, stop) >= PERIOD_WIDTH))
        {
          header->period = number;
          header->has_period = TRUE;
          header->period_text = (FlamSlice){ p, stop - p };
        }
      else if (stop[-1] == ':' && stop - p > 1)
        {
          header->event = (FlamSlice){ p, stop - p - 1 };
          header->leaf = flam_slice_trim (stop, end);
          header->bytes = find_allocated (header->event, header->leaf);
          return TRUE;
        }
      else if (!certain && !(early && is_misc (p, stop)))
        return FALSE;
      p = stop;
    }
  return certain;
}

/* "comm 12/13 1000", each optional: the rest of a header without a time, a CPU
 * and an event. */
static void
parse_bare (const char *line,
            const char *text,
            const char *end,
            FlamScriptHeader *header)
{
  const char *p = end;

  header->time = -1;
  header->event = (FlamSlice){ "samples", strlen ("samples") };
  while (p > text && !flam_text_is_space (p[-1]))
    p--;
  header->has_period = is_number (p, end, &header->period) &&
                       padded_width (line, p, end) >= PERIOD_WIDTH;
  if (header->has_period)
    {
      FlamSlice before = flam_slice_trim (text, p);
      end = before.text + before.length;
      for (p = end; p > text && !flam_text_is_space (p[-1]);)
        p--;
    }
  header->who = (FlamSlice){ text, end - text };
  if (!parse_ids (p, end, header) ||
      (header->pid < 0 && p > text && padded_width (line, p, end) < ID_WIDTH))
    {
      header->pid = header->tid = -1;
      p = end;
    }
  header->comm = flam_slice_trim (text, p);
  header->certain = header->has_period && header->tid >= 0;
}

/* Ids and fields from the leftmost place where they are valid; or fields
 * alone. A number after the time or the CPU is not an id. */
static gboolean
parse_full (const char *line,
            const char *text,
            const char *end,
            FlamScriptHeader *header)
{
  for (const char *p = text; p < end; p = skip_space (token_end (p, end), end))
    {
      const char *stop = token_end (p, end);
      if (flam_script_parse_time (p, stop, &header->time) ||
          (is_cpu (p, stop) && stop - p >= CPU_WIDTH))
        break;
      if (!parse_ids (p, stop, header) ||
          !parse_facts (line, stop, end, header))
        continue;
      header->certain = TRUE;
      header->comm = flam_slice_trim (text, p);
      header->who = (FlamSlice){ text, stop - text };
      return TRUE;
    }
  header->pid = header->tid = -1;
  for (const char *p = text; p < end; p = skip_space (token_end (p, end), end))
    if (parse_facts (line, p, end, header))
      {
        header->certain = header->time >= 0;
        header->comm = header->who = flam_slice_trim (text, p);
        return TRUE;
      }
  return FALSE;
}

/* The place of the frame of a sample without a call chain: the last address of
 * perf's width that a name follows. Sampled data addresses may precede and
 * follow it. */
static const char *
find_leaf (const char *line, const char *end)
{
  const char *leaf = end;
  const char *last = NULL; /* the token before, if it is an address */

  for (const char *p = skip_space (line, end); p < end;)
    {
      const char *stop = token_end (p, end);
      gboolean wide =
          padded_width (line, p, stop) >= ADDRESS_WIDTH && is_address (p, stop);

      if (last != NULL && !wide)
        leaf = last;
      last = wide ? p : NULL;
      p = skip_space (stop, end);
    }
  return leaf == end && last != NULL ? last : leaf;
}

gboolean
flam_script_parse_header (const char *line,
                          gsize length,
                          FlamScriptHeader *header)
{
  const char *end = line + length;
  const char *leaf = find_leaf (line, end);
  FlamSlice head = flam_slice_trim (line, leaf);

  *header = (FlamScriptHeader){ .bytes = -1 };
  if (length == 0 || (head.length == 0 && leaf == end))
    return FALSE;
  if (!parse_full (line, head.text, head.text + head.length, header))
    parse_bare (line, head.text, head.text + head.length, header);
  if (leaf < end)
    {
      header->leaf = (FlamSlice){ leaf, end - leaf };
      header->certain = TRUE;
    }
  else if (header->leaf.length > 0)
    {
      FlamScriptFrame frame;
      if (!flam_script_parse_frame (header->leaf, &frame))
        header->leaf.length = 0;
    }
  /* With a period the weight is not a number of samples. */
  if (header->has_period && flam_slice_is (header->event, "samples"))
    header->event = (FlamSlice){ "period", strlen ("period") };
  return TRUE;
}

/* --- other lines --------------------------------------------------------- */

gboolean
flam_script_parse_record (const char *text, gsize length, guint64 *lost)
{
  static const char key[] = "PERF_RECORD_";
  static const char key_lost[] = "PERF_RECORD_LOST lost ";
  const char *end = text + length;
  const char *found = memmem (text, length, key, strlen (key));
  gint64 number;

  if (found == NULL || (found > text && !flam_text_is_space (found[-1])))
    return FALSE;
  *lost = 0;
  if ((gsize)(end - found) > strlen (key_lost) &&
      memcmp (found, key_lost, strlen (key_lost)) == 0)
    {
      found += strlen (key_lost);
      if (flam_text_number (&found, end, &number))
        *lost = number;
    }
  return TRUE;
}

/* The width of the address that a line begins with, 0 without one. */
static gsize
address_width (const char *text, const char *end)
{
  const char *p = skip_space (text, end);
  const char *stop = token_end (p, end);

  return p > text && is_address (p, stop) ? stop - text : 0;
}

gboolean
flam_script_is_chain_line (const char *text, const char *end)
{
  gsize width = address_width (text, end);

  return width > (*text == '\t' ? 0 : ADDRESS_WIDTH);
}

gboolean
flam_script_is_exact_chain_line (const char *text, const char *end)
{
  return *text == '\t' && address_width (text, end) == ADDRESS_WIDTH;
}

static const char *
branch_before (const char *text, const char *slash)
{
  while (slash > text && !flam_text_is_space (slash[-1]))
    slash--;
  return slash;
}

/* The start of perf's output about a sample after its stack: registers,
 * branches ("0x4c4/0x4af/P/-/-/0"), code. */
static const char *
find_details (const char *text, const char *end)
{
  static const char *const keys[] = { " ilen: ", " insn: ", " ABI:",
                                      "/P/-/",   "/M/-/",   "/-/-/" };

  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    {
      const char *found = memmem (text, end - text, keys[i], strlen (keys[i]));
      if (found != NULL)
        end = *found == '/' ? branch_before (text, found) : found;
    }
  return end;
}

gboolean
flam_script_is_detail (const char *text, const char *end)
{
  return skip_space (find_details (text, end), end) == skip_space (text, end);
}

static gboolean
belongs_to_chain (const char *text, const char *end)
{
  FlamScriptHeader header;
  FlamScriptFrame frame;
  FlamSlice line = { text, end - text };
  guint64 lost;

  if (*text == '\t' || flam_script_is_chain_line (text, end) ||
      skip_space (text, end) == end || flam_script_is_detail (text, end))
    return TRUE;
  if (*text == '#' || flam_script_parse_record (text, end - text, &lost))
    return FALSE;
  if (flam_script_parse_header (text, end - text, &header) && header.certain)
    return FALSE;
  return flam_script_is_source_line (text, end) ||
         flam_script_parse_frame (line, &frame);
}

const char *
flam_script_chain_end (const char *p, const char *end, gboolean *cut)
{
  const char *newline;

  for (; (newline = memchr (p, '\n', end - p)) != NULL; p = newline + 1)
    {
      const char *stop =
          newline > p && newline[-1] == '\r' ? newline - 1 : newline;
      if (stop == p || !belongs_to_chain (p, stop))
        return p;
    }
  *cut = TRUE;
  return p < end && belongs_to_chain (p, end) ? end : p;
}

/* --- a line of the call chain -------------------------------------------- */

/* After the offset in a symbol, or in place of one: "main+0x4 (". */
static const char *
find_symbol_end (const char *start, const char *end)
{
  static const char unknown[] = "[unknown] ";
  const char *p = start;

  if ((gsize)(end - start) > strlen (unknown) &&
      memcmp (start, unknown, strlen (unknown)) == 0)
    return start + strlen (unknown);
  while ((p = memmem (p, end - p, "+0x", 3)) != NULL)
    {
      for (p += 3; p < end && g_ascii_isxdigit (*p);)
        p++;
      if (end - p > 1 && p[0] == ' ' && p[1] == '(')
        return p + 1;
    }
  return NULL;
}

/* The start of the path in a last pair of parentheses, which may itself contain
 * some: "main+0x4 (/opt/Program Files (x86)/app.exe)". */
static const char *
find_module (const char *start, const char *end)
{
  const char *stop = end - 1;
  const char *after = find_symbol_end (start, end);
  guint open = 1;

  if (after != NULL && *after == '(')
    return after + 1;
  if (flam_slice_ends ((FlamSlice){ start, end - start }, " (deleted))"))
    stop = end - strlen (" (deleted))");
  for (const char *p = stop; p > start; p--)
    {
      open += p[-1] == ')';
      open -= p[-1] == '(';
      if (open == 0 && (p - 1 == start || flam_text_is_space (p[-2])))
        return p;
      if (open == 0)
        break;
    }
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

/* "nest.c:13", "nest.c:9 (inlined)", "libc.so.6[27b25]" (line unknown). */
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
  const char *line_end =
      find_details (text.text, first_end != NULL ? first_end : end);
  const char *p = skip_space (text.text, line_end);
  FlamSlice rest;

  memset (frame, 0, sizeof *frame);
  if (!flam_text_hex (&p, line_end, &frame->address) ||
      (p < line_end && !flam_text_is_space (*p) && *p != '\r'))
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
      /* A line that was truncated in its module's path. */
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
