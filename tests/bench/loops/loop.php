<?php
// SPDX-License-Identifier: GPL-3.0-or-later
// Works 30 calls deep, and prints its CPU time in seconds.
function leaf($x)
{
    $s = 0;
    for ($i = 0; $i < 40; $i++) {
        $s = ($s * 31 + $x + $i) & 0xffffff;
    }
    return $s;
}

function deep($n)
{
    return $n < 2 ? 1 : deep($n - 1) + leaf($n);
}

for ($i = 0; $i < 200000; $i++) {
    deep(30);
}
$used = getrusage();
echo $used["ru_utime.tv_sec"] + $used["ru_stime.tv_sec"] +
    ($used["ru_utime.tv_usec"] + $used["ru_stime.tv_usec"]) / 1e6, "\n";
