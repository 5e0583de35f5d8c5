# SPDX-License-Identifier: GPL-3.0-or-later
# storm.pl ROUNDS: exceptions, functions that end, children.
use strict;
use warnings;

sub fail_at {
    my ($depth) = @_;
    die "storm\n" if $depth == 0;
    return 1 + fail_at($depth - 1);
}

sub survive {
    my $sum = eval { fail_at(50) };
    return length $@;
}

sub litter {
    my @kept = map { [ $_, "a$_" ] } 1 .. 3000;
    return scalar @kept;
}

sub fresh {
    my ($number) = @_;
    my $made = eval "sub { my \$s = $number; \$s += \$_ for 1 .. 2000; \$s }";
    return $made->();
}

sub children {
    my $pid = fork;
    if ($pid == 0) {
        exec "true";
    }
    waitpid $pid, 0;
    return $?;
}

my $total = 0;
for my $number (1 .. $ARGV[0]) {
    $total += survive() + litter() + fresh($number);
    $total += children() if $number % 20 == 0;
}
print "$total\n";
