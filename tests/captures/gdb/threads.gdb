[New LWP 2844]
[New LWP 2845]
[New LWP 2846]
[Thread debugging using libthread_db enabled]
Using host libthread_db library "/lib/x86_64-linux-gnu/libthread_db.so.1".
__futex_abstimed_wait_common64 (private=128, cancel=true, abstime=0x0, op=265, expected=2844, futex_word=0x7fa0f1c1c990) at ./nptl/futex-internal.c:57

Thread 4 (Thread 0x7fa0f0c1a6c0 (LWP 2846) "worker-3"):
#0  0x000055ffe4765434 in burn<1> (n=2000000) at ../src/threads.cpp:10
#1  0x000055ffe47656eb in body (i=<optimized out>, units=<optimized out>) at ../src/threads.cpp:13
#2  0x00007fa0f26d44a3 in ?? () from /lib/x86_64-linux-gnu/libstdc++.so.6
#3  0x00007fa0f24a71f5 in start_thread (arg=<optimized out>) at ./nptl/pthread_create.c:442
#4  0x00007fa0f25278ec in clone3 () at ../sysdeps/unix/sysv/linux/x86_64/clone3.S:81

Thread 3 (Thread 0x7fa0f141b6c0 (LWP 2845) "worker-2"):
#0  0x000055ffe476548c in burn<0> (n=2000000) at ../src/threads.cpp:10
#1  0x000055ffe47656eb in body (i=<optimized out>, units=<optimized out>) at ../src/threads.cpp:13
#2  0x00007fa0f26d44a3 in ?? () from /lib/x86_64-linux-gnu/libstdc++.so.6
#3  0x00007fa0f24a71f5 in start_thread (arg=<optimized out>) at ./nptl/pthread_create.c:442
#4  0x00007fa0f25278ec in clone3 () at ../sysdeps/unix/sysv/linux/x86_64/clone3.S:81

Thread 2 (Thread 0x7fa0f1c1c6c0 (LWP 2844) "worker-1"):
#0  0x000055ffe4765434 in burn<1> (n=2000000) at ../src/threads.cpp:10
#1  0x000055ffe47656eb in body (i=<optimized out>, units=<optimized out>) at ../src/threads.cpp:13
#2  0x00007fa0f26d44a3 in ?? () from /lib/x86_64-linux-gnu/libstdc++.so.6
#3  0x00007fa0f24a71f5 in start_thread (arg=<optimized out>) at ./nptl/pthread_create.c:442
#4  0x00007fa0f25278ec in clone3 () at ../sysdeps/unix/sysv/linux/x86_64/clone3.S:81

Thread 1 (Thread 0x7fa0f2826740 (LWP 2841) "threads"):
#0  __futex_abstimed_wait_common64 (private=128, cancel=true, abstime=0x0, op=265, expected=2844, futex_word=0x7fa0f1c1c990) at ./nptl/futex-internal.c:57
#1  __futex_abstimed_wait_common (futex_word=futex_word@entry=0x7fa0f1c1c990, expected=2844, clockid=clockid@entry=0, abstime=abstime@entry=0x0, private=private@entry=128, cancel=cancel@entry=true) at ./nptl/futex-internal.c:87
#2  0x00007fa0f24a3f7b in __GI___futex_abstimed_wait_cancelable64 (futex_word=futex_word@entry=0x7fa0f1c1c990, expected=<optimized out>, clockid=clockid@entry=0, abstime=abstime@entry=0x0, private=private@entry=128) at ./nptl/futex-internal.c:139
#3  0x00007fa0f24a8ce3 in __pthread_clockjoin_ex (threadid=140329227503296, thread_return=0x0, clockid=0, abstime=0x0, block=<optimized out>) at ./nptl/pthread_join_common.c:102
#4  0x00007fa0f26d4517 in std::thread::join() () from /lib/x86_64-linux-gnu/libstdc++.so.6
#5  0x000055ffe47652c8 in main (argc=<optimized out>, argv=<optimized out>) at ../src/threads.cpp:14
[Inferior 1 (process 2841) detached]
[New LWP 2845]
[New LWP 2846]
[Thread debugging using libthread_db enabled]
Using host libthread_db library "/lib/x86_64-linux-gnu/libthread_db.so.1".
__futex_abstimed_wait_common64 (private=128, cancel=true, abstime=0x0, op=265, expected=2845, futex_word=0x7fa0f141b990) at ./nptl/futex-internal.c:57

Thread 3 (Thread 0x7fa0f0c1a6c0 (LWP 2846) "worker-3"):
#0  0x000055ffe4765434 in burn<1> (n=2000000) at ../src/threads.cpp:10
#1  0x000055ffe47656eb in body (i=<optimized out>, units=<optimized out>) at ../src/threads.cpp:13
#2  0x00007fa0f26d44a3 in ?? () from /lib/x86_64-linux-gnu/libstdc++.so.6
#3  0x00007fa0f24a71f5 in start_thread (arg=<optimized out>) at ./nptl/pthread_create.c:442
#4  0x00007fa0f25278ec in clone3 () at ../sysdeps/unix/sysv/linux/x86_64/clone3.S:81

Thread 2 (Thread 0x7fa0f141b6c0 (LWP 2845) "worker-2"):
#0  0x000055ffe476548c in burn<0> (n=2000000) at ../src/threads.cpp:10
#1  0x000055ffe47656eb in body (i=<optimized out>, units=<optimized out>) at ../src/threads.cpp:13
#2  0x00007fa0f26d44a3 in ?? () from /lib/x86_64-linux-gnu/libstdc++.so.6
#3  0x00007fa0f24a71f5 in start_thread (arg=<optimized out>) at ./nptl/pthread_create.c:442
#4  0x00007fa0f25278ec in clone3 () at ../sysdeps/unix/sysv/linux/x86_64/clone3.S:81

Thread 1 (Thread 0x7fa0f2826740 (LWP 2841) "threads"):
#0  __futex_abstimed_wait_common64 (private=128, cancel=true, abstime=0x0, op=265, expected=2845, futex_word=0x7fa0f141b990) at ./nptl/futex-internal.c:57
#1  __futex_abstimed_wait_common (futex_word=futex_word@entry=0x7fa0f141b990, expected=2845, clockid=clockid@entry=0, abstime=abstime@entry=0x0, private=private@entry=128, cancel=cancel@entry=true) at ./nptl/futex-internal.c:87
#2  0x00007fa0f24a3f7b in __GI___futex_abstimed_wait_cancelable64 (futex_word=futex_word@entry=0x7fa0f141b990, expected=<optimized out>, clockid=clockid@entry=0, abstime=abstime@entry=0x0, private=private@entry=128) at ./nptl/futex-internal.c:139
#3  0x00007fa0f24a8ce3 in __pthread_clockjoin_ex (threadid=140329219110592, thread_return=0x0, clockid=0, abstime=0x0, block=<optimized out>) at ./nptl/pthread_join_common.c:102
#4  0x00007fa0f26d4517 in std::thread::join() () from /lib/x86_64-linux-gnu/libstdc++.so.6
#5  0x000055ffe47652c8 in main (argc=<optimized out>, argv=<optimized out>) at ../src/threads.cpp:14
[Inferior 1 (process 2841) detached]
[New LWP 2846]
[Thread debugging using libthread_db enabled]
Using host libthread_db library "/lib/x86_64-linux-gnu/libthread_db.so.1".
__futex_abstimed_wait_common64 (private=128, cancel=true, abstime=0x0, op=265, expected=2846, futex_word=0x7fa0f0c1a990) at ./nptl/futex-internal.c:57

Thread 2 (Thread 0x7fa0f0c1a6c0 (LWP 2846) "worker-3"):
#0  burn<1> (n=2000000) at ../src/threads.cpp:10
#1  0x000055ffe47656eb in body (i=<optimized out>, units=<optimized out>) at ../src/threads.cpp:13
#2  0x00007fa0f26d44a3 in ?? () from /lib/x86_64-linux-gnu/libstdc++.so.6
#3  0x00007fa0f24a71f5 in start_thread (arg=<optimized out>) at ./nptl/pthread_create.c:442
#4  0x00007fa0f25278ec in clone3 () at ../sysdeps/unix/sysv/linux/x86_64/clone3.S:81

Thread 1 (Thread 0x7fa0f2826740 (LWP 2841) "threads"):
#0  __futex_abstimed_wait_common64 (private=128, cancel=true, abstime=0x0, op=265, expected=2846, futex_word=0x7fa0f0c1a990) at ./nptl/futex-internal.c:57
#1  __futex_abstimed_wait_common (futex_word=futex_word@entry=0x7fa0f0c1a990, expected=2846, clockid=clockid@entry=0, abstime=abstime@entry=0x0, private=private@entry=128, cancel=cancel@entry=true) at ./nptl/futex-internal.c:87
#2  0x00007fa0f24a3f7b in __GI___futex_abstimed_wait_cancelable64 (futex_word=futex_word@entry=0x7fa0f0c1a990, expected=<optimized out>, clockid=clockid@entry=0, abstime=abstime@entry=0x0, private=private@entry=128) at ./nptl/futex-internal.c:139
#3  0x00007fa0f24a8ce3 in __pthread_clockjoin_ex (threadid=140329210717888, thread_return=0x0, clockid=0, abstime=0x0, block=<optimized out>) at ./nptl/pthread_join_common.c:102
#4  0x00007fa0f26d4517 in std::thread::join() () from /lib/x86_64-linux-gnu/libstdc++.so.6
#5  0x000055ffe47652c8 in main (argc=<optimized out>, argv=<optimized out>) at ../src/threads.cpp:14
[Inferior 1 (process 2841) detached]
