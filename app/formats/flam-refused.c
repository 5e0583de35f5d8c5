/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-refused.h"

#include "flam-bytes.h"

#include <string.h>

#define HEAD 4096
#define MICROSECONDS_OF_2001 G_GUINT64_CONSTANT (1000000000000000)
#define ELF_TYPE 16

typedef struct
{
  const char *bytes; /* in the head; NULL: the suffix decides */
  gsize length;
  gsize offset; /* ANYWHERE, or their offset */
  const char *suffix;
  const char *type; /* of ELF files: the value of byte 16 */
  gboolean (*fits) (const FlamSource *source);
  const char *why;
} Refused;

#define ANYWHERE G_MAXSIZE
#define AT(where, text) text, sizeof (text) - 1, where, NULL, NULL, NULL
#define ELF_OF(type)                                                           \
  "\x7f"                                                                       \
  "ELF",                                                                       \
      4, 0, NULL, type, NULL
#define NAMED(suffix) NULL, 0, 0, suffix, NULL, NULL
#define IF(fits) NULL, 0, 0, NULL, NULL, fits

#define TRACY                                                                  \
  N_ ("this is a trace of Tracy, which only Tracy reads; record the program "  \
      "with “perf record -g” and open the perf.data")
#define SPINDUMP                                                                   \
  N_ ("this is a report of spindump; record with “sample PROCESS -file FILE” " \
      "and open that text")
#define CTF                                                                    \
  N_ ("this is one stream of a trace (CTF); open the folder with its "         \
      "“metadata”")
#define NSIGHT                                                                 \
  N_ ("this is a report of Nsight Systems; convert it with “nsys export "    \
      "--type sqlite FILE” and open the result")
#define COMPILER                                                               \
  N_ ("this is coverage or PGO data (gcov), which has counters but no "        \
      "stacks; record the program with “perf record -g” and open the "     \
      "perf.data")
#define CRASH                                                                  \
  N_ ("this is a macOS crash report, which shows a single moment; record "     \
      "with “sample PROCESS -file FILE” and open that text")
#define SESSION                                                                   \
  N_ ("this is a session of Superluminal or AMD uProf, which only that "          \
      "profiler reads; record the program with “samply record” and open the " \
      "JSON")
#define VISUAL_STUDIO                                                          \
  N_ ("this is a report of Visual Studio's profiler; write it with "           \
      "“vsperfreport FILE /summary:calltree” and open that CSV")
#define HPCTOOLKIT                                                             \
  N_ ("this is a database of HPCToolkit; record the program with “perf "     \
      "record -g” and open the perf.data")
#define MEMORY_ERRORS                                                          \
  N_ ("this is a log of memory errors (Memcheck, AddressSanitizer); record "   \
      "with “heaptrack PROGRAM” or “valgrind --tool=dhat” and open that")

#define PPROF                                                                  \
  N_ ("this is a text report of pprof; open the profile that it was made "     \
      "from, or write it with “pprof -proto FILE”")
#define VALGRIND                                                               \
  N_ ("this is a text report of Valgrind; open the callgrind.out, "            \
      "cachegrind.out or massif.out that it was made from")
#define CPROFILE                                                                 \
  N_ ("this is a printed table of Python's cProfile; record with “python3 -m " \
      "cProfile -o FILE” and open that")
#define XDEBUG                                                                 \
  N_ ("this is an xdebug trace in its human-readable format; write it with "   \
      "xdebug.trace_format=1 and open that")
#define VTUNE                                                                  \
  N_ ("this is a result of VTune; write it with “vtune -report "             \
      "top-down -format csv -result-dir FOLDER -report-output FILE” "        \
      "and open that")

#define GPROFNG                                                                  \
  N_ ("this is output of gprofng without a call tree; print it with “gprofng " \
      "display text -calltree FOLDER” and open that text")

#define PERF_TRACER "tracer_name = \"perf\""

/* A packet of CTF whose head is that of OCaml's memtrace: u32 magic, u32 bits,
 * u64 first and u64 last µs since 1970, u32 µs, u16 version. */
static gboolean
is_memtrace (const FlamSource *source)
{
  const guint8 *data = source->data;
  guint64 first, last;

  if (source->size < 30 || memcmp (data, "\xc1\x1f\xfc\xc1", 4) != 0)
    return FALSE;
  first = flam_bytes_get (data + 8, 8);
  last = flam_bytes_get (data + 16, 8);
  return first > MICROSECONDS_OF_2001 && first <= last &&
         last < 10 * MICROSECONDS_OF_2001 && data[28] < 100 && data[29] == 0;
}

/* perf data convert --to-ctf writes its name into the description. */
static gboolean
is_of_perf (const char *path)
{
  g_autofree char *file = g_build_filename (path, "metadata", NULL);
  g_autoptr (FlamSource) source = NULL;

  if (g_file_test (file, G_FILE_TEST_IS_REGULAR))
    source = flam_source_open (file, NULL, NULL);
  return source != NULL && flam_source_head_has (source, HEAD, PERF_TRACER);
}

/* The description of a trace is beside its streams. */
static gboolean
is_perf_stream (const FlamSource *source)
{
  g_autofree char *folder = g_path_get_dirname (source->path);

  return source->size >= 4 &&
         memcmp (source->data, "\xc1\x1f\xfc\xc1", 4) == 0 &&
         is_of_perf (folder);
}

/* perf stat -x: "0.83,msec,task-clock,833170,100.00,…", with any separator, and
 * a time before it with -I. */
static gboolean
is_perf_stat_table (const FlamSource *source)
{
  static const char *const events[] = {
    "msec?task-clock?", "??context-switches?", "??page-faults?",
    "??cycles?",        "??instructions?",     "??cache-misses?",
  };
  gsize size = MIN (source->size, (gsize)HEAD);

  for (guint i = 0; i < G_N_ELEMENTS (events); i++)
    for (const char *separator = ",;\t:|"; *separator != '\0'; separator++)
      {
        g_autofree char *text =
            g_strdelimit (g_strdup (events[i]), "?", *separator);

        if (memmem (source->data, size, text, strlen (text)) != NULL)
          return TRUE;
      }
  return FALSE;
}

/* flam-history-store.c: its application id. */
static gboolean
is_store_of_runs (const FlamSource *source)
{
  return source->size >= 100 &&
         memcmp (source->data, "SQLite format 3", 16) == 0 &&
         memcmp (source->data + 68, "FLAM", 4) == 0;
}

/* By the page size and the number of pages in its head. */
static gboolean
is_cut_database (const FlamSource *source)
{
  static const char magic[] = "SQLite format 3";
  const guint8 *head = source->data;
  guint64 page, pages;

  if (source->size < 100 || memcmp (head, magic, sizeof magic) != 0)
    return FALSE;
  /* 1 stands for 65536. */
  page = (guint64)head[16] << 8 | head[17];
  pages = (guint64)head[28] << 24 | (guint64)head[29] << 16 |
          (guint64)head[30] << 8 | head[31];
  return source->size < (page == 1 ? 65536 : page) * pages;
}

#define PERF_STAT                                                              \
  N_ ("this is output of perf stat, which has counts but no stacks; record "   \
      "with “perf record -g” and open the perf.data")
#define PERF_CTF                                                               \
  N_ ("this is a perf.data that was converted to CTF; open the perf.data "     \
      "itself")
#define RUSTC                                                                  \
  N_ ("this is a profile of rustc (-Z self-profile); convert it with “crox " \
      "FILE” and open the JSON")
#define ROCPROF                                                                  \
  N_ ("this is a table of rocprof, which has no stacks; record with "            \
      "“rocprofv3 --sys-trace --output-format pftrace -- PROGRAM” and open " \
      "the .pftrace")

#define NVPROF                                                                 \
  N_ ("this is a table of nvprof, which has no stacks; record what the CPUs "  \
      "do with “flambeau-cli record -- PROGRAM”")

#define EPROF                                                                  \
  N_ ("this is an analysis of Erlang's eprof, which has functions but no "     \
      "stacks; record with fprof, convert its analysis with “erlgrind FILE " \
      "OUTPUT” and open the result")

#define CALL_SUMMARY                                                              \
  N_ ("this is a summary of system or library calls; record the calls "           \
      "themselves with “strace -f -ttt -T -o FILE”, “ltrace -f -ttt -T -o " \
      "FILE” or “perf trace -o FILE” and open that")

static const Refused all[] = {
  { AT (0, "JAVA PROFILE 1.0."),
    N_ ("this is a Java heap dump, which has objects but no stacks; record "
        "with “java -XX:StartFlightRecording” and open the .jfr") },
  { AT (0, "MDMP"),
    N_ ("this is a minidump, which shows a single moment; print its stacks "
        "with “lldb -b -c FILE -o 'thread backtrace all'” and open that "
        "text") },
  { IF (is_memtrace),
    N_ ("this is a trace of OCaml's memtrace; view it with “memtrace-viewer "
        "FILE”, or record with “heaptrack PROGRAM”") },
  { IF (is_perf_stream), PERF_CTF },
  { AT (0, "\xc1\x1f\xfc\xc1"), CTF },
  { AT (ANYWHERE, PERF_TRACER), PERF_CTF },
  { AT (0, "# tracer:"),
    N_ ("this is text output of ftrace, which has no complete stacks; record "
        "with the tracer function_graph, or with “perf record -g” and open the "
        "perf.data") },
  { AT (0, "TRACE START ["), XDEBUG },
  { AT (ANYWHERE, " class='xdebug-trace'"), XDEBUG },
  { IF (is_store_of_runs),
    N_ ("this is a store of runs, which has no stacks; “flambeau-cli history” "
        "and “top” read it") },
  { IF (is_cut_database),
    N_ ("this SQLite database is not complete: its end is missing") },
  { AT (0, "SQLite format 3"),
    N_ ("this is an SQLite database, but neither one of “flambeau-cli export "
        "--to sqlite” nor one of Nsight Systems (“nsys export --type "
        "sqlite”)") },
  { AT (0, "hdrb"),
    N_ ("this is an event log of GHC; convert it with “hs-speedscope FILE” and "
        "open the JSON") },
  { AT (0, "\x04\x08{"),
    N_ ("this is a dump of stackprof in Ruby's own format; convert it with "
        "“stackprof --json FILE” and open the JSON") },
  { NAMED (".gcdump"),
    N_ ("this is a .NET heap dump, which has objects but no stacks; record "
        "with “dotnet-trace collect” and open the .nettrace") },
  { AT (0, "\x14\0\0\0!FastSerialization.1"),
    N_ ("this is a trace of .NET Core 2 (.netperf); convert it with PerfView "
        "to speedscope's JSON and open that") },
  { AT (ANYWHERE, "<trace-toc>"),
    N_ ("this is a table of contents of xctrace; export the samples with "
        "“xctrace export --input X.trace --xpath "
        "'//table[@schema=\"time-profile\"]'” and open that") },
  { AT (ANYWHERE, " of events '"),
    N_ ("this is a perf report of event groups; print it with “perf report "
        "--stdio --no-group”") },
  { AT (ANYWHERE, "  Command / Shared Object"),
    N_ ("this is a hierarchical perf report; print it with “perf report "
        "--stdio” without --hierarchy") },
  { AT (0, "!<arch>"),
    N_ ("this is a library, not a capture; record the program that uses it") },
  { ELF_OF ("\x04"),
    N_ ("this is a core dump; print its stacks with “gdb -batch -ex 'thread "
        "apply all bt' PROGRAM FILE” and open that text") },
  { AT (0,
        "\x7f"
        "ELF"),
    N_ ("this is a program, not a capture; record it with “flambeau-cli record "
        "-- FILE”") },
  { AT (ANYWHERE, "<!-- Generated by graphviz"),
    N_ ("this is a call graph drawn by Graphviz; export the profile itself, "
        "for example with “go tool pprof -proto”") },
  { AT (0, "{\"snapshot\":{\"meta\":"),
    N_ ("this is a V8 heap snapshot, which has objects but no stacks; record a "
        "sampling heap profile (.heapprofile)") },
  { AT (0, "# HELP "),
    N_ ("this is a page of Prometheus metrics, which have no stacks; look for "
        "a profile at /debug/pprof") },
  { AT (0, "tlZ\x04"), TRACY },
  { AT (0, "tZst"), TRACY },
  { AT (0, "tr\xfdP"), TRACY },
  { NAMED (".tracy"), TRACY },
  { AT (ANYWHERE, "Data Source:      Stackshots"), SPINDUMP },
  { NAMED (".spindump"), SPINDUMP },
  { NAMED (".etlx"),
    N_ ("this is a trace that PerfView converted (ETLX); open the .nettrace "
        "that it was made from, or convert that one with “dotnet-trace convert "
        "--format Speedscope FILE”") },
  { NAMED (".etl"),
    N_ ("this is an xperf trace (ETW); convert it with “samply import FILE "
        "--save-only” on Windows and open the JSON") },
  { NAMED (".diagsession"),
    N_ ("this is a session of Visual Studio; export its call tree as CSV and "
        "open that") },
  { NAMED (".nsys-rep"), NSIGHT },
  { NAMED (".qdrep"), NSIGHT },
  { NAMED (".qdstrm"), NSIGHT },
  { AT (0, "\x81rforpl\xff"), COMPILER },
  { AT (0, "\xfflprofi\x81"), COMPILER },
  { AT (0, "adcg"), COMPILER },
  { AT (0, "oncg"), COMPILER },
  { AT (0, "startup\ttime="),
    N_ ("this is a causal profile of coz, which estimates what a faster line "
        "would gain and has no stacks; view it with “coz plot”, or record with "
        "“perf record -g”") },
  { AT (0, "{\"app_name\":"), CRASH },
  { AT (0, "Incident Identifier:"), CRASH },
  { AT (0, "\x10\0\x04\x46\x78\x54\x16\0"),
    N_ ("this is a trace of Fuchsia or magic-trace (FXT); convert it with "
        "Perfetto's “traceconv json FILE OUTPUT” and open the JSON") },
  { AT (0, "NYTProf "),
    N_ ("this is a profile of Perl's Devel::NYTProf; convert it with "
        "“nytprofcg --file FILE” and open the result") },
  { AT (0, "%% Analysis results:"),
    N_ ("this is an analysis of Erlang's fprof; convert it with “erlgrind FILE "
        "OUTPUT” and open the result") },
  { AT (0, "****** Process <"), EPROF },
  { AT (ANYWHERE, "uS / CALLS]\n"), EPROF },
  { AT (0, "MMPD"), RUSTC },
  { NAMED (".mm_profdata"), RUSTC },
  { NAMED (".utrace"),
    N_ ("this is a trace of Unreal Insights, which only that program reads; "
        "record with “samply record” or “perf record -g” and open the "
        "result") },
  { AT (0, "\x0f\xb5\x0f\xb5"),
    N_ ("this is a capture of Optick, which only that program reads; record "
        "with “samply record” or “perf record -g” and open the result") },
  { AT (0, "__rec="),
    N_ ("this is a profile of Caliper; convert it with “cali2traceevent.py "
        "FILE OUTPUT.json” and open the JSON") },
  { AT (0, "\"Index\",\"KernelName\""), ROCPROF },
  { AT (0, "Index,KernelName"), ROCPROF },
  { AT (0, "\"Name\",\"Calls\",\"TotalDurationNs\""), ROCPROF },
  { AT (0, "\"Kind\",\"Agent_Id\""), ROCPROF },
  { AT (0, "\"Kind\",\"Direction\""), ROCPROF },
  { AT (0, "\"Domain\",\"Function\""), ROCPROF },
  { AT (0, "\"Correlation_Id\",\"Dispatch_Id\""), ROCPROF },
  { AT (ANYWHERE, "== NVPROF is profiling process "), NVPROF },
  { AT (0, "\"Type\",\"Time(%)\",\"Time\",\"Calls\""), NVPROF },
  { AT (0, "\"Start\",\"Duration\",\"Grid X\""), NVPROF },
  { NAMED (".sup"), SESSION },
  { NAMED (".caperf"), SESSION },
  { NAMED (".prd"), SESSION },
  { AT (0, "nBpRoFiLeR"),
    N_ ("this is a snapshot of VisualVM or NetBeans; record with “java "
        "-XX:StartFlightRecording” and open the .jfr") },
  { AT (ANYWHERE, "CPU Time:Self  CPU Time:Children"), VTUNE },
  { NAMED (".vspx"), VISUAL_STUDIO },
  { NAMED (".vsp"), VISUAL_STUDIO },
  { NAMED (".lprof"),
    N_ ("this is a result of line_profiler, which has lines but no stacks; "
        "record with “python3 -m cProfile -o FILE” and open that") },
  { AT (0, "Statistical profiling result from "),
    N_ ("this is a text report made from a V8 log; open the log "
        "(isolate-*-v8.log) itself") },
  { AT (0, "JOB \""),
    N_ ("this is a heap profile of GHC, which has bands over time but no "
        "stacks; record with “PROGRAM +RTS -p” and open the .prof") },
  { AT (ANYWHERE, "YFuncStats"),
    N_ ("this is a table in yappi's own format; write it with "
        "“yappi.get_func_stats().save(FILE, type='pstat')” and open that") },
  { AT (ANYWHERE, "\n   Ordered by: "), CPROFILE },
  { AT (ANYWHERE, "Showing nodes accounting for "), PPROF },
  { AT (ANYWHERE, "\n-----------+--------------------"), PPROF },
  { AT (0, "PeriodType: "), PPROF },
  { AT (ANYWHERE, "\nEvents shown: "), VALGRIND },
  { AT (ANYWHERE, "\nms_print arguments: "), VALGRIND },
  { AT (0, "-- Metadata\n"), VALGRIND },
  { AT (0, "% time     seconds  usecs/call     calls"), CALL_SUMMARY },
  { AT (ANYWHERE, "Summary of events:\n"), CALL_SUMMARY },
  { AT (ANYWHERE, " Performance counter stats for "), PERF_STAT },
  { AT (ANYWHERE, "#           time             counts unit events"),
    PERF_STAT },
  { AT (ANYWHERE, "\"counter-value\" : \""), PERF_STAT },
  { AT (ANYWHERE, "{\"interval\" : "), PERF_STAT },
  { IF (is_perf_stat_table), PERF_STAT },
  { AT (ANYWHERE, "Lines sorted by metric: "), GPROFNG },
  { AT (ANYWHERE, "PCs sorted by metric: "), GPROFNG },
  { AT (ANYWHERE, "<HPCToolkitExperiment"), HPCTOOLKIT },
  { AT (ANYWHERE, "== Memcheck, a memory error detector"), MEMORY_ERRORS },
  { AT (ANYWHERE, "ERROR: AddressSanitizer: "), MEMORY_ERRORS },
  { AT (ANYWHERE, "ERROR: LeakSanitizer: "), MEMORY_ERRORS },
};

static gboolean
looks_like (const FlamSource *source, const Refused *refused)
{
  gsize name = strlen (source->name);
  gsize suffix = refused->suffix != NULL ? strlen (refused->suffix) : 0;

  if (refused->fits != NULL)
    return refused->fits (source);
  if (refused->suffix != NULL)
    return name > suffix && g_ascii_strcasecmp (source->name + name - suffix,
                                                refused->suffix) == 0;
  if (refused->offset == ANYWHERE)
    return memmem (source->data,
                   MIN (source->size, (gsize)HEAD),
                   refused->bytes,
                   refused->length) != NULL;
  if (refused->type != NULL &&
      (source->size <= ELF_TYPE || source->data[ELF_TYPE] != *refused->type))
    return FALSE;
  return source->size >= refused->offset + refused->length &&
         memcmp (source->data + refused->offset,
                 refused->bytes,
                 refused->length) == 0;
}

/* Each result of VTune contains a file of VTune's own, by name. */
static gboolean
has_file_with (const char *path, const char *suffix)
{
  g_autoptr (GDir) folder = g_dir_open (path, 0, NULL);
  const char *name;

  while (folder != NULL && (name = g_dir_read_name (folder)) != NULL)
    if (g_str_has_suffix (name, suffix))
      return TRUE;
  return FALSE;
}

static gboolean
has_path (const char *path, const char *below)
{
  g_autofree char *whole = g_build_filename (path, below, NULL);

  return g_file_test (whole, G_FILE_TEST_EXISTS);
}

const char *
flam_refused_folder (const char *path)
{
  if (!g_file_test (path, G_FILE_TEST_IS_DIR))
    return NULL;
  if (has_file_with (path, ".vtune"))
    return VTUNE;
  if (has_file_with (path, ".run") || g_str_has_suffix (path, ".trace"))
    return N_ (
        "this is a recording of Instruments; export it with “xctrace export "
        "--input FOLDER --xpath '//table[@schema=\"time-profile\"]'” and open "
        "that, or copy its call tree with Edit, Deep Copy and open that text");
  if (is_of_perf (path))
    return PERF_CTF;
  if (has_file_with (path, ".uprof") || has_file_with (path, ".caperf"))
    return SESSION;
  if (has_path (path, "log.xml") && has_path (path, "map.xml"))
    return N_ ("this is an experiment of gprofng; print it with “gprofng "
               "display text -calltree FOLDER” and open that text");
  if (has_path (path, "experiment.xml") || has_path (path, "meta.db") ||
      has_file_with (path, ".hpcrun"))
    return HPCTOOLKIT;
  return NULL;
}

const char *
flam_refused_why (const FlamSource *source)
{
  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    if (looks_like (source, &all[i]))
      return all[i].why;
  return NULL;
}
