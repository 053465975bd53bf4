// Package prompt fills the text files that models are asked with:
//
//	data -> template in the language of the data -> llm.Prompt
//
// A file holds two blocks, "system" and "user". What comes from people is
// quoted: one line of JSON each, between two lines that hold a delimiter which
// no line can hold, since it is derived from them.
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
	rows    []string // lexemes of the files
}

// Parse reads prompts/NAME.en.txt and prompts/NAME.zh.txt. It panics on files
// that are missing or are no templates: they are part of the program.
func Parse(files fs.FS, name string) Template {
	path := func(language string) string { return "prompts/" + name + "." + language + ".txt" }
	parse := func(language string) *template.Template {
		return template.Must(template.ParseFS(files, path(language)))
	}
	return Template{name, parse("en"), parse("zh"), []string{rows(files, path("en")), rows(files, path("zh"))}}
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

// Quoted are lines of data and the delimiter around them.
type Quoted struct {
	Lines     []string
	Delimiter string
}

// Quote writes each value as one line of JSON, readable in any script.
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
