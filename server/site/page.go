package site

import (
	"path"
	"strconv"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// page is a page of Markdown.
type page struct {
	name     string // of the file, such as flows/write.md
	path     string // of the page, such as flows/write.html
	title    string // the first heading
	source   []byte
	document ast.Node
	headings []heading
}

type heading struct {
	Level    int
	ID, Text string
}

// markdown parses what GitHub shows: tables, footnotes, addresses as links, and headings with the same ids.
var markdown = goldmark.New(
	goldmark.WithExtensions(
		extension.GFM, extension.Footnote,
	),
	goldmark.WithParserOptions(parser.WithAutoHeadingID()),
	goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(blocks{}, 100))),
)

func parse(name string, source []byte) *page {
	context := parser.NewContext(parser.WithIDs(&ids{used: map[string]int{}}))
	p := &page{
		name: name, path: pathOf(name), title: name, source: source,
		document: markdown.Parser().Parse(text.NewReader(source), parser.WithContext(context)),
	}
	for node := range descendants(p.document) {
		h, ok := node.(*ast.Heading)
		if !ok {
			continue
		}
		id, _ := h.AttributeString("id")
		raw, _ := id.([]byte)
		p.headings = append(p.headings, heading{h.Level, string(raw), textOf(h, source)})
	}
	if len(p.headings) > 0 {
		p.title = p.headings[0].Text
	}
	return p
}

// pathOf returns the address of a page: README.md is the index of its folder.
func pathOf(name string) string {
	folder, file := path.Split(name)
	if file == "README.md" {
		return folder + "index.html"
	}
	return strings.TrimSuffix(name, ".md") + ".html"
}

// language returns the language of the page: en, or zh-CN for a page below zh.
func (p *page) language() string {
	if strings.HasPrefix(p.name, "zh/") {
		return "zh-CN"
	}
	return "en"
}

// root returns the path from the page to the top folder: empty, ../ or ../../.
func (p *page) root() string { return strings.Repeat("../", strings.Count(p.path, "/")) }

// descendants yields the nodes below a node, parents first.
func descendants(node ast.Node) func(func(ast.Node) bool) {
	return func(yield func(ast.Node) bool) {
		_ = ast.Walk(node, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // fails if the function does
			if entering && n != node && !yield(n) {
				return ast.WalkStop, nil
			}
			return ast.WalkContinue, nil
		})
	}
}

// textOf returns the text below a node without its markup.
func textOf(node ast.Node, source []byte) string {
	var out strings.Builder
	for n := range descendants(node) {
		switch n := n.(type) {
		case *ast.Text:
			out.Write(n.Value(source))
			if n.SoftLineBreak() {
				out.WriteByte(' ')
			}
		case *ast.String:
			out.Write(n.Value)
		}
	}
	return out.String()
}

// ids makes the ids of headings as GitHub does, so that links with anchors work in both places.
type ids struct{ used map[string]int }

// Generate returns the text in lower case, without punctuation, and with hyphens for spaces.
func (s *ids) Generate(value []byte, _ ast.NodeKind) []byte {
	id := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.Mn, r) || r == '-' || r == '_':
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(string(value)))
	n := s.used[id]
	s.used[id]++
	if n > 0 {
		id += "-" + strconv.Itoa(n)
	}
	return []byte(id)
}

// Put does nothing, since pages set no ids themselves.
func (s *ids) Put([]byte) {}
