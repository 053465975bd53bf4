package scorer

import (
	"bufio"
	"os"
	"strings"
	"testing"

	"hippocampus/internal/memory"
)

// statementFloors are the least results of the rules on testdata/statements_*.tsv: 150 statements about a user with
// their domains, and 150 other sentences by kind. These sentences are older than the rules, and not in the training of
// package statement.
var statementFloors = map[string]struct{ recall, precision, domain float64 }{
	"en": {recall: 0.97, precision: 0.95, domain: 0.87},
	"zh": {recall: 0.94, precision: 0.95, domain: 0.92},
}

func TestRules_SeparateStatementsFromOtherSentences(t *testing.T) {
	t.Parallel()
	const gate = 0.7
	for language, floor := range statementFloors {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			var statements, kept, inDomain, wrong float64
			file, err := os.Open("testdata/statements_" + language + ".tsv")
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = file.Close() }()
			for lines := bufio.NewScanner(file); lines.Scan(); {
				fields := strings.SplitN(lines.Text(), "\t", 3)
				label := fields[0]
				domain := memory.Domain(fields[1])
				text := fields[2]
				turn := memory.Turn{Messages: []memory.Message{{Role: "user", Content: text}}}
				facts, err := NewRules().Score(t.Context(), turn, nil)
				if err != nil {
					t.Fatal(err)
				}
				keeps := len(facts) > 0 && facts[0].Importance >= gate
				switch {
				case label != "fact" && keeps:
					wrong++
				case label == "fact":
					statements++
					if keeps {
						kept++
					}
					if keeps && facts[0].Domain == domain {
						inDomain++
					}
					if len(facts) == 0 {
						t.Errorf("%q leaves no candidate", text)
					}
				}
			}
			recall := kept / statements
			precision := kept / (kept + wrong)
			right := inDomain / kept
			t.Logf("recall %.3f, precision %.3f, right domain %.3f", recall, precision, right)
			if recall < floor.recall || precision < floor.precision || right < floor.domain {
				t.Errorf("recall %.3f, precision %.3f, right domain %.3f; want at least %+v", recall, precision, right, floor)
			}
		})
	}
}
