package mcp_test

import (
	"net"
	"slices"
	"strings"
	"testing"

	"hippocampus/server/config"
)

// The results of a search and of a context name the parts of the server that were unavailable.
func TestTools_NameUnavailableParts(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	unused := listener.Addr().(*net.TCPAddr).Port
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	const notice = "The vector store was unavailable: older memories may be missing.\n"
	for name, unavailable := range map[string]bool{"all parts work": false, "no vector store": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, func(cfg *config.Config) {
				if unavailable {
					cfg.Milvus.Host, cfg.Milvus.Port = "127.0.0.1", unused
				}
			})
			c := f.connect(f.write, "")
			c.call("add_memory", args{"user_id": "ada", "content": "Lives in Lisbon."})
			for _, tool := range []string{"search_memories", "get_context"} {
				text, answer := c.call(tool, args{"user_id": "ada", "query": "Where does Ada live?"})
				contains(t, text, "Lives in Lisbon.")
				if strings.Contains(text, notice) != unavailable ||
					slices.Contains(answer.Degraded, "vector_store") != unavailable {
					t.Errorf("%s: %q, degraded %q", tool, text, answer.Degraded)
				}
			}
			text, _ := c.call("search_memories", args{"user_id": "bob", "query": "Where does Bob live?"})
			contains(t, text, "This user has no memories at all")
		})
	}
}
