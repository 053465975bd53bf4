package recording

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hippocampus/internal/llm"
	"hippocampus/internal/llm/llmtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// client calls a chat model at a base URL without retries.
func client(t *testing.T, url string) llm.Chat {
	t.Helper()
	c := llm.NewClient(llm.Options{BaseURL: url, Retries: -1, Timeout: time.Minute})
	t.Cleanup(c.Close)
	return c.Chat("fake")
}

func prompt(user string) llm.Prompt {
	return llm.Prompt{System: "[hippocampus/score]\nFind facts.", User: user}
}

func TestPlayer_AnswersAsRecorded(t *testing.T) {
	t.Parallel()
	models := llmtest.New(t)
	models.OnChat(func(r llmtest.ChatRequest) llmtest.Reply {
		if strings.Contains(r.User, "refuse") {
			return llmtest.Status(400)
		}
		return llmtest.Text(strings.Repeat("again ", r.Call) + strings.TrimSpace(r.User))
	})
	recorder, err := NewRecorder(models.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer recorder.Close()
	asked := []string{"one", "two", "one"}
	var answers []string
	for _, user := range asked {
		answer, err := client(t, recorder.URL()).Answer(t.Context(), prompt(user))
		if err != nil {
			t.Fatal(err)
		}
		answers = append(answers, answer)
	}
	if _, err := client(t, recorder.URL()).Answer(t.Context(), prompt("refuse")); err == nil {
		t.Error("the recorder hides the endpoint's refusal")
	}

	file := filepath.Join(t.TempDir(), "recording.json")
	if err := recorder.Recording().Write(file); err != nil {
		t.Fatal(err)
	}
	read, err := Read(file)
	if err != nil || len(read.Calls) != len(asked) || len(read.Systems) != 1 || read.Calls[0].Prompt != "score" {
		t.Fatalf("%+v, %v", read, err)
	}
	player := NewPlayer(read, func(err error) { t.Error(err) })
	defer player.Close()
	for i, user := range append(asked, "one") { // after the last answer, that answer again
		answer, err := client(t, player.URL()).Answer(t.Context(), prompt(user))
		if want := answers[min(i, len(answers)-1)]; err != nil || answer != want {
			t.Errorf("%q is answered %q, not %q: %v", user, answer, want, err)
		}
	}
}

func TestPlayer_NamesUnknownPrompts(t *testing.T) {
	t.Parallel()
	var unknown error
	player := NewPlayer(Recording{}, func(err error) { unknown = err })
	defer player.Close()
	_, err := client(t, player.URL()).Answer(t.Context(), prompt("I keep bees"))
	for _, text := range []string{"score", "I keep bees", "record it again"} {
		if err == nil || !strings.Contains(err.Error(), text) || unknown == nil || !strings.Contains(unknown.Error(), text) {
			t.Errorf("no %q in %v, %v", text, err, unknown)
		}
	}
}

func TestRead_RefusesChangedFiles(t *testing.T) {
	t.Parallel()
	var r Recording
	r.add([]Message{{Role: system, Content: "[hippocampus/score]"}, {Role: "user", Content: "one"}}, "{}")
	for name, change := range map[string]func(*Recording){
		"changed message":       func(r *Recording) { r.Calls[0].Messages[0].Content = "two" },
		"missing system prompt": func(r *Recording) { r.Systems = nil },
	} {
		t.Run(name, func(t *testing.T) {
			changed := Recording{Systems: r.Systems, Calls: []Call{r.Calls[0]}}
			changed.Calls[0].Messages = []Message{r.Calls[0].Messages[0]}
			change(&changed)
			file := filepath.Join(t.TempDir(), "recording.json")
			if err := changed.Write(file); err != nil {
				t.Fatal(err)
			}
			if _, err := Read(file); err == nil {
				t.Error("it is read")
			}
		})
	}
}
