package config

import "slices"

// nearest returns the name that takes the fewest edits to reach, ties by
// alphabet, or "" when none is near enough to be what was meant.
func nearest(name string, known []string) string {
	best, least := "", len(name)/3+1
	for _, candidate := range slices.Sorted(slices.Values(known)) {
		if d := distance(name, candidate); d < least || d == least && best == "" {
			best, least = candidate, d
		}
	}
	return best
}

// distance is the Levenshtein distance: the insertions, deletions and
// substitutions of bytes that lead from a to b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
