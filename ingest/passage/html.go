package passage

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// skipped are the elements that hold nothing to be read on a page.
var skipped = map[atom.Atom]bool{
	atom.Script: true, atom.Style: true, atom.Nav: true, atom.Template: true, atom.Noscript: true, atom.Svg: true,
	atom.Math: true, atom.Iframe: true, atom.Object: true, atom.Form: true, atom.Button: true, atom.Select: true,
	atom.Textarea: true, atom.Dialog: true, atom.Audio: true, atom.Video: true, atom.Canvas: true,
}

// inline are the elements that do not end a block.
var inline = map[atom.Atom]bool{
	atom.A: true, atom.Abbr: true, atom.B: true, atom.Bdi: true, atom.Bdo: true, atom.Cite: true, atom.Code: true,
	atom.Data: true, atom.Del: true, atom.Dfn: true, atom.Em: true, atom.Font: true, atom.I: true, atom.Img: true,
	atom.Ins: true, atom.Kbd: true, atom.Label: true, atom.Mark: true, atom.Q: true, atom.Ruby: true, atom.S: true,
	atom.Samp: true, atom.Small: true, atom.Span: true, atom.Strike: true, atom.Strong: true, atom.Sub: true,
	atom.Sup: true, atom.Time: true, atom.Tt: true, atom.U: true, atom.Var: true, atom.Wbr: true,
}

var levels = map[atom.Atom]int{atom.H1: 1, atom.H2: 2, atom.H3: 3, atom.H4: 4, atom.H5: 5, atom.H6: 6}

// page is the state of reading HTML token by token, so that no depth of nesting and no missing end matters.
type page struct {
	*reader
	skip    atom.Atom // the outermost element that is skipped; 0: no element
	depth   int       // of elements of this name
	pre     int       // of elements in which spaces count
	row     bool      // in a row of a table
	level   int       // of the heading that is open; 0: no heading
	inTitle bool
	block   strings.Builder
	spaced  bool // the block ends with a space
}

// html reads HTML. The title of the page is the document's if it has one.
func (r *reader) html(content string) {
	p := &page{reader: r, spaced: true}
	tokens := html.NewTokenizer(strings.NewReader(content))
	for {
		switch tokens.Next() {
		case html.ErrorToken: // the end: a string has no other error
			p.end()
			return
		case html.TextToken:
			if p.skip == 0 {
				p.write(string(tokens.Text()))
			}
		case html.StartTagToken:
			name, _ := tokens.TagName()
			p.open(atom.Lookup(name))
		case html.SelfClosingTagToken:
			name, _ := tokens.TagName()
			a := atom.Lookup(name)
			if p.skip == 0 && (a == atom.Br || !inline[a]) {
				p.open(a)
				p.close(a)
			}
		case html.EndTagToken:
			name, _ := tokens.TagName()
			p.close(atom.Lookup(name))
		}
	}
}

func (p *page) open(a atom.Atom) {
	switch {
	case p.skip != 0:
		if a == p.skip {
			p.depth++
		}
	case skipped[a]:
		p.skip, p.depth = a, 1
	case a == atom.Td || a == atom.Th:
		if p.row && p.block.Len() > 0 {
			p.write(" | ")
		}
	case inline[a]:
	case a == atom.Br:
		p.line()
	default:
		p.end()
		p.level = levels[a]
		switch a {
		case atom.Title:
			p.inTitle = true
		case atom.Tr:
			p.row = true
		case atom.Li:
			p.write("- ")
		case atom.Pre:
			p.pre++
		}
	}
}

func (p *page) close(a atom.Atom) {
	switch {
	case p.skip != 0:
		if a != p.skip {
			return
		}
		p.depth--
		if p.depth == 0 {
			p.skip = 0
		}
	case inline[a] || a == atom.Td || a == atom.Th || skipped[a]:
	default:
		p.end()
		switch a {
		case atom.Tr:
			p.row = false
		case atom.Pre:
			p.pre = max(0, p.pre-1)
		}
	}
}

// write adds text to the block, in which a row of spaces is one.
func (p *page) write(s string) {
	if p.pre > 0 {
		p.block.WriteString(s)
		p.spaced = strings.HasSuffix(s, "\n")
		return
	}
	for _, c := range s {
		switch c {
		case ' ', '\n', '\t', '\r', '\f', '\u00a0':
			if !p.spaced {
				p.block.WriteByte(' ')
			}
			p.spaced = true
		default:
			p.block.WriteRune(c)
			p.spaced = false
		}
	}
}

func (p *page) line() {
	p.block.WriteByte('\n')
	p.spaced = true
}

// end ends the block or the heading.
func (p *page) end() {
	s := p.block.String()
	p.block.Reset()
	p.spaced = true
	switch {
	case p.inTitle:
		p.head(1, s)
		p.headings[0] = ""
		p.inTitle = false
	case p.level > 0:
		p.head(p.level, s)
		p.level = 0
	case strings.Trim(s, "- \n|") != "":
		p.add(s)
	}
}
