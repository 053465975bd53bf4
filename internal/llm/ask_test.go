package llm_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"hippocampus/internal/llm"
	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
)

// tally records what an observer is notified of.
type tally struct {
	mu       sync.Mutex
	calls    []llm.Call
	outcomes []string
}

func (c *tally) OnCall(call llm.Call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls = append(c.calls, call)
}

func (c *tally) OnAnswer(reading llm.Reading) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.outcomes = append(c.outcomes, reading.Prompt+" "+string(reading.Outcome))
}

func readBox(a *llm.Answer) (string, error) {
	var b box
	err := a.Decode(&b)
	return b.Text, err
}

// A model that repeats itself at temperature 0 answers differently once it knows what was wrong.
func TestAsk_CorrectsRefusedAnswer(t *testing.T) {
	t.Parallel()
	for system, words := range map[string]string{
		"Answer with an object.": "That answer cannot be used", "请只回答一个对象。": "上一个回答不能用",
	} {
		server := llmtest.New(t)
		var bodies []string
		server.OnChat(func(r llmtest.ChatRequest) llmtest.Reply {
			bodies = append(bodies, r.Body)
			if strings.Contains(r.Correction, words) && strings.Contains(r.Correction, "more than one JSON object") {
				return llmtest.Text(`{"text":"a",}`)
			}
			return llmtest.Text(`{"text":"b"}{"text":"c"}`)
		})
		var seen tally
		chat := dial(t, server.URL(), func(o *llm.Options) { o.Observer = &seen }).Chat("m")
		got, err := llm.Ask(t.Context(), chat, llm.Prompt{Name: "box", System: system, User: "u"}, readBox)
		if err != nil || got != "a" || len(bodies) != 2 {
			t.Fatalf("%q, %v after %d calls", got, err, len(bodies))
		}
		var sent struct {
			Messages []struct{ Role, Content string }
		}
		if err := json.Unmarshal([]byte(bodies[1]), &sent); err != nil {
			t.Fatal(err)
		}
		if len(sent.Messages) != 4 || sent.Messages[2].Role != "assistant" ||
			sent.Messages[2].Content != `{"text":"b"}{"text":"c"}` || sent.Messages[3].Role != "user" {
			t.Errorf("sent %+v", sent.Messages)
		}
		if want := []string{"box refused", "box salvaged"}; !slices.Equal(seen.outcomes, want) || len(seen.calls) != 2 {
			t.Errorf("observed %v and %d calls", seen.outcomes, len(seen.calls))
		}
	}
}

func TestAsk_EndsAfterOneCorrection(t *testing.T) {
	t.Parallel()
	server := llmtest.New(t)
	server.OnChat(func(llmtest.ChatRequest) llmtest.Reply { return llmtest.Text("") })
	chat := dial(t, server.URL(), nil).Chat("m")
	_, err := llm.Ask(t.Context(), chat, llm.Prompt{}, readBox)
	if !memory.IsKind(err, memory.KindBadAnswer) || !strings.Contains(err.Error(), "empty") || server.Chats() != 2 {
		t.Errorf("%v after %d calls", err, server.Chats())
	}
}

// An error of another kind is not the model's fault.
func TestAsk_RepeatsOnlyBadAnswers(t *testing.T) {
	t.Parallel()
	server := llmtest.New(t)
	server.OnChat(func(llmtest.ChatRequest) llmtest.Reply { return llmtest.Text("{}") })
	chat := dial(t, server.URL(), nil).Chat("m")
	broken := errors.New("broken")
	_, err := llm.Ask(t.Context(), chat, llm.Prompt{}, func(*llm.Answer) (int, error) { return 0, broken })
	if !errors.Is(err, broken) || server.Chats() != 1 {
		t.Errorf("%v after %d calls", err, server.Chats())
	}
	server.SetDown(true)
	chat = dial(t, server.URL(), func(o *llm.Options) { o.Retries = -1 }).Chat("m")
	if _, err := llm.Ask(t.Context(), chat, llm.Prompt{}, readBox); !memory.IsKind(err, memory.KindUnavailable) ||
		server.Chats() != 2 {
		t.Errorf("%v after %d calls", err, server.Chats())
	}
}

func TestObserver_IsGivenUsageAndErrors(t *testing.T) {
	t.Parallel()
	server := llmtest.New(t)
	server.OnChat(func(r llmtest.ChatRequest) llmtest.Reply {
		if r.Call > 1 {
			return llmtest.Status(http.StatusBadRequest)
		}
		return llmtest.Raw(`{"choices":[{"message":{"role":"assistant","content":"{\"text\":\"a\"}"}}],"usage":{` +
			`"prompt_tokens":900,"completion_tokens":12,"total_tokens":912,"prompt_tokens_details":{"cached_tokens":640}}}`)
	})
	var seen tally
	chat := dial(t, server.URL(), func(o *llm.Options) { o.Observer = &seen }).Chat("m")
	if _, err := llm.Ask(t.Context(), chat, llm.Prompt{Name: "box"}, readBox); err != nil {
		t.Fatal(err)
	}
	if _, err := llm.Ask(t.Context(), chat, llm.Prompt{Name: "box"}, readBox); err == nil {
		t.Fatal("a failed call has an answer")
	}
	want := llm.Usage{In: 900, Cached: 640, Out: 12}
	if len(seen.calls) != 2 || seen.calls[0].Usage != want || seen.calls[0].Prompt != "box" ||
		seen.calls[0].Model != "m" || seen.calls[0].Err != nil || seen.calls[1].Err == nil {
		t.Errorf("observed %+v", seen.calls)
	}
	if !slices.Equal(seen.outcomes, []string{"box used"}) {
		t.Errorf("observed %v", seen.outcomes)
	}
}
