# SPDX-License-Identifier: GPL-3.0-or-later
# asleep.pl FILE SECONDS: writes its own stack to FILE, one frame a line, "name
# TAB line", innermost first, and sleeps there.
use strict;
use warnings;

sub say_stack {
    my ($line) = @_;
    my $said = "";
    for (my $i = 1; my @frame = caller $i; $i++) {
        my $block = $frame[3] eq "(eval)" && !defined $frame[6];
        $said .= "$frame[3]\t$line\n" unless $block;
        $line = $frame[2] unless $block;
    }
    open my $file, ">", "$ARGV[0].new" or die $!;
    print $file "$said(main)\t$line\n";
    close $file;
    rename "$ARGV[0].new", $ARGV[0] or die $!;
}

package Counted;

use overload '""' => \&text;

sub new {
    my ($class, $n) = @_;
    return bless { n => $n }, $class;
}

sub text {
    my ($self) = @_;
    return $self->down($self->{n});
}

sub down {
    my ($self, $n) = @_;
    return $self->down($n - 1) if $n > 0;
    my $inner = sub {
        main::say_stack(__LINE__); select undef, undef, undef, $ARGV[1];
        return "x";
    };
    return $inner->();
}

package main;

my $compared = 0;

sub by_text {
    return $compared++ ? 0 : "$a" cmp "x";
}

sub start {
    my @sorted = sort by_text Counted->new(3), Counted->new(2);
}

for my $once (1) {
    eval {
        eval "start();\n1" or die $@;
    };
}
