package console

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// dist.sha256, which a build writes, has the hashes of the sources and of what they built.
func TestConsole_IsBuiltFromItsSources(t *testing.T) {
	t.Parallel()
	folder := os.DirFS(".")
	var lines []string
	err := fs.WalkDir(folder, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name == "node_modules":
			return fs.SkipDir
		case entry.IsDir(), strings.HasPrefix(name, "."), path.Ext(name) == ".go", path.Base(name) == "schema.d.ts",
			name == "pictures", name == "dist.sha256":
			return nil
		}
		content, err := fs.ReadFile(folder, name)
		lines = append(lines, fmt.Sprintf("%x  %s", sha256.Sum256(content), name))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	stated, err := os.ReadFile("dist.sha256")
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimSpace(string(stated)), "\n")
	slices.Sort(want)
	slices.Sort(lines)
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("run `npm run build` in console/ and commit dist and dist.sha256 (-at the build +now)\n%s", diff)
	}
}
