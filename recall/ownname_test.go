package recall

import (
	"slices"
	"testing"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// Every memory is about the user, so the user's own name decides nothing, whether it is the user id or a fact states
// it.
func TestRecall_IsNotLedByTheOwnName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ user, introduction, query, want, other string }{
		{"nora", "I'm Nora.", "Where does Nora live now?", "Since Monday I live in Porto.", "Welcome to Lisbon, Nora!"},
		{"nora@example.com", "I'm Nora.", "Where does Nora live now?", "Since Monday I live in Porto.", "Bye, Nora!"},
		{"42", "My name is Nora.", "Where does Nora live now?", "Since Monday I live in Porto.", "Bye, Nora!"},
		{"42", "我叫林晓。", "林晓现在住在哪里？", "星期一开始我住在杭州。", "欢迎你，林晓！"},
	} {
		f := newFixture(t)
		owner := memory.Owner{AppID: "app", UserID: c.user}
		for _, content := range []string{c.introduction, c.want, c.other} {
			f.add(content, func(m *memory.Memory) { m.Owner = owner }, true)
		}
		found := f.recall(Query{Owner: owner, Text: c.query}).Memories
		if len(found) == 0 || found[0].Memory.Content != c.want {
			t.Errorf("user %s: %s recalls %+v", c.user, c.query, found)
		}
	}
}

// A query that consists of the user's name finds the memories with the name. So does a query for another person.
func TestRecall_FindsNames(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	nora := memory.Owner{AppID: "app", UserID: "nora"}
	for _, content := range []string{"I'm Nora.", "My name is Nora Quist.", "Tom met Nora in Porto.", "I keep bees."} {
		f.add(content, func(m *memory.Memory) { m.Owner = nora }, true)
	}
	for query, want := range map[string]string{
		"Nora?": "I'm Nora.", "What is my name?": "My name is Nora Quist.", "Who met Nora?": "Tom met Nora in Porto.",
		"Where is Tom?": "Tom met Nora in Porto.",
	} {
		if found := f.recall(Query{Owner: nora, Text: query}).Memories; found[0].Memory.Content != want {
			t.Errorf("%s recalls %s", query, found[0].Memory.Content)
		}
	}
}

func TestCalledIn_ReadsTheOwnNameOnly(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		"My name is Nora.": "nora", "The user's name is Nora": "nora", "Please call me Nora": "nora", "我叫林晓，在杭州教书。": "林晓",
		"Her name is Pixel.": "", "My teacher is called Beatriz.": "", "I called Tom.": "", "我的猫叫年糕。": "",
		"I'm learning Portuguese": "",
	} {
		if got := calledIn(content); got != want {
			t.Errorf("%s: %q, want %q", content, got, want)
		}
	}
}

// A stored index knows the names that facts state.
func TestDecode_RestoresTheOwnName(t *testing.T) {
	t.Parallel()
	x := newIndex(0, []db.Document{
		{ID: memory.NewID(), Type: memory.TypeFact, Content: "My name is Nora.", Lexemes: "name nora"},
		{ID: memory.NewID(), Type: memory.TypeFact, Content: "I keep bees", Lexemes: "keep bees"},
	})
	data, err := x.encode()
	if err != nil {
		t.Fatal(err)
	}
	restored, err := decode(1, data, nil)
	if err != nil || !slices.Equal(restored.called, x.called) || restored.docs[0].called == restored.docs[1].called {
		t.Errorf("restored %+v, %v", restored, err)
	}
}
