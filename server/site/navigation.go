package site

import (
	"path"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	table "github.com/yuin/goldmark/extension/ast"
)

// section is a part of the navigation.
type section struct {
	Title   string
	Entries []entry
}

// entry is a page in the navigation. The entry of the README.md of a folder has the pages that the README.md lists
// below it.
type entry struct {
	Title, Path string
	Below       []entry
}

// navigation returns the sections of a list of pages, which is README.md or zh/README.md: its headings of the second
// level, with the first link of each item of a list and of each row of a table. It leaves out files that do not exist.
func navigation(pages map[string]*page, list string) []section {
	index := pages[list]
	if index == nil {
		return nil
	}
	sections := []section{{Title: index.title, Entries: []entry{{Title: index.title, Path: index.path}}}}
	for node := range descendants(index.document) {
		last := &sections[len(sections)-1]
		switch node := node.(type) {
		case *ast.Heading:
			if node.Level == 2 {
				sections = append(sections, section{Title: textOf(node, index.source)})
			}
		case *ast.ListItem, *table.TableRow:
			title, target := firstLink(index, node)
			listed := pages[target]
			if listed == nil {
				continue
			}
			e := entry{Title: title, Path: listed.path}
			if path.Base(target) == "README.md" {
				for _, s := range navigation(pages, target) {
					e.Below = append(e.Below, s.Entries...)
				}
				e.Below = e.Below[1:] // without itself
			}
			last.Entries = append(last.Entries, e)
		}
	}
	return slices.DeleteFunc(sections, func(s section) bool { return len(s.Entries) == 0 })
}

// firstLink returns the text and the target, as a path from docs, of the first link below a node.
func firstLink(p *page, node ast.Node) (title, target string) {
	for n := range descendants(node) {
		if link, ok := n.(*ast.Link); ok {
			target, _, _ := strings.Cut(string(link.Destination), "#")
			return textOf(link, p.source), path.Join(path.Dir(p.name), target)
		}
	}
	return "", ""
}

// flat returns all entries in their order.
func flat(sections []section) []entry {
	var all []entry
	for _, s := range sections {
		for _, e := range s.Entries {
			all = append(all, e)
			all = append(all, e.Below...)
		}
	}
	return all
}

// Holds reports whether a path is among the pages below the entry.
func (e entry) Holds(path string) bool {
	return slices.ContainsFunc(e.Below, func(below entry) bool { return below.Path == path })
}
