// Package main: in the place of cmd/hippocampus/clock.go (go build -overlay), it
// shifts the clock by the difference of a file's time from 2001-09-09 01:46:40 UTC.
package main

import (
	"os"
	"time"
)

func clock() time.Time {
	file, err := os.Stat(os.Getenv("CHAOS_CLOCK"))
	if err != nil {
		panic(err) // the run's own mistake
	}
	return time.Now().Add(file.ModTime().Sub(time.Unix(1_000_000_000, 0)))
}
