package hippocampus

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"

	"hippocampus/sdk/go/api"
)

// Export streams what is kept of a user, or of all users of the app, as NDJSON
// for [Client.Import] and [Lines]. Close it. Instead of io.EOF, Read returns an
// *Error of [KindUnreachable] if the connection is cut, and of [KindBadAnswer] if
// the export is not complete.
func (c *Client) Export(ctx context.Context, p ExportMemoriesParams) (io.ReadCloser, error) {
	resp, err := c.api.ExportMemories(ctx, &p)
	if err != nil {
		return nil, err
	}
	if mediaType(resp.Header) != "application/x-ndjson" {
		resp.Body.Close()
		return nil, &Error{Kind: KindBadAnswer, Status: resp.StatusCode, Err: errors.New("the answer is not NDJSON")}
	}
	return &export{body: resp.Body}, nil
}

// Lines iterates over the lines of an export. An error is the last element.
func Lines(r io.Reader) iter.Seq2[ExportLine, error] {
	return func(yield func(ExportLine, error) bool) {
		for lines := json.NewDecoder(r); ; {
			var line ExportLine
			err := lines.Decode(&line)
			if errors.Is(err, io.EOF) || !yield(line, err) || err != nil {
				return
			}
		}
	}
}

// Import streams NDJSON of an export into the key's app. What is there already is skipped.
// Lines that fail are counted in the report, whose Complete is false if the end of the
// export is missing. The request is not repeated, but calling Import again with the same
// lines resumes an import that broke off.
func (c *Client) Import(ctx context.Context, r io.Reader) (*ImportReport, error) {
	return Decode[api.ImportReport](c.api.ImportMemoriesWithBody(ctx, "application/x-ndjson", r))
}

// export is the body of an export. It keeps the beginning of the last line.
type export struct {
	body io.ReadCloser
	line []byte // the beginning of the line that is being read, or else of the last one
	full bool   // that line has ended
}

const beginning = 256 // bytes of a line that are kept: enough for the report of an error

func (e *export) Read(p []byte) (int, error) {
	n, err := e.body.Read(p)
	e.note(p[:n])
	switch {
	case err == nil:
		return n, nil
	case errors.Is(err, io.EOF) && e.full && bytes.HasPrefix(e.line, []byte(`{"end":`)):
		return n, io.EOF
	case bytes.HasPrefix(e.line, []byte(`{"error":`)):
		return n, &Error{Kind: KindBadAnswer, Status: http.StatusOK, Detail: "the export failed: " + string(e.line)}
	case errors.Is(err, io.EOF):
		return n, &Error{Kind: KindBadAnswer, Status: http.StatusOK, Detail: "the export has no end"}
	}
	return n, &Error{Kind: KindUnreachable, Err: err}
}

// Close ends the request if it is still running.
func (e *export) Close() error { return e.body.Close() }

// note updates line and full by the bytes that were read.
func (e *export) note(read []byte) {
	for part := range bytes.Lines(read) {
		if e.full {
			e.line, e.full = e.line[:0], false
		}
		e.line = append(e.line, part[:min(len(part), beginning-len(e.line))]...)
		e.full = part[len(part)-1] == '\n'
	}
}
