<?php
// SPDX-License-Identifier: GPL-3.0-or-later
// storm.php ROUNDS: exceptions, collections of garbage, functions that end, children.
function fail($depth)
{
    if ($depth == 0) {
        throw new RuntimeException("storm");
    }
    return 1 + fail($depth - 1);
}

function survive()
{
    try {
        return fail(50);
    } catch (RuntimeException $e) {
        return strlen($e->getMessage());
    }
}

function litter()
{
    for ($i = 0; $i < 3000; $i++) {
        $one = new stdClass();
        $one->self = $one;
    }
    return gc_collect_cycles() >= 0 ? 1 : 0;
}

function fresh($number)
{
    $made = eval("return function () { \$s = $number; for (\$i = 0; \$i < 5000; \$i++) { \$s += \$i; } return \$s; };");
    return $made();
}

$total = 0;
for ($number = 0; $number < (int) $argv[1]; $number++) {
    $total += survive() + litter() + fresh($number);
    if ($number % 20 == 0) {
        exec("true", $lines, $status);
        $total += $status;
    }
}
echo $total, "\n";
