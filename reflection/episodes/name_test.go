package episodes

import (
	"context"
	"errors"
	"testing"
	"time"

	"hippocampus/internal/llm"
	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
)

// answering is a chat that keeps the prompt of a call and answers with a text; empty: with an error.
type answering struct {
	llm.Prompt
	text string
}

func (*answering) Model() string { return "answering" }

func (a *answering) Answer(_ context.Context, p llm.Prompt) (string, error) {
	a.Prompt = p
	if a.text == "" {
		return "", errors.New("there is no answer")
	}
	return a.text, nil
}

// saidOn returns memories of three days.
func saidOn(texts ...string) (memories []memory.Memory) {
	for i, content := range texts {
		at := time.Date(2031, 5, 5+i, 8, 0, 0, 0, time.UTC)
		memories = append(memories, memory.Memory{ID: memory.NewID(), Content: content, CreatedAt: at})
	}
	return memories
}

var (
	lofoten = saidOn("Rosalind booked a cabin in Lofoten.", "Rosalind hiked in Lofoten.", "Her flight home was late.")
	yunnan  = saidOn("苏眠订了去云南的机票。", "苏眠在大理骑车。", "苏眠从云南飞回家。")
)

func TestPrompts_AreGolden(t *testing.T) {
	t.Parallel()
	for language, memories := range map[string][]memory.Memory{"en": lofoten, "zh": yunnan} {
		chat := &answering{}
		if _, err := Try(t.Context(), chat, memories); err == nil {
			t.Error("an answer")
		}
		llmtest.Golden(t, "testdata/name."+language+".golden", chat.Prompt)
	}
}

// A title has only words, names and numbers that the memories have, or that name a kind of episode.
func TestParse_RefusesInventedTitles(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		memories []memory.Memory
		answer   string
		want     string // empty: it is refused
	}{
		{lofoten, `{"title":"Hiking trip to Lofoten"}`, "Hiking trip to Lofoten"},
		{lofoten, `{"title":"\"Lofoten cabin.\""}`, "Lofoten cabin"},
		{lofoten, `{"title":"Hiking trip to Norway"}`, ""},
		{lofoten, `{"title":"Honeymoon in Lofoten"}`, ""},
		{lofoten, `{"title":"Lofoten with Peter"}`, ""},
		{lofoten, `{"title":"Lofoten 2030"}`, ""},
		{lofoten, `{"title":"Three trips to Lofoten"}`, ""},
		{lofoten, `{"title":"罗弗敦"}`, ""},
		{lofoten, `{"title":""}`, ""},
		{lofoten, `{"title":"Lofoten\ncabin"}`, ""},
		{lofoten, `{"name":"Lofoten"}`, ""},
		{lofoten, `{"title":["Lofoten"]}`, ""},
		{lofoten, `Lofoten`, ""},
		{yunnan, `{"title":"《云南旅行》"}`, "云南旅行"},
		{yunnan, `{"title":"云南和大理之行"}`, "云南和大理之行"},
		{yunnan, `{"title":"西藏旅行"}`, ""},
		{yunnan, `{"title":"云南蜜月"}`, ""},
		{yunnan, `{"title":"Trip to Yunnan"}`, ""},
	} {
		got, err := Try(t.Context(), &answering{text: test.answer}, test.memories)
		if got != test.want || (err == nil) != (test.want != "") || err != nil && !memory.IsKind(err, memory.KindBadAnswer) {
			t.Errorf("%s: %q, %v", test.answer, got, err)
		}
	}
}

// A name counts as long as all that it was read from is as it was, and stays while the episode has not doubled.
func TestName_CountsWhileItsMemoriesAreTheSame(t *testing.T) {
	t.Parallel()
	n := &name{Title: "Lofoten", Of: memory.IDs(lofoten), Hash: hashOf(lofoten)}
	current := map[string]memory.Memory{}
	for _, m := range lofoten {
		current[m.ID] = m
	}
	if n.title(current) != "Lofoten" {
		t.Error("it does not count")
	}
	edited := lofoten[1]
	edited.Content = "Rosalind hiked in Bergen."
	current[edited.ID] = edited
	if n.title(current) != "" {
		t.Error("it counts after an edit")
	}
	delete(current, edited.ID)
	if n.title(current) != "" {
		t.Error("it counts without a memory")
	}
	ids := memory.IDs(lofoten)
	for members, want := range map[int]bool{0: true, 2: true, 3: false} {
		all := append([]string{}, ids...)
		for range members {
			all = append(all, memory.NewID())
		}
		if got := n.keepsFor(all); got != want {
			t.Errorf("with %d more it stays: %v", members, got)
		}
	}
	if n.keepsFor(ids[1:]) || (*name)(nil).keepsFor(ids) {
		t.Error("it stays without a memory")
	}
}
