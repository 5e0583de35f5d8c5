%% SPDX-License-Identifier: GPL-3.0-or-later
%% shares: works for some seconds, three quarters of it in heavy/1. Writes to a
%% file, with tabs between words: "part NAME MS", the CPU time of the program
%% while each function ran, and "frame NAME FILE LINE" of its own stack in part/2,
%% the innermost first.
-module(shares).
-export([start/1]).

heavy(N) -> heavy(N, 1).

heavy(0, A) -> A;
heavy(N, A) -> heavy(N - 1, (A * 31 + N) band 16#ffffff).

light(N) -> light(N, 1).

light(0, A) -> A;
light(N, A) -> light(N - 1, (A * 31 + N) band 16#ffffff).

clock() -> element(1, erlang:statistics(runtime)).

note_stack() ->
    case get(stack) of
        undefined ->
            erlang:system_flag(backtrace_depth, 64),
            {_, Stack} = erlang:process_info(self(), current_stacktrace),
            put(stack, tl(Stack));
        _ -> ok
    end.

%% It makes no tail calls, so it stays on the stack.
part(Name, N) ->
    note_stack(),
    Before = clock(),
    A = case Name of
            heavy -> heavy(N);
            light -> light(N)
        end,
    put(Name, clock() - Before + case get(Name) of undefined -> 0; Sum -> Sum end),
    A.

work(Done) ->
    case erlang:monotonic_time(millisecond) > Done of
        true -> ok;
        false ->
            lists:foreach(fun (Name) -> [part(Name, 3000000)] end, [heavy]),
            part(light, 1000000),
            work(Done)
    end.

write(File) ->
    {ok, Out} = file:open(File, [write]),
    [io:format(Out, "part\t~s\t~b~n", [Name, get(Name)]) || Name <- [heavy, light]],
    [io:format(Out, "frame\t~s:~s/~b\t~s\t~b~n",
               [M, F, A, proplists:get_value(file, At, ""), proplists:get_value(line, At, 0)])
     || {M, F, A, At} <- get(stack)],
    file:close(Out).

start([Seconds, File]) ->
    Last = erlang:monotonic_time(millisecond) + 1000 * list_to_integer(atom_to_list(Seconds)),
    work(Last),
    write(atom_to_list(File)),
    init:stop().
