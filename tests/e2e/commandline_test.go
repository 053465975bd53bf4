package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// shell runs command lines like a person who uses a server.
type shell struct {
	t   *testing.T
	env []string
	dir string // working directory and home
}

// shell returns a shell for the user ada, with the program in its PATH and lines of 80 columns.
func (s *server) shell(t *testing.T) *shell {
	t.Helper()
	dir := t.TempDir()
	return &shell{t: t, dir: dir, env: []string{
		"PATH=" + filepath.Dir(binary) + ":" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + dir, "TZ=UTC", "COLUMNS=80",
		"E2E_AHEAD=" + ahead.String(), "GOGC=" + os.Getenv("GOGC"),
		"HIPPOCAMPUS_URL=" + s.url, "HIPPOCAMPUS_KEY=" + s.key, "HIPPOCAMPUS_USER=ada",
	}}
}

// with returns the shell with more variables.
func (sh *shell) with(env ...string) *shell {
	other := *sh
	other.env = append(append([]string{}, sh.env...), env...)
	return &other
}

// run runs a line and returns its exit code and what it prints.
func (sh *shell) run(line string) (code int, out, errOut string) {
	sh.t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(sh.t.Context(), "sh", "-c", line)
	cmd.Dir, cmd.Env = sh.dir, sh.env
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		sh.t.Fatalf("%s: %v", line, err)
	}
	return cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()
}

// want runs a line, expects an exit code, and returns standard output.
func (sh *shell) want(code int, line string) string {
	sh.t.Helper()
	got, out, errOut := sh.run(line)
	if got != code {
		sh.t.Fatalf("%s: exit %d, want %d: %s%s", line, got, code, out, errOut)
	}
	return out
}

// refuses runs a line and expects an exit code and one line on standard error with a text.
func (sh *shell) refuses(code int, text, line string) {
	sh.t.Helper()
	got, out, errOut := sh.run(line)
	if got != code || out != "" || strings.Count(errOut, "\n") != 1 || !strings.Contains(errOut, text) {
		sh.t.Errorf("%s: exit %d, stdout %q, stderr %q, want %d with %q", line, got, out, errOut, code, text)
	}
}

// The commands print what testdata/commandline shows: tables of 80 columns with Chinese, colours, JSON, and errors.
// A line of a transcript that begins with "$ " is a command; "! " marks standard error. HIPPOCAMPUS_TEST_UPDATE=1
// writes the transcripts again.
func TestCommandLine_PrintsTheTranscripts(t *testing.T) {
	t.Parallel()
	s := start(t, "HIPPOCAMPUS_FORGETTING_CLOCK=wall", "HIPPOCAMPUS_FORGETTING_KEEP_TYPES=none")
	sh, names := s.shell(t), []string{}
	seed := func(name string, age time.Duration, memory object) {
		memory["user_id"], memory["at"] = "ada", now().Add(-age).UTC().Format(time.RFC3339)
		id := s.call("POST", "/v1/memories", memory, 201).body["id"].(string)
		sh.env = append(sh.env, name+"="+id)
		short := fmt.Sprintf("%08d", len(names)/4+1)
		names = append(names, id, "00000000-0000-0000-0000-0000"+short, id[len(id)-8:], short)
	}
	const day = 24 * time.Hour
	seed("HOME_ID", 400*day, object{"content": "Lives in Lisbon.", "importance": 0.8})
	seed("PEANUTS", 40*day, object{
		"content": "Is allergic to peanuts.", "importance": 0.9, "pinned": true, "tags": []string{"health"},
	})
	seed("CHINESE", 3*day, object{
		"content": "在杭州的一所小学教语文，养了一只叫年糕的猫，最近每周三晚上都去学游泳。", "type": "preference",
	})
	seed("HOSTILE", 2*day, object{
		"content": "Likes \x1b[31mred\x1b[0m\nand\u202e long, winding, never ending sentences that no table has room for.",
	})
	sh.env = append(sh.env, "LAST_MONTH="+now().Add(-40*day).UTC().Format(time.DateOnly))
	edited := object{"content": "Lives in Porto.", "tags": []string{"home"}}
	s.call("PATCH", "/v1/memories/"+names[0], edited, 200)
	s.stop()
	s.alter("UPDATE agent_memories SET updated_at = created_at") // as if each had been written and changed at its date
	s.run()
	hide := hiding(names)
	for _, name := range []string{"read", "errors", "change"} {
		path := filepath.Join("testdata", "commandline", name+".txt")
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		got := sh.play(string(raw), hide)
		if os.Getenv("HIPPOCAMPUS_TEST_UPDATE") != "" {
			if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(strings.Split(string(raw), "\n"), strings.Split(got, "\n")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
}

// play runs the commands of a transcript and returns it with what they print now. hide replaces what differs between
// runs.
func (sh *shell) play(transcript string, hide func(string) string) string {
	sh.t.Helper()
	var got strings.Builder
	for line := range strings.Lines(transcript) {
		line = strings.TrimSuffix(line, "\n")
		command, isCommand := strings.CutPrefix(line, "$ ")
		if strings.HasPrefix(line, "# ") {
			got.WriteString(line + "\n")
		}
		if !isCommand {
			continue
		}
		code, out, errOut := sh.run(command)
		fmt.Fprintf(&got, "%s\n%s", line, hide(out))
		for note := range strings.Lines(hide(errOut)) {
			got.WriteString("! " + note)
		}
		if code != 0 {
			fmt.Fprintf(&got, "(exit %d)\n", code)
		}
		got.WriteString("\n")
	}
	return got.String()
}

// hiding returns a function that replaces what differs between runs by text of the same width.
func hiding(ids []string) func(string) string {
	known := strings.NewReplacer(append(ids, "\x1b", "^", "\u202e", "<202E>", "own_write, ", "", `"own_write",`, "")...)
	shapes := []struct{ pattern, with string }{
		{`\d{4}-\d\d-\d\dT[\d:.]+Z`, "TIME"},
		{`\d{4}-\d\d-\d\d \d\d:\d\d`, "YYYY-MM-DD hh:mm"},
		{`\d{4}-\d\d-\d\d`, "YYYY-MM-DD"},
		{`YYYY-MM-DD hh:mm:\d\d`, "YYYY-MM-DD hh:mm:ss"},
		{`\d+\.\d+ ms`, "N ms"},
		{`("took_ms":)[\d.]+`, "${1}N"},
		{`127\.0\.0\.1:\d+`, "HOST:PORT"},
		{`\d+ (second|minute)s? ago`, "now"},
		{`[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`, "ID"},
	}
	return func(text string) string {
		text = known.Replace(text)
		for _, s := range shapes {
			text = regexp.MustCompile(s.pattern).ReplaceAllString(text, s.with)
		}
		return text
	}
}

// The commands change and find memories on every size.
func TestCommandLine_WorksOnEverySize(t *testing.T) {
	onMainSizes(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		sh := s.shell(t)
		sh.want(0, `hippocampus remember "Plays the cello in a quartet."`)
		if out := sh.want(0, `hippocampus recall "cello quartet" --limit 1`); !strings.Contains(out, "Plays the cello") {
			t.Errorf("recall prints %s", out)
		}
		sh.want(0, `printf 'Likes tea.\n\nHas a cat.\n' | hippocampus remember -`)
		all := sh.want(0, `hippocampus list --all --json`)
		id := regexp.MustCompile(`"id":"([^"]+)"`).FindStringSubmatch(all)
		if strings.Count(all, "\n") != 3 || id == nil {
			t.Fatalf("list prints %s", all)
		}
		sh.want(0, "hippocampus forget --yes "+id[1])
		if left := sh.want(0, `hippocampus list --json`); strings.Count(left, "\n") != 2 {
			t.Errorf("after forgetting, list prints %s", left)
		}
		sh.want(0, "hippocampus restore "+id[1])

		sh.want(0, `hippocampus remember "Has a dentist appointment." --expires 2020-01-31T08:00:00Z`)
		sh.refuses(2, "give the last day", `hippocampus remember "Has an appointment." --expires May`)
		listed := sh.want(0, `hippocampus list`)
		if !regexp.MustCompile(`ENDS.*\n.* years ago +Has a dentist`).MatchString(listed) {
			t.Errorf("list prints %s", listed)
		}
		newest := strings.Fields(strings.Split(listed, "\n")[1])[0]
		if one := sh.want(0, "hippocampus show "+newest); !strings.Contains(one, "ended ") {
			t.Errorf("show prints %s", one)
		}
		if counted := sh.want(0, `hippocampus stats`); !strings.Contains(counted, "1 with an end, 1 ended") {
			t.Errorf("stats prints %s", counted)
		}
	})
}
