package files_test

import (
	"fmt"
	"strings"
	"testing"
)

const ada = "?user_id=ada"

func TestFile_SynchronizesBothSides(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	tea, home := f.remember("Likes green tea.", ""), f.remember("Lives in Lisbon.", "")
	cat, dog := f.remember("Has a cat.", ""), f.remember("Has a dog.", "")
	f.remember("Private of the tutor.", "tutor")
	first := f.want(200, f.read, "GET", path+ada, "")
	if first.header.Get("Content-Type") != "text/markdown; charset=utf-8" || strings.Contains(first.body, "tutor") ||
		!strings.Contains(first.body, "- Has a cat. <!-- m:"+cat+" rev:") {
		t.Fatalf("the file is %v\n%s", first.header, first.body)
	}
	if tutor := f.want(200, f.read, "GET", path+ada+"&agent_id=tutor", "").body; strings.Count(tutor, "\n- ") != 1 {
		t.Errorf("the tutor's file is\n%s", tutor)
	}

	var kept []string // without the cat
	for line := range strings.Lines(first.body) {
		if !strings.Contains(line, "Has a cat") {
			kept = append(kept, line)
		}
	}
	edited := strings.Replace(strings.Join(kept, ""), "green tea", "black tea", 1) + "\n# Tasks\n- Buy 燕麦奶 🥛\n  and bread"
	got := f.synchronize(ada, edited)
	if len(got.Added) != 1 || fmt.Sprint(got.Changed, got.Forgotten) != fmt.Sprint([]string{tea}, []string{cat}) {
		t.Fatalf("the report is %+v", got)
	}
	added := f.want(200, f.read, "GET", "/v1/memories/"+got.Added[0], "").body
	for _, field := range []string{
		`"content":"Buy 燕麦奶 🥛\nand bread"`, `"type":"task"`, `"importance":1`, `"metadata":{"source":"file"}`,
	} {
		if !strings.Contains(added, field) {
			t.Errorf("the added memory lacks %s: %s", field, added)
		}
	}
	if m := f.want(200, f.read, "GET", "/v1/memories/"+cat, "").body; !strings.Contains(m, `"status":"forgotten"`) {
		t.Errorf("the removed memory is %s", m)
	}
	again := f.want(200, f.write, "PUT", path+ada, got.File)
	if again.body != got.File ||
		again.header.Get("X-Hippocampus-File") != "added=0, changed=0, forgotten=0, shown=0, conflicts=0" {
		t.Errorf("a second synchronization gives %v\n%s\nafter\n%s", again.header, again.body, got.File)
	}

	f.want(200, f.write, "PATCH", "/v1/memories/"+home, `{"content":"Lives in Porto."}`)
	f.want(200, f.write, "DELETE", "/v1/memories/"+dog, "")
	got = f.synchronize(ada, strings.Replace(got.File, "Lisbon", "Faro", 1))
	if len(got.Conflicts) != 1 || got.Conflicts[0].ID != home || strings.Contains(got.File, "a dog") {
		t.Fatalf("the report is %+v", got)
	}
	for _, text := range []string{
		"- Lives in Porto. <!-- m:" + home, "- Lives in Faro. <!-- m:" + got.Conflicts[0].KeptAs,
	} {
		if !strings.Contains(got.File, text) {
			t.Errorf("the file lacks %q:\n%s", text, got.File)
		}
	}
}

func TestFile_HonoursConditions(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.remember("Likes green tea.", "")
	first := f.want(200, f.read, "GET", path+ada, "")
	tag := first.header.Get("ETag")
	f.want(304, f.read, "GET", path+ada, "", "If-None-Match", `"x", `+tag)
	f.want(200, f.write, "PUT", path+ada, first.body, "If-Match", tag)
	f.remember("Has a dog.", "")
	f.want(200, f.read, "GET", path+ada, "", "If-None-Match", tag)
	f.want(412, f.write, "PUT", path+ada, first.body+"- Not added.\n", "If-Match", tag)
	if file := f.want(200, f.read, "GET", path+ada, "").body; strings.Contains(file, "Not added") {
		t.Errorf("a refused file was taken over:\n%s", file)
	}
}

func TestFile_ForgetsManyOnlyIfConfirmed(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for i := range 4 {
		f.remember(fmt.Sprintf("Fact %d.", i), "")
	}
	file := f.want(200, f.read, "GET", path+ada, "").body
	head, _, _ := strings.Cut(file, "- Fact")
	refused := f.want(409, f.write, "PUT", path+ada, head+"- A later one.\n")
	if !strings.Contains(refused.body, "confirm=true") {
		t.Errorf("the refusal is %s", refused.body)
	}
	if now := f.want(200, f.read, "GET", path+ada, "").body; now != file {
		t.Errorf("a refused file was taken over:\n%s", now)
	}
	if got := f.synchronize(ada+"&confirm=true", head); len(got.Forgotten) != 4 {
		t.Errorf("the report is %+v", got)
	}
	if got := f.synchronize(ada, head+"- A later one.\n"); len(got.Forgotten) != 0 || len(got.Added) != 1 {
		t.Errorf("the report is %+v", got)
	}
}

func TestFile_RefusesWrongRequests(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.remember("Likes green tea.", "")
	file := f.want(200, f.read, "GET", path+ada, "").body
	for name, c := range map[string]struct {
		key, method, query, file string
		status                   int
		want                     string
	}{
		"no user":         {f.read, "GET", "", "", 400, "query.user_id"},
		"unknown query":   {f.read, "GET", ada + "&x=1", "", 400, "query.x"},
		"two users":       {f.read, "GET", ada + "&user_id=bob", "", 400, "more than once"},
		"broken query":    {f.read, "GET", "?user_id=%zz", "", 400, "well formed"},
		"wrong confirm":   {f.write, "PUT", ada + "&confirm=maybe", file, 400, "query.confirm"},
		"no key":          {"x", "GET", ada, "", 401, "API key"},
		"key that reads":  {f.read, "PUT", ada, file, 403, "role"},
		"another user":    {f.write, "PUT", "?user_id=bob", file, 409, "ada"},
		"another agent":   {f.write, "PUT", ada + "&agent_id=tutor", file, 409, "agent"},
		"too long a text": {f.write, "PUT", ada, "- ok\n- " + strings.Repeat("x", 4097) + "\n", 400, "line 2"},
		"too large":       {f.write, "PUT", ada, strings.Repeat("x", 1<<20+1), 413, "body"},
		"another method":  {f.write, "POST", ada, file, 405, "other methods"},
	} {
		t.Run(name, func(t *testing.T) {
			got := f.send(c.key, c.method, path+c.query, c.file)
			if got.status != c.status || !strings.Contains(got.body, c.want) ||
				got.header.Get("Content-Type") != "application/problem+json" {
				t.Errorf("status %d, want %d with %q: %s", got.status, c.status, c.want, got.body)
			}
		})
	}
	if now := f.want(200, f.read, "GET", path+ada, "").body; now != file {
		t.Errorf("a refused request changed\n%s\nto\n%s", file, now)
	}
}

// An id in a file gives no access to the memory of another user or app.
func TestFile_NeverTouchesOthersMemories(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.remember("Likes green tea.", "")
	file := "- Likes coffee. <!-- m:" + id + " rev:0.fact -->\n"
	for key, user := range map[string]string{f.write: "bob", f.stranger: "ada"} {
		got := f.want(200, key, "PUT", path+"?user_id="+user, file)
		if strings.Contains(got.body, "green") || strings.Contains(got.body, id) {
			t.Errorf("the file of %s is\n%s", user, got.body)
		}
	}
	if m := f.want(200, f.read, "GET", "/v1/memories/"+id, "").body; !strings.Contains(m, "green tea") {
		t.Errorf("Ada's memory is %s", m)
	}
}

// A NUL character or a byte that is not UTF-8 does not refuse a file: it becomes U+FFFD, and the report counts it.
func TestPut_CleansWhatNoStoreCanHold(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	got := f.send(f.write, "PUT", path+ada, "- a\x00b\n- c\xffd\n")
	if got.status != 200 || !strings.Contains(got.body, "a\uFFFDb") || !strings.Contains(got.body, "c\uFFFDd") ||
		!strings.HasSuffix(got.header.Get("X-Hippocampus-File"), "cleaned=2") {
		t.Errorf("%+v", got)
	}
}

// A secret in a bullet does not reach a store: [secret] replaces it in the file too, and the report counts it.
func TestPut_CountsTheSecretsThatItCuts(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	tea := f.remember("Likes green tea.", "")
	file := f.want(200, f.read, "GET", path+ada, "").body
	edited := strings.Replace(file, "Likes green tea.", "The password is Xk9#mQ2$vL", 1) +
		"- My password is Tr0ub4dor&3x!\n- Has a cat.\n"
	got := f.want(200, f.write, "PUT", path+ada, edited)
	for _, part := range []string{
		"- The password is [secret] <!-- m:" + tea, "- My password is [secret]! <!-- m:", "- Has a cat.",
	} {
		if !strings.Contains(got.body, part) {
			t.Errorf("the file lacks %q:\n%s", part, got.body)
		}
	}
	const want = "added=2, changed=1, forgotten=0, shown=0, conflicts=0, secrets=2"
	if line := got.header.Get("X-Hippocampus-File"); line != want {
		t.Errorf("the report is %s", line)
	}
	again := f.want(200, f.write, "PUT", path+ada, got.body)
	if again.body != got.body || strings.Contains(again.header.Get("X-Hippocampus-File"), "secrets") {
		t.Errorf("a second synchronization gives %v\n%s", again.header, again.body)
	}
}
