package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGenerate_CommittedFileIsCurrent(t *testing.T) {
	t.Parallel()
	want, err := generate(filepath.Join("..", "openapi.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join("..", "requests.json"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("requests.json is out of date: run go generate ./server/api (-want +got)\n%s", diff)
	}
}
