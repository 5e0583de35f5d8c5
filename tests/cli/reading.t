# SPDX-License-Identifier: GPL-3.0-or-later
# A capture of known structure:
#   main 100 = 10 self + parse 30 (lex 20) + solve 60 (solve 25 deeper, sort 20)

$ printf '%s\n' 'main 10' 'main;parse 10' 'main;parse;lex 20' 'main;solve 15' 'main;solve;solve 25' 'main;solve;sort 20' >known.folded

$ flambeau-cli info known.folded
solve takes 40 %

format     folded
measures   samples            100 (Samples)
samples    100 in 6 stacks of 5 functions
threads    #1 all threads: 100 samples, 100

$ flambeau-cli info known.folded --json
{"headline":{"text":"solve takes 40 %","parts":[{"kind":"function","text":"solve","measure":"samples","function":"solve"},{"kind":"function","text":"40 %","measure":"samples","function":"solve"}]},"format":"folded","command":"","duration_ns":0,"complete":true,"read_fraction":1.0,"measures":[{"id":"samples","name":"Samples","kind":"cpu","unit":"count","total":100}],"samples":100,"allocations":0,"stacks":6,"functions":5,"lost":0,"late":0,"truncated_stacks":0,"processes":[{"pid":-1,"name":""}],"threads":[{"row":1,"pid":-1,"tid":-1,"name":"all threads","samples":100,"total":100}],"modules":[],"warnings":[]}

$ flambeau-cli top known.folded
      self                 total            function
        40    40.0 %          60    60.0 %  solve
        20    20.0 %          20    20.0 %  lex
        20    20.0 %          20    20.0 %  sort
        10    10.0 %         100   100.0 %  main
        10    10.0 %          30    30.0 %  parse

# Weight without a frame has a row, so that all rows add up to the total.
$ flambeau-cli top known.folded --hide '^main$' --limit 5
      self                 total            function
        40    40.0 %          60    60.0 %  solve
        20    20.0 %          20    20.0 %  lex
        20    20.0 %          20    20.0 %  sort
        10    10.0 %          30    30.0 %  parse
        10    10.0 %          10    10.0 %  [no stack]

$ flambeau-cli export known.folded --to csv --hide '^(main|parse)$' | tr -d '\r'
function,module,file,line,self,total
solve,,,,40,60
[no stack],,,,20,20
lex,,,,20,20
sort,,,,20,20

# A locale without UTF-8 gets the most similar characters.
$ LC_ALL=C flambeau-cli top known.folded --limit 1
      self                 total            function
        40    40.0 %          60    60.0 %  solve

$ flambeau-cli top known.folded --sort total --limit 2
      self                 total            function
        10    10.0 %         100   100.0 %  main
        40    40.0 %          60    60.0 %  solve

$ flambeau-cli top known.folded --json --limit 2
{"total":100,"rows":[{"function":"solve","module":"","file":"","line":0,"self":40,"total":60},{"function":"lex","module":"","file":"","line":0,"self":20,"total":20}]}

$ flambeau-cli top - <known.folded --limit 1
      self                 total            function
        40    40.0 %          60    60.0 %  solve

$ gzip -c known.folded | flambeau-cli top - --limit 1
      self                 total            function
        40    40.0 %          60    60.0 %  solve

# Very deep, but no wider.
$ (seq 102 | paste -sd ';'; echo 1) | paste -sd ' ' | flambeau-cli tree - | tail -2 | tr -s ' '
 (101) 101 1 0
 (102) 102 1 1

$ flambeau-cli tree known.folded
all  100  0
  main  100  10
    solve  60  15
      solve  25  25
      sort  20  20
    parse  30  10
      lex  20  20

# The outermost call of a recursion represents the function: every stack counts
# once.
$ flambeau-cli tree known.folded --callers solve
solve  60  0
  main  60  0

$ flambeau-cli tree known.folded --callees solve
solve  60  15
  solve  25  25
  sort  20  20

$ flambeau-cli tree known.folded --callees nobody
! flambeau-cli: no function “nobody” in the selection
[1]

$ flambeau-cli tree known.folded --callees solve --invert
! flambeau-cli: tree: --invert cannot be combined with --callers or --callees
[2]

$ flambeau-cli tree known.folded --depth 1
all  100  0
  main  100  10

$ flambeau-cli tree known.folded --min 25
all  100  0
  main  100  10
    solve  60  15
      solve  25  25
    parse  30  10

$ flambeau-cli tree known.folded --json
{"function":"all","file":"","line":0,"total":100,"self":0,"children":[{"function":"main","file":"","line":0,"total":100,"self":10,"children":[{"function":"solve","file":"","line":0,"total":60,"self":15,"children":[{"function":"solve","file":"","line":0,"total":25,"self":25,"children":[]},{"function":"sort","file":"","line":0,"total":20,"self":20,"children":[]}]},{"function":"parse","file":"","line":0,"total":30,"self":10,"children":[{"function":"lex","file":"","line":0,"total":20,"self":20,"children":[]}]}]}]}

$ flambeau-cli tree known.folded --invert --depth 2
all  100  0
  solve  40  40
    solve  25  0
    main  15  0
  lex  20  20
    parse  20  0
  sort  20  20
    solve  20  0
  main  10  10
  parse  10  10
    main  10  0

# Selections.
$ flambeau-cli tree known.folded --focus '^solve$'
all  60  0
  solve  60  15
    solve  25  25
    sort  20  20

$ flambeau-cli tree known.folded --ignore lex
all  80  0
  main  80  10
    solve  60  15
      solve  25  25
      sort  20  20
    parse  10  10

$ flambeau-cli tree known.folded --filter sort
all  20  0
  main  20  0
    solve  20  0
      sort  20  20

$ flambeau-cli tree known.folded --hide '^solve$'
all  100  0
  main  100  50
    parse  30  10
      lex  20  20
    sort  20  20

$ flambeau-cli tree known.folded --collapse '^solve$'
all  100  0
  main  100  10
    solve  60  60
    parse  30  10
      lex  20  20

$ flambeau-cli tree known.folded --prune parse --depth 2
all  100  0
  main  100  40
    solve  60  15

$ flambeau-cli tree known.folded --stop-at parse
all  100  0
  main  100  10
    solve  60  15
      solve  25  25
      sort  20  20
    parse  30  30

$ flambeau-cli tree known.folded --recursion flat
all  100  0
  main  100  10
    solve  60  40
      sort  20  20
    parse  30  10
      lex  20  20

$ flambeau-cli tree known.folded --recursion collapse
all  100  0
  main  100  10
    solve  60  40
      sort  20  20
    parse  30  10
      lex  20  20

$ flambeau-cli top known.folded --ignore '.'
      self                 total            function

$ flambeau-cli top known.folded --by module
      self                 total            
       100   100.0 %         100   100.0 %  [unknown]

$ flambeau-cli top known.folded --kind alloc --limit 1
      self                 total            function
      40 B    40.0 %        60 B    60.0 %  solve

# The reader is gone: no message, no crash.
$ flambeau-cli tree known.folded | head -n 1
all  100  0

# A range cuts spans at its borders; the capture lasts until the end of the last
# one.
$ flambeau-cli info captures/speedscope/evented.speedscope.json | grep -E 'duration|wall-time'
duration   10.0 s
measures   wall-time          10.0 s (Wall time)

$ flambeau-cli top captures/speedscope/evented.speedscope.json --time 1..3
      self                 total            function
    1.00 s    50.0 %      2.00 s   100.0 %  main
    1.00 s    50.0 %      1.00 s    50.0 %  parse

$ flambeau-cli top captures/speedscope/evented.speedscope.json --time 9..
      self                 total            function
    1.00 s   100.0 %      1.00 s   100.0 %  main

# Every verb hides, drops and selects in the same way.
$ flambeau-cli lines captures/heaptrack/v3.heaptrack --source demo.cpp --measure allocated
demo.cpp
    10  self 0 B  total 952 B
    20  self 0 B  total 896 B
    30  self 16 B  total 16 B

$ flambeau-cli lines captures/heaptrack/v3.heaptrack --source demo.cpp --measure allocated --hide make_buffer
demo.cpp
    10  self 0 B  total 952 B
    30  self 16 B  total 16 B

$ flambeau-cli lines captures/heaptrack/v3.heaptrack --source demo.cpp --measure allocated --ignore make_buffer
demo.cpp
    10  self 0 B  total 56 B
    30  self 16 B  total 16 B

$ flambeau-cli info captures/heaptrack/v3.heaptrack --ignore push_back | grep allocated
           allocated          57 B (Allocated memory)

$ flambeau-cli top captures/heaptrack/v3.heaptrack --ignore push_back --measure allocated --limit 1
      self                 total               blocks  function
      32 B    56.1 %        32 B    56.1 %          1  dl_open_worker  (ld.so)

$ flambeau-cli info captures/speedscope/evented.speedscope.json --time 1..3 --thread 'main thread' | tail -n 3
samples    1 in 3 stacks of 3 functions
threads    #1 main thread: 1 sample, 2.00 s
warning    2 frames, events or weights are invalid

# Transforms apply in their order: below a pruned node there is nothing left to
# find.
$ flambeau-cli top captures/heaptrack/v3.heaptrack --filter push_back --stop-at main --limit 1
      self                 total               blocks  function
     640 B   100.0 %       640 B   100.0 %          4  main  (demo)

$ flambeau-cli top captures/heaptrack/v3.heaptrack --stop-at main --filter push_back --limit 1
      self                 total               blocks  function

# Separate addresses of a function, as with FlameGraphs.jl's combine=false.
$ flambeau-cli tree captures/jlprof/plain.jlprof --by address; flambeau-cli export captures/jlprof/plain.jlprof --by address --to folded 2>/dev/null; flambeau-cli top captures/jlprof/plain.jlprof --by address --json | grep -o '"address":[0-9]*' | head -2
all  4  0
  _start@0x10  4  0
    cook@0x20  3  0
      chop@0x30  2  0
        +@0x30  2  2
      jl_gc_collect@0x40  1  1
    [unknown]@0x50  1  0
      [unknown]@0x99  1  1
_start@0x10;[unknown]@0x50;[unknown]@0x99 1
_start@0x10;cook@0x20;chop@0x30;+@0x30 2
_start@0x10;cook@0x20;jl_gc_collect@0x40 1
"address":48
"address":153

# Estimates are marked.
$ flambeau-cli info captures/gperftools/sampled.heap
Memory in use: 1.88 MB (3 samples)

format     gperftools
measures   inuse_space        1.88 MB (3 samples) (Memory in use)
           inuse_objects      2 050 (Blocks in use)
           alloc_space        2.43 MB (4 samples) (Allocated memory)
           alloc_objects      87 386 (Allocations)
samples    3 in 3 stacks of 1 function
sampled    one allocation every 512 KiB: all sums are estimates
threads    #1 all threads: 3 samples, 1.88 MB (3 samples)
modules    /bin/demo: 1.88 MB (3 samples), symbols: none, file not found: /bin/demo
           and another 2 with nothing in them

# A capture that is fast to read leaves nothing in the cache.
$ XDG_CACHE_HOME=cache flambeau-cli top known.folded --cache --limit 1
      self                 total            function
        40    40.0 %          60    60.0 %  solve

$ test -e cache || echo nothing
nothing

# Julia's status of frames is kept, and that of hidden frames goes to their
# callers.
$ flambeau-cli tree captures/jlprof/plain.jlprof --hide '^jl_' --json | grep -o '"function":"[^"]*"\|"status":[^]]*.' | head -4; flambeau-cli export captures/jlprof/status.jlprof --to jlprof --output again.jlprof; cmp again.jlprof captures/jlprof/status.jlprof; flambeau-cli dump again.jlprof --stage tree; flambeau-cli export captures/jlprof/plain.jlprof --hide '^jl_' --to jlprof --output told.jlprof; flambeau-cli dump told.jlprof --stage tree
"function":"all"
"function":"_start"
"function":"cook"
"status":["gc"]
all self=0 total=20
  cook self=1 total=18
    chop self=7 total=9 status=dispatch
      + self=2 total=2 status=gc
    infer self=6 total=6 status=gc,compilation
    abstract self=2 total=2 status=compilation
  eval_user_input self=1 total=1 status=repl
  task_done_hook self=1 total=1 status=task
all self=0 total=4
  _start self=0 total=4
    cook self=1 total=3 status=gc
      chop self=0 total=2
        + self=2 total=2
    [unknown] self=0 total=1
      [unknown] self=1 total=1
! captures/jlprof/plain.jlprof: left out, because jlprof cannot hold it: kinds of code

# Counted samples are not nanoseconds.
$ flambeau-cli info captures/flambeau/kitchen.flambeau --no-symbols --count --thread cook | grep -A1 -e '^measures' -e '/26142 cook:'; flambeau-cli info captures/flambeau/kitchen.flambeau --no-symbols --count --json | grep -o '"id":"wall-time"[^}]*'; flambeau-cli lines captures/flambeau/kitchen.flambeau --no-symbols --count --source kitchen.c | head -2; flambeau-cli diff captures/flambeau/kitchen.flambeau --no-symbols --count --thread cook --base-time 0..0.8 --self 2>/dev/null | head -1; flambeau-cli export captures/flambeau/kitchen.flambeau --no-symbols --count --to callgrind 2>/dev/null | grep events
measures   wall-time          121 (Wall time)
           cpu-time           121 (CPU time)
--
             26140/26142 cook: 121 samples, 121
modules    /tmp/kitchen/kitchen: 121, symbols: dwarf
"id":"wall-time","name":"Wall time","kind":"cpu","unit":"count","total":228
/usr/src/flam/tests/record/targets/kitchen.c
    32  self 0  total 122
+20  19 → 39  slice
events: samples

# Figures about the quality of a recording are shown from 1 on.
$ flambeau-cli info captures/flambeau/facts.flambeau
format     flambeau
command    ./cook
duration   3.00 s
measures   samples            0 (Samples)
samples    0 in 0 stacks of 0 functions
lost       1
late       1 sample
truncated  1 stack
recorder   used 0.5 % of the program's CPU time
stops      20.0 µs (median), 90.0 µs (99 of 100)
waiting    1 stop found the thread waiting for a CPU, and was left out
uncertain  1 stop for which it was estimated whether the thread was running
unnamed    1 frame of a managed language whose name could not be read
warning    the capture has no samples

# Branches without a match go, and all others keep their whole cost.
$ printf '%s\n' 'main;parse;lex 4' 'main;parse 1' 'main;draw;blit 3' 'idle 2' >branches.folded; flambeau-cli tree branches.folded --branches '^lex$'; flambeau-cli top branches.folded --branches '^parse$' --sort total; flambeau-cli export branches.folded --to folded --branches 'lex|blit' --hide '^lex$'
all  10  2
  main  8  3
    parse  5  1
      lex  4  4
      self                 total            function
         3    30.0 %           8    80.0 %  main
         1    10.0 %           5    50.0 %  parse
         4    40.0 %           4    40.0 %  lex
         2    20.0 %           2    20.0 %  [no stack]
 2
main 5
main;draw;blit 3

# Numbers that are out of range are limited, and one warning counts them and names the place of the first.
$ echo '[{"name":"a","ph":"X","ts":1,"dur":5,"pid":1,"tid":1},{"name":"b","ph":"X","ts":9223372036854775807,"dur":5,"pid":1,"tid":1},{"name":"c","ph":"X","ts":20,"dur":9000000000000000000,"pid":1,"tid":2}]' >far.trace.json; grep -obE '9[0-9]{18}' far.trace.json; flambeau-cli info far.trace.json | grep warning
80:9223372036854775807
160:9000000000000000000
warning    2 numbers are out of range and were limited: the first is at byte 80

$ echo '[{"name":"a","ph":"X","ts":"1","dur":5,"pid":1,"tid":1},{"name":"b","ph":"X","ts":"99999999999999999999","dur":"-5","pid":1,"tid":1}]' >far-text.trace.json; flambeau-cli info far-text.trace.json | grep -e warning -e duration
duration   5.00 µs
warning    1 event of a kind that is not shown (flows, asynchronous events, spans without a duration)
warning    2 numbers are out of range and were limited: the first is at byte 83

$ echo '{"nodes":[{"id":1,"callFrame":{"functionName":"(root)","url":""},"children":[2]},{"id":2,"callFrame":{"functionName":"f","url":"x.js"}}],"startTime":0,"endTime":9000000000000000000,"samples":[2,2],"timeDeltas":[1,9000000000000000000]}' >far.cpuprofile; flambeau-cli info far.cpuprofile | grep warning
warning    the time of 1 sample is out of range and was limited: it is sample 2

$ echo '{"session":{"start_time":1},"sample_count":1,"root_frame":{"function":"main","line_no":1,"time":99999999999}}' >far-instrument.json; echo '{"type":"CpuSamples","samplePeriod":1000,"pid":1,"functions":[{"kind":"Dart","resolvedUrl":"","function":{"name":"run"}}],"samples":[{"tid":2,"timestamp":1,"stack":[0]},{"tid":2,"timestamp":9000000000000000,"stack":[0]}]}' >far-dart.json; echo '{"main()":{"ct":1,"wt":5},"main()==>f":{"ct":1,"wt":99999999999999999999}}' >far-xhprof.json; echo '{"elapsed_time_sec":1e12,"program":"a.py","files":{"a.py":{"functions":[],"lines":[{"line":"a()","lineno":1,"n_cpu_percent_python":50}]}}}' >far-scalene.json; for f in instrument dart xhprof scalene; do flambeau-cli info far-$f.json | grep -e ^format -e warning; done
format     pyinstrument
warning    1 number is out of range and was limited: it is at byte 96
format     dart
warning    1 number is out of range and was limited: it is at byte 190
format     xhprof
warning    1 number is out of range and was limited: it is at byte 52
format     scalene
warning    1 number is out of range and was limited: it is at byte 20

$ sed 's/"data":\[\[0,0,0\],\[0,5,0\]/"data":[[0,0,0],[0,1e15,0]/' captures/gecko/phases.gecko.json >far.gecko.json; flambeau-cli info far.gecko.json | grep warning; awk -F, -v OFS=, '/^tick/ && !n++ { $3 = "9000000000000000000" } 1' captures/v8-log/small.v8.log >far.v8.log; flambeau-cli info far.v8.log | grep range
warning    1 number is out of range and was limited
warning    1 number is out of range and was limited

$ { head -c 48 captures/jfr/execution.jfr; printf '\200\0\0\0\0\0\0\0'; tail -c +57 captures/jfr/execution.jfr; } >far.jfr; flambeau-cli info far.jfr | grep warning
warning    2 numbers are out of range and were limited

# Two functions of one name are told apart, and may be asked for so.
$ printf '%s\n' 'events: Ir' 'fl=lexer.c' 'fn=init' '1 30' 'fl=parser.c' 'fn=init' '2 50' 'fl=main.c' 'fn=main' 'cfi=lexer.c' 'cfn=init' 'calls=1 1' '9 30' 'cfi=parser.c' 'cfn=init' 'calls=1 2' '10 50' >same.callgrind

$ flambeau-cli top same.callgrind
      self                 total            function
        50    62.5 %          50    62.5 %  init (parser.c)
        30    37.5 %          30    37.5 %  init (lexer.c)
         0       0 %          80   100.0 %  main

$ flambeau-cli tree same.callgrind
all  80  0
  main  80  0
    init (parser.c)  50  50
    init (lexer.c)  30  30

$ flambeau-cli tree same.callgrind --callers 'init (lexer.c)'
init (lexer.c)  30  0
  main  30  0

$ flambeau-cli tree same.callgrind --callers init
init (parser.c)  50  0
  main  50  0

# A line's total includes its calls.
$ flambeau-cli lines same.callgrind --source main.c
main.c
     9  self 0  total 30
    10  self 0  total 50
