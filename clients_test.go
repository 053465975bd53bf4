package hippocampus

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"hippocampus/internal/memory"
)

// faultTable is sdk/testdata/faults.json.
type faultTable struct {
	Rows []struct {
		Name     string
		Request  string
		Attempts int
		Waits    []float64
		Result   json.RawMessage
		Answers  []struct {
			Status     int
			RetryAfter string `json:"retry_after"`
			Kind       string
			HTML       bool
			Shown      string // states an answer that the other fields do not describe

			Cut, Stall, Trickle bool
		}
	}
}

// markdown returns the table in the form of docs/connect/clients.md.
func (f faultTable) markdown() string {
	var out strings.Builder
	out.WriteString("| case | request | answers | attempts | waits (s) | result |\n|---|---|---|---|---|---|\n")
	for _, row := range f.Rows {
		var answers, waits []string
		for _, a := range row.Answers {
			text := strings.TrimSpace(fmt.Sprint(a.Status, " ", strings.ReplaceAll(a.Kind, "_", " ")))
			switch {
			case a.Shown != "":
				text = a.Shown
			case a.Trickle:
				text = "200, trickles"
			case a.Cut:
				text = "cut"
			case a.Stall:
				text = "late"
			case a.HTML:
				text += " as HTML"
			}
			if a.RetryAfter != "" {
				text += ", Retry-After " + a.RetryAfter
			}
			answers = append(answers, text)
		}
		for _, wait := range row.Waits {
			waits = append(waits, fmt.Sprint(wait))
		}
		result := "answer"
		var failure struct{ Kind string }
		if json.Unmarshal(row.Result, &failure) == nil && failure.Kind != "" {
			result = "`" + failure.Kind + "`"
		}
		fmt.Fprintf(&out, "| %s | %s | %s | %d | %s | %s |\n", row.Name, row.Request,
			strings.Join(answers, "; "), row.Attempts, strings.Join(waits, ", "), result)
	}
	return out.String()
}

func TestClientsPage_HasTheTableOfFaults(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("sdk/testdata/faults.json")
	if err != nil {
		t.Fatal(err)
	}
	var table faultTable
	if err := json.Unmarshal(text, &table); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("docs/connect/clients.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := table.markdown(); len(table.Rows) == 0 || !bytes.Contains(page, []byte(want)) {
		t.Errorf("docs/connect/clients.md has another table than sdk/testdata/faults.json gives:\n%s", want)
	}
}

// Every kind of error is in the table of the page, in openapi.yaml, and in the errors of each client.
func TestClients_KnowEveryKindOfError(t *testing.T) {
	t.Parallel()
	for file, form := range map[string]string{
		"docs/connect/clients.md":                     "`%s`",
		"server/api/openapi.yaml":                     "`%s`",
		"sdk/go/errors.go":                            `= "%s"`,
		"sdk/python/src/hippocampus_memory/errors.py": `    "%s": `,
		"sdk/typescript/src/errors.ts":                `| "%s"`,
	} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, kind := range memory.Kinds {
			if !strings.Contains(string(text), fmt.Sprintf(form, kind)) {
				t.Errorf("%s does not have the kind %s", file, kind)
			}
		}
	}
}

// operations returns the methods in the table of a client's README, in lower case and without underscores.
func operations(t *testing.T, page string) []string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	_, table, _ := strings.Cut(string(text), "| methods |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	for row := range strings.Lines(table) {
		if strings.HasPrefix(row, "| every other route ") {
			continue
		}
		for _, name := range regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(row, -1) {
			found[strings.ReplaceAll(strings.ToLower(name[1]), "_", "")] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// The TypeScript client does not compile while its table of listings lacks one.
func TestClients_KnowEveryListing(t *testing.T) {
	t.Parallel()
	document, err := openapi3.NewLoader().LoadFromFile("server/api/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	table, err := os.ReadFile("sdk/typescript/src/pages.ts")
	if err != nil {
		t.Fatal(err)
	}
	listings := 0
	for path, item := range document.Paths.Map() {
		if item.Get == nil {
			continue
		}
		answer := item.Get.Responses.Status(200)
		if answer == nil || answer.Value.Content["application/json"] == nil ||
			answer.Value.Content["application/json"].Schema.Value.Properties["next_cursor"] == nil {
			continue
		}
		listings++
		if !bytes.Contains(table, []byte(`"`+path+`": `)) {
			t.Errorf("sdk/typescript/src/pages.ts lacks %s", path)
		}
	}
	if listings < 20 {
		t.Errorf("openapi.yaml has %d listings only", listings)
	}
}
