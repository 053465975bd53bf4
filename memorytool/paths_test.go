package memorytool

import (
	"fmt"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"hippocampus/internal/memory"
	_ "hippocampus/internal/rapidtest" // sets its flags
)

func TestResolve_RefusesWhatCouldEscape(t *testing.T) {
	t.Parallel()
	for _, path := range []string{
		"/memories/..", "/memories/../x", "/memories/a/../../x", "/memories/a/..", "/memories/%2e%2e/x", "/memories/%2E./x",
		"/memories/.%2e", "/memories/a%2fb", "/memories/a%2F..%2F..", `/memories/..\x`, `/memories/a\b`, "/memories/a%5cb",
		`/memories/%5c`, "", "/", "memories", "memories/a", "/memoriesx", "/Memories/a", "//memories/a", " /memories/a",
		"/tmp/memories/a", "C:/memories/a", "/memories/a\nb", "/memories/a\x1bb", "/memories/a\x7fb", "/memories/\u0085",
		"/memories/" + strings.Repeat("a", 1015), "/memories" + strings.Repeat("/a", 21), "/memories/\xff",
	} {
		if got, err := resolve(path); err == nil {
			t.Errorf("%q is resolved to %q", path, got)
		}
	}
	for path, want := range map[string]string{
		"/memories": "/memories", "/memories/": "/memories", "/memories//a/./b/": "/memories/a/b", "/memories/.": "/memories",
		"/memories/...": "/memories/...", "/memories/..a": "/memories/..a", "/memories/100%": "/memories/100%",
		"/memories/e\u0301": "/memories/\u00e9", "/memories/日记/笔记.md": "/memories/日记/笔记.md",
		"/memories/" + strings.Repeat("a", 1014): "/memories/" + strings.Repeat("a", 1014),
		"/memories" + strings.Repeat("/a", 20):   "/memories" + strings.Repeat("/a", 20),
	} {
		if got, err := resolve(path); err != nil || got != want {
			t.Errorf("%q is resolved to %q, %v", path, got, err)
		}
	}
}

func TestResolve_ReturnsOnlyPathsWithinTheRoot(t *testing.T) {
	t.Parallel()
	parts := []string{
		"/", "/memories", "..", ".", "%2e", "%2f", `\`, "a", "é", "e\u0301", "\x00", "\n", "~", "%", "C:", "日",
	}
	rapid.Check(t, func(t *rapid.T) {
		path := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 12).Draw(t, "parts"), "")
		if rapid.Bool().Draw(t, "within") {
			path = "/memories/" + path
		}
		checkResolved(t, path)
	})
}

func FuzzResolve(f *testing.F) {
	for _, path := range []string{"/memories/a", "/memories/../b", "/memories/%2e%2e", "/memories/e\u0301"} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) { checkResolved(t, path) })
}

// checkResolved checks that a path that is accepted is the normal form of a path within the root.
func checkResolved(t rapid.TB, path string) {
	got, err := resolve(path)
	if err != nil {
		return
	}
	again, err := resolve(got)
	rest, within := strings.CutPrefix(got, memory.FileRoot)
	segments := strings.Split(rest, "/")[1:]
	switch {
	case err != nil || again != got:
		t.Fatalf("%q -> %q -> %q, %v", path, got, again, err)
	case !within || rest != "" && rest[0] != '/' || !norm.NFC.IsNormalString(got) || len(got) > memory.MaxPathBytes:
		t.Fatalf("%q -> %q", path, got)
	case strings.ContainsFunc(got, func(r rune) bool { return unicode.IsControl(r) || r == '\\' }):
		t.Fatalf("%q -> %q", path, got)
	}
	if rest == "" {
		segments = nil
	}
	for _, s := range segments {
		if s == "" || s == "." || s == ".." || strings.EqualFold(s, "%2e%2e") {
			t.Fatalf("%q -> %q", path, got)
		}
	}
}

func TestRun_StatesTheLimits(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	many := strings.Repeat("x\n\n", memory.MaxFileParagraphs)
	f.do(create("/memories/many", many))
	refused := func(c Command, want string) {
		t.Helper()
		if got := f.run(ada, c); !got.IsError || got.Content != want {
			t.Errorf("%s: %+v, want %q", c.Name, got, want)
		}
	}
	refused(create("/memories/long", strings.Repeat("x", memory.MaxFileBytes+1)),
		"File /memories/long cannot have this content: it has 102401 bytes: at most 102400 are allowed")
	refused(insert("/memories/many", 0, "one\n\nmore"), "File /memories/many would have 501 paragraphs, and at most 500 "+
		"are allowed: put some of them into another file")
	for n := range memory.MaxParagraphs/memory.MaxFileParagraphs - 1 {
		f.do(create(fmt.Sprint("/memories/many", n), many))
	}
	refused(create("/memories/more", "x"), "The memory directory would hold 5001 paragraphs, and at most 5000 are "+
		"allowed: delete files that are not needed")
	f.do(remove("/memories/many"), create("/memories/more", "x"))
}
