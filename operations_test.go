package hippocampus

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// operationTable is sdk/testdata/operations.json.
type operationTable struct {
	Methods   map[string][]string // by the operation that they send, in Python's spelling
	Generated map[string][]string // operations that only the generated clients send, by who needs them
}

func readOperationTable(t *testing.T) (table operationTable) {
	t.Helper()
	text, err := os.ReadFile("sdk/testdata/operations.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &table); err != nil {
		t.Fatal(err)
	}
	return table
}

// names returns the methods of the table in the form in which [operations] returns those of a README.
func (o operationTable) names() []string {
	var names []string
	for _, methods := range o.Methods {
		for _, name := range methods {
			names = append(names, strings.ReplaceAll(name, "_", ""))
		}
	}
	slices.Sort(names)
	return names
}

// Each operation of openapi.yaml is a method of every client, or the table leaves it to the generated clients.
func TestClients_HaveAPlaceForEachOperation(t *testing.T) {
	t.Parallel()
	document, err := openapi3.NewLoader().LoadFromFile("server/api/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, path := range document.Paths.Map() {
		for _, operation := range path.Operations() {
			want = append(want, operation.OperationID)
		}
	}
	slices.Sort(want)
	table := readOperationTable(t)
	got := slices.Concat(slices.Concat(slices.Collect(maps.Values(table.Generated))...),
		slices.Collect(maps.Keys(table.Methods)))
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("sdk/testdata/operations.json has the operations\n%v\nand server/api/openapi.yaml\n%v", got, want)
	}
}

// source returns the source files of a client.
func source(t *testing.T, pattern string) string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatal(pattern, files, err)
	}
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(file, "_test.go") {
			all.Write(text)
		}
	}
	return all.String()
}

func TestClients_HaveTheMethodsOfTheTable(t *testing.T) {
	t.Parallel()
	table := readOperationTable(t)
	for _, client := range []struct{ source, method string }{
		{"sdk/go/*.go", `(?m)^func \(c \*Client\) ([A-Z]\w*)\(`},
		{"sdk/python/src/hippocampus_memory/_async*.py", `(?m)^    (?:async )?def ([a-z]\w*)\(`},
		{"sdk/python/src/hippocampus_memory/_sync*.py", `(?m)^    def ([a-z]\w*)\(`},
		{"sdk/typescript/src/client.ts", `(?m)^  (?:async )?([a-z]\w*)\(`},
	} {
		var methods []string
		for _, found := range regexp.MustCompile(client.method).FindAllStringSubmatch(source(t, client.source), -1) {
			methods = append(methods, strings.ReplaceAll(strings.ToLower(found[1]), "_", ""))
		}
		for _, name := range table.names() {
			if !slices.Contains(methods, name) {
				t.Errorf("%s has no method %s, which sdk/testdata/operations.json names", client.source, name)
			}
		}
	}
}

// The Go client sends the operations of the table: the generated methods that it calls have their names.
func TestClients_SendTheOperationsOfTheTable(t *testing.T) {
	t.Parallel()
	sent, sends := map[string]bool{}, regexp.MustCompile(`\bc\.api\.([A-Z]\w*)\(`)
	for _, found := range sends.FindAllStringSubmatch(source(t, "sdk/go/*.go"), -1) {
		name := strings.TrimSuffix(found[1], "WithBody")
		sent[strings.ToLower(name[:1])+name[1:]] = true
	}
	got, want := slices.Sorted(maps.Keys(sent)), slices.Sorted(maps.Keys(readOperationTable(t).Methods))
	if !slices.Equal(got, want) {
		t.Errorf("sdk/go sends %v, and sdk/testdata/operations.json has %v", got, want)
	}
}

func TestClients_NameTheMethodsOfTheTableInTheirReadmes(t *testing.T) {
	t.Parallel()
	want := readOperationTable(t).names()
	for _, page := range []string{"sdk/go/README.md", "sdk/python/README.md", "sdk/typescript/README.md"} {
		if got := operations(t, page); !slices.Equal(got, want) {
			t.Errorf("%s names %v, and sdk/testdata/operations.json %v", page, got, want)
		}
	}
}
