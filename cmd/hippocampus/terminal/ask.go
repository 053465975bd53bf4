package terminal

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"hippocampus/cmd/hippocampus/exit"
)

// Confirm asks a question that y or yes accepts. Without a terminal it returns an error that names --yes.
func Confirm(in io.Reader, out io.Writer, question string) (bool, error) {
	if !IsTerminal(in) {
		return false, exit.Usagef("there is no terminal to ask on: give --yes")
	}
	answer, err := Ask(in, out, question+" [y/N] ")
	answer = strings.ToLower(answer)
	return answer == "y" || answer == "yes", err
}

// Ask prints a question and returns the line that answers it, without the space around it.
func Ask(in io.Reader, out io.Writer, question string) (string, error) {
	fmt.Fprint(out, question)
	line, err := readLine(in)
	return strings.TrimSpace(line), err
}

// AskSecret does what Ask does, but does not show the typed text on a terminal.
func AskSecret(in io.Reader, out io.Writer, question string) (string, error) {
	if !IsTerminal(in) {
		return Ask(in, out, "")
	}
	fd := int(in.(*os.File).Fd())
	before, err := term.MakeRaw(fd) // before the question, so that no early answer is shown
	if err != nil {
		return "", fmt.Errorf("hide what is typed: %w", err)
	}
	defer func() { _ = term.Restore(fd, before) }()
	secret, err := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{in, out}, "").ReadPassword(question)
	if errors.Is(err, io.EOF) { // Ctrl-C or Ctrl-D
		return "", errors.New("interrupted")
	}
	return strings.TrimSpace(secret), err
}

// readLine reads up to a line break and no further. The end of the input ends a line.
func readLine(in io.Reader) (string, error) {
	line, err := bufio.NewReaderSize(oneByte{in}, 16).ReadString('\n')
	if err == io.EOF {
		err = nil
	}
	return line, err
}

// oneByte reads a byte at a time, so that a buffered reader takes no more than it needs.
type oneByte struct{ io.Reader }

func (r oneByte) Read(p []byte) (int, error) { return r.Reader.Read(p[:1]) }
