// Package prompt renders prompts from text files:
//
//	data -> template in the language of the data -> llm.Prompt
//
// A file has two blocks, "system" and "user". NAME.schema.json, if it is there, is the JSON schema of the
// answer. Texts of users are quoted: each is
// one line of JSON, between two lines with a delimiter. The delimiter is derived
// from a hash of the lines, so that no line can contain it.
package prompt

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"text/template"
	"unicode"

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
	schema  json.RawMessage
}

// Parse reads prompts/NAME.en.txt and prompts/NAME.zh.txt. It panics if a file is
// missing or invalid, since the files are part of the program.
func Parse(files fs.FS, name string) Template {
	path := func(language string) string { return "prompts/" + name + "." + language + ".txt" }
	parse := func(language string) *template.Template {
		return template.Must(template.ParseFS(files, path(language)))
	}
	schema, err := fs.ReadFile(files, "prompts/"+name+".schema.json")
	if err == nil && !json.Valid(schema) || err != nil && !errors.Is(err, fs.ErrNotExist) {
		panic(fmt.Sprintf("the schema of the prompt %s cannot be read: %v", name, err))
	}
	return Template{
		name: name, english: parse("en"), chinese: parse("zh"), schema: schema,
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
	return llm.Prompt{
		Name: t.name, System: system.String(), User: user.String(), MaxTokens: maxTokens, Schema: t.schema,
	}, nil
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

// maxAnswerTokens bounds the answers that Ask asks for.
const maxAnswerTokens = 4096

// Ask fills the template in the language of sample, asks the model, and reads its answer with parse, as
// llm.Ask does.
func Ask[T any](ctx context.Context, t Template, chat llm.Chat, sample string, data any,
	parse func(*llm.Answer) (T, error),
) (T, error) {
	p, err := t.Render(sample, data, maxAnswerTokens)
	if err != nil {
		var zero T
		return zero, err
	}
	return llm.Ask(ctx, chat, p, parse)
}

// Check returns what is wrong with a statement of an answer: invalid content, the template's own words, or another
// language than sample; "" if nothing is wrong. An empty sample skips the check of the language. Words that are in
// sample do not count as the template's own.
func (t Template) Check(statement string, maxRunes int, sample string) string {
	why := memory.CheckContent(statement, maxRunes)
	switch {
	case why != "":
		return why
	case t.Echoes(statement, sample):
		return "repeats the prompt's own words"
	case sample != "" && Foreign(statement, sample):
		return "is in another language than the texts that it is about"
	}
	return ""
}

// Echoes reports whether an answer is copied from a file of the template: it has at least
// minEcho lexemes, which occur in the file in the same sequence, and fewer than half of
// them occur in what was said.
func (t Template) Echoes(answer string, said ...string) bool {
	lexemes := text.Lexemes(answer)
	if len(lexemes) < minEcho {
		return false
	}
	sequence := " " + text.Join(lexemes) + " "
	if !slices.ContainsFunc(t.lexemes, func(file string) bool { return strings.Contains(file, sequence) }) {
		return false
	}
	heard := map[string]bool{}
	for _, lexeme := range text.Lexemes(strings.Join(said, "\n")) {
		heard[lexeme] = true
	}
	shared := 0
	for _, lexeme := range lexemes {
		if heard[lexeme] {
			shared++
		}
	}
	return 2*shared < len(lexemes)
}

// minEcho is the least length of a sequence of lexemes that counts as copied.
const minEcho = 4

// lexemesOf joins the lexemes of a file, with a separator at both ends so that a
// search finds whole lexemes only.
func lexemesOf(files fs.FS, path string) string {
	file, err := fs.ReadFile(files, path)
	if err != nil {
		panic(err) // the file is part of the program
	}
	return " " + text.Join(text.Lexemes(string(file))) + " "
}

// Foreign reports whether one of two texts is Chinese and the other has no Han character.
func Foreign(a, b string) bool {
	hasHan := func(s string) bool {
		return strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Han, r) })
	}
	return text.IsChinese(a) && !hasHan(b) || text.IsChinese(b) && !hasHan(a)
}

// Wording is a text without its case, spaces and punctuation. It is equal for two
// answers with the same words; lexemes would also be equal for different words.
func Wording(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsNumber(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
}
