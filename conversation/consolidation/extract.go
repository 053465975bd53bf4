package consolidation

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"hippocampus/conversation/session"
	"hippocampus/internal/llm/prompt"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// said is a sentence that may become a line of a summary.
type said struct {
	text       string
	line       string // with the day and the speaker
	importance float64
	rank       int // among statements of equal importance; 0 first
}

// extract makes a summary without a model: a list of the most important statements in their order, each with its day in
// the zone of the events and its speaker, such as "- 2026-05-03, user: We moved to Porto." Of equally important
// statements it prefers statements to questions, then the user's, then earlier ones. It returns "" if no statement
// fits.
func extract(events []session.Logged) string {
	all := sentencesOf(events)
	indexes := make([]int, len(all))
	for i := range indexes {
		indexes[i] = i
	}
	slices.SortStableFunc(indexes, func(a, b int) int {
		return cmp.Or(cmp.Compare(all[b].importance, all[a].importance), cmp.Compare(all[a].rank, all[b].rank))
	})
	kept := make([]bool, len(all))
	for _, index := range indexes {
		kept[index] = true
		texts, lines := chosen(all, kept)
		kept[index] = fits(strings.Join(texts, " "), 1) &&
			utf8.RuneCountInString(strings.Join(lines, "\n")) <= memory.MaxContentRunes
	}
	_, lines := chosen(all, kept)
	return strings.Join(lines, "\n")
}

// sentencesOf returns the sentences of events in their order, each once.
func sentencesOf(events []session.Logged) (all []said) {
	known := map[string]bool{}
	for _, e := range events {
		head := "- " + e.At.Format(time.DateOnly) + ", " + memory.SpeakerOf(e.Role, e.Name) + ": "
		for _, sentence := range text.Sentences(e.Content) {
			one := strings.Join(strings.Fields(sentence), " ")
			form := prompt.Wording(one)
			if form == "" || known[form] {
				continue
			}
			known[form] = true
			rank := 0
			if e.Role != memory.RoleUser && e.Kind == memory.Chat {
				rank++
			}
			if strings.HasSuffix(one, "?") || strings.HasSuffix(one, "？") {
				rank += 2
			}
			all = append(all, said{text: one, line: head + one, importance: e.Importance, rank: rank})
		}
	}
	return all
}

// chosen returns the texts and the lines of the kept statements.
func chosen(all []said, kept []bool) (texts, lines []string) {
	for i, one := range all {
		if kept[i] {
			texts, lines = append(texts, one.text), append(lines, one.line)
		}
	}
	return texts, lines
}
