%% SPDX-License-Identifier: GPL-3.0-or-later
%% burst: works for 30 ms or so, three quarters of it in one function, and sleeps
%% for 5 ms. truth.h describes its output. Its clock is the process's, in ms; with
%% one scheduler that does not spin, nothing else runs.
-module(burst).
-export([start/1]).

heavy(0, A) -> A;
heavy(N, A) -> heavy(N - 1, (A * 31 + N) band 16#ffffff).

light(0, A) -> A;
light(N, A) -> light(N - 1, (A * 31 + N) band 16#ffffff).

clock() -> element(1, erlang:statistics(runtime)) / 1000.

%% It makes no tail calls, so it stays on the stack.
timed(Name, Part) ->
    Before = clock(),
    Part(),
    put(Name, clock() - Before + case get(Name) of undefined -> 0.0; Sum -> Sum end),
    ok.

work(Done) ->
    case erlang:monotonic_time(millisecond) > Done of
        true -> ok;
        false ->
            timed("burst:heavy/2", fun () -> [heavy(3000000, 1)] end),
            timed("burst:light/2", fun () -> [light(1000000, 1)] end),
            timer:sleep(5),
            work(Done)
    end.

%% [CPU, waiting] of a thread, in seconds; and of all.
schedstat(Task) ->
    {ok, Text} = file:read_file(["/proc/self/task/", Task, "/schedstat"]),
    [binary_to_integer(Word) / 1.0e9 || Word <- lists:sublist(binary:split(Text, [<<" ">>], [global]), 2)].

tasks() ->
    {ok, Tasks} = file:list_dir("/proc/self/task"),
    Tasks.

is_scheduler(Task) ->
    {ok, Name} = file:read_file(["/proc/self/task/", Task, "/comm"]),
    lists:member(Name, [<<"erts_sched_1\n">>, <<"1_scheduler\n">>]).

process_time() -> lists:sum([hd(schedstat(Task)) || Task <- tasks()]).

wait_to_go(false) -> ok;
wait_to_go(Path) ->
    {ok, Go} = file:open(Path, [read, raw]),
    {ok, _} = file:read(Go, 1).

start([Seconds]) ->
    wait_to_go(os:getenv("TRUTH_GO")),
    Start = erlang:monotonic_time(millisecond),
    Began = process_time(),
    work(Start + 1000 * list_to_integer(Seconds)),
    {ok, Out} = file:open(os:getenv("TRUTH", "/dev/stdout"), [write]),
    [io:format(Out, "part\t~s\t~.9f\n", [Name, get(Name)])
     || Name <- ["burst:heavy/2", "burst:light/2"]],
    [Thread] = lists:filter(fun is_scheduler/1, tasks()),
    Lasted = (erlang:monotonic_time(millisecond) - erlang:system_info(start_time) div 1000000) / 1000,
    io:format(Out, "thread\tscheduler\t~s\t~.9f\t~.9f\t~.9f\n",
              [Thread | schedstat(Thread)] ++ [Lasted]),
    io:format(Out, "process\t~.9f\t~.9f\n", [Began, process_time()]),
    file:close(Out),
    init:stop().
