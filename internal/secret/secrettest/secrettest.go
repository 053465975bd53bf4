// Package secrettest has texts with and without secrets, in English, Chinese and German: half of them were written
// before the rules of package secret (held out), the others with them (tuned).
package secrettest

import (
	"embed"
	"strings"
	"testing"

	"hippocampus/internal/lazyregexp"
	"hippocampus/internal/secret"
)

// The files of texts.
const (
	HeldOut         = "heldout_secrets.txt"
	HeldOutHarmless = "heldout_harmless.txt"
	Tuned           = "tuned_secrets.txt"
	TunedHarmless   = "tuned_harmless.txt"
)

//go:embed testdata/*.txt
var files embed.FS

// Text is a message.
type Text struct {
	Said    string
	Cleaned string   // with secret.Mark in place of each secret
	Secrets []string // in Said
}

var marked = lazyregexp.New(`«([^»]*)»`)

// Read returns the texts of files. The first lines of a file say how the texts are written.
func Read(t testing.TB, names ...string) (texts []Text) {
	t.Helper()
	for _, name := range names {
		data, err := files.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			if !strings.HasPrefix(line, "#") {
				texts = append(texts, textOf(strings.TrimSuffix(line, "\n")))
			}
		}
	}
	if len(texts) < 100*len(names) {
		t.Fatalf("%q have only %d texts", names, len(texts))
	}
	return texts
}

func textOf(line string) (text Text) {
	line = strings.ReplaceAll(line, `\n`, "\n")
	text.Cleaned = marked.ReplaceAllString(line, secret.Mark)
	text.Said = marked.ReplaceAllStringFunc(line, func(part string) string {
		whole := strings.ReplaceAll(strings.Trim(part, "«»"), "|", "")
		text.Secrets = append(text.Secrets, whole)
		return whole
	})
	return text
}
