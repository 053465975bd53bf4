package hippocampus_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestGenerate_GivesTheCommittedCode(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "api.gen.go")
	if out, err := exec.Command("./generate", file).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	committed, err := os.ReadFile("api/api.gen.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, committed) {
		t.Error("api/api.gen.go is not what server/api/openapi.yaml gives: run sdk/go/generate")
	}
}
