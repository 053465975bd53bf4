package session

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"hippocampus/internal/memory"
)

// One line has at most a quarter of the room, within these bounds.
const leastBulletRunes, mostBulletRunes = 50, 200

// bullets is what stands for a summary and the events after it where there is
// no model, in at most so many characters: the summary's latest lines, and then
// the most important of the events, one a line, in their order. Either has half
// of the room, and what the other leaves of its half.
func bullets(summary string, events []Event, room int) string {
	var old, fresh []string
	for line := range strings.SplitSeq(summary, "\n") {
		if line != "" {
			old = append(old, line)
		}
	}
	longest := max(leastBulletRunes, min(room/4, mostBulletRunes))
	for _, e := range events {
		fresh = append(fresh, bullet(e, longest))
	}
	forOld := max(room/2, room-size(fresh))
	for len(old) > 1 && size(old) > forOld {
		old = old[1:]
	}
	if size(old) > forOld { // one paragraph, by a model that is no longer there
		old[0] = memory.Clip(old[0], forOld-1)
	}
	for _, place := range leastFirst(events) {
		if size(old)+size(fresh) <= room {
			break
		}
		fresh[place] = ""
	}
	kept := slices.DeleteFunc(append(old, fresh...), func(line string) bool { return line == "" })
	return strings.Join(kept, "\n")
}

// leastFirst are the places of events, the least important first, and of
// equally important ones the earliest.
func leastFirst(events []Event) []int {
	places := make([]int, len(events))
	for i := range places {
		places[i] = i
	}
	slices.SortStableFunc(places, func(a, b int) int { return cmp.Compare(events[a].Importance, events[b].Importance) })
	return places
}

// bullet is an event as one line of at most so many characters.
func bullet(e Event, runes int) string {
	who := cmp.Or(e.Name, e.Role)
	if e.Kind != memory.Chat {
		who = string(e.Kind) + ", " + who
	}
	return memory.Clip("- "+who+": "+strings.Join(strings.Fields(e.Content), " "), runes)
}

// size is how many characters lines have, each with its end.
func size(lines []string) (n int) {
	for _, line := range lines {
		if line != "" {
			n += utf8.RuneCountInString(line) + 1
		}
	}
	return n
}
