# SPDX-License-Identifier: GPL-3.0-or-later
# Works 30 calls deep, and prints its CPU time in seconds.
def leaf(x)
  s = 0
  40.times { |i| s = (s * 31 + x + i) & 0xffffff }
  s
end

def deep(n)
  n < 2 ? 1 : deep(n - 1) + leaf(n)
end

40_000.times { deep(30) }
puts Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
