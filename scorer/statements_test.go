package scorer

import (
	"bufio"
	"os"
	"strings"
	"testing"

	"hippocampus/internal/memory"
)

// statementFloors are what the rules reach on testdata/statements_*.tsv, which
// holds statements about a user with their domain, and other sentences by kind.
// The files named test were written before the rules were read.
var statementFloors = map[string]struct{ recall, precision, domain float64 }{
	"en_dev":  {recall: 0.56, precision: 0.93, domain: 0.91},
	"en_test": {recall: 0.50, precision: 0.86, domain: 0.81},
	"zh_dev":  {recall: 0.48, precision: 0.90, domain: 0.87},
	"zh_test": {recall: 0.43, precision: 0.85, domain: 0.76},
}

func TestRules_TellStatementsFromOtherSentences(t *testing.T) {
	t.Parallel()
	const gate = 0.7
	for name, floor := range statementFloors {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var statements, kept, inDomain, wrong float64
			file, err := os.Open("testdata/statements_" + name + ".tsv")
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = file.Close() }()
			for lines := bufio.NewScanner(file); lines.Scan(); {
				fields := strings.SplitN(lines.Text(), "\t", 3)
				label, domain, text := fields[0], memory.Domain(fields[1]), fields[2]
				turn := memory.Turn{Messages: []memory.Message{{Role: "user", Content: text}}}
				facts, err := NewRules().Score(t.Context(), turn)
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
				}
			}
			recall, precision, right := kept/statements, kept/(kept+wrong), inDomain/kept
			if recall < floor.recall || precision < floor.precision || right < floor.domain {
				t.Errorf("recall %.3f, precision %.3f, right domain %.3f; want at least %+v", recall, precision, right, floor)
			}
		})
	}
}
