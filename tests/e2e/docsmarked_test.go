package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

var (
	// comment matches the end of a line of commands that explains the line.
	comment = regexp.MustCompile(`(?m)(^|\s)#.*$`)
	// separator matches a separator of commands.
	separator = regexp.MustCompile(`\n|&&|;|\s\|\s`)
	// assignment matches the beginning of a word that sets a variable of a command.
	assignment = regexp.MustCompile(`^\(?[A-Z_]+=`)
	flagWord   = regexp.MustCompile(`^--[a-z][a-z-]*`)
	// ownPath matches a word that names a file or folder of the repository.
	ownPath = regexp.MustCompile(`^\.?/?(?:cmd|console|deploy|docs|examples|ingest|scorer|scripts|tests|vectorstore)/\S+$`)
)

// Commands that no test runs are at least commands of bash, or of existing programs and scripts, with flags that these
// know.
func TestDocs_MarkedCommandsAreKnown(t *testing.T) {
	t.Parallel()
	c := checkedCommands{bench: sync.OnceValue(func() string { return buildBench(t) })}
	checked := 0
	for _, name := range docPages(t) {
		for _, b := range commandsOf(t, name) {
			if b.Needs == "" {
				continue
			}
			cmd := exec.CommandContext(t.Context(), "bash", "-n")
			cmd.Stdin = strings.NewReader(b.Text)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s: %v: %s\n%s", name, err, out, b.Text)
			}
			text := strings.ReplaceAll(comment.ReplaceAllString(b.Text, ""), "\\\n", " ")
			for _, command := range separator.Split(text, -1) {
				if why := c.unknown(t, wordsOf(command)); why != "" {
					t.Errorf("%s: %s: %s", name, strings.TrimSpace(command), why)
				}
				checked++
			}
		}
	}
	if checked < 80 {
		t.Errorf("only %d commands are found", checked)
	}
}

// wordsOf returns the words of a command without assignments and brackets of what is optional.
func wordsOf(command string) []string {
	words := strings.Fields(strings.NewReplacer("[", "", "]", "").Replace(command))
	for len(words) > 0 && assignment.MatchString(words[0]) {
		words = words[1:]
	}
	return words
}

type checkedCommands struct {
	bench func() string // path of the built cmd/bench
}

// unknown returns the part of a command that does not exist, or "".
func (c checkedCommands) unknown(t *testing.T, words []string) string {
	t.Helper()
	if len(words) == 0 {
		return ""
	}
	for _, word := range words {
		if ownPath.MatchString(word) {
			path := strings.TrimSuffix(strings.TrimPrefix(word, "./"), "/...")
			if _, err := os.Stat(filepath.Join("../..", path)); err != nil && path != "deploy/.env" {
				return err.Error()
			}
		}
	}
	script := strings.TrimPrefix(words[0], "./")
	switch {
	case words[0] == "hippocampus":
		return unknownTo(t, binary, words[1:])
	case len(words) > 2 && slices.Equal(words[:3], []string{"go", "run", "./cmd/bench"}):
		return unknownTo(t, c.bench(), words[3:])
	case strings.HasPrefix(script, "scripts/"):
		text := readPage(t, script)
		for _, word := range words[1:] {
			if !strings.HasPrefix(word, "-") { // the script's own flags end
				break
			}
			if flag := flagWord.FindString(word); flag != "" && !strings.Contains(text, flag) {
				return script + " does not know " + flag
			}
		}
	}
	return ""
}

// unknownTo asks a program for the help of a subcommand, which must list the flags among the words.
func unknownTo(t *testing.T, program string, words []string) string {
	t.Helper()
	var names []string
	for _, word := range words {
		if strings.HasPrefix(word, "-") {
			break
		}
		names = append(names, word)
	}
	out, err := exec.CommandContext(t.Context(), program, append(names, "--help")...).CombinedOutput()
	if err != nil {
		return err.Error() + ": " + string(out)
	}
	_, usage, _ := strings.Cut(string(out), "Usage:")
	usage, _, _ = strings.Cut(usage, "\n\n")
	if !strings.Contains(usage, " "+names[0]) {
		return "there is no command " + names[0]
	}
	for _, word := range words {
		if flag := flagWord.FindString(word); flag != "" && !regexp.MustCompile(`\s`+flag+`\b`).Match(out) {
			return "there is no flag " + flag
		}
	}
	return ""
}

func buildBench(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bench")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", path, "hippocampus/cmd/bench")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return path
}
