package hippocampus

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// The code keeps to three idioms: the statement before a condition sets what the
// condition reads; a struct of more than three fields is written with their names,
// and an assignment sets at most two values unless one call returns them. Tests, with
// their tables, keep to the first.
func TestIdioms_HoldInEveryFile(t *testing.T) {
	t.Parallel()
	files := token.NewFileSet()
	parsed := map[string][]*ast.File{} // by folder
	eachFile(t, ".", ".go", func(path string, text []byte) {
		if strings.HasPrefix(path, "sdk/") || strings.HasSuffix(path, ".gen.go") {
			return
		}
		file, err := parser.ParseFile(files, path, text, parser.SkipObjectResolution)
		if err != nil {
			t.Error(err)
			return
		}
		parsed[filepath.Dir(path)] = append(parsed[filepath.Dir(path)], file)
	})
	structs := structNames(parsed)
	for folder, list := range parsed {
		for _, file := range list {
			report := func(at ast.Node, problem string) { t.Errorf("%s: %s", files.Position(at.Pos()), problem) }
			idioms := idioms{
				structs: structs, folder: folder, imports: importedFolders(file), report: report,
				test: isTestCode(files.Position(file.Pos()).Filename),
			}
			ast.Inspect(file, idioms.check)
		}
	}
}

// A property is checked for the same inputs in every run: see rapidtest.
func TestProperties_DrawTheSameInputs(t *testing.T) {
	t.Parallel()
	draws, fixed := map[string]bool{}, map[string]bool{} // by folder
	eachFile(t, ".", ".go", func(path string, text []byte) {
		folder := filepath.Dir(path)
		draws[folder] = draws[folder] || bytes.Contains(text, []byte(`	"pgregory.net/rapid"`))
		fixed[folder] = fixed[folder] || bytes.Contains(text, []byte(`"hippocampus/internal/rapidtest"`))
	})
	for folder := range draws {
		if draws[folder] && !fixed[folder] {
			t.Errorf(`%s imports rapid: import _ "hippocampus/internal/rapidtest" as well`, folder)
		}
	}
}

func TestFiles_HaveAtMost350Lines(t *testing.T) {
	t.Parallel()
	eachFile(t, ".", ".go", func(path string, text []byte) {
		generated := strings.HasSuffix(path, ".gen.go") || strings.HasSuffix(path, "_gen_test.go")
		if n := bytes.Count(text, []byte("\n")); n > 350 && !generated {
			t.Errorf("%s has %d lines: divide it by subject", path, n)
		}
	})
}

// isTestCode reports whether a file is a test, or belongs to a package that only tests use.
func isTestCode(path string) bool {
	if strings.HasSuffix(path, "_test.go") {
		return true
	}
	for part := range strings.SplitSeq(filepath.Dir(path), "/") {
		if part == "tests" || strings.HasSuffix(part, "test") {
			return true
		}
	}
	return false
}

type idioms struct {
	structs map[string]bool   // "folder.Name" of each struct
	folder  string            // of the file
	imports map[string]string // a package's name in the file: its folder
	report  func(at ast.Node, problem string)
	test    bool // the file is a test or belongs to one
}

func (i idioms) check(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.IfStmt:
		if n.Init != nil && !sharesName(n.Init, n.Cond) {
			i.report(n, "the condition does not read what the statement before it sets: write two statements")
		}
	case *ast.ForStmt:
		if n.Body != nil {
			ast.Inspect(n.Body, i.check) // the header may set several counters
		}
		return false
	case *ast.AssignStmt:
		if len(n.Rhs) > 2 && !i.test {
			i.report(n, "one assignment sets more than two values: write several")
		}
	case *ast.CompositeLit:
		if !i.test {
			i.checkLiteral(n, n.Type)
		}
	}
	return true
}

// checkLiteral reports positional literals of structs: the literal itself, whose type may follow from the list or map
// that holds it, and the literals in a list or map.
func (i idioms) checkLiteral(lit *ast.CompositeLit, typ ast.Expr) {
	var element ast.Expr
	switch typ := typ.(type) {
	case *ast.ArrayType:
		element = typ.Elt
	case *ast.MapType:
		element = typ.Value
	}
	if pointer, ok := element.(*ast.StarExpr); ok {
		element = pointer.X
	}
	for _, e := range lit.Elts {
		if pair, ok := e.(*ast.KeyValueExpr); ok {
			e = pair.Value
		}
		if child, ok := e.(*ast.CompositeLit); ok && child.Type == nil && element != nil {
			i.checkLiteral(child, element)
		}
	}
	if len(lit.Elts) > 3 && i.isStruct(typ) {
		if _, keyed := lit.Elts[0].(*ast.KeyValueExpr); !keyed {
			i.report(lit, "a struct of more than three fields is written without their names")
		}
	}
}

func (i idioms) isStruct(typ ast.Expr) bool {
	switch typ := typ.(type) {
	case *ast.StructType:
		return true
	case *ast.Ident:
		return i.structs[i.folder+"."+typ.Name]
	case *ast.SelectorExpr:
		name, _ := typ.X.(*ast.Ident)
		return name != nil && i.structs[i.imports[name.Name]+"."+typ.Sel.Name]
	}
	return false
}

// sharesName reports whether a condition reads a variable that a statement sets.
func sharesName(set ast.Stmt, cond ast.Expr) bool {
	assign, ok := set.(*ast.AssignStmt)
	if !ok {
		return false
	}
	names := map[string]bool{}
	for _, left := range assign.Lhs {
		ast.Inspect(left, func(n ast.Node) bool {
			if name, ok := n.(*ast.Ident); ok {
				names[name.Name] = true
			}
			return true
		})
	}
	shared := false
	ast.Inspect(cond, func(n ast.Node) bool {
		name, ok := n.(*ast.Ident)
		shared = shared || ok && names[name.Name]
		return true
	})
	return shared
}

// structNames returns "folder.Name" of each struct type, whether at the top level or in a function.
func structNames(parsed map[string][]*ast.File) map[string]bool {
	names := map[string]bool{}
	for folder, list := range parsed {
		for _, file := range list {
			ast.Inspect(file, func(n ast.Node) bool {
				if spec, ok := n.(*ast.TypeSpec); ok {
					if _, ok := spec.Type.(*ast.StructType); ok {
						names[folder+"."+spec.Name.Name] = true
					}
				}
				return true
			})
		}
	}
	return names
}

// importedFolders maps the names of this module's packages in a file to their folders.
func importedFolders(file *ast.File) map[string]string {
	folders := map[string]string{}
	for _, spec := range file.Imports {
		folder, ok := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), module+"/")
		if !ok {
			continue
		}
		name := filepath.Base(folder)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		folders[name] = folder
	}
	return folders
}
