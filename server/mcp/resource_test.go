package mcp_test

import (
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// read returns the text of a resource.
func (c *client) read(uri string) string {
	c.t.Helper()
	answer, err := c.ReadResource(c.t.Context(), &sdk.ReadResourceParams{URI: uri})
	if err != nil {
		c.t.Fatalf("%s: %v", uri, err)
	}
	return answer.Contents[0].Text
}

func TestFile_HoldsTheUsersMemories(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	c := f.connect(f.write, "")
	user := "ada/lovelace é"
	for _, m := range []args{
		{"content": "Lives in Lisbon."}, {"content": "Likes\n\n## green tea.", "type": "preference"},
		{"content": "said so", "type": "message"},
	} {
		m["user_id"] = user
		c.call("add_memory", m)
	}
	_, listed := c.call("list_memories", args{"user_id": user})
	want := c.read("memory://ada%2Flovelace%20%C3%A9/memory.md")
	contains(t, want, "user: \"ada/lovelace é\"\n", "# Facts\n\n- Lives in Lisbon. <!-- m:"+listed.Memories[2].ID+" rev:",
		"# Preferences\n\n- Likes\n\n  ## green tea. <!-- m:"+listed.Memories[1].ID+" rev:")
	if strings.Contains(want, "said so") {
		t.Errorf("the file shows a message:\n%s", want)
	}
	contains(t, c.read("memory://bob/memory.md"), "user: bob\n")

	bound := f.connect(f.read, "?user_id=ada%2Flovelace%20%C3%A9")
	if text := bound.read("memory://me/memory.md"); text != want {
		t.Errorf("the file of the connection's user is\n%s\nwant\n%s", text, want)
	}
	if answer, err := bound.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "memory://bob/memory.md"}); err == nil {
		t.Errorf("a connection of one user reads the file of another: %+v", answer)
	}
}

func TestPrompt_RecallsWhatMatters(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.connect(f.write, "").call("add_memory", args{"user_id": "ada", "content": "Lives in Lisbon."})
	for name, c := range map[string]struct {
		query string
		args  map[string]string
	}{
		"user as an argument":    {"", map[string]string{"query": "Where does Ada live?", "user_id": "ada"}},
		"user of the connection": {"?user_id=ada", map[string]string{"query": "Where does Ada live?"}},
		"unknown argument":       {"?user_id=ada", map[string]string{"query": "Where?", "other": "x"}},
	} {
		get := &sdk.GetPromptParams{Name: "recall", Arguments: c.args}
		answer, err := f.connect(f.read, c.query).GetPrompt(t.Context(), get)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		contains(t, answer.Messages[0].Content.(*sdk.TextContent).Text, "Scope: user ada of app mine.", "Lives in Lisbon.")
	}
	escape := &sdk.GetPromptParams{Name: "recall", Arguments: map[string]string{"query": "Where?", "user_id": "ada"}}
	if _, err := f.connect(f.read, "?user_id=bob").GetPrompt(t.Context(), escape); err == nil ||
		!strings.Contains(err.Error(), "user_id is not an argument here") {
		t.Errorf("a bound connection asks for another user: %v", err)
	}
}
