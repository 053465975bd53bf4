package scorer

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
)

// Each sloppy answer is read as far as its meaning is certain, and refused with the reason otherwise.
func TestLLM_SalvagesAnswers(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile("testdata/answers.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var answers []struct {
		Name, Answer, Refused string
		Becomes               []string
	}
	if err := yaml.Unmarshal(file, &answers); err != nil || len(answers) < 35 {
		t.Fatalf("%d answers, %v", len(answers), err)
	}
	question := []memory.Message{{Role: "assistant", Content: "Who are you?"}}
	for _, test := range answers {
		t.Run(test.Name, func(t *testing.T) {
			t.Parallel()
			chat := &canned{answer: test.Answer}
			facts, err := NewLLM(chat).Score(t.Context(), said("My name is Rosalind and I live in Oslo"), question)
			var refused *BadAnswer
			if (test.Refused != "") != errors.As(err, &refused) {
				t.Fatalf("%+v, %v", facts, err)
			}
			if refused != nil && (!strings.Contains(err.Error(), test.Refused) || !refused.Corrected ||
				refused.Answer != test.Answer || chat.asked.Refused == nil) {
				t.Errorf("refused: %v, %+v", err, refused)
			}
			var becomes []string
			for _, f := range facts {
				line := fmt.Sprintf("%g %s %s: %s", f.Importance, f.Domain, f.Type, f.Content)
				if f.Invalid != "" {
					line = "invalid: " + f.Invalid
				}
				becomes = append(becomes, line)
			}
			if diff := cmp.Diff(test.Becomes, becomes); diff != "" && len(test.Becomes)+len(becomes) > 0 {
				t.Error(diff)
			}
		})
	}
}

// A model that repeats its answer at temperature 0 gives another answer when it is given what was wrong.
func TestLLM_CorrectsRefusedAnswer(t *testing.T) {
	t.Parallel()
	chat := &canned{answer: `{"facts":[{"fact":"The user lives in Oslo.","importance":"high"}]}`}
	chat.reply = func(p llm.Prompt) string {
		if p.Refused == nil || !strings.Contains(p.Refused.Reason, "/importance is of the wrong type") {
			return chat.answer
		}
		return strings.Replace(chat.answer, `"high"`, "0.9", 1)
	}
	facts, err := NewLLM(chat).Score(t.Context(), said("I live in Oslo"), nil)
	if err != nil || len(facts) != 1 || facts[0].Importance != 0.9 {
		t.Errorf("%+v, %v", facts, err)
	}
}
