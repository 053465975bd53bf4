package recall

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hippocampus/db"
	"hippocampus/internal/memory"
	_ "hippocampus/internal/rapidtest" // draws less under the race detector
)

// The postings match a count of the words of each document.
func TestIndex_PostingsMatchTheDocuments(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		words := []string{"tea", "sky", "bee", "茶道"}
		docs := make([]db.Document, rapid.IntRange(0, 300).Draw(t, "documents"))
		for i := range docs {
			docs[i].ID = memory.NewID()
			// Some words are rare, some are repeated often.
			times := rapid.SampledFrom([]int{0, 0, 0, 0, 1, 2, 200}).Draw(t, "times")
			docs[i].Lexemes = strings.Repeat(rapid.SampledFrom(words).Draw(t, "word")+" ", times) + "everywhere"
		}
		words = append(words, "everywhere", "nowhere")
		found := newIndex(0, docs).find(words)
		for _, word := range words {
			var want []posting
			for i, d := range docs {
				if n := strings.Count(d.Lexemes, word); n > 0 {
					want = append(want, posting{doc: uint32(i), count: uint32(n)})
				}
			}
			if !slices.Equal(found[word], want) {
				t.Fatalf("%s: %v, not %v", word, found[word], want)
			}
		}
	})
}

func TestIndex_FactsHaveThePlaceOfTheirMessages(t *testing.T) {
	t.Parallel()
	at := func(second int, kind memory.Type) db.Document {
		return db.Document{
			ID: memory.NewID(), ConversationID: "c", Type: kind, CreatedAt: time.Unix(int64(second), 0),
		}
	}
	docs := []db.Document{at(1, memory.TypeMessage), at(2, memory.TypeFact), at(3, memory.TypeMessage)}
	docs[1].DerivedFrom = []string{docs[0].ID}
	x := newIndex(1, docs)
	if !slices.Equal(x.taken, []taking{{doc: 1, message: 0}}) {
		t.Errorf("links: %v", x.taken)
	}
	for doc, want := range [][5]int{{-1, -1, 0, 2, -1}, {-1, -1, 0, 2, -1}, {-1, 0, 2, -1, -1}} {
		if got := x.neighbours(doc); got != want {
			t.Errorf("neighbours of %d: %v, want %v", doc, got, want)
		}
	}
}

// An index that has taken changes holds the same as one that is built from all documents, while
// earlier revisions keep what they held.
func TestIndex_ChangedEqualsBuilt(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		documents := map[string]db.Document{}
		x := newIndex(1, nil)
		type revision struct {
			x    *index
			held map[string]held
		}
		var revisions []revision
		for number := range rapid.IntRange(1, 12).Draw(r, "changes") {
			changes := drawChanges(r, documents)
			changes.Revision = int64(number + 2)
			if len(revisions) > 0 && rapid.IntRange(0, 5).Draw(r, "from an earlier revision") == 0 {
				// Two recalls that have read different changes start with the same index.
				_ = revisions[len(revisions)-1].x.changed(db.Changes{Revision: 1000, Documents: []db.Document{
					{ID: memory.NewID(), Lexemes: "lost"},
				}})
			}
			x = x.changed(changes)
			built := newIndex(changes.Revision, slices.Collect(maps.Values(documents)))
			got, want := heldBy(x), heldBy(built)
			if !reflect.DeepEqual(got, want) {
				r.Fatalf("after %+v: holds\n%+v, not\n%+v", changes, got, want)
			}
			if x.average() != built.average() || x.revision != changes.Revision {
				r.Fatalf("average %g, not %g; revision %d", x.average(), built.average(), x.revision)
			}
			data, err := x.encode()
			if err != nil {
				r.Fatal(err)
			}
			decoded, err := decode(x.revision, data, nil)
			if err != nil {
				r.Fatal(err)
			}
			if restored := heldBy(decoded); !reflect.DeepEqual(restored, got) || decoded.average() != x.average() {
				r.Fatalf("decoded, it holds\n%+v, not\n%+v", restored, got)
			}
			if rapid.Bool().Draw(r, "continue with the decoded one") {
				x = decoded
			}
			revisions = append(revisions, revision{x, got})
		}
		for _, one := range revisions {
			if got := heldBy(one.x); !reflect.DeepEqual(got, one.held) {
				r.Fatalf("revision %d holds\n%+v, not\n%+v", one.x.revision, got, one.held)
			}
		}
	})
}

// drawChanges draws changes of documents, and applies them.
func drawChanges(r *rapid.T, documents map[string]db.Document) (changes db.Changes) {
	known := slices.Sorted(maps.Keys(documents))
	for i, id := range known {
		switch rapid.SampledFrom([]string{"keep", "keep", "keep", "change", "end"}).Draw(r, fmt.Sprint("of ", i)) {
		case "change":
			changes.Documents = append(changes.Documents, drawDocument(r, id, documents[id]))
		case "end":
			changes.Gone = append(changes.Gone, id)
			delete(documents, id)
		}
	}
	for range rapid.IntRange(0, 4).Draw(r, "documents") {
		var like db.Document
		if len(known) > 0 && rapid.Bool().Draw(r, "taken from a memory") {
			like.DerivedFrom = []string{rapid.SampledFrom(known).Draw(r, "source")}
		}
		if len(known) > 0 && rapid.Bool().Draw(r, "supersedes a memory") {
			like.Supersedes = []db.Former{{
				Lexemes: "sky tea", From: rapid.SampledFrom(known).Draw(r, "former source"),
				Said: rapid.SampledFrom([]string{"tea", "tea, sky"}).Draw(r, "said"),
			}}
		}
		changes.Documents = append(changes.Documents, drawDocument(r, memory.NewID(), like))
	}
	changed := slices.Clone(changes.Gone)
	for _, d := range changes.Documents {
		// A change of its superseded facts alone reads a message again, but not the other facts that were taken from it.
		before, isKnown := documents[d.ID]
		if !isKnown || before.Type != d.Type || rapid.Bool().Draw(r, "with what was taken from it") {
			changed = append(changed, d.ID)
		}
		documents[d.ID] = d
	}
	for id, d := range documents { // a message may have changed with what was taken from it
		sources := slices.Clone(d.DerivedFrom)
		for _, f := range d.Supersedes {
			sources = append(sources, f.From)
		}
		isRead := func(r db.Document) bool { return r.ID == id }
		if !slices.ContainsFunc(changes.Documents, isRead) && slices.ContainsFunc(sources, func(from string) bool {
			return slices.Contains(changed, from)
		}) {
			changes.Documents = append(changes.Documents, d)
		}
	}
	if rapid.Bool().Draw(r, "an unknown memory ended") {
		changes.Gone = append(changes.Gone, memory.NewID())
	}
	return changes
}

// drawDocument draws a document with the sources of another.
func drawDocument(r *rapid.T, id string, like db.Document) db.Document {
	kind := memory.TypeMessage
	if len(like.DerivedFrom)+len(like.Supersedes) > 0 {
		kind = memory.TypeFact
	}
	supersedes := like.Supersedes
	if kind == memory.TypeMessage && rapid.Bool().Draw(r, "is former") {
		supersedes = []db.Former{{Lexemes: "bee", From: id, Said: "bee"}}
	}
	words := rapid.SliceOfN(rapid.SampledFrom([]string{"tea", "sky", "bee", "茶道"}), 0, 5).Draw(r, "words")
	return db.Document{
		ID: id, Lexemes: strings.Join(words, " "), Content: strings.Join(words, " ") + "?", Type: kind,
		Speaker:        rapid.SampledFrom([]string{"", "Ada", "Bob"}).Draw(r, "speaker"),
		Domain:         memory.Lifestyle,
		Tags:           rapid.SampledFrom([][]string{nil, {"a"}, {"a", "b"}}).Draw(r, "tags"),
		ConversationID: rapid.SampledFrom([]string{"", "c", "d"}).Draw(r, "conversation"),
		Importance:     rapid.SampledFrom([]float64{0.3, 0.7}).Draw(r, "importance"),
		CreatedAt:      time.Unix(rapid.Int64Range(0, 5).Draw(r, "created"), 0).UTC(),
		LastAccessedAt: time.Unix(10, 0).UTC(), DerivedFrom: like.DerivedFrom, Supersedes: supersedes,
	}
}

// held is what an index holds of a memory, without places.
type held struct {
	document
	Kind       kind
	Tags       []string
	Speaker    string
	Accessed   time.Time
	Words      map[string]uint32
	Messages   []string
	Former     []db.Former
	Neighbours []string
}

func heldBy(x *index) map[string]held {
	all := map[string]held{}
	found := x.find([]string{"tea", "sky", "bee", "茶道", "lost"})
	idOf := func(doc int) string {
		if doc < 0 {
			return ""
		}
		return x.id(doc)
	}
	for doc, d := range x.docs {
		h := held{
			document: d, Kind: *x.kind(doc), Tags: x.tagLists[d.tags], Speaker: x.speakers[d.speaker],
			Accessed: x.lastAccess(doc), Words: map[string]uint32{},
		}
		h.end, h.kind, h.tags, h.speaker = 0, 0, 0, 0
		for _, t := range x.messagesOf(doc) {
			h.Messages = append(h.Messages, x.id(int(t.message)))
		}
		for _, o := range x.outdatedBy(doc) {
			h.Former = append(h.Former, db.Former{
				Lexemes: fmt.Sprint(o.whole, o.stated), From: x.id(int(o.message)),
			})
		}
		for _, n := range x.neighbours(doc) {
			h.Neighbours = append(h.Neighbours, idOf(n))
		}
		all[x.id(doc)] = h
	}
	for word, list := range found {
		for _, p := range list {
			all[x.id(int(p.doc))].Words[word] = p.count
		}
	}
	return all
}

// The index without a turn lacks its messages and what was taken from them alone.
func TestIndex_WithoutTurn(t *testing.T) {
	t.Parallel()
	turn := memory.NewID()
	before, said := memory.NewID(), memory.DerivedID(turn, 0, 0)
	document := func(id string, kind memory.Type, from ...string) db.Document {
		return db.Document{ID: id, Type: kind, CreatedAt: begin, Lexemes: "boat", DerivedFrom: from}
	}
	taken, both, direct := memory.NewID(), memory.NewID(), memory.NewID()
	x := newIndex(1, []db.Document{
		document(before, memory.TypeMessage), document(said, memory.TypeMessage), document(taken, memory.TypeFact, said),
		document(both, memory.TypeFact, before, said), document(direct, memory.TypeFact),
	})
	y := x.withoutTurn(turn)
	for id, want := range map[string]bool{before: true, both: true, direct: true, said: false, taken: false} {
		if _, known := y.place(id); known != want {
			t.Errorf("%s: %t, want %t", id, known, want)
		}
	}
	if x.withoutTurn(memory.NewID()) != x || len(x.docs) != 5 {
		t.Error("the index has changed without a document of the turn")
	}
}
