package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGenerate_CommittedFileIsCurrent(t *testing.T) {
	t.Parallel()
	want, err := generate(filepath.Join("..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join("..", "crashing_gen_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("crashing_gen_test.go is out of date: run go generate ./tests/proof (-want +got)\n%s", diff)
	}
}
