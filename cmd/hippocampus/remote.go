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

// remote is a running server that commands ask over HTTP.
type remote struct {
	base string // http://HOST:PORT
	key  string // empty: none is sent
}

// remoteFlag adds --url. The server is found when the command runs: without
// the flag it is the one of the same configuration on this machine.
func remoteFlag(cmd *cobra.Command, o *overrides) func() (remote, error) {
	base := cmd.Flags().String("url", "", "`URL` of the server (default http://, and what it listens on)")
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
			return r, fmt.Errorf("--url %q is no address of a server: give one such as http://localhost:8080", r.base)
		}
		return r, nil
	}
}

// ask sends a request and returns the answer's body where it is a success.
func (r remote) ask(ctx context.Context, method, path string, body io.Reader) (io.ReadCloser, error) {
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
	transport.DisableKeepAlives = true // one request is all there is
	answer, err := (&http.Client{Transport: transport}).Do(request)
	switch {
	case ctx.Err() != nil:
		return nil, errors.New("interrupted: what the server has done stays")
	case err != nil:
		return nil, fmt.Errorf("no answer from %s: %w; check that the server runs there, or give --url", r.base, cause(err))
	case answer.StatusCode == http.StatusOK:
		return answer.Body, nil
	}
	defer answer.Body.Close()
	return nil, r.refusal(answer)
}

// refusal says in one line what an answer refuses, and what helps.
func (r remote) refusal(answer *http.Response) error {
	var problem struct {
		Title, Detail string
		Errors        []struct{ Path, Message string }
	}
	raw, _ := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	if json.Unmarshal(raw, &problem) != nil || problem.Title == "" {
		return fmt.Errorf("%s answers %s and is no hippocampus server: check --url", r.base, answer.Status)
	}
	text := problem.Detail
	for _, e := range problem.Errors {
		text += "; " + e.Path + " " + e.Message
	}
	switch {
	case answer.StatusCode == http.StatusUnauthorized && r.key == "":
		text = "it wants an API key: put one into " + config.KeyVariable
	case answer.StatusCode == http.StatusUnauthorized:
		text += "; the key in " + config.KeyVariable + " was sent"
	case answer.StatusCode == http.StatusServiceUnavailable:
		text += " Nothing is lost by repeating the command."
	}
	return fmt.Errorf("%s refuses: %s", r.base, text)
}

// cause is what went wrong beneath a URL, which the caller tells itself.
func cause(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}

// meter shows how far a stream has come; without a bar it shows nothing.
type meter struct{ bar *progressbar.ProgressBar }

// progress makes a meter of a stream of so many bytes (-1: unknown), with a bar
// where it is shown on a terminal.
func progress(to io.Writer, what string, size int64) meter {
	file, ok := to.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return meter{}
	}
	return meter{progressbar.NewOptions64(size, progressbar.OptionSetDescription(what), progressbar.OptionSetWriter(to),
		progressbar.OptionShowBytes(true), progressbar.OptionShowTotalBytes(true), progressbar.OptionSetWidth(30),
		progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish(), progressbar.OptionSpinnerType(14))}
}

// Write counts bytes. A bar that cannot be drawn is no reason to stop.
func (m meter) Write(p []byte) (int, error) {
	if m.bar != nil {
		_ = m.bar.Add(len(p))
	}
	return len(p), nil
}

// end takes the bar away.
func (m meter) end() {
	if m.bar != nil {
		_ = m.bar.Clear()
	}
}
