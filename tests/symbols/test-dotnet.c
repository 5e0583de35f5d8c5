/* SPDX-License-Identifier: GPL-3.0-or-later */

/* .NET's frames and names in memory made by hand, and in memory that lies. The
 * layout of each structure is written here by its numbers, from the sources
 * that the reader's headers name. */

#include "flam-dotnet-image.h"
#include "flam-dotnet-pdb.h"
#include "flam-dotnet.h"
#include "flam-runtime-lines.h"

#define BASE 0x10000000ull
#define SIZE 0x20000u
#include "fake-memory.h"

#define TABLE 0x100u /* in the library, which is at BASE */
#define RANGES 0x200u
#define HEAP_RANGE (BASE + 0x300)
#define IMAGE_RANGE (BASE + 0x380)
#define HEAP (BASE + 0x400)
#define HEADER (BASE + 0x600)
#define CHUNK (BASE + 0x6e0)
#define METHOD (BASE + 0x700) /* the second of its chunk */
#define TYPE (BASE + 0x780)
#define MODULE (BASE + 0x900)
#define MAP (BASE + 0x1000)
#define DESCRIPTOR 0x1800u
#define JSON (BASE + 0x1900)
#define TREE (BASE + 0x2000)
#define FRAGMENT (BASE + 0x5000)
#define CODE (BASE + 0x6000)
#define WORK (CODE + 0x144)
#define INFO (CODE + 0x800)
#define IMAGE (BASE + 0x8000)
#define METADATA (IMAGE + 0x500)
#define STRINGS (METADATA + 0x200)
#define STACK (BASE + 0x18000)
#define BACK (BASE + 0x7100) /* where the code returns to */
#define DEBUG (BASE + 0x7400)

static void
put_bytes (Fake *fake, guint64 address, const void *bytes, gsize size)
{
  memcpy (fake->bytes + (address - BASE), bytes, size);
}

static void
put_u32 (Fake *fake, guint64 address, guint32 value)
{
  put_bytes (fake, address, &value, sizeof value);
}

static void
put_u16 (Fake *fake, guint64 address, guint16 value)
{
  put_bytes (fake, address, &value, sizeof value);
}

/* Instructions and what they do at which offset: push rbp (1), push rbx (2),
 * sub rsp, 32 (6), lea rbp, [rsp + 32] (11); at 0x70: add rsp, 32; pop rbx; pop
 * rbp; ret. */
static const guint8 unwind[] = { 1, 11,   4, 0x25, 11, 3,
                                 6, 0x32, 2, 0x30, 1,  0x50 };
static const guint8 epilogue[] = { 0x48, 0x83, 0xc4, 32, 0x5b, 0x5d, 0xc3 };

/* --- the image ----------------------------------------------------------- */

/* Some.Space.Outer+Inner.Work, of the assembly "made". */
static const char strings[] =
    "\0<Module>\0Outer\0Some.Space\0Inner\0Start\0Work"
    "\0Rest\0made";
#define STRING_OUTER 10
#define STRING_SPACE 16
#define STRING_INNER 27
#define STRING_START 33
#define STRING_WORK 39
#define STRING_REST 44
#define STRING_MADE 49

static void
put_tables (Fake *fake, guint64 at)
{
  static const guint16 types[3][5] = {
    { 1, 0, 0, 1, 1 },
    { STRING_OUTER, STRING_SPACE, 0, 1, 1 },
    { STRING_INNER, 0, 0, 1, 2 },
  };
  static const guint16 methods[] = { STRING_START, STRING_WORK, STRING_REST };
  static const guint32 rows[] = { 3, 3, 1, 1 };

  put (fake, at + 8, 1ull << 2 | 1ull << 6 | 1ull << 0x20 | 1ull << 0x29);
  put_bytes (fake, at + 24, rows, sizeof rows);
  at += 24 + sizeof rows;
  for (guint i = 0; i < 3; i++, at += 14)
    put_bytes (fake, at + 4, types[i], sizeof types[i]);
  for (guint i = 0; i < 3; i++, at += 14)
    put_u16 (fake, at + 8, methods[i]);
  put_u16 (fake, at + 18, STRING_MADE);
  put_u16 (fake, at + 22, 3);
  put_u16 (fake, at + 24, 2);
}

static void
put_image (Fake *fake)
{
  static const guint8 metadata[] = "BSJB\1\0\1\0\0\0\0\0\4\0\0\0v4\0\0\0\0\2\0"
                                   "\x40\0\0\0\xc0\1\0\0#~\0\0"
                                   "\0\2\0\0\0\1\0\0#Strings\0\0\0";
  static const guint8 entries[] = { 24, 1, 2, 2, 30, 8, 0, 16, 4 };
  static const guint32 sections[] = {
    102, 0xd00, 24, 103, 0xe00, sizeof entries
  };
  static const guint32 functions[] = { 0x2000, 0x2040, 0xf00,
                                       0x2040, 0x2080, 0xf00 };

  put_u16 (fake, IMAGE, 0x5a4d);
  put_u32 (fake, IMAGE + 60, 0x80);
  put_u32 (fake, IMAGE + 0x80, 0x4550);
  put_u16 (fake, IMAGE + 0x80 + 20, 240);
  put_u16 (fake, IMAGE + 0x98, 0x20b);
  put_u32 (fake, IMAGE + 0x98 + 56, 0x4000);
  put_u32 (fake, IMAGE + 0x98 + 108, 16);
  put_u32 (fake, IMAGE + 0x98 + 112 + 14 * 8, 0x400);
  put_u32 (fake, IMAGE + 0x400, 72);
  put_u32 (fake, IMAGE + 0x408, 0x500);
  put_u32 (fake, IMAGE + 0x440, 0xc00);
  put_bytes (fake, METADATA, metadata, sizeof metadata);
  put_tables (fake, METADATA + 0x40);
  put_bytes (fake, STRINGS, strings, sizeof strings);
  put_u32 (fake, IMAGE + 0x98 + 112 + 6 * 8, 0x460);
  put_u32 (fake, IMAGE + 0x98 + 112 + 6 * 8 + 4, 28);
  put_bytes (fake, IMAGE + 0x464, "time", 4);
  put_u16 (fake, IMAGE + 0x46a, 0x504d);
  put_u32 (fake, IMAGE + 0x46c, 2);
  put_u32 (fake, IMAGE + 0x470, 24 + 6);
  put_u32 (fake, IMAGE + 0x474, 0x480);
  put_bytes (fake, IMAGE + 0x480, "RSDS0123456789abcdef\1\0\0\0x.pdb", 30);
  put_u32 (fake, IMAGE + 0xc00, 0x525452);
  put_u32 (fake, IMAGE + 0xc0c, 2);
  put_bytes (fake, IMAGE + 0xc10, sections, sizeof sections);
  put_bytes (fake, IMAGE + 0xd00, functions, sizeof functions);
  put_bytes (fake, IMAGE + 0xe00, entries, sizeof entries);
  put_bytes (fake, IMAGE + 0xf00, unwind, sizeof unwind);
}

/* --- lines --------------------------------------------------------------- */

/* Pairs of offsets: the prologue; 7, 0; 519, 9. */
static const guint8 places_6[] = { 0,    0x07, 0x03, 0x01, 0x37,
                                   0x90, 0x88, 0x90, 0x24 };
/* The prologue; 9, 4. */
static const guint8 places_10[] = { 0, 0x05, 0x32, 0x02, 0x40, 0xcc, 0x03 };
/* The same, of code with loops and counters. */
static const guint8 places_of_loops[] = {
  1,    1,    2,    3,    4,    5,    6,    7,    8,   1,    2,    3,
  4,    5,    6,    7,    8,    1,    0,    0,    0,   1,    1,    1,
  1,    1,    1,    1,    1,    1,    1,    1,    1,   1,    1,    1,
  1,    1,    1,    1,    1,    9,    9,    9,    9,   0xfb, 0xff, 0xff,
  0xff, 0xff, 0x57, 0x00, 0x32, 0x02, 0x40, 0xcc, 0x03
};

/* "src/a.cs"; the second method: 0 line 40, 4 no line, 7 line 38. */
static const guint8 pdb_blobs[] = { 0,   3,   's', 'r',  'c', 4, 'a', '.',
                                    'c', 's', 3,   '/',  1,   5, 14,  0,
                                    0,   0,   5,   40,   9,   4, 0,   0,
                                    3,   1,   4,   0x7d, 0 };

static GBytes *
make_pdb (void)
{
  static const guint8 head[] = "BSJB\1\0\1\0\0\0\0\0\4\0\0\0v1\0\0\0\0\3\0"
                               "\x48\0\0\0\x18\0\0\0#Pdb\0\0\0\0"
                               "\x60\0\0\0\x30\0\0\0#~\0\0"
                               "\x90\0\0\0\x1d\0\0\0#Blob\0\0\0";
  guint8 bytes[0x90 + sizeof pdb_blobs] = { 0 };

  memcpy (bytes, head, sizeof head - 1);
  memcpy (bytes + 0x48, "0123456789abcdeftime", 20);
  bytes[0x60 + 8 + 6] = 3; /* both tables */
  bytes[0x60 + 24] = 1;
  bytes[0x60 + 28] = 2;
  bytes[0x60 + 32] = 10; /* the name of the document */
  bytes[0x60 + 40] = 1;
  bytes[0x60 + 44] = 1; /* the second method */
  bytes[0x60 + 46] = 14;
  memcpy (bytes + 0x90, pdb_blobs, sizeof pdb_blobs);
  return g_bytes_new (bytes, sizeof bytes);
}

/* --- the runtime --------------------------------------------------------- */

static void
put_code (Fake *fake)
{
  put (fake, HEAP + 0x20, CODE);
  put (fake, HEAP + 0x28, MAP);
  /* It starts in the tenth 32 bytes, at the second word of them. */
  put_u32 (fake, MAP + 4, 0x00200000);
  put (fake, WORK - 8, HEADER);
  put (fake, HEADER, DEBUG);
  put_bytes (fake, DEBUG, places_6, sizeof places_6);
  put (fake, HEADER + 0x18, METHOD);
  put_u32 (fake, HEADER + 0x20, 1);
  put_u32 (fake, HEADER + 0x24, 0x144);
  put_u32 (fake, HEADER + 0x28, 0x1c4);
  put_u32 (fake, HEADER + 0x2c, 0x800);
  put_bytes (fake, INFO, unwind, sizeof unwind);
  put_bytes (fake, WORK + 0x70, epilogue, sizeof epilogue);
  put_u16 (fake, METHOD, 2);
  put_u16 (fake, METHOD + 2, 1);
  put (fake, CHUNK, TYPE);
  put_u16 (fake, TYPE + 10, 3);
  put (fake, TYPE + 0x18, MODULE);
  put_bytes (fake, BACK - 5, "\xe8", 1);
}

/* As .NET 6 has it, with a list of ranges. */
static void
put_list (Fake *fake)
{
  put_code (fake);
  put_image (fake);
  put_u32 (fake, BASE + TABLE, RANGES);
  put (fake, BASE + RANGES, HEAP_RANGE);
  put (fake, HEAP_RANGE, CODE);
  put (fake, HEAP_RANGE + 8, CODE + 0x1000);
  put (fake, HEAP_RANGE + 0x18, IMAGE_RANGE);
  put (fake, HEAP_RANGE + 0x28, 2);
  put (fake, HEAP_RANGE + 0x30, HEAP);
  put (fake, IMAGE_RANGE, IMAGE);
  put (fake, IMAGE_RANGE + 8, IMAGE + 0x4000);
  put (fake, IMAGE_RANGE + 0x28, 4);
  put (fake, IMAGE_RANGE + 0x30, MODULE);
  put (fake, MODULE + 8, STRINGS + STRING_MADE);
}

static const FlamDotnetFile six = { .version = 6, .table = TABLE };

static const char descriptor[] =
    "{\"version\":0,\"baseline\":\"empty\",\"types\":{"
    "\"RangeSection\":{\"Flags\":16,\"R2RModule\":32,\"HeapList\":40},"
    "\"CodeHeapListNode\":{\"Next\":0,\"MapBase\":32,\"HeaderMap\":40},"
    "\"RealCodeHeader\":{\"MethodDesc\":24,\"NumUnwindInfos\":32,"
    "\"UnwindInfos\":36},"
    "\"MethodDescChunk\":{\"!\":24,\"FlagsAndTokenRange\":18},"
    "\"MethodTable\":{\"Module\":24},"
    "\"Module\":{\"Base\":[224,\"pointer\"],\"Path\":200},"
    "\"DynamicMethodDesc\":{\"MethodName\":32}},"
    "\"globals\":{\"MethodDescTokenRemainderBitCount\":[\"0xc\",\"uint8\"],"
    "\"RID\":[\"1-x64\",\"string\"]},"
    "\"contracts\":{\"ExecutionManager\":2}}";

/* As .NET 10 has it: a tree of ranges, and a map with addresses. */
static void
put_tree (Fake *fake)
{
  guint64 level = TREE;

  put_code (fake);
  put_image (fake);
  put (fake, BASE + TABLE, TREE);
  for (guint i = 0; i < 5; i++, level += 0x800)
    put (fake, level + i * 8, (i < 4 ? level + 0x800 : FRAGMENT) | (i & 1));
  put (fake, FRAGMENT, FRAGMENT + 0x20);
  put (fake, FRAGMENT + 24, HEAP_RANGE);
  put (fake, FRAGMENT + 0x20 + 24, IMAGE_RANGE);
  put (fake, HEAP_RANGE, CODE);
  put (fake, HEAP_RANGE + 8, CODE + 0x1000);
  put (fake, HEAP_RANGE + 16, 2);
  put (fake, HEAP_RANGE + 40, HEAP);
  put (fake, IMAGE_RANGE, IMAGE);
  put (fake, IMAGE_RANGE + 8, IMAGE + 0x4000);
  put (fake, IMAGE_RANGE + 32, MODULE);
  put (fake, MODULE + 224, IMAGE);
  put_bytes (fake, BASE + DESCRIPTOR, "DNCCDAC", 8);
  put_u32 (fake, BASE + DESCRIPTOR + 12, sizeof descriptor - 1);
  put (fake, BASE + DESCRIPTOR + 16, JSON);
  put_bytes (fake, JSON, descriptor, sizeof descriptor);
}

static const FlamDotnetFile ten = {
  .version = 10,
  .table = TABLE,
  .descriptor = DESCRIPTOR,
};

static gboolean
step (FlamDotnet *dotnet,
      Fake *fake,
      FlamRuntimeRegs *regs,
      FlamRuntimeEntry *entry)
{
  const FlamRuntimeMemory memory = { read_fake, fake };

  return flam_dotnet_step (dotnet, &memory, 1000000000, regs, entry);
}

static FlamDotnet *
open_fake (const FlamDotnetFile *file, Fake *fake)
{
  const FlamRuntimeMemory memory = { read_fake, fake };
  FlamDotnet *dotnet;

  return flam_dotnet_open (file, &memory, BASE, &dotnet) == FLAM_DOTNET_READY
             ? dotnet
             : NULL;
}

static void
assert_named (FlamDotnet *dotnet,
              Fake *fake,
              guint64 pc,
              const char *type,
              const char *function)
{
  const FlamRuntimeMemory memory = { read_fake, fake };
  g_autofree FlamRuntimeName *name = flam_runtime_name_new ();
  FlamRuntimeRegs regs = { .pc = pc, .leaf = true };
  FlamRuntimeEntry entry;

  step (dotnet, fake, &regs, &entry);
  g_assert_cmphex (entry.function, !=, 0);
  g_assert_true (flam_dotnet_name (dotnet, &memory, &entry, name));
  g_assert_cmpuint (name->n, ==, 1);
  g_assert_cmpstr (name->frames[0].type, ==, type);
  g_assert_cmpstr (name->frames[0].function, ==, function);
  entry.cookie++;
  flam_runtime_name_clear (name);
  g_assert_false (flam_dotnet_name (dotnet, &memory, &entry, name));
}

static void
test_names (void)
{
  g_autofree Fake *fake = g_new0 (Fake, 1);
  FlamDotnet *dotnet;

  put_list (fake);
  dotnet = open_fake (&six, fake);
  g_assert_nonnull (dotnet);
  assert_named (dotnet, fake, WORK, "Some.Space.Outer+Inner", "Work");
  assert_named (dotnet, fake, WORK + 0x7f, "Some.Space.Outer+Inner", "Work");
  assert_named (dotnet, fake, IMAGE + 0x2000, "Some.Space.Outer+Inner", "Work");
  assert_named (dotnet, fake, IMAGE + 0x207f, "Some.Space.Outer+Inner", "Rest");
  flam_dotnet_free (dotnet);
  /* No code in the assembly: it is found by its name, which has to be its
   * own. */
  put (fake, HEAP_RANGE + 0x18, 0);
  dotnet = open_fake (&six, fake);
  assert_named (dotnet, fake, WORK, "Some.Space.Outer+Inner", "Work");
  /* A method of no class. */
  put_u16 (fake, METHOD, 1);
  put_u16 (fake, METADATA + 0x40 + 40 + 14 + 12, 2);
  put_u16 (fake, TYPE + 10, 1);
  assert_named (dotnet, fake, WORK, "", "Start");
  flam_dotnet_free (dotnet);
}

/* What the runtime gives for another type, or an image that is not the
 * module's, has no name. */
static void
test_no_names (void)
{
  g_autofree Fake *fake = g_new0 (Fake, 1);
  g_autofree FlamRuntimeName *name = flam_runtime_name_new ();
  const FlamRuntimeMemory memory = { read_fake, fake };

  for (guint i = 0; i < 4; i++)
    {
      FlamRuntimeRegs regs = { .pc = WORK, .leaf = true };
      FlamRuntimeEntry entry;
      FlamDotnet *dotnet;

      memset (fake, 0, sizeof *fake);
      put_list (fake);
      put (fake, HEAP_RANGE + 0x18, 0);
      if (i == 1)
        put_u16 (fake, TYPE + 10, 2);
      if (i == 2)
        put (fake, MODULE + 8, STRINGS + STRING_WORK);
      if (i == 3)
        put_u16 (fake, METHOD, 4);
      dotnet = open_fake (&six, fake);
      step (dotnet, fake, &regs, &entry);
      flam_runtime_name_clear (name);
      g_assert_cmpint (
          flam_dotnet_name (dotnet, &memory, &entry, name), ==, i == 0);
      flam_dotnet_free (dotnet);
    }
}

static void
test_tree (void)
{
  g_autofree Fake *fake = g_new0 (Fake, 1);
  FlamDotnet *dotnet;

  put_tree (fake);
  dotnet = open_fake (&ten, fake);
  g_assert_nonnull (dotnet);
  assert_named (dotnet, fake, WORK, "Some.Space.Outer+Inner", "Work");
  assert_named (dotnet, fake, IMAGE + 0x2041, "Some.Space.Outer+Inner", "Rest");
  /* The next word of the map has the start of long code: 0x144 as 0x140 + 9 +
   * 1. */
  put_u32 (fake, MAP + 8, 0x14a);
  put_u32 (fake, HEADER + 0x28, 0x300);
  assert_named (dotnet, fake, CODE + 0x240, "Some.Space.Outer+Inner", "Work");
  flam_dotnet_free (dotnet);
  /* Without a descriptor, or with a member missing, it is refused; with no
   * table yet, it is early. */
  put_bytes (fake, JSON + 60, "X", 1);
  g_assert_null (open_fake (&ten, fake));
}

/* Of a dynamic method there is the name alone. */
static void
test_dynamic (void)
{
  g_autofree Fake *fake = g_new0 (Fake, 1);
  FlamDotnet *dotnet;

  put_list (fake);
  put_u16 (fake, METHOD + 6, 7);
  put (fake, METHOD + 0x18, BASE + 0x7f00);
  put_bytes (fake, BASE + 0x7f00, "IL_STUB_PInvoke", 16);
  dotnet = open_fake (&six, fake);
  assert_named (dotnet, fake, WORK, "dynamicClass", "IL_STUB_PInvoke");
  flam_dotnet_free (dotnet);
}

/* --- frames -------------------------------------------------------------- */

/* At each offset within the function, rsp from where the return address is. */
static void
test_unwind (void)
{
  static const struct
  {
    guint offset;
    guint up; /* words below the return address */
    gboolean has_rbp, has_rbx;
  } steps[] = {
    { 0, 0, FALSE, FALSE },   { 1, 1, TRUE, FALSE },
    { 2, 2, TRUE, TRUE },     { 6, 6, TRUE, TRUE },
    { 11, 6, TRUE, TRUE },    { 0x50, 6, TRUE, TRUE },
    { 0x70, 6, TRUE, TRUE },  { 0x74, 2, TRUE, TRUE },
    { 0x75, 1, TRUE, FALSE }, { 0x76, 0, FALSE, FALSE },
  };
  g_autofree Fake *fake = g_new0 (Fake, 1);
  FlamDotnet *dotnet;

  put_list (fake);
  put (fake, STACK + 48, BACK);
  put (fake, STACK + 40, 0xbeef);
  put (fake, STACK + 32, 0xabcd);
  dotnet = open_fake (&six, fake);
  for (guint i = 0; i < G_N_ELEMENTS (steps); i++)
    {
      guint64 sp = STACK + 48 - steps[i].up * 8;
      FlamRuntimeRegs regs = { .pc = WORK + steps[i].offset, .leaf = true };
      FlamRuntimeEntry entry;

      regs.general[FLAM_RUNTIME_RSP] = sp;
      regs.general[FLAM_RUNTIME_RBP] = 0x77;
      regs.general[FLAM_RUNTIME_RBX] = 0x78;
      if (steps[i].offset >= 11 && steps[i].up == 6)
        regs.general[FLAM_RUNTIME_RBP] = STACK + 32;
      regs.known = 1u << FLAM_RUNTIME_RSP | 1u << FLAM_RUNTIME_RBP |
                   1u << FLAM_RUNTIME_RBX;
      g_assert_true (step (dotnet, fake, &regs, &entry));
      g_assert_cmphex (entry.function, ==, WORK);
      g_assert_cmphex (entry.at, ==, steps[i].offset);
      g_assert_cmphex (regs.pc, ==, BACK);
      g_assert_cmphex (regs.general[FLAM_RUNTIME_RSP], ==, STACK + 56);
      g_assert_cmphex (
          regs.general[FLAM_RUNTIME_RBP], ==, steps[i].has_rbp ? 0xbeef : 0x77);
      g_assert_cmphex (
          regs.general[FLAM_RUNTIME_RBX], ==, steps[i].has_rbx ? 0xabcd : 0x78);
      g_assert_false (regs.leaf);
    }
  flam_dotnet_free (dotnet);
}

/* A handler, at 0x80 of the method, is left out if the method called it. */
static void
test_handlers (void)
{
  g_autofree Fake *fake = g_new0 (Fake, 1);
  FlamDotnet *dotnet;

  put_list (fake);
  put_u32 (fake, HEADER + 0x20, 2);
  put_u32 (fake, HEADER + 0x30, 0x1c4);
  put_u32 (fake, HEADER + 0x34, 0x204);
  put_u32 (fake, HEADER + 0x38, 0x800);
  dotnet = open_fake (&six, fake);
  for (guint i = 0; i < 3; i++)
    {
      FlamRuntimeRegs regs = { .pc = WORK + (i < 2 ? 0x90 : 0x20),
                               .leaf = true };
      FlamRuntimeEntry entry;

      put (fake, STACK + 48, i == 0 ? BACK : WORK + 0x30);
      regs.general[FLAM_RUNTIME_RSP] = STACK;
      regs.general[FLAM_RUNTIME_RBP] = STACK + 32;
      regs.known = 1u << FLAM_RUNTIME_RSP | 1u << FLAM_RUNTIME_RBP;
      g_assert_true (step (dotnet, fake, &regs, &entry));
      g_assert_cmphex (entry.function, ==, i == 1 ? 0 : WORK);
      g_assert_cmphex (regs.pc, ==, i == 0 ? BACK : WORK + 0x30);
    }
  flam_dotnet_free (dotnet);
}

/* Code that is in no method: the return address, or the frame pointer. */
static void
test_stubs (void)
{
  g_autofree Fake *fake = g_new0 (Fake, 1);
  FlamRuntimeRegs regs = { .pc = CODE + 0x40, .leaf = true };
  FlamRuntimeEntry entry;
  FlamDotnet *dotnet;

  put_list (fake);
  dotnet = open_fake (&six, fake);
  put (fake, STACK, BACK);
  regs.general[FLAM_RUNTIME_RSP] = STACK;
  regs.known = 1u << FLAM_RUNTIME_RSP | 1u << FLAM_RUNTIME_RBP;
  g_assert_true (step (dotnet, fake, &regs, &entry));
  g_assert_cmphex (entry.function, ==, 0);
  g_assert_cmphex (regs.pc, ==, BACK);

  put (fake, STACK, 12);
  put (fake, STACK + 64, 0xbeef);
  put (fake, STACK + 72, BACK);
  regs = (FlamRuntimeRegs){ .pc = CODE + 0x40, .leaf = true };
  regs.general[FLAM_RUNTIME_RSP] = STACK;
  g_assert_false (step (dotnet, fake, &regs, &entry));
  regs.general[FLAM_RUNTIME_RBP] = STACK + 64;
  regs.known = 1u << FLAM_RUNTIME_RSP | 1u << FLAM_RUNTIME_RBP;
  g_assert_true (step (dotnet, fake, &regs, &entry));
  g_assert_cmphex (regs.general[FLAM_RUNTIME_RBP], ==, 0xbeef);
  g_assert_cmphex (regs.general[FLAM_RUNTIME_RSP], ==, STACK + 80);
  flam_dotnet_free (dotnet);
}

static void
test_early (void)
{
  g_autofree Fake *fake = g_new0 (Fake, 1);
  const FlamRuntimeMemory memory = { read_fake, fake };
  const FlamDotnetFile unknown = { .version = 5, .table = TABLE };
  FlamDotnet *dotnet;

  put_list (fake);
  put_u32 (fake, BASE + TABLE, 0);
  g_assert_cmpint (
      flam_dotnet_open (&six, &memory, BASE, &dotnet), ==, FLAM_DOTNET_EARLY);
  g_assert_cmpint (flam_dotnet_open (&unknown, &memory, BASE, &dotnet),
                   ==,
                   FLAM_DOTNET_UNREADABLE);
}

/* --- lines ---------------------------------------------------------------- */

static void
check_places (guint32 version,
              const guint8 *bytes,
              gsize size,
              const guint32 *expected,
              guint n)
{
  g_autofree Fake *fake = g_new0 (Fake, 1);
  const FlamRuntimeMemory memory = { read_fake, fake };
  g_autoptr (GArray) places =
      g_array_new (FALSE, FALSE, sizeof (FlamDotnetPlace));

  put_bytes (fake, DEBUG, bytes, size);
  g_assert_true (flam_dotnet_debug_read (version, &memory, DEBUG, places));
  g_assert_cmpuint (places->len, ==, n);
  for (guint i = 0; i < n; i++)
    {
      const FlamDotnetPlace *place =
          &g_array_index (places, FlamDotnetPlace, i);

      g_assert_cmphex (place->native, ==, expected[2 * i]);
      g_assert_cmphex (place->cil, ==, expected[2 * i + 1]);
    }
}

static void
test_places (void)
{
  static const guint32 nibbles[] = { 0, FLAM_DOTNET_PROLOGUE, 7, 0, 519, 9 };
  static const guint32 bits[] = { 0, FLAM_DOTNET_PROLOGUE, 9, 4 };

  check_places (3, places_6 + 1, sizeof places_6 - 1, nibbles, 3);
  check_places (6, places_6, sizeof places_6, nibbles, 3);
  check_places (9, places_6, sizeof places_6, nibbles, 3);
  check_places (10, places_10, sizeof places_10, bits, 2);
  check_places (10, places_of_loops, sizeof places_of_loops, bits, 2);
}

static GBytes *
open_pdb (gpointer data, guint64 base, const char *path)
{
  g_assert_cmphex (base, ==, IMAGE);
  g_assert_cmpstr (path, ==, "x.pdb");
  return g_bytes_ref (data);
}

static void
test_lines (void)
{
  g_autofree Fake *fake = g_new0 (Fake, 1);
  g_autofree FlamRuntimeName *name = flam_runtime_name_new ();
  const FlamRuntimeMemory memory = { read_fake, fake };
  g_autoptr (GBytes) pdb = make_pdb ();
  FlamRuntimeRegs regs = { .pc = WORK + 0x20, .leaf = true };
  FlamRuntimeEntry entry;
  FlamDotnet *dotnet;

  put_list (fake);
  dotnet = open_fake (&six, fake);
  flam_dotnet_set_open_pdb (dotnet, open_pdb, pdb);
  step (dotnet, fake, &regs, &entry);
  flam_runtime_name_clear (name);
  g_assert_true (flam_dotnet_name (dotnet, &memory, &entry, name));
  g_assert_cmpstr (name->frames[0].function, ==, "Work");
  g_assert_cmpstr (name->frames[0].file, ==, "src/a.cs");
  g_assert_cmpuint (name->frames[0].first_line, ==, 40);
#define LINE(at) flam_runtime_lines_find (0, name->lines, name->n_lines, at, 40)
  g_assert_cmpuint (LINE (0), ==, 40);
  g_assert_cmpuint (LINE (518), ==, 40);
  g_assert_cmpuint (LINE (519), ==, 38);
  flam_dotnet_free (dotnet);
  /* Another build's. */
  put_bytes (fake, IMAGE + 0x464, "tome", 4);
  dotnet = open_fake (&six, fake);
  flam_dotnet_set_open_pdb (dotnet, open_pdb, pdb);
  flam_runtime_name_clear (name);
  g_assert_true (flam_dotnet_name (dotnet, &memory, &entry, name));
  g_assert_cmpstr (name->frames[0].file, ==, "");
  flam_dotnet_free (dotnet);
}

static void
test_packed (void)
{
  static const guint8 packed[] = "MPDB\3\0\0\0\1\3\0\xfc\xff"
                                 "abc";
  g_autoptr (GBytes) bytes = flam_dotnet_pdb_unpack (packed, sizeof packed - 1);

  g_assert_nonnull (bytes);
  g_assert_cmpmem (g_bytes_get_data (bytes, NULL), 3, "abc", 3);
  g_assert_null (flam_dotnet_pdb_unpack (packed, sizeof packed - 2));
  g_assert_null (flam_dotnet_pdb_unpack (packed + 1, sizeof packed - 2));
}

/* --- memory that lies ---------------------------------------------------- */

/* Mostly as it is. */
static GBytes *
damaged (GBytes *good)
{
  gsize size;
  const guint8 *bytes = g_bytes_get_data (good, &size);
  guint8 *copy = g_memdup2 (bytes, size);

  for (gint i = g_test_rand_int_range (-4, 6); i > 0; i--)
    copy[g_test_rand_int_range (0, (gint)size)] = (guint8)g_test_rand_int ();
  return g_bytes_new_take (copy, size);
}

static GBytes *
open_damaged (gpointer data, guint64 base, const char *path)
{
  (void)base;
  (void)path;
  return g_bytes_ref (data);
}

static void
lie (const FlamDotnetFile *file, void (*fill) (Fake *fake), guint rounds)
{
  g_autofree Fake *fake = g_new0 (Fake, 1);
  g_autofree Fake *whole = g_new0 (Fake, 1);
  g_autofree FlamRuntimeName *name = flam_runtime_name_new ();
  const FlamRuntimeMemory memory = { read_fake, fake };
  g_autoptr (GBytes) good = make_pdb ();

  fill (whole);
  put (whole, STACK + 48, BACK);
  for (guint round = 0; round < rounds; round++)
    {
      g_autoptr (GBytes) pdb = damaged (good);
      FlamDotnet *dotnet;

      memcpy (fake, whole, sizeof *fake);
      for (guint i = (guint)g_test_rand_int_range (1, 40); i > 0; i--)
        {
          guint at = (guint)g_test_rand_int_range (0, SIZE);

          /* Mostly where something is. */
          while (whole->bytes[at] == 0 && g_test_rand_int_range (0, 64) != 0)
            at = (at + 1) % SIZE;
          if (g_test_rand_int_range (0, 3) == 0 && at < SIZE - 8)
            put (fake,
                 BASE + at,
                 BASE + (guint64)g_test_rand_int_range (0, SIZE));
          else
            fake->bytes[at] = (guint8)g_test_rand_int ();
        }
      dotnet = open_fake (file, fake);
      if (dotnet != NULL)
        flam_dotnet_set_open_pdb (dotnet, open_damaged, pdb);
      for (guint i = 0; dotnet != NULL && i < 6; i++)
        {
          FlamRuntimeRegs regs = {
            .pc = (i & 1 ? WORK : IMAGE + 0x2000) +
                  (guint64)g_test_rand_int_range (0, 0x80),
            .leaf = i < 3,
          };
          FlamRuntimeEntry entry;

          regs.general[FLAM_RUNTIME_RSP] = STACK;
          regs.general[FLAM_RUNTIME_RBP] = STACK + 32;
          regs.known = 1u << FLAM_RUNTIME_RSP | 1u << FLAM_RUNTIME_RBP;
          fake->reads = 0;
          if (step (dotnet, fake, &regs, &entry))
            g_assert_cmphex (regs.general[FLAM_RUNTIME_RSP], >, STACK);
          flam_runtime_name_clear (name);
          if (entry.function != 0 &&
              flam_dotnet_name (dotnet, &memory, &entry, name))
            g_assert_true (
                g_utf8_validate (name->frames[0].function, -1, NULL));
          g_assert_cmpuint (fake->reads, <, 300000);
        }
      if (dotnet != NULL)
        flam_dotnet_free (dotnet);
    }
}

static void
test_lies (void)
{
  lie (&six, put_list, g_test_slow () ? 20000 : 3000);
  lie (&ten, put_tree, g_test_slow () ? 20000 : 3000);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/dotnet/names", test_names);
  g_test_add_func ("/dotnet/no-names", test_no_names);
  g_test_add_func ("/dotnet/tree", test_tree);
  g_test_add_func ("/dotnet/dynamic", test_dynamic);
  g_test_add_func ("/dotnet/unwind", test_unwind);
  g_test_add_func ("/dotnet/handlers", test_handlers);
  g_test_add_func ("/dotnet/stubs", test_stubs);
  g_test_add_func ("/dotnet/early", test_early);
  g_test_add_func ("/dotnet/places", test_places);
  g_test_add_func ("/dotnet/lines", test_lines);
  g_test_add_func ("/dotnet/packed", test_packed);
  g_test_add_func ("/dotnet/lies", test_lies);
  return g_test_run ();
}
