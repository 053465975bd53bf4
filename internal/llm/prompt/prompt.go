// Package prompt renders prompts from text files:
//
//	data -> template in the language of the data -> llm.Prompt
//
// A file has two blocks, "system" and "user". Texts of users are quoted: each is
// one line of JSON, between two lines with a delimiter. The delimiter is derived
// from a hash of the lines, so that no line can contain it.
package prompt

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"strings"
	"text/template"

	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// Template is one prompt in its languages.
type Template struct {
	name    string
	english *template.Template
	chinese *template.Template
	lexemes []string // of each file, see lexemesOf
}

// Parse reads prompts/NAME.en.txt and prompts/NAME.zh.txt. It panics if a file is
// missing or invalid, since the files are part of the program.
func Parse(files fs.FS, name string) Template {
	path := func(language string) string { return "prompts/" + name + "." + language + ".txt" }
	parse := func(language string) *template.Template {
		return template.Must(template.ParseFS(files, path(language)))
	}
	return Template{
		name: name, english: parse("en"), chinese: parse("zh"),
		lexemes: []string{lexemesOf(files, path("en")), lexemesOf(files, path("zh"))},
	}
}

// Render fills the template in the language of sample.
func (t Template) Render(sample string, data any, maxTokens int) (llm.Prompt, error) {
	file := t.english
	if text.IsChinese(sample) {
		file = t.chinese
	}
	var system, user strings.Builder
	for name, into := range map[string]*strings.Builder{"system": &system, "user": &user} {
		if err := file.ExecuteTemplate(into, name, data); err != nil {
			return llm.Prompt{}, memory.Errorf(memory.KindInternal, "fill the prompt %s: %w", t.name, err)
		}
	}
	return llm.Prompt{System: system.String(), User: user.String(), MaxTokens: maxTokens}, nil
}

// Quoted is lines of data with their delimiter.
type Quoted struct {
	Lines     []string
	Delimiter string
}

// Quote encodes each value as one line of JSON without escaping non-ASCII characters.
func Quote[T any](values ...T) (Quoted, error) {
	var q Quoted
	sum := sha256.New()
	for _, value := range values {
		var line bytes.Buffer
		encoder := json.NewEncoder(&line)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(value); err != nil {
			return Quoted{}, memory.Errorf(memory.KindInternal, "quote data for a prompt: %w", err)
		}
		sum.Write(line.Bytes())
		q.Lines = append(q.Lines, strings.TrimSuffix(line.String(), "\n"))
	}
	q.Delimiter = "=====" + hex.EncodeToString(sum.Sum(nil)[:8]) + "====="
	return q, nil
}
