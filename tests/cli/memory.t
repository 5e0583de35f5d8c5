# SPDX-License-Identifier: GPL-3.0-or-later
# What a capture with allocations says about its memory.

$ flambeau-cli memory captures/heaptrack/v3.heaptrack
allocated  953 B in 9 blocks, 105 B each
temporary  768 B in 3 blocks, 33.3 % of all allocated
peak       648 B in 5 blocks at 10.0 ms
leaked     65 B in 2 blocks

allocated     blocks  temporary      peak    leaked  size in bytes
      1 B          1        0 %       0 B       1 B  1
      0 B          0        0 %       0 B       0 B  2..3
      0 B          0        0 %       0 B       0 B  4..7
      8 B          1        0 %       8 B       0 B  8..15  #
     16 B          1        0 %       0 B       0 B  16..31
     32 B          1        0 %       0 B       0 B  32..63
    128 B          2        0 %     128 B      64 B  64..127  ######
      0 B          0        0 %       0 B       0 B  128..255
    768 B          3    100.0 %     512 B       0 B  256..511  ########################

allocated     blocks  temporary      peak    leaked  allocator
    953 B          9     33.3 %     648 B      65 B  malloc

allocated     blocks  temporary      peak    leaked  function (self)
    896 B          5     60.0 %     640 B      64 B  std::vector<int>::push_back  vector.h:200
      8 B          1        0 %       8 B       0 B  [libc.so.6]
     32 B          1        0 %       0 B       0 B  dl_open_worker
     16 B          1        0 %       0 B       0 B  known_leak  demo.cpp:30

$ flambeau-cli memory captures/heaptrack/v3.heaptrack --measure leaked-blocks --limit 1
allocated  953 B in 9 blocks, 105 B each
temporary  768 B in 3 blocks, 33.3 % of all allocated
peak       648 B in 5 blocks at 10.0 ms
leaked     65 B in 2 blocks

allocated     blocks  temporary      peak    leaked  size in bytes
      1 B          1        0 %       0 B       1 B  1  ########################
      0 B          0        0 %       0 B       0 B  2..3
      0 B          0        0 %       0 B       0 B  4..7
      8 B          1        0 %       8 B       0 B  8..15
     16 B          1        0 %       0 B       0 B  16..31
     32 B          1        0 %       0 B       0 B  32..63
    128 B          2        0 %     128 B      64 B  64..127  ########################
      0 B          0        0 %       0 B       0 B  128..255
    768 B          3    100.0 %     512 B       0 B  256..511

allocated     blocks  temporary      peak    leaked  allocator
    953 B          9     33.3 %     648 B      65 B  malloc

allocated     blocks  temporary      peak    leaked  function (self)
    896 B          5     60.0 %     640 B      64 B  std::vector<int>::push_back  vector.h:200

$ flambeau-cli memory captures/heaptrack/v3.heaptrack --limit 1 --json
{"allocated":{"bytes":953,"blocks":9},"temporary":{"bytes":768,"blocks":3},"peak":{"bytes":648,"blocks":5},"leaked":{"bytes":65,"blocks":2},"peak_time_ns":10000000,"sizes":[{"from":1,"to":1,"allocated":{"bytes":1,"blocks":1},"temporary":{"bytes":0,"blocks":0},"peak":{"bytes":0,"blocks":0},"leaked":{"bytes":1,"blocks":1}},{"from":2,"to":3,"allocated":{"bytes":0,"blocks":0},"temporary":{"bytes":0,"blocks":0},"peak":{"bytes":0,"blocks":0},"leaked":{"bytes":0,"blocks":0}},{"from":4,"to":7,"allocated":{"bytes":0,"blocks":0},"temporary":{"bytes":0,"blocks":0},"peak":{"bytes":0,"blocks":0},"leaked":{"bytes":0,"blocks":0}},{"from":8,"to":15,"allocated":{"bytes":8,"blocks":1},"temporary":{"bytes":0,"blocks":0},"peak":{"bytes":8,"blocks":1},"leaked":{"bytes":0,"blocks":0}},{"from":16,"to":31,"allocated":{"bytes":16,"blocks":1},"temporary":{"bytes":0,"blocks":0},"peak":{"bytes":0,"blocks":0},"leaked":{"bytes":0,"blocks":0}},{"from":32,"to":63,"allocated":{"bytes":32,"blocks":1},"temporary":{"bytes":0,"blocks":0},"peak":{"bytes":0,"blocks":0},"leaked":{"bytes":0,"blocks":0}},{"from":64,"to":127,"allocated":{"bytes":128,"blocks":2},"temporary":{"bytes":0,"blocks":0},"peak":{"bytes":128,"blocks":2},"leaked":{"bytes":64,"blocks":1}},{"from":128,"to":255,"allocated":{"bytes":0,"blocks":0},"temporary":{"bytes":0,"blocks":0},"peak":{"bytes":0,"blocks":0},"leaked":{"bytes":0,"blocks":0}},{"from":256,"to":511,"allocated":{"bytes":768,"blocks":3},"temporary":{"bytes":768,"blocks":3},"peak":{"bytes":512,"blocks":2},"leaked":{"bytes":0,"blocks":0}}],"allocators":[{"allocator":"malloc","counted":true,"allocated":{"bytes":953,"blocks":9},"temporary":{"bytes":768,"blocks":3},"peak":{"bytes":648,"blocks":5},"leaked":{"bytes":65,"blocks":2}}],"threads":[],"functions":[{"function":"std::vector<int>::push_back","file":"vector.h","line":200,"self":{"allocated":{"bytes":896,"blocks":5},"temporary":{"bytes":768,"blocks":3},"peak":{"bytes":640,"blocks":4},"leaked":{"bytes":64,"blocks":1}},"total":{"allocated":{"bytes":896,"blocks":5},"temporary":{"bytes":768,"blocks":3},"peak":{"bytes":640,"blocks":4},"leaked":{"bytes":64,"blocks":1}}}],"suppressions":[]}

# Snapshots contain neither the allocations between them nor single blocks:
# missing data is not shown, and null.
$ flambeau-cli memory captures/massif/small.massif
peak       1.07 kB at 9.00 ms

    peak  allocator
 1.00 kB  malloc
    72 B  other

    peak  function (self)
 1.00 kB  hold  hold.c:3
    48 B  (stacks)
    24 B  (the allocator's own)

$ flambeau-cli memory captures/massif/small.massif --limit 1 --json
{"allocated":{"bytes":null,"blocks":null},"temporary":{"bytes":null,"blocks":null},"peak":{"bytes":1072,"blocks":null},"leaked":{"bytes":null,"blocks":null},"peak_time_ns":9000000,"sizes":[],"allocators":[{"allocator":"malloc","counted":true,"allocated":{"bytes":null,"blocks":null},"temporary":{"bytes":null,"blocks":null},"peak":{"bytes":1000,"blocks":null},"leaked":{"bytes":null,"blocks":null}},{"allocator":"other","counted":true,"allocated":{"bytes":null,"blocks":null},"temporary":{"bytes":null,"blocks":null},"peak":{"bytes":72,"blocks":null},"leaked":{"bytes":null,"blocks":null}}],"threads":[],"functions":[{"function":"hold","file":"hold.c","line":3,"self":{"allocated":{"bytes":null,"blocks":null},"temporary":{"bytes":null,"blocks":null},"peak":{"bytes":1000,"blocks":null},"leaked":{"bytes":null,"blocks":null}},"total":{"allocated":{"bytes":null,"blocks":null},"temporary":{"bytes":null,"blocks":null},"peak":{"bytes":1000,"blocks":null},"leaked":{"bytes":null,"blocks":null}}}],"suppressions":[]}

$ flambeau-cli memory captures/memray-html/temporal.html
peak       4.20 kB in 4 blocks at 0 ns

    peak  allocator
 4.20 kB  malloc

    peak  thread
 4.20 kB  #1 0x1 (MainThread)

    peak  function (self)
 4.10 kB  _find  <frozen importlib._bootstrap>:100
   100 B  load  app.py:9

# A time range: its own peak, and the memory that was allocated in it and
# outlived it.
$ flambeau-cli info captures/heaptrack/v3.heaptrack --time 0.009..0.015 | grep -E 'peak|leaked|allocated'
measures   peak               648 B (Peak memory)
           leaked             520 B (Leaked memory)
           allocated          520 B (Allocated memory)
           peak-blocks        5 (Blocks at the peak)
           leaked-blocks      3 (Leaked blocks)
warning    48 bytes in 2 blocks that live at the end are not counted as leaked: heaptrack's rules or the program's suppress them (as heaptrack_print does)

$ flambeau-cli top captures/heaptrack/v3.heaptrack --growth 0.009..0.025
      self                 total               blocks  function
       8 B   100.0 %         8 B   100.0 %          1  [libc.so.6]  (libc.so.6)
       0 B       0 %         8 B   100.0 %          1  _start  (demo)
       0 B       0 %         8 B   100.0 %          1  main  (demo)

# The names of marks are moments, too, and so is the peak.
$ flambeau-cli info captures/flambeau/recording.flambeau --time here.. | grep allocations
           allocations        0 (Allocations)
           temporary          0 (Temporary allocations)

$ flambeau-cli info captures/heaptrack/v3.heaptrack --time ..peak | grep allocations
           allocations        6 (Allocations)
           temporary          3 (Temporary allocations)

$ flambeau-cli info captures/heaptrack/v3.heaptrack --time nowhere..
! flambeau-cli: captures/heaptrack/v3.heaptrack: “nowhere” is neither a mark nor a number of seconds
[1]

# Pages are counted on request, and always in Memray's captures.
$ flambeau-cli memory captures/memray/v12.bin --limit 1
allocated  14.0 kB in 8 blocks, 1.75 kB each
temporary  100 B in 1 block, 12.5 % of all allocated
peak       9.26 kB in 3 blocks at 10.0 ms
leaked     4.61 kB in 3 blocks

allocated     blocks  temporary      peak    leaked  size in bytes
     10 B          1        0 %       0 B      10 B  8..15
      0 B          0        0 %       0 B       0 B  16..31
      0 B          0        0 %       0 B       0 B  32..63
    228 B          3     33.3 %      64 B       0 B  64..127  #
      0 B          0        0 %       0 B       0 B  128..255
    500 B          1        0 %       0 B     500 B  256..511
  1.00 kB          1        0 %   1.00 kB       0 B  512..1023  ###
      0 B          0        0 %       0 B       0 B  1024..2047
      0 B          0        0 %       0 B       0 B  2048..4095
  4.10 kB          1        0 %       0 B   4.10 kB  4096..8191
  8.19 kB          1        0 %   8.19 kB       0 B  8192..16383  ########################

allocated     blocks  temporary      peak    leaked  allocator
    100 B          1    100.0 %       0 B       0 B  malloc
  1.00 kB          1        0 %   1.00 kB       0 B  calloc
     10 B          1        0 %       0 B      10 B  realloc
    500 B          1        0 %       0 B     500 B  aligned
  12.3 kB          2        0 %   8.19 kB   4.10 kB  mmap
    128 B          2        0 %      64 B       0 B  pymalloc

allocated     blocks  temporary      peak    leaked  thread
  13.5 kB          6     16.7 %   9.26 kB   4.10 kB  #1 0x7000 (MainThread)
    510 B          2        0 %       0 B     510 B  #2 0x8000 (worker)

allocated     blocks  temporary      peak    leaked  function (self)
  13.5 kB          6     16.7 %   9.26 kB   4.10 kB  f  app.py:2

$ flambeau-cli info captures/memray/v12.bin --allocators heap | grep allocated
           allocated          1.74 kB (Allocated memory)

$ flambeau-cli info captures/memray/v12.bin --allocators mmap,brk | grep allocated
           allocated          12.3 kB (Allocated memory)

$ flambeau-cli export captures/memray/v12.bin --to flambeau --output copy.flambeau; flambeau-cli info copy.flambeau | grep allocated
           allocated          14.0 kB (Allocated memory)

$ flambeau-cli info captures/memray/v12.bin --allocators malloc,free
! flambeau-cli: info: --allocators malloc,free: expected a list of malloc, calloc, realloc, aligned, mmap, brk, file, pymalloc, other, descriptor, thread, heap, pages, all
[2]

# Temporary memory.
$ flambeau-cli info captures/heaptrack/v3.heaptrack --temporary-within 100 | grep temporary
           temporary          3 (Temporary allocations)
           temporary-bytes    768 B (Temporary memory)

# LeakSanitizer's rules.
$ printf '%s\n' '# known' leak:^main leak:libc.so leak:never >rules; flambeau-cli memory captures/heaptrack/v3.heaptrack --suppressions rules | sed '/^ /d;/^$/d' ; flambeau-cli memory captures/heaptrack/v3.heaptrack --suppressions rules | sed -n '/^Supp/,$p'
allocated  953 B in 9 blocks, 105 B each
temporary  768 B in 3 blocks, 33.3 % of all allocated
peak       648 B in 5 blocks at 10.0 ms
leaked     1 B in 1 block
allocated     blocks  temporary      peak    leaked  size in bytes
allocated     blocks  temporary      peak    leaked  allocator
allocated     blocks  temporary      peak    leaked  function (self)
Suppressions used:
Suppressions used:
  count      bytes template
      1         64 ^main

$ flambeau-cli top captures/heaptrack/v3.heaptrack --measure leaked --suppressions rules
      self                 total               blocks  function
       1 B   100.0 %         1 B   100.0 %          0  [no stack]

$ flambeau-cli memory captures/heaptrack/v3.heaptrack --suppressions rules --json | sed 's/.*"suppressions"//'
:[{"template":"^main","bytes":64,"blocks":1},{"template":"libc.so","bytes":0,"blocks":0},{"template":"never","bytes":0,"blocks":0}]}

$ echo race:x >rules; flambeau-cli top captures/heaptrack/v3.heaptrack --suppressions rules
! flambeau-cli: rules: not a rule of the form “leak:PATTERN” (at line 1)
[1]

$ flambeau-cli top captures/heaptrack/v3.heaptrack --suppressions none
! flambeau-cli: failed to open file “none”: No such file or directory
[1]

# A capture without single allocations has no sizes.
$ flambeau-cli memory captures/folded/rough.folded
! flambeau-cli: captures/folded/rough.folded: the capture does not record single allocations
[1]

# The unit of folded stacks is given by their name or an option.
$ printf 'main;grow 4096\nmain 100\n' >out.malloc.folded; flambeau-cli info out.malloc.folded | grep measures
measures   allocated          4.20 kB (Allocated)

$ cp out.malloc.folded page-faults.folded; flambeau-cli info page-faults.folded | grep measures
measures   page-faults        4 196 (Page faults)

$ cp out.malloc.folded plain.folded; flambeau-cli info plain.folded | grep measures
measures   samples            4 196 (Samples)

$ flambeau-cli info plain.folded --kind alloc | grep measures
measures   allocated          4.20 kB (Allocated)

$ flambeau-cli info plain.folded --kind time | grep measures
measures   time               4.20 ms (Time)

$ flambeau-cli info out.malloc.folded --kind cpu | grep measures
measures   samples            4 196 (Samples)

# Figures of sampled allocations have their error, and those of fewer than ten
# samples are marked: 400 and 4 times the distance between samples.
$ printf '%s\n' '--- symbol' '0x1000 keep' '0x2000 main' '0x3000 once' '---' '--- profile' 'heap profile: 5: 211812352 [5: 211812352] @ heap_v2/524288' '4: 209715200 [4: 209715200] @ 0x1001 0x2001' '1: 2097152 [1: 2097152] @ 0x3001 0x2001' '' 'MAPPED_LIBRARIES:' >big.heap; flambeau-cli tree big.heap
all  212 MB ± 21.7 MB  0 B
  main  212 MB ± 21.7 MB  0 B
    keep  210 MB ± 21.6 MB  210 MB ± 21.6 MB
    once  2.14 MB (4 samples)  2.14 MB (4 samples)

$ flambeau-cli top big.heap
               self                          total            function
   210 MB ± 21.6 MB    99.0 %     210 MB ± 21.6 MB    99.0 %  keep
2.14 MB (4 samples)     1.0 %  2.14 MB (4 samples)     1.0 %  once
                0 B       0 %     212 MB ± 21.7 MB   100.0 %  main

$ flambeau-cli info big.heap | grep -e space -e thread
measures   inuse_space        212 MB ± 21.7 MB (Memory in use)
           alloc_space        212 MB ± 21.7 MB (Allocated memory)
threads    #1 all threads: 2 samples, 212 MB ± 21.7 MB

# Like Memray's reports, tables and pictures leave out the interpreter's own
# frames and the import system; documents for other programs have them.
$ for o in '' --show-irrelevant; do flambeau-cli tree captures/memray/v12.bin --thread worker --measure allocated $o; flambeau-cli export captures/memray/v12.bin --thread worker --measure allocated --to svg $o | grep -c '>_find_and_load'; done; flambeau-cli export captures/memray/v12.bin --thread worker --measure allocated --to folded 2>/dev/null
all  510 B  510 B
0
all  510 B  0 B
  _find_and_load  510 B  510 B
1
_find_and_load 510

$ flambeau-cli export captures/memray/v12.bin --to html --output .; flambeau-cli export captures/memray/v12.bin --to html -o .; flambeau-cli export captures/memray/v12.bin --to html -f -o .; ls flambeau-*.html; flambeau-cli info captures/memray/v12.bin | grep '#[0-9]'
flambeau-v12.bin.html
             #1 0x7000 (MainThread): 0 samples, 9.26 kB
             #2 0x8000 (worker): 0 samples, 0 B
! flambeau-cli: ./flambeau-v12.bin.html: already exists; --force replaces it

# A difference has the error of both sides together: 21.6 and 11.3 MB, and of few
# samples their number.
$ sed 's/4: 209715200/1: 52428800/g' big.heap >half.heap; touch -d 2026-11-01 big.heap; touch -d 2026-11-02 half.heap; flambeau-cli diff big.heap half.heap
−157 MB ± 24.4 MB  210 MB ± 21.6 MB → 52.4 MB ± 11.3 MB  keep
−157 MB ± 24.6 MB  212 MB ± 21.7 MB → 54.6 MB ± 11.5 MB  main

$ flambeau-cli diff big.heap half.heap --json | tr -d ' \n'; echo
{"rows":[{"function":"keep","base":209715200,"new":52428800,"delta":-157286400,"base_error":21583799,"new_error":11332324,"delta_error":24377898,"few_samples":false},{"function":"main","base":211851479,"new":54565079,"delta":-157286400,"base_error":21688087,"new_error":11538621,"delta_error":24566499,"few_samples":false},{"function":"once","base":2136279,"new":2136279,"delta":0,"base_error":3312880,"new_error":3312880,"delta_error":4685119,"few_samples":true}]}

$ flambeau-cli diff big.heap half.heap --to html | grep -o -e '<td class="shrank">[^<]*' -e '<dd>[^<]*MB[^<]*'
<dd>212 MB ± 21.7 MB
<dd>54.6 MB ± 11.5 MB
<td class="shrank">−157 MB ± 24.4 MB
<td class="shrank">−157 MB ± 24.6 MB

$ flambeau-cli diff big.heap half.heap --to svg --widths now | grep -o 'keep ([^<]*'
keep (52.4 MB ± 11.3 MB, 96.08%): −157 MB ± 24.4 MB, before 210 MB ± 21.6 MB

$ flambeau-cli history big.heap half.heap
big.heap  2026-11-01 00:00 UTC (the file’s)  inuse_space 212 MB ± 21.7 MB  inuse_objects 5  alloc_space 212 MB ± 21.7 MB  alloc_objects 5
half.heap  2026-11-02 00:00 UTC (the file’s)  inuse_space 54.6 MB ± 11.5 MB  inuse_objects 2  alloc_space 54.6 MB ± 11.5 MB  alloc_objects 2  moved: keep −157 MB ± 24.4 MB

$ flambeau-cli history big.heap half.heap --json | tr -d ' \n' | grep -o -e '"errors":{[^}]*}' -e '"moved":.{[^]]*'
"errors":{"inuse_space":21688087,"alloc_space":21688087}
"errors":{"inuse_space":11538621,"alloc_space":11538621}
"moved":[{"function":"keep","delta":-157286400,"delta_error":24377898}

$ flambeau-cli history big.heap half.heap --to html | grep -o -e '<line class="error"[^>]*' -e '<title>[^<]*' | head -5
<title>History of 2 captures
<line class="error" x1="8.0" x2="8.0" y1="36.0" y2="62.4"/
<line class="error" x1="572.0" x2="572.0" y1="137.8" y2="151.8"/
<title>1: big.heap: 212 MB ± 21.7 MB
<title>2: half.heap: 54.6 MB ± 11.5 MB

# A picture's boxes have it, too, and it can be read back.
$ flambeau-cli export big.heap --to svg --output big.svg; grep -o '<title>[^<]*' big.svg; flambeau-cli top big.svg
<title>all (212 MB ± 21.7 MB, 100%)
<title>main (212 MB ± 21.7 MB, 100%)
<title>keep (210 MB ± 21.6 MB, 98.99%)
<title>once (2.14 MB from 4 samples, 1.01%)
      self                 total            function
    210 MB    99.0 %      210 MB    99.0 %  keep
   2.14 MB     1.0 %     2.14 MB     1.0 %  once
       0 B       0 %      212 MB   100.0 %  main

# Columns are as wide as their figures.
$ printf 'main;f 9000000000000000000\nmain 1\n' >wide.folded; flambeau-cli top wide.folded
                     self                                total            function
9 000 000 000 000 000 000   100.0 %  9 000 000 000 000 000 000   100.0 %  f
                        1   < 0.1 %  9 000 000 000 000 000 001   100.0 %  main
