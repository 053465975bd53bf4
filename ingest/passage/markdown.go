package passage

import (
	"html"
	"strings"

	"hippocampus/internal/lazyregexp"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

var (
	// frontMatter matches the fields before a page; the title is read.
	frontMatter  = lazyregexp.New(`\A---[ \t]*\n((?:[^\n]*\n){0,100}?)---[ \t]*\n`)
	titleInFront = lazyregexp.New(`(?m)^title:[ \t]*["']?([^\n]*?)["']?[ \t]*$`)

	quoteMarks  = lazyregexp.New(`^[ \t]*(?:>[ \t]?)+`)
	atxHeading  = lazyregexp.New(`^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$`)
	underline   = lazyregexp.New(`^ {0,3}(=+|-+)[ \t]*$`)
	rule        = lazyregexp.New(`^ {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$`)
	tableRule   = lazyregexp.New(`^[ \t]*\|?(?:[ \t]*:?-+:?[ \t]*\|)+[ \t]*(?::?-+:?)?[ \t]*$`)
	markedItem  = lazyregexp.New(`^[ \t]*(?:[-*+]|(\d{1,9}[.)]))[ \t]+(?:\[[ xX]\][ \t]+)?`)
	fenceMarks  = lazyregexp.New("^ {0,3}(```+|~~~+)[^`]*$")
	comment     = lazyregexp.New(`(?s)<!--.*?-->`)
	rawTag      = lazyregexp.New(`</?[A-Za-z][^<>]*>`)
	linked      = lazyregexp.New(`!?\[([^\[\]]*)\](?:\([^()\s]*(?:[ \t]+"[^"]*")?\)|\[[^\[\]]*\])`)
	autoLink    = lazyregexp.New(`<([A-Za-z][A-Za-z0-9+.-]*:[^<>\s]*|[^<>\s@]+@[^<>\s@]+)>`)
	reference   = lazyregexp.New(`^ {0,3}\[[^\[\]]+\]:[ \t]*\S+.*$`)
	emphasised  = lazyregexp.New(`(^|[^\pL\pN*_])(?:\*{1,3}|_{1,3})([^*_\s](?:[^*_]*[^*_\s])?)(?:\*{1,3}|_{1,3})`)
	escapedMark = lazyregexp.New("\\\\([!-/:-@\\[-`{-~])")
)

// markdown reads Markdown line by line. Parsers of the whole of CommonMark take a time that grows with the square of a
// hostile text.
func (r *reader) markdown(content string) {
	content = strings.ReplaceAll(content, "\r\n", "\n")
	if front := frontMatter.FindStringSubmatch(content); front != nil {
		content = content[len(front[0]):]
		if title := titleInFront.FindStringSubmatch(front[1]); title != nil {
			r.title = clip(strings.TrimSpace(text.StripControls(title[1])), memory.MaxTitleRunes)
		}
	}
	var lines []string // of the block
	end := func() {
		r.add(unmarked(strings.Join(lines, " ")))
		lines = nil
	}
	fence := ""
	for line := range strings.SplitSeq(comment.ReplaceAllString(content, ""), "\n") {
		trimmed := strings.TrimSpace(line)
		if fence != "" {
			if strings.HasPrefix(trimmed, fence) && strings.Trim(trimmed, fence[:1]) == "" {
				r.add(strings.Join(lines, "\n"))
				lines, fence = nil, ""
			} else {
				lines = append(lines, line)
			}
			continue
		}
		line = quoteMarks.ReplaceAllString(line, "")
		trimmed = strings.TrimSpace(line)
		if marks := fenceMarks.FindStringSubmatch(line); marks != nil {
			end()
			fence = marks[1]
			continue
		}
		if heading := atxHeading.FindStringSubmatch(line); heading != nil {
			end()
			r.head(len(heading[1]), unmarked(heading[2]))
			continue
		}
		if under := underline.FindStringSubmatch(line); under != nil && len(lines) > 0 {
			level := 1
			if under[1][0] == '-' {
				level = 2
			}
			r.head(level, unmarked(strings.Join(lines, " ")))
			lines = nil
			continue
		}
		switch {
		case trimmed == "" || rule.MatchString(line) || tableRule.MatchString(line) || reference.MatchString(line):
			end()
		case markedItem.MatchString(line):
			end()
			mark := markedItem.FindStringSubmatch(line)
			number := "-"
			if mark[1] != "" {
				number = mark[1]
			}
			lines = append(lines, number+" "+strings.TrimSpace(line[len(mark[0]):]))
		case strings.HasPrefix(trimmed, "|"):
			end()
			lines = append(lines, strings.TrimSpace(strings.Trim(trimmed, "|")))
		default:
			lines = append(lines, trimmed)
		}
	}
	if fence != "" {
		r.add(strings.Join(lines, "\n"))
		return
	}
	end()
}

// unmarked returns the words of a line of Markdown.
func unmarked(s string) string {
	s = autoLink.ReplaceAllString(s, "$1")
	s = rawTag.ReplaceAllString(s, "")
	s = linked.ReplaceAllString(s, "$1")
	s = emphasised.ReplaceAllString(s, "$1$2")
	s = strings.ReplaceAll(s, "`", "")
	return html.UnescapeString(escapedMark.ReplaceAllString(s, "$1"))
}
