# SPDX-License-Identifier: GPL-3.0-or-later
# Pictures as they were asked for: size, direction, order, words and colors; what
# a form does not heed is refused.

$ printf '%s\n' 'b;late 1' 'a;first 7' 'b;early 2' 'a;first;k_[k] 1' 'c;std::x_[i] 4' 'c;java/A_[j] 5' >in.folded

$ boxes () { sed -n 's/.*<title>\(.*\) (.*<rect x="\([^"]*\)" y="\([^"]*\)" width="\([^"]*\)".*/\1 \2 \3 \4/p'; }; declare -f boxes >boxes

$ . ./boxes; flambeau-cli export in.folded --to svg | boxes
all 10 92 1180
c 10 76 531
a 541 76 472
b 1013 76 177
java/A 10 60 295
std::x 305 60 236
first 541 60 472
early 1013 60 118
late 1131 60 59
k 541 44 59

$ . ./boxes; flambeau-cli export in.folded --to svg --direction icicle --order name --width 220 --row-height 10 --min-width 12% | boxes
all 10 44 200
a 10 54 80
b 90 54 30
c 120 54 90
first 10 64 80
java/A 120 64 50
std::x 170 64 40

# Siblings as they were first seen: in the file, and in time.
$ . ./boxes; flambeau-cli export in.folded --to svg --order time | boxes | cut -d ' ' -f 1 | paste -sd ' '
all b a c late early first std::x java/A k

$ . ./boxes; flambeau-cli export captures/speedscope/evented.speedscope.json --to svg --order time | boxes | cut -d ' ' -f 1,2
all 10
main 10
parse 10

$ flambeau-cli export in.folded --to svg --direction icicle --invert --title '<a>' --subtitle 's & t' --notes 'made <today>' --count-name widgets --font-size 10 | grep -E -o '<svg .*|<desc>.*|<text class="(heading|subtitle)".*|<title>c .*</title>'
<svg xmlns="http://www.w3.org/2000/svg" class="flambeau" width="1200" height="178" viewBox="0 0 1200 178" data-margin="10" data-row="16" data-baseline="10.5" data-character="630" data-direction="icicle" font-family="Verdana, 'DejaVu Sans', sans-serif" font-size="10">
<desc>made &lt;today&gt;</desc>
<text class="heading" x="600" y="24" text-anchor="middle">&lt;a&gt;</text>
<text class="subtitle" x="600" y="42" text-anchor="middle">s &amp; t</text>
<title>c (5 widgets, 25%)</title>
<title>c (4 widgets, 20%)</title>

# Time and memory are as people read them, and whole beside it: the picture opens
# as it was.
$ flambeau-cli export captures/flambeau/kitchen.flambeau --no-symbols --to svg --output k.svg; grep -c 'data-weight="[0-9]*"' k.svg; grep -o '<title>all .*data-weight="[0-9]*"' k.svg; flambeau-cli info k.svg | grep measures; flambeau-cli info captures/flambeau/kitchen.flambeau | grep measures
28
<title>all (3.19 s, 100%): sleep 56.3 %, lock 18.7 %, io 12.6 %, running 12.3 %</title><rect x="10" y="188" width="1180" height="15" fill="#b4cff3" data-weight="3190589291"
measures   time               3.19 s (Time)
measures   wall-time          3.19 s (Wall time)

$ flambeau-cli export captures/flambeau/kitchen.flambeau --no-symbols --to svg --count-name ticks | grep -o '<title>all [^<]*'
<title>all (3,190,589,291 ticks, 100%): sleep 56.3 %, lock 18.7 %, io 12.6 %, running 12.3 %

$ flambeau-cli export in.folded --to png --width 300 --output p.png; od -An -tu4 --endian=big -j16 -N4 p.png; flambeau-cli export in.folded --to png --width 300 --row-height 100 --output q.png; test $(od -An -tu4 --endian=big -j20 -N4 q.png) -gt $(od -An -tu4 --endian=big -j20 -N4 p.png) && echo higher
        600
higher

$ flambeau-cli export in.folded --to pdf --width 300 --font-size 8 --order time --palette safe --output p.pdf; head -c 5 p.pdf
%PDF-

$ flambeau-cli export in.folded --to html | grep -o '"look":{.*}'; flambeau-cli export in.folded --to html --direction flame --order time | grep -o '"look":{.*}'
"look":{"dir":"icicle","sort":"weight"}
"look":{"dir":"flame","sort":"time"}

# flamegraph.pl's colors, and its palette file: read, and what it lacks added.
$ flambeau-cli export in.folded --to svg --palette java --hash --palette-map palette.map >java.svg; cat palette.map; grep -o 'k (.*fill="#[0-9a-f]*' java.svg
->rgb(255,130,130)
a->rgb(233,98,98)
b->rgb(230,94,94)
c->rgb(227,90,90)
early->rgb(237,104,104)
first->rgb(239,107,107)
java/A_[j]->rgb(77,224,77)
k_[k]->rgb(222,122,0)
late->rgb(222,82,82)
std::x_[i]->rgb(88,200,200)
k (1 samples, 5%)</title><rect x="541" y="44" width="59" height="15" fill="#de7a00

$ sed -i 's/^late->.*/late->rgb(1,2,3)/; /^first/d' palette.map; flambeau-cli export in.folded --to svg --palette hot --palette-map palette.map | grep -E -o '(late|first) \(.*fill="#[0-9a-f]*'; grep -E 'late|first|early' palette.map
first (8 samples, 40%)</title><rect x="541" y="60" width="472" height="15" fill="#f7c42e
late (1 samples, 5%)</title><rect x="1131" y="60" width="59" height="15" fill="#010203
early->rgb(237,104,104)
first->rgb(247,196,46)
late->rgb(1,2,3)

$ echo 'a->red' >bad.map; flambeau-cli export in.folded --to svg --palette-map bad.map
! flambeau-cli: bad.map: line 1: expected FUNCTION->rgb(RED,GREEN,BLUE)
[1]

$ flambeau-cli export in.folded --to svg --color-rule 'ear=#ffcc00' --color-rule '^a$=#ff0000' | grep -E -o '(early|>a) \(.*fill="#[0-9a-f]*'
>a (8 samples, 40%)</title><rect x="541" y="76" width="472" height="15" fill="#ff0000
early (2 samples, 10%)</title><rect x="1013" y="60" width="118" height="15" fill="#ffcc00

$ for o in '--palette pink' '--hash' '--order size' '--direction up' '--width 5' '--min-width x' '--font-size 1e9' '--color-rule x' '--color-rule (=#ffffff' '--color-rule x=#ff'; do flambeau-cli export in.folded --to svg $o; done
! flambeau-cli: export: --palette pink: expected auto, module, state, memory, safe, hot, mem, io, wakeup, chain, java, js, perl, red, green, blue, aqua, yellow, purple or orange
! flambeau-cli: export: --hash goes with a --palette from hot to orange
! flambeau-cli: export: --order size: expected weight, name or time
! flambeau-cli: export: --direction up: expected flame or icicle
! flambeau-cli: export: --width 5: expected 100 to 32000
! flambeau-cli: export: --min-width x: expected pixels or a percentage
! flambeau-cli: export: --font-size 1e9: expected 2 to 100
! flambeau-cli: export: --color-rule x: expected REGEX=COLOR
! flambeau-cli: export: --color-rule (=#ffffff: Error while compiling regular expression ‘(’ at char 1: missing terminating )
! flambeau-cli: export: --color-rule x=#ff: “#ff” is no color: expected #RRGGBB or rgb(R,G,B)
[2]

$ for to in folded html png csv; do flambeau-cli export in.folded --to $to --notes x; done
! flambeau-cli: export: --notes means nothing to folded
! flambeau-cli: export: --notes means nothing to html
! flambeau-cli: export: --notes means nothing to png
! flambeau-cli: export: --notes means nothing to csv
[2]

# A comparison, with the colors the other way round.
$ printf '%s\n' 'a;first 9' 'c;java/A_[j] 1' >now.folded; for o in '' --negate; do flambeau-cli diff in.folded now.folded --to svg --title now $o | grep -E -o 'class="heading".*|(first|A) \(.*fill="#[0-9a-f]*'; done
class="heading" x="600" y="24" text-anchor="middle">now</text>
first (9 samples, 90%): +1, before 8</title><rect x="10" y="44" width="1062" height="15" fill="#f2b4ac
A (1 samples, 10%): −4, before 5</title><rect x="1072" y="44" width="118" height="15" fill="#91c0fd
class="heading" x="600" y="24" text-anchor="middle">now</text>
first (9 samples, 90%): +1, before 8</title><rect x="10" y="44" width="1062" height="15" fill="#afcaee
A (1 samples, 10%): −4, before 5</title><rect x="1072" y="44" width="118" height="15" fill="#fe998e

$ flambeau-cli diff in.folded now.folded --to csv --negate
! flambeau-cli: diff: --negate means nothing to csv
[2]

$ flambeau-cli diff in.folded now.folded --width 300
! flambeau-cli: diff: --width means nothing to a table
[2]

# Folded stacks as other tools have them, and back.
$ printf '%s\n' 'main;f_[k] 3' 'main;g_[j] 4' 'main;h_[i] 5' >kinds.folded; flambeau-cli export kinds.folded --to folded --annotate | diff - kinds.folded && echo same
same

$ flambeau-cli export kinds.folded --to folded
main;f 3
main;g 4
main;h 5
! kinds.folded: left out, for which folded has no room: kinds of code

$ for root in comm pid tid; do flambeau-cli export captures/pprof/threads.pb --to folded --root $root; done
all threads;main 5
main;main 3
worker;work 2
all threads-?;main 5
main-?;main 3
worker-?;work 2
all threads-?/?;main 5
main-?/4711;main 3
worker-?/4712;work 2
! captures/pprof/threads.pb: left out, for which folded has no room: labels
! captures/pprof/threads.pb: left out, for which folded has no room: labels
! captures/pprof/threads.pb: left out, for which folded has no room: labels

$ flambeau-cli export kinds.folded --to folded --root process
! flambeau-cli: export: --root process: expected comm, pid or tid
[2]

$ flambeau-cli export kinds.folded --to svg --annotate
! flambeau-cli: export: --annotate means nothing to svg
[2]

$ flambeau-cli export kinds.folded --to folded --root tid --by line
! flambeau-cli: kinds.folded: stacks that begin with their threads are of functions
[1]

# d3-flame-graph's tree, and back.
$ flambeau-cli export kinds.folded --to d3 | tee kinds.json; flambeau-cli export kinds.json --to folded --annotate | diff - kinds.folded && echo same
{"name":"all","value":12,"children":[
{"name":"main","value":12,"children":[
{"name":"h","libtype":"inlined","value":5},
{"name":"g","libtype":"jit","value":4},
{"name":"f","libtype":"kernel","value":3}]}]}
same

# What stands where in the PNG.
$ flambeau-cli export kinds.folded --to tags --width 300 --row-height 20; flambeau-cli export kinds.folded --to png --width 300 --row-height 20 --output kinds.png
x	y	width	height	function	file	line
24	180	552	40	all		0
24	140	552	40	main		0
24	100	230	40	h		0
254	100	184	40	g		0
438	100	138	40	f		0

# Labels of samples, in every verb.
$ for v in top info tree 'export --to folded'; do flambeau-cli $v captures/pprof/threads.pb --label tenant=red; done
      self                 total            function
         1   100.0 %           1   100.0 %  work
format     pprof
measures   samples            1 (samples)
samples    1 in 2 stacks of 2 functions
threads    #1 all threads: 0 samples, 0
           -1/4711 main: 0 samples, 0
           -1/4712 worker: 1 samples, 1
all  1  0
  work  1  1
work 1
! captures/pprof/threads.pb: left out, for which folded has no room: threads, labels

$ flambeau-cli top captures/pprof/threads.pb --label tenant=blue
! flambeau-cli: captures/pprof/threads.pb: no sample with the label tenant=blue; there are: tenant=red
[1]

$ flambeau-cli top captures/pprof/threads.pb --label tenant
! flambeau-cli: top: --label tenant: expected KEY=VALUE
[2]
