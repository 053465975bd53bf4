// Package exit has the exit codes of the program.
package exit

import (
	"errors"
	"fmt"
	"strings"
)

// The exit codes.
const (
	Done        = 0
	Failed      = 1
	Usage       = 2
	NotFound    = 3
	Refused     = 4
	Unreachable = 5
)

// meanings describes each exit code for people.
var meanings = []struct {
	code int
	text string
}{
	{Done, "done"},
	{Failed, "failed: the server refuses the request, a line or a memory failed, or the stores differ"},
	{Usage, "wrong usage, or conflicts in a memory file"},
	{NotFound, "not found: there is no such memory, fact or user"},
	{Refused, "refused: the key is missing, unknown or revoked, or its role does not allow the request"},
	{Unreachable, "unreachable: no answer, or the server is busy or unavailable; it is safe to repeat the command"},
}

// Table lists the exit codes, one on each line.
func Table() string {
	var table strings.Builder
	for _, m := range meanings {
		fmt.Fprintf(&table, "  %d  %s\n", m.code, m.text)
	}
	return table.String()
}

// UsageError is an error of the command line.
type UsageError struct{ error }

// Usagef returns a UsageError.
func Usagef(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }

// ExitCode returns Usage.
func (e UsageError) ExitCode() int { return Usage }

// Code returns the exit code of an error: that of its ExitCode method, else Failed. Nil is Done.
func Code(err error) int {
	var coded interface{ ExitCode() int }
	switch {
	case err == nil:
		return Done
	case errors.As(err, &coded):
		return coded.ExitCode()
	}
	return Failed
}
