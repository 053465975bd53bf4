//go:build race

package rapidtest

const underRace = true
