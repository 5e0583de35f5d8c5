%% SPDX-License-Identifier: GPL-3.0-or-later
%% calls: works for some seconds in functions that are written in C, called by
%% work/1, and lets the scheduler wait now and then.
-module(calls).
-export([start/1]).

work(0, Sum) -> Sum;
work(N, Sum) ->
    List = lists:reverse(lists:seq(1, 1000)),
    Sum1 = Sum + erlang:phash2(List),
    _ = binary_to_term(term_to_binary(List)),
    work(N - 1, Sum1).

until(Last) ->
    work(100, 0),
    timer:sleep(1),
    case erlang:monotonic_time(millisecond) > Last of
        true -> ok;
        false -> until(Last)
    end.

start([Seconds]) ->
    until(erlang:monotonic_time(millisecond) + 1000 * list_to_integer(atom_to_list(Seconds))),
    init:stop().
