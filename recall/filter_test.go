package recall

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"hippocampus/internal/memory"
	"hippocampus/internal/memory/filter"
)

func TestRecall_FiltersByTags(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for content, tags := range map[string][]string{
		"green tea": {"drink", "茶"}, "black tea": {"drink"}, "tea with milk": {"茶", "drink", "milk"}, "tea pot": nil,
		"drinks tea": {"drinks"},
	} {
		f.add(content, func(m *memory.Memory) { m.Tags = tags }, content != "black tea")
	}
	expect(t, f.recall(Query{Text: "tea"}), "green tea", "black tea", "tea with milk", "tea pot", "drinks tea")
	expect(t, f.recall(Query{Text: "tea", Tags: []string{"drink"}}), "green tea", "black tea", "tea with milk")
	expect(t, f.recall(Query{Text: "tea", Tags: []string{"drink", "茶"}}), "green tea", "tea with milk")
	expect(t, f.recall(Query{Text: "tea", Tags: []string{"drink", "茶", "drinks"}}))
	f.vectorsDown = true
	expect(t, f.recall(Query{Text: "tea", Tags: []string{"drink"}}), "green tea", "black tea", "tea with milk")

	x, _, _, err := f.loadIndex(t.Context(), ada, &index{})
	if err != nil {
		t.Fatal(err)
	}
	if len(x.tagLists) != 5 {
		t.Errorf("lists of tags: %q", x.tagLists)
	}
	if empty := newIndex(0, nil); len(empty.listsWithTags(nil)) != 0 {
		t.Errorf("an empty index has lists of tags: %q", empty.tagLists)
	}
}

// Every memory is in one of two adjacent time slices.
func TestRecall_DividesMemoriesBetweenTimeSlices(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var all []string
	for i := range 12 {
		content := "tea " + string(rune('a'+i))
		all = append(all, content)
		f.add(content, func(m *memory.Memory) { m.CreatedAt = begin.Add(time.Duration(i/2) * time.Millisecond) }, i%3 > 0)
	}
	for _, down := range []bool{false, true} {
		f.vectorsDown = down
		for cut := range 8 {
			at := begin.Add(time.Duration(cut) * time.Millisecond)
			before := f.recall(Query{Text: "tea", Limit: 20, Until: at})
			expect(t, before, slices.Clone(all[:min(12, 2*cut)])...)
			after := f.recall(Query{Text: "tea", Limit: 20, Since: at})
			expect(t, after, slices.Clone(all[min(12, 2*cut):])...)
		}
	}
}

// Vector stores keep times to the millisecond only.
func TestRecall_EndsATimeSliceWithinAMillisecond(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for content, after := range map[string]time.Duration{
		"tea before": 500 * time.Microsecond, "tea after": 700 * time.Microsecond,
	} {
		f.add(content, func(m *memory.Memory) { m.CreatedAt = begin.Add(after) }, true)
	}
	answer := f.recall(Query{Text: "tea", Until: begin.Add(700 * time.Microsecond)})
	expect(t, answer, "tea before")
	if sources := answer.Memories[0].Sources; !slices.Contains(sources, nameVectors) || len(answer.Degraded) > 0 {
		t.Errorf("found by %q, degraded %q", sources, answer.Degraded)
	}
	expect(t, f.recall(Query{Text: "tea", Since: begin.Add(700 * time.Microsecond)}), "tea after")
}

// A match is found even if it is farther from the query than every candidate.
func TestRecall_FiltersByMetadata(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.set.Candidates = 3
	for i := range 40 {
		f.add(fmt.Sprintf("Ada drinks green tea in room %d", i), func(m *memory.Memory) {
			m.Metadata = json.RawMessage(fmt.Sprintf(`{"room":%d}`, i))
		}, true)
	}
	f.add("Bees swarm", func(m *memory.Memory) { m.Metadata = json.RawMessage(`{"room":"attic"}`) }, true)
	f.add("Goats climb", func(m *memory.Memory) { m.Metadata = json.RawMessage(`{"room":["attic","shed"]}`) }, false)
	f.add("Wasps sting", nil, true)
	elsewhere := f.add("Cats sleep", func(m *memory.Memory) {
		m.Owner, m.Metadata = bob, json.RawMessage(`{"room":"attic"}`)
	}, true)
	check := func(when string) {
		t.Helper()
		for raw, want := range map[string][]string{
			`{"metadata":{"room":"attic"}}`:                              {"Bees swarm", "Goats climb"},
			`{"metadata":{"room":null}}`:                                 {"Wasps sting"},
			`{"metadata":{"room":{"gt":38}}}`:                            {"Ada drinks green tea in room 39"},
			`{"not":{"metadata":{"room":{"gte":0}}}}`:                    {"Bees swarm", "Goats climb", "Wasps sting"},
			`{"metadata":{"room":"cellar"}}`:                             {},
			`{"id":"` + elsewhere.ID + `"}`:                              {},
			`{"or":[{"metadata":{"room":7}},{"content":"Wasps sting"}]}`: {"Ada drinks green tea in room 7", "Wasps sting"},
		} {
			where, fault := filter.Parse([]byte(raw))
			if fault != nil {
				t.Fatal(fault)
			}
			a := f.recall(Query{Text: "green tea", Where: where, NoTouch: true})
			got := contents(a)
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("%s, %s: %q, want %q", when, raw, got, want)
			}
		}
	}
	check("vector store")
	f.remote, f.set.CompareLimit = true, 100
	check("few memories")
	f.vectorsDown = true
	check("without the vector store")
	f.embedderDown = true
	check("without the embedder")
}
