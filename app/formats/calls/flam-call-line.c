/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-call-line.h"

#include "flam-amount.h"

#include <string.h>

#define SECOND G_GINT64_CONSTANT (1000000000)
/* A number of seconds above it is since 1970; one below it may be an id. */
#define DATES 100000000

static FlamSlice
skip_spaces (FlamSlice text)
{
  while (text.length > 0 && flam_text_is_space (*text.text))
    text = flam_slice_from (text, 1);
  return text;
}

/* --- head ---------------------------------------------------------------- */

/* "4711", "4711<sh>", "1764198000.123456", "12:00:01.123456" before a space. */
typedef struct
{
  gint64 number; /* -1: it is a time */
  FlamSlice comm;
  gint64 time; /* -1: it is a number */
  gboolean clock;
  gsize length; /* with the spaces after it; 0: it is neither */
} Word;

static gint64
clock_time (FlamSlice word)
{
  const char *p = word.text, *end = word.text + word.length;
  gint64 hours, minutes, rest;

  if (!flam_text_number (&p, end, &hours) || hours > 99 || p == end ||
      *p++ != ':' || !flam_text_number (&p, end, &minutes) || minutes > 59 ||
      p == end || *p++ != ':' || !flam_amount_number (&p, end, SECOND, &rest) ||
      p != end || rest > 61 * SECOND)
    return -1;
  return (hours * 60 + minutes) * 60 * SECOND + rest;
}

/* "4711<my program> " */
static gsize
parse_comm (FlamSlice text, gsize open, Word *word)
{
  gsize close = flam_slice_find (text, ">");

  if (close == text.length ||
      !flam_slice_number ((FlamSlice){ text.text, open }, &word->number))
    return 0;
  word->comm = (FlamSlice){ text.text + open + 1, close - open - 1 };
  return close + 1;
}

static Word
parse_word (FlamSlice text)
{
  Word word = { .number = -1, .time = -1, .comm = { "", 0 } };
  FlamSlice own = { text.text, flam_slice_find (text, " ") };
  const char *p = own.text, *end = own.text + own.length;
  gsize comm = flam_slice_find (own, "<");

  if (own.length == text.length || own.length == 0 || !flam_text_is_digit (*p))
    return word;
  if (comm < own.length)
    own.length = parse_comm (text, comm, &word);
  else if (memchr (p, ':', own.length) != NULL)
    {
      word.time = clock_time (own);
      word.clock = TRUE;
    }
  else if (memchr (p, '.', own.length) == NULL)
    flam_slice_number (own, &word.number);
  else if (!flam_amount_number (&p, end, SECOND, &word.time) || p != end)
    word.time = -1;
  if (word.number >= 0 || word.time >= 0)
    word.length =
        skip_spaces (flam_slice_from (text, own.length)).text - text.text;
  return word;
}

/* "[pid  4711] " or, with -Y, "[pid 4711<sh>] " */
static FlamSlice
take_pid (FlamSlice line, FlamCallHead *head)
{
  gsize close = flam_slice_find (line, "] ");
  FlamSlice id;
  Word word;

  if (!flam_slice_begins (line, "[pid ") || close == line.length)
    return line;
  id = skip_spaces (flam_slice_from (line, strlen ("[pid ")));
  word.number = -1;
  if (id.text < line.text + close)
    {
      id.length = line.text + close - id.text;
      word.comm = (FlamSlice){ "", 0 };
      if (!flam_slice_number (id, &word.number) &&
          parse_comm (id, flam_slice_find (id, "<"), &word) == 0)
        word.number = -1;
    }
  if (word.number < 0)
    return line;
  head->id = word.number;
  head->comm = word.comm;
  return skip_spaces (flam_slice_from (line, close + 2));
}

/* The address of -i and the number of -n: "[00007f31a8a0b9ed] ". */
static FlamSlice
skip_brackets (FlamSlice line)
{
  gsize close = flam_slice_find (line, "] ");

  if (!flam_slice_begins (line, "[") || close == line.length)
    return line;
  for (gsize i = 1; i < close; i++)
    if (!g_ascii_isxdigit (line.text[i]) && line.text[i] != ' ')
      return line;
  return skip_spaces (flam_slice_from (line, close + 2));
}

void
flam_call_head_parse (FlamSlice line, FlamCallHead *head)
{
  Word word;

  *head = (FlamCallHead){ .id = -1, .time = -1, .comm = { "", 0 } };
  line = take_pid (skip_spaces (line), head);
  word = parse_word (line);
  if (word.number >= 0 && head->id < 0)
    {
      Word next = parse_word (flam_slice_from (line, word.length));

      /* A plain number is a time if it is too large for an id. */
      if (next.length > 0 || word.number < DATES || word.comm.length > 0)
        {
          head->id = word.number;
          head->comm = word.comm;
          line = flam_slice_from (line, word.length);
          word = next;
        }
    }
  if (word.number >= DATES && word.number <= G_MAXINT64 / SECOND)
    word.time = word.number * SECOND;
  if (word.length > 0 && word.time >= 0)
    {
      head->time = word.time;
      head->date = !word.clock && word.time >= DATES * SECOND;
      head->relative = !word.clock && !head->date;
      line = flam_slice_from (line, word.length);
    }
  head->rest = skip_brackets (line);
}

/* --- call ---------------------------------------------------------------- */

#define UNFINISHED "<unfinished ...>"
#define DETACHED "<detached ...>"
#define NO_RETURN "<no return ...>"
#define RESUMED " resumed>"

/* Cuts "<0.000012>" off the end. */
static gint64
take_duration (FlamSlice *text)
{
  gsize open = flam_slice_find_last (*text, "<");
  FlamSlice inner;
  const char *p;
  gint64 duration;

  if (open == text->length || !flam_slice_ends (*text, ">"))
    return -1;
  inner = flam_slice_from (*text, open + 1);
  inner.length--;
  p = inner.text;
  if (inner.length == 0 || !flam_text_is_digit (*p) ||
      !flam_amount_number (&p, p + inner.length, SECOND, &duration) ||
      p != inner.text + inner.length)
    return -1;
  *text = flam_slice_trim (text->text, text->text + open);
  return duration;
}

/* The "=" of the result: after a ")" and spaces. */
static gsize
find_result (FlamSlice text)
{
  for (gsize i = text.length; i-- > 1;)
    if (text.text[i] == '=' && text.text[i - 1] == ' ' &&
        (i + 1 == text.length || text.text[i + 1] == ' '))
      {
        gsize k = i;

        while (k > 0 && text.text[k - 1] == ' ')
          k--;
        if (k > 0 && text.text[k - 1] == ')')
          return i;
      }
  return text.length;
}

static gboolean
is_name (FlamSlice name)
{
  if (name.length == 0 || flam_text_is_digit (*name.text))
    return FALSE;
  for (gsize i = 0; i < name.length; i++)
    if (!g_ascii_isalnum (name.text[i]) &&
        strchr ("_.-@>:~$?+", name.text[i]) == NULL)
      return FALSE;
  return TRUE;
}

static gboolean
cut_end (FlamSlice *text, const char *end)
{
  if (!flam_slice_ends (*text, end))
    return FALSE;
  text->length -= strlen (end);
  *text = flam_slice_strip (*text);
  return TRUE;
}

/* "name(" */
static gboolean
take_name (FlamSlice *text, FlamCallLine *call)
{
  gsize open = flam_slice_find (*text, "(");

  if (open == text->length)
    return FALSE;
  call->name = (FlamSlice){ text->text, open };
  *text = flam_slice_from (*text, open + 1);
  return is_name (call->name);
}

/* "<... name resumed>" */
static gboolean
take_resumed (FlamSlice *text, FlamCallLine *call)
{
  gsize at = flam_slice_find (*text, RESUMED);

  if (at == text->length || at < 5)
    return FALSE;
  call->part = FLAM_CALL_RESUMED;
  call->name = (FlamSlice){ text->text + 5, at - 5 };
  *text = flam_slice_from (*text, at + strlen (RESUMED));
  return is_name (call->name);
}

gboolean
flam_call_line_begun (FlamSlice text, FlamCallLine *call)
{
  *call = (FlamCallLine){ .part = FLAM_CALL_BEGUN,
                          .duration = -1,
                          .result = { "", 0 } };
  if (!take_name (&text, call))
    return FALSE;
  call->arguments = text;
  return TRUE;
}

/* ") = 1" */
static gboolean
take_result (FlamSlice text, FlamCallLine *call)
{
  gsize at = find_result (text);

  if (at == text.length)
    return FALSE;
  call->result = flam_slice_strip (flam_slice_from (text, at + 1));
  call->arguments = flam_slice_strip ((FlamSlice){ text.text, at });
  cut_end (&call->arguments, ")");
  if (call->duration < 0 && flam_slice_begins (call->result, "?"))
    call->part = FLAM_CALL_DEPARTED;
  return TRUE;
}

gboolean
flam_call_line_ended (FlamSlice text, FlamSlice name, FlamCallLine *call)
{
  text = flam_slice_strip (text);
  *call = (FlamCallLine){ .part = FLAM_CALL_RESUMED,
                          .name = name,
                          .duration = take_duration (&text) };
  return take_result (text, call);
}

gboolean
flam_call_line_parse (FlamSlice text, FlamCallLine *call)
{
  text = flam_slice_strip (text);
  *call =
      (FlamCallLine){ .duration = take_duration (&text), .result = { "", 0 } };
  if (flam_slice_begins (text, "<... ") ? !take_resumed (&text, call)
                                        : !take_name (&text, call))
    return FALSE;
  if (call->part == FLAM_CALL_WHOLE)
    {
      if (cut_end (&text, UNFINISHED) || cut_end (&text, DETACHED))
        call->part = FLAM_CALL_BEGUN;
      else if (cut_end (&text, NO_RETURN))
        call->part = FLAM_CALL_DEPARTED;
    }
  call->arguments = text;
  return call->part == FLAM_CALL_BEGUN || call->part == FLAM_CALL_DEPARTED ||
         take_result (text, call);
}

/* --- probe --------------------------------------------------------------- */

/* Names that begin nearly every output of strace. */
static gboolean
is_system_call (FlamSlice name)
{
  static const char *const all[] = {
    "execve",  "brk",        "mmap",   "openat",          "newfstatat",
    "futex",   "exit_group", "clone3", "rt_sigprocmask",  "rt_sigaction",
    "ppoll",   "epoll_wait", "fstat",  "clock_nanosleep", "restart_syscall",
    "pread64", "pselect6",   "wait4",
  };

  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    if (flam_slice_is (name, all[i]))
      return TRUE;
  return FALSE;
}

guint
flam_call_lines_score (const FlamSource *source, gboolean ltrace)
{
  guint calls = 0, others = 0, of_ltrace = 0, of_strace = 0;

  flam_text_each_of_head (source, line)
    {
      FlamCallHead head;
      FlamCallLine call;

      if (flam_slice_begins (line, " > ") || line.length == 0)
        continue;
      flam_call_head_parse (line, &head);
      if (flam_slice_begins (head.rest, "+++ exited (status"))
        of_ltrace++;
      else if (flam_slice_begins (head.rest, "+++ exited with"))
        of_strace++;
      else if (flam_slice_begins (head.rest, "--- SIG"))
        of_strace += flam_slice_find (head.rest, " {") < head.rest.length;
      else if (!flam_call_line_parse (head.rest, &call))
        others++;
      else
        {
          /* Without -T both have only names and results, as other texts may. */
          calls += call.duration >= 0 || call.part != FLAM_CALL_WHOLE ||
                   head.time >= 0;
          of_ltrace += flam_slice_begins (call.name, "SYS_") ||
                       flam_slice_find (call.name, "->") < call.name.length ||
                       flam_slice_find (call.name, "@") < call.name.length ||
                       flam_slice_is (call.result, "<void>");
          of_strace += is_system_call (call.name) ||
                       flam_slice_begins (call.result, "-1 E") ||
                       flam_slice_begins (call.result, "?");
        }
    }
  if (calls == 0 || calls < others)
    return 0;
  return ltrace == (of_ltrace > 0 || of_strace == 0) ? 80 : 0;
}
