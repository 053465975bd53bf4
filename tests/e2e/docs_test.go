package e2e

import (
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"unicode"

	"hippocampus/server/site"
)

var (
	// serveLine matches a line that starts the server of a page, with settings from the environment and flags.
	serveLine = regexp.MustCompile(`^((?:[A-Z_]+=\S+ )*)(?:hippocampus|go run \./cmd/hippocampus) serve\b([^#]*)`)
	// commandLine matches the beginning of a block that should be fenced as sh.
	commandLine = regexp.MustCompile(
		`(?m)^(?:\$ |[A-Z_]+=\S+ )?(?:hippocampus [a-z]|curl -|go (?:run|test|install) |scripts/|\./scripts/|docker |` +
			`helm |kubectl |systemctl |npm |pip )`)
	leastRun = regexp.MustCompile(`at least (\d+) blocks of commands`)
)

// The commands of README.md and of the pages below docs work on the built server with SQLite. A block that cannot be
// run names a reason of site.Needs, as in "sh needs=postgres". docs/testing.md states how many blocks are run at least.
func TestDocs_CommandsWork(t *testing.T) {
	t.Parallel()
	stated := leastRun.FindStringSubmatch(readPage(t, "docs/testing.md"))
	if stated == nil {
		t.Fatal("docs/testing.md does not state how many blocks are run")
	}
	var ran, marked atomic.Int64
	t.Cleanup(func() {
		t.Logf("%d blocks were run, and %d are marked with a reason not to", ran.Load(), marked.Load())
		if least, _ := strconv.Atoi(stated[1]); int(ran.Load()) < least && !t.Failed() {
			t.Errorf("%d blocks were run, docs/testing.md states at least %d", ran.Load(), least)
		}
	})
	for _, name := range docPages(t) {
		commands := commandsOf(t, name)
		run := slices.DeleteFunc(slices.Clone(commands), func(b site.Block) bool { return b.Needs != "" })
		marked.Add(int64(len(commands) - len(run)))
		if len(run) == 0 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPage(t)
			if !slices.ContainsFunc(run, func(b site.Block) bool { return serveLine.MatchString(b.Text) }) {
				p.serve("", "")
			}
			for _, b := range run {
				p.run(b.Text)
				ran.Add(1)
			}
		})
	}
}

// docPages returns README.md, README.zh.md and the pages below docs, from the repository's folder.
func docPages(t *testing.T) []string {
	t.Helper()
	names := []string{"README.md", "README.zh.md"}
	err := filepath.WalkDir("../../docs", func(path string, _ fs.DirEntry, err error) error {
		if filepath.Ext(path) == ".md" {
			names = append(names, strings.TrimPrefix(filepath.ToSlash(path), "../../"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func readPage(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// commandsOf returns the blocks of commands of a page, and fails for commands that are not fenced as such.
func commandsOf(t *testing.T, name string) (commands []site.Block) {
	t.Helper()
	for _, b := range site.Blocks([]byte(readPage(t, name))) {
		switch {
		case b.Language == "sh" && (b.Needs == "" || site.Needs[b.Needs] != ""):
			commands = append(commands, b)
		case b.Language == "sh":
			t.Errorf("%s: %q is no reason not to run a block: use one of %q", name, b.Needs,
				slices.Sorted(maps.Keys(site.Needs)))
		case slices.Contains([]string{"", "bash", "console", "shell"}, b.Language) && commandLine.MatchString(b.Text):
			t.Errorf("%s: fence these commands as sh, or as sh needs=REASON:\n%s", name, b.Text)
		}
	}
	return commands
}

// docPage is a folder in which the commands of one page are run, with a server of its own.
type docPage struct {
	t   *testing.T
	dir string
	s   *server // nil until the page starts it
	env []string

	settings []string // of every server of the page
}

// newPage makes a folder with the files that commands expect in the repository's folder.
func newPage(t *testing.T) *docPage {
	t.Helper()
	p := &docPage{t: t, dir: t.TempDir()}
	for _, name := range []string{"docs", "examples", "deploy", "scripts"} {
		target, err := filepath.Abs(filepath.Join("../..", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, filepath.Join(p.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	p.env = []string{
		"PATH=" + filepath.Dir(binary) + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + p.dir,
		"GOCACHE=" + goEnv(t, "GOCACHE"), "GOMODCACHE=" + goEnv(t, "GOMODCACHE"), "HIPPOCAMPUS_USER=ada",
	}
	p.env = append(p.env, clockEnv()...)
	return p
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// run runs the lines of a block. A line that starts a server starts the page's server, in place of the running one.
func (p *docPage) run(text string) {
	p.t.Helper()
	var script strings.Builder
	for line := range strings.Lines(text) {
		if m := serveLine.FindStringSubmatch(line); m != nil {
			p.bash(script.String())
			script.Reset()
			p.serve(m[1], m[2])
			continue
		}
		script.WriteString(line)
	}
	p.bash(script.String())
}

// serve starts the server with assignments such as "A=b " and flags such as " --dev --set a.b=c".
func (p *docPage) serve(assignments, flags string) {
	p.t.Helper()
	env := slices.Concat(patient, p.settings, strings.Fields(assignments))
	key := "HIPPOCAMPUS_ADMIN_KEY=" + adminKey
	words := flagsOf(flags)
	for i, word := range words {
		switch word {
		case "--dev":
			key = "HIPPOCAMPUS_DEV=true"
		case "--set":
			name, value, _ := strings.Cut(words[i+1], "=")
			env = append(env, "HIPPOCAMPUS_"+strings.ToUpper(strings.ReplaceAll(name, ".", "_"))+"="+value)
		}
	}
	if p.s != nil {
		p.s.stop()
	}
	p.s = &server{t: p.t, env: append(env, key), dir: p.dir, program: binary, listen: newAddress(p.t)}
	p.s.run()
	p.t.Cleanup(p.s.kill)
}

// bash runs a script, in which a refused request of curl is an error. The address of the page's server is replaced by
// that of the test's server.
func (p *docPage) bash(script string) {
	p.t.Helper()
	if strings.TrimSpace(script) == "" {
		return
	}
	if p.s == nil {
		p.t.Fatalf("the page starts its server after this:\n%s", script)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		p.t.Fatal(err)
	}
	address := strings.TrimPrefix(p.s.url, "http://")
	script = strings.NewReplacer("localhost:8080", address, "127.0.0.1:8080", address,
		"go run ./cmd/hippocampus", "hippocampus", "go run ./", "go run -C "+root+" ./").Replace(script)
	const strict = "set -eo pipefail\ncurl() { command curl --fail-with-body \"$@\"; }\n"
	cmd := exec.CommandContext(p.t.Context(), "bash", "-c", strict+script)
	cmd.Dir = p.dir
	cmd.Env = append(slices.Clone(p.env), "HIPPOCAMPUS_URL="+p.s.url, "HIPPOCAMPUS_KEY="+adminKey)
	if out, err := cmd.CombinedOutput(); err != nil {
		p.t.Errorf("%v:\n%s\n%s", err, script, out)
	}
}

// scripts/publish-docs commits the pages to a branch, once for each content, and leaves the working tree alone.
func TestPublishDocs_CommitsThePagesToABranch(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	script, err := filepath.Abs("../../scripts/publish-docs")
	if err != nil {
		t.Fatal(err)
	}
	command := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "HIPPOCAMPUS="+binary, "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com",
			"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %q: %v: %s", name, args, err, out)
		}
		return string(out)
	}
	command("git", "init", "--quiet")
	command("git", "commit", "--quiet", "--allow-empty", "-m", "first")
	command(script, "--branch", "pages")
	if out := command(script, "--branch", "pages"); !strings.Contains(out, "already") {
		t.Errorf("the same pages again: %s", out)
	}
	if log := command("git", "log", "--oneline", "pages"); strings.Count(log, "\n") != 1 {
		t.Errorf("the branch has the commits %s", log)
	}
	if page := command("git", "show", "pages:index.html"); !strings.Contains(page, "<h1 id=\"documentation\">") {
		t.Errorf("the branch has another front page: %.200s", page)
	}
	if status := command("git", "status", "--porcelain"); status != "" {
		t.Errorf("the working tree has changed: %s", status)
	}
}

// flagsOf splits flags at spaces that are not between single quotes.
func flagsOf(flags string) (fields []string) {
	quoted := false
	for _, f := range strings.FieldsFunc(flags, func(r rune) bool {
		quoted = quoted != (r == '\'')
		return unicode.IsSpace(r) && !quoted
	}) {
		fields = append(fields, strings.ReplaceAll(f, "'", ""))
	}
	return fields
}
