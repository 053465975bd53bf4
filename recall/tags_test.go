package recall

import (
	"slices"
	"testing"
	"time"

	"hippocampus/internal/memory"
)

func TestTagsFilter(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for content, tags := range map[string][]string{
		"green tea": {"drink", "茶"}, "black tea": {"drink"}, "tea with milk": {"茶", "drink", "milk"}, "tea pot": nil, "drinks tea": {"drinks"},
	} {
		b.add(content, func(m *memory.Memory) { m.Tags = tags }, content != "black tea")
	}
	expect(t, b.recall(Query{Text: "tea"}), "green tea", "black tea", "tea with milk", "tea pot", "drinks tea")
	expect(t, b.recall(Query{Text: "tea", Tags: []string{"drink"}}), "green tea", "black tea", "tea with milk")
	expect(t, b.recall(Query{Text: "tea", Tags: []string{"drink", "茶"}}), "green tea", "tea with milk")
	expect(t, b.recall(Query{Text: "tea", Tags: []string{"drink", "茶", "drinks"}}))
	b.vectorsAway = true
	expect(t, b.recall(Query{Text: "tea", Tags: []string{"drink"}}), "green tea", "black tea", "tea with milk")

	x, _, err := b.loadIndex(t.Context(), ada, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(x.tagLists) != 5 {
		t.Errorf("lists of tags: %q", x.tagLists)
	}
	if again := newIndex(0, nil); len(again.listsWithTags(nil)) != 0 {
		t.Errorf("an index of nothing has lists of tags: %q", again.tagLists)
	}
}

// Slices of time share no memory and leave none out.
func TestSlicesPartitionRecall(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var all []string
	for i := range 12 {
		content := "tea " + string(rune('a'+i))
		all = append(all, content)
		b.add(content, func(m *memory.Memory) { m.CreatedAt = begin.Add(time.Duration(i/2) * time.Millisecond) }, i%3 > 0)
	}
	for _, away := range []bool{false, true} {
		b.vectorsAway = away
		for cut := range 8 {
			at := begin.Add(time.Duration(cut) * time.Millisecond)
			before, after := b.recall(Query{Text: "tea", Limit: 20, Until: at}), b.recall(Query{Text: "tea", Limit: 20, Since: at})
			expect(t, before, slices.Clone(all[:min(12, 2*cut)])...)
			expect(t, after, slices.Clone(all[min(12, 2*cut):])...)
		}
	}
}

// A slice may end within a millisecond, which is what vector stores tell apart.
func TestASliceEndsWithinAMillisecond(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for content, after := range map[string]time.Duration{"tea before": 500 * time.Microsecond, "tea after": 700 * time.Microsecond} {
		b.add(content, func(m *memory.Memory) { m.CreatedAt = begin.Add(after) }, true)
	}
	answer := b.recall(Query{Text: "tea", Until: begin.Add(700 * time.Microsecond)})
	expect(t, answer, "tea before")
	if sources := answer.Memories[0].Sources; !slices.Contains(sources, nameVectors) || len(answer.Degraded) > 0 {
		t.Errorf("found by %q, degraded %q", sources, answer.Degraded)
	}
	expect(t, b.recall(Query{Text: "tea", Since: begin.Add(700 * time.Microsecond)}), "tea after")
}
