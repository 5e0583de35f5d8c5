// SPDX-License-Identifier: GPL-3.0-or-later

// Works 30 calls deep, and prints its CPU time in seconds.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

class Loop
{
    struct Time
    {
        public long Seconds, Ns;
    }

    [DllImport("libc")]
    static extern int clock_gettime(int clock, out Time time);

    const int ProcessTime = 2;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Leaf(int x)
    {
        int s = 0;
        for (int i = 0; i < 40; i++) s = s * 31 + x + i;
        return s;
    }

    static int Text(int n)
    {
        var list = new List<int>();
        for (int i = 0; i < 20; i++) list.Add(n + i);
        return string.Join(", ", list).Length;
    }

    static int Deep(int n)
    {
        return n < 2 ? 1 : Deep(n - 1) + Leaf(n);
    }

    static void Main()
    {
        int total = 0;
        for (int i = 0; i < 1000000; i++) total += Deep(30) + (i % 8 == 0 ? Text(i) : 0);
        clock_gettime(ProcessTime, out Time time);
        Console.WriteLine((time.Seconds + time.Ns / 1e9).ToString(CultureInfo.InvariantCulture));
        Console.Error.WriteLine(total.ToString());
    }
}
