package site

import (
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/yuin/goldmark/ast"
	"golang.org/x/net/html"

	"hippocampus/docs"
)

// In the Markdown, which GitHub shows too, each link leads to an existing file, and each anchor to a heading.
func TestMarkdown_LinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	pages, _, err := read(docs.Files)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"../README.md", "../README.zh.md", "../CONTRIBUTING.md"} {
		source, err := os.ReadFile(filepath.Join("../../docs", name))
		if err != nil {
			t.Fatal(err)
		}
		pages[name] = parse(name, source)
	}
	checked := 0
	for _, p := range pages {
		for node := range descendants(p.document) {
			var link string
			switch node := node.(type) {
			case *ast.Link:
				link = string(node.Destination)
			case *ast.Image:
				link = string(node.Destination)
			default:
				continue
			}
			if strings.Contains(link, "://") || strings.HasPrefix(link, "mailto:") {
				continue
			}
			checked++
			checkLink(t, pages, p, link)
		}
	}
	if checked < 300 {
		t.Errorf("only %d links are found", checked)
	}
}

func checkLink(t *testing.T, pages map[string]*page, from *page, link string) {
	t.Helper()
	name, anchor, _ := strings.Cut(link, "#")
	target := from.name
	if name != "" {
		target = path.Join(path.Dir(from.name), name)
	}
	_, err := os.Stat(filepath.Join("../../docs", target))
	if err != nil {
		t.Errorf("docs/%s links to %s: %v", from.name, link, err)
	}
	if anchor == "" || pages[target] == nil {
		return
	}
	for _, h := range pages[target].headings {
		if h.ID == anchor {
			return
		}
	}
	t.Errorf("docs/%s links to %s, and there is no such heading", from.name, link)
}

// Every address in a page of the site leads to a file of it, and every anchor to an element.
func TestSite_LinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	all := files(t)
	parsed := map[string]*html.Node{}
	ids := map[string]bool{"api/index.html": true} // PATH#ID, and PATH
	for name, file := range all {
		ids[name] = true
		if !strings.HasSuffix(name, ".html") {
			continue
		}
		root, err := html.Parse(strings.NewReader(content(t, file)))
		if err != nil {
			t.Fatal(err)
		}
		parsed[name] = root
		for node := range root.Descendants() {
			if id := attribute(node, "id"); id != "" {
				if ids[name+"#"+id] {
					t.Errorf("%s has the id %s twice", name, id)
				}
				ids[name+"#"+id] = true
			}
		}
	}
	checked := 0
	for name, root := range parsed {
		for node := range root.Descendants() {
			for _, key := range []string{"href", "src"} {
				link := attribute(node, key)
				if link == "" || strings.Contains(link, ":") {
					continue
				}
				checked++
				to, anchor, _ := strings.Cut(link, "#")
				to, _, _ = strings.Cut(to, "?")
				target := name
				if to != "" {
					target = path.Join(path.Dir(name), to)
				}
				if anchor, _ := url.PathUnescape(anchor); anchor != "" {
					target += "#" + anchor
				}
				if !ids[target] {
					t.Errorf("%s links to %s, which does not exist", name, link)
				}
			}
		}
	}
	if checked < 3000 {
		t.Errorf("only %d links are found", checked)
	}
}

func attribute(node *html.Node, key string) string {
	for _, a := range node.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// The lists of pages, which are the navigation, name every page once.
func TestNavigation_NamesEveryPageOnce(t *testing.T) {
	t.Parallel()
	pages, _, err := read(docs.Files)
	if err != nil {
		t.Fatal(err)
	}
	times := map[string]int{}
	for language, list := range lists {
		for _, e := range flat(navigation(pages, list)) {
			times[e.Path]++
			if chinese := strings.HasPrefix(e.Path, "zh/"); chinese != (language == "zh-CN") {
				t.Errorf("docs/%s lists %s, which is in another language", list, e.Path)
			}
		}
	}
	for name, p := range pages {
		if times[p.path] != 1 {
			t.Errorf("the lists of pages (docs/README.md, docs/zh/README.md, docs/decisions/README.md) name docs/%s %d times",
				name, times[p.path])
		}
	}
}

// A page has one title, and no level of headings is left out.
func TestPages_HaveOrderedHeadings(t *testing.T) {
	t.Parallel()
	pages, _, err := read(docs.Files)
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range pages {
		level := 0
		for i, h := range p.headings {
			if h.Level > level+1 || (h.Level == 1) != (i == 0) {
				t.Errorf("docs/%s: the heading %q of level %d follows one of level %d", name, h.Text, h.Level, level)
			}
			level = h.Level
		}
		if level == 0 {
			t.Errorf("docs/%s has no title", name)
		}
	}
}
