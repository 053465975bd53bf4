package hippocampus

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The Chinese README names each route of the API and each link of a table that the English one names.
func TestChineseReadme_NamesRoutesAndLinksOfTables(t *testing.T) {
	t.Parallel()
	english, chinese := readme(t, "README.md"), readme(t, "README.zh.md")
	named := regexp.MustCompile(`/v1/[\w/{}-]+`).FindAllString(english, -1)
	for line := range strings.Lines(english) {
		if strings.HasPrefix(line, "|") {
			named = append(named, regexp.MustCompile(`\]\([^)]+\)`).FindAllString(line, -1)...)
		}
	}
	if len(named) < 20 {
		t.Errorf("only %d routes and links are found", len(named))
	}
	for _, name := range named {
		if !strings.Contains(chinese, name) {
			t.Errorf("README.zh.md lacks %s, which README.md names", name)
		}
	}
}

func readme(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
