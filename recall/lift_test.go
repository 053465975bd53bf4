package recall

import (
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// Messages of the user on both sides of an answer of the assistant are near, and lift each other as if
// the answer were not there. An answer itself is lifted from distance two.
func TestLift_PassesAnswersOfTheAssistant(t *testing.T) {
	t.Parallel()
	const user, assistant = memory.RoleUser, memory.RoleAssistant
	for name, c := range map[string]struct {
		speakers []string
		matching int     // place of the only message with a value
		doc      int     // place whose lift is wanted
		want     float64 // near 0.5, far 0.2, value 1
	}{
		"after an answer":               {speakers: []string{user, assistant, user}, matching: 0, doc: 2, want: 0.5},
		"before an answer":              {speakers: []string{user, assistant, user}, matching: 2, doc: 0, want: 0.5},
		"quoted speaker":                {speakers: []string{"Ana", `assistant "x:"`, "Ana"}, matching: 0, doc: 2, want: 0.5},
		"beyond a message of the user":  {speakers: []string{user, user, user}, matching: 0, doc: 2, want: 0.2},
		"beyond another person":         {speakers: []string{"Ana", "Ben", "Ana"}, matching: 0, doc: 2, want: 0.2},
		"an answer beyond a message":    {speakers: []string{assistant, user, assistant}, matching: 0, doc: 2, want: 0.2},
		"an answer beyond an answer":    {speakers: []string{user, assistant, assistant}, matching: 0, doc: 2, want: 0.2},
		"the answer itself":             {speakers: []string{user, assistant, user}, matching: 0, doc: 1, want: 0.5},
		"a message with another before": {speakers: []string{user, user, assistant, user}, matching: 0, doc: 3, want: 0},
	} {
		var docs []db.Document
		for i, speaker := range c.speakers {
			docs = append(docs, db.Document{
				ID: memory.NewID(), ConversationID: "c", Type: memory.TypeMessage, Speaker: speaker,
				CreatedAt: time.Unix(int64(i), 0),
			})
		}
		values := make([]float64, len(docs))
		values[c.matching] = 1
		if got := lift.of(newIndex(1, docs), c.doc, values); got != c.want {
			t.Errorf("%s: lifted by %v, want %v", name, got, c.want)
		}
	}
}

// The first message that a fact was taken from may be of another conversation, and its neighbours of either
// conversation.
func TestLift_StaysInTheConversation(t *testing.T) {
	t.Parallel()
	var docs []db.Document
	for i, conversation := range []string{"a", "a", "b", "b"} {
		docs = append(docs, db.Document{
			ID: memory.NewID(), ConversationID: conversation, Type: memory.TypeMessage, Speaker: memory.RoleUser,
			CreatedAt: time.Unix(int64(i), 0),
		})
	}
	fact := docs[3]
	fact.ID, fact.Type, fact.DerivedFrom = memory.NewID(), memory.TypeFact, []string{docs[0].ID, docs[3].ID}
	x := newIndex(1, append(docs, fact))
	place, _ := x.place(fact.ID)
	values := make([]float64, len(docs)+1)
	other, _ := x.place(docs[2].ID)
	values[other] = 1
	if got := lift.of(x, place, values); got != 0.2 {
		t.Errorf("lifted by %v, want %v", got, 0.2)
	}
}

// A fact has the neighbours of its message, beyond an answer as well.
func TestLift_PassesAnswersToFacts(t *testing.T) {
	t.Parallel()
	at := func(second int64, kind memory.Type, speaker string) db.Document {
		return db.Document{
			ID: memory.NewID(), ConversationID: "c", Type: kind, Speaker: speaker, CreatedAt: time.Unix(second, 0),
		}
	}
	docs := []db.Document{
		at(1, memory.TypeMessage, memory.RoleUser), at(2, memory.TypeMessage, memory.RoleAssistant),
		at(3, memory.TypeMessage, memory.RoleUser), at(3, memory.TypeFact, ""),
	}
	docs[3].DerivedFrom = []string{docs[2].ID}
	if got := lift.of(newIndex(1, docs), 3, []float64{1, 0, 0, 0}); got != 0.5 {
		t.Errorf("the fact is lifted by %v, want 0.5", got)
	}
}
