// Package hippocampus holds what is true of the repository as a whole.
package hippocampus

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// storeys lists the top-level folders from the top of the house to the ground.
// A package imports only packages of lower storeys and of its own room, a room
// being a top-level folder with everything below it; rooms of one storey do not
// know each other.
var storeys = []struct {
	name  string
	holds string // what may live here
	rooms []string
}{
	{"tests", "scenarios that drive the built binary, examples, checks of the repository",
		[]string{"", "tests", "deploy", "examples"}},
	{"commands", "programs: flags in, exit codes out", []string{"cmd"}},
	{"server", "HTTP handlers, settings and the wiring of everything below", []string{"server"}},
	{"pages", "files for browsers", []string{"console"}},
	{"prompt", "what goes into a prompt, made from several services", []string{"assembly"}},
	{"processes", "services that drive other services: a conversation's end, export and import, files of the memory tool",
		[]string{"conversation", "exchange", "memorytool"}},
	{"services", "one job each against the stores: write, recall, reflect, forget, state facts, learn, notify",
		[]string{"ingest", "recall", "reflection", "forgetting", "knowledge", "learning", "notify"}},
	{"models and vectors", "what a turn or a query means, and the vector store with its projection",
		[]string{"scorer", "router", "vectorstore"}},
	{"record", "the database contract, its stores and its durable jobs", []string{"db"}},
	{"ground", "the domain's types, text, caches and model clients, which know no store; helpers of tests; pages of docs",
		[]string{"internal", "docs"}},
}

const module = "hippocampus"

// room returns the top-level folder of a package of this module.
func room(importPath string) string {
	path := strings.TrimPrefix(strings.TrimPrefix(importPath, module), "/")
	name, _, _ := strings.Cut(path, "/")
	return name
}

func TestLayout_ImportsPointDownwards(t *testing.T) {
	t.Parallel()
	depth := map[string]int{}
	for i, storey := range storeys {
		for _, name := range storey.rooms {
			depth[name] = i
		}
	}
	for importer, imports := range importsByPackage(t) {
		from, known := depth[room(importer)]
		if !known {
			t.Errorf("the folder of %s belongs to no storey: add it to storeys in layout_test.go", importer)
			continue
		}
		for _, imported := range imports {
			if imported != module && !strings.HasPrefix(imported, module+"/") || room(imported) == room(importer) {
				continue
			}
			if to, known := depth[room(imported)]; !known || to <= from {
				t.Errorf("%s (storey %q) imports %s (storey %q), which is not below it",
					importer, storeys[from].name, imported, storeys[to].name)
			}
		}
	}
}

// importsByPackage maps each package of this module to what it imports, tests
// left out.
func importsByPackage(t *testing.T) map[string][]string {
	t.Helper()
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	imports := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		imports[words[0]] = words[1:]
	}
	return imports
}

// The frame of requests is below the handlers: it imports neither another package of the server nor a service. Only
// the wiring imports the handlers; the adapters of other protocols send requests to them.
func TestLayout_FrameKnowsNoHandler(t *testing.T) {
	t.Parallel()
	const frame, handlers, wiring = module + "/server/frame", module + "/server/api", module + "/server/app"
	all := importsByPackage(t)
	if len(all[frame]) == 0 {
		t.Fatalf("%s imports nothing", frame)
	}
	for importer, imports := range all {
		if importer != wiring && slices.Contains(imports, handlers) {
			t.Errorf("%s imports %s", importer, handlers)
		}
	}
	for _, imported := range all[frame] {
		if name := room(imported); strings.HasPrefix(imported, module+"/") && name != "internal" && name != "db" {
			t.Errorf("%s imports %s", frame, imported)
		}
	}
}

// Only the contract's own adapter speaks to a store's client library.
func TestLayout_ClientLibrariesStayInTheirAdapters(t *testing.T) {
	t.Parallel()
	homes := map[string][]string{
		"github.com/milvus-io/": {"hippocampus/vectorstore/milvus", "hippocampus/cmd/bench"},
		"github.com/jackc/pgx/": {
			"hippocampus/db/postgres", "hippocampus/db/dbtest", "hippocampus/vectorstore/pgvector", "hippocampus/cmd/bench",
		},
		"modernc.org/sqlite":               {"hippocampus/db/sqlite", "hippocampus/vectorstore/sqlitevec"},
		"github.com/sashabaranov/":         {"hippocampus/internal/llm"},
		"github.com/labstack/":             {"hippocampus/server/frame"},
		"github.com/riverqueue/river":      {"hippocampus/db", "hippocampus/db/jobs"},
		"github.com/yuin/":                 {"hippocampus/server/site"},
		"github.com/spf13/cobra":           {"hippocampus/cmd/hippocampus", "hippocampus/cmd/bench"},
		"github.com/schollz/":              {"hippocampus/cmd/hippocampus"},
		"github.com/fsnotify/":             {"hippocampus/cmd/hippocampus"},
		"github.com/knadh/koanf":           {"hippocampus/server/config"},
		"github.com/tiktoken-go/":          {"hippocampus/internal/text"},
		"github.com/modelcontextprotocol/": {"hippocampus/server/mcp"},
		"github.com/Shopify/toxiproxy/":    {},
	}
	for importer, imports := range importsByPackage(t) {
		for _, imported := range imports {
			for library, allowed := range homes {
				if !strings.HasPrefix(imported, library) {
					continue
				}
				if !slices.ContainsFunc(allowed, func(home string) bool {
					return importer == home || strings.HasPrefix(importer, home+"/")
				}) {
					t.Errorf("%s imports %s, which belongs in %v", importer, imported, allowed)
				}
			}
		}
	}
}

// Every prompt has a golden file in both languages, so that a change of its wording is seen.
func TestPrompts_HaveGoldenFiles(t *testing.T) {
	t.Parallel()
	found := 0
	eachFile(t, ".", ".txt", func(path string, _ []byte) {
		folder, name := filepath.Split(path)
		if filepath.Base(folder) != "prompts" {
			return
		}
		found++
		name = strings.TrimSuffix(name, ".txt") + ".golden"
		golden, err := os.ReadFile(filepath.Join(folder, "..", "testdata", name))
		if err != nil || !strings.Contains(string(golden), "[hippocampus/") {
			t.Errorf("%s has no golden file testdata/%s: write one with llmtest.Golden (%v)", path, name, err)
		}
	})
	if found < 18 {
		t.Errorf("only %d prompts are found", found)
	}
}

// Every test that README.md or a page below docs names exists.
func TestDocs_NameExistingTests(t *testing.T) {
	t.Parallel()
	declared := map[string]bool{}
	declaration := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	eachFile(t, ".", "_test.go", func(_ string, text []byte) {
		for _, match := range declaration.FindAllSubmatch(text, -1) {
			declared[string(match[1])] = true
		}
	})
	mention := regexp.MustCompile(`\bTest[A-Z]\w*`)
	check := func(path string, text []byte) {
		for _, name := range mention.FindAllString(string(text), -1) {
			if !declared[name] {
				t.Errorf("%s names %s, which does not exist", path, name)
			}
		}
	}
	eachFile(t, "README.md", ".md", check)
	eachFile(t, "docs", ".md", check)
}

func TestDocs_NameExistingFiles(t *testing.T) {
	t.Parallel()
	mention := regexp.MustCompile("`((?:[\\w.-]+/)+[\\w.-]+\\.(?:go|yaml|sql|txt|json|md))`")
	for _, place := range []string{"README.md", "CONTRIBUTING.md", "docs"} {
		eachFile(t, place, ".md", func(path string, text []byte) {
			for _, match := range mention.FindAllSubmatch(text, -1) {
				if _, err := os.Stat(string(match[1])); err != nil {
					t.Errorf("%s names a file: %v", path, err)
				}
			}
		})
	}
}

// eachFile calls f with every file at or below path whose name ends in suffix.
func eachFile(t *testing.T, path, suffix string, f func(path string, text []byte)) {
	t.Helper()
	err := filepath.WalkDir(path, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, suffix) {
			return err
		}
		text, err := os.ReadFile(path)
		if err == nil {
			f(path, text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
