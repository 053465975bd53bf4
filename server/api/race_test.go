//go:build race

package api

// raced states that the race detector is on, which multiplies the CPU time of everything.
const raced = true
