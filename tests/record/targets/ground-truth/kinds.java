// SPDX-License-Identifier: GPL-3.0-or-later

// Kinds SECONDS: a part for each kind of frame that Java's machine has. Run it
// with -XX:CompileCommand=exclude,Kinds::descend, which keeps that method
// interpreted. truth.h describes its output and when it is written.

import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.zip.Deflater;

class Kinds {
  interface Part {
    void run() throws Exception;
  }

  static final long start = System.nanoTime();
  static final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
  static final Map<String, Long> spent = new LinkedHashMap<>();
  static final Map<String, Long> early = new LinkedHashMap<>();
  static final byte[] from = new byte[1 << 16];
  static final byte[] to = new byte[1 << 16];
  static final Object lock = new Object();
  static Object kept;
  static int sink;

  // Interpreted, 500 frames deep.
  static int descend(int depth) {
    if (depth > 0) return descend(depth - 1) + 1;
    int a = 1;
    for (int i = 0; i < 100_000; i++) a = a * 31 + i;
    return a;
  }

  static void interpreted() {
    sink = descend(500);
  }

  // Compiled, with a method inlined.
  static int mix(int a, int i) {
    return a * 31 + (a >>> 7) + i;
  }

  static void compiled() {
    int a = 1;
    for (int i = 0; i < 800_000; i++) a = mix(a, i);
    sink = a;
  }

  // Exceptions, through frames that are dropped.
  static int fail(int depth) {
    if (depth == 0) throw new IllegalStateException("on purpose");
    return fail(depth - 1) + 1;
  }

  static void throwing() {
    for (int i = 0; i < 150; i++) {
      try {
        sink += fail(20);
      } catch (IllegalStateException e) {
        sink++;
      }
    }
  }

  // Garbage, collected again and again.
  static void allocating() {
    Object[] many = new Object[64];
    for (int i = 0; i < 12_000; i++) many[i & 63] = new int[64];
    kept = many;
  }

  // A native method.
  static void deflating() {
    Deflater deflater = new Deflater(1);
    deflater.setInput(from);
    deflater.finish();
    sink += deflater.deflate(to);
    deflater.end();
  }

  // A stub of the machine, without a frame of Java's.
  static void copying() {
    for (int i = 0; i < 500; i++) System.arraycopy(from, i & 7, to, 0, 60_000);
  }

  // Calls through a table of interfaces.
  interface Operation {
    int apply(int a);
  }

  static final Operation[] operations = {
    a -> a + 1, a -> a * 3, a -> a ^ 0x55, a -> a - 7,
  };

  static void dispatching() {
    int a = 1;
    for (int i = 0; i < 250_000; i++) a = operations[i & 3].apply(a);
    sink = a;
  }

  // Code that is thrown away while its frames are on the stack: the only class
  // that overrides a method gets a second one beside it.
  public abstract static class Shape {
    public abstract int area(int i) throws Exception;
  }

  public static class Square extends Shape {
    public int area(int i) throws Exception {
      if (i != 30_000) return i * i;
      Class.forName("Kinds$Round", true, getClass().getClassLoader());
      int a = 1;
      for (int j = 0; j < 1_000_000; j++) a = a * 31 + j;
      return a;
    }
  }

  public static class Round extends Shape {
    public int area(int i) {
      return 3 * i;
    }
  }

  public static class Invalid implements Callable<Integer> {
    static int sum;

    static void sum(Shape shape, int from, int to) throws Exception {
      for (int i = from; i < to; i++) sum += shape.area(i);
    }

    public Integer call() throws Exception {
      Shape shape = new Square();
      for (int i = 0; i < 300; i++) sum(shape, i * 100, i * 100 + 100);
      sum(shape, 30_000, 30_001);
      return sum;
    }
  }

  /* Makes each class again. */
  static class Loader extends ClassLoader {
    Loader() {
      super(Kinds.class.getClassLoader());
    }

    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (!name.startsWith("Kinds$")) return super.loadClass(name, resolve);
      Class<?> known = findLoadedClass(name);
      if (known != null) return known;
      try (InputStream in = getResourceAsStream(name + ".class")) {
        byte[] bytes = in.readAllBytes();
        return defineClass(name, bytes, 0, bytes.length);
      } catch (java.io.IOException e) {
        throw new ClassNotFoundException(name, e);
      }
    }
  }

  static void invalidating() throws Exception {
    Class<?> made = new Loader().loadClass("Kinds$Invalid", true);
    ((Callable<?>) made.getDeclaredConstructor().newInstance()).call();
  }

  static void waiting() throws Exception {
    synchronized (lock) {
      lock.wait(3);
    }
  }

  static void timed(String name, Part part, Map<String, Long> sums) throws Exception {
    long before = threads.getCurrentThreadCpuTime();
    part.run();
    sums.merge(name, threads.getCurrentThreadCpuTime() - before, Long::sum);
  }

  static void turn(Map<String, Long> sums) throws Exception {
    timed("interpreted", Kinds::interpreted, sums);
    timed("compiled", Kinds::compiled, sums);
    timed("throwing", Kinds::throwing, sums);
    timed("allocating", Kinds::allocating, sums);
    timed("deflating", Kinds::deflating, sums);
    timed("copying", Kinds::copying, sums);
    timed("dispatching", Kinds::dispatching, sums);
    timed("invalidating", Kinds::invalidating, sums);
    timed("waiting", Kinds::waiting, sums);
  }

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
    for (int i = 0; i < from.length; i++) from[i] = (byte) (i * i >> 5);
    for (int i = 0; i < 30; i++) turn(early);
    String go = System.getenv("TRUTH_GO");
    if (go != null) {
      try (var file = Files.newInputStream(Path.of(go))) {
        file.read();
      }
    }
    long began = processTime();
    long end = System.nanoTime() + (long) (Double.parseDouble(arguments[0]) * 1e9);
    while (System.nanoTime() < end) turn(spent);

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
