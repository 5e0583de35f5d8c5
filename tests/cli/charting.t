# SPDX-License-Identifier: GPL-3.0-or-later
# Charts: calls in time, one lane per thread.

$ boxes () { grep -v '^//' | sed -n 's/.*<g class="\([^"]*\)"><title>\(.*\)<\/title><rect x="\([^"]*\)" y="\([^"]*\)" width="\([^"]*\)".*/\1 \2 \3 \4 \5/p; s/.*class="lane"[^>]*>\([^<]*\)<.*/\1/p'; }; declare -f boxes >boxes

# Events have the exact time of each call; one runs past its caller's end.
$ . ./boxes; flambeau-cli export captures/chrome-trace/spans.trace.json --to svg --chart | boxes
Marks
counter x
worker (2)   58.5 %
worker (2) (2)   22.0 %
io   19.5 %
s mark a moment (at 8.00 µs) 335.5172 82 1
f main (24.0 µs, from 0 ns on) 10 186 976.5517
f parse (9.00 µs, from 4.50 µs on) 193.1035 202 366.2068
f too long (9.00 µs, from 20.0 µs on) 823.7931 244 366.2069
f read (8.00 µs, from 2.00 µs on) 91.3793 286 325.5172
f wait (2.00 µs, from 3.00 µs on) 132.069 302 81.3793

$ . ./boxes; flambeau-cli export captures/speedscope/evented.speedscope.json --to svg --chart --time 2.5..4 --width 220 --row-height 20 --min-width 50% | boxes
main thread   100.0 %
f main (1.50 s, from 2.50 s on) 10 86 200
f parse (1.50 s, from 2.50 s on) 10 106 200

# Samples: each represents the time since the previous one, and a note in the
# picture points this out. States and counters have lanes.
$ . ./boxes; flambeau-cli export captures/flambeau/kitchen.flambeau --no-symbols --to svg --chart --thread cook --hide '^_' --no-inlines >k.svg; boxes <k.svg; grep -c 'class="counter"' k.svg; grep -o 'class="note".*' k.svg
RSS
cook (26142)   100.0 %
s running (192 ms, from 0 ns on) 10 144 141.8088
s lock (201 ms, from 192 ms on) 151.8088 144 147.7705
s io (203 ms, from 393 ms on) 299.5793 144 149.2968
s sleep (202 ms, from 596 ms on) 448.8762 144 148.8049
s running (202 ms, from 797 ms on) 597.681 144 148.5963
s lock (194 ms, from 999 ms on) 746.2773 144 142.6957
s io (201 ms, from 1.19 s on) 888.973 144 147.8956
s sleep (202 ms, from 1.39 s on) 1036.8687 144 149.035
f clone3 (1.60 s, from 0 ns on) 10 149 1175.9037
f start_thread (1.60 s, from 0 ns on) 10 165 1175.9037
f cook (1.60 s, from 0 ns on) 10 181 1175.9037
f cook_dish (1.60 s, from 0 ns on) 10 197 1175.9037
f chop (192 ms, from 0 ns on) 10 213 141.8088
f wait_for_stove (201 ms, from 192 ms on) 151.8088 213 147.7705
f wait_for_order (203 ms, from 393 ms on) 299.5793 213 149.2968
f nap (202 ms, from 596 ms on) 448.8762 213 148.8049
f chop (202 ms, from 797 ms on) 597.681 213 148.5963
f wait_for_stove (194 ms, from 999 ms on) 746.2773 213 142.6957
f wait_for_order (201 ms, from 1.19 s on) 888.973 213 147.8956
f nap (202 ms, from 1.39 s on) 1036.8687 213 149.035
f slice (192 ms, from 0 ns on) 10 229 141.8088
f pthread_mutex_lock (201 ms, from 192 ms on) 151.8088 229 147.7705
f read (203 ms, from 393 ms on) 299.5793 229 149.2968
f clock_nanosleep (202 ms, from 596 ms on) 448.8762 229 148.8049
f slice (202 ms, from 797 ms on) 597.681 229 148.5963
f pthread_mutex_lock (194 ms, from 999 ms on) 746.2773 229 142.6957
f read (201 ms, from 1.19 s on) 888.973 229 147.8956
f clock_nanosleep (202 ms, from 1.39 s on) 1036.8687 229 149.035
1
class="note" x="600" y="291" text-anchor="middle">drawn from samples: calls shorter than the time between them are not seen</text>

$ for to in png pdf html tags; do flambeau-cli export captures/speedscope/evented.speedscope.json --to $to --chart --title t --output x.$to && head -c 5 x.$to | tr -d '\0\211' | head -1; done; cut -f 1-5 x.tags; grep -o '<td>.*' x.html | sed 's/<[^>]*>/ /g'
PNG
%PDF-<!DOCx	y	wx	y	width	height	function
24	186	2352	42	main
494	228	824	42	parse
 1  10.0 s  10.0 s  10.0 s  10.0 s  main  
 1  3.50 s  3.50 s  3.50 s  3.50 s  parse  

# Options that a chart does not support, and captures that cannot be drawn as
# one.
$ for o in '--order name' '--direction flame' '--count-name x' '--invert'; do flambeau-cli export captures/speedscope/evented.speedscope.json --to svg --chart $o; done
! flambeau-cli: export: --order has no effect on --chart
! flambeau-cli: export: --direction has no effect on --chart
! flambeau-cli: export: --count-name has no effect on --chart
! flambeau-cli: captures/speedscope/evented.speedscope.json: an inverted tree is not in time: --chart goes without --invert
[1]

$ echo "a;b 1" >in.folded; flambeau-cli export captures/jlprof/plain.jlprof --to svg --chart; flambeau-cli export captures/heaptrack/bad-lines.heaptrack --to png --chart 2>&1 | head -1; flambeau-cli export in.folded --to csv --chart
flambeau-cli: captures/heaptrack/bad-lines.heaptrack: this measure is of memory, which is not called in time
! flambeau-cli: captures/jlprof/plain.jlprof: it does not say when its samples were taken
! flambeau-cli: export: --chart has no effect on csv
[2]

$ flambeau-cli info k.svg
! flambeau-cli: k.svg: this is a picture of a flame chart: its boxes are calls in time, not stacks
[1]

# A mark's name ends before the next mark of its row, and a time without room is
# not written over the edge.
$ printf '[%s]' '{"ph":"X","pid":1,"tid":1,"ts":0,"dur":100000,"name":"a"},{"ph":"I","pid":1,"tid":1,"ts":40000,"name":"environment of a long name"},{"ph":"I","pid":1,"tid":1,"ts":52000,"name":"bootstrap"},{"ph":"I","pid":1,"tid":1,"ts":52500,"name":"near"},{"ph":"I","pid":1,"tid":1,"ts":99900,"name":"the end"}' >marks.json; flambeau-cli export marks.json --to svg --chart --width 800 | grep -v '^//' | sed -n 's/.*class="s mark"><title>\([^(]*\).*<text[^>]*>\([^<]*\).*/\1| \2/p; s/.*class="s mark"><title>\([^(]*\).*"\/><\/g>/\1|/p'; flambeau-cli export marks.json --to svg --chart --time 0..0.081 --width 560 | grep -o '>[0-9]* ms<' | tail -1
environment of a long name | env…ng name
bootstrap |
near | near
the end |
>60 ms<

# Folded stacks in their order: the boxes of flamegraph.pl --flamechart, which
# this has been compared with. Only neighbors are merged; a line without weight
# separates its neighbors.
$ printf '%s\n' 'main;load;read_[k] 3' 'main;load;parse 2.5' 'main;load;parse 1.5' 'main;draw 4' 'main;load;read_[k] 2' 'main;load 1' 'idle 2' 'main;load;read_[k] 4' 'main;draw;blit_[j];copy_[i] 6' 'main;draw 0' 'main;draw;blit_[j] 3' 'main;draw;blit_[j];copy_[i] 1' >order.folded; . ./boxes; flambeau-cli export order.folded --to svg --chart --width 1200 >order.svg; boxes <order.svg; grep -c 'class="note"' order.svg; grep -v '^//' order.svg | sed -n 's/.*<text[^>]*>\([0-9]*\)<\/text>$/\1/p' | tr '\n' ' '
all threads   100.0 %
f main (14 samples, from 0 on) 10 82 550.6667
f idle (2 samples, from 14 on) 560.6667 82 78.6666
f main (14 samples, from 16 on) 639.3333 82 550.6667
f load (7 samples, from 0 on) 10 98 275.3333
f draw (4 samples, from 7 on) 285.3333 98 157.3333
f load (3 samples, from 11 on) 442.6667 98 118
f load (4 samples, from 16 on) 639.3333 98 157.3334
f draw (10 samples, from 20 on) 796.6667 98 393.3333
f read (3 samples, from 0 on) 10 114 118
f parse (4 samples, from 3 on) 128 114 157.3333
f read (2 samples, from 11 on) 442.6667 114 78.6667
f read (4 samples, from 16 on) 639.3333 114 157.3334
f blit (6 samples, from 20 on) 796.6667 114 236
f blit (4 samples, from 26 on) 1032.6667 114 157.3333
f copy (6 samples, from 20 on) 796.6667 130 236
f copy (1 samples, from 29 on) 1150.6666 130 39.3334
0
0 5 10 15 20 25 

$ printf '%s\n' 'main;a 1' 'main;b 2' 'main;a 3' >us.folded; . ./boxes; flambeau-cli export us.folded --to svg --chart --kind time --focus '^a$' | boxes; flambeau-cli dump us.folded --stage chart; flambeau-cli export us.folded --to html --chart | grep -o '<td>.*' | sed 's/<[^>]*>/ /g'; flambeau-cli export us.folded --to svg --chart --time 0..1
all threads   100.0 %
f a (1.00 µs, from 0 ns on) 10 82 196.6667
f a (3.00 µs, from 3.00 µs on) 600 82 590
all threads
  0 main 0..6
  1 a 0..1
  1 b 1..3
  1 a 3..6
 1  6  6  6  6  main  
 2  1  3  3  4  a  
 1  2  2  2  2  b  
! flambeau-cli: us.folded: the samples of this capture have no times
[1]

# Each thread of py-spy's text has a lane of its own.
$ printf '%s\n' 'process 1:"a";thread (0x1): MainThread;main (a.py:1) 2' 'process 1:"a";thread (0x2): other;work (a.py:5) 3' 'process 1:"a";thread (0x1): MainThread;main (a.py:1);f (a.py:2) 1' >spy.folded; flambeau-cli dump spy.folded --stage chart
MainThread
  0 main 0..3
  1 f 2..3
other
  0 work 0..3

# Samples that last until the next one also do in a Firefox profile.
$ for f in call lines; do flambeau-cli export captures/cpuprofile/$f.cpuprofile --to gecko --output $f.json; flambeau-cli dump $f.json --stage chart; done
all threads (1073741824)
  0 main 0..163000000
  1 work 0..163000000
all threads (1073741824)
  0 main 100000..850000
  1 work 100000..450000
  1 work 700000..850000
! captures/cpuprofile/call.cpuprofile: left out, because gecko cannot hold it: other measures
! captures/cpuprofile/lines.cpuprofile: left out, because gecko cannot hold it: other measures
