package quality

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hippocampus/cmd/bench/target"
	"hippocampus/internal/llm/llmtest"
)

var record = flag.Bool("record", false, "record the scripted model's answers in cmd/bench/testdata/recorded")

const (
	recorded      = "../testdata/recorded/recording.json"
	recordedTurns = "../testdata/recorded/conversation.json"
)

// measureModel reports conversations to a server with a chat model.
func measureModel(t *testing.T, path string, m ChatModel) (Report, error) {
	t.Helper()
	m.Name = "scripted"
	return RunWithModel(t.Context(), Options{
		Size: target.Small, Paths: []string{path}, Roles: AllUsers, Progress: t.Output(),
	}, m)
}

// A recorded model answers as the model did, so that the measurement has the same results. A prompt that was not
// recorded is an error.
func TestRunWithModel_ReplaysRecording(t *testing.T) {
	t.Parallel()
	if *record {
		models := llmtest.New(t)
		models.OnChat(llmtest.Rules)
		if _, err := measureModel(t, recordedTurns, ChatModel{URL: models.URL(), Record: recorded}); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("recorded prompts", func(t *testing.T) {
		t.Parallel()
		r, err := measureModel(t, recordedTurns, ChatModel{Replay: recorded})
		if err != nil {
			t.Fatalf("%v\nafter a change of a prompt: go test ./cmd/bench/quality -run TestRunWithModel -record", err)
		}
		if r.Through.Recallable != r.Through.Evidence || r.Through.Evidence != 4 || r.Through.Failed != 0 {
			t.Errorf("%+v", r.Through)
		}
		for _, row := range r.Results {
			if row.Category+row.Conversation == "" && (row.Questions != 4 || row.Mean.Mean.R10 < 1) {
				t.Errorf("%s after the last turn: %+v", row.Lag, row.Mean)
			}
		}
	})
	t.Run("unknown prompt", func(t *testing.T) {
		t.Parallel()
		list, err := load([]string{recordedTurns})
		if err != nil {
			t.Fatal(err)
		}
		c := list[0]
		c.Turns = c.Turns[:1]
		c.Turns[0].Text = "I keep bees in Tromsø."
		data, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "conversation.json")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err = measureModel(t, path, ChatModel{Replay: recorded})
		if err == nil || !strings.Contains(err.Error(), "score") || !strings.Contains(err.Error(), "Tromsø") {
			t.Errorf("%v", err)
		}
	})
}
