package quality

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"hippocampus/cmd/bench/target"
)

// conversation is one user of the measured server.
type conversation struct {
	Set       string     `json:"set"`
	ID        string     `json:"id"`
	Lang      string     `json:"lang"`
	End       time.Time  `json:"end"`
	Turns     []turn     `json:"turns"`
	Facts     []fact     `json:"facts"`
	Questions []question `json:"questions"`
}

// fact is a statement that follows from turns.
type fact struct {
	ID       string    `json:"id"`
	At       time.Time `json:"at"`
	Text     string    `json:"text"`
	Evidence []string  `json:"evidence"` // ids of turns
}

type turn struct {
	ID      string    `json:"id"`
	Session string    `json:"session"`
	At      time.Time `json:"at"`
	Speaker string    `json:"speaker"`
	Text    string    `json:"text"`
}

type question struct {
	ID       string   `json:"id"`
	Text     string   `json:"text"`
	Category string   `json:"category"`
	Evidence []string `json:"evidence"` // ids of turns
	Clean    bool     `json:"clean"`
	Answer   string   `json:"answer"` // by the annotators; empty: unknown
}

// adversarial questions have no answer in their conversation.
const adversarial = "adversarial"

// asked returns the measured questions: clean, with evidence, and not adversarial.
func (c conversation) asked() []question {
	return slices.DeleteFunc(slices.Clone(c.Questions), func(q question) bool {
		return !q.Clean || q.Category == adversarial || len(q.Evidence) == 0
	})
}

// askedOfFacts returns the measured questions that facts answer. Their evidence is
// limited to the turns that facts follow from.
func (c conversation) askedOfFacts() (questions []question) {
	stated := map[string]bool{}
	for _, f := range c.Facts {
		for _, id := range f.Evidence {
			stated[id] = true
		}
	}
	for _, q := range c.asked() {
		q.Evidence = slices.DeleteFunc(slices.Clone(q.Evidence), func(id string) bool { return !stated[id] })
		if len(q.Evidence) > 0 {
			questions = append(questions, q)
		}
	}
	return questions
}

// memories returns each turn as one memory, with an importance of 0.7 to 1 that is
// seeded by the index of the conversation.
func (c conversation) memories(seed uint64) []target.Memory {
	random := rand.New(rand.NewPCG(seed, 0))
	list := make([]target.Memory, len(c.Turns))
	for i, t := range c.Turns {
		list[i] = target.Memory{
			UserID: c.user(), ConversationID: t.Session, At: t.At.Format(time.RFC3339Nano),
			Content:    fmt.Sprintf("[%s] %s: %s", t.At.Format(time.DateOnly), t.Speaker, t.Text),
			Importance: 0.7 + 0.3*random.Float64(),
		}
	}
	return list
}

func (c conversation) user() string { return c.Set + "/" + c.ID }

// load reads the conversations of folders and files, in the order of their names.
func load(paths []string) ([]conversation, error) {
	var files []string
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, fmt.Errorf("conversations: %w", err)
		}
		if !info.IsDir() {
			files = append(files, path)
			continue
		}
		found, err := filepath.Glob(filepath.Join(path, "*.json"))
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	slices.Sort(files)
	if len(files) == 0 {
		return nil, fmt.Errorf("no conversations (*.json) in %v; cmd/bench/testdata/zh/README.md tells their form", paths)
	}
	list := make([]conversation, len(files))
	for i, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(text, &list[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if len(list[i].Turns) == 0 {
			return nil, fmt.Errorf("%s: it has no turns", file)
		}
	}
	return list, nil
}

// Texts returns the texts of all turns with their speakers, and the measured questions.
func Texts(paths []string) (turns, questions []string, err error) {
	conversations, err := load(paths)
	if err != nil {
		return nil, nil, err
	}
	for _, c := range conversations {
		for _, t := range c.Turns {
			turns = append(turns, t.Speaker+": "+t.Text)
		}
		for _, q := range c.asked() {
			questions = append(questions, q.Text)
		}
	}
	return turns, questions, nil
}
