# SPDX-License-Identifier: GPL-3.0-or-later
# storm.rb ROUNDS: exceptions, collections of garbage, functions that end, children.
def fail_at(depth)
  raise ArgumentError, "storm" if depth == 0
  1 + fail_at(depth - 1)
end

def survive
  fail_at(50)
rescue ArgumentError => e
  e.message.size
end

def litter
  5000.times.map { |i| "a#{i}" }.size
end

def fresh(number)
  eval("def made; s = #{number}; 2000.times { |i| s += i }; s; end")
  made
end

def children
  pid = fork { exit!(survive) }
  Process.wait(pid)
  $?.exitstatus + (system("true") ? 0 : 1)
end

total = 0
ARGV[0].to_i.times do |number|
  total += survive + litter + fresh(number)
  GC.start if number % 20 == 0
  total += children if number % 20 == 0
end
puts total
