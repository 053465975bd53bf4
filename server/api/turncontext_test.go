package api

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hippocampus/ingest"
	"hippocampus/internal/memory"
	"hippocampus/recall"
)

// withContext is a turn of the user "u" in the conversation "c" that asks for its context; fields end with a comma.
func withContext(fields, content string) string {
	return `{` + fields + `"user_id":"u","agent_id":"butler","conversation_id":"c","return":"context",` +
		`"messages":[{"role":"user","content":"` + content + `"}]}`
}

// The context of a turn is what POST /v1/context answers to its last words before the turn is known, also if the turn
// is sent again after it was processed.
func TestTurns_ReturnTheirContext(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.fillParts()
	f.keep(ingest.Write{Owner: owner("other"), Content: "Is allergic to walnuts."})
	const said = "I am allergic to walnuts. May I eat peanuts?"
	const options = `"touch":false,"max_tokens":1000`
	want := f.contextOf(`"user_id":"u","agent_id":"butler","conversation_id":"c","query":"` + said + `",` + options)
	sent := withContext(`"id":"t-1","context":{`+options+`},`, said)
	for _, status := range []int{202, 200} {
		got := fetch[turnBody](f, status, "POST", "/v1/turns", sent)
		if got.Context == nil || got.ContextProblem != nil || got.ClientID != "t-1" {
			t.Fatalf("%+v", got)
		}
		if diff := cmp.Diff([]string{want.Text, want.Query}, []string{got.Context.Text, got.Context.Query}); diff != "" {
			t.Error(diff)
		}
		if status == 202 {
			f.work()
			if done := f.settle(got.ID); len(done.Candidates) == 0 || done.Candidates[0].Verdict != memory.Kept {
				t.Fatalf("%+v", done)
			}
		}
	}
	later := f.contextOf(`"user_id":"u","agent_id":"butler","query":"Which nuts is the user allergic to?"`)
	if !strings.Contains(later.Text, "walnuts") {
		t.Errorf("without the turn: %s", later.Text)
	}
}

// A turn without words of the user is answered with the context for what the user said before it.
func TestTurns_ReturnTheContextOfTheConversation(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.fillParts()
	sent := strings.Replace(withContext("", "I see."), `"role":"user"`, `"role":"assistant"`, 1)
	got := fetch[turnBody](f, 202, "POST", "/v1/turns", sent)
	if got.Context.Query != "What may I eat: peanuts?" || strings.Contains(got.Context.Text, "I see") {
		t.Errorf("%+v", got.Context)
	}
}

// away is a recaller whose database does not answer.
type away struct{ Recaller }

func (away) Recall(context.Context, recall.Query) (recall.Answer, error) {
	return recall.Answer{}, memory.Errorf(memory.KindUnavailable, "the database does not answer")
}

func TestTurns_AreAcceptedWithoutTheirContext(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(o *Options) { o.Recall.Recaller = away{o.Recall.Recaller} })
	got := fetch[turnBody](f, 202, "POST", "/v1/turns", withContext(`"id":"t-1",`, "May I eat peanuts?"))
	if got.Context != nil || got.ContextProblem == nil || got.ContextProblem.Status != 503 {
		t.Errorf("%+v", got)
	}
	if stored, err := f.store.Turn(t.Context(), "app", "t-1"); err != nil || stored.ID != got.ID {
		t.Errorf("%+v, %v", stored, err)
	}
}

// The rules of POST /v1/context hold, and a turn that breaks them is not accepted.
func TestTurns_RefuseWhatAContextRefuses(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	for options, path := range map[string]string{
		`{"max_chars":9,"model":"gpt-4o"}`: "context.model",
		`{"user_id":"other"}`:              "context.user_id",
		`{"query":"q"}`:                    "context.query",
		`{"conversation_id":"c"}`:          "context.conversation_id",
		`{"limit":101}`:                    "context.limit",
		`{"since":"x"}`:                    "context.since",
		`[]`:                               "context",
	} {
		f.wantPaths("POST", "/v1/turns", withContext(`"context":`+options+`,`, "Hi."), path)
	}
	f.wantPaths("POST", "/v1/turns", strings.Replace(aTurn, "{", `{"context":{},`, 1), "context")
	f.wantPaths("POST", "/v1/turns", strings.Replace(aTurn, "{", `{"return":"all",`, 1), "return")
	f.want(403, "POST", "/v1/turns", withContext("", "Hi."), "Authorization", "Bearer read")
	if listed := f.want(200, "GET", "/v1/turns", "").Body.String(); strings.Contains(listed, `"id"`) {
		t.Errorf("accepted: %s", listed)
	}
}
