package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	subcommand = regexp.MustCompile(`(?m)^ {2}([a-z-]+) +[A-Z].*$`)
	example    = regexp.MustCompile(`(?m)^ {2}(.*\bhippocampus .*)$`)
)

// helps returns the help of a command and of all commands below it, by command line, in the order of the help.
func (sh *shell) helps(command string, into map[string]string) (order []string) {
	sh.t.Helper()
	help := sh.want(0, command+" --help")
	into[command] = help
	order = append(order, command)
	listed, _, _ := strings.Cut(help, "\nFlags:")
	_, listed, _ = strings.Cut(listed, "\nUsage:")
	for _, m := range subcommand.FindAllStringSubmatch(listed, -1) {
		if m[1] != "help" {
			order = append(order, sh.helps(command+" "+m[1], into)...)
		}
	}
	return order
}

// Every command has a help with an example, and every example works.
func TestHelp_ItsExamplesWork(t *testing.T) {
	t.Parallel()
	s := start(t)
	sh := s.shell(t).with("HIPPOCAMPUS_DATA="+filepath.Join(s.dir, "data"),
		"HIPPOCAMPUS_LISTEN="+strings.TrimPrefix(s.url, "http://"))
	sh.prepareExamples(s)
	endless := regexp.MustCompile(`^hippocampus (serve|file watch)`)
	codes := map[string]int{ // of examples that are right and fail here
		"hippocampus turns undo 0198c0de-0000-7000-8000-000000000001": 3, // no such run
		"hippocampus key revoke 0198c0de-0000-7000-8000-000000000001": 1, // no such key
		"hippocampus undo 5a1fe2d9 --user ada":                        1, // a fact, which stands for no other memory
		"hippocampus partition --dry-run":                             1, // no Postgres
		"hippocampus partition --partitions 16":                       1,
	}
	helps, ran := map[string]string{}, 0
	for _, command := range sh.helps("hippocampus", helps) {
		_, text, _ := strings.Cut(helps[command], "\nExamples:\n")
		text, _, _ = strings.Cut(text, "\n\n")
		examples := example.FindAllStringSubmatch(text, -1)
		if len(examples) == 0 && !strings.HasPrefix(command, "hippocampus completion") {
			t.Errorf("%s --help has no example", command)
		}
		for _, m := range examples {
			line := m[1]
			if endless.MatchString(line) || command == "hippocampus" { // it would not end, or is an example of another command
				continue
			}
			ran++
			here := strings.NewReplacer("http://127.0.0.1:8080", s.url, "https://memory.example.com", s.url).Replace(line)
			code, out, errOut := sh.run(here)
			if code != codes[line] {
				t.Errorf("%s: exit %d, want %d: %s%s", line, code, codes[line], out, errOut)
			}
			if command == "hippocampus forget" {
				sh.want(0, "hippocampus restore 5a1fe2d9") // later examples name it too
			}
		}
	}
	if ran < 40 {
		t.Errorf("only %d examples were run", ran)
	}
}

// prepareExamples makes what the examples name: memories of ada, a fact, and files.
func (sh *shell) prepareExamples(s *server) {
	sh.t.Helper()
	s.call("POST", "/v1/memories", object{"user_id": "eve", "content": "Is afraid of spiders."}, 201)
	s.call("PUT", "/v1/facts", object{"user_id": "ada", "type": "profile", "key": "home_city", "value": "Lisbon"}, 200)
	s.call("POST", "/v1/turns", object{
		"user_id": "ada", "id": "chat-81-turn-7", "messages": []object{{"role": "user", "content": "Good morning."}},
	}, 202)
	for _, content := range []string{"Ada plans a trip to Kyoto.", "Ada flew to Kyoto.", "Ada ate well in Kyoto."} {
		s.call("POST", "/v1/memories", object{"user_id": "ada", "content": content}, 201)
	}
	s.call("POST", "/v1/users/ada/episodes", nil, 200)
	exported := sh.want(0, "hippocampus export - --user eve")
	memory := regexp.MustCompile(`"id":"([0-9a-f-]{36})","user_id"`).FindStringSubmatch(exported)
	if memory == nil {
		sh.t.Fatalf("the export is %s", exported)
	}
	named := strings.NewReplacer(memory[1], memory[1][:28]+"5a1fe2d9", `"eve"`, `"ada"`).Replace(exported)
	for name, text := range map[string]string{
		"named.ndjson": named, "key.txt": s.key,
		"chats.ndjson": `{"messages": [{"role": "user", "content": "Hello.", "at": "2026-01-31T22:30:00-08:00"}]}`,
		"chatgpt.zip": `[{"id": "c", "current_node": "a", "mapping": {"a": {"message":
			{"author": {"role": "user"}, "content": {"parts": ["Hello."]}}}}}]`,
		"handbook.md": "# Handbook\n\nDogs are welcome on the second floor.\n",
		"policy.yaml": "never:\n  terms: [diagnosis]\n",
		"mem0.json":   `{"results": [{"id": "1", "memory": "Likes jazz.", "user_id": "ada"}]}`,
	} {
		if err := os.WriteFile(filepath.Join(sh.dir, name), []byte(text), 0o600); err != nil {
			sh.t.Fatal(err)
		}
	}
	for range 3 { // so that there is a version 3
		s.call("PUT", "/v1/policy", object{"never": object{"terms": []string{"diagnosis"}}}, 200)
	}
	s.call("DELETE", "/v1/users/eve", nil, 200)
	sh.want(0, "hippocampus import named.ndjson")
	prompts, err := filepath.Abs("../../docs")
	if err != nil {
		sh.t.Fatal(err)
	}
	if err := os.Symlink(prompts, filepath.Join(sh.dir, "docs")); err != nil {
		sh.t.Fatal(err)
	}
}

// The shells accept the completion scripts, and users, ids and names are completed.
func TestCompletion_CompletesUsersAndIDs(t *testing.T) {
	t.Parallel()
	s := start(t)
	sh := s.shell(t)
	id := s.call("POST", "/v1/memories", object{"user_id": "ada", "content": "Likes tea."}, 201).body["id"].(string)
	turn := s.call("POST", "/v1/turns", object{
		"user_id": "ada", "at": "2026-01-31T08:00:00Z", "messages": []object{{"role": "user", "content": "Hello."}},
	}, 202).body["id"].(string)
	for name, check := range map[string]string{
		"bash": "bash -n", "zsh": "zsh -n", "fish": "fish --no-execute",
	} {
		sh.want(0, fmt.Sprintf("hippocampus completion %s > %s.sh", name, name))
		if _, err := exec.LookPath(name); err != nil {
			t.Fatalf("%v: install the shell, as .ci/run does", err)
		}
		sh.want(0, fmt.Sprintf("%s %s.sh", check, name))
		help := sh.want(0, "hippocampus completion "+name+" --help")
		if !strings.Contains(help, "hippocampus completion "+name) {
			t.Errorf("the help of %s has no installation: %s", name, help)
		}
	}
	// The completions that bash offers by its own script; the functions replace those of the package bash-completion.
	sh.want(0, `bash -c '_get_comp_words_by_ref() { words=(hippocampus rem); cword=1; cur=rem; prev=hippocampus; }
		__ltrim_colon_completions() { :; }; . ./bash.sh; COMP_TYPE=9; COMP_LINE="hippocampus rem"; COMP_POINT=15
		__start_hippocampus; [ "${COMPREPLY[*]}" = "remember " ] || [ "${COMPREPLY[*]}" = remember ]'`)
	for line, want := range map[string]string{
		"recall tea --user ''": "ada", "show ''": id + "\tLikes tea.", "withdraw ''": turn + "\t2026-01-31 08:00",
		"list --status ''":   "superseded",
		"remember --type ''": "preference", "tail --kind ''": "memory.forgotten", "demo --lang ''": "zh",
	} {
		offered := strings.Split(sh.want(0, "hippocampus __complete "+line+" 2>/dev/null"), "\n")
		if !slices.Contains(offered, want) {
			t.Errorf("%s is completed by %q, want %q", line, offered, want)
		}
	}
	// Without a server nothing is offered, and nothing disturbs the line.
	out := sh.want(0, "hippocampus __complete show '' --url http://127.0.0.1:1 2>/dev/null")
	if !strings.HasPrefix(out, ":") {
		t.Errorf("without a server: %q", out)
	}
}
