/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-core-profile.h"

/* The bytes are those in the documents of DWARF and Protocol Buffers. */
static void
test_bytes (void)
{
  static const struct
  {
    guint64 value;
    guint n;
    guint8 bytes[FLAM_VARINT_MAX];
  } cases[] = {
    { 0, 1, { 0x00 } },
    { 127, 1, { 0x7f } },
    { 128, 2, { 0x80, 0x01 } },
    { 150, 2, { 0x96, 0x01 } },
    { 12857, 2, { 0xb9, 0x64 } },
    { (guint64)-2,
      10,
      { 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01 } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      guint8 bytes[FLAM_VARINT_MAX];
      const guint8 *at = bytes;
      guint n = flam_varint_put (bytes, cases[i].value);
      guint64 value = 0;

      g_assert_cmpmem (bytes, n, cases[i].bytes, cases[i].n);
      g_assert_true (flam_varint_get (&at, bytes + n, &value));
      g_assert_cmpuint (value, ==, cases[i].value);
      g_assert_true (at == bytes + n);
      at = bytes;
      g_assert_false (flam_varint_get (&at, bytes + n - 1, &value));
    }
}

/* A number with unneeded bytes is still valid; one with more than 64 bits is
 * not. */
static void
test_long (void)
{
  guint8 bytes[11] = { 0x81, 0x80, 0x80, 0x80, 0x80, 0x80,
                       0x80, 0x80, 0x80, 0x01, 0x00 };
  const guint8 *at = bytes;
  guint64 value = 0;

  g_assert_true (flam_varint_get (&at, bytes + sizeof bytes, &value));
  g_assert_cmpuint (value, ==, G_GUINT64_CONSTANT (0x8000000000000001));
  for (guint last = 0x02; last <= 0x80; last <<= 1)
    {
      bytes[9] = (guint8)last;
      at = bytes;
      g_assert_false (flam_varint_get (&at, bytes + sizeof bytes, &value));
    }
}

static void
test_zigzag (void)
{
  static const gint64 values[] = { 0, -1, 1, -2, 2 };

  for (guint i = 0; i < G_N_ELEMENTS (values); i++)
    {
      g_assert_cmpuint (flam_varint_zigzag (values[i]), ==, i);
      g_assert_cmpint (flam_varint_unzigzag (i), ==, values[i]);
    }
  g_assert_cmpuint (flam_varint_zigzag (G_MININT64), ==, G_MAXUINT64);
  g_assert_cmpint (flam_varint_unzigzag (G_MAXUINT64), ==, G_MININT64);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/varint/bytes", test_bytes);
  g_test_add_func ("/varint/long", test_long);
  g_test_add_func ("/varint/zigzag", test_zigzag);
  return g_test_run ();
}
