// SPDX-License-Identifier: GPL-3.0-or-later

// cook FILE traces itself: goroutines that send, wait, sleep, read from a pipe
// and compute, one after the other, so that the times are those of the trace.
package main

import (
	"context"
	"net"
	"os"
	"runtime"
	"runtime/trace"
	"sync"
	"syscall"
	"time"
)

var sink float64

func chop(n int) {
	for i := 0; i < n; i++ {
		sink += float64(i) * 1.5
	}
}

func worker(jobs <-chan int, done *sync.WaitGroup) {
	defer done.Done()
	for n := range jobs {
		chop(n)
		runtime.Gosched()
	}
}

func sleeper(done *sync.WaitGroup) {
	defer done.Done()
	for i := 0; i < 3; i++ {
		time.Sleep(2 * time.Millisecond)
	}
}

func reader(fd int, done *sync.WaitGroup) {
	defer done.Done()
	var block [1]byte
	for i := 0; i < 3; i++ {
		syscall.Read(fd, block[:])
	}
}

func client(address string, done *sync.WaitGroup) {
	defer done.Done()
	connection, err := net.Dial("tcp", address)
	if err == nil {
		var block [1]byte
		connection.Read(block[:])
		connection.Close()
	}
}

func main() {
	file, err := os.Create(os.Args[1])
	if err != nil {
		panic(err)
	}
	trace.Start(file)
	var done sync.WaitGroup
	jobs := make(chan int)
	listener, _ := net.Listen("tcp", "127.0.0.1:0")
	var pipe [2]int
	syscall.Pipe(pipe[:])
	done.Add(5)
	go worker(jobs, &done)
	go worker(jobs, &done)
	go sleeper(&done)
	go reader(pipe[0], &done)
	go client(listener.Addr().String(), &done)
	trace.WithRegion(context.Background(), "serving", func() {
		for i := 0; i < 8; i++ {
			jobs <- 200000
		}
		close(jobs)
		for i := 0; i < 3; i++ {
			time.Sleep(3 * time.Millisecond)
			syscall.Write(pipe[1], []byte("x"))
		}
		connection, _ := listener.Accept()
		time.Sleep(2 * time.Millisecond)
		connection.Write([]byte("x"))
	})
	done.Wait()
	trace.Stop()
	file.Close()
}
