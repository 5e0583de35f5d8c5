<?php
// SPDX-License-Identifier: GPL-3.0-or-later
// asleep.php FILE SECONDS: writes its own stack to FILE, one frame per line, "name
// TAB line", innermost first, and sleeps there.
function say($bt, $line)
{
    global $argv;
    $said = "";
    foreach ($bt as $frame) {
        $class = isset($frame["class"]) ? $frame["class"] . "::" : "";
        $said .= $class . $frame["function"] . "\t" . $line . "\n";
        $line = $frame["line"] ?? 0;
    }
    file_put_contents($argv[1] . ".new", $said . "{main}\t$line\n");
    rename($argv[1] . ".new", $argv[1]);
    return $said;
}

abstract class Base
{
    public function __toString()
    {
        foreach ($this->values() as $value) {
            return $value;
        }
    }

    public static function compare($a, $b)
    {
        return strcmp(strval(new Worker($a)), "x$b");
    }
}

class Worker extends Base
{
    public function __construct(private $n)
    {
    }

    public function values()
    {
        yield call_user_func_array([$this, "down"], [3]);
    }

    public function down($n)
    {
        global $argv;
        if ($n > 0) {
            return $this->down($n - 1);
        }
        $inner = function ($y) use ($argv) {
            say(debug_backtrace(), __LINE__); usleep((int)($argv[2] * 1e6));
            return "x";
        };
        return $inner(1);
    }
}

function start()
{
    $list = [1, 2];
    usort($list, ["Base", "compare"]);
}

start();
