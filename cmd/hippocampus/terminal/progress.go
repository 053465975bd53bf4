package terminal

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// Progress shows the progress of long work, or nothing if it has no bar.
type Progress struct{ bar *progressbar.ProgressBar }

// NewBytes shows a bar of bytes if to is a terminal. size is that of the stream; -1: unknown.
func NewBytes(to io.Writer, what string, size int64) Progress {
	return newProgress(to, what, size, progressbar.OptionShowBytes(true), progressbar.OptionShowTotalBytes(true))
}

// NewCount shows a bar of items if to is a terminal.
func NewCount(to io.Writer, what string, items int) Progress {
	return newProgress(to, what, int64(items), progressbar.OptionShowCount())
}

func newProgress(to io.Writer, what string, most int64, shown ...progressbar.Option) Progress {
	if !IsTerminal(to) {
		return Progress{}
	}
	return Progress{progressbar.NewOptions64(most, append(shown,
		progressbar.OptionSetDescription(what),
		progressbar.OptionSetWriter(to),
		progressbar.OptionSetWidth(30),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSpinnerType(14),
		progressbar.OptionSetSpinnerChangeInterval(0), // else a goroutine draws it, which reads the bar without its lock
	)...)}
}

// Add counts items, and ignores errors of the bar.
func (p Progress) Add(items int) {
	if p.bar != nil {
		_ = p.bar.Add(items)
	}
}

// Show sets the description of the work, and the number of items so far.
func (p Progress) Show(what string, items int) {
	if p.bar != nil {
		p.bar.Describe(what)
		_ = p.bar.Set(items)
	}
}

// Write counts bytes.
func (p Progress) Write(data []byte) (int, error) {
	p.Add(len(data))
	return len(data), nil
}

// End removes the bar.
func (p Progress) End() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}

// IsTerminal reports whether an input or output is a terminal.
func IsTerminal(stream any) bool {
	file, isFile := stream.(*os.File)
	return isFile && term.IsTerminal(int(file.Fd()))
}
