package quality

import (
	"testing"
	"time"
)

func TestGoldOf_DecidesWhatAContextCanHold(t *testing.T) {
	t.Parallel()
	at := time.Date(2023, 5, 8, 13, 0, 0, 0, time.UTC)
	c := conversation{Turns: []turn{
		{ID: "1", At: at, Text: "Hi! I went to a support group for parents yesterday. Four of us read."},
		{ID: "2", At: at.AddDate(0, 1, 0), Text: "I like weight training, and the Dancer Pose."},
	}}
	for _, q := range []struct {
		answer, context string
		kind            Kind
		held            float64
	}{
		{"the Support Group", "- Ana: I went to a support group for parents yesterday.", Phrase, 1},
		{"the Support Group", "- Ana: I went to a group of support.", Phrase, 0},
		{"Weight training, dancer pose", "- I like weight training.", List, .5},
		{"Weight training, kickboxing", "", Undecidable, 0},
		{"8 May 2023", "- I went to a support group for parents yesterday. (said on 2023-05-08)", Day, 1},
		{"May 8, 2023", "- I went to a support group for parents yesterday.", Day, 0},
		{"The week before 8 May, 2023", "2023-05-08:\nAna: I went to a support group for parents yesterday.\n", Day, 1},
		{"8 May 2023", "2023-05-08:\nAna: Hello.\n- I went to a support group for parents yesterday.\n", Day, 0},
		{"7 May 2023", "", Undecidable, 0},
		{"May 2023", "2023-05-08:\nAna: I went to a support group for parents yesterday.\n", Month, 1},
		{"four", "- Ana: I went to a support group for parents yesterday. 4 of us read.", Number, 1},
		{"4", "- Ben: 4", Number, 0},
		{"seven", "", Undecidable, 0},
		{"Likely no; she reads", "", Undecidable, 0},
		{"", "", Undecidable, 0},
	} {
		g := goldOf(c, question{Answer: q.answer, Evidence: []string{"1"}})
		if g.kind != q.kind {
			t.Errorf("%q is a %q, want %q", q.answer, g.kind, q.kind)
			continue
		}
		if held := g.heldIn(q.context, c.Turns[:1]); g.kind != Undecidable && held != q.held {
			t.Errorf("%.2f of %q is in %q, want %.2f", held, q.answer, q.context, q.held)
		}
	}
}
