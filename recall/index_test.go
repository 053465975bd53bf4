package recall

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// The postings match a count of the words of each document.
func TestIndex_PostingsMatchTheDocuments(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		words := []string{"tea", "sky", "bee", "茶道"}
		docs := make([]db.Document, rapid.IntRange(0, 300).Draw(t, "documents"))
		for i := range docs {
			// Some words are rare, some are repeated often.
			times := rapid.SampledFrom([]int{0, 0, 0, 0, 1, 2, 200}).Draw(t, "times")
			docs[i].Lexemes = strings.Repeat(rapid.SampledFrom(words).Draw(t, "word")+" ", times) + "everywhere"
		}
		x := newIndex(0, docs)
		for _, word := range append(words, "everywhere", "nowhere") {
			var want []posting
			for i, d := range docs {
				if n := strings.Count(d.Lexemes, word); n > 0 {
					want = append(want, posting{doc: uint32(i), count: uint32(n)})
				}
			}
			got := x.appendPostings(nil, word)
			if len(got) != len(want) {
				t.Fatalf("%s is in %d documents, not %d", word, len(got), len(want))
			}
			for i := range want {
				if got[i] != want[i] {
					t.Fatalf("%s: %v, not %v", word, got[i], want[i])
				}
			}
		}
	})
}

func TestIndex_KeepsASequenceOnlyIfDocumentsWereTakenFromMessages(t *testing.T) {
	t.Parallel()
	direct := newIndex(0, []db.Document{{ID: "1"}, {ID: "2", DerivedFrom: []string{"1"}}})
	if direct.taken != nil || direct.sequence != nil || direct.positions != nil {
		t.Errorf("without messages: links %v, sequence %v, positions %v", direct.taken, direct.sequence, direct.positions)
	}
	message := db.Document{ID: "1", ConversationID: "c", Type: memory.TypeMessage}
	docs := []db.Document{message, {ID: "2", ConversationID: "c", DerivedFrom: []string{"1"}}, message}
	docs[2].ID = "3"
	x := newIndex(0, docs)
	if len(x.messagesOf(0)) != 0 || !slices.Equal(x.messagesOf(1), []taking{{doc: 1, message: 0}}) {
		t.Errorf("links: %v", x.taken)
	}
	for doc, want := range [][5]int{{-1, -1, 0, 2, -1}, {-1, -1, 0, 2, -1}, {-1, 0, 2, -1, -1}} {
		if got := x.neighbours(doc); got != want {
			t.Errorf("neighbours of %d: %v, want %v", doc, got, want)
		}
	}
}
