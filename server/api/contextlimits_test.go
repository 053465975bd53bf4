package api

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"hippocampus/ingest"
)

func TestContext_FitsModels(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.fillParts()
	for fields, want := range map[string]sizeBody{
		`"model":"gpt-4-0613"`: {Unit: "tokens", Window: 8192, Response: 2048,
			Budget: 6144, Model: "gpt-4-0613", Encoding: "cl100k_base"},
		`"model":"deepseek-chat"`: {Unit: "tokens", Window: 128000, Response: 8192,
			Budget: 119808, Model: "deepseek-chat", Encoding: "o200k_base", Estimated: true},
		`"model":"deepseek-chat","budget":"reserve"`: {Unit: "tokens", Window: 128000, Response: 32000,
			Budget: 96000, Model: "deepseek-chat", Encoding: "o200k_base", Estimated: true},
		`"model":"granny-9b"`: {Unit: "tokens", Window: 8192, Response: 2048,
			Budget: 6144, Model: "granny-9b", Encoding: "o200k_base", Estimated: true},
		`"model":"gpt-4o","max_tokens":2000`: {Unit: "tokens", Window: 2000, Budget: 2000,
			Model: "gpt-4o", Encoding: "o200k_base"},
		`"max_tokens":2000,"budget":"reserve"`: {Unit: "tokens", Window: 2000, Response: 500,
			Budget: 1500, Encoding: "o200k_base"},
		`"max_chars":2000,"budget":{"response":0.1}`: {Unit: "characters", Window: 2000, Response: 200,
			Budget: 1800},
		`"budget":{"memories":1,"response":0.5},"query":"q","limit":1`: {Unit: "tokens", Window: 1000, Response: 500,
			Budget: 500, Encoding: "o200k_base"},
		`"budget":"default","format":"text","agent_id":"a","touch":true`: {Unit: "tokens", Window: 1000, Budget: 1000,
			Encoding: "o200k_base"},
		`"max_chars":500`: {Unit: "characters", Window: 500, Budget: 500},
	} {
		got := f.contextOf(`"user_id":"u",` + fields).Size
		if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(sizeBody{}, "Used", "Note")); diff != "" || got.Used < 10 ||
			got.Used > got.Budget || (got.Note != "") != got.Estimated {
			t.Errorf("%s: %+v %s", fields, got, diff)
		}
	}
	if got := f.contextOf(`"user_id":"u","model":"granny-9b"`).Size.Note; !strings.Contains(got, "max_tokens") {
		t.Errorf("the note on an unknown model: %s", got)
	}
}

func TestContext_ChecksRequests(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	for fields, path := range map[string]string{
		`"max_chars":5,"model":"gpt-4o"`: "model",
		`"model":""`:                     "model",
		`"model":"a\u0007b"`:             "model",
		`"format":"html"`:                "format",
		`"query":""`:                     "query",
		`"query":" "`:                    "query",
		`"max_tokens":0`:                 "max_tokens",
		`"max_tokens":2000001`:           "max_tokens",
		`"conversation_id":"\u0001"`:     "conversation_id",
		`"conversation_id":"` + strings.Repeat("x", 257) + `"`: "conversation_id",
	} {
		f.wantPaths("POST", "/v1/context", `{"user_id":"u",`+fields+`}`, path)
	}
	for _, budget := range []string{`"half"`, `{}`, `{"facts":2}`, `{"facts":-1}`, `{"response":0.95}`, `{"events":1}`,
		`null`, `3`, `[]`} {
		f.want(400, "POST", "/v1/context", `{"user_id":"u","budget":`+budget+`}`)
	}
	f.want(400, "POST", "/v1/context", `{"query":"q"}`)
}

func TestContext_RecallsAsManyMemoriesAsFit(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	for i := range 30 {
		f.keep(ingest.Write{Owner: owner("u"), Content: fmt.Sprintf("Swam across lake number %d.", i)})
	}
	const ask = `"user_id":"u","query":"across which lakes","route":false,"touch":false,"condense":false`
	for fields, want := range map[string]int{
		`,"max_tokens":1000`:           30,
		`,"max_tokens":1000,"limit":7`: 7,
		`,"max_tokens":100`:            9,
		`,"max_chars":500`:             10,
	} {
		if got := f.contextOf(ask + fields); len(got.Memories) != want || got.Size.Used > got.Size.Budget {
			t.Errorf("%s: %d memories in %+v", fields, len(got.Memories), got.Size)
		}
	}
}

func TestContext_HasAMinimumConfidence(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	recorded := f.record()
	for request, want := range map[string]float64{
		`{"user_id":"u","query":"q"}`:                      0.15,
		`{"user_id":"u","query":"q","min_confidence":0}`:   0,
		`{"user_id":"u","query":"q","min_confidence":0.7}`: 0.7,
	} {
		f.want(200, "POST", "/v1/context", request)
		if got := recorded.query.MinConfidence; got != want {
			t.Errorf("%s: the minimum is %v, want %v", request, got, want)
		}
	}
}
