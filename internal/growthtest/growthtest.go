// Package growthtest measures how the time of a function grows with its input:
//
//	head, unit -> texts of 4, 16 and 64 KiB -> CPU time of the thread for each -> ratios
//
// Fuzz targets call it with their inputs, so that they also find inputs that take quadratic time when a part of them is
// repeated.
package growthtest

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const (
	small  = 4 << 10 // bytes
	large  = 4 * small
	larger = 4 * large

	// mostGrowth is the ratio of the times of a text and of one that is 4 times as long.
	// Doubling a text may triple its time at most: proportional work has a ratio of 4,
	// quadratic work of 16.
	mostGrowth = 9

	noise    = 2 * time.Millisecond // less CPU time than this is not compared
	attempts = 6                    // measurements before a test fails
)

// Check fails the test if the CPU time of run grows faster than in proportion to
// the length of a text that begins with head and then repeats unit. Run must do
// its work on the goroutine that calls it. Of several measurements the best one
// of each size counts, so that a busy machine does not fail a test. Both steps, from
// small to large and on to larger, must be too steep: one alone may be the step from
// one algorithm to another, such as that of regexp for long texts.
func Check(t testing.TB, head, unit string, run func(text string)) {
	t.Helper()
	check(t, head, unit, func(text string) time.Duration { return threadTimeOf(func() { run(text) }) })
}

// check is Check with a function that runs the work and returns its CPU time.
func check(t testing.TB, head, unit string, costOf func(text string) time.Duration) {
	t.Helper()
	if unit == "" {
		return
	}
	head = head[:min(len(head), small/4)]
	unit = unit[:min(len(unit), small/4)]
	for _, size := range []int{small, large} {
		if !steep(repeated(head, unit, size), repeated(head, unit, 4*size), costOf) {
			return
		}
	}
	t.Fatalf("%d bytes of %q after %q take more than %d times as long as %d bytes, and these as %d bytes",
		larger, unit, head, mostGrowth, large, small)
}

// steep reports whether the longer text, of 4 times the length, takes more than mostGrowth times as long.
func steep(shorter, longer string, costOf func(text string) time.Duration) bool {
	least, most := time.Duration(1<<62), time.Duration(1<<62)
	for range attempts {
		most = min(most, costOf(longer))
		if most < noise {
			return false
		}
		least = min(least, costOf(shorter))
		if most <= mostGrowth*least {
			return false
		}
	}
	return true
}

// repeated returns head and as many units as fit into size bytes.
func repeated(head, unit string, size int) string {
	return head + strings.Repeat(unit, (size-len(head))/len(unit))
}

// threadTimeOf returns the CPU time that this thread spends on run. Unlike the time on
// the wall it excludes the time of other processes.
func threadTimeOf(run func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := threadTime()
	run()
	return threadTime() - before
}

// ProcessTime returns the CPU time that this process spends while run runs, on all its threads.
func ProcessTime(run func()) time.Duration {
	before := clock(unix.CLOCK_PROCESS_CPUTIME_ID)
	run()
	return clock(unix.CLOCK_PROCESS_CPUTIME_ID) - before
}

func threadTime() time.Duration { return clock(unix.CLOCK_THREAD_CPUTIME_ID) }

func clock(id int32) time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(id, &now); err != nil {
		panic(err) // every Linux has this clock
	}
	return time.Duration(now.Nano())
}
