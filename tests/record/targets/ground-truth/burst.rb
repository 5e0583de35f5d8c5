# SPDX-License-Identifier: GPL-3.0-or-later
# burst.rb SECONDS: works for 2 ms or so, three quarters of it in one function,
# and sleeps for 5 ms. truth.h describes its output.

START = Process.clock_gettime(Process::CLOCK_MONOTONIC)
$spent = { heavy: 0, light: 0, rest: 0 }

def thread_time
  Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID)
end

def process_time
  Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
end

# A block: frames of Ruby above one of C.
def heavy
  a = 1
  24_000.times { |i| a = (a * 31 + i) & 0xffffff }
end

def light
  a = 1
  8_000.times { |i| a = (a * 31 + i) & 0xffffff }
end

def rest
  sleep 0.005
end

def timed(part)
  before = thread_time
  send(part)
  $spent[part] += thread_time - before
end

def work(seconds)
  done = Process.clock_gettime(Process::CLOCK_MONOTONIC) + seconds
  while Process.clock_gettime(Process::CLOCK_MONOTONIC) < done
    timed(:heavy)
    timed(:light)
    timed(:rest)
  end
end

File.open(ENV["TRUTH_GO"]) { |go| go.read(1) } if ENV["TRUTH_GO"]
began = process_time
work(ARGV[0].to_f)
waited = File.read("/proc/self/schedstat").split[1].to_i / 1e9
lasted = Process.clock_gettime(Process::CLOCK_MONOTONIC) - START
said = $spent.map { |name, seconds| ["part", name, seconds].join("\t") }
said << ["thread", "ruby", Process.pid, thread_time, waited, lasted].join("\t")
said << ["process", began, process_time].join("\t")
File.open(ENV.fetch("TRUTH", "/dev/stdout"), "w") { |file| file.puts said }
