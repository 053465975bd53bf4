package e2e

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/text"
)

// The use of the chat model is counted by prompt, with the tokens that the endpoint reports.
func TestStats_CountPrompts(t *testing.T) {
	t.Parallel()
	models := llmtest.New(t)
	models.OnChat(func(r llmtest.ChatRequest) llmtest.Reply {
		return llmtest.TextWithUsage(llmtest.RulesText(r), object{
			"prompt_tokens": 900, "completion_tokens": 50, "prompt_cache_hit_tokens": 640,
		})
	})
	s := start(t, withModels(models)...)
	s.call("POST", "/v1/turns", turn("ada", "I moved to Bergen because I work at the aquarium"), 200)
	s.call("POST", "/v1/recall", object{"user_id": "ada", "query": "Where does Ada live?"}, 200)

	prompts, _ := s.call("GET", "/v1/stats", nil, 200).body["prompts"].(map[string]any)
	for _, name := range []string{"score", "route"} {
		got, _ := prompts[name].(map[string]any)
		if got["calls"] != 1.0 || got["tokens_in"] != 900.0 || got["tokens_cached"] != 640.0 || got["tokens_out"] != 50.0 ||
			got["salvaged"] != 0.0 || got["refused"] != 0.0 || got["failed"] != 0.0 || got["seconds"].(float64) <= 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
	metrics := s.call("GET", "/metrics", nil, 200).raw
	for _, line := range []string{
		`hippocampus_prompt_calls_total{prompt="score"} 1`, `hippocampus_prompt_tokens_cached_total{prompt="route"} 640`,
		`hippocampus_prompt_refused_total{prompt="score"} 0`,
	} {
		if !strings.Contains(metrics, line+"\n") {
			t.Errorf("/metrics lacks %s", line)
		}
	}
}

// tryPrompt runs the command on a file of docs/prompts.
func tryPrompt(t *testing.T, file string, env ...string) string {
	t.Helper()
	cmd := exec.Command(binary, "prompts", "try", file)
	cmd.Env = slices.Concat(env, clockEnv(), []string{"HOME=" + t.TempDir()})
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// Every prompt has an example in both languages, which renders and which a model can answer.
func TestPromptsTry_ShowsPromptAndAnswer(t *testing.T) {
	t.Parallel()
	models := llmtest.New(t)
	models.OnChat(llmtest.Rules)
	out, err := exec.Command(binary, "prompts", "list").Output()
	if err != nil {
		t.Fatal(err)
	}
	names := strings.Split(strings.TrimSpace(string(out)), "\n")[1:]
	if len(names) != 13 {
		t.Errorf("prompts: %q", names)
	}
	for _, line := range names {
		name, _, _ := strings.Cut(line, " ")
		for _, language := range []string{"en", "zh"} {
			t.Run(name+"."+language, func(t *testing.T) {
				t.Parallel()
				file := filepath.Join("..", "..", "docs", "prompts", name+"."+language+".yaml")
				rendered := tryPrompt(t, file)
				if !strings.Contains(rendered, "[hippocampus/"+name+"]") || !strings.Contains(rendered, "no model is asked") ||
					text.IsChinese(rendered) != (language == "zh") {
					t.Error(rendered)
				}
				answered := tryPrompt(t, file, withModels(models)...)
				beginning, _, _ := strings.Cut(rendered, "--- no model is asked")
				made, found := strings.CutPrefix(answered, beginning)
				if !found || !strings.Contains(made, "--- answer of deepseek-chat") || !strings.Contains(made, ": used\n{") ||
					strings.Contains(made, "refused") || strings.Contains(made, "invalid") ||
					strings.HasSuffix(made, "makes of it\nnothing\n") {
					t.Error(made)
				}
			})
		}
	}
}

// The command says what the server does with a bad item, with a salvaged answer and with a refused one.
func TestPromptsTry_ShowsWhatIsWrong(t *testing.T) {
	t.Parallel()
	const fact = `{"fact":"Maren moved to Bergen.","importance":0.9,"domain":"lifestyle_and_interests"}`
	for answer, want := range map[string][]string{
		`{"facts":[` + fact + `,` + llmtest.BadItem + `]}`: {
			": salvaged\n", "kept: Maren moved to Bergen. (importance 0.90, lifestyle_and_interests, fact)", "invalid: ",
		},
		`{"facts":[` + strings.Replace(fact, "0.9", "0.3", 1) + `]}`: {": used\n", "below_threshold: Maren moved"},
		`I cannot help with that.`:                                   {": refused\n", "\n! ", "\nrefused: "},
	} {
		models := llmtest.New(t)
		models.OnChat(func(llmtest.ChatRequest) llmtest.Reply { return llmtest.Text(answer) })
		out := tryPrompt(t, filepath.Join("..", "..", "docs", "prompts", "score.en.yaml"), withModels(models)...)
		for _, part := range want {
			if !strings.Contains(out, part) {
				t.Errorf("%s: no %q in\n%s", answer, part, out)
			}
		}
	}
}

func TestPromptsTry_NamesWrongInput(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]string{
		"prompt: scorer":                "no prompt \"scorer\": hippocampus prompts list",
		"prompt: score":                 "the prompt score needs messages",
		`{"prompt":"judge"}`:            "the prompt judge needs fact, memories",
		"prompt: route\nquestion: why?": `unknown field "question"`,
		"- a\n- b":                      "is not the input of a prompt",
		"a: {":                          "neither YAML nor JSON",
	} {
		cmd := exec.Command(binary, "prompts", "try", "-")
		cmd.Stdin = strings.NewReader(input)
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) || strings.Count(string(out), "\n") != 1 {
			t.Errorf("%q: %v, %s", input, err, out)
		}
	}
}
