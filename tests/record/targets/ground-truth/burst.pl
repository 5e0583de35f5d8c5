# SPDX-License-Identifier: GPL-3.0-or-later
# burst.pl SECONDS: works for 2 ms or so, three quarters of it in one function,
# and sleeps for 5 ms. truth.h describes its output.
use strict;
use warnings;
use Time::HiRes qw(clock_gettime usleep CLOCK_MONOTONIC CLOCK_PROCESS_CPUTIME_ID);

my $start = clock_gettime(CLOCK_MONOTONIC);
my %parts = (heavy => \&heavy, light => \&light, rest => \&rest);
my %spent = (heavy => 0, light => 0, rest => 0);

sub heavy {
    my $a = 1;
    for my $i (1 .. 18000) {
        $a = ($a * 31 + $i) & 0xffffff;
    }
}

sub light {
    my $a = 1;
    for my $i (1 .. 6000) {
        $a = ($a * 31 + $i) & 0xffffff;
    }
}

sub rest {
    usleep(5000);
}

sub timed {
    my ($part) = @_;
    my $before = clock_gettime(CLOCK_PROCESS_CPUTIME_ID);
    $parts{$part}->();
    $spent{$part} += clock_gettime(CLOCK_PROCESS_CPUTIME_ID) - $before;
}

# Called by C: sort enters the interpreter again for its comparison.
sub work {
    my ($seconds) = @_;
    my $done = clock_gettime(CLOCK_MONOTONIC) + $seconds;
    while (clock_gettime(CLOCK_MONOTONIC) < $done) {
        my @sorted = sort { timed($_) for qw(heavy light rest); 0 } 1, 2;
    }
}

if ($ENV{TRUTH_GO}) {
    open my $go, "<", $ENV{TRUTH_GO} or die "$ENV{TRUTH_GO}: $!";
    sysread $go, my $byte, 1;
}
my $began = clock_gettime(CLOCK_PROCESS_CPUTIME_ID);
work($ARGV[0]);
open my $schedstat, "<", "/proc/self/schedstat" or die $!;
my $waited = (split " ", <$schedstat>)[1] / 1e9;
open my $file, ">", $ENV{TRUTH} || "/dev/stdout" or die $!;
printf $file "part\tmain::%s\t%.9f\n", $_, $spent{$_} for sort keys %spent;
printf $file "thread\tperl\t%d\t%.9f\t%.9f\t%.9f\n", $$, clock_gettime(CLOCK_PROCESS_CPUTIME_ID),
    $waited, clock_gettime(CLOCK_MONOTONIC) - $start;
printf $file "process\t%.9f\t%.9f\n", $began, clock_gettime(CLOCK_PROCESS_CPUTIME_ID);
