<?php
// SPDX-License-Identifier: GPL-3.0-or-later
// burst.php SECONDS: works for 2 ms or so, three quarters of it in one function,
// and sleeps for 5 ms. truth.h describes its output.

$start = hrtime(true);
$spent = ["heavy" => 0, "light" => 0, "rest" => 0];

function process_time()
{
    $used = getrusage();
    return $used["ru_utime.tv_sec"] + $used["ru_stime.tv_sec"] +
        ($used["ru_utime.tv_usec"] + $used["ru_stime.tv_usec"]) / 1e6;
}

function heavy()
{
    $a = 1;
    for ($i = 0; $i < 120000; $i++) {
        $a = ($a * 31 + $i) & 0xffffff;
    }
}

function light()
{
    $a = 1;
    for ($i = 0; $i < 40000; $i++) {
        $a = ($a * 31 + $i) & 0xffffff;
    }
}

function rest()
{
    usleep(5000);
}

function timed($part)
{
    global $spent;
    $before = process_time();
    $part();
    $spent[$part] += process_time() - $before;
}

// Called by C: array_map() enters the interpreter again for each.
function work($seconds)
{
    $done = hrtime(true) + $seconds * 1e9;
    while (hrtime(true) < $done) {
        array_map("timed", ["heavy", "light", "rest"]);
    }
}

if (getenv("TRUTH_GO") !== false) {
    fread(fopen(getenv("TRUTH_GO"), "r"), 1);
}
$began = process_time();
work((float)$argv[1]);
$said = "";
foreach ($spent as $name => $seconds) {
    $said .= "part\t$name\t" . sprintf("%.9f", $seconds) . "\n";
}
$waited = (int)explode(" ", file_get_contents("/proc/self/schedstat"))[1] / 1e9;
$said .= sprintf("thread\tphp\t%d\t%.9f\t%.9f\t%.9f\n", getmypid(), process_time(), $waited,
    (hrtime(true) - $start) / 1e9);
$said .= sprintf("process\t%.9f\t%.9f\n", $began, process_time());
file_put_contents(getenv("TRUTH") !== false ? getenv("TRUTH") : "php://stdout", $said);
