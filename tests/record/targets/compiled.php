<?php
// SPDX-License-Identifier: GPL-3.0-or-later
// compiled.php SECONDS: computes, in functions that call each other directly and
// through C.
class Numbers
{
    private $list = [];

    public function fill($n)
    {
        $a = 1;
        for ($i = 0; $i < $n; $i++) {
            $a = ($a * 31 + $i) & 0xffffff;
            $this->list[] = $a;
        }
        return $a;
    }

    public static function compare($a, $b)
    {
        return ($a & 0xff) - ($b & 0xff);
    }

    public function sort()
    {
        usort($this->list, ["Numbers", "compare"]);
        $this->list = [];
    }
}

function work($seconds)
{
    $numbers = new Numbers();
    $done = hrtime(true) + $seconds * 1e9;
    while (hrtime(true) < $done) {
        $numbers->fill(2000);
        $numbers->sort();
    }
}

work((float)$argv[1]);
