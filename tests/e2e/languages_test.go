package e2e

import (
	"embed"
	"io/fs"
	"path"
	"strings"
	"testing"
)

// Each line of a file is "statement | question". The questions of testdata/languages share words with their statements
// in other forms and spellings.
//
//go:embed testdata/languages testdata/unanswered testdata/preferences
var languages embed.FS

// leastConfidence is that of a context by default.
const leastConfidence = 0.15

// The first memory of an answer is the statement that a question asks about, whatever its language.
func TestLanguages_QuestionsFindTheirStatements(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, dir := range []string{"languages", "unanswered"} {
		for language, lines := range linesOf(t, dir) {
			user := dir + "-" + language
			s.writeStatements(user, lines)
			for _, line := range lines {
				content, confidence := s.firstOf(user, line[1])
				if content != line[0] || confidence < leastConfidence {
					t.Errorf("%s: %q finds %q, %.2f; want %q with confidence", user, line[1], content, confidence, line[0])
				}
			}
		}
	}
}

// No memory answers a question with confidence if its answer was never written, also in languages that the built-in
// embedder does not know: each question is asked of a user with the other half of the statements.
func TestLanguages_QuestionsWithoutAnAnswerFindNothing(t *testing.T) {
	t.Parallel()
	s := start(t)
	for language, lines := range linesOf(t, "unanswered") {
		halves := [2][][2]string{}
		for i, line := range lines {
			halves[i%2] = append(halves[i%2], line)
		}
		refused := 0
		for i, half := range halves {
			user := language + []string{"-even", "-odd"}[i]
			s.writeStatements(user, half)
			for _, line := range halves[1-i] {
				if content, confidence := s.firstOf(user, line[1]); confidence < leastConfidence {
					refused++
				} else {
					t.Logf("%s: %q finds %q, %.2f", user, line[1], content, confidence)
				}
			}
		}
		if least := len(lines) * 5 / 6; refused < least {
			t.Errorf("%s: %d of %d questions without an answer find nothing, want %d", language, refused, len(lines), least)
		}
	}
}

// linesOf returns the statements and questions of a folder of testdata, by language.
func linesOf(t *testing.T, dir string) map[string][][2]string {
	t.Helper()
	files, err := fs.Glob(languages, "testdata/"+dir+"/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files in %s: %v", dir, err)
	}
	all := map[string][][2]string{}
	for _, file := range files {
		content, err := languages.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		language := strings.TrimSuffix(path.Base(file), ".txt")
		for line := range strings.Lines(string(content)) {
			statement, question, _ := strings.Cut(strings.TrimSpace(line), " | ")
			all[language] = append(all[language], [2]string{statement, question})
		}
	}
	return all
}

// writeStatements writes each statement in a turn of its own.
func (s *server) writeStatements(user string, lines [][2]string) {
	for _, line := range lines {
		s.call("POST", "/v1/turns", object{
			"user_id": user, "wait": true, "messages": []object{{"role": "user", "content": line[0]}},
		}, 200)
	}
}

// firstOf returns the first memory that a question finds; "" if there is no memory.
func (s *server) firstOf(user, question string) (content string, confidence float64) {
	found := s.call("POST", "/v1/recall", object{"user_id": user, "query": question, "limit": 1}, 200).list("memories")
	if len(found) == 0 {
		return "", 0
	}
	return found[0]["content"].(string), found[0]["confidence"].(float64)
}
