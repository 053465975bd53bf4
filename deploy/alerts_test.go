package deploy

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/promql/parser"
	"gopkg.in/yaml.v3"
)

// alertRule is a rule of Prometheus, as far as alerts.yaml uses it.
type alertRule struct {
	Alert, Expr         string
	For                 string
	Labels, Annotations map[string]string
}

// serverAddress is the beginning of a runbook_url, which Prometheus replaces by the address of a server.
const serverAddress = "{{ $externalLabels.hippocampus_url }}"

func rules(t *testing.T) []alertRule {
	t.Helper()
	var file struct {
		Groups []struct {
			Name  string
			Rules []alertRule
		}
	}
	decoder := yaml.NewDecoder(strings.NewReader(text(t, "alerts.yaml")))
	decoder.KnownFields(true)
	if err := decoder.Decode(&file); err != nil {
		t.Fatal(err)
	}
	return file.Groups[0].Rules
}

// Every rule is valid, the server shows each metric that a rule names, with the labels by which the rule selects it,
// and its runbook_url leads to a section of a page that the server shows.
func TestAlerts_NameMetricsAndRunbooksThatExist(t *testing.T) {
	t.Parallel()
	shown, pages := shownByServer(t)
	runbooks := text(t, "../docs/runbooks.md")
	alerts := map[string]bool{}
	for _, rule := range rules(t) {
		if alerts[rule.Alert] || rule.Annotations["summary"] == "" || rule.Labels["severity"] == "" {
			t.Errorf("%s is there twice, or lacks a summary or a severity", rule.Alert)
		}
		alerts[rule.Alert] = true
		link, anchor := rule.Annotations["runbook_url"], strings.ToLower(rule.Alert)
		if _, to, _ := strings.Cut(link, "#"); to != anchor || !strings.HasPrefix(link, serverAddress) ||
			!strings.Contains(pages[link], `<h2 id="`+anchor+`">`+rule.Alert+"</h2>") {
			t.Errorf("%s: the runbook_url %q leads to no section %s of a page", rule.Alert, link, rule.Alert)
		}
		if _, err := time.ParseDuration(rule.For); rule.For != "" && err != nil {
			t.Errorf("%s: for: %v", rule.Alert, err)
		}
		checkExpr(t, rule.Alert, rule.Expr, shown)
	}
	for _, section := range regexp.MustCompile(`(?m)^## (Hippocampus\w+)$`).FindAllStringSubmatch(runbooks, -1) {
		if !alerts[section[1]] {
			t.Errorf("docs/runbooks.md has a section for %s, which is no alert", section[1])
		}
	}
	if len(alerts) < 10 {
		t.Errorf("%d alerts", len(alerts))
	}
}

// checkExpr parses an expression of PromQL, and requires that /metrics shows each series that the expression selects.
func checkExpr(t *testing.T, where, expr, shown string) {
	t.Helper()
	parsed, err := parser.ParseExpr(expr)
	if err != nil {
		t.Errorf("%s: %v in %s", where, err, expr)
		return
	}
	for _, selector := range parser.ExtractSelectors(parsed) {
		found := regexp.MustCompile(`(?m)^[a-z]\S+`).FindAllString(shown, -1)
		for _, matcher := range selector {
			if matcher.Name != "job" && matcher.Name != "instance" { // which Prometheus adds
				found = matching(found, matcher.Name, matcher.Matches)
			}
		}
		if len(found) == 0 {
			t.Errorf("%s: /metrics shows nothing that %v selects", where, selector)
		}
	}
}

// matching returns the series, as /metrics shows them, whose label has a value that matches. The label of the metric's
// name is __name__. A label code is not compared, since the server has answered no request with an error.
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
