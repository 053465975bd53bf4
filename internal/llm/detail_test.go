package llm_test

import (
	"strings"
	"testing"
	"time"

	"hippocampus/internal/llm"
	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
)

// A caller of the server reads the endpoint's status and words, but not its address, the key, other secrets or the
// prompt.
func TestDetail_SaysWhyAndNamesNoSecret(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 280) + " " + secret // which ends amid the key
	for name, test := range map[string]struct {
		reply llmtest.Reply
		want  string
	}{
		"key": {llmtest.Raw("Wrong key " + secret + ".").As(401),
			"the model's endpoint answered with status 401 Unauthorized: Wrong key [key].: check the API key"},
		"address": {want: "404 Not Found: See [endpoint]/help.: check the base URL"},
		"balance": {llmtest.Raw(`{"error":{"message":"Insufficient Balance"}}`).As(402),
			"402 Payment Required: Insufficient Balance: check the account's balance"},
		"long": {llmtest.Raw(long).As(400), "aa…: check"},
		"token": {llmtest.Raw("Use ghp_1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8S").As(400),
			"Use [secret]: check that the model supports"},
		"slow":      {llmtest.Hang(), "the model gave no answer within 300ms"},
		"cut":       {llmtest.Cut(), "cannot be reached, or broke off its answer"},
		"no JSON":   {llmtest.Raw("<html>"), "does not have the form of the API: check the base URL"},
		"no choice": {llmtest.Raw(`{"ok":true}`), "cannot be used: the answer has no choice"},
		"no object": {llmtest.Text("well"), "the model's answer cannot be used: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := llmtest.New(t)
			address := strings.TrimSuffix(strings.TrimPrefix(server.URL(), "http://"), "/v1")
			server.OnChat(func(llmtest.ChatRequest) llmtest.Reply {
				if name == "address" {
					return llmtest.Raw("See http://" + address + "/help.").As(404)
				}
				return test.reply
			})
			chat := dial(t, server.URL(), func(o *llm.Options) { o.Timeout, o.Retries = 300*time.Millisecond, -1 }).Chat("m")
			_, err := llm.Ask(t.Context(), chat, llm.Prompt{System: "the prompt", User: "the prompt"}, readBox)
			detail := memory.DetailOf(err)
			if !strings.Contains(detail, test.want) || len(detail) > 600 {
				t.Errorf("%q, want %q", detail, test.want)
			}
			for _, hidden := range []string{secret, "sk-", address, "127.0.0.1", "the prompt"} {
				if strings.Contains(detail, hidden) {
					t.Errorf("%q holds %q", detail, hidden)
				}
			}
		})
	}
}
