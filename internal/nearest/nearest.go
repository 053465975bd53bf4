// Package nearest finds the known name that a wrong name probably misspells.
package nearest

import "slices"

// Name returns the known name with the fewest edits from name, the alphabetically first of several. It returns "" if
// more than a third of name differs.
func Name(name string, known []string) string {
	best, least := "", len(name)/3+1
	for _, candidate := range slices.Sorted(slices.Values(known)) {
		if d := distance(name, candidate); d < least || d == least && best == "" {
			best, least = candidate, d
		}
	}
	return best
}

// distance returns the Levenshtein distance between a and b, in bytes.
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
