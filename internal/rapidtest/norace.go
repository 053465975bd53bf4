//go:build !race

package rapidtest

const underRace = false
