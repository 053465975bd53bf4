package llmtest

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hippocampus/internal/llm"
)

// Golden compares a rendered prompt with a file. With GOLDEN=write in the environment, it writes the file.
func Golden(t *testing.T, path string, p llm.Prompt) {
	t.Helper()
	rendered := "--- system\n" + p.System + "\n--- user\n" + p.User + "\n"
	if os.Getenv("GOLDEN") == "write" {
		if err := os.WriteFile(path, []byte(rendered), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v: run the test with GOLDEN=write", err)
	}
	if diff := cmp.Diff(string(want), rendered); diff != "" {
		t.Errorf("%s: read the prompt, and run the test with GOLDEN=write if it is as intended: %s", path, diff)
	}
}
