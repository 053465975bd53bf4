package session

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"hippocampus/internal/memory"
)

// A line has at most a quarter of the room, within these bounds.
const minBulletRunes, maxBulletRunes = 50, 200

// bullets condenses a summary and the events after it without a model, into at most room characters: the latest lines
// of the summary, then the most important events, one per line, in their order. Each has half of the room; what one
// does not fill is left to the other.
func bullets(summary string, events []Event, room int) string {
	var old, fresh []string
	for line := range strings.SplitSeq(summary, "\n") {
		if line != "" {
			old = append(old, line)
		}
	}
	longest := max(minBulletRunes, min(room/4, maxBulletRunes))
	for _, e := range events {
		fresh = append(fresh, bullet(e, longest))
	}
	forOld := max(room/2, room-size(fresh))
	for len(old) > 1 && size(old) > forOld {
		old = old[1:]
	}
	if size(old) > forOld { // one paragraph, by a model that is no longer configured
		old[0] = memory.Clip(old[0], forOld-1)
	}
	for _, index := range byImportance(events) {
		if size(old)+size(fresh) <= room {
			break
		}
		fresh[index] = ""
	}
	kept := slices.DeleteFunc(append(old, fresh...), func(line string) bool { return line == "" })
	return strings.Join(kept, "\n")
}

// byImportance returns the indexes of events, the least important first; of
// equally important ones the earliest first.
func byImportance(events []Event) []int {
	indexes := make([]int, len(events))
	for i := range indexes {
		indexes[i] = i
	}
	slices.SortStableFunc(indexes, func(a, b int) int { return cmp.Compare(events[a].Importance, events[b].Importance) })
	return indexes
}

// bullet returns an event as one line of at most so many characters.
func bullet(e Event, runes int) string {
	who := memory.SpeakerOf(e.Role, e.Name)
	if e.Kind != memory.Chat {
		who = string(e.Kind) + ", " + who
	}
	return memory.Clip("- "+who+": "+strings.Join(strings.Fields(e.Content), " "), runes)
}

// size counts the characters of non-empty lines with their line ends.
func size(lines []string) (n int) {
	for _, line := range lines {
		if line != "" {
			n += utf8.RuneCountInString(line) + 1
		}
	}
	return n
}
