package memoryfile

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"hippocampus/internal/memory"
)

const frontFence = "---"

// frontMatter is the YAML at the beginning of a file.
type frontMatter struct {
	lines []string       // between the fences, with line endings
	first string         // the line of the first fence; empty: the file has no front matter
	last  string         // the line of the last fence
	keys  map[string]int // the lines of our keys
}

var (
	frontKey = regexp.MustCompile(`^(hippocampus|user|agent|revision):[ \t]*(.*?)\s*$`)
	// plain matches a value that YAML reads as text without quotes. A number, and a word such as no, needs quotes.
	plain    = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._@-]*$`)
	keywords = []string{"y", "n", "yes", "no", "on", "off", "true", "false", "null"}
)

// readFront reads the front matter, and returns how many lines it has.
func (d *Document) readFront(lines []string) (used int, err error) {
	d.front = &frontMatter{keys: map[string]int{}}
	for i, line := range lines {
		if !utf8.ValidString(line) {
			return 0, memory.Errorf(memory.KindInvalid, "line %d of the file is not UTF-8: save the file as UTF-8", i+1)
		}
	}
	isFence := func(line string) bool { return strings.TrimRightFunc(line, isSpace) == frontFence }
	if len(lines) == 0 || !isFence(lines[0]) {
		return 0, nil
	}
	end := slices.IndexFunc(lines[1:], isFence)
	if end < 0 {
		return 0, nil // a thematic break
	}
	f := d.front
	f.first, f.last = lines[0], lines[1+end]
	f.lines = slices.Clone(lines[1 : 1+end])
	values := map[string]string{}
	for i, line := range f.lines {
		if found := frontKey.FindStringSubmatch(line); found != nil {
			f.keys[found[1]], values[found[1]] = i, valueOf(found[2])
		}
	}
	if got := values["hippocampus"]; got != "" && got != d.form.version {
		return 0, memory.Errorf(memory.KindInvalid, "the file has the format %s, and %s has the format %s: it is "+
			"another file, or one of another version of the server", got, d.form.Name, d.form.version)
	}
	d.User, d.Agent = values["user"], values["agent"]
	d.Revision = values["revision"]
	return end + 2, nil
}

// valueOf reads the value of a key.
func valueOf(text string) string {
	switch {
	case strings.HasPrefix(text, `"`):
		var value string
		if end := strings.LastIndex(text, `"`); json.Unmarshal([]byte(text[:end+1]), &value) == nil {
			return value
		}
	case len(text) > 1 && strings.HasPrefix(text, "'") && strings.HasSuffix(text, "'"):
		return strings.ReplaceAll(text[1:len(text)-1], "''", "'")
	}
	value, _, _ := strings.Cut(text, " #")
	return strings.TrimSpace(value)
}

// quoted writes the value of a key.
func quoted(value string) string {
	if plain.MatchString(value) && !slices.Contains(keywords, strings.ToLower(value)) {
		return value
	}
	raw, _ := json.Marshal(value) // a string, which YAML reads as JSON does
	return string(raw)
}

// set changes the keys of a front matter that do not have these values.
func (f *frontMatter) set(form *Form, user, agent, revision, eol string) {
	if f.first == "" {
		f.first, f.last = frontFence+eol, frontFence+eol
	}
	for _, pair := range [][2]string{
		{"hippocampus", form.version}, {"user", quoted(user)}, {"agent", quoted(agent)}, {"revision", quoted(revision)},
	} {
		key, value := pair[0], pair[1]
		line := fmt.Sprintf("%s: %s%s", key, value, eol)
		at, exists := f.keys[key]
		if !exists {
			f.keys[key] = len(f.lines)
			f.lines = append(f.lines, line)
		} else if found := frontKey.FindStringSubmatch(f.lines[at]); valueOf(found[2]) != valueOf(value) {
			f.lines[at] = line
		}
	}
}

// text returns the front matter with its fences.
func (f *frontMatter) text() string {
	return f.first + strings.Join(f.lines, "") + f.last
}
