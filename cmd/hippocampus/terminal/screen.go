// Package terminal prints for people: tables, colours, wrapped text and times.
package terminal

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/dustin/go-humanize"
	"golang.org/x/term"
)

// Screen is an output for people.
type Screen struct {
	io.Writer
	Width   int  // columns; 0: any, as of a pipe
	Colours bool // whether styles are applied
	Now     time.Time
}

// NewScreen returns the screen that writes to w. The usual variables of the environment decide:
//
//	COLUMNS          the width, if it is a number
//	NO_COLOR         no colours, if it is set
//	CLICOLOR_FORCE   colours, if it is set and not 0
//	TERM=dumb        no colours
//
// Without them the width and the colours are those of a terminal; a pipe has neither.
func NewScreen(w io.Writer, getenv func(string) string, now time.Time) Screen {
	s := Screen{Writer: w, Now: now}
	file, isFile := w.(*os.File)
	onTerminal := isFile && term.IsTerminal(int(file.Fd()))
	if onTerminal {
		s.Width = 80
		if width, _, err := term.GetSize(int(file.Fd())); err == nil && width > 0 {
			s.Width = width
		}
	}
	if columns, err := strconv.Atoi(getenv("COLUMNS")); err == nil && columns > 0 {
		s.Width = columns
	}
	force := getenv("CLICOLOR_FORCE")
	s.Colours = getenv("NO_COLOR") == "" &&
		(force != "" && force != "0" || onTerminal && getenv("TERM") != "dumb")
	return s
}

// Style is how text is shown.
type Style string

// The styles, as parameters of the escape sequence SGR.
const (
	Plain  Style = ""
	Bold   Style = "1"
	Faint  Style = "2"
	Red    Style = "31"
	Green  Style = "32"
	Yellow Style = "33"
	Cyan   Style = "36"
)

// Paint returns text in a style, or unchanged if there are no colours.
func (s Screen) Paint(style Style, text string) string {
	if !s.Colours || style == Plain || text == "" {
		return text
	}
	return "\x1b[" + string(style) + "m" + text + "\x1b[0m"
}

// Printf prints. Values from a server are cleaned by the caller, see Line and Text.
func (s Screen) Printf(format string, args ...any) { fmt.Fprintf(s, format, args...) }

// Ago returns how long ago a time is, such as "2 days ago" or "3 weeks from now"; "" for the zero time.
func (s Screen) Ago(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return humanize.RelTime(t, s.Now, "ago", "from now")
}

// Date returns the date and time in the time zone of this machine; "" for the zero time.
func Date(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04")
}

// When returns Ago and Date: "2 days ago (2026-11-21 10:00)".
func (s Screen) When(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return fmt.Sprintf("%s (%s)", s.Ago(t), Date(t))
}

// Bar returns a bar of a share, 0 to 1, in eighths of a column.
func Bar(share float64, width int) string {
	eighths := int(min(max(share, 0), 1)*float64(width)*8 + 0.5)
	bar := make([]rune, width)
	for i := range bar {
		bar[i] = []rune("·▏▎▍▌▋▊▉█")[min(max(eighths-8*i, 0), 8)]
	}
	return string(bar)
}
