// SPDX-License-Identifier: GPL-3.0-or-later

// Works 30 calls deep, and prints its CPU time in seconds.
import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;

class Loop {
  static int leaf(int x) {
    int s = 0;
    for (int i = 0; i < 40; i++) s = s * 31 + x + i;
    return s;
  }

  static int text(int n) {
    List<Integer> list = new ArrayList<>();
    for (int i = 0; i < 20; i++) list.add(n + i);
    return list.toString().length();
  }

  static int deep(int n) {
    return n < 2 ? 1 : deep(n - 1) + leaf(n);
  }

  public static void main(String[] arguments) {
    int total = 0;
    for (int i = 0; i < 1_000_000; i++) total += deep(30) + (i % 8 == 0 ? text(i) : 0);
    var system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    System.out.println(system.getProcessCpuTime() / 1e9);
    System.err.println(total);
  }
}
