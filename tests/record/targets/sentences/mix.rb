# SPDX-License-Identifier: GPL-3.0-or-later
# mix.rb CASE: see mix.c.

def now
  Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID)
end

def checksum
  stop = now + 0.8
  total = 0
  while now < stop
    number = 0
    while number < 3000
      total ^= number * 7
      number += 1
    end
  end
end

def parse
  stop = now + 0.2
  total = 0
  while now < stop
    number = 0
    while number < 3000
      total ^= number * 7
      number += 1
    end
  end
end

def sort_rows
  stop = now + 0.8
  rows = (0...100_000).map { |number| (number * 7919 % 100_003).to_s }
  rows.sort while now < stop
end

if ARGV[0] == "library"
  sort_rows
else
  checksum
  parse
end
