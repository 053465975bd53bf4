package hippocampus

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// CONTRIBUTING.md says "`Recall` in `recall/service.go`": the file declares the name.
func TestTour_NamesDeclarationsInTheirFiles(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	joined := strings.Join(strings.Fields(string(text)), " ")
	mention := regexp.MustCompile("((?:`\\w+`(?:, | and ))*`\\w+`) in `([\\w/]+\\.go)`")
	found := mention.FindAllStringSubmatch(joined, -1)
	if len(found) < 20 {
		t.Errorf("only %d places are named", len(found))
	}
	for _, match := range found {
		declared := declaredIn(t, match[2])
		for _, name := range regexp.MustCompile(`\w+`).FindAllString(strings.ReplaceAll(match[1], " and ", " "), -1) {
			if !slices.Contains(declared, name) {
				t.Errorf("CONTRIBUTING.md has `%s` in `%s`, which does not declare it", name, match[2])
			}
		}
	}
}

// declaredIn returns the names of the functions, methods, types, variables and constants of a file.
func declaredIn(t *testing.T, path string) (names []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Error(err)
		return nil
	}
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			names = append(names, decl.Name.Name)
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					names = append(names, spec.Name.Name)
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						names = append(names, name.Name)
					}
				}
			}
		}
	}
	return names
}

// The table of docs/architecture.md has the storeys of layout_test.go in their order.
func TestArchitecture_ListsTheStoreys(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, layers, _ := strings.Cut(string(text), "## Layers")
	var listed []string
	for _, row := range regexp.MustCompile(`(?m)^\| ([^|]+) \| ([^|]+) \|`).FindAllStringSubmatch(layers, -1)[1:] {
		listed = append(listed, row[1]+": "+strings.ReplaceAll(row[2], "`", ""))
	}
	var wanted []string
	for _, storey := range storeys {
		rooms := slices.DeleteFunc(slices.Clone(storey.rooms), func(name string) bool { return name == "" })
		wanted = append(wanted, storey.name+": "+strings.Join(rooms, ", "))
	}
	if !slices.Equal(listed, wanted) {
		t.Errorf("docs/architecture.md lists\n%s\nwant\n%s", strings.Join(listed, "\n"), strings.Join(wanted, "\n"))
	}
}

// README.md names the folder of each room in "Where things are", and the folders that have no Go packages.
func TestReadme_NamesEveryFolder(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, places, _ := strings.Cut(string(text), "## Where things are")
	folders := []string{"sdk", "scripts"}
	for _, storey := range storeys {
		folders = append(folders, storey.rooms...)
	}
	for _, folder := range folders {
		if folder != "" && !strings.Contains(places, "`"+folder+"`") {
			t.Errorf("README.md does not say what is in %s", folder)
		}
	}
}

// Each package has its comment in one file.
func TestPackages_HaveOneComment(t *testing.T) {
	t.Parallel()
	commented := map[string][]string{}
	eachFile(t, ".", ".go", func(path string, text []byte) {
		if strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, ".gen.go") {
			return
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			t.Error(err)
			return
		}
		folder := filepath.Dir(path)
		files := commented[folder]
		if file.Doc != nil {
			files = append(files, path)
		}
		commented[folder] = files
	})
	for folder, files := range commented {
		if len(files) != 1 {
			t.Errorf("the package in %s has its comment in %d files, want 1: %v", folder, len(files), files)
		}
	}
}
