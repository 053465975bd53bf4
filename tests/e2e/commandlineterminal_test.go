package e2e

import (
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
)

// typed runs a command on a terminal of a width, types each answer when the terminal shows its question, and returns
// the exit code and what the terminal showed.
func (sh *shell) typed(width uint16, line string, dialog ...string) (code int, shown string) {
	sh.t.Helper()
	cmd := exec.CommandContext(sh.t.Context(), "sh", "-c", line)
	cmd.Dir, cmd.Env = sh.dir, sh.with("COLUMNS=", "TERM=xterm").env
	screen, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: width})
	if err != nil {
		sh.t.Fatal(err)
	}
	defer screen.Close()
	var text strings.Builder
	for part := make([]byte, 4096); ; {
		n, err := screen.Read(part)
		text.Write(part[:n])
		if len(dialog) > 0 && strings.Contains(text.String(), dialog[0]) {
			if _, err := io.WriteString(screen, dialog[1]+"\n"); err != nil {
				sh.t.Fatal(err)
			}
			dialog = dialog[2:]
		}
		if err != nil { // EIO: the command has ended
			break
		}
	}
	_ = cmd.Wait() // the exit code is read below
	if len(dialog) > 0 {
		sh.t.Errorf("%s does not ask %q: %s", line, dialog[0], text.String())
	}
	return cmd.ProcessState.ExitCode(), text.String()
}

// A terminal gets colours, lines of its width and questions.
func TestCommandLine_OnATerminal(t *testing.T) {
	t.Parallel()
	s := start(t)
	sh := s.shell(t)
	long := strings.Repeat("A sentence without an end ", 10)
	id := s.call("POST", "/v1/memories", object{"user_id": "ada", "content": long}, 201).body["id"].(string)

	code, shown := sh.typed(60, "hippocampus list")
	lines := strings.Split(strings.TrimSpace(shown), "\r\n")
	if code != 0 || len(lines) != 2 || !strings.Contains(lines[1], "\x1b[36m"+id[len(id)-8:]) {
		t.Fatalf("exit %d: %q", code, shown)
	}
	if _, shown = sh.with("NO_COLOR=1").typed(60, "hippocampus list"); strings.Contains(shown, "\x1b") {
		t.Errorf("NO_COLOR shows %q", shown)
	}
	if row := strings.Split(shown, "\r\n")[1]; len([]rune(row)) != 60 || !strings.HasSuffix(row, "…") {
		t.Errorf("the row %q does not end at the edge", row)
	}

	code, shown = sh.typed(80, "hippocampus forget "+id, "Forget 1 memory? [y/N] ", "n")
	if code != 0 || !strings.Contains(shown, "Nothing was changed.") || len(s.active("ada")) != 1 {
		t.Errorf("no: exit %d: %q", code, shown)
	}
	code, shown = sh.typed(80, "hippocampus forget "+id, "[y/N] ", "y")
	if code != 0 || !strings.Contains(shown, "forgot 1 memory") || len(s.active("ada")) != 0 {
		t.Errorf("yes: exit %d: %q", code, shown)
	}

	sh = sh.with("HIPPOCAMPUS_URL=", "HIPPOCAMPUS_KEY=")
	code, shown = sh.typed(80, "hippocampus login --user ada", "URL of the server", s.url, "API key", s.key)
	if code != 0 || strings.Contains(shown, s.key) || !strings.Contains(shown, "logged in to "+s.url) {
		t.Errorf("login: exit %d: %q", code, shown)
	}
	sh.want(0, "hippocampus list --status forgotten --json | grep "+id)
	code, shown = sh.typed(80, "hippocampus login other --url "+s.url, "API key", "e2e-\x03")
	if code != 1 || strings.Contains(shown, "e2e-") || !strings.Contains(shown, "interrupted") {
		t.Errorf("an interrupted login: exit %d: %q", code, shown)
	}
}

// demo explains each stage in English and Chinese within a minute, and leaves nothing behind.
func TestDemo_LeavesNothingBehind(t *testing.T) {
	t.Parallel()
	s := start(t)
	sh := s.shell(t)
	for language, texts := range map[string][]string{
		"en": {
			"Ada says: I live in Lisbon", "kept 0.85  I live in Lisbon.", "below_threshold 0.40  I might buy a boat",
			"1  My partner Tom is allergic", "it contradicts and replaces", "superseded  I live in Lisbon.",
			"1  I moved to Porto last week.", "has faded", "forgotten ", "active ", "   | - My partner Tom", "are removed",
		},
		"zh": {
			"林晓说: 我住在上海", "kept 0.85  我住在上海。", "below_threshold 0.40  我可能会买一条船。", "1  我对花生过敏",
			"superseded  我住在上海。", "1  我上周搬到杭州住了。", "has faded", "forgotten ", "active ", "已经删除",
		},
	} {
		// A database and a model of the environment are not used.
		began := time.Now()
		out := sh.with("DATABASE_URL=postgres://nowhere.invalid/db", "MILVUS_HOST=nowhere.invalid",
			"DEEPSEEK_API_KEY=wrong").want(0, "hippocampus demo --lang "+language)
		if took := time.Since(began); took > time.Minute {
			t.Errorf("%s takes %s", language, took)
		}
		for _, text := range texts {
			if !strings.Contains(out, text) {
				t.Errorf("%s lacks %q:\n%s", language, text, out)
			}
		}
	}
	out := sh.want(0, "hippocampus demo --url $HIPPOCAMPUS_URL")
	if !strings.Contains(out, "is erased from the server") {
		t.Errorf("on a server it prints %s", out)
	}
	if users := sh.want(0, "hippocampus users --json"); users != "" {
		t.Errorf("the server has the users %s", users)
	}
	key := s.createKey("--role", "write")
	sh.with("HIPPOCAMPUS_KEY="+key).refuses(4, "needs an admin key", "hippocampus demo --url $HIPPOCAMPUS_URL")
	if code, shown := sh.typed(80, "exec hippocampus demo", "goes on", "\x03"); code != 1 ||
		!strings.Contains(shown, "interrupted") {
		t.Errorf("an interrupted demo exits with %d and shows %s", code, shown)
	}
	code, shown := sh.typed(80, "hippocampus demo",
		"goes on", "", "1. A turn", "", "2. The gate", "", "3. Recall", "", "4. Facts", "", "5. What", "")
	if code != 0 || !strings.Contains(shown, "are removed") {
		t.Errorf("with pauses it shows %s", shown)
	}
	left, err := filepath.Glob(filepath.Join(sh.dir, "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("the working directory has %v: %v", left, err)
	}
}
