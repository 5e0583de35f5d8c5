/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The names of threads of CPython 3.7, 3.10, 3.11, 3.12 and 3.13, in memory
 * made by hand and in memory that lies. The offsets are those that the compiler
 * has of these versions. */

#include "flam-python-tasks.h"
#include "flam-python-threads.h"

#include <glib.h>
#include <string.h>

#define BASE 0x10000ull
#define SIZE 0x10000u

#include "fake-memory.h"

#define RUNTIME BASE
#define INTERPRETER (BASE + 0x1000)
#define MODULES (BASE + 0x2000)
#define MODULE (BASE + 0x3000)
#define CONTENT (BASE + 0x4000)
#define ACTIVE (BASE + 0x5000)
#define TYPE (BASE + 0x6000)
#define THREAD(i) (BASE + 0x7000 + 0x1000 * (i))
#define BLOCK(i) (THREAD (i) + 0x800) /* of the C library */
#define TEXTS (BASE + 0xa000)

static const FlamPythonLayout layouts[] = {
  { .version = 0x03070000,
    .runtime_interpreters = 24,
    .interpreter_modules = 40,
    .text_ascii = 48,
    .text_compact = 72 },
  { .version = 0x030a0000,
    .runtime_interpreters = 32,
    .interpreter_modules = 856,
    .text_ascii = 48,
    .text_compact = 72 },
  { .version = 0x030b0000,
    .runtime_interpreters = 40,
    .interpreter_modules = 888,
    .type_keys = 872,
    .text_ascii = 48,
    .text_compact = 72 },
  { .version = 0x030c0000,
    .runtime_interpreters = 40,
    .interpreter_modules = 944,
    .type_keys = 880,
    .text_ascii = 40,
    .text_compact = 56 },
  { .version = 0x030d0000,
    .runtime_interpreters = 632,
    .interpreter_next = 1264,
    .interpreter_modules = 656,
    .type_keys = 880,
    .text_ascii = 40,
    .text_compact = 56 },
};

static guint64
text (Fake *fake, const FlamPythonLayout *layout, const char *content)
{
  guint64 address = TEXTS + 0x80 * fake->texts++;

  put (fake, address + 16, strlen (content));
  put (fake, address + 32, 1 << 2 | 32 | 64);
  memcpy (fake->bytes + (address - BASE) + layout->text_ascii,
          content,
          strlen (content));
  return address;
}

static guint64
number (Fake *fake, const FlamPythonLayout *layout, guint32 value)
{
  guint64 address = TEXTS + 0x80 * fake->texts++;

  put (fake, address + 16, layout->version >= 0x030c0000 ? 1 << 3 : 1);
  put (fake, address + 24, value);
  return address;
}

/* The keys of a dictionary with room for 8, and where its first entry is. */
static guint64
put_keys (Fake *fake, const FlamPythonLayout *layout, guint64 keys, guint n)
{
  if (layout->version < 0x030b0000)
    {
      put (fake, keys + 8, 8);
      put (fake, keys + 32, n);
      return keys + 40 + 8;
    }
  put (fake, keys + 8, 3 | 3 << 8 | 1 << 16);
  put (fake, keys + 24, n);
  return keys + 32 + 8;
}

static void
put_entry (Fake *fake,
           const FlamPythonLayout *layout,
           guint64 first,
           guint i,
           guint64 key,
           guint64 value)
{
  gboolean old = layout->version < 0x030b0000;

  put (fake, first + i * (old ? 24 : 16) + (old ? 8 : 0), key);
  put (fake, first + i * (old ? 24 : 16) + (old ? 16 : 8), value);
}

/* A dictionary whose values are with its keys. */
static guint64
put_dict (Fake *fake, const FlamPythonLayout *layout, guint64 dict, guint n)
{
  put (fake, dict + 32, dict + 0x100);
  return put_keys (fake, layout, dict + 0x100, n);
}

/* Two attributes: keys in the type, values where each version has them. */
static void
put_thread (Fake *fake,
            const FlamPythonLayout *layout,
            guint i,
            const char *name)
{
  guint64 thread = THREAD (i) + 0x100, keys = TYPE + 0x800, values;
  guint64 first = put_keys (fake, layout, keys, 2);
  gboolean is_3_7 = layout->version < 0x03080000;
  const char *id = is_3_7 ? "_ident" : "_native_id";

  /* One of glibc, and one of musl. */
  put (fake, BLOCK (i), BLOCK (i));
  put (fake, BLOCK (i) + 16, i == 1 ? BLOCK (i) : 0);
  put (fake, BLOCK (i) + (i == 1 ? 720 : 48), 100 + i);

  put (fake, thread + 8, TYPE);
  put (fake, TYPE + 32, 16);
  put (fake, TYPE + 168, 1 << 2 | 1 << 4);
  if (layout->version < 0x030b0000)
    {
      put (fake, TYPE + 288, 16);
      put (fake, thread + 16, thread + 0x100);
      put (fake, thread + 0x100 + 32, keys);
      put (fake, thread + 0x100 + 40, values = thread + 0x200);
    }
  else if (layout->version < 0x030c0000)
    put (fake, thread - 32, values = thread + 0x200);
  else if (layout->version < 0x030d0000)
    put (fake, thread - 24, (values = thread + 0x200) - 1);
  else
    values = thread + 16 + 8;
  if (layout->type_keys != 0)
    put (fake, TYPE + layout->type_keys, keys);
  if (i == 0)
    {
      put_entry (fake, layout, first, 0, text (fake, layout, id), 0);
      put_entry (fake, layout, first, 1, text (fake, layout, "_name"), 0);
    }
  put (fake,
       values,
       number (fake, layout, is_3_7 ? (guint32)BLOCK (i) : 100 + i));
  put (fake, values + 8, text (fake, layout, name));
}

static void
fill (Fake *fake, const FlamPythonLayout *layout)
{
  guint64 first;

  put (fake, RUNTIME + layout->runtime_interpreters, INTERPRETER);
  put (fake, INTERPRETER + layout->interpreter_modules, MODULES);
  first = put_dict (fake, layout, MODULES, 3);
  put_entry (fake, layout, first, 0, text (fake, layout, "threads"), BASE);
  put_entry (fake, layout, first, 2, text (fake, layout, "threading"), MODULE);
  put (fake, MODULE + 16, CONTENT);
  first = put_dict (fake, layout, CONTENT, 1);
  put_entry (fake, layout, first, 0, text (fake, layout, "_active"), ACTIVE);
  first = put_dict (fake, layout, ACTIVE, 3);
  for (guint i = 0; i < 3; i++)
    {
      static const char *const names[] = { "MainThread",
                                           "reader",
                                           "Thread-2 (work)" };

      put_entry (
          fake, layout, first, i, number (fake, layout, i), THREAD (i) + 0x100);
      put_thread (fake, layout, i, names[i]);
    }
}

static void
take (void *data, uint32_t tid, const char *name)
{
  g_assert_true (g_utf8_validate (name, -1, NULL));
  g_string_append_printf (data, "%u %s, ", tid, name);
}

static char *
names_in (Fake *fake, const FlamPythonLayout *layout)
{
  FlamRuntimeMemory memory = { read_fake, fake };
  FlamRuntimeName *scratch = flam_runtime_name_new ();
  GString *names = g_string_new (NULL);

  fake->reads = 0;
  flam_python_name_threads (layout, &memory, RUNTIME, scratch, take, names);
  g_assert_cmpuint (fake->reads, <=, 200000);
  g_free (scratch);
  return g_string_free (names, FALSE);
}

/* The current task of a thread, in memory that is full of lies. */
static void
name_task (Fake *fake, const FlamPythonLayout *layout)
{
  FlamRuntimeMemory memory = { read_fake, fake };
  FlamRuntimeName *name = flam_runtime_name_new ();
  FlamPythonLoop loop = { 0 };
  uint64_t task, cookie;

  fake->reads = 0;
  for (gint64 now = 0; now < 3; now++)
    if (flam_python_current_task (layout,
                                  &memory,
                                  ACTIVE,
                                  101,
                                  now * 200000000,
                                  &loop,
                                  &task,
                                  &cookie))
      {
        flam_runtime_name_clear (name);
        flam_python_name_task (layout, &memory, task, cookie, name);
        g_assert_cmpuint (name->n, <=, 2);
      }
  flam_python_find_tasks (layout, &memory, RUNTIME);
  g_assert_cmpuint (fake->reads, <=, 220000);
  g_free (name);
}

static void
test_names (gconstpointer layout)
{
  g_autofree Fake *fake = g_new0 (Fake, 1);
  g_autofree char *names = NULL;

  fill (fake, layout);
  names = names_in (fake, layout);
  g_assert_cmpstr (names, ==, "101 reader, 102 Thread-2 (work), ");
}

/* Each word in turn is replaced by another one, or by the address of a
 * structure. */
static void
test_lies (gconstpointer layout)
{
  static const guint64 lies[] = { 0,       1,        G_MAXUINT64, 0xffff,
                                  MODULES, TYPE - 1, THREAD (1) };
  g_autofree Fake *truth = g_new0 (Fake, 1);
  g_autofree Fake *fake = g_new0 (Fake, 1);

  fill (truth, layout);
  for (guint i = 0; i < SIZE / 8; i++)
    for (guint j = 0; j < G_N_ELEMENTS (lies); j++)
      {
        guint64 value;

        memcpy (&value, truth->bytes + 8 * i, sizeof value);
        if (value == 0)
          break;
        memcpy (fake, truth, sizeof *fake);
        put (fake, BASE + 8 * i, lies[j]);
        g_free (names_in (fake, layout));
        name_task (fake, layout);
      }
}

/* Noise that is full of addresses. */
static void
test_noise (gconstpointer layout)
{
  g_autofree Fake *fake = g_new0 (Fake, 1);

  for (guint round = 0; round < 20; round++)
    {
      for (guint i = 0; i < SIZE / 8; i++)
        put (fake,
             BASE + 8 * i,
             g_test_rand_int_range (0, 3) > 0
                 ? BASE + (guint64)g_test_rand_int_range (0, SIZE / 8) * 8
                 : (guint64)g_test_rand_int_range (0, 256));
      g_free (names_in (fake, layout));
      name_task (fake, layout);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (layouts); i++)
    {
      guint minor = layouts[i].version >> 16 & 0xff;
      g_autofree char *names = g_strdup_printf ("/python-threads/3.%u", minor);
      g_autofree char *lies = g_strdup_printf ("%s/lies", names);
      g_autofree char *noise = g_strdup_printf ("%s/noise", names);

      g_test_add_data_func (names, &layouts[i], test_names);
      g_test_add_data_func (lies, &layouts[i], test_lies);
      g_test_add_data_func (noise, &layouts[i], test_noise);
    }
  return g_test_run ();
}
