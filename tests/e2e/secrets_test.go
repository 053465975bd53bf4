package e2e

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/secret/secrettest"
)

// talks reports texts of a role, twenty in each turn of a conversation, and returns the answers.
func (s *server) talks(user, conversation, role string, texts []string) (answers []reply) {
	s.t.Helper()
	for said := range slices.Chunk(texts, 20) {
		var messages []object
		for _, text := range said {
			messages = append(messages, object{"role": role, "content": text})
		}
		answers = append(answers, s.call("POST", "/v1/turns", object{
			"user_id": user, "conversation_id": conversation, "messages": messages, "wait": true,
		}, 200))
	}
	return answers
}

// contentsOf returns the contents of a user's active memories.
func (s *server) contentsOf(user, query string) map[string]bool {
	s.t.Helper()
	all, cursor := map[string]bool{}, ""
	for {
		page := s.call("GET", "/v1/memories?limit=200&user_id="+user+query+cursor, nil, 200)
		for _, m := range page.list("memories") {
			all[m["content"].(string)] = true
		}
		next, more := page.body["next_cursor"].(string)
		if !more {
			return all
		}
		cursor = "&cursor=" + url.QueryEscape(next)
	}
}

// readings collects the texts that a model is sent.
type readings struct {
	mu    sync.Mutex
	texts strings.Builder
}

func (r *readings) add(texts ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, text := range texts {
		fmt.Fprintln(&r.texts, text)
	}
}

func (r *readings) reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.texts.Reset()
}

func (r *readings) all() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.texts.String()
}

// A secret is in no memory, candidate, prompt, embedding, answer, export, row or log line, whatever its role and route,
// and the text around it stays.
func TestSecrets_AreNowhere(t *testing.T) {
	onMainSizes(t, func(t *testing.T, size size) {
		models := llmtest.New(t)
		var sent readings
		models.OnChat(func(r llmtest.ChatRequest) llmtest.Reply { sent.add(r.System, r.User); return llmtest.Rules(r) })
		models.OnEmbed(func(r llmtest.EmbedRequest) llmtest.Reply { sent.add(r.Texts...); return models.Embed(r) })
		s := start(t, append(append(size.settings(t), withModels(models)...),
			"HIPPOCAMPUS_LOG_LEVEL=debug", "HIPPOCAMPUS_RECALL_LOG=true", "HIPPOCAMPUS_SECRETS_KEEP=true",
			"HIPPOCAMPUS_MESSAGES_ENABLED=false", "HIPPOCAMPUS_GATE_THRESHOLD=1")...)
		texts := secrettest.Read(t, secrettest.HeldOut, secrettest.Tuned)
		var said, secrets []string
		for _, text := range texts {
			said = append(said, text.Said)
			for _, one := range text.Secrets {
				if len(one) >= 8 { // shorter ones may be in numbers and ids by chance
					secrets = append(secrets, one)
				}
			}
		}
		s.call("POST", "/v1/turns", turn("past", "I live in Oslo. "+texts[0].Said), 200)
		kept := s.call("POST", "/v1/memories", object{"user_id": "keeper", "content": said[0]}, 201)
		if kept.body["content"] != said[0] || kept.body["secrets"] != nil {
			t.Errorf("with secrets.keep, the memory is %s", kept.raw)
		}
		s.erase("keeper")
		s.stop()
		s.predate()
		s.env = append(s.env, "HIPPOCAMPUS_SECRETS_KEEP=false", "HIPPOCAMPUS_MESSAGES_ENABLED=true",
			"HIPPOCAMPUS_GATE_THRESHOLD=0.7")
		before := s.printed()
		s.run()
		sent.reset()
		eventually(t, "the messages of the past", func() string {
			if s.contentsOf("past", "")["I live in Oslo. "+texts[0].Cleaned] {
				return ""
			}
			return fmt.Sprint(s.contentsOf("past", ""))
		})
		s.erase("past")

		var answers []string
		keep := func(replies ...reply) {
			for _, r := range replies {
				answers = append(answers, r.raw)
			}
		}
		for _, role := range []string{"user", "assistant", "tool"} {
			turns := s.talks("ada", "of-"+role, role, said)
			keep(turns...)
			for n, r := range turns {
				cut := r.list("secrets")
				if len(cut) < min(20, len(said)-20*n) || cut[0]["path"] != "messages[0].content" {
					t.Errorf("turn %d of the %s answers %v", n, role, cut)
				}
			}
			if again := s.talks("ada", "of-"+role, role, said[len(said)-20:])[0]; again.body["repeated"] != true {
				t.Errorf("the last messages of the %s, reported again, are new: %s", role, again.raw)
			}
		}
		have := s.contentsOf("ada", "&type=message")
		for _, text := range texts {
			if !have[text.Cleaned] {
				t.Errorf("no message is %q", text.Cleaned)
			}
		}

		var batch []object
		for _, text := range said {
			batch = append(batch, object{
				"user_id": "bo", "content": text, "metadata": object{"note": text}, "dedup": false, // some contradict others
			})
		}
		written := s.call("POST", "/v1/memories/batch", object{"memories": batch}, 200)
		keep(written)
		for i, r := range written.list("results") {
			if cut := listOf(r["secrets"]); len(cut) < 2 || cut[0]["path"] != "content" || cut[1]["kind"] == "" {
				t.Errorf("the write of %q answers %v", said[i], r)
			}
		}
		direct := s.contentsOf("bo", "")
		for _, text := range texts {
			if !direct[text.Cleaned] {
				t.Errorf("no direct write is %q", text.Cleaned)
			}
		}
		one := s.call("POST", "/v1/memories", object{"user_id": "cleo", "content": "Plays the cello.",
			"metadata": object{"password": "otter42"}}, 201)
		id := one.body["id"].(string)
		if cut := one.list("secrets"); len(cut) != 1 || cut[0]["path"] != "metadata.password" {
			t.Errorf("a write with a password in its metadata answers %s", one.raw)
		}
		for _, text := range texts[:40] {
			changed := s.call("PATCH", "/v1/memories/"+id, object{"content": text.Said}, 200)
			keep(changed)
			if changed.body["content"] != text.Cleaned || changed.body["secrets"] == nil {
				t.Errorf("the change to %q answers %s", text.Said, changed.raw)
			}
		}
		keep(
			s.call("PUT", "/v1/facts",
				object{"user_id": "cleo", "type": "note", "key": "wifi_password", "value": said[0]}, 200),
			s.call("POST", "/v1/instructions",
				object{"scope": "user", "user_id": "cleo", "name": "deploy", "content": said[1]}, 201),
			s.call("POST", "/v1/memory-tool", object{"user_id": "cleo", "command": "create", "path": "/memories/a.md",
				"file_text": strings.Join(said, "\n\n")}, 200),
			s.call("PATCH", "/v1/conversations/of-user", object{"title": said[4]}, 200),
		)
		s.call("POST", "/v1/conversations/of-user/consolidate", object{"mode": "full"}, 202)
		for _, text := range said[:20] {
			keep(s.call("POST", "/v1/recall", object{"user_id": "ada", "query": text}, 200),
				s.call("POST", "/v1/context", object{"user_id": "ada", "query": text, "conversation_id": "of-user"}, 200))
		}
		for _, path := range []string{
			"/v1/turns?limit=50", "/v1/candidates?user_id=ada&limit=200", "/v1/conversations/of-user",
			"/v1/conversations/of-tool", "/v1/recalls?user_id=ada&limit=200",
		} {
			keep(s.call("GET", path, nil, 200))
		}
		for _, user := range []string{"ada", "bo", "cleo"} {
			answers = append(answers, s.exportOf(t, user))
		}
		places := map[string]string{
			"an answer": strings.Join(answers, "\n"), "a prompt or an embedding": sent.all(),
			"the log": strings.TrimPrefix(s.printed(), before),
		}
		for _, one := range secrets {
			for _, place := range slices.Sorted(maps.Keys(places)) {
				if strings.Contains(places[place], one) {
					t.Errorf("%s holds the secret %q", place, one)
				}
			}
		}
		for _, one := range secrets[:12] { // a scan of all tables each
			if rows := s.rowsNaming(one); len(rows) > 0 {
				t.Errorf("rows hold the secret %q: %.300s", one, rows)
			}
		}
	})
}

// A sentence that merely mentions secrets stays unchanged.
func TestSecrets_HarmlessSentencesAreKept(t *testing.T) {
	onOneDatabase(t, func(t *testing.T, size size) {
		s := start(t, size.settings(t)...)
		var said []string
		for _, text := range secrettest.Read(t, secrettest.HeldOutHarmless, secrettest.TunedHarmless) {
			said = append(said, text.Said)
		}
		for _, r := range s.talks("ada", "c", "user", said) {
			if r.body["secrets"] != nil {
				t.Errorf("a turn without secrets answers %v", r.list("secrets"))
			}
		}
		have := s.contentsOf("ada", "&type=message")
		for _, text := range said {
			if !have[text] {
				t.Errorf("no message is %q", text)
			}
		}
		for query, want := range map[string]string{
			"Which password manager do I use?":              "Bitwarden",
			"Who knows my PIN?":                             "My wife knows my PIN",
			"What was my thesis about?":                     "public key cryptography",
			"我的密码是谁设的？":                                     "女儿设的",
			"验证码收得到吗？":                                      "验证码",
			"Which pins do I collect, and how many of them": "enamel pins",
		} {
			if got := s.recalled("ada", query); !strings.Contains(got, want) {
				t.Errorf("%s recalled %q", query, got)
			}
		}
	})
}
