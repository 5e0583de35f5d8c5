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

$ flambeau-cli export in.folded --to folded --output out.folded
! flambeau-cli: out.folded: exists already; --force replaces it
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
! flambeau-cli: /dev/full: exists already; --force replaces it
[1]

# What the colours mean can be said: the same picture, in green.
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
! flambeau-cli: in.folded: it does not say what threads were doing
[1]

$ flambeau-cli export in.folded --to svg --color rainbow
! flambeau-cli: export: --color is auto, module, state or memory
[2]

$ flambeau-cli export in.folded --to folded --color module
! flambeau-cli: export: --color: folded has no colors
[2]

$ ls
captures
in.flambeau
in.folded
in.folded.flambeau
out.folded

# The disk is full: said, and the status is 1.
$ flambeau-cli export in.folded --to folded >/dev/full
! flambeau-cli: standard output: cannot write
[1]

$ flambeau-cli top in.folded >/dev/full
! flambeau-cli: standard output: cannot write
[1]

$ flambeau-cli info in.folded --json >/dev/full
! flambeau-cli: standard output: cannot write
[1]
