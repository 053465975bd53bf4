package e2e

import (
	"path/filepath"
	"testing"
)

// A conversation with turns of every kind is the same on the server that imports it: withdrawn ones, ones that memory
// was off for, and ones with an end, with secrets, with forgotten statements and with parts that are not remembered.
func TestExport_TurnsOfEachKindAreImported(t *testing.T) {
	onOneDatabase(t, func(t *testing.T, size size) {
		source, target := start(t, size.settings(t)...), start(t, size.settings(t)...)
		turn := func(id string, more object, contents ...string) {
			t.Helper()
			sent := object{"user_id": "ada", "conversation_id": "c", "id": id, "wait": true}
			var messages []object
			for i, content := range contents {
				messages = append(messages, object{"role": []string{"user", "assistant"}[i%2], "content": content})
			}
			sent["messages"] = messages
			for name, value := range more {
				sent[name] = value
			}
			source.call("POST", "/v1/turns", sent, 200)
		}
		source.setPolicy(object{"never": object{"terms": []string{"diabetes"}}})
		turn("withdrawn", nil, "I live in Lisbon.", "Nice.")
		turn("ends", object{"expires_at": "2030-01-01"}, "I am allergic to peanuts.", "Noted.")
		turn("off", object{"memory": "off"}, "I hate Mondays.")
		turn("read", object{"memory": "read"}, "I hate Tuesdays.")
		turn("policy", nil, "My sister has diabetes. She keeps bees.", "Thanks for telling me!")
		turn("secret", nil, "My key is AKIAIOSFODNN7EXAMPLQ, and my dog is called Keks.", "Ok.")
		turn("plain", object{"metadata": object{"a": 1}}, "I keep two hives of bees.", "Lovely, thanks.")
		source.call("DELETE", "/v1/turns/withdrawn", nil, 200)
		for _, m := range source.call("GET", "/v1/memories?user_id=ada", nil, 200).list("memories") {
			if m["content"] == "I am allergic to peanuts." && m["type"] != "message" {
				source.call("DELETE", "/v1/memories/"+m["id"].(string), nil, 200)
			}
		}
		file := filepath.Join(t.TempDir(), "export")
		if out, err := source.carry(adminKey, "export", file, "--user", "ada", "--embeddings"); err != nil {
			t.Fatalf("export: %s %v", out, err)
		}
		if out, err := target.carry(adminKey, "import", file); err != nil {
			t.Fatalf("import: %s %v", out, err)
		}
		if exported, again := exportedBody(t, file), target.exportOf(t, "ada"); again != exported {
			t.Errorf("the import is exported as\n%s\nand was\n%s", again, exported)
		}
	})
}
