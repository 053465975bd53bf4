package e2e

import (
	"embed"
	"io/fs"
	"path"
	"strings"
	"testing"
)

//go:embed testdata/languages
var languages embed.FS

// The first memory of an answer is the statement that a question asks about, whatever its language: questions share
// words with their statements in other forms and spellings. Each line of a file is "statement | question".
func TestLanguages_QuestionsFindTheirStatements(t *testing.T) {
	t.Parallel()
	files, err := fs.Glob(languages, "testdata/languages/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	s := start(t)
	for _, file := range files {
		content, err := languages.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		user := path.Base(file)
		var lines [][2]string
		for line := range strings.Lines(string(content)) {
			statement, question, _ := strings.Cut(strings.TrimSpace(line), " | ")
			lines = append(lines, [2]string{statement, question})
			s.call("POST", "/v1/turns", object{
				"user_id": user, "wait": true, "messages": []object{{"role": "user", "content": statement}},
			}, 200)
		}
		for _, line := range lines {
			query := object{"user_id": user, "query": line[1], "limit": 1}
			found := s.call("POST", "/v1/recall", query, 200).list("memories")
			if len(found) == 0 || found[0]["content"] != line[0] || found[0]["confidence"].(float64) < 0.15 {
				t.Errorf("%s: %q finds %v, want %q with confidence", user, line[1], found, line[0])
			}
		}
	}
}
