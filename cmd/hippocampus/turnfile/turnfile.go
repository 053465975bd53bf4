// Package turnfile reports the turns of a file to a server:
//
//	line with a body of POST /v1/turns -> user and id, if they are missing -> request, repeated while the server is busy
package turnfile

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"hippocampus/cmd/hippocampus/remote"
	"hippocampus/cmd/hippocampus/terminal"
)

const (
	maxTurnLine   = 1 << 20     // bytes, the limit of the bodies of /v1/turns
	longestPause  = time.Minute // a longer pause is not waited for
	shortestPause = time.Second / 10
)

// counts are the numbers of lines of a file by outcome.
type counts struct{ imported, known, failed int }

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
	var done counts
	number := 0
	for lines.Scan() {
		number++
		bar.Add(len(lines.Bytes()) + 1)
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		fresh, err := report(ctx, to, lines.Bytes())
		var refused *lineRefused
		switch {
		case errors.As(err, &refused):
			done.failed++
			fmt.Fprintf(to.Err, "line %d: %s\n", number, refused)
		case err != nil:
			return fmt.Errorf("line %d: %w (the lines before it are there; it is safe to repeat the command)", number, err)
		case fresh:
			done.imported++
		default:
			done.known++
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("line %d: %w (a line has at most %d bytes)", number+1, err, maxTurnLine)
	}
	fmt.Fprintf(to.Out, "imported %d turns, skipped %d that were there already\n", done.imported, done.known)
	if done.failed > 0 {
		return fmt.Errorf("%d of %d turns failed", done.failed, done.imported+done.known+done.failed)
	}
	return nil
}

// lineRefused is the error of a line that the server, or this command, does not accept.
type lineRefused struct{ error }

// report reports one turn, and repeats the request while the server is too busy. fresh is false if the server already
// had the turn.
func report(ctx context.Context, to Target, line []byte) (fresh bool, err error) {
	turn, err := turnOfLine(line, to.User)
	if err != nil {
		return false, &lineRefused{err}
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
			return false, &lineRefused{err}
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
