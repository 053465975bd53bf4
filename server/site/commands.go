package site

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// Needs maps each reason for which tests do not run a block of commands on a server with SQLite alone to the words that
// the page shows. The info string of the block names the reason, as in "sh needs=postgres".
var Needs = map[string]string{
	"browser":    "a browser",
	"dataset":    "data of your own",
	"docker":     "Docker",
	"fault":      "something to repair",
	"kubernetes": "a Kubernetes cluster",
	"milvus":     "Milvus",
	"minutes":    "several minutes",
	"model":      "a model's endpoint",
	"network":    "the network",
	"person":     "a person, who ends it",
	"postgres":   "Postgres",
	"root":       "an administrator of the machine",
}

// Block is a block of code of a page.
type Block struct {
	Language string // first word of the info string; empty for an indented block
	Needs    string // why the block is not run, or empty
	Text     string
}

// Blocks returns the blocks of code of a page of Markdown.
func Blocks(source []byte) []Block {
	var all []Block
	for node := range descendants(parse("", source).document) {
		var b Block
		switch node := node.(type) {
		case *ast.FencedCodeBlock:
			if node.Info != nil {
				b.Language = string(node.Language(source))
				b.Needs = needsOf(string(node.Info.Value(source)))
			}
		case *ast.CodeBlock:
		default:
			continue
		}
		var text bytes.Buffer
		for i := range node.Lines().Len() {
			line := node.Lines().At(i)
			text.Write(line.Value(source))
		}
		b.Text = text.String()
		all = append(all, b)
	}
	return all
}

// needsOf returns the reason that an info string names, or "".
func needsOf(info string) string {
	for word := range strings.FieldsSeq(info) {
		if needs, found := strings.CutPrefix(word, "needs="); found {
			return needs
		}
	}
	return ""
}
