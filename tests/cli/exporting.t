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
