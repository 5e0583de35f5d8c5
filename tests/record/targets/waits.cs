// SPDX-License-Identifier: GPL-3.0-or-later

// Waits SECONDS: sleeps below generic methods, a delegate, an iterator, a catch and a
// finally block, a method called by reflection, a sort's comparison, a lock, and an
// asynchronous method, one after the other, and before each prints the stack as
// System.Diagnostics.StackTrace has it: "Type.Method" a line, the innermost first, and
// behind a method of this file the line of the call, and an empty line. Each stack is the
// whole SECONDS long.

using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;

namespace Some.Space
{
    class Waits
    {
        static int ms;

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Sleep()
        {
            foreach (StackFrame frame in new StackTrace(true).GetFrames())
            {
                MethodBase method = frame.GetMethod();
                Type type = method?.DeclaringType;
                if (type != null && type.IsGenericType) type = type.GetGenericTypeDefinition();
                Console.Write((type == null ? "" : type.FullName + ".") + method?.Name);
                Console.WriteLine(frame.GetFileLineNumber() > 0 ? "\t" + frame.GetFileLineNumber() : "");
            }
            Console.WriteLine();
            Console.Out.Flush();
            Thread.Sleep(ms);
        }

        class Box<T>
        {
            [MethodImpl(MethodImplOptions.NoInlining)]
            internal T Put<U>(T value, U other)
            {
                Sleep();
                return value;
            }
        }

        static IEnumerable<int> Items()
        {
            yield return 1;
            Sleep();
            yield return 2;
        }

        static void Catch()
        {
            try
            {
                throw new InvalidOperationException();
            }
            catch (InvalidOperationException)
            {
                Sleep();
            }
        }

        static void Finally()
        {
            try
            {
                ms += 0;
            }
            finally
            {
                Sleep();
            }
        }

        static int Compare(string a, string b)
        {
            if (a == "c" && ms > 0)
            {
                Sleep();
                ms = -ms;
            }
            return string.CompareOrdinal(a, b);
        }

        static void Sort()
        {
            var list = new List<string> { "b", "c", "a" };
            list.Sort(Compare);
            ms = Math.Abs(ms);
        }

        static async Task Later()
        {
            await Task.Yield();
            Sleep();
        }

        static void Locked()
        {
            lock (typeof(Waits)) Sleep();
        }

        static void Main(string[] arguments)
        {
            ms = (int)(double.Parse(arguments[0]) * 1000);
            new Box<string>().Put("a", 1);
            new Box<int>().Put(1, "b");
            Action action = () => Sleep();
            action();
            foreach (int item in Items()) { }
            Catch();
            Finally();
            typeof(Waits).GetMethod("Locked", BindingFlags.NonPublic | BindingFlags.Static).Invoke(null, null);
            Sort();
            Later().Wait();
            var thread = new Thread(Finally);
            thread.Start();
            thread.Join();
        }
    }
}
