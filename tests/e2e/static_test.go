package e2e

import (
	"debug/elf"
	"testing"
)

// The binary of the tests, built as README.md states, needs neither a dynamic linker nor a library.
func TestBinary_IsStatic(t *testing.T) {
	t.Parallel()
	file, err := elf.Open(binary)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, p := range file.Progs {
		if p.Type == elf.PT_INTERP {
			t.Error("the binary names a dynamic linker")
		}
	}
	if libraries, err := file.ImportedLibraries(); err == nil && len(libraries) > 0 {
		t.Errorf("the binary needs %v", libraries)
	}
}
