package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"hippocampus/server/config"
)

// remote is a running server that commands reach over HTTP.
type remote struct {
	base string // http://HOST:PORT
	key  string // may be empty
}

// remoteFlag adds --url. The returned function, which is called when the command
// runs, defaults to the server of the same configuration on this machine.
func remoteFlag(cmd *cobra.Command, o *overrides) func() (remote, error) {
	base := cmd.Flags().String("url", "", "`URL` of the server (default http:// and the configured address)")
	return func() (remote, error) {
		r := remote{base: strings.TrimRight(*base, "/"), key: config.Key(o.env)}
		if r.base == "" {
			cfg, err := o.load()
			if err != nil {
				return r, err
			}
			r.base = "http://" + dialable(cfg.Listen)
		}
		if u, err := url.Parse(r.base); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return r, fmt.Errorf("--url %q is not an address: give one such as http://localhost:8080", r.base)
		}
		return r, nil
	}
}

// send sends a request and returns the body of a successful response.
func (r remote) send(ctx context.Context, method, path string, body io.Reader) (io.ReadCloser, error) {
	request, err := http.NewRequestWithContext(ctx, method, r.base+path, body)
	if err != nil {
		return nil, err
	}
	if r.key != "" {
		request.Header.Set("Authorization", "Bearer "+r.key)
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/x-ndjson")
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableKeepAlives = true // there is only one request
	response, err := (&http.Client{Transport: transport}).Do(request)
	switch {
	case ctx.Err() != nil:
		return nil, errors.New("interrupted: the server keeps what it has done")
	case err != nil:
		return nil, fmt.Errorf("no answer from %s: %w; check that the server runs there, or give --url", r.base, cause(err))
	case response.StatusCode == http.StatusOK:
		return response.Body, nil
	}
	defer response.Body.Close()
	return nil, r.refusal(response)
}

// refusal describes an unsuccessful response in one line, with the remedy.
func (r remote) refusal(response *http.Response) error {
	var problem struct {
		Title, Detail string
		Errors        []struct{ Path, Message string }
	}
	raw, _ := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if json.Unmarshal(raw, &problem) != nil || problem.Title == "" {
		return fmt.Errorf("%s answers %s and is not a Hippocampus server: check --url", r.base, response.Status)
	}
	text := problem.Detail
	for _, e := range problem.Errors {
		text += "; " + e.Path + " " + e.Message
	}
	switch {
	case response.StatusCode == http.StatusUnauthorized && r.key == "":
		text = "it needs an API key: set " + config.KeyVariable
	case response.StatusCode == http.StatusUnauthorized:
		text += "; the key in " + config.KeyVariable + " was sent"
	case response.StatusCode == http.StatusServiceUnavailable:
		text += " It is safe to repeat the command."
	}
	return fmt.Errorf("%s refuses: %s", r.base, text)
}

// cause unwraps a url.Error, since the caller names the URL.
func cause(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}

// progress shows the progress of a stream, or nothing if bar is nil.
type progress struct{ bar *progressbar.ProgressBar }

// newProgress shows a bar if to is a terminal. size is that of the stream in
// bytes; -1: unknown.
func newProgress(to io.Writer, what string, size int64) progress {
	file, ok := to.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return progress{}
	}
	return progress{progressbar.NewOptions64(size,
		progressbar.OptionSetDescription(what),
		progressbar.OptionSetWriter(to),
		progressbar.OptionShowBytes(true),
		progressbar.OptionShowTotalBytes(true),
		progressbar.OptionSetWidth(30),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSpinnerType(14),
	)}
}

// Write counts bytes and ignores errors of the bar.
func (m progress) Write(p []byte) (int, error) {
	if m.bar != nil {
		_ = m.bar.Add(len(p))
	}
	return len(p), nil
}

// end removes the bar.
func (m progress) end() {
	if m.bar != nil {
		_ = m.bar.Clear()
	}
}
