package app

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/promql/parser"
	"gopkg.in/yaml.v3"

	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
)

// alertFile is a file of Prometheus rules, as far as deploy/alerts.yaml uses it.
type alertFile struct {
	Groups []struct {
		Name  string
		Rules []struct {
			Alert, Expr         string
			For                 string
			Labels, Annotations map[string]string
		}
	}
}

// Every rule is valid, and the server shows each metric that a rule names, with the labels by
// which the rule selects it.
func TestAlerts_NameMetricsThatExist(t *testing.T) {
	text, err := os.ReadFile("../../deploy/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file alertFile
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&file); err != nil {
		t.Fatal(err)
	}

	cfg := verifyConfig(t)
	models := llmtest.New(t)
	models.Facts("bees", llmtest.Fact{Fact: "Keeps bees", Importance: 0.9, Domain: memory.Lifestyle})
	cfg.Chat.APIKey = "key"
	cfg.Chat.BaseURL = models.URL()
	s := start(t, cfg)
	defer s.stop()
	s.post("/v1/turns", `{"user_id":"ada","wait":true,"messages":[{"role":"user","content":"I keep bees"}]}`)
	s.post("/v1/recall", `{"user_id":"ada","query":"bees"}`)
	s.admin("verify")
	shown := s.get("/metrics")

	alerts := map[string]bool{}
	for _, rule := range file.Groups[0].Rules {
		if alerts[rule.Alert] || rule.Annotations["summary"] == "" || rule.Labels["severity"] == "" {
			t.Errorf("%s is there twice, or lacks a summary or a severity", rule.Alert)
		}
		alerts[rule.Alert] = true
		if _, err := time.ParseDuration(rule.For); rule.For != "" && err != nil {
			t.Errorf("%s: for: %v", rule.Alert, err)
		}
		expr, err := parser.ParseExpr(rule.Expr)
		if err != nil {
			t.Errorf("%s: %v", rule.Alert, err)
			continue
		}
		for _, selector := range parser.ExtractSelectors(expr) {
			found := regexp.MustCompile(`(?m)^hippocampus_\S+`).FindAllString(shown, -1)
			for _, matcher := range selector {
				found = matching(found, matcher.Name, matcher.Matches)
			}
			if len(found) == 0 {
				t.Errorf("%s: /metrics shows nothing that %v selects", rule.Alert, selector)
			}
		}
	}
	if len(alerts) < 10 {
		t.Errorf("%d alerts", len(alerts))
	}
}

// matching returns the series, as /metrics shows them, whose label has a value that matches. The label of
// the metric's name is __name__. Codes of errors are left out, since the server has answered with none.
func matching(series []string, label string, matches func(string) bool) (found []string) {
	for _, s := range series {
		name, labels, _ := strings.Cut(s, "{")
		value := name
		if label != "__name__" {
			_, value, _ = strings.Cut(","+labels, ","+label+`="`)
			value, _, _ = strings.Cut(value, `"`)
		}
		if label == "code" && value != "" || matches(value) {
			found = append(found, s)
		}
	}
	return found
}
