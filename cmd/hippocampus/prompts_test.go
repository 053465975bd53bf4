package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hippocampus/server/trial"
)

// Every prompt of the repository can be tried.
func TestPrompts_ListsAll(t *testing.T) {
	t.Parallel()
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, entry os.DirEntry, err error) error {
		name, isPrompt := strings.CutSuffix(filepath.Base(path), ".en.txt")
		if err != nil || entry.IsDir() || !isPrompt || filepath.Base(filepath.Dir(path)) != "prompts" {
			return err
		}
		if !slices.ContainsFunc(trial.Prompts, func(p trial.Prompt) bool { return p.Name == name }) {
			t.Errorf("the prompt %s is missing in trial.Prompts: add it, with its input in docs/prompts", path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
