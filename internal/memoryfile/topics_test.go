package memoryfile

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hippocampus/internal/memory"
)

// folder is an index with its topic files.
type folder struct {
	index string
	texts map[string]string
}

// sync synchronizes a folder as the command does.
func (f *folder) sync(t interface{ Fatal(...any) }, s *store) Plan {
	joined, err := JoinTopics(f.index, f.texts)
	if err != nil {
		t.Fatal(err)
	}
	merged, plan := s.sync(t, joined, false)
	byID := func(a, b Memory) int { return strings.Compare(a.ID, b.ID) }
	important := slices.SortedFunc(slices.Values(s.present()), byID)
	if f.index, err = NewIndex(merged, important); err != nil {
		t.Fatal(err)
	}
	topics, err := SplitTopics(merged)
	if err != nil {
		t.Fatal(err)
	}
	for _, topic := range topics {
		if _, exists := f.texts[topic.Name]; exists || topic.Memories > 0 {
			f.texts[topic.Name] = topic.Text
		}
	}
	return plan
}

// An index stays within both bounds, however many and long the memories are, and uses the room that they leave. A
// second synchronization changes nothing.
func TestIndex_HoldsBounds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s, f := newStore(), &folder{texts: map[string]string{}}
		times := rapid.SampledFrom([]int{1, 20, 60}).Draw(t, "times")
		text := strings.Repeat(rapid.SampledFrom(pieces).Draw(t, "piece"), times)
		count := rapid.SampledFrom([]int{0, 1, 3, 30, 60, 210}).Draw(t, "memories")
		for i := range count {
			s.add(rapid.SampledFrom(Memories.Types()).Draw(t, "type"), fmt.Sprintf("%d %s", i, text))
		}
		f.sync(t, s)
		lines, size := strings.Count(f.index, "\n"), len(f.index)
		if lines > MaxIndexLines || size > MaxIndexBytes {
			t.Fatalf("the index has %d lines and %d bytes", lines, size)
		}
		_, list, _ := strings.Cut(f.index, "## Most important\n\n")
		shown := strings.Count(list, "\n")
		if shown < count && lines < MaxIndexLines && size < MaxIndexBytes-2-4*maxIndexed {
			t.Fatalf("the index shows %d of %d memories in %d lines and %d bytes", shown, count, lines, size)
		}
		index, texts := f.index, fmt.Sprint(f.texts)
		plan := f.sync(t, s)
		if len(plan.Add)+len(plan.Change)+len(plan.Forget)+len(plan.Missing) > 0 || plan.Stale {
			t.Fatalf("the second synchronization plans %+v", plan)
		}
		if f.index != index || fmt.Sprint(f.texts) != texts {
			t.Fatalf("the second synchronization changes\n%s\n%s\nto\n%s\n%s", index, texts, f.index, f.texts)
		}
	})
}

const facts, tasks = "topics/facts.md", "topics/tasks.md"

func TestTopics_ExchangeChanges(t *testing.T) {
	t.Parallel()
	s, f := newStore(), &folder{texts: map[string]string{}}
	s.add("fact", "Lives in Lisbon.")
	moved := s.add("fact", "Buy oat milk.")
	gone := s.add("fact", "Has a cat.")
	f.sync(t, s)
	if !strings.Contains(f.index, "- [Facts]("+facts+"): 3\n\n## Most important\n\n- Lives in Lisbon.\n") {
		t.Fatalf("the index is\n%s", f.index)
	}
	var left []string // without the cat and the milk
	for line := range strings.Lines(f.texts[facts]) {
		if strings.Contains(line, "Buy oat milk") {
			f.texts[tasks] = "My words.\n" + line + "- Call Bob." // no heading and an open end
		} else if !strings.Contains(line, "Has a cat") {
			left = append(left, line)
		}
	}
	f.texts[facts] = strings.Replace(strings.Join(left, ""), "Lisbon", "Porto", 1)
	if plan := f.sync(t, s); len(plan.Add) != 1 || len(plan.Change) != 2 || fmt.Sprint(plan.Forget) != "["+gone+"]" {
		t.Errorf("the plan is %+v", plan)
	}
	if !s.holds("Lives in Porto.") || s.memories[moved].Type != "task" || !s.holds("Call Bob.") {
		t.Errorf("the memories are %v", s.memories)
	}
	if !strings.HasPrefix(f.texts[tasks], "# Tasks\n\nMy words.\n- Buy oat milk. <!-- ") {
		t.Errorf("%s is\n%s", tasks, f.texts[tasks])
	}

	// A topic file that is missing is written again.
	lost := f.texts[facts]
	delete(f.texts, facts)
	if plan := f.sync(t, s); len(plan.Forget) > 0 || f.texts[facts] != lost {
		t.Errorf("the plan is %+v, %s\n%s\nafter\n%s", plan, facts, f.texts[facts], lost)
	}
}

func TestTopics_ForgetWithinBounds(t *testing.T) {
	t.Parallel()
	s, f := newStore(), &folder{texts: map[string]string{}}
	for i := range 8 {
		s.add([]memory.Type{"fact", "task"}[i%2], fmt.Sprintf("Number %d.", i))
	}
	f.sync(t, s)
	f.texts[facts] = "# Facts\n"
	if plan := f.sync(t, s); len(plan.Forget) > 0 || len(plan.Missing) != 4 {
		t.Errorf("the plan is %+v", plan)
	}
}

func TestArrangeTopics_HasAllMemories(t *testing.T) {
	t.Parallel()
	s := newStore()
	for i, kind := range Memories.Types() {
		s.add(kind, fmt.Sprintf("Number %d\n<!-- x -->", i))
	}
	file, _ := s.sync(t, "", false)
	joined, err := ArrangeTopics(file)
	if err != nil {
		t.Fatal(err)
	}
	if again, plan := s.sync(t, joined, false); again != joined || plan.Stale || len(plan.Missing) > 0 {
		t.Errorf("the plan is %+v, and\n%s\nbecomes\n%s", plan, joined, again)
	}
	before, _, _ := strings.Cut(joined, "Number 3\n")
	line := strings.Count(before, "\n") + 1
	if topic, at := LocateTopic(joined, line); topic != tasks || at != 3 {
		t.Errorf("line %d is line %d of %s:\n%s", line, at, topic, joined)
	}
}

func TestJoinTopics_RefusesWhatItWouldLose(t *testing.T) {
	t.Parallel()
	s, f := newStore(), &folder{texts: map[string]string{}}
	s.add("fact", "Lives in Lisbon.")
	f.sync(t, s)
	crlf := strings.ReplaceAll(f.index, "\n", "\r\n")
	if _, err := JoinTopics(crlf, f.texts); err != nil {
		t.Errorf("other line endings: %v", err)
	}
	single, _ := s.sync(t, "", false)
	for name, c := range map[string]struct{ index, text, want string }{
		"edited index":    {index: f.index + "- Written by another program.\n", want: "remove MEMORY.md"},
		"own file":        {index: "# My notes\n", want: "remove MEMORY.md"},
		"memory.md":       {index: single, want: "remove MEMORY.md"},
		"open code block": {index: f.index, text: "a\n```\n", want: facts + ": line 2"},
		"separator":       {index: f.index, text: Memories.sections[0].separator(), want: "separates topics"},
	} {
		_, err := JoinTopics(c.index, map[string]string{facts: c.text})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
