# SPDX-License-Identifier: GPL-3.0-or-later
# Labels of samples. go tool pprof's figures for these two: -tags: tenant red
# 1.1s 38.16%, green 940ms 33.22%, blue 810ms 28.62%; of the heap 45.4MB 99.54%
# in blocks of 10kB, 128kB 0.27%, 32kB 0.14%.
$ flambeau-cli top captures/peers/pprof/go-cpu.pb.gz --measure cpu --by label:tenant --json | grep -E '"(function|total)"' | tr -d '\n '; echo
{"total":2900000000,"rows":[{"function":"red","module":"","file":"","line":0,"self":1080000000,"total":1080000000},{"function":"green","module":"","file":"","line":0,"self":940000000,"total":940000000},{"function":"blue","module":"","file":"","line":0,"self":810000000,"total":810000000},{"function":"[nolabel]","module":"","file":"","line":0,"self":70000000,"total":70000000}]}

$ flambeau-cli top captures/peers/pprof/go-heap.pb.gz --by label:bytes --json | grep -E '"(function|total)"' | tr -d '\n '; echo
{"total":47864929,"rows":[{"function":"10240bytes","module":"","file":"","line":0,"self":47646067,"total":47646067},{"function":"131072bytes","module":"","file":"","line":0,"self":131072,"total":131072},{"function":"32768bytes","module":"","file":"","line":0,"self":65557,"total":65557},{"function":"8192bytes","module":"","file":"","line":0,"self":9474,"total":9474},{"function":"416bytes","module":"","file":"","line":0,"self":8615,"total":8615},{"function":"96bytes","module":"","file":"","line":0,"self":4144,"total":4144}]}

# -tagroot=tenant -traces; -tagfocus=tenant=red,green is an "or", while ours is
# an "and".
$ flambeau-cli tree captures/peers/pprof/go-cpu.pb.gz --measure cpu --by label:tenant --depth 2 --min 1
all  2.90 s  0 ns
  red  1.08 s  0 ns
    main.main.func1  1.08 s  0 ns
  green  940 ms  0 ns
    main.main.func1  940 ms  0 ns
  blue  810 ms  0 ns
    main.main.func1  810 ms  0 ns
  [no label]  70.0 ms  0 ns
    runtime.gcBgMarkWorker  30.0 ms  0 ns
    runtime.morestack  30.0 ms  0 ns

$ flambeau-cli tree captures/peers/pprof/go-cpu.pb.gz --measure cpu --label tenant=red --label worker=w1 --depth 1
all  0 ns  0 ns

# -tagfocus=bytes=1kb:16kb: 45.44MB; =32kb: 64kB; =33kb: none; =64kb:; =:16kb.
$ for r in 1kb:16kb 32kb 33kb 64kb: :16kb 10240 '10240 bytes'; do flambeau-cli tree captures/peers/pprof/go-heap.pb.gz --label "bytes=$r" --depth 0 --json | grep -m1 '"total"'; done
{"function":"all","file":"","line":0,"total":47655541,"self":0,"children":[]}
{"function":"all","file":"","line":0,"total":65557,"self":0,"children":[]}
{"function":"all","file":"","line":0,"total":131072,"self":0,"children":[]}
{"function":"all","file":"","line":0,"total":47668300,"self":0,"children":[]}
{"function":"all","file":"","line":0,"total":47646067,"self":0,"children":[]}
{"function":"all","file":"","line":0,"total":47646067,"self":0,"children":[]}
! flambeau-cli: captures/peers/pprof/go-heap.pb.gz: no sample with the label “bytes=33kb”; there are: bytes=2304 bytes bytes=16384 bytes bytes=12288 bytes bytes=9472 bytes bytes=81920 bytes bytes=14336 bytes bytes=208 bytes bytes=640 bytes bytes=8192 bytes bytes=40960 bytes bytes=16 bytes bytes=262144 bytes bytes=139264 bytes bytes=65536 bytes bytes=1152 bytes bytes=663552 bytes bytes=5376 bytes bytes=20480 bytes bytes=4096 bytes bytes=3072 bytes …

$ flambeau-cli top captures/pprof/threads.pb --label tenant
! flambeau-cli: top: --label tenant: expected KEY=VALUE
[2]

$ flambeau-cli top captures/pprof/threads.pb --by label:zone
! flambeau-cli: captures/pprof/threads.pb: no sample with the label “zone”; there are: tenant=red
[1]

$ flambeau-cli top captures/folded/nest.folded --label a=b
! flambeau-cli: captures/folded/nest.folded: cannot be opened: No such file or directory
[1]

# Exported and imported again, in each format.
$ for t in pprof flambeau; do flambeau-cli export captures/peers/pprof/go-heap.pb.gz --to $t --output heap.$t; flambeau-cli top heap.$t --measure inuse_space --by label:bytes --limit 2; flambeau-cli export captures/peers/pprof/go-heap.pb.gz --label bytes=32kb: --to $t --output big.$t; flambeau-cli top big.$t --by label:bytes --limit 2; done
      self                 total            
   47.6 MB    99.5 %     47.6 MB    99.5 %  10240 bytes
    131 kB     0.3 %      131 kB     0.3 %  131072 bytes
      self                 total            
    131 kB    66.7 %      131 kB    66.7 %  131072 bytes
   65.6 kB    33.3 %     65.6 kB    33.3 %  32768 bytes
      self                 total            
   47.6 MB    99.5 %     47.6 MB    99.5 %  10240 bytes
    131 kB     0.3 %      131 kB     0.3 %  131072 bytes
      self                 total            
    131 kB    66.7 %      131 kB    66.7 %  131072 bytes
   65.6 kB    33.3 %     65.6 kB    33.3 %  32768 bytes

$ flambeau-cli merge heap.flambeau big.flambeau --output both.flambeau; flambeau-cli top both.flambeau --measure inuse_space --by label:bytes --limit 2
      self                 total            
   47.6 MB    99.1 %     47.6 MB    99.1 %  10240 bytes
    262 kB     0.5 %      262 kB     0.5 %  131072 bytes

$ flambeau-cli export captures/peers/pprof/go-cpu.pb.gz --to speedscope --output cpu.json
! captures/peers/pprof/go-cpu.pb.gz: left out, because speedscope cannot hold it: lines, inlined functions, modules, labels

# A label that only one side has filters only that side, which is reported; one
# that neither has is an error.
$ for t in red green; do flambeau-cli export captures/peers/pprof/go-cpu.pb.gz --label tenant=$t --to pprof --output $t.pb; done; flambeau-cli diff red.pb green.pb --measure cpu --label tenant=red | tail -n 1; flambeau-cli diff green.pb red.pb --measure cpu --label tenant=red | tail -n 1; flambeau-cli diff green.pb red.pb --measure cpu --label tenant=blue
+10.0 ms  0 ns → 10.0 ms  sync.runtime_procPin
−10.0 ms  10.0 ms → 0 ns  sync.runtime_procPin
! green.pb: no sample with the label “tenant=red”: compared without that filter
! green.pb: no sample with the label “tenant=red”: compared without that filter
! flambeau-cli: green.pb: no sample with the label “tenant=blue”; there are: tenant=green worker=w1
[1]

# The values are at the root, above the functions, and are not threads.
$ flambeau-cli export captures/pprof/labels.pb --to folded --by label:taskid
8323073;main;work 1
8323074;main;work 1
8323074;wait 1
8323075;main 1
! captures/pprof/labels.pb: left out, because folded cannot hold it: files, lines, labels

$ flambeau-cli export captures/pprof/labels.pb --to folded --by thread --root tid
all threads-?/?;main 1
all threads-?/?;main;work 2
all threads-?/?;wait 1
! captures/pprof/labels.pb: left out, because folded cannot hold it: files, lines, labels

# Processes: equal names stay apart, and one without a name has a row.
$ printf '%s' '[{"ph":"M","pid":7,"name":"process_name","args":{"name":"web"}},{"ph":"M","pid":8,"name":"process_name","args":{"name":"web"}},{"ph":"X","pid":7,"tid":1,"ts":0,"dur":60,"name":"serve"},{"ph":"X","pid":7,"tid":2,"ts":0,"dur":10,"name":"serve"},{"ph":"X","pid":8,"tid":1,"ts":0,"dur":20,"name":"serve"},{"ph":"X","pid":9,"tid":1,"ts":0,"dur":5,"name":"log"}]' > processes.json; flambeau-cli tree processes.json --by process
all  95.0 µs  0 ns
  web (7)  70.0 µs  0 ns
    serve  70.0 µs  70.0 µs
  web (8)  20.0 µs  0 ns
    serve  20.0 µs  20.0 µs
  [unknown process] (9)  5.00 µs  0 ns
    log  5.00 µs  5.00 µs

$ flambeau-cli top processes.json --by process --invert
      self                 total            
   70.0 µs    73.7 %     70.0 µs    73.7 %  web (7)
   20.0 µs    21.1 %     20.0 µs    21.1 %  web (8)
   5.00 µs     5.3 %     5.00 µs     5.3 %  [unknown process] (9)

# By the command line, where the capture has it.
$ flambeau-cli tree captures/sysprof/counters.syscap --by process
all  2  0
  demo --fast (10)  2  0
    [demo]  2  2
