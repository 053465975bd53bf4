package llm

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"hippocampus/internal/memory"
	"hippocampus/internal/secret"
)

// maxDetailRunes bounds what a detail quotes.
const maxDetailRunes = 300

// detailOf returns the part of a failure's cause that any caller of the server may read: the endpoint's status and
// words, without its address, keys and secrets.
func (c *Client) detailOf(f *failure) string {
	switch {
	case f.slow:
		return "the model gave " + f.reason
	case f.status == 0:
		return "the model's endpoint cannot be reached, or broke off its answer"
	}
	text := c.redact(f.Error())
	if whole, cut := strings.CutSuffix(text, "…"); cut { // the last word may be a part of a key or of an address
		text = whole[:strings.LastIndexByte(whole, ' ')+1] + "…"
	}
	for _, address := range c.addresses() {
		text = strings.ReplaceAll(text, address, "[endpoint]")
	}
	return "the model's endpoint answered with " + quotable(text) + ": " + f.remedy()
}

// addresses returns the texts that name the endpoint, long ones first.
func (c *Client) addresses() []string {
	base, err := url.Parse(c.options.BaseURL)
	if err != nil || base.Host == "" {
		return nil // no request left
	}
	return []string{
		strings.TrimSuffix(c.options.BaseURL, "/"), base.Scheme + "://" + base.Host, base.Host, base.Hostname(),
	}
}

// quotable returns a text for a detail: bounded, and without secrets.
func quotable(text string) string {
	text, _ = secret.Cut(text)
	return memory.Clip(text, maxDetailRunes)
}

// unusable adds to the error of an answer that parse refused twice the detail that any caller may read.
func unusable(err error) error {
	var known *memory.Error
	if !errors.As(err, &known) || known.Kind != memory.KindBadAnswer || known.Detail != "" {
		return err
	}
	return &memory.Error{
		Kind: memory.KindBadAnswer, Err: err,
		Detail: fmt.Sprintf("the model's answer cannot be used: %s", quotable(err.Error())),
	}
}
