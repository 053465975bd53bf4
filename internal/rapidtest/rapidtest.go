// Package rapidtest sets how the properties of a test package are checked. Each package that imports rapid imports it:
//
//	by default            the same random inputs in every run, so that a change, not chance, fails a test
//	under the race detector    20 inputs for each property instead of 100, since it makes them up to ten times as slow
//	with HIPPOCAMPUS_TEST_LONG (scripts/test --long)    new random inputs, 100 for each property
//
// Flags of the command line, such as -rapid.seed, come before these.
package rapidtest

import (
	"flag"
	"os"

	_ "pgregory.net/rapid" // defines the flags
)

func init() {
	if os.Getenv("HIPPOCAMPUS_TEST_LONG") != "" {
		return
	}
	set("rapid.seed", "1")
	if underRace {
		set("rapid.checks", "20")
	}
}

func set(name, value string) {
	if err := flag.Set(name, value); err != nil {
		panic(err)
	}
}
