%% SPDX-License-Identifier: GPL-3.0-or-later
%% loop: works 30 calls deep, and prints its CPU time in seconds.
-module(loop).
-export([start/0]).

leaf(_, 40, S) -> S;
leaf(X, I, S) -> leaf(X, I + 1, (S * 31 + X + I) band 16#ffffff).

deep(1) -> 1;
deep(N) -> deep(N - 1) + leaf(N, 0, 0).

turns(0) -> ok;
turns(N) ->
    deep(30),
    turns(N - 1).

start() ->
    turns(500000),
    io:format("~.3f~n", [element(1, erlang:statistics(runtime)) / 1000]),
    init:stop().
