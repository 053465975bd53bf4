package site

import (
	"bytes"
	"html"
	"html/template"
	"net/url"
	"path"
	"strings"

	"github.com/yuin/goldmark/ast"
	table "github.com/yuin/goldmark/extension/ast"
	goldmark "github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
)

// rendering makes HTML of pages.
type rendering struct {
	options Options
	pages   map[string]*page
	others  map[string][]byte // pictures and data
}

// fileAttribute marks a link whose file is not part of the site.
const fileAttribute = "data-file"

// html returns the page's content.
func (r rendering) html(p *page) template.HTML {
	for node := range descendants(p.document) {
		switch node := node.(type) {
		case *ast.Link:
			to, file := r.address(p, string(node.Destination))
			node.Destination = []byte(to)
			if file != "" {
				node.SetAttributeString(fileAttribute, []byte(file))
			}
		case *ast.Image:
			node.SetAttributeString("loading", []byte("lazy"))
		}
	}
	var out bytes.Buffer
	_ = markdown.Renderer().Render(&out, p.source, p.document) // a buffer accepts everything
	return template.HTML(out.String())                         //nolint:gosec // the program's own pages
}

// address returns the address on the site to which a link of a page leads, or the file of the repository that the link
// names if it leads nowhere.
func (r rendering) address(p *page, link string) (to, file string) {
	u, err := url.Parse(link)
	if err != nil || u.IsAbs() || u.Path == "" {
		return link, ""
	}
	name := path.Join(path.Dir(p.name), u.Path)
	if target, ok := r.pages[name]; ok {
		u.Path = p.root() + target.path
		return u.String(), ""
	}
	if _, ok := r.others[name]; ok {
		return link, ""
	}
	file = path.Join("docs", name)
	if to, ok := r.options.Pages[file]; ok {
		return p.root() + to, ""
	}
	if r.options.Repository != "" {
		return strings.TrimSuffix(r.options.Repository, "/") + "/" + file, ""
	}
	return link, file
}

// blocks renders blocks that a keyboard must be able to scroll, and links to files that are not part of the site.
type blocks struct{}

// RegisterFuncs replaces the renderers of code, tables and links.
func (blocks) RegisterFuncs(register goldmark.NodeRendererFuncRegisterer) {
	register.Register(ast.KindCodeBlock, renderCode)
	register.Register(ast.KindFencedCodeBlock, renderCode)
	register.Register(table.KindTable, renderTable)
	register.Register(table.KindTableCell, renderCell)
	register.Register(ast.KindLink, renderLink)
}

func renderCode(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	if block, ok := node.(*ast.FencedCodeBlock); ok && block.Info != nil {
		if needs := needsOf(string(block.Info.Value(source))); needs != "" {
			_, _ = w.WriteString(`<p class="needs">Needs ` + html.EscapeString(Needs[needs]) + "</p>\n")
		}
	}
	_, _ = w.WriteString(`<pre tabindex="0"><code>`)
	for i := range node.Lines().Len() {
		line := node.Lines().At(i)
		_, _ = w.WriteString(html.EscapeString(string(line.Value(source))))
	}
	_, err := w.WriteString("</code></pre>\n")
	return ast.WalkContinue, err
}

func renderTable(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
	text := "</table></div>\n"
	if entering {
		text = `<div class="table" tabindex="0"><table>` + "\n"
	}
	_, err := w.WriteString(text)
	return ast.WalkContinue, err
}

// renderCell renders the cells of the first row as headers, unless they are empty.
func renderCell(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	cell := node.(*table.TableCell)
	tag := "td"
	if cell.Parent().Kind() == table.KindTableHeader && cell.HasChildren() {
		tag = "th"
	}
	text := "</" + tag + ">\n"
	switch {
	case entering && cell.Alignment == table.AlignRight:
		text = "<" + tag + ` align="right">`
	case entering:
		text = "<" + tag + ">"
	}
	_, err := w.WriteString(text)
	return ast.WalkContinue, err
}

func renderLink(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	link := node.(*ast.Link)
	text := "</a>"
	file, outside := link.AttributeString(fileAttribute)
	switch {
	case outside && entering:
		text = ""
	case outside:
		name, _ := file.([]byte)
		text = " (<code>" + html.EscapeString(string(name)) + "</code>)"
	case entering:
		text = `<a href="` + html.EscapeString(string(link.Destination)) + `">`
	}
	_, err := w.WriteString(text)
	return ast.WalkContinue, err
}
