// SPDX-License-Identifier: GPL-3.0-or-later

// labels SECONDS: goroutines that work under labels of runtime/pprof, each part
// in a function of its own, three quarters of it in one; and without labels.
package main

import (
	"context"
	"os"
	"runtime/pprof"
	"strconv"
	"sync"
	"time"
)

var sink int

//go:noinline
func spin(n int) {
	a := 1
	for i := 0; i < n; i++ {
		a = a*31 + i
	}
	sink = a
}

//go:noinline
func heavy() {
	spin(3000000)
	spin(1)
}

//go:noinline
func light() {
	spin(1000000)
	spin(1)
}

//go:noinline
func plain() {
	spin(1000000)
	spin(1)
}

func label(part string, worker int, run func()) {
	labels := pprof.Labels("part", part, "worker", strconv.Itoa(worker), "site", "größer")
	pprof.Do(context.Background(), labels, func(context.Context) { run() })
}

func main() {
	seconds, _ := strconv.ParseFloat(os.Args[1], 64)
	end := time.Now().Add(time.Duration(seconds * float64(time.Second)))
	var all sync.WaitGroup
	for i := 0; i < 3; i++ {
		worker := i
		all.Add(1)
		go func() {
			defer all.Done()
			for time.Now().Before(end) {
				label("heavy", worker, heavy)
				label("light", worker, light)
				plain()
			}
		}()
	}
	all.Wait()
}
