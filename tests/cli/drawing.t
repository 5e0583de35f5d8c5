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

# Siblings in the order of their first occurrence: in the file, and in time.
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

# Time and memory are shown with units, and exactly beside it: the picture opens
# with the same values.
$ flambeau-cli export captures/flambeau/kitchen.flambeau --no-symbols --to svg --output k.svg; grep -c 'data-weight="[0-9]*"' k.svg; grep -o '<title>all .*data-weight="[0-9]*"' k.svg; flambeau-cli info k.svg | grep measures; flambeau-cli info captures/flambeau/kitchen.flambeau | grep measures
28
<title>all (3.19 s, 100%): sleep 56.3 %, lock 18.7 %, io 12.6 %, running 12.3 %</title><rect x="10" y="188" width="1180" height="15" fill="#b4cff3" data-weight="3190589291"
measures   time               3.19 s (Time)
measures   wall-time          3.19 s (Wall time)

$ flambeau-cli export captures/flambeau/kitchen.flambeau --no-symbols --to svg --count-name ticks | grep -o '<title>all [^<]*'
<title>all (3,190,589,291 ticks, 100%): sleep 56.3 %, lock 18.7 %, io 12.6 %, running 12.3 %

$ flambeau-cli export in.folded --to png --width 300 --output p.png; od -An -tu4 --endian=big -j16 -N4 p.png; flambeau-cli export in.folded --to png --width 300 --row-height 100 --output q.png; test $(od -An -tu4 --endian=big -j20 -N4 q.png) -gt $(od -An -tu4 --endian=big -j20 -N4 p.png) && echo higher
        300
higher

$ flambeau-cli export in.folded --to pdf --width 300 --font-size 8 --order time --palette safe --output p.pdf; head -c 5 p.pdf
%PDF-

$ flambeau-cli export in.folded --to html | grep -o '"look":{.*}'; flambeau-cli export in.folded --to html --direction flame --order time | grep -o '"look":{.*}'
"look":{"dir":"icicle","sort":"weight"}
"look":{"dir":"flame","sort":"time"}

# flamegraph.pl's colors and its palette file: it is read, and missing functions
# are added.
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

# Rules of modules and of files.
$ printf '%s\n' 'events: Ir' 'ob=/lib/libjulia.so' 'fl=./compiler/types.jl' 'fn=infer' '1 5' 'fl=base.jl' 'fn=map' '1 6' 'ob=/bin/main' 'fl=' 'fn=run' '1 7' >rules.callgrind; flambeau-cli export rules.callgrind --to svg --no-symbols --color-rule '^run$=#111111' --color-rule 'file:^\./compiler/=#646464' --color-rule 'module:libjulia=#ff9900' --color-rule 'file:.=#0000ff' | grep -v '^//' | grep -E -o '(infer|map|run) \(.*fill="#[0-9a-f]*|fill="#[0-9a-f]*"/><text[^>]*>[a-z]*:?[^<]*'; flambeau-cli export rules.callgrind --to svg --color-rule 'module:(=#ffffff'
fill="#cacfda"/><text x="13" y="71">all
run (7 samples, 38.89%)</title><rect x="10" y="44" width="458.8889" height="15" fill="#808080
map (6 samples, 33.33%)</title><rect x="468.8889" y="44" width="393.3333" height="15" fill="#ff9900
infer (5 samples, 27.78%)</title><rect x="862.2222" y="44" width="327.7778" height="15" fill="#828282
fill="#808080"/><text x="26" y="94" text-anchor="start">^run$
fill="#ff9900"/><text x="95.8" y="94" text-anchor="start">module:libjulia
fill="#828282"/><text x="241.2" y="94" text-anchor="start">file:^\./compiler/
! flambeau-cli: export: --color-rule module:(=#ffffff: Error while compiling regular expression ‘(’ at char 1: missing terminating )
[2]

# Separators are gray, and not in the file; in a chain graph, frames after one
# belong to a waker.
$ echo 'bash;schedule;--;wake;-;x 3' >chain.folded; flambeau-cli export chain.folded --to svg --palette chain --palette-map chain.map | grep -E -o '>[^ ]* \(3.*fill="#[0-9a-f]*' | grep -o '^[^ ]*\|#.*' | paste - -; cat chain.map; flambeau-cli export chain.folded --to svg --palette wakeup --palette-map wakeup.map | grep -c '#c8c8c8\|#a0a0a0'; cat wakeup.map
><title>all	#5a5ad5
><title>bash	#7878ef
><title>schedule	#8b8bfe
><title>--	#a0a0a0
><title>wake	#6cdada
><title>-	#6ad8d8
><title>x	#40b2b2
->rgb(90,90,213)
-_[w]->rgb(106,216,216)
bash->rgb(120,120,239)
schedule->rgb(139,139,254)
wake_[w]->rgb(108,218,218)
x_[w]->rgb(64,178,178)
2
->rgb(60,174,174)
bash->rgb(90,202,202)
schedule->rgb(109,219,219)
wake->rgb(73,186,186)
x->rgb(90,201,201)

# Rules in a file come after those on the command line.
$ printf '%s\n' '# mine' '' 'early=#00ff00' '^a$=#ff0000' >rules; flambeau-cli export in.folded --to svg --color-rules rules --color-rule 'ear=#ffcc00' | grep -E -o '(early|>a) \(.*fill="#[0-9a-f]*'
>a (8 samples, 40%)</title><rect x="541" y="76" width="472" height="15" fill="#ff0000
early (2 samples, 10%)</title><rect x="1013" y="60" width="118" height="15" fill="#ffcc00

$ echo 'x' >>rules; flambeau-cli export in.folded --to svg --color-rules rules; flambeau-cli export in.folded --to svg --color-rules missing; flambeau-cli export in.folded --to folded --color-rules rules
! flambeau-cli: rules: line 5: expected REGEX=COLOR
! flambeau-cli: failed to open file “missing”: No such file or directory
! flambeau-cli: export: --color-rules has no effect on folded
[2]

# A rule that would take years on one name is ignored, and reported once; an
# earlier name that it matches is not colored by it either.
$ printf '%s\n' 'a!;std_vector_push_back_slow_path_of_a_long_name 1' >slow.folded; for to in svg html; do flambeau-cli export slow.folded --to $to --color-rule '^(((\w+)*)*)*[!?]=#00ff00' | grep -c -i '00ff00\|65280'; done; flambeau-cli export slow.folded --to png --force --output slow.png --color-rule '^(((\w+)*)*)*[!?]=#00ff00'
0
0
! flambeau-cli: the color rule “^(((\w+)*)*)*[!?]” takes too long on “std_vector_push_back_slow_path_of_a_long_name” and is ignored
! flambeau-cli: the color rule “^(((\w+)*)*)*[!?]” takes too long on “std_vector_push_back_slow_path_of_a_long_name” and is ignored
! flambeau-cli: the color rule “^(((\w+)*)*)*[!?]” takes too long on “std_vector_push_back_slow_path_of_a_long_name” and is ignored

$ for o in '--palette pink' '--hash' '--order size' '--direction up' '--width 5' '--min-width x' '--font-size 1e9' '--color-rule x' '--color-rule (=#ffffff' '--color-rule x=#ff'; do flambeau-cli export in.folded --to svg $o; done
! flambeau-cli: export: --palette pink: expected auto, module, state, memory, language, self, name, safe, julia, hot, mem, io, wakeup, chain, java, js, perl, red, green, blue, aqua, yellow, purple or orange
! flambeau-cli: export: --hash requires a --palette from hot to orange
! flambeau-cli: export: --order size: expected weight, name or time
! flambeau-cli: export: --direction up: expected flame or icicle
! flambeau-cli: export: --width 5: expected 100 to 32000
! flambeau-cli: export: --min-width x: expected pixels or a percentage
! flambeau-cli: export: --font-size 1e9: expected 2 to 100
! flambeau-cli: export: --color-rule x: expected REGEX=COLOR
! flambeau-cli: export: --color-rule (=#ffffff: Error while compiling regular expression ‘(’ at char 1: missing terminating )
! flambeau-cli: export: --color-rule x=#ff: “#ff” is not a color: expected #RRGGBB or rgb(R,G,B)
[2]

$ for to in folded html png csv; do flambeau-cli export in.folded --to $to --notes x; done
! flambeau-cli: export: --notes has no effect on folded
! flambeau-cli: export: --notes has no effect on html
! flambeau-cli: export: --notes has no effect on png
! flambeau-cli: export: --notes has no effect on csv
[2]

# A comparison with the colors swapped.
$ printf '%s\n' 'a;first 9' 'c;java/A_[j] 1' >now.folded; for o in '' --negate; do flambeau-cli diff in.folded now.folded --to svg --title now $o | grep -E -o 'class="heading".*|(first|A) \(.*fill="#[0-9a-f]*'; done
class="heading" x="600" y="24" text-anchor="middle">now</text>
first (9 samples, 90%): +1, before 8</title><rect x="10" y="44" width="1062" height="15" fill="#f2b4ac
A (1 samples, 10%): −4, before 5</title><rect x="1072" y="44" width="118" height="15" fill="#91c0fd
class="heading" x="600" y="24" text-anchor="middle">now</text>
first (9 samples, 90%): +1, before 8</title><rect x="10" y="44" width="1062" height="15" fill="#afcaee
A (1 samples, 10%): −4, before 5</title><rect x="1072" y="44" width="118" height="15" fill="#fe998e

$ flambeau-cli diff in.folded now.folded --to csv --negate
! flambeau-cli: diff: --negate has no effect on csv
[2]

$ flambeau-cli diff in.folded now.folded --width 300
! flambeau-cli: diff: --width has no effect on a table
[2]

# Folded stacks in other tools' forms, and back.
$ printf '%s\n' 'main;f_[k] 3' 'main;g_[j] 4' 'main;h_[i] 5' >kinds.folded; flambeau-cli export kinds.folded --to folded --annotate | diff - kinds.folded && echo same
same

$ flambeau-cli export kinds.folded --to folded
main;f 3
main;g 4
main;h 5
! kinds.folded: left out, because folded cannot hold it: kinds of code

# Only whole numbers: this is reported, and the sum differs from the file's.
$ for format in pprof callgrind folded; do flambeau-cli export captures/folded/fractions.folded --to $format --output fractions.$format; flambeau-cli top fractions.$format --json | grep -o '"total":[^,]*' | head -1; done
"total":14
"total":14
"total":13.75
! captures/folded/fractions.folded: left out, because pprof cannot hold it: fractions
! captures/folded/fractions.folded: left out, because callgrind cannot hold it: fractions

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
! captures/pprof/threads.pb: left out, because folded cannot hold it: labels
! captures/pprof/threads.pb: left out, because folded cannot hold it: labels
! captures/pprof/threads.pb: left out, because folded cannot hold it: labels

$ flambeau-cli export kinds.folded --to folded --root process
! flambeau-cli: export: --root process: expected comm, pid or tid
[2]

$ flambeau-cli export kinds.folded --to svg --annotate
! flambeau-cli: export: --annotate has no effect on svg
[2]

$ flambeau-cli export kinds.folded --to folded --root tid --by line
! flambeau-cli: kinds.folded: stacks that begin with threads cannot be grouped by anything but functions
[1]

# d3-flame-graph's tree, and back.
$ flambeau-cli export kinds.folded --to d3 | tee kinds.json; flambeau-cli export kinds.json --to folded --annotate | diff - kinds.folded && echo same
{"name":"all","value":12,"children":[
{"name":"main","value":12,"children":[
{"name":"h","libtype":"inlined","value":5},
{"name":"g","libtype":"jit","value":4},
{"name":"f","libtype":"kernel","value":3}]}]}
same

# It cannot represent wakers or interpreted code.
$ printf 'main;woken;waker_[w] 3\n' >waker.folded; flambeau-cli export waker.folded --to d3; printf 'main_[k];work_[0] 3\n' >python.folded; flambeau-cli export python.folded --to d3 >python.json
{"name":"all","value":3,"children":[
{"name":"main","value":3,"children":[
{"name":"woken","value":3,"children":[
{"name":"waker","value":3}]}]}]}
! waker.folded: left out, because d3 cannot hold it: kinds of code
! python.folded: left out, because d3 cannot hold it: kinds of code

# The positions of boxes in the PNG.
$ flambeau-cli export kinds.folded --to tags --width 300 --row-height 20; flambeau-cli export kinds.folded --to png --width 300 --row-height 20 --output kinds.png
x	y	width	height	function	file	line
12	90	276	20	all		0
12	70	276	20	main		0
12	50	115	20	h		0
127	50	92	20	g		0
219	50	69	20	f		0

# Labels of samples, in every verb.
$ for v in top info tree 'export --to folded'; do flambeau-cli $v captures/pprof/threads.pb --label tenant=red; done
      self                 total            function
         1   100.0 %           1   100.0 %  work
work takes 100 %

format     pprof
measures   samples            1 (samples)
samples    1 in 2 stacks of 2 functions
threads    4711 main: 0 samples, 0
           4712 worker: 1 sample, 1
           #3 all threads: 0 samples, 0
all  1  0
  work  1  1
work 1
! captures/pprof/threads.pb: left out, because folded cannot hold it: threads, labels

$ flambeau-cli top captures/pprof/threads.pb --label tenant=blue
! flambeau-cli: captures/pprof/threads.pb: no sample with the label “tenant=blue”; there are: tenant=red
[1]

$ flambeau-cli top captures/pprof/threads.pb --label tenant
! flambeau-cli: top: --label tenant: expected KEY=VALUE
[2]

# The other shapes of the same tree: as a layout, and as a picture.
$ for s in sunburst treemap; do flambeau-cli dump in.folded --stage layout --width 200 --shape $s | head -n 4; done
x=0 y=0 width=6.28319 height=24.75 node=0 all
x=0 y=24.75 width=2.82743 height=24.75 node=1 c
x=2.82743 y=24.75 width=2.51327 height=24.75 node=4 a
x=5.34071 y=24.75 width=0.942478 height=24.75 node=7 b
x=0 y=0 width=200 height=120 node=0 frame all
x=0 y=0 width=200 height=16 node=0 head all
x=3 y=16 width=87.3 height=101 node=1 frame c
x=3 y=16 width=87.3 height=16 node=1 head c

$ for s in sunburst treemap; do flambeau-cli export in.folded --to svg --width 120 --shape $s | sed -n 's/^<g class="a">//p'; done
<title>c (9 samples, 45%)</title><path class="fill" fill-rule="evenodd" d="M60 62.15A31.85 31.85 0 0 1 69.84 124.29L64.54 107.98A14.7 14.7 0 0 0 60 79.3Z" fill="#e6c6ab" stroke="#ffffff" stroke-width=".7"/><path id="ring1" fill="none" d="M62.45 75.08A19.07 19.07 0 0 1 68.18 111.23"/><text text-anchor="middle"><textPath href="#ring1" startOffset="50%">c</textPath></text></g>
<title>a (8 samples, 40%)</title><path class="fill" fill-rule="evenodd" d="M69.84 124.29A31.85 31.85 0 0 1 34.23 75.28L48.11 85.36A14.7 14.7 0 0 0 64.54 107.98Z" fill="#e6c6ab" stroke="#ffffff" stroke-width=".7"/><path id="ring2" fill="none" d="M35.88 80.84A27.47 27.47 0 0 0 65.06 121"/><text text-anchor="middle"><textPath href="#ring2" startOffset="50%">a</textPath></text></g>
<title>b (3 samples, 15%)</title><path class="fill" fill-rule="evenodd" d="M34.23 75.28A31.85 31.85 0 0 1 60 62.15L60 79.3A14.7 14.7 0 0 0 48.11 85.36Z" fill="#dbb799" stroke="#ffffff" stroke-width=".7"/><path id="ring3" fill="none" d="M46.14 80.9A19.07 19.07 0 0 1 57.55 75.08"/><text text-anchor="middle"><textPath href="#ring3" startOffset="50%">b</textPath></text></g>
<title>java/A (5 samples, 25%)</title><path class="fill" fill-rule="evenodd" d="M60 45A49 49 0 0 1 109 94L91.85 94A31.85 31.85 0 0 0 60 62.15Z" fill="#8cd884" stroke="#ffffff" stroke-width=".7"/><path id="ring4" fill="none" d="M62.69 57.87A36.22 36.22 0 0 1 96.13 91.31"/><text text-anchor="middle"><textPath href="#ring4" startOffset="50%">java/A</textPath></text></g>
<title>std::x (4 samples, 20%)</title><path class="fill" fill-rule="evenodd" d="M109 94A49 49 0 0 1 75.14 140.6L69.84 124.29A31.85 31.85 0 0 0 91.85 94Z" fill="#76d2d7" stroke="#ffffff" stroke-width=".7"/></g>
<title>first (8 samples, 40%)</title><path class="fill" fill-rule="evenodd" d="M75.14 140.6A49 49 0 0 1 20.36 65.2L34.23 75.28A31.85 31.85 0 0 0 69.84 124.29Z" fill="#e2c1a5" stroke="#ffffff" stroke-width=".7"/><path id="ring6" fill="none" d="M22.05 70.52A44.62 44.62 0 0 0 70.61 137.35"/><text text-anchor="middle"><textPath href="#ring6" startOffset="50%">first</textPath></text></g>
<title>early (2 samples, 10%)</title><path class="fill" fill-rule="evenodd" d="M20.36 65.2A49 49 0 0 1 44.86 47.4L50.16 63.71A31.85 31.85 0 0 0 34.23 75.28Z" fill="#dfbc9f" stroke="#ffffff" stroke-width=".7"/></g>
<title>late (1 samples, 5%)</title><path class="fill" fill-rule="evenodd" d="M44.86 47.4A49 49 0 0 1 60 45L60 62.15A31.85 31.85 0 0 0 50.16 63.71Z" fill="#dfbc9f" stroke="#ffffff" stroke-width=".7"/></g>
<title>all (20 samples, 100%)</title><rect class="fill" x="10" y="44" width="99" height="15" fill="#dde0e7"/><text x="13" y="55">all</text></g>
<title>c (9 samples, 45%)</title><rect class="fill" x="13" y="60" width="41.3" height="40" fill="#efdbc9"/></g>
<title>c (9 samples, 45%)</title><rect class="fill" x="13" y="60" width="41.3" height="15" fill="#efdbc9"/><text x="16" y="71">c</text></g>
<title>first (8 samples, 40%)</title><rect class="fill" x="55.3" y="60" width="36.6" height="40" fill="#ecd7c5"/></g>
<title>first (8 samples, 40%)</title><rect class="fill" x="56.3" y="65.875" width="34.6" height="33.125" fill="#e2c1a5"/></g>
<title>b (3 samples, 15%)</title><rect class="fill" x="92.9" y="60" width="13.1" height="40" fill="#e8d1be"/></g>
<title>java/A (5 samples, 25%)</title><rect class="fill" x="16" y="76" width="19.1667" height="21" fill="#8cd884"/></g>
<title>std::x (4 samples, 20%)</title><rect class="fill" x="36.1667" y="76" width="15.1333" height="21" fill="#76d2d7"/></g>
<title>k (1 samples, 5%)</title><rect class="fill" x="56.3" y="61" width="34.6" height="3.875" fill="#fd9d38"/></g>
<title>early (2 samples, 10%)</title><rect class="fill" x="93.9" y="61" width="11.1" height="25" fill="#dfbc9f"/></g>
<title>late (1 samples, 5%)</title><rect class="fill" x="93.9" y="87" width="11.1" height="12" fill="#dfbc9f"/></g>

$ flambeau-cli export in.folded --to svg --shape treemap --title '' | grep -c -E 'script|class="f"|class="flambeau"'
0
[1]

$ flambeau-cli export in.folded --to pdf --shape sunburst --output s.pdf; head -c 5 s.pdf; for s in sunburst treemap; do flambeau-cli export in.folded --to png --width 300 --shape $s --output $s.png; od -An -tu4 --endian=big -j16 -N8 $s.png; done
%PDF-        300        393
        300        282

$ flambeau-cli export in.folded --to svg --shape treemap --output map.svg; flambeau-cli info map.svg
! flambeau-cli: map.svg: this is not a capture that Flambeau can open
[1]

$ for o in 'round' 'sunburst --direction icicle' 'treemap --order name' 'treemap --chart'; do flambeau-cli export in.folded --to svg --shape $o; done; flambeau-cli export in.folded --to html --shape treemap; flambeau-cli dump in.folded --stage layout --shape round
! flambeau-cli: export: --shape round: expected flame, sunburst or treemap
! flambeau-cli: export: --direction has no effect on sunburst
! flambeau-cli: export: --order has no effect on treemap
! flambeau-cli: export: --shape has no effect on --chart
! flambeau-cli: export: --shape has no effect on html
! flambeau-cli: dump: --shape: expected flame, sunburst or treemap
[2]

# Characters that change the direction of writing are shown, so that names
# cannot be confused; letters that are written from right to left stay, and
# other programs get unchanged names.
$ printf 'main;sa\u202efe\u2069 3\nmain;\u05e9\u05dc\u05d5\u05dd 3\n' >turned.folded; flambeau-cli export turned.folded --to svg | grep -o '<title>.*' | sed 's/ (.*<text[^>]*>/ /'; flambeau-cli export turned.folded --to html | grep -a -e '^"main' -e '^"sa' -e $'^"\u05e9'; flambeau-cli top turned.folded | grep -o -e 'sa.*' -e $'\u05e9.*'; for format in folded pprof speedscope; do flambeau-cli export turned.folded --to $format --output turned.$format.gz; flambeau-cli export turned.$format.gz --to folded | cmp - turned.folded && echo same; done
<title>all all</text></g>
<title>main main</text></g>
<title>sa\u202efe\u2069 sa\u202efe\u2069</text></g>
<title>שלום שלום</text></g>
"sa\\u202efe\\u2069",
"שלום",
sa\u202efe\u2069
שלום
same
same
same

# Julia's status of frames has its colors, in pictures and in the page.
$ flambeau-cli export captures/profilecanvas/status.html --to svg | grep -o '<title>[^ ]* .*fill="#[0-9a-f]*"' | sed 's/<rect.*fill/ fill/' | sort; flambeau-cli export captures/profilecanvas/status.html --to html | grep -o '"statuses":.*\|"status":.*'
<title>all (20 samples, 100%)</title> fill="#cacfda"
<title>eval_user_input (2 samples, 10%): repl</title> fill="#8fb0a0"
<title>f (16 samples, 80%): dispatch</title> fill="#cc6767"
<title>grow (5 samples, 25%): gc</title> fill="#cc9944"
<title>sort! (6 samples, 30%): dispatch,gc</title> fill="#cc6767"
<title>typeinf (4 samples, 20%): compilation</title> fill="#646464"
<title>wait (2 samples, 10%): task</title> fill="#b79bc4"
"statuses":[{"bit":1,"name":"Runtime dispatch","color":13395815},{"bit":2,"name":"Garbage collection","color":13408580},{"bit":8,"name":"Compilation","color":6579300},{"bit":4,"name":"REPL","color":9416864},{"bit":16,"name":"Task","color":12032964}],
"status":[0,1,2,3,8,4,16]},

$ flambeau-cli export captures/profilecanvas/status.html --to svg --palette module | grep -c 'fill="#cc6767"'
0
[1]

# The other options of flamegraph.pl: its backgrounds, the font, the text before
# names, amounts times a factor and of a larger total, and links.
$ flambeau-cli export in.folded --to svg --bgcolors blue --fonttype Courier --fontwidth 0.59 --nametype Function: | grep -E -o 'data-character="[0-9]*"|data-name-type="[^"]*"|font-family="[^"]*"|<linear.*|<rect class="paper.*'
data-character="708"
data-name-type="Function:"
font-family="Courier"
<linearGradient id="paper" x1="0" y1="0" x2="0" y2="1"><stop offset="5%" stop-color="#eeeeee"/><stop offset="95%" stop-color="#e0e0ff"/></linearGradient></defs>
<rect class="paper" width="100%" height="100%" fill="url(#paper)"/>

$ flambeau-cli export in.folded --to svg --bgcolors '#010203' | grep -o '<rect class="paper.*'; flambeau-cli export in.folded --to svg --bgcolors pink
<rect class="paper" width="100%" height="100%" fill="#010203"/>
! flambeau-cli: in.folded: --bgcolors pink: expected yellow, blue, green, grey or #rrggbb
[1]

$ . ./boxes; flambeau-cli export in.folded --to svg --factor 2.5 --total 40 | grep -o '<title>[^<]*'; flambeau-cli export in.folded --to svg --total 40 | boxes; flambeau-cli export in.folded --to svg --total 19 | boxes | head -n 2
<title>all (100 samples, 100%)
<title>c (22 samples, 22.5%)
<title>a (20 samples, 20%)
<title>b (8 samples, 7.5%)
<title>java/A (12 samples, 12.5%)
<title>std::x (10 samples, 10%)
<title>first (20 samples, 20%)
<title>early (5 samples, 5%)
<title>late (2 samples, 2.5%)
<title>k (2 samples, 2.5%)
all 10 92 1180
c 10 76 265.5
a 275.5 76 236
b 511.5 76 88.5
java/A 10 60 147.5
std::x 157.5 60 118
first 275.5 60 236
early 511.5 60 59
late 570.5 60 29.5
k 275.5 44 29.5
all 10 92 1180
c 10 76 531

$ printf 'a\thref=https://example.org/a?b=1&c\tclass=own\nfirst\tid=f1\n' >names.attr; flambeau-cli export in.folded --to svg --nameattr names.attr | grep -E -o '<a .*<title>|<g class="f" id.*<title>|</g></a>'
<a href="https://example.org/a?b=1&amp;c" target="_top"><g class="f own"><title>
</g></a>
<g class="f" id="f1"><title>

$ printf 'a\tx=1\n' >bad.attr; flambeau-cli export in.folded --to svg --nameattr bad.attr; printf 'a\thref=javascript:alert(1)\n' >bad.attr; flambeau-cli export in.folded --to svg --nameattr bad.attr; flambeau-cli export in.folded --to svg --chart --factor 2
! flambeau-cli: bad.attr: line 1: expected a function, and after tabs id=, class=, href= or target=
! flambeau-cli: bad.attr: line 1: expected a function, and after tabs id=, class=, href= or target=
! flambeau-cli: export: --factor has no effect on --chart
[2]

$ printf 'm\303\244in;\360\237\224\245 3\n' >utf8.folded; flambeau-cli export utf8.folded --to svg --encoding ISO-8859-1 >latin.svg; head -n 1 latin.svg; grep -o '<title>m[^<]*\|<title>&[^<]*' latin.svg; LC_ALL=C grep -c -P '[\x80-\xff]' latin.svg; flambeau-cli info latin.svg | grep measures; flambeau-cli tree latin.svg; flambeau-cli export utf8.folded --to svg --encoding UTF-16; flambeau-cli export utf8.folded --to svg --encoding nonsense
<?xml version="1.0" encoding="ISO-8859-1"?>
<title>m&#228;in (3 samples, 100%)
<title>&#128293; (3 samples, 100%)
0
measures   samples            3 (Samples)
all  3  0
  mäin  3  0
    🔥  3  3
! flambeau-cli: utf8.folded: --encoding UTF-16: expected one that contains ASCII, such as ISO-8859-1
! flambeau-cli: utf8.folded: --encoding nonsense: expected one that contains ASCII, such as ISO-8859-1
[1]

# Rules for kinds of code. FlameGraphs.jl's colors by location, for a .jlprof,
# which has no modules.
$ printf '%s\n' 'file:LLVM=#ffff00' 'kind:^native$=#ffa500' 'file:^\./compiler/=#999999' 'file:^\./=#add8e6' 'file:.=#ff0000' >location; flambeau-cli export captures/jlprof/plain.jlprof --to svg --color-rules location | grep -v '^//' | grep -E -o '<title>[^(]* \(.*fill="#[0-9a-f]*' | sed 's/<title>\([^(]*\) (.*fill=/\1 /'
all "#cacfda
_start "#ffa500
cook "#ff0000
[unknown] "#98bbfb
chop "#ff0000
jl_gc_collect "#ffa500
[unknown] "#7fcdec
+ "#ff0000

# FlameColors(n): n colors in turn at odd depths, n others at even ones.
$ printf '%s\n' 'a;b 9' 'c;d 8' 'e;f 7' 'g;h 6' >turns.folded; for n in 1 2 3; do flambeau-cli export turns.folded --to svg --palette julia --palette-colors $n | grep -v '^//' | grep -o '<title>[a-h] .*fill="#[0-9a-f]*' | sed 's/<title>\(.\).*fill="/\1 /' | sort | tr '\n' ' '; echo; done; flambeau-cli export turns.folded --to svg --palette-colors 17
a #84d3ec b #c3c57c c #84d3ec d #c3c57c e #84d3ec f #c3c57c g #84d3ec h #c3c57c 
a #90d8b8 b #c3c57c c #b5c2fd d #73ceea e #90d8b8 f #c3c57c g #b5c2fd h #73ceea 
a #a2d5a6 b #c3c57c c #84d3ec d #72d4c5 e #c8bcf8 f #98c2fc g #a2d5a6 h #c3c57c 
! flambeau-cli: export: --palette-colors 17: expected 1 to 16
[2]
