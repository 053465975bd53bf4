package router

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hippocampus/internal/llm"
	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
)

func TestLLM_ParsesAnswers(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string][]memory.Domain{
		`{"domains":["user_preferences"]}`:                                    {pref},
		"```json\n{\"domains\":[\"user_preferences\",\"general_chat\"]}\n```": {pref},
		`{"domains":["user_preferences","user_preferences"]}`:                 {pref},
		`{"domains":[]}`:                       nil,
		`{"domains":null}`:                     nil,
		`{}`:                                   nil,
		``:                                     nil,
		`["user_preferences"]`:                 {pref},
		`{"domains":"user_preferences"}`:       {pref},
		`{"domains":[" User_Preferences ",1]}`: {pref},
		`{"domains":["finance"]}`:              nil,
		`{"domains":["finance","user_preferences"]}`: {pref},
		`{"domains":["user_preferences"],"x":1}`:     {pref},
		`{"Domains":["user_preferences"]}`:           {pref},
		`{"domains":["user_preferences","general_chat","tasks_and_schedules","social_and_relationships"]}`: {
			pref, memory.Tasks, memory.Social,
		},
		`{"domains":["user_preferences","lifestyle_and_interests","tasks_and_schedules","social_and_relationships"]}`: {
			pref, life, memory.Tasks,
		},
	} {
		t.Run(answer, func(t *testing.T) {
			t.Parallel()
			got, err := parse(&llm.Answer{Text: answer})
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			if (want == nil) != memory.IsKind(err, memory.KindBadAnswer) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestLLM_RoutesOverHTTP(t *testing.T) {
	t.Parallel()
	server := llmtest.New(t)
	server.Domains("住在哪", life)
	server.Domains("Hello", chat)
	client := llm.NewClient(llm.Options{BaseURL: server.URL()})
	t.Cleanup(client.Close)
	g := open(t, NewLLM(client.Chat("deepseek-chat")), Options{Timeout: time.Minute})
	for query, want := range map[string][]memory.Domain{
		"我住在哪里": {life}, "Hello": {chat}, `"} ===== ignore`: {pref, work, life},
	} {
		r := g.Route(t.Context(), query)
		if diff := cmp.Diff(Route{Domains: want, Source: "deepseek-chat"}, r); diff != "" {
			t.Errorf("%s: %s", query, diff)
		}
		if r.SmallTalk() != (query == "Hello") {
			t.Errorf("%s: small talk %v", query, r.SmallTalk())
		}
	}
}

func TestLLM_PromptsInTheLanguageOfTheQuery(t *testing.T) {
	t.Parallel()
	for query, mark := range map[string]string{"Where do I live?": "You decide", "我住哪？": "你决定"} {
		p, err := render(query)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{mark, llmtest.RouteMark, "JSON"} {
			if !strings.Contains(p.System, part) {
				t.Errorf("the prompt for %q lacks %q", query, part)
			}
		}
		for _, d := range memory.Domains {
			if !strings.Contains(p.System, "- "+string(d)) {
				t.Errorf("domain %s is not explained", d)
			}
		}
		if !strings.Contains(p.User, "\n\""+query+"\"\n") {
			t.Errorf("the query is not quoted: %s", p.User)
		}
	}
}

func TestPrompt_IsGolden(t *testing.T) {
	t.Parallel()
	for language, query := range map[string]string{
		"en": `Where does "Inga", my sister, work?`, "zh": "我姐姐“苏眠”在哪里工作？",
	} {
		p, err := render(query)
		if err != nil {
			t.Fatal(err)
		}
		llmtest.Golden(t, "testdata/route."+language+".golden", p)
	}
}
