package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hippocampus/internal/llm/llmtest"
)

// carry runs an export or import command for this server, in another folder.
func (s *server) carry(key string, args ...string) (out string, err error) {
	return s.carryTo(s.url, key, args...)
}

func (s *server) carryTo(url, key string, args ...string) (out string, err error) {
	s.t.Helper()
	env := s.cmd.Env
	defer func() { s.cmd.Env = env }()
	s.cmd.Env = append(append([]string{}, env...), "HIPPOCAMPUS_KEY="+key)
	return s.tryCommand(append(args, "--url", url)...)
}

// remember writes two users' memories of every status, with relations, unicode, accesses
// and times to the microsecond, and the data of rememberOthers. It returns the number of
// memories.
func (s *server) remember(models *llmtest.Server) int {
	s.t.Helper()
	models.OnPrompt("hippocampus/reflect", func(llmtest.ChatRequest) llmtest.Reply {
		return llmtest.Text(`{"insights":[{"insight":"Ada is an athlete.","sources":[1,2]}],"retire":[1,2]}`)
	})
	near := func(text string, second float32) { // the two have a cosine of 0.9, by the first number
		v := make([]float32, llmtest.Dim)
		v[0], v[1] = 1, second
		models.Embedding(text, v)
	}
	near("Ada lives in Beijing", 0)
	near("Ada moved to Shanghai", 0.48)
	models.OnPrompt("hippocampus/judge", func(r llmtest.ChatRequest) llmtest.Reply {
		if !strings.Contains(r.User, "Beijing") {
			return llmtest.Text(`{"decisions":[{"memory":1,"decision":"keep_both"}]}`)
		}
		return llmtest.Text(`{"decisions":[{"memory":1,"decision":"replace","relation":"contradicts"}]}`)
	})
	for i, content := range []string{
		"Ada swims every week", "Ada runs at dawn", "艾达喜欢 <b>绿茶</b> & 🍵\n\"quoted\" \\ \u2028", "Ada keeps bees",
	} {
		s.call("POST", "/v1/memories", object{
			"user_id": "ada", "content": content, "importance": 0.3 + float64(i)/7,
			"at":   fmt.Sprintf("2026-01-0%dT08:00:00.%06dZ", i+1, i+1),
			"tags": []string{"<tag>", "标签"}, "metadata": object{"a": []any{1.5, "é", nil}},
			"conversation_id": "c", "pinned": i == 3,
		}, 201)
	}
	s.call("POST", "/v1/reflect", object{"user_id": "ada", "force": true}, 200)
	bees := s.call("GET", "/v1/memories?user_id=ada", nil, 200).list("memories")
	s.call("PATCH", "/v1/memories/"+bees[len(bees)-1]["id"].(string), object{"importance": 0.95}, 200)
	deleted := s.call("POST", "/v1/memories", object{"user_id": "用户/1", "content": "to be forgotten"}, 201)
	s.call("DELETE", "/v1/memories/"+deleted.body["id"].(string), nil, 200)
	s.call("POST", "/v1/memories", object{"user_id": "用户/1", "content": "Ada lives in Beijing"}, 201)
	s.call("POST", "/v1/memories", object{"user_id": "用户/1", "content": "Ada moved to Shanghai", "dedup": true}, 201)
	others := s.rememberOthers(models)
	s.call("POST", "/v1/recall", object{"user_id": "ada", "query": "bees", "route": false}, 200)
	eventually(s.t, "the accesses being counted", func() string {
		if r := s.call("GET", "/v1/memories?user_id=ada", nil, 200); !strings.Contains(r.raw, `"access_count":1`) {
			return r.raw
		}
		return ""
	})
	return 8 + others
}

// rememberOthers writes a user's facts that changed, ended and were refused, instructions
// of each scope, skills that worked and did not, and a conversation that has ended. It
// returns the number of memories that state them.
func (s *server) rememberOthers(models *llmtest.Server) int {
	s.t.Helper()
	models.OnPrompt("hippocampus/replay",
		func(llmtest.ChatRequest) llmtest.Reply { return llmtest.Text(`{"summary":"Ada plans a trip."}`) })
	models.OnPrompt("hippocampus/deep", func(llmtest.ChatRequest) llmtest.Reply {
		return llmtest.Text(`{"facts":[],"insights":[],"preferences":[],"patterns":[],"projects":[],"skills":[]}`)
	})
	for n, messages := range [][]object{
		{
			{"role": "user", "content": "Let us plan a trip 旅行 <b>", "name": "Ada", "tags": []string{"<trip>"}},
			{"role": "assistant", "content": "Where to?"},
		},
		{{"role": "user", "content": "To the sea.\n", "context": object{"mentioned_me": true}}},
	} {
		s.call("POST", "/v1/turns",
			object{"user_id": "ada", "conversation_id": "trip", "agent_id": "butler", "id": fmt.Sprint("turn ", n),
				"metadata": object{"n": 1.50}, "messages": messages, "wait": true}, 200)
	}
	s.call("POST", "/v1/conversations/trip/end", object{"user_id": "ada", "wait": true}, 200)
	for n, city := range []string{"Lisbon", "上海", "Porto <b>"} {
		s.call("PUT", "/v1/facts",
			object{"user_id": "ada", "type": "profile", "key": "Home City", "value": city, "confidence": 0.9,
				"valid_from": fmt.Sprintf("202%d-01-01T00:00:00.000001Z", n), "source": "chat"}, 200)
	}
	s.call("PUT", "/v1/facts",
		object{"user_id": "ada", "type": "profile", "key": "home_city", "value": nil, "confidence": 0.1}, 200)
	s.call("PUT", "/v1/facts",
		object{"user_id": "ada", "type": "profile", "key": "job", "value": object{"title": "biologist", "since": 1.5}}, 200)
	s.call("DELETE", "/v1/facts?user_id=ada&type=profile&key=job", nil, 200)
	for _, whose := range []object{
		{"scope": "app"}, {"scope": "agent", "agent_id": "butler"}, {"scope": "user", "user_id": "ada"},
	} {
		whose["name"] = "tone"
		for _, text := range []string{"Be warm.\n暖 <b>", "Be brief."} {
			whose["content"] = text
			s.call("POST", "/v1/instructions", whose, 201)
		}
	}
	s.call("POST", "/v1/instructions/tone/rollback", object{"scope": "user", "user_id": "ada"}, 200)
	for n, success := range []bool{true, true, false} {
		s.call("POST", "/v1/skills/deploy/outcomes",
			object{"user_id": "ada", "workflow": "make 发布", "success": success, "note": "so", "id": fmt.Sprint("run ", n)},
			200)
	}
	s.call("POST", "/v1/skills/deploy/outcomes",
		object{"user_id": "ada", "agent_id": "butler", "workflow": "by hand", "success": false}, 200)
	return 9 // the three cities, the job, the workflow that worked, and the summary and messages of the conversation
}

// answersAlike compares two servers' answers about everything except memories.
func (s *server) answersAlike(other *server) {
	s.t.Helper()
	for _, path := range []string{
		"/v1/facts?user_id=ada", "/v1/facts?user_id=ada&at=2021-06-01T00:00:00Z",
		"/v1/facts/history?user_id=ada&type=profile&key=home_city", "/v1/facts/history?user_id=ada&type=profile&key=job",
		"/v1/instructions?scope=user&user_id=ada", "/v1/instructions?scope=app",
		"/v1/instructions/merged?user_id=ada&agent_id=butler", "/v1/instructions/tone/versions?scope=agent&agent_id=butler",
		"/v1/skills?user_id=ada", "/v1/skills/deploy?user_id=ada",
		"/v1/conversations?user_id=ada", "/v1/conversations/trip?user_id=ada", "/v1/conversations/trip/working?user_id=ada",
		"/v1/conversations/trip/consolidations?user_id=ada",
	} {
		if one, two := s.call("GET", path, nil, 200).raw, other.call("GET", path, nil, 200).raw; one != two {
			s.t.Errorf("%s: the answers differ:\n%s\n%s", path, one, two)
		}
	}
}

func exportedBody(t *testing.T, file string) string {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(raw), "\n")
	return rest
}

// carried is the output of an import of n memories and the data of rememberOthers.
func carried(format string, n int) string {
	text := fmt.Sprintf(format, n, "memories")
	for _, other := range []struct {
		n    int
		kind string
	}{
		{6, "facts"}, {3, "instructions"}, {6, "instruction versions"}, {2, "skills"}, {3, "outcomes"},
		{1, "conversations"}, {2, "turns"}, {2, "consolidations"},
	} {
		text += fmt.Sprintf(format, other.n, other.kind)
	}
	return text
}

// Data that is exported from one size, imported into another and exported again has the
// same text, with embeddings and without.
func TestExchange_RoundTripIsExact(t *testing.T) {
	t.Parallel()
	for _, way := range [][2]size{{sizes[0], sizes[1]}, {sizes[1], sizes[0]}, {sizes[2], sizes[0]}, {sizes[0], sizes[2]}} {
		from, to := way[0], way[1]
		t.Run(from.name+" to "+to.name, func(t *testing.T) {
			t.Parallel()
			models := llmtest.New(t)
			a := start(
				t,
				append(
					from.settings(t),
					append(withModels(models), "HIPPOCAMPUS_REFLECTION_IMPORTANCE=100")...)...)
			n := a.remember(models)
			dir := t.TempDir()
			for _, flags := range [][]string{{"--embeddings"}, {}} {
				b := start(t, append(to.settings(t), withModels(models)...)...)
				first, second := filepath.Join(dir, "first"), filepath.Join(dir, "second")
				want := fmt.Sprintf("exported %d memories, 6 facts, 3 instructions, 6 instruction versions, 2 skills, "+
					"3 outcomes, 1 conversations, 2 turns, 2 consolidations to %s\n", n, first)
				if out, err := a.carry(adminKey, append([]string{"export", first}, flags...)...); err != nil || out != want {
					t.Fatalf("export: %s %v", out, err)
				}
				if out, err := b.carry(adminKey, "import", first); err != nil ||
					out != carried("imported %d %s, skipped 0 that were there already\n", n) {
					t.Fatalf("import: %s %v", out, err)
				}
				if out, err := b.carry(adminKey, append([]string{"export", second}, flags...)...); err != nil {
					t.Fatalf("export again: %s %v", out, err)
				}
				one, two := exportedBody(t, first), exportedBody(t, second)
				if one != two {
					t.Errorf("%v: the round trip differs:\n%s\n%s", flags, one, two)
				}
				for _, part := range []string{
					`"superseded_by"`, `"consolidated"`, `"forgotten"`, `"pinned":true`, `"derived_from"`, `"contradicts"`,
					`"access_count":1`, `.000003Z"`, "绿茶", `<b>`, `"fact":`, `"told":true`, `"ended"`, `"refused"`,
					`"before":[`, `"outcome":`, `"mentioned_me":true`, `"deep_reflection"`,
				} {
					if !strings.Contains(one, part) {
						t.Errorf("%s is not in the export: %s", part, one)
					}
				}
				a.answersAlike(b)
				b.storesEqual(scripted, "ada", "%E7%94%A8%E6%88%B7%2F1")
				if out, err := b.carry(adminKey, "import", first); err != nil ||
					out != carried("imported 0 %[2]s, skipped %[1]d that were there already\n", n) {
					t.Errorf("import again: %s %v", out, err)
				}
			}
			if _, err := os.Stat(filepath.Join(dir, "first.part")); !os.IsNotExist(err) {
				t.Errorf("a part is left behind: %v", err)
			}
		})
	}
}

// Each failure is reported in one line that names the cause.
func TestExchange_ReportsFailures(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.call("POST", "/v1/memories", object{"user_id": "ada", "content": "a fact"}, 201)
	dir := t.TempDir()
	file := filepath.Join(dir, "out")
	if out, err := s.carry(s.createKey("--role", "read"), "export", "--user", "ada"); err != nil ||
		strings.Count(out, "\n") != 3 {
		t.Errorf("to stdout: %s %v", out, err)
	}
	if out, err := s.carry(adminKey, "export", file); err != nil {
		t.Fatalf("%s %v", out, err)
	}
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(dir, "cut")
	changed := filepath.Join(dir, "changed")
	for name, text := range map[string]string{
		cut: string(whole[:len(whole)-30]), changed: strings.Replace(string(whole), "a fact", "a lie", 1),
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	broken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write(whole[:len(whole)/2])
		if r.URL.Query().Get("user_id") == "others" {
			_, _ = w.Write([]byte("\n" + `{"error":"A part of the server is away."}` + "\n"))
		}
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}))
	defer broken.Close()
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()

	for _, c := range []struct {
		key, url, want string
		args           []string
	}{
		{adminKey, "http://127.0.0.1:1", "check that the server runs", []string{"export", file}},
		{adminKey, "http://127.0.0.1:1", "check that the server runs", []string{"import", file}},
		{adminKey, "localhost", "not an address", []string{"export", file}},
		{adminKey, other.URL, "is not a Hippocampus server", []string{"export", file}},
		{adminKey, other.URL, "is not a Hippocampus server", []string{"import", file}},
		{"", s.url, "HIPPOCAMPUS_KEY", []string{"export", file}},
		{"wrong", s.url, "HIPPOCAMPUS_KEY", []string{"import", file}},
		{s.createKey("--role", "write"), s.url, "role admin", []string{"import", file}},
		{adminKey, broken.URL, "broke off", []string{"export", file}},
		{adminKey, broken.URL, "A part of the server is away", []string{"export", "--user", "others", file}},
		{adminKey, s.url, "no such file", []string{"import", filepath.Join(dir, "nowhere")}},
		{adminKey, s.url, "is not an export", []string{"import", "/dev/null"}},
		{adminKey, s.url, "no such file", []string{"export", filepath.Join(dir, "no", "folder")}},
	} {
		out, err := s.carryTo(c.url, c.key, c.args...)
		if err == nil || strings.Count(out, "\n") != 1 || !strings.Contains(out, c.want) {
			t.Errorf("%v at %s: %q %v, want %q", c.args, c.url, out, err, c.want)
		}
	}
	if now, err := os.ReadFile(file); err != nil || string(now) != string(whole) {
		t.Errorf("a failed export has changed the file: %v", err)
	}
	if out, err := s.carry(adminKey, "import", cut); err == nil || !strings.Contains(out, "line 2: ") ||
		!strings.Contains(out, "1 of 2 lines failed") {
		t.Errorf("a file that is cut: %s %v", out, err)
	}
	if out, err := s.carry(adminKey, "import", changed); err == nil || !strings.Contains(out, "line 2: ") ||
		!strings.Contains(out, "differs in content") {
		t.Errorf("a file that is changed: %s %v", out, err)
	}
}
