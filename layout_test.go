// Package hippocampus holds what is true of the repository as a whole.
package hippocampus

import (
	"os/exec"
	"strings"
	"testing"
)

// layers list the packages from the bottom up. A package imports only packages
// of lower layers, so that packages of one layer never know each other.
var layers = [][]string{
	{"internal/memory"},
	{"internal/text", "internal/cache", "internal/prepared", "db", "vectorstore", "internal/config"},
	{"internal/llm", "db/rowcodec", "vectorstore/guard", "vectorstore/sqlitevec", "vectorstore/milvus", "vectorstore/pgvector", "internal/jobs", "internal/history"},
	{"internal/llm/prompt", "internal/wordvec", "internal/derivation", "internal/facts", "internal/instructions", "internal/skills"},
	{"internal/llm/llmtest", "db/postgres", "db/sqlite", "db/dbtest", "vectorstore/vectortest",
		"vectorstore/milvus/milvustest", "scorer", "router", "internal/judge", "internal/projection"},
	{"db/postgres/postgrestest", "db/sqlite/sqlitetest", "recall", "compression", "internal/session", "forgetting", "reflection", "internal/ingest", "internal/reembed", "internal/erasure", "internal/exchange", "internal/related", "internal/announce"},
	{"internal/consolidation"},
	{"internal/assembly"},
	{"internal/api"},
	{"internal/app"},
	{"cmd/bench/target"},
	{"cmd/bench/quality", "cmd/bench/speed"},
	{"cmd/hippocampus", "cmd/bench"},
	{"", "e2e", "deploy", "proof"},
}

func TestImportsPointDownwards(t *testing.T) {
	t.Parallel()
	const module = "hippocampus"
	layer := map[string]int{}
	for i, packages := range layers {
		for _, name := range packages {
			layer[strings.TrimSuffix(module+"/"+name, "/")] = i
		}
	}
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		from, known := layer[words[0]]
		if !known {
			t.Errorf("%s stands in no layer: give it one", words[0])
			continue
		}
		for _, imported := range words[1:] {
			if imported != module && !strings.HasPrefix(imported, module+"/") {
				continue
			}
			if to, ok := layer[imported]; !ok || to >= from {
				t.Errorf("%s (layer %d) imports %s (layer %d), which is not below it", words[0], from, imported, to)
			}
		}
	}
}

// Only the contract's own adapter speaks to a store's client library.
func TestClientLibrariesStayInTheirAdapters(t *testing.T) {
	t.Parallel()
	homes := map[string][]string{
		"github.com/milvus-io/":         {"hippocampus/vectorstore/milvus", "hippocampus/cmd/bench"},
		"github.com/jackc/pgx/":         {"hippocampus/db/postgres", "hippocampus/db/dbtest", "hippocampus/vectorstore/pgvector", "hippocampus/cmd/bench"},
		"modernc.org/sqlite":            {"hippocampus/db/sqlite", "hippocampus/vectorstore/sqlitevec"},
		"github.com/sashabaranov/":      {"hippocampus/internal/llm"},
		"github.com/labstack/":          {"hippocampus/internal/api"},
		"github.com/riverqueue/river":   {"hippocampus/db", "hippocampus/internal/jobs"},
		"github.com/spf13/cobra":        {"hippocampus/cmd/hippocampus", "hippocampus/cmd/bench"},
		"github.com/schollz/":           {"hippocampus/cmd/hippocampus"},
		"github.com/knadh/koanf":        {"hippocampus/internal/config"},
		"github.com/tiktoken-go/":       {"hippocampus/internal/text"},
		"github.com/Shopify/toxiproxy/": {},
	}
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		for _, imported := range words[1:] {
			for library, allowed := range homes {
				if !strings.HasPrefix(imported, library) {
					continue
				}
				home := false
				for _, prefix := range allowed {
					home = home || words[0] == prefix || strings.HasPrefix(words[0], prefix+"/")
				}
				if !home {
					t.Errorf("%s imports %s, which belongs in %v", words[0], imported, allowed)
				}
			}
		}
	}
}
