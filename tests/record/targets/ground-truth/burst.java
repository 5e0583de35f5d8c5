// SPDX-License-Identifier: GPL-3.0-or-later

// Burst SECONDS: works for 2 ms or so, three quarters of it in one function, and
// sleeps for 5 ms. truth.h describes its output and when it is written. The process's CPU
// time is that of its threads which have not ended.

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

class Burst {
  interface Part {
    void run() throws Exception;
  }

  static final long start = System.nanoTime();
  static final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
  static final Map<String, Long> spent = new LinkedHashMap<>();
  static final Map<String, Long> early = new LinkedHashMap<>();
  static int sink;

  static int step(int a, int i) {
    return a * 31 + i;
  }

  static void heavy() {
    int a = 1;
    for (int i = 0; i < 1_500_000; i++) a = step(a, i);
    sink = a;
  }

  static void light() {
    int a = 1;
    for (int i = 0; i < 500_000; i++) a = step(a, i);
    sink = a;
  }

  static void rest() throws Exception {
    Thread.sleep(5);
  }

  static void timed(String name, Part part, Map<String, Long> sums) throws Exception {
    long before = threads.getCurrentThreadCpuTime();
    part.run();
    sums.merge(name, threads.getCurrentThreadCpuTime() - before, Long::sum);
  }

  static void turn(Map<String, Long> sums) throws Exception {
    timed("heavy", Burst::heavy, sums);
    timed("light", Burst::light, sums);
    timed("rest", Burst::rest, sums);
  }

  static void work(double seconds) throws Exception {
    long end = System.nanoTime() + (long) (seconds * 1e9);
    while (System.nanoTime() < end) turn(spent);
  }

  /** Of a thread: the time it ran and the time it waited for a CPU, in ns. */
  static long[] schedstat(Path thread) throws Exception {
    String[] words = Files.readString(thread.resolve("schedstat")).trim().split(" ");
    return new long[] {Long.parseLong(words[0]), Long.parseLong(words[1])};
  }

  static long processTime() throws Exception {
    long sum = 0;
    try (var tasks = Files.list(Path.of("/proc/self/task"))) {
      for (Path task : (Iterable<Path>) tasks::iterator) sum += schedstat(task)[0];
    }
    return sum;
  }

  static String seconds(long ns) {
    return "\t" + ns / 1e9;
  }

  public static void main(String[] arguments) throws Exception {
    // All parts are compiled before the work begins. A recording of the whole
    // program contains that, too.
    for (int i = 0; i < 100; i++) {
      timed("heavy", Burst::heavy, early);
      timed("light", Burst::light, early);
    }
    for (int i = 0; i < 20; i++) timed("rest", Burst::rest, early);
    String go = System.getenv("TRUTH_GO");
    if (go != null) {
      try (var file = Files.newInputStream(Path.of(go))) {
        file.read();
      }
    }
    long began = processTime();
    work(Double.parseDouble(arguments[0]));

    StringBuilder said = new StringBuilder();
    spent.forEach((name, ns) -> said.append("part\t" + name + seconds(ns) + "\n"));
    early.forEach((name, ns) -> said.append("early\t" + name + seconds(ns) + "\n"));
    Path own = Path.of("/proc/thread-self").toRealPath();
    long[] stat = schedstat(own);
    said.append("thread\tjava\t" + own.getFileName() + seconds(stat[0]) + seconds(stat[1])
        + seconds(System.nanoTime() - start) + "\n");
    said.append("process" + seconds(began) + seconds(processTime()) + "\n");
    String to = System.getenv().getOrDefault("TRUTH", "/dev/stdout");
    Files.writeString(Path.of(to), said);
  }
}
