# SPDX-License-Identifier: GPL-3.0-or-later
# Where a document goes. A new file is its owner's alone, whatever the umask; one
# that is replaced leaves its mode to the new one.
$ umask 0; printf 'main;parse 3\nmain;eval 7\n' >a.folded; flambeau-cli export a.folded --to html --output new.html; stat -c '%a %h' new.html; flambeau-cli merge a.folded --output new.flambeau; stat -c %a new.flambeau
600 1
600

$ for mode in 640 604 444; do chmod $mode new.html; flambeau-cli export a.folded --to html --output new.html --force; flambeau-cli merge a.folded --output new.html --force; stat -c %a new.html; done; ls | grep new.html
640
604
444
new.html

# Existing files are not replaced without permission.
$ flambeau-cli export a.folded --to json --output new.html
! flambeau-cli: new.html: already exists; --force replaces it
[1]

# Symbolic links are neither followed nor replaced.
$ echo precious >target; ln -s target link; ln -s nowhere dangling; for l in link dangling; do flambeau-cli export a.folded --to json --output $l; flambeau-cli export a.folded --to json --output $l --force; done; cat target; readlink link dangling; ls nowhere
precious
target
nowhere
! flambeau-cli: link: cannot be written: it is a symbolic link, which is neither followed nor replaced
! flambeau-cli: link: cannot be written: it is a symbolic link, which is neither followed nor replaced
! flambeau-cli: dangling: cannot be written: it is a symbolic link, which is neither followed nor replaced
! flambeau-cli: dangling: cannot be written: it is a symbolic link, which is neither followed nor replaced
! ls: cannot access 'nowhere': No such file or directory
[2]

# A FIFO without a reader is refused at once; one with a reader is written to.
$ mkfifo pipe; timeout 10 flambeau-cli export a.folded --to folded --output pipe --force; exec 3<>pipe; flambeau-cli export a.folded --to folded --output pipe --force; head -n 2 <&3
main;eval 7
main;parse 3
! flambeau-cli: pipe: cannot be written: nothing reads from this pipe

$ flambeau-cli export a.folded --to folded --output /dev/stdout --force; flambeau-cli export a.folded --to folded --output /dev/null --force; mkdir folder; flambeau-cli export a.folded --to folded --output folder; ls folder
main;eval 7
main;parse 3
flambeau-a.folded.folded

# A process killed while writing leaves nothing behind.
$ mkdir killed; { (ulimit -f 1; flambeau-cli export a.folded --to html --output killed/out.html); echo $?; } 2>/dev/null; ls -A killed
153

# With the linker's names.
$ flambeau-cli export captures/peers/perf/tmpl-dwarf16.perf.data --binaries captures/peers/bin --to folded --mangled | grep -o -m1 '_ZNKSt8functionIFddEEclEd'
_ZNKSt8functionIFddEEclEd
! captures/peers/perf/tmpl-dwarf16.perf.data: left out, because folded cannot hold it: order in time, other measures, files, lines, inlined functions, modules, kinds of code

# pprof's first mapping is the program.
$ flambeau-cli export captures/peers/perf/twoevents.perf.data --to pprof --output nest.pb 2>/dev/null; flambeau-cli info nest.pb --json | grep -o '"path":"[^"]*"' | head -n 1
"path":"/opt/sample/bin/tmpl-fp"

# A FIFO as list of colors is not waited for, either.
$ timeout 10 flambeau-cli export a.folded --to svg --palette-map pipe --output b.svg
! flambeau-cli: pipe: not a regular file
[1]

# A thread by its name in Memray.
$ flambeau-cli tree captures/memray/v12.bin --thread worker --measure allocated --show-irrelevant; flambeau-cli tree captures/memray/v12.bin --thread 0x8000 --measure allocated --show-irrelevant
all  510 B  0 B
  _find_and_load  510 B  510 B
all  510 B  0 B
  _find_and_load  510 B  510 B

# A picture has the requested width.
$ for w in 1000 300; do flambeau-cli export a.folded --to png --width $w --output p$w.png; od -An -tu4 --endian=big -j16 -N4 p$w.png; done
       1000
        300

# speedscope opens with the heaviest thread.
$ flambeau-cli export captures/pprof/threads.pb --to speedscope 2>/dev/null | grep -o '"activeProfileIndex":[0-9]*'
"activeProfileIndex":2
