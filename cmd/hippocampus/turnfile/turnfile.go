// Package turnfile reports the turns of a file to a server:
//
//	line with a body of POST /v1/turns -> user and id, if they are missing -> request, repeated while the server is busy
//	turn of another program's chat     -> the same
package turnfile

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"hippocampus/cmd/hippocampus/chatfile"
	"hippocampus/cmd/hippocampus/remote"
	"hippocampus/cmd/hippocampus/terminal"
)

const (
	maxTurnLine   = 1 << 20     // bytes, the limit of the bodies of /v1/turns
	longestPause  = time.Minute // a longer pause is not waited for
	shortestPause = time.Second / 10
)

// Target is where turns are reported to.
type Target struct {
	remote.Server
	User string // for lines without a user; may be empty
	// Out gets the counts, and Err the progress and the lines that were refused.
	Out, Err io.Writer
}

// Import reports the turns of a file in their order, one body of POST /v1/turns a line. size is the number of its
// bytes, for the progress. A line that is refused is named and left out; the error counts them.
func Import(ctx context.Context, to Target, from io.Reader, size int64) error {
	bar := terminal.NewBytes(to.Err, "importing", size)
	defer bar.End()
	lines := bufio.NewScanner(from)
	lines.Buffer(make([]byte, 0, 64<<10), maxTurnLine)
	done := tally{to: to}
	number := 0
	for lines.Scan() {
		number++
		bar.Add(len(lines.Bytes()) + 1)
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		if err := done.report(ctx, fmt.Sprintf("line %d", number), lines.Bytes()); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("line %d: %w (a line has at most %d bytes)", number+1, err, maxTurnLine)
	}
	return done.end()
}

// ImportChats reports the turns of another program's chats. Turns of Target.User if that is set, else of the users
// that the chats name.
func ImportChats(ctx context.Context, to Target, chats *chatfile.Export) error {
	bar := terminal.NewBytes(to.Err, "importing", chats.Size())
	defer bar.End()
	done := tally{to: to}
	for turn, err := range chats.Turns(bar) {
		var unread *chatfile.ChatError
		if errors.As(err, &unread) && unread.Number > 1 {
			done.fail("", err)
			continue
		}
		if err != nil {
			return err
		}
		if turn.UserID = cmp.Or(to.User, turn.UserID); turn.UserID == "" {
			return errors.New("the chats do not say whose they are: give --user")
		}
		body, err := json.Marshal(turn)
		if err == nil {
			err = done.report(ctx, "turn "+turn.ID, body)
		}
		if err != nil {
			return err
		}
	}
	return done.end()
}

// tally counts turns by outcome.
type tally struct {
	to                      Target
	imported, known, failed int
}

// report reports one turn, whose place in the file has a name. An error ends the import.
func (t *tally) report(ctx context.Context, name string, turn []byte) error {
	fresh, err := report(ctx, t.to, turn)
	var refused *turnRefused
	switch {
	case errors.As(err, &refused):
		t.fail(name+": ", refused)
	case err != nil:
		return fmt.Errorf("%s: %w (the turns before it are there; it is safe to repeat the command)", name, err)
	case fresh:
		t.imported++
	default:
		t.known++
	}
	return nil
}

func (t *tally) fail(name string, err error) {
	t.failed++
	fmt.Fprintf(t.to.Err, "%s%s\n", name, err)
}

// end prints the counts.
func (t *tally) end() error {
	fmt.Fprintf(t.to.Out, "imported %d turns, skipped %d that were there already\n", t.imported, t.known)
	if t.failed > 0 {
		return fmt.Errorf("%d of %d turns failed", t.failed, t.imported+t.known+t.failed)
	}
	return nil
}

// turnRefused is the error of a turn that the server, or this command, does not accept.
type turnRefused struct{ error }

// report reports one turn, and repeats the request while the server is too busy. fresh is false if the server already
// had the turn.
func report(ctx context.Context, to Target, line []byte) (fresh bool, err error) {
	turn, err := turnOfLine(line, to.User)
	if err != nil {
		return false, &turnRefused{err}
	}
	for {
		raw, err := to.Call(ctx, http.MethodPost, "/v1/turns", turn)
		var refusal *remote.Refusal
		if !errors.As(err, &refusal) {
			var answer struct{ Repeated bool }
			if err == nil {
				err = json.Unmarshal(raw, &answer)
			}
			return !answer.Repeated, err
		}
		switch refusal.Status {
		case http.StatusTooManyRequests, http.StatusServiceUnavailable:
			if refusal.RetryAfter > longestPause {
				return false, err
			}
		case http.StatusUnauthorized, http.StatusForbidden:
			return false, err
		default:
			return false, &turnRefused{err}
		}
		select {
		case <-time.After(max(refusal.RetryAfter, shortestPause)):
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}

// turnOfLine returns the turn of a line with an id and a user. A turn without an id gets an id derived from the line's
// content, so that the same line is always the same turn.
func turnOfLine(line []byte, user string) (turn map[string]json.RawMessage, err error) {
	if err := json.Unmarshal(line, &turn); err != nil || turn == nil {
		return nil, errors.New("it is not a JSON object: give a body of POST /v1/turns on each line")
	}
	if turn["user_id"] == nil && user != "" {
		turn["user_id"], _ = json.Marshal(user) // a string
	}
	if turn["id"] == nil {
		sum := sha256.Sum256(append([]byte(user+"\n"), bytes.TrimSpace(line)...))
		turn["id"], _ = json.Marshal("import-" + hex.EncodeToString(sum[:16]))
	}
	return turn, nil
}
