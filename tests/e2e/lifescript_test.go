package e2e

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"
)

// entry is one entry of testdata/twoweeks/script.yaml: a talk, or one of the other
// steps.
type entry struct {
	Talk      string     `yaml:"talk"` // conversation id; empty: another step
	User      string     `yaml:"user"`
	Agent     string     `yaml:"agent"`
	At        moment     `yaml:"at"`
	Turns     []said     `yaml:"turns"`
	Condensed string     `yaml:"condensed"` // the running summary
	End       *remembers `yaml:"end"`
	Idle      *remembers `yaml:"idle"`

	Fact        *factStep        `yaml:"fact"`
	EndFact     *factStep        `yaml:"end_fact"`
	Instruction *instructionStep `yaml:"instruction"`
	Outcome     *outcomeStep     `yaml:"outcome"`
	Reflect     *reflectStep     `yaml:"reflect"`
	Forget      *forgetStep      `yaml:"forget"`
	Delete      *deleteStep      `yaml:"delete"`
	Withdraw    *withdrawStep    `yaml:"withdraw"`
	Context     *contextStep     `yaml:"context"`
	Servers     string           `yaml:"servers"` // two, one or restart
}

// said is a turn, with the scorer's answer.
type said struct {
	Said  []message    `yaml:"said"`
	Facts []scoredFact `yaml:"facts"`
	// Killed names the servers that are killed: "one" is the server that took the turn, at
	// once; "all" are all servers, during the scorer's call.
	Killed string `yaml:"killed"`
}

type message struct {
	User, Assistant, Tool string // one of them, or Remark: the text
	Remark                string // of the assistant, which answers nothing
	Kind                  string
	Tags, Flags           []string
}

func (m message) text() string { return m.User + m.Assistant + m.Remark + m.Tool }

// body returns the message as a client sends it.
func (m message) body() object {
	role := "user"
	switch {
	case m.Assistant != "", m.Remark != "":
		role = "assistant"
	case m.Tool != "":
		role = "tool"
	}
	body := object{"role": role, "content": m.text()}
	if m.Kind != "" {
		body["kind"] = m.Kind
	}
	if len(m.Tags) > 0 {
		body["tags"] = m.Tags
	}
	if len(m.Flags) > 0 {
		flags := object{}
		for _, flag := range m.Flags {
			flags[flag] = true
		}
		body["context"] = flags
	}
	return body
}

// scoredFact is a fact of the scorer's answer. It is near to the text that it
// replaces or repeats.
type scoredFact struct {
	Fact, Domain, Type string
	Importance         float64
	Replaces, Repeats  string
}

// remembers holds the answers of replay and deep reflection about a talk.
type remembers struct {
	Summary                                 string
	Facts                                   []deepFact
	Insights                                []deepInsight
	Preferences, Patterns, Projects, Skills []deepText
}

type (
	deepFact struct {
		Type       string  `json:"type"`
		Key        string  `json:"key"`
		Value      any     `json:"value"`
		Confidence float64 `json:"confidence"`
	}
	deepInsight struct {
		Text  string `json:"text"`
		Level string `json:"level"`
	}
	deepText struct {
		Text       string  `json:"text"`
		Importance float64 `json:"importance"`
	}
)

type (
	factStep struct {
		At, From, Until         moment
		User, Type, Key, Source string
		Value                   any
		Confidence              float64 // 0: not stated
	}
	instructionStep struct {
		At                                moment
		Scope, Agent, User, Name, Content string
	}
	outcomeStep struct {
		At                          moment
		User, Skill, Workflow, Note string
		Success, Again              bool
	}
	reflectStep struct {
		At       moment
		User     string
		Insights []struct {
			Insight string
			Sources []string // contents of memories
		}
		Retire []string
	}
	forgetStep struct {
		At   moment
		User string
	}
	contextStep struct {
		At                             moment
		Name, User, Agent, Talk, Query string
		Limit, Tokens                  int
	}
)

// lifeBegins is the midnight of the first day, long ago, so that no step of the life
// is in the future of the machine.
var lifeBegins = time.Date(2025, 3, 3, 0, 0, 0, 0, time.UTC)

// moment is written "DAY HH:MM", the first day being 1.
type moment struct{ time.Time }

func (m *moment) UnmarshalYAML(node *yaml.Node) error {
	var day, hour, minute int
	if _, err := fmt.Sscanf(node.Value, "%d %d:%d", &day, &hour, &minute); err != nil {
		return fmt.Errorf("line %d: %q is not DAY HH:MM: %w", node.Line, node.Value, err)
	}
	m.Time = lifeBegins.AddDate(0, 0, day-1).Add(time.Duration(60*hour+minute) * time.Minute)
	return nil
}

// lifetime writes an RFC 3339 time as the script does.
func lifetime(instant any) string {
	text, _ := instant.(string)
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return "-"
	}
	since := at.Sub(lifeBegins)
	return fmt.Sprintf("%d %s", 1+int(since.Hours())/24, at.UTC().Format("15:04"))
}

// lifeday returns the day of lifetime.
func lifeday(instant any) string {
	day, _, _ := strings.Cut(lifetime(instant), " ")
	return day
}

// between is the time between two turns of a talk.
const between = 2 * time.Minute

// events counts the messages of a talk.
func (e entry) events() (n int) {
	for _, turn := range e.Turns {
		n += len(turn.Said)
	}
	return n
}

// answers returns the model's answers at the end of a talk.
func (e entry) answers() *remembers {
	if e.End != nil {
		return e.End
	}
	return e.Idle
}

// readScript reads and checks the script.
func readScript(t *testing.T) []entry {
	t.Helper()
	file, err := os.Open("testdata/twoweeks/script.yaml")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var script []entry
	decoder := yaml.NewDecoder(file)
	decoder.KnownFields(true)
	if err := decoder.Decode(&script); err != nil {
		t.Fatal(err)
	}
	said, talks := map[string]string{}, 0 // by the user's text, by which the models recognise turns
	for _, e := range script {
		if e.Talk == "" {
			continue
		}
		talks++
		if n := e.events(); n < 3 || n > 8 {
			t.Fatalf("%s has %d events, want 3 to 8", e.Talk, n)
		}
		for _, turn := range e.Turns {
			for _, m := range turn.Said {
				if m.User != "" && said[m.User] != "" {
					t.Fatalf("%s and %s have both %q", said[m.User], e.Talk, m.User)
				}
				said[m.User] = e.Talk
			}
		}
	}
	if talks != 40 {
		t.Fatalf("the script has %d talks, want 40", talks)
	}
	return script
}
