package memory

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTurn_ReadableLacksWhatIsWithheld(t *testing.T) {
	t.Parallel()
	raw := json.RawMessage(`{}`)
	turn := Turn{Messages: []Message{
		{Role: "user", Content: "I am allergic to peanuts and I live in Oslo. Bye.", Tokens: 9, Raw: raw},
		{Role: "assistant", Content: "No peanuts.", Tokens: 3},
		{Role: "tool", Raw: raw},
	}}
	for _, c := range []struct {
		withheld []Withheld
		want     []string
	}{
		{nil, []string{"I am allergic to peanuts and I live in Oslo. Bye.", "No peanuts.", ""}},
		{[]Withheld{{Message: 0, Text: "I am allergic to peanuts and"}}, []string{"I live in Oslo. Bye.", "No peanuts.", ""}},
		{ // in the order in which they were forgotten, not in that of their lengths
			[]Withheld{
				{Message: 0, Text: "I live in Oslo."}, {Message: 0, Text: "I am allergic to peanuts and I live in Oslo."},
				{Message: 1, Text: "No peanuts."}, {Message: 3, Text: "I"},
			},
			[]string{"Bye.", "", ""},
		},
		{[]Withheld{{Message: 1, Text: "not said"}}, []string{turn.Messages[0].Content, "No peanuts.", ""}},
	} {
		turn.Withheld = c.withheld
		var got []string
		for i, m := range turn.Readable() {
			got = append(got, m.Content)
			if isWhole := m.Content == turn.Messages[i].Content; (m.Raw != nil) != (isWhole && i != 1) {
				t.Errorf("%q has the raw message %s", m.Content, m.Raw)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}
