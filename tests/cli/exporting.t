# SPDX-License-Identifier: GPL-3.0-or-later
# Folded lines are sorted bytewise, `;` and line ends in names are replaced; an
# existing file is refused, and a refused export leaves nothing behind.

$ printf '%s\n' 'b;a 1' 'a;b 2' 'a 3' 'a;b 4' 'B;c 5' >in.folded

$ flambeau-cli export in.folded --to folded
B;c 5
a 3
a;b 6
b;a 1

$ flambeau-cli export in.folded --to folded --output out.folded; cat out.folded
B;c 5
a 3
a;b 6
b;a 1

# A name that ends in .gz is compressed, by every verb.
$ flambeau-cli export in.folded --to folded --output out.folded.gz; gzip -dc out.folded.gz; flambeau-cli merge in.folded in.folded --output twice.flambeau.gz; gzip -dc twice.flambeau.gz | head -c 8; echo; flambeau-cli export twice.flambeau.gz --to folded; rm out.folded.gz twice.*
B;c 5
a 3
a;b 6
b;a 1
FLAMBEAU
B;c 10
a 6
a;b 12
b;a 2
! twice.flambeau.gz: left out, because folded cannot hold it: threads, processes

# A picture, and a page, read as a capture: with the decimals of their weights.
$ printf '%s\n' 'main 1234.000001' 'main;parse 1.5' 'main;solve 0.5' >parts.folded; for to in svg html; do flambeau-cli export parts.folded --to $to --output parts.$to; flambeau-cli export parts.$to --to folded | cmp - parts.folded; done; rm parts.*

$ flambeau-cli export in.folded --to folded --output out.folded
! flambeau-cli: out.folded: already exists; --force replaces it
[1]

$ flambeau-cli export in.folded --to folded --output out.folded --force --filter '^b$'; cat out.folded
a;b 6
b;a 1

$ flambeau-cli export in.folded --to folded --output no/such/folder/out.folded
! flambeau-cli: no/such/folder/out.folded: cannot be written: No such file or directory
[1]

$ flambeau-cli export in.folded --to flambeau --output in.flambeau; flambeau-cli export in.flambeau --to folded
B;c 5
a 3
a;b 6
b;a 1

$ flambeau-cli export in.folded --to flambeau; ls *.flambeau
in.flambeau
in.folded.flambeau

$ flambeau-cli export in.folded --to folded --output /dev/full
! flambeau-cli: /dev/full: already exists; --force replaces it
[1]

# The meaning of colors can be chosen: the same picture in green.
$ flambeau-cli export in.folded --to svg --output auto.svg; flambeau-cli export in.folded --to svg --color module | cmp - auto.svg && echo same; rm auto.svg
same

$ for by in module memory; do flambeau-cli export in.folded --to svg --color $by | sed -n 's/.*<title>a (.*fill="#\([^"]*\).*/\1/p' | sort -u; done
e6c6ab
bed9be

$ flambeau-cli export captures/flambeau/kitchen.flambeau --no-symbols --to svg --color state | grep -o '>Waiting for a lock<'
>Waiting for a lock<

$ flambeau-cli export captures/flambeau/kitchen.flambeau --no-symbols --to html --color module | grep -c '>Waiting for a lock<'
0
[1]

$ flambeau-cli export in.folded --to svg --color state
! flambeau-cli: in.folded: the capture does not record what threads were doing
[1]

$ flambeau-cli export in.folded --to svg --color rainbow
! flambeau-cli: export: --color rainbow: expected auto, module, state, memory, language, self, name, safe, julia, hot, mem, io, wakeup, chain, java, js, perl, red, green, blue, aqua, yellow, purple or orange
[2]

$ flambeau-cli export in.folded --to folded --color module
! flambeau-cli: export: --color has no effect on folded
[2]

$ ls
captures
in.flambeau
in.folded
in.folded.flambeau
out.folded

# The disk is full: this is reported, and the status is 1.
$ flambeau-cli export in.folded --to folded >/dev/full
! flambeau-cli: standard output: cannot write
[1]

$ flambeau-cli top in.folded >/dev/full
! flambeau-cli: standard output: cannot write
[1]

$ flambeau-cli info in.folded --json >/dev/full
! flambeau-cli: standard output: cannot write
[1]

# Every format exports the selection.
$ flambeau-cli export captures/speedscope/evented.speedscope.json --to flambeau --time 1..3 --output part.flambeau; flambeau-cli top part.flambeau; flambeau-cli info part.flambeau | grep duration
      self                 total            function
    1.00 s    50.0 %      2.00 s   100.0 %  main
    1.00 s    50.0 %      1.00 s    50.0 %  parse
duration   2.00 s

$ flambeau-cli export captures/heaptrack/v3.heaptrack --to flambeau --time 0.02.. --measure allocated --output part2.flambeau; flambeau-cli info part2.flambeau | grep -E 'measures|warning'
measures   allocated          49 B (Allocated memory)
warning    48 bytes in 2 blocks that live at the end are not counted as leaked: heaptrack's rules or the program's suppress them (as heaptrack_print does)
warning    Peak memory is left out: some of the memory was allocated before the time range
warning    Blocks at the peak is left out: some of the memory was allocated before the time range

$ flambeau-cli export captures/heaptrack/v3.heaptrack --to flambeau --invert --output part3.flambeau
! flambeau-cli: captures/heaptrack/v3.heaptrack: a profile cannot be inverted or grouped by module or file
[1]

# A shared capture: private data is removed, the graph stays, and the rest is
# summarized.
$ printf '%s\n' '/home/cook/app:main;helper 3' '/home/cook/app:main;other 4' >private.folded

$ flambeau-cli export private.folded --to flambeau --anonymize paths --output p.flambeau; flambeau-cli export p.flambeau --to folded
~/app:main;helper 3
~/app:main;other 4
! Functions: 3
! Modules: 0
! Files: 0
! Processes and threads: 1
! Marks: 0
! Labels: 0
! Notes: 0
! Source files inside: 0
! Command line: no
! Home folder, user or host: no

$ flambeau-cli export private.folded --to flambeau --anonymize names --output n.flambeau 2>/dev/null; flambeau-cli export n.flambeau --to folded | sed 's/[0-9a-f]\{14\}/HASH/g' | sort
f_HASH;f_HASH 3
f_HASH;f_HASH 4

$ flambeau-cli export private.folded --to flambeau --anonymize all
! flambeau-cli: export: --anonymize all: expected paths or names
[2]

$ flambeau-cli export private.folded --to flambeau --anonymize names --with-sources
! flambeau-cli: export: --with-sources cannot be combined with --anonymize names: sources contain the names that are hashed
[2]

$ flambeau-cli export private.folded --to folded --anonymize paths
! flambeau-cli: export: --anonymize has no effect on folded
[2]

# A difference is also one in d3-flame-graph's format, including gone frames.
$ printf 'a;b 5 3\na;c 0 8\nx;y 4 0\n' >two.folded; flambeau-cli export two.folded --to d3 --output two.json; cat two.json; flambeau-cli diff two.json --to folded; flambeau-cli export two.folded --to d3 --filter a
{"name":"all","value":11,"delta":2,"children":[
{"name":"a","value":11,"delta":6,"children":[
{"name":"c","value":8,"delta":8},
{"name":"b","value":3,"delta":-2}]},
{"name":"x","value":0,"delta":-4,"children":[
{"name":"y","value":0,"delta":-4}]}]}
a;b 5 3
a;c 0 8
x;y 4 0
{"name":"all","value":11,"delta":6,"children":[
{"name":"a","value":11,"delta":6,"children":[
{"name":"c","value":8,"delta":8},
{"name":"b","value":3,"delta":-2}]}]}

# Weights of the Firefox Profiler may have fractions; without any, nothing is
# lost, and they count samples.
$ flambeau-cli export captures/gecko/raw.gecko.json --to jlprof --output raw.jlprof
! captures/gecko/raw.gecko.json: left out, because jlprof cannot hold it: processes, times, kinds of code

$ flambeau-cli export captures/gecko/raw.gecko.json --to pprof --output raw.pb
! captures/gecko/raw.gecko.json: left out, because pprof cannot hold it: order in time, kinds of code

# A format that only has the lines of frames makes one function of those that
# differ only in their first lines, and one that identifies processes by numbers
# makes one process of those without: both are reported.
$ flambeau-cli export captures/pstats/namesakes.prof --to chrome-trace --output namesakes.json; flambeau-cli export captures/pstats/namesakes.prof --to callgrind --output namesakes.out; flambeau-cli export captures/pstats/namesakes.prof --to speedscope --output namesakes.speedscope.json; flambeau-cli export captures/pstats/namesakes.prof --to pprof --output namesakes.pb; flambeau-cli export captures/chrome-trace/words.trace.json --to pprof --output words.pb
! captures/pstats/namesakes.prof: left out, because chrome-trace cannot hold it: other measures, lines
! captures/pstats/namesakes.prof: left out, because callgrind cannot hold it: other measures, lines
! captures/pstats/namesakes.prof: left out, because speedscope cannot hold it: lines
! captures/chrome-trace/words.trace.json: left out, because pprof cannot hold it: processes, order in time, counters

# Functions may have the names that Firefox gives to its root and to addresses;
# the range includes the end of the recording.
$ printf '(root);0x7fff;main;(root);0x10 5\n' >names.folded; flambeau-cli export names.folded --to gecko --output names.firefox.json; flambeau-cli export names.firefox.json --to folded 2>/dev/null; flambeau-cli export captures/gecko/raw.gecko.json --to gecko 2>/dev/null | grep -o '"profiling[A-Za-z]*":[0-9.]*'; flambeau-cli info captures/gecko/raw.gecko.json --json | grep -o '"duration_ns":[0-9]*'
(root);0x7fff;main;(root);0x10 5
"profilingStartTime":0.000000
"profilingEndTime":1003.000001
"duration_ns":1003000000

# A frame without a name is Julia's unknown function with its file and line;
# only addresses with frames are listed.
$ flambeau-cli export captures/jlprof/threads.jlprof --thread 'thread 2' --to jlprof --output two.jlprof; flambeau-cli dump two.jlprof --stage profile | grep -E '^(thread|label|  sample)'; od -An -tx1 -v two.jlprof | tr -d ' \n' | grep -c '5000000000000000''01000000''0000000000000000''ffffffffffffffff0100'
thread 0 process=0 tid=-1 name=thread 2
  sample stack=2 state=sleep labels=1 samples=1
  sample stack=4 state=sleep labels=1 samples=1
label 1 task value=0x7f0000
1
! captures/jlprof/threads.jlprof: left out, because jlprof cannot hold it: states, kinds of code
