package e2e

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"hippocampus/internal/llm/llmtest"
)

// off is a turn for which memory is not on.
func off(mode, conversation string, contents ...string) object {
	messages := []object{}
	for i, content := range contents {
		messages = append(messages, object{"role": []string{"user", "assistant"}[i%2], "content": content})
	}
	sent := object{"user_id": "ada", "memory": mode, "messages": messages, "wait": true}
	if conversation != "" {
		sent["conversation_id"] = conversation
	}
	return sent
}

// What is said while memory is off, or only read, is in no memory, candidate, summary, prompt or embedding, and in no
// row but that of its turn in a conversation: not after a kill, a replay or a consolidation either.
func TestMemoryOff_TurnsKeepNothing(t *testing.T) {
	onTwoSizes(t, func(t *testing.T, size size) {
		models := llmtest.New(t)
		var sent readings
		models.OnChat(func(r llmtest.ChatRequest) llmtest.Reply { sent.add(r.System, r.User); return llmtest.Rules(r) })
		models.OnEmbed(func(r llmtest.EmbedRequest) llmtest.Reply { sent.add(r.Texts...); return models.Embed(r) })
		s := start(t, append(size.settings(t), withModels(models)...)...)
		said := func(user, content string) object {
			return object{"user_id": user, "conversation_id": "c", "wait": true, "messages": []object{
				{"role": "user", "content": content}, {"role": "assistant", "content": "I see."},
			}}
		}
		var ids []string
		for _, mode := range []string{"off", "read"} {
			answer := s.call("POST", "/v1/turns", off(mode, "c", "I keep 47 axolotls.", "Do you also breed ocelots?"), 200)
			if answer.body["status"] != "processed" || answer.body["memory"] != mode ||
				!slices.Equal(reasonsIn(answer), []string{"memory_off", "memory_off"}) {
				t.Errorf("%s: %s", mode, answer.raw)
			}
			bare := s.call("POST", "/v1/turns", off(mode, "", "My safe is behind the heron."), 200)
			ids = append(ids, answer.body["id"].(string), bare.body["id"].(string))
			s.call("POST", "/v1/turns", said("ada", "Yes, I work as a florist in Porto."), 200)
		}
		s.call("POST", "/v1/turns", said("bob", "I keep 12 alpacas in Braga."), 200)
		s.kill()
		s.run()
		for _, id := range ids {
			s.call("POST", "/v1/turns/"+id+"/replay", object{}, 409)
			if read := s.call("GET", "/v1/turns/"+id, nil, 200); len(reasonsIn(read)) == 0 || read.list("candidates") != nil &&
				len(read.list("candidates")) > 0 {
				t.Errorf("the turn: %s", read.raw)
			}
		}
		s.call("POST", "/v1/conversations/c/consolidate", object{"user_id": "ada", "mode": "full", "wait": true}, 200)
		log := s.call("GET", "/v1/conversations/c?user_id=ada", nil, 200)
		if strings.Count(log.raw, "axolotls") != 2 || !strings.Contains(log.raw, "florist") {
			t.Errorf("the log: %s", log.raw)
		}
		if title := log.body["conversation"].(map[string]any)["title"].(string); !strings.Contains(title, "florist") {
			t.Errorf("the title is %q", title)
		}
		working := s.call("GET", "/v1/conversations/c/working?user_id=ada", nil, 200)
		for what, text := range map[string]string{
			"the memories":       s.call("GET", "/v1/memories?user_id=ada&limit=100", nil, 200).raw,
			"the candidates":     s.call("GET", "/v1/candidates?user_id=ada", nil, 200).raw,
			"the working memory": working.raw,
			"the models' input":  sent.all(),
			"a recall":           s.recalled("ada", "Which pets does she keep?"),
		} {
			if strings.Contains(text, "axolotl") || strings.Contains(text, "ocelot") || strings.Contains(text, "heron") {
				t.Errorf("%s: %s", what, text)
			}
		}
		if got := s.recalled("ada", "What is her work?"); !strings.Contains(got, "florist") {
			t.Errorf("recalled %q", got)
		}
		if got := s.recalled("bob", "Which animals does he keep?"); !strings.Contains(got, "alpacas") {
			t.Errorf("of another user, recalled %q", got)
		}
		for _, row := range append(s.rowsNaming("axolotl"), s.rowsNaming("ocelot")...) {
			if !strings.HasPrefix(row, "turns") {
				t.Errorf("a row: %s", row)
			}
		}
		if rows := s.rowsNaming("heron"); len(rows) > 0 {
			t.Errorf("rows: %q", rows)
		}
	})
}

func reasonsIn(turn reply) (reasons []string) {
	for _, part := range turn.list("left_out") {
		reasons = append(reasons, part["reason"].(string))
	}
	return reasons
}

// A turn for which memory is only read is answered with its context, and one for which it is off with an empty one. No
// log of recalls has what either says.
func TestMemoryOff_ContextOfATurn(t *testing.T) {
	onOneSize(t, func(t *testing.T, size size) {
		s := start(t, append(size.settings(t), "HIPPOCAMPUS_RECALL_LOG=true")...)
		s.call("POST", "/v1/turns", turn("ada", "I am allergic to peanuts."), 200)
		for _, mode := range []string{"read", "off"} {
			sent := off(mode, "", "Does my axolotl share my allergy to peanuts?")
			sent["return"] = "context"
			made := s.call("POST", "/v1/turns", sent, 200).body["context"].(map[string]any)
			text, route := made["text"].(string), made["route"].(map[string]any)
			if strings.Contains(text, "allergic") != (mode == "read") || route["skipped"] != (mode == "off") {
				t.Errorf("%s: %v", mode, made)
			}
			if mode == "off" && (text != "" || !strings.Contains(route["reason"].(string), "memory is off")) {
				t.Errorf("off: %v", made)
			}
		}
		s.recalled("ada", "What is she allergic to?")
		eventually(t, "the log of recalls", func() string {
			log := s.call("GET", "/v1/recalls?user_id=ada", nil, 200)
			if strings.Contains(log.raw, "axolotl") {
				t.Fatalf("the log has the words of a turn: %s", log.raw)
			}
			if len(log.list("recalls")) == 0 {
				return "it is empty"
			}
			return ""
		})
	})
}

var modesListed = regexp.MustCompile(`on\W+read\W+off`)

// A mode that does not exist is refused with the modes that do. The mode belongs to what an id was used for. A turn
// that is off may replace one that was remembered, and what was said while off can be said again with memory on.
func TestMemoryOff_IsPartOfTheTurn(t *testing.T) {
	onOneSize(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		for _, mode := range []any{"OFF", "none", "", 0, false, nil, []string{"off"}, object{"off": true}} {
			sent := off("off", "", "I keep axolotls.")
			sent["memory"] = mode
			refused := s.call("POST", "/v1/turns", sent, 400)
			if _, text := mode.(string); text && !modesListed.MatchString(refused.raw) {
				t.Errorf("%q: %s", mode, refused.raw)
			}
		}
		first := off("off", "", "I keep axolotls.")
		first["id"] = "t-1"
		id := s.call("POST", "/v1/turns", first, 200).body["id"]
		if again := s.call("POST", "/v1/turns", first, 200); again.body["id"] != id || again.body["repeated"] != true {
			t.Errorf("again: %s", again.raw)
		}
		first["memory"] = "on"
		s.call("POST", "/v1/turns", first, 409)

		s.call("POST", "/v1/turns", object{
			"id": "t-2", "user_id": "ada", "conversation_id": "c", "wait": true,
			"messages": []object{{"role": "user", "content": "I live in Lisbon."}},
		}, 200)
		replaced := off("off", "c", "I live in Coimbra.")
		replaced["replaces"] = "t-2"
		s.call("POST", "/v1/turns", replaced, 200)
		if got := s.recalled("ada", "Where does she live?"); got != "" {
			t.Errorf("recalled %q", got)
		}
		s.call("POST", "/v1/turns", turn("ada", "I live in Coimbra."), 200)
		if got := s.recalled("ada", "Where does she live?"); !strings.Contains(got, "Coimbra") {
			t.Errorf("recalled %q", got)
		}
	})
}
