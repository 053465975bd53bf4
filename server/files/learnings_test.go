package files_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

const learnings = "/v1/files/learnings.md?user_id=ada"

// exchange sends learnings.md and returns the report.
func (f *fixture) exchange(file string) (r report) {
	f.t.Helper()
	got := f.want(200, f.write, "PUT", learnings, file, "Accept", "application/json")
	if err := json.Unmarshal([]byte(got.body), &r); err != nil {
		f.t.Fatal(err)
	}
	return r
}

// instruction returns the text of an instruction of Ada's, or the status if it is not 200.
func (f *fixture) instruction(name string) string {
	f.t.Helper()
	got := f.send(f.read, "GET", "/v1/instructions/"+name+"?scope=user&user_id=ada", "")
	if got.status != 200 {
		return fmt.Sprint(got.status)
	}
	var body struct{ Version struct{ Content string } }
	if err := json.Unmarshal([]byte(got.body), &body); err != nil {
		f.t.Fatal(err)
	}
	return body.Version.Content
}

func (f *fixture) publish(name, content string) {
	f.t.Helper()
	raw, _ := json.Marshal(map[string]string{ // strings
		"scope": "user", "user_id": "ada", "name": name, "content": content,
	})
	f.want(201, f.write, "POST", "/v1/instructions", string(raw))
}

func TestLearnings_SynchronizesInstructionsAndSkills(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.remember("Lives in Lisbon.", "")
	f.publish("tone 键", "Answer briefly.\n\n- In English.")
	f.publish("units", "Use metric units.")
	f.want(200, f.write, "POST", "/v1/skills/deploy/outcomes",
		`{"user_id":"ada","success":true,"workflow":"Tag, then push."}`)

	first := f.want(200, f.read, "GET", learnings, "")
	for _, line := range []string{
		"# Instructions\n", "- Answer briefly.\n\n  - In English. <!-- i:tone%20%E9%94%AE rev:", "# Skills\n",
		"- deploy: Tag, then push. <!-- m:", "- Use metric units. <!-- i:units rev:", "hippocampus: 1-learnings\n",
	} {
		if !strings.Contains(first.body, line) {
			t.Errorf("the file lacks %q:\n%s", line, first.body)
		}
	}
	if strings.Contains(first.body, "Lisbon") {
		t.Errorf("the file shows a fact:\n%s", first.body)
	}
	edited := strings.NewReplacer(
		"briefly", "at length", "Tag,", "Test, tag,", "- Use metric units", "- Use imperial units",
	).Replace(first.body)
	edited = strings.Replace(edited, "# Skills\n", "- Cite sources.\n\nMy own words.\n\n# Skills\n", 1)
	edited += "\n# Errors\n- Forgot to tag.\n"
	got := f.exchange(edited)
	if len(got.Added) != 2 || len(got.Changed) != 3 || len(got.Forgotten)+len(got.Conflicts) != 0 {
		t.Fatalf("the report is %+v", got)
	}
	if text := f.instruction("tone%20%E9%94%AE"); text != "Answer at length.\n\n- In English." {
		t.Errorf("the instruction is %q", text)
	}
	if text := f.instruction(strings.TrimPrefix(got.Added[0], "i:")); text != "Cite sources." {
		t.Errorf("the added instruction %s is %q", got.Added[0], text)
	}
	again := f.exchange(got.File)
	if again.File != got.File || len(again.Added)+len(again.Changed)+len(again.Forgotten) > 0 {
		t.Errorf("a second synchronization does %+v", again)
	}

	// First one side removes an instruction; then both sides change another instruction.
	var kept []string
	for line := range strings.Lines(got.File) {
		if !strings.Contains(line, "imperial") {
			kept = append(kept, line)
		}
	}
	removed := f.exchange(strings.Join(kept, ""))
	if fmt.Sprint(removed.Forgotten) != "[i:units]" || f.instruction("units") != "404" {
		t.Errorf("the report is %+v, the instruction %q", removed, f.instruction("units"))
	}
	f.publish("tone 键", "Answer in Latin.")
	both := f.exchange(strings.Replace(removed.File, "at length", "in rhyme", 1))
	if len(both.Conflicts) != 1 || both.Conflicts[0].ID != "i:tone%20%E9%94%AE" || len(both.Added) != 0 ||
		!strings.Contains(both.File, "<!-- conflict: both sides changed") {
		t.Fatalf("the conflict is %+v", both)
	}
	if a, b := f.instruction("tone%20%E9%94%AE"), f.instruction(strings.TrimPrefix(both.Conflicts[0].KeptAs, "i:")); a !=
		"Answer in Latin." || b != "Answer in rhyme.\n\n- In English." {
		t.Errorf("after a conflict there are %q and %q", a, b)
	}
}

func TestLearnings_RefusesWhatIsNotItsOwn(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.publish("tone", "Answer briefly.")
	memories := f.want(200, f.read, "GET", path+ada, "").body
	mine := f.want(200, f.read, "GET", learnings, "")
	f.want(304, f.read, "GET", learnings, "", "If-None-Match", mine.header.Get("ETag"))
	f.want(412, f.write, "PUT", learnings, mine.body, "If-Match", `"other"`)
	f.want(200, f.write, "PUT", learnings, mine.body, "If-Match", mine.header.Get("ETag"))
	for _, c := range []struct{ key, target, file, why string }{
		{f.write, learnings, memories, "another file"},
		{f.write, path + ada, mine.body, "another file"},
		{f.write, learnings + "&agent_id=tutor", "# Instructions\n- Be kind.\n", "belongs to the user"},
		{f.write, learnings, "# Instructions\n- " + strings.Repeat("x", 17<<10) + "\n", "line 2"},
		{f.write, learnings, "# Skills\n- " + strings.Repeat("x", 5<<10) + "\n", "line 2"},
	} {
		if got := f.want(400, c.key, "PUT", c.target, c.file); !strings.Contains(got.body, c.why) {
			t.Errorf("PUT %s of %.40q: %s lacks %q", c.target, c.file, got.body, c.why)
		}
	}
	f.want(403, f.read, "PUT", learnings, mine.body)
	if other := f.want(200, f.stranger, "GET", learnings, ""); strings.Contains(other.body, "briefly") {
		t.Errorf("another app reads %s", other.body)
	}
	if text := f.instruction("tone"); text != "Answer briefly." {
		t.Errorf("the instruction is %q", text)
	}
}
