package terminal

import "strings"

// Column is a column of a table.
type Column struct {
	Title string
	Style Style // of its cells; the heading is bold
	Right bool  // aligned on the right, as numbers are
	Grows bool  // takes the width that the other columns leave; longer cells are cut
}

const (
	gap       = 2  // between columns
	leastGrow = 12 // width of a growing column on a narrow screen
)

// Table prints rows under headings. Without headings, all titles are "".
func (s Screen) Table(columns []Column, rows [][]string) {
	widths := make([]int, len(columns))
	titled := false
	for i, c := range columns {
		widths[i] = Width(c.Title)
		titled = titled || c.Title != ""
		for _, row := range rows {
			widths[i] = max(widths[i], Width(row[i]))
		}
	}
	s.fit(columns, widths)
	if titled {
		titles := make([]string, len(columns))
		heads := make([]Column, len(columns))
		for i, c := range columns {
			titles[i], heads[i] = c.Title, Column{Style: Bold, Right: c.Right}
		}
		s.row(heads, widths, titles)
	}
	for _, row := range rows {
		s.row(columns, widths, row)
	}
}

// fit divides the width that is left on the screen among the growing columns.
func (s Screen) fit(columns []Column, widths []int) {
	if s.Width == 0 {
		return
	}
	left := s.Width - gap*(len(columns)-1)
	for i, c := range columns {
		if !c.Grows {
			left -= widths[i]
		}
	}
	for i, c := range columns {
		if c.Grows {
			widths[i] = min(widths[i], max(left, leastGrow))
		}
	}
}

func (s Screen) row(columns []Column, widths []int, cells []string) {
	var line strings.Builder
	for i, c := range columns {
		cell := cells[i]
		if s.Width > 0 && c.Grows {
			cell = Truncate(cell, widths[i])
		}
		padded := pad(cell, widths[i], c.Right)
		if i == len(columns)-1 {
			padded = strings.TrimRight(padded, " ")
		}
		bare := strings.TrimSpace(padded)
		before, after, _ := strings.Cut(padded, bare)
		line.WriteString(before + s.Paint(c.Style, bare) + after)
		if i < len(columns)-1 {
			line.WriteString(strings.Repeat(" ", gap))
		}
	}
	s.Printf("%s\n", strings.TrimRight(line.String(), " "))
}

// Fields prints names and values, one pair on each line; values are wrapped. Pairs without a value are left out.
func (s Screen) Fields(pairs [][2]string) {
	width := 0
	for _, p := range pairs {
		if p[1] != "" {
			width = max(width, Width(p[0]))
		}
	}
	for _, p := range pairs {
		if p[1] == "" {
			continue
		}
		name := s.Paint(Faint, pad(p[0], width, false))
		for _, line := range s.wrapped(p[1], width+gap) {
			s.Printf("%s%s%s\n", name, strings.Repeat(" ", gap), line)
			name = strings.Repeat(" ", width)
		}
	}
}

// Indented prints text after an indentation, wrapped.
func (s Screen) Indented(indent string, style Style, text string) {
	for _, line := range s.wrapped(text, Width(indent)) {
		s.Printf("%s\n", strings.TrimRight(indent+s.Paint(style, line), " "))
	}
}

// wrapped wraps text to the width that an indentation leaves.
func (s Screen) wrapped(text string, indent int) []string {
	if s.Width == 0 {
		return Wrap(text, 0)
	}
	return Wrap(text, max(s.Width-indent, leastGrow))
}
