// SPDX-License-Identifier: GPL-3.0-or-later

// Parked: threads that wait below frames of every kind, interpreted, compiled and
// inlined, until the input ends. It writes a line when all of them wait.

import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntUnaryOperator;

class Parked {
  static final CountDownLatch waiting = new CountDownLatch(3);
  static final Object lock = new Object();
  static volatile boolean wait;

  // Called so often before that it is compiled, with `inner` inlined.
  static int inner(int i) {
    if (wait) {
      waiting.countDown();
      LockSupport.park();
    }
    return i * 31;
  }

  static int outer(int i) {
    return inner(i + 1) + 1;
  }

  static int through(IntUnaryOperator operation, int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) sum += operation.applyAsInt(i);
    return sum;
  }

  static int descend(int depth, Runnable last) {
    if (depth == 0) {
      last.run();
      return 0;
    }
    return descend(depth - 1, last) + 1;
  }

  static void start(String name, Runnable run) {
    Thread thread = new Thread(run, name);
    thread.setDaemon(true);
    thread.start();
  }

  static void monitor() {
    synchronized (lock) {
      waiting.countDown();
      try {
        lock.wait();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  public static void main(String[] arguments) throws Exception {
    for (int i = 0; i < 2_000; i++) through(Parked::outer, 100);
    wait = true;
    start("compiled", () -> through(Parked::outer, 1));
    start("interpreted", () -> descend(40, () -> List.of(1).forEach(i -> monitor())));
    start("sleeping, with a long name", () -> descend(5, () -> {
      waiting.countDown();
      try {
        Thread.sleep(1_000_000);
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }));
    waiting.await();
    System.out.println("ready");
    while (System.in.read() >= 0) {}
  }
}
