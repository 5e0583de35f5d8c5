// SPDX-License-Identifier: GPL-3.0-or-later
// storm.java ROUNDS: deoptimisations, exceptions, collections of garbage, and children.
class Storm {
  interface Shape {
    int area(int n);
  }

  static class Square implements Shape {
    public int area(int n) {
      return n * n & 7;
    }
  }

  // Loaded late: what was compiled for one class alone is deoptimised.
  static class Circle implements Shape {
    public int area(int n) {
      return 3 * n & 7;
    }
  }

  static int sum(Shape shape, int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) {
      sum += shape.area(i);
    }
    return sum;
  }

  static int fail(int depth) {
    if (depth == 0) {
      throw new IllegalStateException("storm");
    }
    return 1 + fail(depth - 1);
  }

  static int survive() {
    try {
      return fail(50);
    } catch (IllegalStateException error) {
      return error.getMessage().length();
    }
  }

  static int litter() {
    java.util.ArrayList<byte[]> kept = new java.util.ArrayList<>();
    for (int i = 0; i < 2000; i++) {
      kept.add(new byte[1000]);
      if (kept.size() > 100) {
        kept.clear();
      }
    }
    return kept.size();
  }

  public static void main(String[] args) throws Exception {
    int rounds = Integer.parseInt(args[0]);
    long all = 0;
    for (int round = 0; round < rounds; round++) {
      Shape shape = round > rounds / 3 && round % 2 == 0 ? new Circle() : new Square();
      all += sum(shape, 40000) + survive() + litter();
      if (round % 40 == 0) {
        System.gc();
        all += new ProcessBuilder("true").start().waitFor();
      }
    }
    System.out.println(all);
  }
}
