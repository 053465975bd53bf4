package consolidation

import (
	"fmt"
	"slices"

	"hippocampus/conversation/session"
	"hippocampus/internal/grounding"
	"hippocampus/internal/memory"
)

// talk is the conversation from which findings are drawn.
type talk struct {
	sample   string // its texts
	has      grounding.Evidence
	account  grounding.Account
	heard    *grounding.Talk // to find out whether the user has said a fact of the user
	speakers []string        // if several users speak: their names
}

func talkOf(events []session.Event) talk {
	t := talk{
		sample: session.Texts("", events), has: grounding.Read(session.Sources("", events)...).Uncounted(),
		account: session.Account("", events), heard: session.Heard(events),
	}
	for _, e := range events {
		if e.Role == memory.RoleUser && e.Name != "" && !slices.Contains(t.speakers, e.Name) {
			t.speakers = append(t.speakers, e.Name)
		}
	}
	if len(t.speakers) < 2 {
		t.speakers = nil
	}
	return t
}

// said returns why the user has not said a fact of the user.
func (t talk) said(fact string) error {
	if why := t.heard.Unsaid(fact); why != "" {
		return fmt.Errorf("is not said: %s", why)
	}
	return nil
}
