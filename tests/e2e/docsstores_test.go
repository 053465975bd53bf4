package e2e

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"testing"

	"hippocampus/db/postgres/postgrestest"
	"hippocampus/internal/llm/llmtest"
	"hippocampus/vectorstore/milvus/milvustest"
)

// onPagesThatNeed runs a test for each page with those of its blocks that have one of the needs. Continued lines are
// joined.
func onPagesThatNeed(t *testing.T, needs []string, least int, test func(p *docPage, blocks []string)) {
	t.Helper()
	t.Parallel()
	pages := 0
	for _, name := range docPages(t) {
		var blocks []string
		for _, b := range commandsOf(t, name) {
			if slices.Contains(needs, b.Needs) {
				blocks = append(blocks, strings.ReplaceAll(b.Text, " \\\n", " "))
			}
		}
		if len(blocks) == 0 {
			continue
		}
		pages++
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(newPage(t), blocks)
		})
	}
	if pages < least {
		t.Errorf("only %d pages have blocks that need %q", pages, needs)
	}
}

// The commands that need Postgres or Milvus work on a server that has both.
func TestDocs_CommandsWorkOnPostgresAndMilvus(t *testing.T) {
	onPagesThatNeed(t, []string{"postgres", "milvus"}, 3, func(p *docPage, blocks []string) {
		database, restored := postgrestest.DatabaseURL(p.t), postgrestest.DatabaseURL(p.t)
		at, err := url.Parse(restored)
		if err != nil {
			p.t.Fatal(err)
		}
		password, _ := at.User.Password()
		p.env = append(p.env, "PGHOST="+at.Hostname(), "PGPORT="+at.Port(), "PGUSER="+at.User.Username(),
			"PGPASSWORD="+password)
		name := strings.TrimPrefix(at.Path, "/")
		collection := milvustest.Collection(p.t)
		const verify = "DATABASE_URL=postgres:///restored MILVUS_MEMORY_COLLECTION=restored hippocampus verify"
		here := strings.NewReplacer(
			// A busy Milvus may not answer in time.
			verify, fmt.Sprintf("for _ in {1..9}; do DATABASE_URL=%s MILVUS_MEMORY_COLLECTION=%s_restored hippocampus verify"+
				" && break; done", restored, collection),
			"createdb restored", fmt.Sprintf("dropdb %[1]s\ncreatedb %[1]s", name), "--dbname=restored", "--dbname="+name,
			"postgres:///restored", restored, "COLLECTION=restored", "COLLECTION="+collection+"_restored",
			"postgres://hippocampus:secret@db.example.com/hippocampus", restored, "127.0.0.1:8081", "127.0.0.1:8080")
		host, port, err := net.SplitHostPort(milvustest.Addr(p.t))
		if err != nil {
			p.t.Fatal(err)
		}
		p.settings = []string{
			"DATABASE_URL=" + database, "MILVUS_HOST=" + host, "MILVUS_PORT=" + port,
			"MILVUS_MEMORY_COLLECTION=" + collection, "HIPPOCAMPUS_MILVUS_PARTITIONS=4",
		}
		p.env = append(p.env, p.settings...) // of the commands that open the stores themselves
		p.serve("", "")
		p.bash("hippocampus remember 'Keeps bees.' --user ada\nhippocampus export all.ndjson\n")
		for _, text := range blocks {
			p.run(here.Replace(text))
			eventually(p.t, "the stores being equal", func() string {
				if out, err := p.s.tryCommand("verify"); err != nil {
					return out
				}
				return ""
			})
		}
		p.bash("hippocampus recall 'Who keeps bees?' --user ada | grep bees")
	})
}

// The commands that need a model's endpoint work with a scripted one.
func TestDocs_CommandsWorkWithAModel(t *testing.T) {
	onPagesThatNeed(t, []string{"model"}, 2, func(p *docPage, blocks []string) {
		model := llmtest.New(p.t)
		model.OnChat(func(r llmtest.ChatRequest) llmtest.Reply {
			if strings.Contains(r.System, "[hippocampus/reflect]") {
				return llmtest.Text(`{"insights":[{"insight":"Ada swims and cycles every week.","sources":[1,2]}]}`)
			}
			return llmtest.Text("In Lisbon.")
		})
		here := strings.NewReplacer("ollama pull nomic-embed-text\n", "", "https://api.jina.ai/v1", model.URL(),
			"http://127.0.0.1:9090/v1", model.URL(), "curl -s localhost:9090/last\n", "")
		for _, text := range blocks {
			p.settings = nil
			if strings.Contains(text, "=ollama") {
				p.settings = []string{"QWEN_API_BASE=" + model.OllamaURL()}
			}
			if strings.Contains(text, "DEEPSEEK_API_KEY=") {
				p.settings = []string{"DEEPSEEK_API_BASE=" + model.URL()}
			}
			p.run(here.Replace(text))
			eventually(p.t, "the memories of another block's model being embedded again", func() string {
				if serving, target, remaining := p.s.embedding(); serving != target {
					return fmt.Sprintf("%s serves, %s is to, %v remain", serving, target, remaining)
				}
				return ""
			})
			p.bash("hippocampus remember 'Keeps bees.' --user ada\nhippocampus recall 'Who keeps bees?' --user ada | grep bees")
		}
	})
}
