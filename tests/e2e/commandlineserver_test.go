package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
)

// login stores a server and a key that the server accepts, for the user of this machine alone.
func TestLogin_StoresAKeyThatTheServerAccepts(t *testing.T) {
	t.Parallel()
	s := start(t)
	sh := s.shell(t).with("HIPPOCAMPUS_URL=", "HIPPOCAMPUS_KEY=", "HIPPOCAMPUS_USER=")
	if err := os.WriteFile(filepath.Join(sh.dir, "key"), []byte(s.key+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(sh.dir, ".config/hippocampus/logins.json")
	sh.refuses(4, "the key of this login was sent", "echo wrong-key-0123456789 | hippocampus login --url "+s.url)
	sh.refuses(5, "no answer from", "echo key | hippocampus login --url http://127.0.0.1:1")
	sh.refuses(2, "give --url", "hippocampus login")
	if _, err := os.Stat(file); err == nil {
		t.Error("a refused key is stored")
	}
	sh.want(0, "hippocampus login --key-file key --user ada --url "+s.url+"/")
	for path, mode := range map[string]os.FileMode{file: 0o600, filepath.Dir(file): 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s has %v, want %v: %v", path, info.Mode().Perm(), mode, err)
		}
	}
	sh.want(0, `hippocampus remember "Likes tea."`)
	sh.want(0, "hippocampus export - | grep tea")

	bound := s.createKey("--role", "read", "--user", "ben")
	sh.refuses(4, "name the user with --user", "echo "+bound+" | hippocampus login work --url "+s.url)
	sh.want(0, "echo "+bound+" | hippocampus login work --user ben --url "+s.url)
	if list := sh.want(0, "hippocampus login --list"); strings.Contains(list, bound) ||
		!regexp.MustCompile(`(?m)^work +\S+ +ben +default$`).MatchString(list) {
		t.Errorf("the logins are listed as %s", list)
	}
	sh.want(0, "hippocampus list")
	sh.refuses(4, "refuses", "hippocampus remember No")
	sh.want(0, `hippocampus list --login default --json | grep tea`)
	sh.want(0, `HIPPOCAMPUS_LOGIN=default hippocampus list --json | grep tea`)
	if offered := sh.want(0, "hippocampus __complete list --login '' 2>/dev/null"); offered != "default\nwork\n:4\n" {
		t.Errorf("--login is completed by %q", offered)
	}
	sh.want(0, "hippocampus logout work")
	sh.want(0, "hippocampus list --json | grep tea")
	sh.want(0, "hippocampus logout")
	sh.refuses(2, `there is no login`, "hippocampus logout")
	if raw, err := os.ReadFile(file); err != nil || strings.Contains(string(raw), s.key) {
		t.Errorf("after the logouts the file is %s: %v", raw, err)
	}
}

// A key of a login goes to the server of that login alone.
func TestLogin_KeepsItsKeyFromOtherServers(t *testing.T) {
	t.Parallel()
	s := start(t)
	sent := atomic.Value{}
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent.Store(r.Header.Get("Authorization"))
		http.Redirect(w, r, "http://localhost:1"+r.URL.Path, http.StatusTemporaryRedirect)
	}))
	defer other.Close()
	sh := s.shell(t).with("HIPPOCAMPUS_URL=")
	sh.want(0, "hippocampus login --url "+s.url)
	sh = sh.with("HIPPOCAMPUS_KEY=")
	sh.want(0, "hippocampus users --url "+s.url)
	sh.refuses(5, "it redirects to localhost:1", "hippocampus users --url "+other.URL)
	if sent.Load() != "" {
		t.Errorf("another server got %q", sent.Load())
	}
}

// A command on the folder of --data gives the same answers as a server on that folder, and refuses while a server uses
// it.
func TestCommandLine_OnAFolderAnswersAsAServer(t *testing.T) {
	t.Parallel()
	s := start(t)
	sh := s.shell(t)
	sh.want(0, `hippocampus remember "Lives in Lisbon."`)
	sh.want(0, `hippocampus remember "Plays the cello."`)
	commands := []string{
		"recall cello --touch=false --at 2030-01-01 --json", "context cello --touch=false --at 2030-01-01 --json",
		"list --json", "users --json", "facts", "profile --json", "zone", "tail --after 0 --count 2 --json",
	}
	hide := hiding(nil)
	served := map[string]string{}
	for _, command := range commands {
		served[command] = hide(sh.want(0, "hippocampus "+command))
	}
	folder := " --data " + filepath.Join(s.dir, "data")
	sh.refuses(1, "a server or another command uses the data folder", "hippocampus list"+folder)
	s.stop()
	for _, command := range commands {
		if got := hide(sh.want(0, "hippocampus "+command+folder)); got != served[command] {
			t.Errorf("%s prints\n%s, a server\n%s", command, got, served[command])
		}
	}
	sh.want(0, `hippocampus remember "Likes tea."`+folder)
	sh.want(0, "hippocampus export all.ndjson"+folder)
	sh.want(0, "hippocampus import all.ndjson --data copy")
	sh.want(0, "hippocampus list --data copy | grep 'Plays the cello.'")
	sh.want(1, "hippocampus import none.ndjson --data none || test -e none") // it makes no folder
	s.run()
	sh.with("HIPPOCAMPUS_URL="+s.address()).want(0, "hippocampus recall tea --include facts | grep 'Likes tea.'")
}

// tail continues after the last event when the server runs again, and prints each event once.
func TestTail_ResumesAfterARestart(t *testing.T) {
	t.Parallel()
	s := start(t)
	sh := s.shell(t)
	tail := exec.CommandContext(t.Context(), binary, "tail", "--after", "0", "--kind", "memory.written", "--json")
	printed := &server{t: t} // for its output
	tail.Dir, tail.Env = sh.dir, sh.env
	tail.Stdout = printed
	if err := tail.Start(); err != nil {
		t.Fatal(err)
	}
	shows := func(content string) {
		t.Helper()
		eventually(t, "tail printing "+content, func() string {
			if text := printed.printed(); strings.Count(text, content) != 1 {
				return fmt.Sprintf("it printed %q", text)
			}
			return ""
		})
	}
	sh.want(0, "hippocampus remember first")
	shows("first")
	s.kill()
	s.run()
	sh.want(0, "hippocampus remember second")
	shows("second")
	shows("first")
	if err := tail.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := tail.Wait(); err != nil {
		t.Errorf("an interrupted tail ends with %v", err)
	}
}
