package hippocampus_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

func TestReadme_HasOnlyCodeThatTheExamplesRun(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	examples, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	indentation := regexp.MustCompile(`(?m)^\t+`)
	run := indentation.ReplaceAllString(string(examples), "")
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(readme), -1)
	for _, block := range blocks {
		if !strings.Contains(run, indentation.ReplaceAllString(block[1], "")) {
			t.Errorf("no example runs\n%s", block[1])
		}
	}
	if len(blocks) != 3 {
		t.Errorf("%d blocks of code are found", len(blocks))
	}
}
