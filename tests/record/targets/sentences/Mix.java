// SPDX-License-Identifier: GPL-3.0-or-later
// Mix CASE: see mix.c.

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;

public class Mix {
  static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();
  static long sink;

  static void checksum() {
    long end = CLOCK.getCurrentThreadCpuTime() + 2400000000L;
    while (CLOCK.getCurrentThreadCpuTime() < end)
      for (int i = 0; i < 300000; i++) sink += i ^ (sink >> 3);
  }

  static void parse() {
    long end = CLOCK.getCurrentThreadCpuTime() + 600000000L;
    while (CLOCK.getCurrentThreadCpuTime() < end)
      for (int i = 0; i < 300000; i++) sink += i ^ (sink >> 3);
  }

  static void sortRows() {
    long end = CLOCK.getCurrentThreadCpuTime() + 2400000000L;
    String[] rows = new String[100000];
    while (CLOCK.getCurrentThreadCpuTime() < end) {
      for (int i = 0; i < rows.length; i++) rows[i] = Integer.toString(i * 7919 % 100003);
      Arrays.sort(rows);
    }
  }

  static void hold() throws InterruptedException {
    synchronized (Mix.class) {
      for (int i = 0; i < 2; i++) new Thread(Mix::queuePop).start();
      Thread.sleep(1500);
    }
  }

  static synchronized void queuePop() {
    sink++;
  }

  public static void main(String[] words) throws InterruptedException {
    if (words[0].equals("lock")) {
      hold();
      return;
    }
    if (words[0].equals("library")) {
      sortRows();
      return;
    }
    checksum();
    parse();
  }
}
