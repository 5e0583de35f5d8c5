# SPDX-License-Identifier: GPL-3.0-or-later
# Works 30 calls deep, and prints its CPU time in seconds.
use strict;
use warnings;
use Time::HiRes qw(clock_gettime CLOCK_PROCESS_CPUTIME_ID);

sub leaf {
    my ($x) = @_;
    my $s = 0;
    $s = ($s * 31 + $x + $_) & 0xffffff for 0 .. 39;
    return $s;
}

sub deep {
    my ($n) = @_;
    return $n < 2 ? 1 : deep($n - 1) + leaf($n);
}

deep(30) for 1 .. 28000;
print clock_gettime(CLOCK_PROCESS_CPUTIME_ID), "\n";
