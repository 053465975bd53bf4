package memoryfile

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hippocampus/internal/memory"
	_ "hippocampus/internal/rapidtest" // sets its flags
)

var pieces = []string{
	"tea", "茶", "🍵", " ", "\n", "\r", "\n\n", "  ", "\t", "- ", "# Facts", "```", "<!-- x -->", `<\!--`, "---", "\u00a0",
	"<!-- m:0198c0de-0000-7000-8000-000000000001 rev:0.fact -->", "\u2028", "*", "\\", "a: b", "&lt;",
	"<!-- conflict: no -->", "<!-- i:tone rev:0.instruction -->",
}

// Whatever both sides write, no text is lost, the words around bullets stay, and a second synchronization changes
// nothing.
func TestSync_LosesNothing(t *testing.T) {
	t.Parallel()
	for _, form := range []*Form{Memories, Learnings} {
		t.Run(form.Name, func(t *testing.T) {
			t.Parallel()
			synchronizesAll(t, form)
		})
	}
}

// kinds returns the types that a file of the form shows.
func kinds(form *Form) []memory.Type {
	if form.HasInstructions() {
		return append(form.Types(), Instruction)
	}
	return form.Types()
}

func synchronizesAll(t *testing.T, form *Form) {
	rapid.Check(t, func(t *rapid.T) {
		content := rapid.Custom(func(t *rapid.T) string {
			some := rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 4)
			before, after := some.Draw(t, "before"), some.Draw(t, "after")
			return fmt.Sprint(strings.Join(before, ""), rapid.IntRange(0, 9).Draw(t, "number"), strings.Join(after, ""))
		})
		kind := rapid.SampledFrom(kinds(form))
		s := newStore()
		s.form = form
		for range rapid.IntRange(0, 8).Draw(t, "memories") {
			s.add(kind.Draw(t, "type"), content.Draw(t, "content"))
		}
		file, _ := s.sync(t, rapid.SampledFrom([]string{
			"", "intro", "\ufeffintro\r\n", "# Facts\n\n## Deeper\ntext\n", "---\ntitle: x\n---\n",
		}).Draw(t, "begin"), false)
		for range rapid.IntRange(1, 4).Draw(t, "rounds") {
			file = round(t, s, file, kind, content)
		}
	})
}

// round edits both sides, synchronizes them, and checks the result.
func round(
	t *rapid.T, s *store, file string, kind *rapid.Generator[memory.Type], content *rapid.Generator[string],
) string {
	edited, written, words := editFile(t, s, file)
	changed := editServer(t, s, kind, content)
	before := maps.Clone(s.memories)
	merged, plan := s.sync(t, edited, rapid.Bool().Draw(t, "confirmed"))
	for _, text := range written {
		if !s.holds(text) {
			t.Fatalf("%q of the file is lost:\n%s\n->\n%s", text, edited, merged)
		}
	}
	touched := map[string]bool{}
	for _, c := range plan.Change {
		touched[c.Bullet.ID] = c.Text != nil
	}
	for _, id := range plan.Forget {
		touched[id] = true
	}
	for id, m := range before {
		if now, exists := s.memories[id]; !touched[id] && (!exists || now.Content != m.Content) {
			t.Fatalf("%q of the server is lost", m.Content)
		}
		if touched[id] && changed[id] {
			t.Fatalf("the file overwrites %q, which the server changed", m.Content)
		}
	}
	if len(plan.Forget) > 0 && len(changed) > 0 {
		t.Fatal("a file of older memories forgets some")
	}
	rest := merged
	for _, line := range words {
		_, after, found := strings.Cut(rest, line)
		if !found {
			t.Fatalf("the words %q are lost:\n%s\n->\n%s", line, edited, merged)
		}
		rest = after
	}
	for id := range s.memories {
		if n := strings.Count(merged, "<!-- "+tagOf(id)+" rev:"); n == 0 {
			t.Fatalf("memory %s is not in the file:\n%s", id, merged)
		}
	}
	again, second := s.sync(t, merged, false)
	if again != merged || len(second.Add)+len(second.Change)+len(second.Forget)+len(second.Missing) > 0 || second.Stale {
		t.Fatalf("the second synchronization plans %+v and gives\n%q\nafter\n%q", second, again, merged)
	}
	return merged
}

// editServer changes, forgets and adds memories, and returns the ids of those that it touched.
func editServer(
	t *rapid.T, s *store, kind *rapid.Generator[memory.Type], content *rapid.Generator[string],
) map[string]bool {
	changed := map[string]bool{}
	for _, id := range slices.Sorted(maps.Keys(s.memories)) {
		m := s.memories[id]
		switch rapid.IntRange(0, 9).Draw(t, "server") {
		case 0:
			delete(s.memories, id)
			changed[id] = true
		case 1:
			m.Content = "server " + content.Draw(t, "content")
			changed[id] = canonical(m.Content) != canonical(s.memories[id].Content)
			s.memories[id] = m
			if !changed[id] {
				delete(changed, id)
			}
		}
	}
	if rapid.IntRange(0, 3).Draw(t, "adds") == 0 {
		changed[s.add(kind.Draw(t, "type"), content.Draw(t, "content"))] = true
	}
	return changed
}

// editFile changes a file, and returns the texts that it wrote as bullets and the words between bullets.
func editFile(t *rapid.T, s *store, file string) (edited string, written, words []string) {
	d, err := s.form.Parse(file)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	fresh := func(what string) string {
		s.edits++
		return fmt.Sprintf("%s %d.", what, s.edits)
	}
	end := d.eol
	for _, p := range d.parts {
		if p.bullet == nil {
			out.WriteString(p.raw)
			continue
		}
		switch rapid.IntRange(0, 12).Draw(t, "file") {
		case 0: // removed
		case 1:
			text := fresh("edited")
			out.WriteString("- " + text + " <!-- " + tagOf(p.bullet.ID) + " rev:" + p.bullet.rev + " -->" + end)
			written = append(written, text)
		case 2: // copied
			out.WriteString(p.raw + p.raw)
		case 3: // without its comment
			out.WriteString(marker.ReplaceAllString(p.raw, ""))
		default:
			out.WriteString(p.raw)
		}
		switch rapid.IntRange(0, 9).Draw(t, "more") {
		case 0:
			text := fresh("added")
			out.WriteString("*  " + text + end + "   * deeper" + end)
			written = append(written, text+"\n * deeper")
		case 1:
			text := fresh("words")
			out.WriteString(text + end)
			words = append(words, text+end)
		case 2:
			out.WriteString(end + "## " + string(rapid.SampledFrom(kinds(s.form)).Draw(t, "section")) + end)
		}
	}
	head := &Document{form: d.form, front: d.front, bom: d.bom, eol: d.eol}
	return head.Bytes() + out.String(), written, words
}
