package main

import "time"

// clock returns the current time. Tests that simulate weeks replace this file in
// their build.
func clock() time.Time { return time.Now() }
