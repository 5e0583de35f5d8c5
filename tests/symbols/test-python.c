/* SPDX-License-Identifier: GPL-3.0-or-later */

/* An interpreter's memory, made by hand; and invalid memory. */

#include "flam-python.h"

#include <string.h>

#define BASE 0x10000ull
#define SIZE 0x4000u
#define RUNTIME BASE
#define INTERPRETER (BASE + 0x1000)
#define THREAD_A (BASE + 0x1400)
#define THREAD_B (BASE + 0x1600)
#define CFRAMES (BASE + 0x1800)
#define FRAMES (BASE + 0x2000)
#define CODES (BASE + 0x3000)
#define TEXT (BASE + 0x3800)

typedef struct
{
  guint8 bytes[SIZE];
  guint reads;
} Fake;

static bool
read_fake (void *data, uint64_t address, void *to, size_t size)
{
  Fake *fake = data;

  fake->reads++;
  if (address < BASE || address > BASE + SIZE || size > BASE + SIZE - address)
    return false;
  memcpy (to, fake->bytes + (address - BASE), size);
  return true;
}

static void
put (Fake *fake, guint64 address, guint64 value)
{
  memcpy (fake->bytes + (address - BASE), &value, sizeof value);
}

static void
put_byte (Fake *fake, guint64 address, guint8 value)
{
  fake->bytes[address - BASE] = value;
}

/* --- layouts ------------------------------------------------------------- */

/* _Py_DebugOffsets of 3.13.0 and of 3.14, as far as they are used. */
static void
fill_offsets (guint64 words[FLAM_PYTHON_DEBUG_OFFSETS_SIZE / 8],
              guint32 version)
{
  gboolean late = version >= 0x030e0000;
  guint thread = late ? 22 : 19, frame = late ? 31 : 28;
  guint code = late ? 39 : 34, text = late ? 77 : 67;

  memset (words, 0, FLAM_PYTHON_DEBUG_OFFSETS_SIZE);
  memcpy (words, "xdebugpy", 8);
  words[1] = version;
  words[3 + 2] = 632;
  words[6 + 2] = 720;
  words[6 + 3] = 728;
  words[thread + 2] = 8;
  words[thread + 4] = 72;
  words[thread + 6] = 160;
  words[frame + 1] = 8;
  words[frame + 2] = 0;
  words[frame + 3] = 56;
  words[frame + 5] = late ? 74 : 70;
  words[code + 1] = 112;
  words[code + 3] = 128;
  words[code + 4] = 136;
  words[code + 5] = 68;
  words[code + 9] = late ? 208 : 200;
  words[text + 3] = 40;
}

static void
layout_of (FlamPythonLayout *layout, guint32 version)
{
  guint64 words[FLAM_PYTHON_DEBUG_OFFSETS_SIZE / 8];

  fill_offsets (words, version);
  g_assert_null (flam_python_layout_init (
      layout, version, version >= 0x030d0000 ? words : NULL, sizeof words));
}

static void
test_layouts (void)
{
  FlamPythonLayout layout;
  guint64 words[FLAM_PYTHON_DEBUG_OFFSETS_SIZE / 8];

  layout_of (&layout, 0x030d00f0);
  g_assert_cmpint (layout.thread_frame, ==, 72);
  g_assert_cmpint (layout.frame_owner, ==, 70);
  layout_of (&layout, 0x030e00f0);
  g_assert_cmpint (layout.frame_owner, ==, 74);
  g_assert_cmpint (layout.code_instructions, ==, 208);

  g_assert_nonnull (flam_python_layout_init (&layout, 0x030a0df0, NULL, 0));
  g_assert_nonnull (flam_python_layout_init (&layout, 0, NULL, 0));
  fill_offsets (words, 0x030f0000);
  g_assert_nonnull (flam_python_layout_init (&layout, 0, words, sizeof words));
  fill_offsets (words, 0x030d0000);
  words[2] = 1;
  g_assert_cmpstr (flam_python_layout_init (&layout, 0, words, sizeof words),
                   ==,
                   "it is a free-threaded build");
  for (guint i = 0; i < 4000; i++)
    {
      fill_offsets (words, i % 2 ? 0x030d0000 : 0x030e0000);
      for (guint j = 0; j < 3; j++)
        words[g_test_rand_int_range (3, G_N_ELEMENTS (words))] =
            g_test_rand_bit () ? (guint64)g_test_rand_int ()
                               : (guint64)g_test_rand_int_range (0, 300);
      if (flam_python_layout_init (&layout, 0, words, sizeof words) == NULL)
        {
          g_assert_cmpint (layout.code_lines - layout.code_first_line, <=, 72);
        }
    }
}

/* --- frames -------------------------------------------------------------- */

static void
put_frame (Fake *fake,
           const FlamPythonLayout *layout,
           guint i,
           guint64 code,
           guint64 place,
           guint owner,
           guint64 previous)
{
  guint64 frame = FRAMES + i * 0x80;

  put (fake, frame + layout->frame_code, code);
  put (fake, frame + layout->frame_instruction, place);
  put (fake, frame + layout->frame_previous, previous);
  put_byte (fake, frame + layout->frame_owner, (guint8)owner);
}

/* Two threads; A runs "2 < 1 < 0", of which 1 and 0 share a native frame. */
static void
fill (Fake *fake, const FlamPythonLayout *layout)
{
  gboolean early = layout->version < 0x030c0000;
  guint64 entry = early ? 0 : 1;

  memset (fake, 0, sizeof *fake);
  put (fake, RUNTIME + layout->runtime_interpreters, INTERPRETER);
  put (fake, INTERPRETER + layout->interpreter_threads, THREAD_B);
  put (fake, THREAD_B + layout->thread_next, THREAD_A);
  put (fake, THREAD_A + layout->thread_native_id, 77);
  put (fake, THREAD_B + layout->thread_native_id, 78);
  for (guint i = 0; i < 3; i++)
    put_frame (fake,
               layout,
               2 * i,
               CODES + i * 0x100,
               CODES + i * 0x100 + layout->code_instructions + 2 * i,
               0,
               i > 0 ? FRAMES + (2 * i - 1 - (i == 1)) * 0x80 : 0);
  if (entry)
    {
      /* frame 1 is 2's entry, frame 6 that of 0. */
      put_frame (fake, layout, 3, 0, 0, 3, FRAMES + 2 * 0x80);
      put_frame (fake, layout, 6, 0, 0, 3, 0);
      put (fake, FRAMES + layout->frame_previous, FRAMES + 6 * 0x80);
    }
  else
    {
      put (fake, FRAMES + 4 * 0x80 + layout->frame_previous, FRAMES + 2 * 0x80);
      put_byte (fake, FRAMES + 4 * 0x80 + layout->frame_owner - 1, 1);
      put_byte (fake, FRAMES + layout->frame_owner - 1, 1);
    }
  if (layout->version < 0x030d0000)
    {
      put (fake, THREAD_A + layout->thread_frame, CFRAMES);
      put (fake, CFRAMES + layout->cframe_frame, FRAMES + 4 * 0x80);
      put (fake, CFRAMES + layout->cframe_frame + 8, CFRAMES + 0x40);
    }
  else
    put (fake, THREAD_A + layout->thread_frame, FRAMES + 4 * 0x80);
}

static void
test_walk (gconstpointer data)
{
  FlamPythonLayout layout;
  g_autofree Fake *fake = g_new0 (Fake, 1);
  FlamRuntimeMemory memory = { read_fake, fake };
  FlamPythonFrame frames[8];
  guint64 threads[2] = { 0 };
  gboolean early;

  layout_of (&layout, GPOINTER_TO_UINT (data));
  early = layout.version < 0x030c0000;
  fill (fake, &layout);
  g_assert_cmpuint (
      flam_python_find_threads (&layout, &memory, RUNTIME, 77, threads, 2),
      ==,
      1);
  g_assert_cmphex (threads[0], ==, THREAD_A);
  g_assert_cmpuint (
      flam_python_find_threads (&layout, &memory, RUNTIME, 79, threads, 2),
      ==,
      0);
  g_assert_cmpuint (
      flam_python_walk (&layout, &memory, THREAD_A, frames, 8), ==, 5);
  g_assert_cmphex (frames[0].code, ==, CODES + 0x200);
  g_assert_cmphex (
      frames[0].pc, ==, CODES + 0x200 + layout.code_instructions + 4);
  g_assert_cmphex (frames[1].code, ==, 0);
  g_assert_cmphex (frames[1].pc, ==, early ? CFRAMES : FRAMES + 3 * 0x80);
  g_assert_cmphex (frames[2].code, ==, CODES + 0x100);
  g_assert_cmphex (frames[3].code, ==, CODES);
  g_assert_cmphex (frames[4].code, ==, 0);
  g_assert_cmphex (
      frames[4].pc, ==, early ? CFRAMES + 0x40 : FRAMES + 6 * 0x80);
  g_assert_cmpuint (
      flam_python_walk (&layout, &memory, THREAD_A, frames, 3), ==, 3);
}

/* A chain, and a list of threads, without an end. */
static void
test_loops (gconstpointer data)
{
  FlamPythonLayout layout;
  g_autofree Fake *fake = g_new0 (Fake, 1);
  FlamRuntimeMemory memory = { read_fake, fake };
  g_autofree FlamPythonFrame *frames = g_new (FlamPythonFrame, 100000);
  guint64 threads[2];

  layout_of (&layout, GPOINTER_TO_UINT (data));
  fill (fake, &layout);
  put (fake, FRAMES + layout.frame_previous, FRAMES + 2 * 0x80);
  g_assert_cmpuint (
      flam_python_walk (&layout, &memory, THREAD_A, frames, 100000), <, 100);
  put (fake, THREAD_A + layout.thread_next, THREAD_B);
  put (fake, INTERPRETER + layout.interpreter_next, INTERPRETER);
  fake->reads = 0;
  flam_python_find_threads (&layout, &memory, RUNTIME, 79, threads, 2);
  g_assert_cmpuint (fake->reads, <, 20000);
}

/* Garbage is read within bounds. */
static void
test_garbage (gconstpointer data)
{
  FlamPythonLayout layout;
  g_autofree Fake *fake = g_new0 (Fake, 1);
  FlamRuntimeMemory memory = { read_fake, fake };
  FlamPythonFrame frames[64];
  guint64 threads[4];
  char text[64];
  guint8 bytes[64];

  layout_of (&layout, GPOINTER_TO_UINT (data));
  for (guint round = 0; round < 3000; round++)
    {
      fill (fake, &layout);
      for (guint i = 0; i < 1 + round % 40; i++)
        {
          guint64 at = BASE + (guint64)g_test_rand_int_range (0, SIZE - 8);
          guint64 value = BASE + (guint64)g_test_rand_int_range (0, SIZE);
          if (g_test_rand_bit ())
            put (
                fake, at & ~7ull, value & (g_test_rand_bit () ? ~7ull : ~0ull));
          else
            put_byte (fake, at, (guint8)value);
        }
      fake->reads = 0;
      flam_python_find_threads (&layout, &memory, RUNTIME, 77, threads, 4);
      g_assert_cmpuint (
          flam_python_walk (&layout, &memory, THREAD_A, frames, 64), <=, 64);
      for (guint i = 0; i < 20; i++)
        {
          guint64 object = BASE + (guint64)g_test_rand_int_range (0, SIZE);
          if (flam_python_text (&layout, &memory, object, text, sizeof text))
            g_assert_true (g_utf8_validate (text, -1, NULL));
          g_assert_cmpuint (
              flam_python_bytes (&memory, object, bytes, sizeof bytes), <=, 64);
        }
      g_assert_cmpuint (fake->reads, <, 30000);
    }
}

/* --- strings ------------------------------------------------------------- */

/* sizeof (PyASCIIObject) and sizeof (PyCompactUnicodeObject), as gdb has them
 * in 3.11.7, 3.12.1 and 3.13.0. */
static gsize
text_at (guint32 version, gboolean ascii)
{
  if (version < 0x030c0000)
    return ascii ? 48 : 72;
  return ascii ? 40 : 56;
}

static void
put_text (Fake *fake,
          const FlamPythonLayout *layout,
          guint kind,
          gboolean ascii,
          const void *data,
          guint length)
{
  put (fake, TEXT + 16, length);
  put (fake, TEXT + 32, 1 | kind << 2 | 32 | (ascii ? 64 : 0));
  memcpy (fake->bytes + (TEXT - BASE) + text_at (layout->version, ascii),
          data,
          (gsize)length * kind);
}

static void
test_text (gconstpointer data)
{
  FlamPythonLayout layout;
  g_autofree Fake *fake = g_new0 (Fake, 1);
  FlamRuntimeMemory memory = { read_fake, fake };
  const guint16 wide[] = { 'f', 0x20ac, 0xd800 };
  const guint32 wider[] = { 0x1f40d, 'x' };
  char text[64], small[8];

  layout_of (&layout, GPOINTER_TO_UINT (data));
  put_text (fake, &layout, 1, TRUE, "A.method", 8);
  g_assert_true (flam_python_text (&layout, &memory, TEXT, text, sizeof text));
  g_assert_cmpstr (text, ==, "A.method");
  g_assert_true (
      flam_python_text (&layout, &memory, TEXT, small, sizeof small));
  g_assert_true (g_str_has_prefix ("A.method", small));
  put_text (fake, &layout, 1, FALSE, "m\xfc\xdf", 3);
  g_assert_true (flam_python_text (&layout, &memory, TEXT, text, sizeof text));
  g_assert_cmpstr (text, ==, "müß");
  put_text (fake, &layout, 2, FALSE, wide, 3);
  g_assert_true (flam_python_text (&layout, &memory, TEXT, text, sizeof text));
  g_assert_cmpstr (text, ==, "f€\xef\xbf\xbd");
  put_text (fake, &layout, 4, FALSE, wider, 2);
  g_assert_true (flam_python_text (&layout, &memory, TEXT, text, sizeof text));
  g_assert_cmpstr (text, ==, "🐍x");
  put_text (fake, &layout, 1, TRUE, "far", 3);
  put (fake, TEXT + 16, G_MAXINT64);
  flam_python_text (&layout, &memory, TEXT, text, sizeof text);
  put (fake, TEXT + 32, 0);
  g_assert_false (flam_python_text (&layout, &memory, TEXT, text, sizeof text));
}

/* --- lines --------------------------------------------------------------- */

/* Made by 3.11 of "def f(a):\n x = a\n\n return (x +\n  1)\n", first line 1. */
static void
test_lines (void)
{
  static const guint8 table[] = { 0x80, 0x00, 0xd8, 0x05, 0x06, 0x80,
                                  0x11, 0xe0, 0x09, 0x0a, 0xd8, 0x02,
                                  0x03, 0xf1, 0x03, 0x01, 0x0a, 0x04,
                                  0xf0, 0x00, 0x01, 0x02, 0x05 };
  static const guint lines[] = { 1, 2, 2, 4, 5, 4, 4, 4, 0 };
  guint8 random[64];

  for (guint i = 0; i < G_N_ELEMENTS (lines); i++)
    g_assert_cmpuint (
        flam_python_line (0x030b00f0, table, sizeof table, 2 * i, 1),
        ==,
        lines[i]);
  for (guint round = 0; round < 20000; round++)
    {
      gsize n = (gsize)g_test_rand_int_range (0, sizeof random + 1);
      guint32 version = 0x03080000u + (guint32)(round % 8 << 16);

      for (gsize i = 0; i < n; i++)
        random[i] =
            (guint8)(g_test_rand_int () | (g_test_rand_bit () ? 0x80u : 0));
      for (gint64 offset = -4; offset < 200; offset += 31)
        g_assert_cmpuint (
            flam_python_line (version, random, n, offset, 10), <=, G_MAXINT32);
    }
}

static void
test_flags (void)
{
  g_assert_cmpuint (flam_python_native_flags ("_PyEval_Vector"),
                    ==,
                    FLAM_FUNCTION_IRRELEVANT);
  g_assert_cmpuint (flam_python_native_flags ("cfunction_vectorcall_NOARGS"),
                    ==,
                    FLAM_FUNCTION_IRRELEVANT);
  g_assert_cmpuint (
      flam_python_native_flags ("PyImport_ImportModuleLevelObject"),
      ==,
      FLAM_FUNCTION_IMPORT | FLAM_FUNCTION_IRRELEVANT);
  g_assert_cmpuint (
      flam_python_native_flags ("list_sort"), ==, FLAM_FUNCTION_PLAIN);
  g_assert_cmpuint (
      flam_python_native_flags ("PyDict_SetItem"), ==, FLAM_FUNCTION_PLAIN);
}

int
main (int argc, char **argv)
{
  static const guint versions[] = {
    0x030b07f0, 0x030c01f0, 0x030d00f0, 0x030e00f0
  };
  static const struct
  {
    const char *name;
    GTestDataFunc run;
  } tests[] = { { "walk", test_walk },
                { "loops", test_loops },
                { "garbage", test_garbage },
                { "text", test_text } };

  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/python/layouts", test_layouts);
  for (guint t = 0; t < G_N_ELEMENTS (tests); t++)
    for (guint v = 0; v < G_N_ELEMENTS (versions); v++)
      {
        g_autofree char *path = g_strdup_printf (
            "/python/%s/3.%u", tests[t].name, versions[v] >> 16 & 0xff);
        g_test_add_data_func (
            path, GUINT_TO_POINTER (versions[v]), tests[t].run);
      }
  g_test_add_func ("/python/lines", test_lines);
  g_test_add_func ("/python/flags", test_flags);
  return g_test_run ();
}
