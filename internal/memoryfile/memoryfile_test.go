package memoryfile

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"hippocampus/internal/memory"
)

// store is a server's memories.
type store struct {
	form     *Form
	memories map[string]Memory
	next     int
	edits    int // of files
}

func newStore() *store { return &store{form: Memories, memories: map[string]Memory{}} }

func (s *store) add(kind memory.Type, content string) string {
	s.next++
	id := fmt.Sprintf("0198c0de-0000-7000-8000-%012d", s.next)
	if kind == Instruction {
		id = IDOfInstruction(fmt.Sprintf("键 --> \" %d", s.next))
	}
	s.memories[id] = Memory{ID: id, Type: kind, Content: content}
	return id
}

func (s *store) present() []Memory { return slices.Collect(maps.Values(s.memories)) }

func (s *store) holds(text string) bool {
	return slices.ContainsFunc(s.present(), func(m Memory) bool { return canonical(m.Content) == canonical(text) })
}

// sync synchronizes a file as the server does.
func (s *store) sync(t interface{ Fatal(...any) }, file string, confirmed bool) (string, Plan) {
	d, err := s.form.Parse(file)
	if err != nil {
		t.Fatal(err)
	}
	plan := d.Merge(s.present(), confirmed)
	for _, b := range plan.Add {
		b.ID = s.add(b.Type, b.Text)
	}
	for _, c := range plan.Change {
		m := s.memories[c.Bullet.ID]
		if c.Text != nil {
			m.Content = *c.Text
		}
		if c.Type != nil {
			m.Type = *c.Type
		}
		s.memories[m.ID] = m
	}
	for _, id := range plan.Forget {
		delete(s.memories, id)
	}
	d.Show("ada", "", s.present())
	return d.Bytes(), plan
}

func TestMerge_TakesOverEachSide(t *testing.T) {
	t.Parallel()
	s := newStore()
	tea := s.add("preference", "Likes green tea.")
	home := s.add("fact", "Lives in Lisbon.")
	s.add("fact", "Two\n\n  lines <!-- m:x -->")
	file, _ := s.sync(t, "", false)
	const want = "\n# Preferences\n\n- Likes green tea. <!-- m:"
	const front = "---\nhippocampus: 1\nuser: ada\nagent: \"\"\nrevision: "
	if !strings.Contains(file, want) || !strings.HasPrefix(file, front) {
		t.Fatalf("the file is\n%s", file)
	}
	edited := strings.Replace(file, "green tea", "black tea", 1)
	edited = strings.Replace(edited, "\n# Facts", "\n\nMy words.\n# Facts", 1) + "- Has a dog.\n"
	s.memories[home] = Memory{ID: home, Type: "fact", Content: "Lives in Porto."}
	s.add("task", "Buy oat milk.")
	merged, plan := s.sync(t, edited, false)
	if len(plan.Add) != 1 || len(plan.Change) != 1 || len(plan.Forget) != 0 || !plan.Stale {
		t.Errorf("the plan is %+v", plan)
	}
	for _, text := range []string{
		"- Likes black tea. <!-- m:" + tea, "\n\nMy words.\n# Facts", "- Lives in Porto. <!-- m:" + home,
		"- Has a dog. <!-- m:", "# Tasks\n\n- Buy oat milk. <!--", `  lines <\!-- m:x -->`,
	} {
		if !strings.Contains(merged, text) {
			t.Errorf("the file lacks %q:\n%s", text, merged)
		}
	}
	if !s.holds("Likes black tea.") || !s.holds("Has a dog.") {
		t.Errorf("the memories are %v", s.memories)
	}
}

func TestMerge_KeepsBothTextsOfAConflict(t *testing.T) {
	t.Parallel()
	s := newStore()
	id := s.add("fact", "Lives in Lisbon.")
	gone := s.add("fact", "Has a cat.")
	file, _ := s.sync(t, "", false)
	s.memories[id] = Memory{ID: id, Type: "fact", Content: "Lives in Porto."}
	delete(s.memories, gone)
	edited := strings.NewReplacer("Lisbon", "Faro", "a cat", "two cats").Replace(file)
	merged, plan := s.sync(t, edited, false)
	if len(plan.Add) != 2 || plan.Add[0].Rival() != id || plan.Add[1].Rival() != gone {
		t.Errorf("the plan is %+v", plan)
	}
	for _, text := range []string{
		"Porto. <!-- m:" + id, bothChanged + "\n- Lives in Faro.", forgotten + "\n- Has two cats.",
	} {
		if !strings.Contains(merged, text) {
			t.Errorf("the file lacks %q:\n%s", text, merged)
		}
	}
	if again, _ := s.sync(t, edited, false); again != merged {
		t.Errorf("a repeated request gives\n%s\nafter\n%s", again, merged)
	}
}

func TestMerge_ForgetsWithinBounds(t *testing.T) {
	t.Parallel()
	without := func(file string, n int) string { // the last n bullets
		lines := strings.SplitAfter(file, "\n")
		return strings.Join(lines[:len(lines)-1-n], "")
	}
	for name, c := range map[string]struct {
		memories, missing       int
		change, confirm, forget bool
	}{
		"three of four":      {memories: 4, missing: 3, forget: true},
		"four of four":       {memories: 4, missing: 4},
		"confirmed":          {memories: 4, missing: 4, confirm: true, forget: true},
		"a fifth":            {memories: 25, missing: 5, forget: true},
		"more than a fifth":  {memories: 25, missing: 6},
		"changed server":     {memories: 4, missing: 1, change: true},
		"changed, confirmed": {memories: 4, missing: 1, change: true, confirm: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStore()
			for i := range c.memories {
				s.add("fact", fmt.Sprintf("Fact %d.", i))
			}
			file, _ := s.sync(t, "", false)
			if c.change {
				s.add("task", "A later one.")
			}
			_, plan := s.sync(t, without(file, c.missing), c.confirm)
			if forgets := len(plan.Forget) == c.missing; forgets != c.forget || !forgets && len(plan.Forget) > 0 {
				t.Errorf("the plan is %+v", plan)
			}
		})
	}
}

func TestParse_LeavesOtherBytes(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]string{
		"line endings":  "# Facts\r\n\r\n- one\r\n  more\r\n\r\ntext  \r\n",
		"open end":      "# Facts\n- 一\n* two 🍵",
		"byte order":    "\ufeff---\nhippocampus: 1\ntitle: x\n---\n\n- one\n",
		"code":          "```\n- not a memory\n```\n<!--\n- nor this\n-->\n- - -\n-\n- yes\n",
		"nested":        "- a\n  - b\n\t- c\n\n  d\n\nend",
		"own keys":      "---\ntags: [a]\n---\n- one\n",
		"other heading": "## Notes ##\n- one\n# Preferences\n### Food\n- two\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := Memories.Parse(file)
			if err != nil || d.Bytes() != file {
				t.Errorf("Parse changes %q to %q (%v)", file, d.Bytes(), err)
			}
			s := newStore()
			first, _ := s.sync(t, file, false)
			stripped := marker.ReplaceAllString(first, "")
			for line := range strings.Lines(file) {
				if !strings.Contains(stripped, strings.TrimSuffix(line, "\n")) {
					t.Errorf("%q lacks %q", stripped, line)
				}
			}
			if second, plan := s.sync(t, first, false); second != first || len(plan.Add) > 0 {
				t.Errorf("the second file is %q after %q", second, first)
			}
		})
	}
}

func TestParse_RefusesWhatItCannotKeep(t *testing.T) {
	t.Parallel()
	for want, file := range map[string]string{
		"50000":     strings.Repeat("\n", maxLines+1),
		"line 2":    "text\n```go\n- x\n",
		"a comment": "<!-- open\n- x\n",
		"UTF-8":     "a\n\xff\n",
		"format 2":  "---\nhippocampus: 2\n---\n",
		"format 1-": "---\nhippocampus: 1-learnings\n---\n",
	} {
		if _, err := Memories.Parse(file); memory.KindOf(err) != memory.KindInvalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%.100q: %v", file, err)
		}
	}
}
