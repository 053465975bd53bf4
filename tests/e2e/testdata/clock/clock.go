// Package main: in the place of cmd/hippocampus/clock.go (go build -overlay), it lets tests
// set the time: the time of the last change of the file E2E_CLOCK, or else the machine's
// time plus E2E_AHEAD.
package main

import (
	"os"
	"time"
)

func clock() time.Time {
	if path := os.Getenv("E2E_CLOCK"); path != "" {
		file, err := os.Stat(path)
		if err != nil {
			panic(err) // the test's own mistake
		}
		return file.ModTime()
	}
	ahead, err := time.ParseDuration(os.Getenv("E2E_AHEAD"))
	if err != nil {
		panic(err) // also if the test has not set it
	}
	return time.Now().Add(ahead)
}
