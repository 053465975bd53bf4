package times

import (
	_ "embed"
	"fmt"
	"strings"
	"time"
)

// statement is what a user says at a local time.
type statement struct {
	id   string // e01 in English, z01 in Chinese
	at   time.Time
	text string
}

// Question asks for one statement by its time.
type Question struct {
	Language string    `json:"language"` // en or zh
	Half     string    `json:"half"`     // tuned, held or later: see halves
	At       time.Time `json:"at"`       // when it is asked
	Answer   string    `json:"answer"`   // id of the statement
	Text     string    `json:"question"`
}

// languages lists the languages of the questions, and the first letter of the ids of their statements.
var languages = []string{"en", "zh"}

// halves lists the halves of the questions that were written before the rules, with the tuned ones in view when the
// rules were written, and those that were written later and looked at only when they were measured.
var halves = []string{"tuned", "held", "later"}

var (
	//go:embed testdata/statements.tsv
	statementFile string
	//go:embed testdata/questions.tsv
	questionFile string
)

// localTime is the layout of times in the files. They are local times in the measured zone.
const localTime = "2006-01-02T15:04"

// statementsOf returns the statements of a language, said in a zone.
func statementsOf(language string, zone *time.Location) (list []statement, err error) {
	prefix := map[string]string{"en": "e", "zh": "z"}[language]
	for line := range strings.Lines(statementFile) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) != 3 {
			return nil, fmt.Errorf("statements.tsv: %q has no three fields", line)
		}
		if !strings.HasPrefix(f[0], prefix) {
			continue
		}
		at, err := time.ParseInLocation(localTime, f[1], zone)
		if err != nil {
			return nil, fmt.Errorf("statements.tsv: %w", err)
		}
		list = append(list, statement{id: f[0], at: at, text: f[2]})
	}
	return list, nil
}

// questionsOf returns the questions of a language, asked in a zone.
func questionsOf(language string, zone *time.Location) (list []Question, err error) {
	for line := range strings.Lines(questionFile) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) != 5 {
			return nil, fmt.Errorf("questions.tsv: %q has no five fields", line)
		}
		if f[0] != language {
			continue
		}
		at, err := time.ParseInLocation(localTime, f[2], zone)
		if err != nil {
			return nil, fmt.Errorf("questions.tsv: %w", err)
		}
		list = append(list, Question{Language: f[0], Half: f[1], At: at, Answer: f[3], Text: f[4]})
	}
	return list, nil
}
