package recall

import (
	"slices"
	"strings"
)

// listOf is the place of a list of tags, which is kept once however many
// memories have it.
func (x *index) listOf(known map[string]uint32, tags []string) uint32 {
	key := strings.Join(tags, "\x00") // which no tag holds
	place, ok := known[key]
	if !ok {
		place = uint32(len(x.tags))
		known[key], x.tags = place, append(x.tags, tags)
	}
	return place
}

// tagged says of each list of tags whether it holds all of the wanted ones.
func (x *index) tagged(wanted []string) []bool {
	holds := make([]bool, len(x.tags))
	for i, list := range x.tags {
		holds[i] = !slices.ContainsFunc(wanted, func(tag string) bool { return !slices.Contains(list, tag) })
	}
	return holds
}
