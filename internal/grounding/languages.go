package grounding

import (
	"slices"
	"strings"
	"sync"
)

// Names returns the names in English and Chinese of the place, language or company that a text names, by places.txt and
// organisations.txt; nil if it is not listed.
func Names(name string) []string { return places().of[plain(name)] }

// PlaceIn returns the listed Chinese name that a text begins with, the longest one; "" if it begins with no such name.
func PlaceIn(s string) string {
	chinese := places().chinese
	i := slices.IndexFunc(chinese, func(place string) bool { return strings.HasPrefix(s, place) })
	if i < 0 {
		return ""
	}
	return chinese[i]
}

// occupations holds the lines of occupations.txt by each word on their left side.
var occupations = sync.OnceValue(func() map[string][]string {
	of := map[string][]string{}
	for _, e := range entriesOf(occupationsFile) {
		words := listed(e.left)
		for _, w := range words {
			of[w] = slices.Concat(of[w], words, listed(e.right))
		}
	}
	return of
})

// Occupations returns the words that occupations.txt lists for the occupation with which a text ends: its names in
// English and Chinese, and words that imply it. It returns nil if the occupation is not listed.
func Occupations(s string) []string {
	longest := ""
	for name := range occupations() {
		if strings.HasSuffix(s, name) && len(name) > len(longest) {
			longest = name
		}
	}
	return occupations()[longest]
}
