package ingest

import (
	"strings"
	"time"

	"hippocampus/internal/memory"
	"hippocampus/internal/text"
	"hippocampus/scorer"
)

// piece is what one memory holds of a message, and when that is over; zero: never.
type piece struct {
	content string
	ends    time.Time
}

// pieces cuts what is kept of a message of a turn. A dated plan of the user is a piece that ends with its day, so that
// the other pieces go on to answer. They are as long as a memory may be. Small talk before or after a plan is in the
// plan's piece. If the turn has an end, all pieces have it.
func (s *Service) pieces(turn memory.Turn, place int, kept string) (list []piece) {
	add := func(rest string) {
		for _, content := range text.Divide(rest, partRunes(rest)) {
			list = append(list, piece{content, turn.ExpiresAt})
		}
	}
	var plans []scorer.Plan
	if turn.ExpiresAt.IsZero() && turn.Messages[place].Role == memory.RoleUser {
		plans = scorer.Plans(kept, turn.Local(turn.SaidAt(place)))
	}
	for _, plan := range plans {
		begin := strings.Index(kept, plan.Content)
		if begin < 0 {
			continue
		}
		end := begin + len(plan.Content)
		if s.saysNothing(kept[:begin]) {
			begin = 0
		}
		add(kept[:begin])
		list = append(list, piece{strings.TrimSpace(kept[begin:end]), plan.Ends})
		kept = kept[end:]
	}
	if last := len(list) - 1; last >= 0 && s.saysNothing(kept) {
		list[last].content = strings.TrimSpace(list[last].content + kept)
		return list
	}
	add(kept)
	return list
}

// saysNothing reports whether a part of a message has no words, or is small talk.
func (s *Service) saysNothing(part string) bool {
	return len(text.Lexemes(part)) == 0 || s.IsSmallTalk(part)
}
