# SPDX-License-Identifier: GPL-3.0-or-later
# Calls, their cost, and how long they lasted.
# The file has calls=1 of a; 2 and 5 of b, by itself too; 1 and 1 of c.
$ flambeau-cli top captures/callgrind/small.callgrind --sort total --calls
      self                 total                calls   per call  function
         5     2.6 %         110    57.9 %                        main  (demo)
        80    42.1 %          80    42.1 %                        [unknown]
        80    42.1 %          80    42.1 %          2         40  c  (libx.so)
        10     5.3 %          70    36.8 %          1         70  a  (demo)
        15     7.9 %          35    18.4 %          7          5  b  (demo)

$ flambeau-cli top captures/callgrind/small.callgrind --json --limit 2
{"total":190,"rows":[{"function":"[unknown]","module":"","file":"","line":0,"self":80,"total":80},{"function":"c","module":"libx.so","file":"x.c","line":5,"self":80,"total":80,"calls":2,"per_call":40.0}]}

# callgrind_annotate --tree=caller: recurse'2 29 and 1, ping'2 3 and 1, pong'2 3,
# leaf_work 1 and 1, the others 1.
$ flambeau-cli top captures/peers/valgrind/callgrind.nest.out --calls --limit 99 | grep '(nest)'
20 000 010    49.8 %  20 000 010    49.8 %          1  20 000 010  spin_heavy  (nest)
 8 000 020    19.9 %   8 000 020    19.9 %          2   4 000 010  leaf_work  (nest)
 8 000 010    19.9 %   8 000 010    19.9 %          1   8 000 010  parse  (nest)
 4 000 010    10.0 %   4 000 010    10.0 %          1   4 000 010  spin_light  (nest)
       361   < 0.1 %   4 000 371    10.0 %         30     133 346  recurse'2  (nest)

# ncalls of Python's own pstats: <genexpr> 60, chop 15, stir 6, even 3, odd 3.
$ flambeau-cli top captures/pstats/cprofile.prof --calls
      self                 total                calls   per call  function
   75.0 ms    34.1 %      135 ms    61.4 %         15    9.00 ms  <built-in method builtins.sum>
   60.0 ms    27.3 %     60.0 ms    27.3 %         60    1.00 ms  <genexpr>
   30.0 ms    13.6 %      165 ms    75.0 %         15    11.0 ms  chop
   15.0 ms     6.8 %      111 ms    50.5 %          3    37.0 ms  <built-in method builtins.sorted>
   12.0 ms     5.5 %     81.0 ms    36.8 %          6    13.5 ms  stir
   9.00 ms     4.1 %      219 ms    99.5 %          1     219 ms  cook
   6.00 ms     2.7 %      117 ms    53.2 %          3    39.0 ms  bake
   6.00 ms     2.7 %     11.0 ms     5.0 %          3    3.67 ms  even
   5.00 ms     2.3 %     5.00 ms     2.3 %          3    1.67 ms  odd
   1.00 ms     0.5 %     1.00 ms     0.5 %          1    1.00 ms  <lambda>
   1.00 ms     0.5 %     1.00 ms     0.5 %          1    1.00 ms  <method 'disable' of '_lsprof.Profiler' objects>

# Two calls of f without any time between, 10 and 20 us, each with a call of g
# at its start; then f for no time, and a call of itself.
$ printf '%s' '[{"ph":"X","pid":1,"tid":1,"ts":0,"dur":100,"name":"main"},{"ph":"X","pid":1,"tid":1,"ts":0,"dur":10,"name":"f"},{"ph":"X","pid":1,"tid":1,"ts":0,"dur":4,"name":"g"},{"ph":"X","pid":1,"tid":1,"ts":10,"dur":20,"name":"f"},{"ph":"X","pid":1,"tid":1,"ts":10,"dur":6,"name":"g"},{"ph":"B","pid":1,"tid":1,"ts":40,"name":"f"},{"ph":"E","pid":1,"tid":1,"ts":40},{"ph":"X","pid":1,"tid":1,"ts":50,"dur":30,"name":"f"},{"ph":"X","pid":1,"tid":1,"ts":60,"dur":10,"name":"f"}]' > calls.trace.json; flambeau-cli top calls.trace.json --calls
      self                 total                calls   per call       min      mean       dev       p99  function
   50.0 µs    50.0 %     60.0 µs    60.0 %          5    12.0 µs      0 ns   14.0 µs   10.2 µs   30.0 µs  f
   40.0 µs    40.0 %      100 µs   100.0 %          1     100 µs    100 µs    100 µs      0 ns    100 µs  main
   10.0 µs    10.0 %     10.0 µs    10.0 %          2    5.00 µs   4.00 µs   5.00 µs   1.00 µs   6.00 µs  g

# The mean of 10, 20, 0, 30 and 10 us is 14, their variance 1500 / 5 - 14 * 14.
$ flambeau-cli top calls.trace.json --json | tr -d ' \n' | sed 's/},{"function/}\n{"function/g'; echo
{"total":100000,"rows":[{"function":"f","module":"","file":"","line":0,"self":50000,"total":60000,"calls":5,"per_call":12000.0,"duration":{"min":0,"median":10000,"p99":30000,"max":30000,"mean":14000.0,"deviation":10198.03902718557}}
{"function":"main","module":"","file":"","line":0,"self":40000,"total":100000,"calls":1,"per_call":100000.0,"duration":{"min":100000,"median":100000,"p99":100000,"max":100000,"mean":100000.0,"deviation":0.0}}
{"function":"g","module":"","file":"","line":0,"self":10000,"total":10000,"calls":2,"per_call":5000.0,"duration":{"min":4000,"median":4000,"p99":6000,"max":6000,"mean":5000.0,"deviation":1000.0}}]}

# Only g's own cost; f's calls stay its own.
$ flambeau-cli top calls.trace.json --hide '^f$' --calls
      self                 total                calls   per call       min      mean       dev       p99  function
   90.0 µs    90.0 %      100 µs   100.0 %          1     100 µs    100 µs    100 µs      0 ns    100 µs  main
   10.0 µs    10.0 %     10.0 µs    10.0 %          2    5.00 µs   4.00 µs   5.00 µs   1.00 µs   6.00 µs  g

# Calls that begin in a range; their time in it.
$ flambeau-cli top calls.trace.json --time 0.000005..0.000045 --calls
      self                 total                calls   per call       min      mean       dev       p99  function
   19.0 µs    47.5 %     25.0 µs    62.5 %          2    12.5 µs      0 ns   8.33 µs   8.50 µs   20.0 µs  f
   15.0 µs    37.5 %     40.0 µs   100.0 %                         40.0 µs   40.0 µs      0 ns   40.0 µs  main
   6.00 µs    15.0 %     6.00 µs    15.0 %          1    6.00 µs   6.00 µs   6.00 µs      0 ns   6.00 µs  g

$ flambeau-cli top calls.trace.json --by thread --calls
      self                 total            
    100 µs   100.0 %      100 µs   100.0 %  thread 1

# A sampled capture counts none.
$ flambeau-cli top captures/folded/annotated.folded --calls --limit 2
      self                 total            function
        13    61.9 %          13    61.9 %  read
         5    23.8 %           5    23.8 %  start_kernel
